package mockbase

import (
	"fmt"
	"strings"
	"unicode"
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

// LineFault says what stands in a text of one line, such as a name, that cannot be shown: control characters, characters that
// turn the direction of text or end a line, and bytes that are no UTF-8. People who read a name that holds them in a list, a
// log or a terminal see another one. It returns "" where there is nothing of that kind.
func LineFault(s string) string { return shownFault(s, "") }

// ProseFault says the same of a text of several lines, which line feeds and tabs divide.
func ProseFault(s string) string { return shownFault(s, "\n\r\t") }

// CleanLine and CleanProse drop what cannot be shown, from texts that others than the caller have written.
func CleanLine(s string) string { return clean(s, LineFault) }

// CleanProse is [CleanLine] for texts of several lines.
func CleanProse(s string) string { return clean(s, ProseFault) }

func clean(s string, fault func(string) string) string {
	if fault(s) == "" {
		return s
	}
	return strings.Map(func(r rune) rune {
		if fault(string(r)) != "" {
			return -1
		}
		return r
	}, s)
}

// turns tells whether a character embeds, overrides or isolates a direction of text; mere marks of it are part of some scripts.
func turns(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

func shownFault(s, allowed string) string {
	for i, r := range s {
		switch {
		case strings.ContainsRune(allowed, r):
		case r == utf8.RuneError && strings.HasPrefix(s[i:], string(utf8.RuneError)):
			// It is written so.
		case r == utf8.RuneError:
			return fmt.Sprintf("holds the byte %#02x, which is no UTF-8", s[i])
		case unicode.IsControl(r):
			return fmt.Sprintf("holds the control character %U, which cannot be shown", r)
		case r == '\u2028' || r == '\u2029':
			return fmt.Sprintf("holds the line separator %U", r)
		case turns(r):
			return fmt.Sprintf("holds %U, which turns the direction of text", r)
		}
	}
	return ""
}
