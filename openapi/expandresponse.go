package openapi

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// responses makes the responses of a mock: the usual one first, which answers whatever else is asked for.
func (e *expander) responses(op *operation) []*mockbase.Node {
	usual, status := op.usual()
	w := &responseWriter{operation: op, taken: map[string]bool{}, examples: map[string]bool{}, levels: e.levels}
	w.add(usual, variant{status: status, usual: true})
	w.refuse(usual, status)
	for _, r := range op.responses {
		if r == usual {
			continue
		}
		if status := op.askedFor(r); status != 0 {
			w.add(r, variant{status: status})
		}
	}
	// What asks for more comes first, as the first response whose conditions hold answers.
	slices.SortStableFunc(w.list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	list := make([]*mockbase.Node, len(w.list))
	for i := range w.list {
		list[i] = w.list[i].node
	}
	return list
}

// ranked is a response with its place among those of its mock.
type ranked struct {
	node *mockbase.Node
	rank int
}

// rank is the place of a variant: the usual answer, then those that are asked for by status and example, by status and by example,
// that of no acceptable media type, and those by media type.
func (v *variant) rank() int {
	const usual, exact, byStatus, byExample, byNone, byType = 0, 1, 2, 3, 4, 5
	switch {
	case !v.usual && v.example != "":
		return exact
	case !v.usual && v.condition != nil:
		return byNone
	case !v.usual:
		return byStatus
	case v.example != "":
		return byExample
	case v.condition != nil:
		return byType
	}
	return usual
}

// responseWriter makes the responses of one mock.
type responseWriter struct {
	operation *operation
	taken     map[string]bool
	// examples are the names of those that were met.
	examples map[string]bool
	list     []ranked
	// levels are the qualities of media types that are told apart.
	levels []level
	// full tells that the last response that fits was added.
	full bool
}

// add makes the responses of a declared one: for each media type, and for each example.
func (w *responseWriter) add(r *response, v variant) {
	if len(r.content) == 0 {
		v.key = statusText(v.status)
		w.put(r, &v)
		return
	}
	a := acceptanceOf(r.content, w.levels)
	w.addType(r, a.usual, v)
	for _, t := range a.offers {
		if t != a.usual && v.usual {
			v.condition = a.wants(t)
			w.addType(r, t, v)
		}
	}
}

// variant is one answer of a declared response.
type variant struct {
	status int
	// usual tells that the response answers without being asked for.
	usual bool
	// key names the variant, example is the example that asks for it.
	key, example string
	// named is the example whose name alone asks for it, too: no other response has one of that name.
	named string
	// condition is what the Accept header must be like, nil for any.
	condition *mockbase.Node
	media     *mediaType
	body      *mockbase.Node
}

// addType makes the responses of one media type.
func (w *responseWriter) addType(r *response, t *mediaType, v variant) {
	v.media = t
	made := false
	for _, m := range t.examples {
		n := w.operation.exampleValue(m.place)
		if n == nil {
			continue
		}
		one := v
		one.key, one.body, one.example = m.name, n, m.name
		if !made {
			one.example = ""
		}
		if !v.usual && v.condition == nil && !w.examples[m.name] {
			one.named = m.name
		}
		w.examples[m.name] = true
		w.put(r, &one)
		made = true
	}
	if made {
		return
	}
	v.key = statusText(v.status)
	if v.condition != nil {
		v.key += "-" + t.parsed.subtype
	}
	v.body = w.operation.bodyOf(t)
	w.put(r, &v)
}

// bodyOf is the body of a media type, nil where there is none.
func (op *operation) bodyOf(t *mediaType) *mockbase.Node {
	n := op.example(t)
	if n != nil || t.schema == nil {
		return n
	}
	n, err := t.schema.static()
	if err != nil {
		op.document.source.notes.add(t.schema.place, mockbase.FieldConflict, "no value was found that the schema allows: the response is empty")
	}
	return n
}

// put adds one response.
func (w *responseWriter) put(r *response, v *variant) {
	if len(w.list) == mostResponses {
		if !w.full {
			w.full = true
			w.operation.document.source.notes.add(r.at, mockbase.WarningNotTranslated, "a mock has at most 50 responses; this one and those behind it are left out")
		}
		return
	}
	name := slugOf(v.key)
	if name == "" {
		name = statusText(v.status)
	}
	name = mockbase.UniqueName(name, func(name string) bool { return w.taken[name] })
	w.taken[name] = true
	o := &object{}
	o.text("name", name)
	if when := v.when(); when != nil {
		o.set("when", when)
	}
	o.set("status", &mockbase.Node{Kind: mockbase.NodeNumber, Text: statusText(v.status)})
	headers := w.headers(r)
	switch {
	case v.media == nil || !allowsBody(v.status):
	case v.body != nil:
		v.write(o, headers)
	case v.media.schema == nil:
		if file := v.media.unknown(); len(file.bytes) > 0 && !file.text {
			file.put(o)
			headers.set("Content-Type", textNode(v.media.header(media{}, false)))
		}
	}
	if len(headers.members) > 0 {
		o.set("headers", headers.node())
	}
	w.list = append(w.list, ranked{o.node(), v.rank()})
}

// when tells what asks for the response; nil for the one that answers everything else.
func (v *variant) when() *mockbase.Node {
	query := &object{}
	switch {
	case v.example != "":
		query.set(controlExample, textNode(v.example))
	case v.condition != nil:
		return v.condition
	case !v.usual:
		query.set(controlCode, textNode(statusText(v.status)))
	default:
		return nil
	}
	if !v.usual && v.example != "" {
		query.set(controlCode, textNode(statusText(v.status)))
	}
	when := &object{}
	when.set("query", query.node())
	if v.named == "" {
		return when.node()
	}
	absent, asked, alone, either := &object{}, &object{}, &object{}, &object{}
	absent.set("exists", boolNode(false))
	asked.set(controlExample, textNode(v.named))
	asked.set(controlCode, absent.node())
	alone.set("query", asked.node())
	either.list("anyOf", []*mockbase.Node{when.node(), alone.node()})
	return either.node()
}

func allowsBody(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusResetContent && status != http.StatusNotModified
}

// write adds the body and its type.
func (v *variant) write(o, headers *object) {
	mediaType := v.media.header(media{}, true)
	if v.media.parsed.isJSON() && !deeper(v.body, deepBody) && (v.body.Kind != mockbase.NodeText || !v.media.holdsJSON(v.body.Text)) {
		o.set("json", v.body)
		if mediaType != "application/json" {
			headers.set("Content-Type", textNode(mediaType))
		}
	} else {
		made := v.media.write(v.body)
		made.put(o)
		headers.set("Content-Type", textNode(v.media.header(media{}, made.text)))
	}
	if o.has("json", "text") && strings.Contains(string(v.body.JSON()), "{{") {
		o.set("template", boolNode(false))
	}
}

// put adds what was made as a text, or as bytes where it is none.
func (m *made) put(o *object) {
	control := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) }
	if text := string(m.bytes); utf8.ValidString(text) && !strings.ContainsFunc(text, control) {
		o.set("text", textNode(text))
		return
	}
	o.set("base64", textNode(base64.StdEncoding.EncodeToString(m.bytes)))
}

// headers are the declared headers with their values.
func (*responseWriter) headers(r *response) *object {
	o, m := &object{}, &making{}
	for _, h := range r.headers {
		if n := h.value(m); n != nil {
			if text, ok := h.simple(n); ok {
				o.set(h.name, textNode(text))
			}
		}
	}
	return o
}
