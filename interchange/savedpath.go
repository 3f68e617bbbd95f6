package interchange

import (
	"path"
	"regexp"
	"strings"

	"github.com/mockbase/mockbase"
)

// pathOf takes scheme and host from an address, whose host may be a variable or missing.
func pathOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	} else if strings.HasPrefix(address, "/") {
		return address
	}
	if _, rest, ok := strings.Cut(address, "/"); ok {
		return "/" + rest
	}
	return "/"
}

// sentPath is the path of an address as it is written there: what is encoded stays so.
func sentPath(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	return pathOf(address)
}

// queryPairs takes a query apart as it was written; what cannot be decoded stays as it is.
func queryPairs(text string) []pair {
	var pairs []pair
	for part := range strings.SplitSeq(text, "&") {
		if name, rest, _ := strings.Cut(part, "="); name != "" {
			pairs = append(pairs, pair{unescaped(name), unescaped(rest)})
		}
	}
	return pairs
}

// savedPattern makes a path pattern: parts that begin with a colon and variables without a value become parameters.
func savedPattern(raw string) string {
	taken := map[string]bool{}
	segments := strings.Split(path.Clean("/"+raw), "/")
	for i, segment := range segments {
		switch name, isName := strings.CutPrefix(segment, ":"); {
		case isName && name != "":
			segments[i] = parameter(name, taken)
		case strings.Contains(segment, "{{"):
			segments[i] = openSegment(segment, taken)
		default:
			segments[i] = wholeSegment(segment, taken)
		}
	}
	text := strings.Join(segments, "/")
	if strings.HasSuffix(raw, "/") && text != "/" {
		text += "/"
	}
	return text
}

// openSegment writes a segment with variables in it. Two of them without anything between become one.
func openSegment(segment string, taken map[string]bool) string {
	before, rest, _ := strings.Cut(segment, "{{")
	name, after, closed := strings.Cut(rest, "}}")
	if !closed || strings.Contains(after, "{{") {
		return parameter("value", taken)
	}
	return literalSegment(before) + parameter(name, taken) + literalSegment(after)
}

// wholeSegment writes a segment in which nothing is a pattern. What has a meaning in patterns becomes an expression.
func wholeSegment(segment string, taken map[string]bool) string {
	decoded := unescaped(strings.ReplaceAll(segment, "+", "%2B"))
	if !strings.ContainsAny(decoded, "*?#/") {
		return literalSegment(segment)
	}
	name := strings.Trim(parameter("literal", taken), "{}")
	return "{" + name + ":" + regexp.QuoteMeta(decoded) + "}"
}

// literalSegment writes a part of a segment in which nothing is a pattern.
func literalSegment(segment string) string {
	return plainSegment(unescaped(strings.ReplaceAll(segment, "+", "%2B")))
}

// parameter makes a path parameter of any name.
func parameter(name string, taken map[string]bool) string {
	b := []byte(strings.TrimPrefix(strings.TrimSpace(name), "$"))
	for i := range b {
		if !wordChar(b[i]) {
			b[i] = '_'
		}
	}
	clean := strings.Trim(string(b), "_")
	if clean == "" || isDigits(clean[:1]) {
		clean = "p" + clean
	}
	const longest = 60
	clean = mockbase.UniqueName(clean[:min(len(clean), longest)], func(s string) bool { return taken[s] })
	clean = strings.ReplaceAll(clean, "-", "_")
	taken[clean] = true
	return "{" + clean + "}"
}
