package engine

import "strings"

// parseCookies reads the Cookie lines of a request as one list of pairs: parts are divided by semicolons alone, the
// first = separates, and a part without = is a cookie whose name is empty (rules E1, E4 and E5). Values are literal but
// for one pair of quotes around them (rule E2).
func parseCookies(lines []string) []pair {
	var cookies []pair
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			if part = strings.Trim(part, " \t"); part == "" {
				continue
			}
			name, value, ok := strings.Cut(part, "=")
			if !ok {
				name, value = "", part
			}
			cookies = append(cookies, pair{name: name, value: unquoteCookie(value)})
		}
	}
	return cookies
}

func unquoteCookie(value string) string {
	if last := len(value) - 1; last > 0 && value[0] == '"' && value[last] == '"' {
		return value[1:last]
	}
	return value
}

// cookiePairs returns the request's cookies, parsed when a condition asks first.
func (q *inquiry) cookiePairs() []pair {
	if !q.cookiesParsed {
		q.cookies, q.cookiesParsed = parseCookies(q.header[headerCookie]), true
	}
	return q.cookies
}
