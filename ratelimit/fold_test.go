package ratelimit_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
)

// RL88: two paths fold to the same text exactly when they differ in letter case alone.
func TestRL88_paths_that_differ_in_letter_case_fold_to_one(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"/a", "/A"}, {"/straße", "/STRAßE"}, {"/ärger/x", "/ÄRGER/X"}, {"/k", "/K", "/\u212a"}, {"/s", "/\u017f"}, {"/σ", "/ς", "/Σ"}, {"/", "/"}, {"", ""},
	} {
		for _, path := range same[1:] {
			if a, b := ratelimit.FoldPath(same[0]), ratelimit.FoldPath(path); a != b {
				t.Errorf("%q folds to %q, and %q to %q", same[0], a, path, b)
			}
		}
	}
	for _, other := range [][2]string{{"/a", "/b"}, {"/ss", "/ß"}, {"/i", "/ı"}, {"/x\xff", "/x\xfe"}, {"/x\xff", "/x\ufffd"}, {"/a/", "/a"}} {
		if ratelimit.FoldPath(other[0]) == ratelimit.FoldPath(other[1]) {
			t.Errorf("%q and %q fold to one", other[0], other[1])
		}
	}
}

func FuzzFoldPath(f *testing.F) {
	for _, seed := range []string{"/m/Demo", "/ÄRGER", "/\xff\xfe", "/\u212a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		folded := ratelimit.FoldPath(path)
		if ratelimit.FoldPath(folded) != folded {
			t.Errorf("%q folds further than %q", path, folded)
		}
		if strings.ToValidUTF8(path, "") == path && !strings.EqualFold(path, folded) {
			t.Errorf("%q is no spelling of %q", folded, path)
		}
	})
}
