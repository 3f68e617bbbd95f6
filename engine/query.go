package engine

import "strings"

// pair is one name and value of a query.
type pair struct{ name, value string }

// parseQuery reads a query as form-urlencoded text: & alone separates, the first = divides name and value, + is a
// space, and a broken escape stays as it is (rules C1 to C5).
func parseQuery(raw string) []pair {
	if raw == "" {
		return nil
	}
	pairs := make([]pair, 0, 1+strings.Count(raw, "&"))
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{name: unescapeForm(name), value: unescapeForm(value)})
	}
	return pairs
}

func unescapeForm(s string) string {
	first := strings.IndexAny(s, "%+")
	if first < 0 {
		return s
	}
	decoded := make([]byte, first, len(s))
	copy(decoded, s)
	for i := first; i < len(s); i++ {
		c := s[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if b, ok := hexPair(s[i+1:]); ok {
				c, i = b, i+2
			}
		}
		decoded = append(decoded, c)
	}
	return string(decoded)
}
