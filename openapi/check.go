package openapi

import (
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxExamined is how many operations are examined for warnings. Larger documents would take longer than anybody waits.
const maxExamined = 50

// Warnings lists what was repaired, left out or cannot be answered, with pointers into the document. It looks at the first
// operations of a large document.
func (d *Document) Warnings() []mockbase.FieldError {
	d.examine.Do(func() {
		for i, op := range d.operations {
			if i == maxExamined {
				break
			}
			op.ready().examine()
		}
	})
	return d.source.notes.all()
}

// examine compiles the schemas of an operation, and makes its answers (rules W39 and W42).
func (op *operation) examine() {
	for _, p := range op.parameters {
		if p.schema != nil {
			// What is wrong is noted.
			_, _ = p.schema.validator(toServer)
		}
	}
	if op.body != nil {
		for _, t := range op.body.content {
			if t.schema != nil {
				_, _ = t.schema.validator(toServer)
			}
		}
	}
	for _, r := range op.responses {
		for _, t := range r.content {
			op.examineContent(t)
		}
	}
}

func (op *operation) examineContent(t *mediaType) {
	if t.schema == nil {
		return
	}
	for _, m := range t.examples {
		if n := op.exampleValue(m.place); n != nil {
			op.examineExample(t, place{node: n, at: m.at})
		}
	}
	if t.example.node != nil && t.example.reference() == "" {
		op.examineExample(t, t.example)
	}
	if op.example(t) != nil {
		return
	}
	if _, err := t.schema.static(); err != nil {
		op.document.source.notes.add(t.schema.place, mockbase.FieldConflict, "no value was found that the schema allows: the answer is 500")
	}
}

// examineExample warns of an example that its schema refuses; it is sent as it is (rule W39).
func (op *operation) examineExample(t *mediaType, example place) {
	if example.is(mockbase.NodeText) && (!t.parsed.isJSON() || t.holdsJSON(example.node.Text)) {
		// Other notations, such as XML, are written as text.
		return
	}
	if list := t.schema.check(toClient, plain(example.node), "example"); len(list) > 0 {
		op.document.source.notes.add(example, mockbase.FieldConflict,
			"the example does not fit its schema ("+list[0].Location+": "+list[0].Message+"); it is sent as it is")
	}
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
	sent, ok := parseMedia(h.Get("Content-Type"))
	var best *mediaType
	for _, t := range r.content {
		if ok && t.parsed.includes(sent) && (best == nil || t.parsed.specificity() > best.parsed.specificity()) {
			best = t
		}
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
		if own.schema == nil {
			continue
		}
		p := &parameter{in: inHeader, name: own.name, style: styleSimple, explode: own.explode, schema: own.schema}
		l := &lexer{parameter: p, schemas: own.schema.owner}
		value := l.value([]pair{{name: own.name, value: strings.Join(lines, ", ")}})
		faults := l.faults
		if len(faults) == 0 {
			faults = own.schema.check(toClient, value, p.location())
		}
		for _, v := range faults {
			v.Location = "response." + v.Location
			list = append(list, v)
		}
	}
	return list
}
