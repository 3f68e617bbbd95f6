package mockbase

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Printable is a text in which each byte that is no UTF-8 is percent-encoded, so that nothing is replaced where the text is
// shown in JSON (rule B7). Other texts are returned as they are.
func Printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
