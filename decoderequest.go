package mockbase

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxPath is the longest path: no longer target reaches a mock (rule M-9).
	maxPath = 8 << 10
	// maxPathMatches and maxRegexp bound regular expressions, in characters.
	maxPathMatches = 1024
	maxRegexp      = 4096
)

// place is what the request is matched by in the first place: its path, pattern or target.
func (r *RequestMatcher) place() string {
	return r.Path + r.PathMatches + r.RawTarget
}

// anyCondition tells whether a condition of the matcher, however deep, is as asked.
func (r *RequestMatcher) anyCondition(is func(*Condition) bool) bool {
	return anyOfConditions(r.AnyOf, is) || anyOfConditions(r.AllOf, is) || r.Not.any(is)
}

func anyOfConditions(list []Condition, is func(*Condition) bool) bool {
	for i := range list {
		if list[i].any(is) {
			return true
		}
	}
	return false
}

// any tells whether c or a condition inside it is as asked.
func (c *Condition) any(is func(*Condition) bool) bool {
	return c != nil && (is(c) || anyOfConditions(c.AnyOf, is) || anyOfConditions(c.AllOf, is) || c.Not.any(is))
}

// decodeRequest reads "METHOD /path" or the long form.
func decodeRequest(at place, r *RequestMatcher) {
	if at.Kind == NodeText {
		r.Shorthand = true
		decodeRequestLine(at, r)
		return
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, `must be a text such as "GET /users" or an object, found %s`, at.describe())
		return
	}
	f := at.fields()
	r.Methods = decodeMethods(f)
	decodeTarget(f, r)
	var host string
	if f.Text("host", &host) && checkHost(f, host) {
		r.Host = host
	}
	r.Query = decodeMatches(f.entries("query"))
	r.Headers = decodeHeaderMatches(f)
	r.Cookies = decodeCookieMatches(f)
	r.Matrix = decodeMatches(f.entries("matrix"))
	f.Bool("strictQuery", &r.StrictQuery)
	r.Auth = decodeMember(f, "auth", decodeAuth)
	r.Body = decodeMember(f, "body", decodeBodyMatch)
	oneOf(f, "trailingSlash", &r.TrailingSlash, TrailingSlashStrict, TrailingSlashIgnore)
	r.AnyOf = decodeConditions(f, "anyOf", inRequest)
	r.AllOf = decodeConditions(f, "allOf", inRequest)
	if not, ok := f.at("not"); ok {
		r.Not = decodeCondition(not, inRequest)
	}
	f.Done()
}

// decodeMember reads a member that is decoded into a pointer, nil when it is not there.
func decodeMember[T any](f *Fields, name string, decode func(place) *T) *T {
	at, ok := f.at(name)
	if !ok {
		return nil
	}
	return decode(at)
}

func decodeRequestLine(at place, r *RequestMatcher) {
	method, path, found := strings.Cut(at.Text, " ")
	switch {
	case strings.HasPrefix(at.Text, "/"):
		at.fault(FieldPattern, `%s lacks the method: write "METHOD /path", such as %s`, quote(at.Text), quote("GET "+at.Text))
		return
	case !found || !validToken(method) || !strings.HasPrefix(path, "/"):
		at.fault(FieldPattern, `%s is no request line: write "METHOD /path", such as "GET /users", with one blank between`, quote(at.Text))
		return
	}
	r.Methods = []string{method}
	r.Path = path
	checkPath(at, path, len(method)+1)
}

// decodeMethods reads one method or several; any of them being ANY, the others say nothing.
func decodeMethods(f *Fields) []string {
	at, ok := f.at("method")
	switch {
	case !ok:
		return []string{"GET"}
	case at.Kind == NodeText:
		if checkMethod(at, at.Text) {
			return []string{at.Text}
		}
		return nil
	case at.Kind != NodeList:
		at.fault(FieldType, "must be a method or a list of methods, found %s", at.describe())
		return nil
	}
	methods := distinct(at.items(1, math.MaxInt), checkMethod)
	if slices.Contains(methods, MethodAny) {
		return []string{MethodAny}
	}
	return methods
}

func checkMethod(at place, method string) bool {
	if !validToken(method) {
		at.fault(FieldPattern, "%s is no method: write a token such as GET", quote(method))
		return false
	}
	return true
}

// validToken tells whether s is a token (RFC 9110, section 5.6.2).
func validToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !wordByte(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 || c > '~' {
			return false
		}
	}
	return s != ""
}

// decodeTarget reads the one of path, pathMatches and rawTarget that a request has.
func decodeTarget(f *Fields, r *RequestMatcher) {
	if f.Text("path", &r.Path) {
		checkPath(place{f.node.Find("path"), f.Pointer("path"), f.faults}, r.Path, 0)
	}
	if f.regexp("pathMatches", &r.PathMatches, maxPathMatches) && r.PathMatches == "" {
		f.Fault("pathMatches", FieldRange, "must not be empty")
	}
	if f.Text("rawTarget", &r.RawTarget) && !strings.HasPrefix(r.RawTarget, "/") {
		f.Fault("rawTarget", FieldPattern, "must start with a slash, found %s", quote(r.RawTarget))
	}
	f.exactlyOne("path", "pathMatches", "rawTarget")
}

// exactlyOne notes that none or several of these members are there.
func (f *Fields) exactlyOne(names ...string) {
	if f.atMostOne(names...) == 0 {
		f.missing(names[0], "is missing: exactly one of %s is needed", alternatives(names))
	}
}

// atMostOne notes each of these members but the first and returns how many are there.
func (f *Fields) atMostOne(names ...string) int {
	first, count := "", 0
	for _, m := range f.node.Members {
		if !slices.Contains(names, m.Key) {
			continue
		}
		if count++; count == 1 {
			first = m.Key
			continue
		}
		f.Fault(m.Key, FieldConflict, "excludes %s: keep one of the two", first)
	}
	return count
}

// checkPath notes why a path pattern cannot be used; before is how many bytes of the text stand before it.
func checkPath(at place, path string, before int) {
	if len(path) > maxPath {
		at.fault(FieldLimit, "has %d bytes, at most %d are allowed", len(path), maxPath)
		return
	}
	_, err := ParsePath(path)
	wrong, isPath := errors.AsType[*PathError](err)
	if !isPath {
		return
	}
	column := before + utf8.RuneCountInString(path[:min(wrong.Column-1, len(path))]) + 1
	detail := wrong.Reason
	if wrong.Fix != "" {
		detail += ": " + wrong.Fix
	}
	at.fault(FieldSyntax, "column %d of %s: %s", column, quote(at.Text), detail)
}

func checkHost(f *Fields, host string) bool {
	name := strings.TrimPrefix(host, "*.")
	if name == "" || strings.ContainsAny(name, "/*") || strings.ContainsFunc(name, isBlank) {
		f.Fault("host", FieldPattern, "%s is no host: write a name such as api.test, with :port where it counts, or *.api.test", quote(host))
		return false
	}
	return true
}

// regexp reads an RE2 expression of a bounded number of characters (rule K2).
func (f *Fields) regexp(name string, to *string, most int) bool {
	if !f.short(name, to, most) {
		return false
	}
	if reason, offset := checkRegexp(*to); reason != "" {
		column := utf8.RuneCountInString((*to)[:offset]) + 1
		f.Fault(name, FieldSyntax, "column %d of %s: %s", column, quote(*to), reason)
		return false
	}
	return true
}
