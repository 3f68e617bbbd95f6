package interchange

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// mockserver translates MockServer expectations: a list of them, or one. There the oldest of equal expectations answers,
// here the newest, so that their order is turned around.
func mockserver(s *source, out *output) error {
	docs, err := s.of(out, func(d value) bool { return d.is(mockbase.NodeList) || isExpectation(d) }, "MockServer expectation", "httpRequest or an action such as httpResponse")
	if err != nil {
		return err
	}
	for _, d := range slices.Backward(docs) {
		list := []value{d}
		if d.is(mockbase.NodeList) {
			list = d.items()
		}
		for _, v := range slices.Backward(list) {
			out.found++
			if out.stopped() {
				return nil
			}
			expectation(v, out)
		}
	}
	return nil
}

func expectation(v value, out *output) {
	o, ok := out.entry(v)
	if !ok {
		return
	}
	if spec := o.get("specUrlOrPayload"); spec.ok() {
		out.lost(spec, "an expectation made of an OpenAPI document is left out: import the document itself")
		return
	}
	e := &mockserverMock{out: out, mock: out.mock(v)}
	if id := o.textOf("id"); len(id) <= 40 {
		e.mock.named(id)
	}
	if p, ok := o.integerOf("priority"); ok && p != 0 {
		e.mock.set("priority", numberNode(p))
	}
	e.times(o)
	e.request(e.mock.judge(o, "httpRequest", mockserverShape()))
	e.scenario(o)
	e.hooks(o)
	e.action(o)
	o.done()
	out.add(e.mock)
}

// mockserverMock translates one expectation.
type mockserverMock struct {
	out  *output
	mock *mock
	// state is the one that an answer leads to, "" for none; after are the calls that follow it.
	state string
	after []*mockbase.Node
}

func (e *mockserverMock) times(o *object) {
	times := o.objectOf("times")
	n, limited := times.integerOf("remainingTimes")
	times.skip("unlimited")
	times.done()
	if limited && !times.get("unlimited").isTrue() && n > 0 {
		e.mock.set("times", numberNode(n))
	}
	if life := o.get("timeToLive"); life.ok() && !life.member("unlimited").isTrue() {
		e.out.lost(life, "an expectation that ends after a time has no equivalent: the mock stays")
	}
}

// mockserverShape is the request of an expectation.
func mockserverShape() conditionShape {
	return conditionShape{
		places: []string{"path"},
		members: map[string]kinds{
			"method": aText | anObject, "path": aText | anObject, "pathParameters": aList | anObject, "queryStringParameters": aList | anObject,
			"headers": aList | anObject, "cookies": aList | anObject, "body": anyKind, "not": aBool, "specUrlOrPayload": aText | anObject,
			"operationId": aText, "secure": aBool, "keepAlive": aBool, "protocol": aText, "socketAddress": anObject, "localAddress": aText,
			"remoteAddress": aText, "clientCertificateChain": aList,
		},
	}
}

// request translates the conditions. An empty one answers everything.
func (e *mockserverMock) request(r *object) {
	m := e.mock
	if spec := r.get("specUrlOrPayload"); spec.ok() {
		m.place("path", "/**")
		m.unmet(spec, "a request that an OpenAPI document describes has no equivalent")
		r.skip("operationId")
		r.done()
		return
	}
	e.method(r.get("method"))
	e.path(r)
	m.request.doc("query", e.named(r.get("queryStringParameters")))
	m.request.doc("headers", e.named(r.get("headers")))
	m.request.doc("cookies", e.named(r.get("cookies")))
	if params := e.named(r.get("pathParameters")); !params.empty() {
		m.needs(with("path", params.node()).node())
	}
	if body := r.get("body"); body.ok() {
		e.body(body)
	}
	for _, name := range []string{"secure", "keepAlive", "protocol", "socketAddress", "localAddress", "remoteAddress", "clientCertificateChain"} {
		if v := r.get(name); v.ok() {
			e.out.lost(v, "%s is left out: MockBase does not match on it", name)
		}
	}
	if v := r.get("not"); v.isTrue() {
		m.unmet(v, "a request that is not like this one has no equivalent")
	}
	r.done()
}

func (e *mockserverMock) method(v value) {
	text := v.text()
	switch {
	case v.is(mockbase.NodeObject):
		e.mock.request.set("method", textNode("ANY"))
		e.mock.unmet(v, "the condition on the method has no equivalent")
	case text == "":
		e.mock.request.set("method", textNode("ANY"))
	case strings.HasPrefix(text, "!"):
		e.methodsBut(v, text[1:])
	case regexp.QuoteMeta(text) == text:
		e.mock.request.set("method", textNode(strings.ToUpper(text)))
	default:
		e.mock.methodPattern(v, checkExpression(text) == nil, "^(?:"+text+")$")
	}
}

// methodsBut lists the common methods but one.
func (e *mockserverMock) methodsBut(v value, not string) {
	var list []*mockbase.Node
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		if !strings.EqualFold(method, not) {
			list = append(list, textNode(method))
		}
	}
	e.out.lost(v, "any method but %s becomes the list of the other common ones", not)
	e.mock.request.list("method", list)
}

// path translates the path, which is literal, has parameters, or is a regular expression.
func (e *mockserverMock) path(r *object) {
	v := r.get("path")
	text := v.text()
	switch {
	case v.is(mockbase.NodeObject):
		e.mock.place("path", "/**")
		e.mock.unmet(v, "a schema cannot be put on a path")
	case text == "" || text == ".*" || text == "/.*":
		e.mock.place("path", "/**")
	case strings.HasPrefix(text, "!"):
		e.mock.place("path", "/**")
		e.mock.unmet(v, "any path but one has no equivalent")
	case strings.Contains(text, "{") && r.has("pathParameters"):
		(&wiremockStub{out: e.out, mock: e.mock}).pathTemplate(v)
	case plainText(text):
		e.mock.literalPath(text)
	case e.mock.expression(v, text):
		e.mock.place("pathMatches", text)
	default:
		e.mock.place("path", "/**")
	}
}

// plainText tells whether a text is meant literally: it holds nothing of an expression but points and hyphens.
func plainText(text string) bool {
	bare := strings.NewReplacer(".", "", "-", "").Replace(text)
	return regexp.QuoteMeta(bare) == bare && !strings.Contains(text, "..")
}

// named translates conditions by name, which come as an object or as a list of names with values.
func (e *mockserverMock) named(v value) *doc {
	d := &doc{}
	for _, member := range pairsOf(v) {
		if member.key != "keyMatchStyle" {
			e.one(d, member)
		}
	}
	return d
}

// one translates the condition on one name. A question mark before it makes it optional, an exclamation mark forbids it.
func (e *mockserverMock) one(d *doc, member entry) {
	name, optional := strings.CutPrefix(member.key, "?")
	name, forbidden := strings.CutPrefix(name, "!")
	if !plainName(name) {
		e.mock.unmet(member.value, "a name that is an expression, such as %s, has no equivalent", quoted(name))
		return
	}
	items := member.items()
	if items == nil && member.ok() {
		items = []value{member.value}
	}
	list := e.conditions(items)
	switch {
	case forbidden:
		d.set(name, with("exists", falseNode()).node())
	case optional && len(list) > 0:
		either := append([]*mockbase.Node{with("exists", falseNode()).node()}, list...)
		d.set(name, with("anyOf", listNode(either...)).node())
	case len(list) == 1:
		d.set(name, list[0])
	case len(list) > 1:
		d.list(name, list)
	case !optional && len(items) == 0:
		d.set(name, with("exists", trueNode()).node())
	}
}

// plainName tells whether a name is meant literally. Brackets at the end are those of lists and objects in queries.
func plainName(name string) bool {
	name, _, _ = strings.Cut(name, "[")
	return name != "" && plainText(name)
}

func (e *mockserverMock) conditions(items []value) []*mockbase.Node {
	var list []*mockbase.Node
	for _, item := range items {
		if n := e.condition(item); n != nil {
			list = append(list, n)
		}
	}
	return list
}

// condition translates a text, which is literal or an expression and may be negated, or a schema.
func (e *mockserverMock) condition(v value) *mockbase.Node {
	if v.is(mockbase.NodeObject) {
		return e.schema(v)
	}
	if !v.scalar() {
		e.mock.unmet(v, "a condition is a text or a schema")
		return nil
	}
	text, negated := strings.CutPrefix(v.text(), "!")
	var d *doc
	switch {
	case regexp.QuoteMeta(text) == text:
		d = with("equals", textNode(text))
	case text == ".*":
		d = with("exists", trueNode())
	case checkExpression(text) != nil:
		d = with("equals", textNode(text))
	default:
		d = with("anyOf", listNode(with("equals", textNode(text)).node(), with("matches", textNode(text)).node()))
	}
	if negated {
		return with("not", d.node()).node()
	}
	return d.node()
}

// schema translates a schema for a text as far as it says its form.
func (e *mockserverMock) schema(v value) *mockbase.Node {
	s := v.member("schema")
	d := &doc{}
	for _, member := range s.entries() {
		switch member.key {
		case "type":
			e.schemaType(member, d)
		case "pattern":
			if e.mock.expression(member.value, member.text()) {
				d.set("search", textNode(member.text()))
			}
		case "enum":
			d.list("in", scalars(member.value))
		case "minimum":
			d.set("gte", member.node)
		case "maximum":
			d.set("lte", member.node)
		case "description", "title", "example":
		default:
			e.mock.unmet(member.value, "%s of a schema cannot be put on a text", quoted(member.key))
		}
	}
	if d.empty() {
		d.set("exists", trueNode())
	}
	return d.node()
}

// schemaType translates the type of a text: how it must be spelt.
func (e *mockserverMock) schemaType(member entry, d *doc) {
	switch member.text() {
	case "string":
	case "integer":
		d.set("matches", textNode(`-?\d+`))
	case "number":
		d.set("matches", textNode(`-?\d+(\.\d+)?([eE][-+]?\d+)?`))
	case "boolean":
		d.set("matches", textNode("true|false"))
	default:
		e.mock.unmet(member.value, "a text cannot be %s", quoted(member.text()))
	}
}

// action translates what the expectation does.
func (e *mockserverMock) action(o *object) {
	switch {
	case o.has("httpResponse"):
		e.response(o.objectOf("httpResponse"), nil)
	case o.has("httpResponses"):
		e.several(o)
	case o.has("httpForward"):
		e.forward(o.objectOf("httpForward"))
	case o.has("httpOverrideForwardedRequest"):
		e.override(o.get("httpOverrideForwardedRequest"))
	case o.has("httpError"):
		e.failure(o.objectOf("httpError"))
	default:
		for _, name := range []string{"httpResponseTemplate", "httpForwardTemplate", "httpResponseClassCallback", "httpForwardClassCallback", "httpResponseObjectCallback", "httpForwardObjectCallback"} {
			if v := o.get(name); v.ok() {
				e.mock.unanswerable(v, fmt.Sprintf("%s runs code that has no equivalent", name))
				return
			}
		}
		e.mock.unanswerable(o.value, "the expectation has no action that is known")
	}
}
