package interchange

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// wiremockShape is the request of a stub mapping.
func wiremockShape() conditionShape {
	return conditionShape{
		places: []string{"url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate"},
		members: map[string]kinds{
			"method": aText | anObject, "url": aText, "urlPath": aText, "urlPattern": aText, "urlPathPattern": aText, "urlPathTemplate": aText,
			"pathParameters": anObject, "queryParameters": anObject, "formParameters": anObject, "headers": anObject, "cookies": anObject,
			"host": aText | anObject, "basicAuthCredentials": anObject, "basicAuth": anObject, "bodyPatterns": aList, "multipartPatterns": aList,
			"scheme": aText, "port": aNumber | aText, "clientIp": aText | anObject, "customMatcher": anObject, "andMatchers": aList,
		},
	}
}

// request translates the conditions of a stub.
func (w *wiremockStub) request(r *object) {
	m := w.mock
	w.method(r)
	w.url(r)
	w.pathParameters(r)
	m.request.doc("query", w.matches(r.objectOf("queryParameters")))
	if form := w.matches(r.objectOf("formParameters")); !form.empty() {
		w.bodyCondition(with("form", form.node()))
	}
	headers := w.matches(r.objectOf("headers"))
	w.host(r, headers)
	m.request.doc("headers", headers)
	m.request.doc("cookies", w.matches(r.objectOf("cookies")))
	w.credentials(r)
	w.bodies(r)
	w.multipart(r)
	for _, name := range []string{"scheme", "port", "clientIp"} {
		if v := r.get(name); v.ok() {
			w.out.lost(v, "%s is left out: MockBase does not match on it", name)
		}
	}
	for _, name := range []string{"customMatcher", "andMatchers"} {
		if v := r.get(name); v.ok() && !w.graphQL(v) {
			w.mock.unmet(v, "%s runs code of an extension", name)
		}
	}
	r.done()
}

// graphQL translates the matcher of WireMock's extension for GraphQL; it reports false for any other.
func (w *wiremockStub) graphQL(v value) bool {
	if v.member("name").text() != "graphql-body-matcher" {
		return false
	}
	expected := v.at("parameters", "expectedJson")
	if expected.is(mockbase.NodeText) {
		n, err := mockbase.ParseNode([]byte(expected.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil {
			return false
		}
		expected.node = n
	}
	if !expected.ok() {
		expected = v.member("parameters")
	}
	query := expected.member("query").text()
	if query == "" {
		return false
	}
	d := with("query", textNode(query))
	if variables := expected.member("variables"); variables.is(mockbase.NodeObject) {
		d.set("variablesExact", literalMatch(variables.node))
	}
	d.text("operationName", expected.member("operationName").text())
	w.mock.body(with("graphql", d.node()))
	return true
}

func (w *wiremockStub) method(r *object) {
	v := r.get("method")
	if v.is(mockbase.NodeObject) {
		w.methods(v)
		return
	}
	switch method := v.text(); method {
	case "", "ANY":
		w.mock.request.set("method", textNode("ANY"))
	case "GET_OR_HEAD":
		w.mock.request.set("method", listNode(textNode("GET"), textNode("HEAD")))
	default:
		w.mock.request.set("method", textNode(strings.ToUpper(method)))
	}
}

// methods translates a list of methods that newer versions write as a matcher.
func (w *wiremockStub) methods(v value) {
	var list []*mockbase.Node
	for _, item := range slices.Concat(v.member("in").items(), v.member("oneOf").items(), v.member("or").items()) {
		if text := item.text() + item.member("equalTo").text(); text != "" {
			list = append(list, textNode(text))
		}
	}
	if len(list) == 0 || len(v.node.Members) > 1 {
		w.mock.request.set("method", textNode("ANY"))
		w.mock.unmet(v, "the condition on the method has no equivalent")
		return
	}
	w.mock.request.set("method", listNode(list...))
}

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
		return u.RequestURI()
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

func (w *wiremockStub) pathParameters(r *object) {
	if params := w.matches(r.objectOf("pathParameters")); !params.empty() {
		w.mock.needs(with("path", params.node()).node())
	}
}

// host translates a condition on the host: a literal one is the host of the mock, others look at the header.
func (w *wiremockStub) host(r *object, headers *doc) {
	v := r.get("host")
	if !v.ok() {
		return
	}
	if name := v.member("equalTo").text(); name != "" && len(v.entries()) == 1 {
		w.mock.request.set("host", textNode(name))
		return
	}
	if n := w.match(v); n != nil {
		headers.set("Host", n)
	}
}

func (w *wiremockStub) credentials(r *object) {
	v := r.get("basicAuthCredentials")
	if !v.ok() {
		v = r.get("basicAuth")
	}
	if !v.ok() {
		return
	}
	c := w.out.object(v)
	basic := &doc{}
	basic.set("username", textNode(c.textOf("username")))
	basic.set("password", textNode(c.textOf("password")))
	c.done()
	w.mock.request.set("auth", with("basic", basic.node()).node())
}

// matches translates conditions by name.
func (w *wiremockStub) matches(o *object) *doc {
	d := &doc{}
	for _, e := range o.entries() {
		if n := w.match(e.value); n != nil {
			d.set(e.key, n)
		}
	}
	return d
}

// match translates a condition on a text that has a name, nil when it has no equivalent.
func (w *wiremockStub) match(v value) *mockbase.Node {
	if v.scalar() {
		return textNode(v.text())
	}
	return w.operators(v, present)
}

// presence says what a negation means for a value that was not sent.
type presence int

const (
	// present is for names: WireMock's negations fail when nothing was sent, ours hold.
	present presence = iota
	// anyway is for bodies, which are always there.
	anyway
)

// operators translates a condition on a text.
func (w *wiremockStub) operators(v value, p presence) *mockbase.Node {
	o := w.out.object(v)
	d := &doc{}
	ignoreCase := o.get("caseInsensitive").isTrue()
	before := len(w.mock.unmetOnes)
	for _, e := range o.entries() {
		w.operator(o, e, d, p)
	}
	o.skip("caseInsensitive")
	if len(w.mock.unmetOnes) > before {
		return nil
	}
	if d.empty() {
		w.mock.unmet(v, "the condition says nothing that is known here")
		return nil
	}
	if ignoreCase && (d.get("equals") != nil || d.get("contains") != nil) {
		d.set("ignoreCase", trueNode())
	}
	o.done()
	return d.node()
}

// operator translates one member of a condition.
func (w *wiremockStub) operator(o *object, e entry, d *doc, p presence) {
	o.skip(e.key)
	if slices.Contains([]string{"equalTo", "contains", "doesNotContain", "matches", "doesNotMatch"}, e.key) && !e.scalar() {
		w.mock.unmet(e.value, "the operand of %s must be a text", e.key)
		return
	}
	w.textOperator(o, e, d, p)
}

// textOperator translates one member of a condition, whose operand is a text where it has to be.
func (w *wiremockStub) textOperator(o *object, e entry, d *doc, p presence) {
	negated := func(inner *doc) {
		d.set("not", inner.node())
		if p == present {
			d.set("exists", trueNode())
		}
	}
	switch e.key {
	case "caseInsensitive":
	case "equalTo":
		d.set("equals", textNode(e.text()))
	case "contains":
		d.set("contains", textNode(e.text()))
	case "doesNotContain":
		negated(with("contains", textNode(e.text())))
	case "matches":
		if w.mock.expression(e.value, e.text()) {
			d.set("matches", textNode(e.text()))
		}
	case "doesNotMatch":
		if w.mock.expression(e.value, e.text()) {
			negated(with("matches", textNode(e.text())))
		}
	default:
		w.otherOperator(o, e, d, p)
	}
}

// otherOperator translates the conditions that are not about one text.
func (w *wiremockStub) otherOperator(o *object, e entry, d *doc, p presence) {
	switch e.key {
	case "absent":
		d.set("exists", boolNode(!e.isTrue()))
	case "and", "or", "includes", "hasExactly":
		w.several(e, d, p)
	case "not":
		if inner := w.operators(e.value, p); inner != nil {
			d.set("not", inner) // holds for what was not sent, as in WireMock
		}
	case "before", "after", "equalToDateTime":
		w.dateTime(o, e, d)
	default:
		w.mock.unmet(e.value, "the condition %s cannot be put on a text", quoted(e.key))
	}
}

// several translates the conditions that hold others.
func (w *wiremockStub) several(e entry, d *doc, p presence) {
	if texts := equalTexts(e.items()); len(texts) > 0 && p == present && (e.key == "includes" || e.key == "hasExactly") {
		d.list(map[string]string{"includes": "all", "hasExactly": "exactly"}[e.key], texts)
		return
	}
	var list []*mockbase.Node
	for _, item := range e.items() {
		if n := w.operators(item, p); n != nil {
			list = append(list, n)
		}
	}
	if e.key == "and" && together(d, list) {
		return
	}
	name := map[string]string{"and": "allOf", "or": "anyOf", "includes": "allOf", "hasExactly": "allOf"}[e.key]
	if len(list) == 0 {
		w.mock.unmet(e.value, "the condition %s is empty", quoted(e.key))
		return
	}
	d.list(name, list)
	if e.key == "hasExactly" {
		d.set("count", numberNode(int64(len(list))))
	}
}

// equalTexts are the texts that conditions ask for, if they ask for nothing else.
func equalTexts(items []value) []*mockbase.Node {
	var texts []*mockbase.Node
	for _, item := range items {
		if !item.member("equalTo").scalar() || len(item.entries()) != 1 {
			return nil
		}
		texts = append(texts, textNode(item.member("equalTo").text()))
	}
	return texts
}

// together puts conditions that one value has to meet into one object. It is not possible when two are of a kind.
func together(d *doc, list []*mockbase.Node) bool {
	all := &doc{members: slices.Clone(d.members)}
	for _, n := range list {
		for _, m := range n.Members {
			if m.Key == "matches" && all.get("matches") != nil && all.get("search") == nil {
				m = mockbase.Member{Key: "search", Value: textNode(`\A(?:` + m.Value.Text + `)\z`)}
			}
			if all.get(m.Key) != nil || m.Key == "ignoreCase" {
				return false
			}
			all.set(m.Key, m.Value)
		}
	}
	d.members = all.members
	return len(list) > 0
}

// dateTime translates conditions on points in time. Those that are relative to now have no equivalent.
func (w *wiremockStub) dateTime(o *object, e entry, d *doc) {
	text := e.text()
	for _, name := range []string{"actualFormat", "truncateExpected", "truncateActual", "expectedOffset", "expectedOffsetUnit", "applyTruncationLast"} {
		if o.has(name) {
			w.mock.unmet(o.member(name), "dates can only be compared as HTTP dates or RFC 3339, without %s", name)
			o.skip(name)
			return
		}
	}
	switch {
	case !isDateTime(text):
		w.mock.unmet(e.value, "the date %s is not fixed, or not written with its zone", quoted(text))
	case e.key == "equalToDateTime":
		either := listNode(with("before", textNode(text)).node(), with("after", textNode(text)).node())
		d.set("not", with("anyOf", either).node())
		d.set("exists", trueNode())
	default:
		d.set(e.key, textNode(text))
	}
}
