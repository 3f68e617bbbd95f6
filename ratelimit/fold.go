package ratelimit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldPath returns the same text for every spelling of a path that differs in letter case alone: simple Unicode folding
// without a locale. Bytes that are not UTF-8 stay what they are.
func FoldPath(path string) string {
	for i := range len(path) {
		if c := path[i]; 'a' <= c && c <= 'z' || c >= utf8.RuneSelf {
			return foldFrom(path, i)
		}
	}
	return path
}

func foldFrom(path string, at int) string {
	var folded strings.Builder
	folded.Grow(len(path))
	folded.WriteString(path[:at])
	for at < len(path) {
		r, size := utf8.DecodeRuneInString(path[at:])
		if r == utf8.RuneError && size <= 1 {
			folded.WriteByte(path[at])
		} else {
			folded.WriteRune(smallestCase(r))
		}
		at += size
	}
	return folded.String()
}

// smallestCase returns the smallest of the letters that differ from r in case alone.
func smallestCase(r rune) rune {
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}
