package body_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Filters agree with rationals for numbers of any length.
func TestG3_filters_agree_with_rationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	number := func() string {
		digits := []string{"9007199254740993", "9007199254740992", "0.1", "0.10000000000000000001", "1e20", "100000000000000000001", "-5", "7", "1e-30", "12.50"}
		return digits[r.IntN(len(digits))]
	}
	rational := func(text string) *big.Rat {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no rational", text)
		}
		return n
	}
	holds := map[string]func(c int) bool{
		"==": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 }, "<": func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 }, ">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}
	for range 300 {
		for operator, test := range holds {
			list := make([]string, 6)
			for i := range list {
				list[i] = number()
			}
			literal := number()
			want := 0
			for _, n := range list {
				if test(rational(n).Cmp(rational(literal))) {
					want++
				}
			}
			p, err := body.ParsePath("$[?@ " + operator + literal + "]")
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonvalue.Parse(fmt.Appendf(nil, "[%s]", strings.Join(list, ",")), jsonvalue.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.SelectValue(doc)
			if err != nil || len(got) != want {
				t.Fatalf("%v %s %s: %d, want %d (%v)", list, operator, literal, len(got), want, err)
			}
		}
	}
}
