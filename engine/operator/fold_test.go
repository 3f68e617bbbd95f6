package operator_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/operator"
)

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
		if got, want := operator.Fold(a) == operator.Fold(b), strings.EqualFold(a, b); got != want {
			t.Errorf("%q and %q: %t, want %t", a, b, got, want)
		}
	})
}
