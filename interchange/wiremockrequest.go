package interchange

import (
	"slices"
	"strings"

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
