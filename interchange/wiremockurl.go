package interchange

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// url translates the five ways to say where a stub answers. Without any of them it answers everywhere.
func (w *wiremockStub) url(r *object) {
	m := w.mock
	r.onlyFirst("url", "urlPath", "urlPathTemplate", "urlPathPattern", "urlPattern")
	switch {
	case r.has("url"):
		m.place("rawTarget", rawTarget(r.textOf("url")))
	case r.has("urlPath"):
		w.literalPath(r.textOf("urlPath"))
	case r.has("urlPathTemplate"):
		w.pathTemplate(r.get("urlPathTemplate"))
	case r.has("urlPathPattern"):
		w.pathPattern(r.get("urlPathPattern"), r.textOf("urlPathPattern"))
	case r.has("urlPattern"):
		w.urlPattern(r.get("urlPattern"))
	default:
		m.place("path", "/**")
	}
	r.skip("url", "urlPath", "urlPathTemplate", "urlPathPattern", "urlPattern")
}

// rawTarget is a target as it is sent: an absolute address loses its scheme and host.
func rawTarget(text string) string {
	if u, err := url.Parse(text); err == nil && u.IsAbs() && u.Host != "" {
		if _, query, found := strings.Cut(text, "?"); found {
			query, _, _ = strings.Cut(query, "#")
			return sentPath(text) + "?" + query
		}
		return sentPath(text)
	}
	if !strings.HasPrefix(text, "/") {
		return "/" + text
	}
	return text
}

// literalPath sets a path of which nothing is a pattern.
func (w *wiremockStub) literalPath(text string) { w.mock.literalPath(text) }

// literalPath makes the mock answer at one path, given as it is sent.
func (m *mock) literalPath(text string) {
	if !strings.HasPrefix(text, "/") {
		text = "/" + text
	}
	segments := strings.Split(text, "/")
	for i, segment := range segments {
		if decoded, err := url.PathUnescape(segment); err == nil {
			segment = decoded
		}
		segments[i] = plainSegment(segment)
	}
	path := strings.Join(segments, "/")
	if _, err := mockbase.ParsePath(path); err != nil {
		decoded, err := url.PathUnescape(text)
		if err != nil {
			decoded = text
		}
		m.place("pathMatches", regexp.QuoteMeta(decoded))
		return
	}
	m.place("path", path)
}

// plainSegment writes the text of a segment so that nothing of it is a pattern.
func plainSegment(text string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F", "*", "%2A", "?", "%3F", "#", "%23", "{", "{{", "}", "}}").Replace(text)
}

// pathTemplate sets a path with parameters in braces, which read the same here.
func (w *wiremockStub) pathTemplate(v value) {
	text := v.text()
	if !strings.HasPrefix(text, "/") {
		text = "/" + text
	}
	if _, err := mockbase.ParsePath(text); err != nil {
		w.mock.place("path", "/**")
		w.mock.unmet(v, "the path template %s cannot be read", quoted(text))
		return
	}
	w.mock.place("path", text)
}

func (w *wiremockStub) pathPattern(v value, pattern string) {
	if pattern == ".*" || pattern == "/.*" {
		w.mock.place("path", "/**")
		return
	}
	if !w.mock.expression(v, pattern) {
		w.mock.place("path", "/**")
		return
	}
	w.mock.place("pathMatches", decodedExpression(pattern))
}

var escapedBytes = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)

// decodedExpression is an expression for the decoded path, which WireMock compares as it was sent. A slash stays encoded,
// as it is none that divides.
func decodedExpression(pattern string) string {
	return escapedBytes.ReplaceAllStringFunc(pattern, func(escaped string) string {
		text, err := url.PathUnescape(escaped)
		if err != nil || !utf8.ValidString(text) || strings.Contains(text, "/") {
			return escaped
		}
		return regexp.QuoteMeta(text)
	})
}

// urlPattern translates a regular expression for path and query together. The part before an escaped question mark is the
// path; pairs behind it become conditions. Without one the whole is the path, and a query fits if the end takes anything.
func (w *wiremockStub) urlPattern(v value) {
	pattern := v.text()
	before, after, found := strings.Cut(pattern, `\?`)
	if !found {
		before, after, found = strings.Cut(pattern, `[?]`)
	}
	w.pathPattern(v, strings.TrimPrefix(before, "^"))
	if !found {
		if !strings.HasSuffix(strings.TrimSuffix(pattern, "$"), ".*") {
			w.mock.request.set("strictQuery", trueNode())
		}
		return
	}
	w.queryPattern(v, strings.TrimSuffix(after, "$"))
}

func (w *wiremockStub) queryPattern(v value, pattern string) {
	query := &doc{}
	strict := true
	for part := range strings.SplitSeq(pattern, "&") {
		if part == ".*" {
			strict = false
			continue
		}
		name, expression, found := strings.Cut(part, "=")
		decoded, err := url.QueryUnescape(strings.ReplaceAll(name, `\`, ""))
		if !found || err != nil || name != regexp.QuoteMeta(strings.ReplaceAll(name, `\`, "")) || checkExpression(expression) != nil {
			w.mock.unmet(v, "the query of the pattern %s cannot be told apart into parameters", quoted(v.text()))
			return
		}
		strict = strict && !strings.HasSuffix(expression, ".*")
		query.set(decoded, with("matches", textNode(expression)).node())
	}
	if strict {
		w.mock.request.set("strictQuery", trueNode())
	}
	w.mock.request.doc("query", query)
}
