package mockbase

import "strings"

// maxMatcherName is the longest name of a matcher in bytes, as long as the longest path: a request that holds a longer
// one is hardly ever let in, and every request is compared with it (rule M-9).
const maxMatcherName = maxPath

// decodeHeaderMatches reads matches on header fields. A name that no request can hold would be a mock that never answers.
func decodeHeaderMatches(f *Fields) []NamedMatch {
	entries := f.entries("headers")
	for _, e := range entries {
		if len(e.name) <= maxMatcherName && !validToken(e.name) {
			e.key.noHeaderName(e.name)
		}
	}
	return decodeMatches(entries)
}

// noHeaderName notes a name that no header field can have (RFC 9110, section 5.1).
func (at place) noHeaderName(name string) {
	at.fault(FieldPattern, "%s is no header name: use letters, digits and !#$%%&'*+-.^_`|~", quote(name))
}

// decodeCookieMatches reads matches on cookies.
func decodeCookieMatches(f *Fields) []NamedMatch {
	entries := f.entries("cookies")
	for _, e := range entries {
		if len(e.name) <= maxMatcherName && !possibleCookieName(e.name) {
			e.key.fault(FieldPattern, "%s is no cookie name: leave out =, ;, control characters and blanks at either end", quote(e.name))
		}
	}
	return decodeMatches(entries)
}

// possibleCookieName tells whether a Cookie line can hold a cookie of this name (rule E1). Browsers and programs send far
// more than tokens, and a part without = is a cookie whose name is empty (rule E4).
func possibleCookieName(name string) bool {
	isImpossible := func(r rune) bool { return r == '=' || r == ';' || r < ' ' && r != '\t' || r == 0x7f }
	return !strings.ContainsFunc(name, isImpossible) && strings.Trim(name, " \t") == name
}
