package openapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxSteps is how much work goes into the warnings of one document: about three seconds of one core. A step is a schema that is
// compiled, or a value of an example or an answer that is looked at.
const maxSteps = 150_000

// Warnings lists what was repaired, left out or cannot be answered, with pointers into the document. All operations are
// looked at, first for what costs least; where a large document would take longer than anybody waits, a warning says so.
func (d *Document) Warnings() []mockbase.FieldError {
	d.examine.Do(func() { (&examination{document: d}).run() })
	return d.source.notes.all()
}

// examination looks at the operations of a document within a bound.
type examination struct {
	document *Document
	steps    int64
}

// run goes through all operations once for each kind of fault, so that the bound takes nothing from the cheaper kinds.
func (e *examination) run() {
	for _, op := range e.document.operations {
		op.ready()
	}
	defer e.document.source.checkForms()
	for _, pass := range []struct {
		name string
		look func(op *operation)
	}{
		{"the schemas of parameters and requests", e.requests},
		{"examples", e.examples},
		{"generated answers", e.answers},
	} {
		for i, op := range e.document.operations {
			if e.steps += e.document.schemas.takeSteps(); e.steps > maxSteps {
				e.document.source.notes.add(e.document.source.top(), mockbase.FieldLimit, "the document is large: "+pass.name+" were examined for the first "+
					strconv.Itoa(i)+" of "+strconv.Itoa(len(e.document.operations))+" operations alone; all of them are served")
				break
			}
			pass.look(op)
		}
	}
}

// requests compiles the schemas of what an operation is sent.
func (*examination) requests(op *operation) {
	for _, p := range op.parameters {
		if p.schema != nil {
			// What is wrong is noted.
			_, _ = p.schema.validator(toServer)
		}
	}
	if op.body == nil {
		return
	}
	for _, t := range op.body.content {
		if t.schema != nil {
			_, _ = t.schema.validator(toServer)
		}
	}
}

// examples holds the examples of an operation against their schemas (rule W39).
func (*examination) examples(op *operation) {
	for _, t := range op.answers() {
		for _, m := range t.examples {
			if n := op.exampleValue(m.place); n != nil {
				op.examineExample(t, place{node: n, at: m.at})
			}
		}
		if t.example.node != nil && t.example.reference() == "" {
			op.examineExample(t, t.example)
		}
		if at, ok := op.document.source.follow(t.schema.place); ok && op.stated(t) == nil && statedExample(at).node != nil {
			op.examineExample(t, statedExample(at))
		}
	}
}

// answers makes the answers of an operation that have no example (rule W42).
func (*examination) answers(op *operation) {
	for _, t := range op.answers() {
		if op.example(t) != nil {
			continue
		}
		if _, err := t.schema.static(); err != nil {
			op.document.source.notes.add(t.schema.place, mockbase.FieldConflict, "no value was found that the schema allows: the answer is 500")
		}
	}
}

// answers are the contents of the operation's responses that have a schema.
func (op *operation) answers() []*mediaType {
	var list []*mediaType
	for _, r := range op.responses {
		for _, t := range r.content {
			if t.schema != nil {
				list = append(list, t)
			}
		}
	}
	return list
}

// examineExample warns of an example that its schema refuses; it is sent as it is (rule W39).
func (op *operation) examineExample(t *mediaType, example place) {
	if example.is(mockbase.NodeText) && (!t.parsed.isJSON() || t.holdsJSON(example.node.Text)) {
		// Other notations, such as XML, are written as text.
		return
	}
	t.schema.owner.steps.Add(int64(valuesIn(example.node)))
	if list := t.schema.check(toClient, plain(example.node), "example"); len(list) > 0 {
		op.document.source.notes.add(example, mockbase.FieldConflict,
			"the example does not fit its schema ("+list[0].Location+": "+list[0].Message+"); it is sent as it is")
	}
}

// valuesIn counts the values that a node is made of.
func valuesIn(n *mockbase.Node) int {
	count := 1
	for _, item := range n.Items {
		count += valuesIn(item)
	}
	for _, m := range n.Members {
		count += valuesIn(m.Value)
	}
	return count
}

// CheckAnswer compares an answer with what the document says of the operation (rule W30).
func (d *Document) CheckAnswer(op, status int, h http.Header, body []byte) []mockbase.Violation {
	own := d.operations[op].ready()
	r := own.coded(status)
	if r == nil {
		return violation("response.status", codeUnknown, "the status "+statusText(status)+" is not declared")
	}
	list := r.checkHeaders(h)
	if len(body) == 0 || len(r.content) == 0 {
		return list
	}
	return append(list, r.checkBody(h, body)...)
}

// checkBody compares a body with the declared types.
func (r *response) checkBody(h http.Header, body []byte) []mockbase.Violation {
	var best *mediaType
	sent, ok := parseMedia(h.Get("Content-Type"))
	if ok {
		best = describing(r.content, sent)
	}
	switch {
	case best == nil:
		return violation("response.header.Content-Type", codeMediaType, "the type "+quoted(h.Get("Content-Type"))+" is not declared")
	case best.schema == nil || !sent.isJSON():
		return nil
	}
	value, err := parseJSON(body)
	if err != nil {
		return violation("response.body", codeParse, "the body is no JSON: "+err.Error())
	}
	return best.schema.check(toClient, value, "response.body")
}

// checkHeaders tells which required headers an answer lacks, and which it has with a wrong value.
func (r *response) checkHeaders(h http.Header) []mockbase.Violation {
	var list []mockbase.Violation
	for _, own := range r.headers {
		lines := h.Values(own.name)
		if len(lines) == 0 {
			if own.at.holds("required") {
				list = append(list, violation("response.header."+own.name, codeMissing, "the header is required")...)
			}
			continue
		}
		for _, v := range own.check(strings.Join(lines, ", "), toClient) {
			v.Location = "response." + v.Location
			list = append(list, v)
		}
	}
	return list
}

// check validates the value of a header.
func (h *responseHeader) check(text string, d direction) []mockbase.Violation {
	if h.schema == nil {
		return nil
	}
	p := &parameter{in: inHeader, name: h.name, style: styleSimple, explode: h.explode, schema: h.schema}
	if h.json {
		value, err := parseJSON([]byte(text))
		if err != nil {
			return p.spot().violation(codeParse, "the value is no JSON: "+err.Error())
		}
		return h.schema.checkAt(d, value, p.spot())
	}
	return p.checkTexts([]pair{{name: h.name, value: text}}, d)
}
