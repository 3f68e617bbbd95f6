package interchange

import (
	"regexp"

	"github.com/mockbase/mockbase"
)

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
			d.set("jsonPath", with(path, selectsSomething(path, w.ours)).node())
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

// selectsSomething is the condition that a path selects something. Null, an empty list and an empty object are nothing in
// WireMock where the path can select but one; in a stub of our own they were meant to be something.
func selectsSomething(path string, ours bool) *mockbase.Node { //nolint:revive // it is a fact about the stub
	d := with("exists", trueNode())
	if !indefinite(path) && !ours {
		nothing := listNode(&mockbase.Node{Kind: mockbase.NodeNull}, listNode(), (&doc{}).node())
		d.set("not", with("in", nothing).node())
	}
	return d.node()
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
