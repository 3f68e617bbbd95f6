package jsonvalue_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// compareNumbers compares two numbers; ok is false if one of them is none.
func compareNumbers(a, b string) (result int, ok bool) {
	x, xOK := jsonvalue.ParseDecimal(a)
	y, yOK := jsonvalue.ParseDecimal(b)
	return x.Compare(&y), xOK && yOK
}

func TestG2_numbers_compare_by_exact_value(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0},
		{"1", "1e0", 0},
		{"10e-1", "1", 0},
		{"-0", "0", 0},
		{"0.0e5", "0", 0},
		{"0.10", "0.1", 0},
		{"0.1", "0.1000000000000000055", -1},
		{"9007199254740993", "9007199254740992", 1},
		{"1e1000000000", "1e1000000001", -1},
		{"-1e1000000000", "-1e1000000001", 1},
		{"1e400", "1e399", 1},
		{"-5", "5", -1},
		{"-5", "-4.9", -1},
		{"100", "99.999", 1},
		{"0.001", "0.01", -1},
		{"123e-2", "1.23", 0},
		{"5e+2", "500", 0},
		{"1e999999999999999999999", "1e999999999999999999998", 1},
		{"1e999999999999999999999", "10e999999999999999999998", 0},
		{"1e-999999999999999999999", "1e999999999999999999999", -1},
		{"-1e-999999999999999999999", "-1e-1000000000000000000000", -1},
		{"1e100000000000000000", "10e99999999999999999", 0},
		{"0e999999999999999999999", "0", 0},
		{"0.001e000000000000000000000003", "1", 0},
	} {
		if got, ok := compareNumbers(c.a, c.b); !ok || got != c.want {
			t.Errorf("%s and %s: %d, %t; want %d", c.a, c.b, got, ok, c.want)
		}
		if got, ok := compareNumbers(c.b, c.a); !ok || got != -c.want {
			t.Errorf("%s and %s: %d, %t; want %d", c.b, c.a, got, ok, -c.want)
		}
	}
	for _, text := range []string{"", "-", "+1", " 1", "1 ", "01", "1.", ".5", "1e", "1e+", "1e1.5", "0x1", "ten", "1,5", "NaN", "Infinity", "--1"} {
		if _, ok := compareNumbers(text, "1"); ok {
			t.Errorf("D11 %q is read as a number", text)
		}
	}
}

func TestG3_numbers_agree_with_rationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	number := func() string {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		b.WriteByte("0123456789"[r.IntN(10)])
		if s := b.String(); s[len(s)-1] != '0' {
			for range r.IntN(4) {
				b.WriteByte("0123456789"[r.IntN(10)])
			}
		}
		if r.IntN(2) == 0 {
			b.WriteByte('.')
			for range 1 + r.IntN(4) {
				b.WriteByte("0123456789"[r.IntN(10)])
			}
		}
		return b.String() + []string{"", "e1", "E-2", "e+3", "e0"}[r.IntN(5)]
	}
	for range 5_000 {
		a, b := number(), number()
		x, xOK := new(big.Rat).SetString(a)
		y, yOK := new(big.Rat).SetString(b)
		got, ok := compareNumbers(a, b)
		if !xOK || !yOK || !ok || got != x.Cmp(y) {
			t.Fatalf("%s and %s: %d, %t; want %d", a, b, got, ok, x.Cmp(y))
		}
	}
}

func TestH6_a_number_without_a_fraction_is_an_integer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0": true, "2.0": true, "1e3": true, "1.5e1": true, "120e-1": true, "-7": true, "1e999999999999999999999": true,
		"1.5": false, "1e-1": false, "12.5e0": false, "1e-999999999999999999999": false,
	} {
		n, ok := jsonvalue.ParseDecimal(text)
		if !ok || n.Integer() != want {
			t.Errorf("%s: %t, want %t", text, n.Integer(), want)
		}
	}
	for text, want := range map[string]int64{"1": 1, "123.4": 3, "0.01": -1, "1e400": 401, "1e999999999999999999999": 1_000_000_000_000} {
		n, _ := jsonvalue.ParseDecimal(text)
		if n.Magnitude() != want {
			t.Errorf("%s has %d digits before the point, want %d", text, n.Magnitude(), want)
		}
	}
}

// The laws of an order, and agreement with rationals where those can be made.
func FuzzCompareNumbers(f *testing.F) {
	f.Add("1.0", "10e-1")
	f.Add("-0", "0.0")
	f.Add("1e1000000000", "1e1000000001")
	f.Add("9007199254740993", "9007199254740992.0")
	f.Add("1e99999999999999999", "1e999999999999999999")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, xOK := jsonvalue.ParseDecimal(a)
		y, yOK := jsonvalue.ParseDecimal(b)
		if !xOK || !yOK {
			return
		}
		got := x.Compare(&y)
		if back := y.Compare(&x); got != -back || x.Compare(&x) != 0 || jsonvalue.CompareNumbers(a, b) != got {
			t.Fatalf("%s and %s: %d, back %d", a, b, got, back)
		}
		if len(a)+len(b) > 200 || x.Magnitude() > 500 || x.Magnitude() < -500 || y.Magnitude() > 500 || y.Magnitude() < -500 {
			return
		}
		p, pOK := new(big.Rat).SetString(a)
		q, qOK := new(big.Rat).SetString(b)
		if pOK && qOK && p.Cmp(q) != got {
			t.Fatalf("%s and %s: %d, want %d", a, b, got, p.Cmp(q))
		}
	})
}
