package operator

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold maps every text of one letter case class to the same text: simple Unicode folding without a locale (rule K5).
// Bytes that are not UTF-8 stay what they are.
func Fold(s string) string {
	for i := range len(s) {
		if c := s[i]; 'a' <= c && c <= 'z' || c >= utf8.RuneSelf {
			return foldFrom(s, i)
		}
	}
	return s
}

func foldFrom(s string, at int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:at])
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size <= 1 {
			b.WriteByte(s[at])
			at++
			continue
		}
		b.WriteRune(foldRune(r))
		at += size
	}
	return b.String()
}

// foldRune returns the smallest rune of the class that r belongs to.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		// The smallest of an ASCII letter's class is the capital, also where the class leaves ASCII (K, S).
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}

// FoldAll folds each text.
func FoldAll(texts []string) []string {
	folded := make([]string, len(texts))
	for i, s := range texts {
		folded[i] = Fold(s)
	}
	return folded
}

// FoldPrefix tells whether text begins with prefix when letter case is ignored, and how many of its bytes that takes.
func FoldPrefix(text, prefix string) (int, bool) {
	at := 0
	for prefix != "" {
		if at == len(text) {
			return 0, false
		}
		want, wantSize := utf8.DecodeRuneInString(prefix)
		got, gotSize := utf8.DecodeRuneInString(text[at:])
		// Bytes that are not UTF-8 must be the same bytes.
		if foldRune(want) != foldRune(got) || want == utf8.RuneError && prefix[:wantSize] != text[at:at+gotSize] {
			return 0, false
		}
		prefix, at = prefix[wantSize:], at+gotSize
	}
	return at, true
}
