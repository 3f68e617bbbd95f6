package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// mediaTypes are the forms of a body in a document.
type mediaTypes struct {
	list []*mediaType
}

// mediaType is one form of a body with its examples.
type mediaType struct {
	name   string
	schema *mockbase.Node
	// properties are the fields of a form, of which some have to be there.
	properties doc
	required   []*mockbase.Node
	examples   doc
	values     []*mockbase.Node
	// described is what the document of the project says of it.
	described *doc
}

// newMediaTypes are those that a document describes already.
func newMediaTypes(content *mockbase.Node) *mediaTypes {
	m := &mediaTypes{}
	for _, member := range membersOf(content).members {
		m.list = append(m.list, &mediaType{name: member.Key, described: membersOf(member.Value)})
	}
	return m
}

// find finds a media type, or adds it. Letter case and parameters such as charset do not count.
func (m *mediaTypes) find(name string) *mediaType {
	plain := func(s string) string {
		s, _, _ = strings.Cut(s, ";")
		return strings.ToLower(strings.TrimSpace(s))
	}
	i := slices.IndexFunc(m.list, func(t *mediaType) bool { return plain(t.name) == plain(name) })
	if i < 0 {
		m.list = append(m.list, &mediaType{name: name})
		i = len(m.list) - 1
	}
	return m.list[i]
}

// example adds an example, under another name if the name is taken.
func (t *mediaType) example(title string, n *mockbase.Node) {
	name := mockbase.UniqueName(slugOr(title, "example"), func(s string) bool { return t.examples.get(s) != nil })
	t.examples.set(name, with("value", n).node())
	t.values = append(t.values, n)
}

// property adds a field of a form.
func (t *mediaType) property(name, sample string) {
	if name == "" {
		return
	}
	schema := with("type", textNode("string"))
	if sample != "" {
		schema.set("example", textNode(sample))
	}
	t.properties.set(name, schema.node())
}

// only makes a field of a form one that has to be there, with one value.
func (t *mediaType) only(name, text string) {
	schema := with("type", textNode("string"))
	schema.list("enum", []*mockbase.Node{textNode(text)})
	t.properties.set(name, schema.node())
	if !slices.ContainsFunc(t.required, func(n *mockbase.Node) bool { return n.Text == name }) {
		t.required = append(t.required, textNode(name))
	}
}

// oneOf states a schema, if none is stated.
func (t *mediaType) oneOf(schema *mockbase.Node) {
	if t.schema == nil {
		t.schema = schema
	}
}

func (m *mediaTypes) node() *mockbase.Node {
	d := &doc{}
	for _, t := range m.list {
		d.set(t.name, t.node())
	}
	return d.node()
}

// node writes a media type: its schema, which is found out from the examples where nobody stated it, and the examples.
func (t *mediaType) node() *mockbase.Node {
	d := &doc{}
	if t.described != nil {
		d.members = slices.Clone(t.described.members)
	}
	switch {
	case d.get("schema") != nil:
	case t.schema != nil:
		d.set("schema", t.schema)
	case !t.properties.empty():
		schema := with("type", textNode("object"))
		schema.set("properties", t.properties.node())
		schema.list("required", t.required)
		d.set("schema", schema.node())
	case len(t.values) > 0:
		d.set("schema", schemaOf(t.values))
	default:
		d.set("schema", (&doc{}).node())
	}
	switch {
	case len(t.examples.members) == 1 && d.get("examples") == nil:
		d.set("example", t.values[0])
	case len(t.examples.members) > 0:
		d.remove("example")
		examples := &doc{members: slices.Clone(t.examples.members)}
		for _, old := range membersOf(d.get("examples")).members {
			if examples.get(old.Key) == nil {
				examples.set(old.Key, old.Value)
			}
		}
		d.set("examples", examples.node())
	}
	return d.node()
}

// schemaOf is a schema that all of some values keep: what they have in common, and nothing else.
func schemaOf(values []*mockbase.Node) *mockbase.Node {
	kind := typeOf(values[0])
	for _, v := range values[1:] {
		switch other := typeOf(v); {
		case other == kind:
		case isNumeric(other) && isNumeric(kind):
			kind = "number"
		default:
			return (&doc{}).node()
		}
	}
	d := &doc{}
	d.text("type", kind)
	switch kind {
	case "object":
		d.doc("properties", propertiesOf(values))
	case "array":
		var items []*mockbase.Node
		for _, v := range values {
			items = append(items, v.Items...)
		}
		d.set("items", (&doc{}).node())
		if len(items) > 0 {
			d.set("items", schemaOf(items))
		}
	}
	return d.node()
}

func isNumeric(kind string) bool { return kind == "integer" || kind == "number" }

// propertiesOf are the schemas of the members that objects have.
func propertiesOf(objects []*mockbase.Node) *doc {
	var names []string
	values := map[string][]*mockbase.Node{}
	for _, o := range objects {
		for _, m := range o.Members {
			if values[m.Key] == nil {
				names = append(names, m.Key)
			}
			values[m.Key] = append(values[m.Key], m.Value)
		}
	}
	d := &doc{}
	for _, name := range names {
		d.members = append(d.members, mockbase.Member{Key: name, Value: schemaOf(values[name])})
	}
	return d
}

// typeOf is the type of a value in a schema, "" for null, which the older versions have no type for.
func typeOf(n *mockbase.Node) string {
	switch n.Kind {
	case mockbase.NodeObject:
		return "object"
	case mockbase.NodeList:
		return "array"
	case mockbase.NodeText:
		return "string"
	case mockbase.NodeBool:
		return "boolean"
	case mockbase.NodeNumber:
		const longest = 15
		switch {
		case len(n.Text) > longest || strings.ContainsAny(n.Text, "eE"):
			return "" // numbers of any size are kept here, and few readers of documents have them
		case strings.Contains(n.Text, "."):
			return "number"
		}
		return "integer"
	case mockbase.NodeNull:
	}
	return ""
}
