package openapi

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
)

// made is a body.
type made struct {
	bytes []byte
	// text tells that the body is text.
	text bool
}

// cache keeps the static body of a media type, which is made once.
type cache struct {
	once    sync.Once
	body    made
	refused *refusal
}

// body makes the body of an answer (rule W37): the wanted example, the first of the examples, the example, that of the
// schema, or a generated value. Dynamic bodies take examples only by name.
func (m *making) body(t *mediaType) (made, *refusal) {
	if name := m.preferred.Example; name != "" {
		n, ok := m.operation.exampleNamed(t, name)
		if !ok {
			return made{}, &refusal{
				status: http.StatusNotFound, code: mockbase.CodeExampleNotDefined,
				detail: "The response has no example named " + quoted(name) + ".",
			}
		}
		m.answer.Applied.Example = name
		return t.write(n), nil
	}
	if m.random == nil || t.schema == nil {
		// Without a schema there is nothing to draw from.
		t.cache.once.Do(func() { t.cache.body, t.cache.refused = m.operation.static(t) })
		return t.cache.body, t.cache.refused
	}
	n, err := t.schema.generate(m.random)
	if err != nil {
		return made{}, unmet(t)
	}
	return t.write(n), nil
}

// static makes the body that is always the same.
func (op *operation) static(t *mediaType) (made, *refusal) {
	if n := op.example(t); n != nil {
		return t.write(n), nil
	}
	if t.schema == nil {
		return t.unknown(), nil
	}
	n, err := t.schema.static()
	if err != nil {
		return made{}, unmet(t)
	}
	return t.write(n), nil
}

func unmet(t *mediaType) *refusal {
	return &refusal{
		status: http.StatusInternalServerError, code: mockbase.CodeAnswerFailed,
		detail: "No value was found that the schema at " + t.schema.at + " allows.",
	}
}

// example is the example that answers, nil if there is none (rules W37 to W39).
func (op *operation) example(t *mediaType) *mockbase.Node {
	if n := op.stated(t); n != nil || t.schema == nil {
		return op.written(t, n)
	}
	at, ok := op.document.source.follow(t.schema.place)
	if !ok {
		return nil
	}
	return op.document.source.asText(textsAlone(at), statedExample(at)).node
}

// written is a number as it is written, where the schema wants a text and JSON does not write it so.
func (op *operation) written(t *mediaType, n *mockbase.Node) *mockbase.Node {
	text, spelled := op.document.source.spelled[n]
	if !spelled || t.schema == nil {
		return n
	}
	if at, ok := op.document.source.follow(t.schema.place); !ok || !textsAlone(at) {
		return n
	}
	return textNode(text)
}

// stated is the example of the media type itself, nil if there is none.
func (op *operation) stated(t *mediaType) *mockbase.Node {
	for _, m := range t.examples {
		if n := op.exampleValue(m.place); n != nil {
			return n
		}
	}
	if t.example.node != nil {
		if at, ok := op.document.source.follow(t.example); ok && t.example.reference() != "" && at.node != nil {
			return at.node
		}
	}
	return t.example.node
}

// exampleValue is the value of an Example object.
func (op *operation) exampleValue(p place) *mockbase.Node {
	at, ok := op.document.source.follow(p)
	if !ok {
		return nil
	}
	if n := presentMember(at, "value").node; n != nil {
		return n
	}
	return presentMember(at, "dataValue").node
}

func (op *operation) exampleNamed(t *mediaType, name string) (*mockbase.Node, bool) {
	for _, m := range t.examples {
		if m.name == name {
			n := op.exampleValue(m.place)
			return n, n != nil
		}
	}
	return nil, false
}

// write writes a value in the media type.
func (t *mediaType) write(n *mockbase.Node) made {
	switch {
	case t.parsed.isJSON():
		if n.Kind == mockbase.NodeText && t.holdsJSON(n.Text) {
			return made{bytes: []byte(n.Text), text: true}
		}
		return made{bytes: n.JSON(), text: true}
	case t.parsed.isXML():
		if n.Kind == mockbase.NodeText && strings.HasPrefix(strings.TrimSpace(n.Text), "<") {
			return made{bytes: []byte(n.Text), text: true}
		}
		if n.Kind == mockbase.NodeText && t.parsed.kind == "image" {
			return t.file()
		}
		return made{bytes: t.xml(n), text: true}
	case t.parsed.isForm() && n.Kind == mockbase.NodeObject:
		return made{bytes: []byte(formText(n)), text: true}
	default:
		return t.writeOther(n)
	}
}

// writeOther writes a value in a type that is neither JSON, XML nor a form.
func (t *mediaType) writeOther(n *mockbase.Node) made {
	switch {
	case n.Kind == mockbase.NodeNull:
		return made{}
	case t.parsed.kind == "image" && (n.Kind == mockbase.NodeList || n.Kind == mockbase.NodeObject):
		return t.file()
	case n.Kind == mockbase.NodeList || n.Kind == mockbase.NodeObject:
		return made{bytes: t.records(n), text: true}
	case n.Kind == mockbase.NodeText && t.binary():
		return t.bytes(n.Text)
	default:
		return made{bytes: []byte(scalarText(n)), text: true}
	}
}

// bytes are a text that stands for bytes: an example, or a file where there is none.
func (t *mediaType) bytes(text string) made {
	if text == "" {
		return t.file()
	}
	return made{bytes: []byte(text)}
}

// binary tells whether a text of the schema stands for bytes.
func (t *mediaType) binary() bool {
	if t.schema == nil {
		return false
	}
	at, ok := t.schema.owner.source.follow(t.schema.place)
	return ok && (at.text("format") == formatBinary || at.text("type") == typeFile)
}

// holdsJSON tells whether an example is JSON that was written as text, for a schema that allows no text.
func (t *mediaType) holdsJSON(text string) bool {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	if t.schema == nil {
		return false
	}
	if kinds := t.schema.owner.kinds(t.schema.place); len(kinds) == 0 || kinds.has("string") {
		return false
	}
	_, err := parseJSON([]byte(text))
	return err == nil
}

// formText writes an object as a form; lists are repeated.
func formText(n *mockbase.Node) string {
	var parts []string
	for _, m := range n.Members {
		items := []*mockbase.Node{m.Value}
		if m.Value.Kind == mockbase.NodeList {
			items = m.Value.Items
		}
		for _, item := range items {
			parts = append(parts, url.QueryEscape(m.Key)+"="+url.QueryEscape(scalarText(item)))
		}
	}
	return strings.Join(parts, "&")
}
