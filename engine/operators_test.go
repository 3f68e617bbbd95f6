package engine_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine"
)

// Rules G2 to G4 for the numbers of query and headers.
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
	} {
		if got, ok := engine.CompareDecimals(c.a, c.b); !ok || got != c.want {
			t.Errorf("%s and %s: %d, %t; want %d", c.a, c.b, got, ok, c.want)
		}
		if got, ok := engine.CompareDecimals(c.b, c.a); !ok || got != -c.want {
			t.Errorf("%s and %s: %d, %t; want %d", c.b, c.a, got, ok, -c.want)
		}
	}
	for _, text := range []string{"", "-", "+1", " 1", "1 ", "01", "1.", ".5", "1e", "1e+", "1e1.5", "0x1", "ten", "1,5", "NaN", "Infinity", "--1", "1e999999999999999999999"} {
		if _, ok := engine.CompareDecimals(text, "1"); ok {
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
		got, ok := engine.CompareDecimals(a, b)
		if !xOK || !yOK || !ok || got != x.Cmp(y) {
			t.Fatalf("%s and %s: %d, %t; want %d", a, b, got, ok, x.Cmp(y))
		}
	}
}

// Rule K5: two texts fold to the same exactly if strings.EqualFold says so.
func FuzzFold(f *testing.F) {
	f.Add("straße", "STRASSE")
	f.Add("É", "é")
	f.Add("Kelvin \u212a", "kELVIN k")
	f.Add("\xff\xfe", "\xff\xfd")
	f.Add("ſ", "S")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ToValidUTF8(a, "") != a || strings.ToValidUTF8(b, "") != b {
			// EqualFold takes all broken bytes for the same.
			return
		}
		if got, want := engine.Fold(a) == engine.Fold(b), strings.EqualFold(a, b); got != want {
			t.Errorf("%q and %q: %t, want %t", a, b, got, want)
		}
	})
}
