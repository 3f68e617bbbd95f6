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

// parsed returns a JSON value that a member holds as text or as it is.
func (w *wiremockStub) parsed(v value) (*mockbase.Node, bool) {
	if !v.is(mockbase.NodeText) {
		return v.node, true
	}
	n, err := mockbase.ParseNode([]byte(v.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil {
		w.mock.unmet(v, "the text is not JSON")
		return nil, false
	}
	return n, true
}

func (w *wiremockStub) equalToJSON(o *object, d *doc) {
	v := o.get("equalToJson")
	expected, ok := w.parsed(v)
	if !ok {
		return
	}
	if expected, ok = w.placeholders(v, expected); !ok {
		return
	}
	options := &doc{}
	if o.get("ignoreArrayOrder").isTrue() {
		options.set("ignoreOrder", trueNode())
	}
	if o.get("ignoreExtraElements").isTrue() {
		d.set("json", expected)
		options.set("ignoreExtraItems", trueNode())
	} else {
		d.set("jsonExact", expected)
	}
	d.doc("jsonOptions", options)
}

var placeholder = regexp.MustCompile(`^\$\{json-unit\.([a-zA-Z-]+)\}(.*)$`)

// placeholders turns ${json-unit.…} in an expected value into operators, and what would look like an operator here into a
// literal.
func (w *wiremockStub) placeholders(v value, n *mockbase.Node) (*mockbase.Node, bool) {
	switch n.Kind {
	case mockbase.NodeText:
		return w.placeholder(v, n)
	case mockbase.NodeList:
		items := make([]*mockbase.Node, len(n.Items))
		for i, item := range n.Items {
			var ok bool
			if items[i], ok = w.placeholders(v, item); !ok {
				return nil, false
			}
		}
		return listNode(items...), true
	case mockbase.NodeObject:
		return w.placeholdersOf(v, n)
	default:
		return n, true
	}
}

func (w *wiremockStub) placeholdersOf(v value, n *mockbase.Node) (*mockbase.Node, bool) {
	d := &doc{}
	for _, m := range n.Members {
		inner, ok := w.placeholders(v, m.Value)
		if !ok {
			return nil, false
		}
		d.set(m.Key, inner)
	}
	if len(d.members) == 1 && (d.members[0].Key == "$match" || d.members[0].Key == "$literal") {
		return with("$literal", n).node(), true
	}
	return d.node(), true
}

func (w *wiremockStub) placeholder(v value, n *mockbase.Node) (*mockbase.Node, bool) {
	found := placeholder.FindStringSubmatch(n.Text)
	if found == nil {
		return n, true
	}
	match := func(key string, value *mockbase.Node) (*mockbase.Node, bool) {
		return with("$match", with(key, value).node()).node(), true
	}
	switch found[1] {
	case "any-string":
		return match("type", textNode("string"))
	case "any-number":
		return match("type", textNode("number"))
	case "any-boolean":
		return match("type", textNode("boolean"))
	case "ignore", "ignore-element":
		return match("exists", trueNode())
	case "regex":
		if !w.mock.expression(v, found[2]) {
			return nil, false
		}
		return match("matches", textNode(found[2]))
	}
	w.mock.unmet(v, "the placeholder %s has no equivalent", quoted(n.Text))
	return nil, false
}

// jsonPath translates a condition on what a path selects.
func (w *wiremockStub) jsonPath(o *object, d *doc) {
	v := o.get("matchesJsonPath")
	if v.scalar() {
		if path, ok := w.path(v, v.text()); ok {
			d.set("jsonPath", with(path, with("exists", trueNode()).node()).node())
		}
		return
	}
	inner := w.out.object(v)
	path, ok := w.path(inner.get("expression"), inner.textOf("expression"))
	if !ok {
		return
	}
	if n := w.nodes(v); n != nil {
		d.set("jsonPath", with(path, n).node())
	}
}

// path translates a JSONPath of the Jayway library into one of RFC 9535.
func (w *wiremockStub) path(v value, text string) (string, bool) {
	path, err := standardPath(text)
	if err != nil {
		w.mock.unmet(v, "the JSONPath %s: %v", quoted(text), err)
		return "", false
	}
	return path, true
}

// nodes translates the conditions on selected nodes, which WireMock compares as text.
func (w *wiremockStub) nodes(v value) *mockbase.Node {
	d := &doc{}
	for _, e := range v.entries() {
		switch e.key {
		case "expression":
		case "equalToJson":
			if expected, ok := w.parsed(e.value); ok {
				d.set("equals", expected)
			}
		case "ignoreArrayOrder", "ignoreExtraElements":
			if e.isTrue() {
				w.mock.unmet(e.value, "%s cannot be said of a node that a path selects", e.key)
			}
		case "equalTo":
			if v.has("caseInsensitive") {
				d.set("equals", textNode(e.text()))
			} else {
				textOrValue(e.text(), d)
			}
		default:
			w.operator(w.out.object(v), e, d, present)
		}
	}
	if v.member("caseInsensitive").isTrue() {
		d.set("ignoreCase", trueNode())
	}
	if d.empty() {
		return nil
	}
	return d.node()
}

// textOrValue sets an equality that holds for the text and for the number, boolean or null that it reads as.
func textOrValue(text string, d *doc) {
	n, err := mockbase.ParseNode([]byte(text), mockbase.FormatJSON, mockbase.ParseLimits{Depth: 1})
	if err != nil || n.Kind == mockbase.NodeText {
		d.set("equals", textNode(text))
		return
	}
	d.set("in", listNode(textNode(text), n))
}

func (w *wiremockStub) jsonSchema(o *object, d *doc) {
	v := o.get("matchesJsonSchema")
	schema, ok := w.parsed(v)
	if !ok {
		return
	}
	drafts := map[string]string{
		"V4": "http://json-schema.org/draft-04/schema#", "V6": "http://json-schema.org/draft-06/schema#",
		"V7": "http://json-schema.org/draft-07/schema#", "V201909": "https://json-schema.org/draft/2019-09/schema",
	}
	version := o.textOf("schemaVersion")
	if draft, known := drafts[version]; known && schema.Kind == mockbase.NodeObject && schema.Find("$schema") == nil {
		schema = &mockbase.Node{Kind: mockbase.NodeObject, Members: append([]mockbase.Member{{Key: "$schema", Value: textNode(draft)}}, schema.Members...)}
	}
	d.set("schema", schema)
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
	o.skip("placeholderOpeningDelimiterRegex", "placeholderClosingDelimiterRegex", "namespaceAwareness", "ignoreOrderOfSameNode")
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
