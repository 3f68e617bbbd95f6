package interchange

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// isDateTime tells whether a text is a point in time that operators compare.
func isDateTime(text string) bool {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return true
	}
	_, err := http.ParseTime(text)
	return err == nil
}

// bodyCondition adds a condition on the body. The first stands in the request, others beside it.
func (w *wiremockStub) bodyCondition(body *doc) { w.mock.body(body) }

// body adds a condition on the body. The first stands in the request; one that has keys in common with it stands beside.
func (m *mock) body(body *doc) {
	old := m.request.get("body")
	if old == nil {
		m.request.set("body", body.node())
		return
	}
	joined := &doc{members: append([]mockbase.Member{}, old.Members...)}
	for _, member := range body.members {
		if joined.get(member.Key) != nil || member.Key == "namespaces" {
			m.needs(with("body", body.node()).node())
			return
		}
		joined.set(member.Key, member.Value)
	}
	m.request.set("body", joined.node())
}

// bodies translates the patterns of the body, all of which must hold.
func (w *wiremockStub) bodies(r *object) {
	for _, item := range r.listOf("bodyPatterns") {
		if c := w.condition(item); c != nil {
			if body := c.get("body"); body != nil && len(c.members) == 1 {
				w.bodyCondition(&doc{members: body.Members})
			} else {
				w.mock.needs(c.node())
			}
		}
	}
}

// condition translates one pattern of the body into a condition, nil when it has no equivalent.
func (w *wiremockStub) condition(v value) *doc {
	inner := func(key string) []*mockbase.Node {
		var list []*mockbase.Node
		for _, item := range v.member(key).items() {
			if c := w.condition(item); c != nil {
				list = append(list, c.node())
			}
		}
		return list
	}
	before := len(w.mock.unmetOnes)
	var c *doc
	switch {
	case v.has("and"):
		c = with("allOf", listNode(inner("and")...))
	case v.has("or"):
		c = with("anyOf", listNode(inner("or")...))
	case v.has("not"):
		if d := w.condition(v.member("not")); d != nil {
			c = with("not", d.node())
		}
	default:
		body := w.body(v)
		if body == nil {
			return nil
		}
		return with("body", body.node())
	}
	if len(w.mock.unmetOnes) > before {
		return nil
	}
	return c
}

// body translates one pattern that is about a whole body.
func (w *wiremockStub) body(v value) *doc {
	o := w.out.object(v)
	d := &doc{}
	switch {
	case o.has("equalToJson"):
		w.equalToJSON(o, d)
	case o.has("matchesJsonPath"):
		w.jsonPath(o, d)
	case o.has("matchesJsonSchema"):
		w.jsonSchema(o, d)
	case o.has("equalToXml"):
		w.equalToXML(o, d)
	case o.has("matchesXPath"):
		w.xPath(o, d)
	case o.has("binaryEqualTo"):
		d.set("base64", textNode(o.textOf("binaryEqualTo")))
	case o.get("absent").isTrue():
		d.set("empty", trueNode())
	default:
		n := w.operators(v, anyway)
		if n == nil {
			return nil
		}
		text := with("text", n)
		if textHoldsForEmpty(n) {
			text.set("empty", falseNode()) // WireMock takes an empty body as none
		}
		return text
	}
	o.done()
	if d.empty() {
		return nil
	}
	return d
}

// textHoldsForEmpty tells whether one of the operators of a text would take an empty body.
func textHoldsForEmpty(n *mockbase.Node) bool {
	holds := false
	for _, m := range n.Members {
		switch m.Key {
		case "matches", "search", "contains":
			holds = holds || holdsForEmpty(entry{m.Key, value{node: m.Value}})
		case "not":
			holds = true
		}
	}
	return holds
}

// equalToXML translates an equality of documents, which in WireMock takes elements in any order and ignores blanks.
func (w *wiremockStub) equalToXML(o *object, d *doc) {
	v := o.get("equalToXml")
	if o.get("enablePlaceholders").isTrue() && strings.Contains(v.text(), "xmlunit.") {
		w.mock.unmet(v, "placeholders in XML have no equivalent")
		return
	}
	if o.has("exemptedComparisons") {
		w.mock.unmet(o.get("exemptedComparisons"), "comparisons of XML cannot be switched off one by one")
		return
	}
	o.skip("placeholderOpeningDelimiterRegex", "placeholderClosingDelimiterRegex", "ignoreOrderOfSameNode")
	if aware := o.get("namespaceAwareness"); aware.ok() && aware.text() != "STRICT" {
		w.mock.unmet(aware, "namespaces of XML are always compared")
	}
	options := with("ignoreOrder", trueNode())
	options.set("trimText", trueNode())
	d.set("xml", textNode(v.text()))
	d.doc("xmlOptions", options)
}

func (w *wiremockStub) xPath(o *object, d *doc) {
	v := o.get("matchesXPath")
	expression, match := v.text(), with("exists", trueNode()).node()
	if v.is(mockbase.NodeObject) {
		expression = v.member("expression").text()
		rest := value{&mockbase.Node{Kind: mockbase.NodeObject, Line: v.node.Line, Column: v.node.Column}, v.pointer, v.file}
		for _, m := range v.node.Members {
			if m.Key != "expression" {
				rest.node.Members = append(rest.node.Members, m)
			}
		}
		if match = w.operators(rest, present); match == nil {
			return
		}
	}
	d.set("xpath", with(expression, match).node())
	if spaces := o.get("xPathNamespaces"); spaces.ok() {
		d.set("namespaces", spaces.node)
	}
}

var partName = regexp.MustCompile(`name="([^"]*)"`)

// multipart translates the patterns of parts.
func (w *wiremockStub) multipart(r *object) {
	var parts []*mockbase.Node
	for _, item := range r.listOf("multipartPatterns") {
		o := w.out.object(item)
		if o.textOf("matchingType") == "ALL" {
			w.mock.unmet(item, "a condition on all parts has no equivalent")
			continue
		}
		if part := w.part(o); !part.empty() {
			parts = append(parts, part.node())
		}
		o.done()
	}
	if len(parts) > 0 {
		w.bodyCondition(with("multipart", listNode(parts...)))
	}
}

func (w *wiremockStub) part(o *object) *doc {
	part := &doc{}
	part.text("name", o.textOf("name"))
	part.text("filename", o.textOf("fileName"))
	headers := &doc{}
	for _, e := range o.get("headers").entries() {
		if found := partName.FindStringSubmatch(e.member("contains").text()); found != nil && strings.EqualFold(e.key, "Content-Disposition") {
			part.text("name", found[1])
			continue
		}
		if n := w.match(e.value); n != nil {
			headers.set(e.key, n)
		}
	}
	part.doc("headers", headers)
	part.doc("body", w.partBody(o))
	return part
}

// partBody translates the patterns of the body of a part, which is there even if it is empty.
func (w *wiremockStub) partBody(o *object) *doc {
	body := &doc{}
	for _, item := range o.listOf("bodyPatterns") {
		inner := w.body(item)
		if inner == nil {
			continue
		}
		if inner.get("text") != nil {
			inner.remove("empty")
		}
		for _, m := range inner.members {
			if body.get(m.Key) != nil {
				w.mock.unmet(item, "a part can have one condition of the kind %s", strconv.Quote(m.Key))
			}
			body.set(m.Key, m.Value)
		}
	}
	return body
}
