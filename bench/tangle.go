package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Tangle is an OpenAPI document in which schemas lead to one another in every way: by properties and items, by allOf, oneOf with a
// discriminator and anyOf, round in circles and many levels deep. Its values are the worst case of a document of its size.
type Tangle struct {
	// Operations and Schemas are how many there are; Size is about the length of the text in bytes, which examples fill up.
	Operations, Schemas, Size int
}

// Text is the document as JSON.
func (t Tangle) Text() []byte {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.3","info":{"title":"Tangle","version":"1"},"components":{"schemas":{`)
	for i := range t.Schemas {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"S%d":%s`, i, t.schema(i))
	}
	b.WriteString(`}},"paths":{`)
	for i := range t.Operations {
		if i > 0 {
			b.WriteByte(',')
		}
		left := max(t.Size-b.Len(), 0) / (t.Operations - i)
		t.path(&b, i, left)
	}
	b.WriteString(`}}`)
	return []byte(b.String())
}

// other is the reference to a schema that is as far from i as step says.
func (t Tangle) other(i, step int) string {
	return `{"$ref":"#/components/schemas/S` + strconv.Itoa((i*7+step*131+1)%t.Schemas) + `"}`
}

// schema is a schema of one of five kinds.
func (t Tangle) schema(i int) string {
	switch i % 5 {
	case 0:
		return `{"allOf":[` + t.other(i, 1) + `,{"type":"object","required":["own"],"properties":{"own":{"type":"string","minLength":1},` +
			`"next":` + t.other(i, 2) + `}}]}`
	case 1:
		return `{"type":"object","properties":{"one":{"oneOf":[` + t.other(i, 1) + `,` + t.other(i, 2) + `,` + t.other(i, 3) + `]},` +
			`"id":{"type":"integer","format":"int64","minimum":1}}}`
	case 2:
		return `{"type":"object","properties":{"any":{"anyOf":[` + t.other(i, 1) + `,{"type":"string","nullable":true}]},` +
			`"list":{"type":"array","items":` + t.other(i, 2) + `}}}`
	case 3:
		return `{"type":"object","required":["name","kind"],"properties":{"name":{"type":"string","pattern":"^[a-z]{1,40}$"},` +
			`"kind":{"type":"string","enum":["a","b","c"]},"parent":` + t.other(i, 1) + `,"map":{"type":"object","additionalProperties":` + t.other(i, 2) + `}}}`
	default:
		return `{"type":"object","properties":{"at":{"type":"string","format":"date-time"},"mail":{"type":"string","format":"email"},` +
			`"left":` + t.other(i, 1) + `,"right":` + t.other(i, 2) + `,"more":{"allOf":[` + t.other(i, 3) + `]}}}`
	}
}

// path writes a path with a reading and a writing operation in turn, and examples that fill it up to a size.
func (t Tangle) path(b *strings.Builder, i, size int) {
	from := b.Len()
	method, body := "get", ""
	if i%2 == 1 {
		method = "post"
		body = `"requestBody":{"required":true,"content":{"application/json":{"schema":` + t.other(i, 4) + `}}},`
	}
	fmt.Fprintf(b, `"/tangle/%d/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],%q:{"operationId":"tangle%d",%s`+
		`"parameters":[{"name":"filter","in":"query","style":"deepObject","explode":true,"schema":%s}],"responses":{"200":{"description":"d","content":`+
		`{"application/json":{"schema":%s`, i, method, i, body, t.other(i, 5), t.other(i, 6))
	if i%2 == 1 {
		b.WriteString(`,"examples":{`)
		for n := 0; n == 0 || b.Len()-from < size-len(`}`); n++ {
			if n > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, `"e%d":{"summary":"An example of many","value":{"id":%d,"own":"text %d","name":"abc","kind":"a","list":[{"id":%d,"tags":["x","y"]},null],"map":{"a":{"b":[1,2.5,true]}}}}`,
				n, n+1, n, n)
		}
		b.WriteString(`}}}},"default":{"description":"an error"}}}}`)
		return
	}
	b.WriteString(`}}},"404":{"description":"`)
	for b.Len()-from < size-len(`"}}}}`) {
		b.WriteString("words ")
	}
	b.WriteString(`"}}}}`)
}

// Blown is a document that consists of so many copies of another that it has about the given length: its paths stand below prefixes,
// its components and definitions have other names in each copy, and references lead to those of the same copy.
func Blown(text []byte, size int) ([]byte, error) {
	format := mockbase.FormatYAML
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		format = mockbase.FormatJSON
	}
	root, _, err := mockbase.ParseTolerant(text, format, mockbase.ParseLimits{Depth: 400, Values: 3_000_000})
	if err != nil {
		return nil, fmt.Errorf("blow up a document: %w", err)
	}
	one := len(root.JSON())
	whole := *root
	whole.Members = nil
	for _, m := range root.Members {
		switch m.Key {
		case "paths", "definitions", "parameters", "responses":
			m.Value = blownNames(m.Value, size/max(one, 1))
		case "components":
			sections := *m.Value
			sections.Members = nil
			for _, section := range m.Value.Members {
				section.Value = blownNames(section.Value, size/max(one, 1))
				sections.Members = append(sections.Members, section)
			}
			m.Value = &sections
		}
		whole.Members = append(whole.Members, m)
	}
	return whole.JSON(), nil
}

// blownNames repeats the members of an object under other names, at least once.
func blownNames(n *mockbase.Node, copies int) *mockbase.Node {
	out := &mockbase.Node{Kind: mockbase.NodeObject}
	for i := range max(copies, 1) {
		for _, m := range n.Members {
			if i > 0 {
				m.Key, m.Value = blownName(m.Key, i), blownValue(m.Value, i)
			}
			out.Members = append(out.Members, m)
		}
	}
	return out
}

func blownName(name string, i int) string {
	if strings.HasPrefix(name, "/") {
		return "/copy" + strconv.Itoa(i) + name
	}
	return name + "C" + strconv.Itoa(i)
}

// blownValue is a value whose references and operation ids are those of a copy.
func blownValue(n *mockbase.Node, i int) *mockbase.Node {
	out := *n
	out.Items, out.Members = nil, nil
	for _, item := range n.Items {
		out.Items = append(out.Items, blownValue(item, i))
	}
	for _, m := range n.Members {
		local := m.Value.Kind == mockbase.NodeText && strings.HasPrefix(m.Value.Text, "#/") && strings.Count(m.Value.Text, "/") <= 3
		switch {
		case m.Value.Kind == mockbase.NodeText && m.Key == "operationId", local && !strings.HasPrefix(m.Value.Text, "#/paths/"):
			m.Value = &mockbase.Node{Kind: mockbase.NodeText, Text: m.Value.Text + "C" + strconv.Itoa(i)}
		default:
			m.Value = blownValue(m.Value, i)
		}
		out.Members = append(out.Members, m)
	}
	return &out
}
