package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// requestBody is what an operation takes.
type requestBody struct {
	required bool
	content  []*mediaType
	// form are the parameters of a form in OpenAPI 2.0.
	form []*parameter
}

// readBody reads the body of 3.0 and 3.1.
func (op *operation) readBody() {
	p := op.at.find("requestBody")
	if p.node == nil {
		return
	}
	at, ok := op.document.source.follow(p)
	if !ok || !at.is(mockbase.NodeObject) {
		return
	}
	op.body = &requestBody{required: at.holds("required"), content: op.readContent(at.find("content"))}
}

// bodyOf20 makes a body of the parameter that is one.
func (op *operation) bodyOf20(p *parameter) *requestBody {
	return &requestBody{required: p.required, content: op.contentOf20(op.mediaTypes20("consumes"), p.at.find("schema"))}
}

// contentOf20 gives every media type the same schema.
func (op *operation) contentOf20(types []string, schema place) []*mediaType {
	if len(types) == 0 {
		types = []string{"application/json"}
	}
	var list []*mediaType
	for _, key := range types {
		if parsed, ok := parseMedia(key); ok {
			list = append(list, &mediaType{key: key, parsed: parsed, at: schema, schema: op.document.schemas.of(schema)})
		}
	}
	return list
}

// formOf20 makes a body of the parameters of a form.
func (op *operation) formOf20(form []*parameter) *requestBody {
	types := slices.DeleteFunc(slices.Clone(op.mediaTypes20("consumes")), func(key string) bool {
		m, ok := parseMedia(key)
		return !ok || !m.isForm() && !m.isMultipart()
	})
	if len(types) == 0 {
		types = []string{"application/x-www-form-urlencoded", "multipart/form-data"}
	}
	b := &requestBody{form: form, content: op.contentOf20(types, place{})}
	for _, p := range form {
		b.required = b.required || p.required
	}
	return b
}

// accept picks the declared type of a body (rule W13). It reports false where none fits.
func (b *requestBody) accept(contentType string) (*mediaType, bool) {
	if contentType == "" {
		if len(b.content) == 1 {
			return b.content[0], true
		}
		return nil, false
	}
	sent, ok := parseMedia(contentType)
	if !ok {
		return nil, false
	}
	best := describing(b.content, sent)
	return best, best != nil
}

// checkMedia checks the media type of the body (rules W13 and W14). It returns the declared type, nil where there is
// nothing to check.
func (r *reading) checkMedia() (*mediaType, *refusal) {
	b := r.operation.body
	contentType := r.Header.Get("Content-Type")
	switch {
	case len(r.Body) == 0:
		return nil, nil //nolint:nilnil // no body has no type, and is no fault by itself
	case b == nil || len(b.content) == 0:
		if r.operation.document.options.Strict {
			return nil, unsupported("the operation takes no body")
		}
		return nil, nil //nolint:nilnil // the body is ignored
	}
	m, ok := b.accept(contentType)
	if ok {
		return m, nil
	}
	var known []string
	for _, own := range b.content {
		known = append(known, own.key)
	}
	return nil, unsupported("the operation takes " + strings.Join(known, ", ") + ", and not " + quoted(contentType))
}

// checkBody reads and validates the body. What cannot be read is a refusal of its own (rule W15).
func (r *reading) checkBody(m *mediaType) ([]mockbase.Violation, *refusal) {
	b := r.operation.body
	if len(r.Body) == 0 {
		if b != nil && b.required {
			return violation("body", codeMissing, "the body is required"), nil
		}
		return nil, nil
	}
	if m == nil {
		return nil, nil
	}
	return r.checkContent(m)
}

// checkContent reads a body of a declared type.
func (r *reading) checkContent(m *mediaType) ([]mockbase.Violation, *refusal) {
	sent, _ := parseMedia(r.Header.Get("Content-Type"))
	if sent.kind == "" {
		sent = m.parsed
	}
	switch {
	case sent.isJSON():
		value, err := parseJSON(r.Body)
		if err != nil {
			return nil, unreadable("the body is no JSON: " + err.Error())
		}
		return m.schema.checkIn(r.direction, value, "body"), nil
	case sent.isForm():
		return r.checkForm(m, parsePairs(string(r.Body))), nil
	case sent.isMultipart():
		return r.checkMultipart(m, sent)
	case sent.isXML():
		if err := soundXML(r.Body); err != nil {
			return nil, unreadable("the body is no XML: " + err.Error())
		}
		return nil, nil
	case sent.kind == "text" && m.schema != nil && m.schema.is("string"):
		return m.schema.check(r.direction, string(r.Body), "body"), nil
	default:
		return nil, nil
	}
}

// checkIn validates where there is a schema.
func (s *schema) checkIn(d direction, value any, location string) []mockbase.Violation {
	if s == nil {
		return nil
	}
	return s.check(d, value, location)
}

// unsupported refuses a media type, unreadable a body.
func unsupported(text string) *refusal {
	return &refusal{
		status: http.StatusUnsupportedMediaType, declared: []int{http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusBadRequest},
		violations: violation("header.Content-Type", codeMediaType, text),
	}
}

func unreadable(text string) *refusal {
	return &refusal{
		status: http.StatusBadRequest, declared: []int{http.StatusBadRequest, http.StatusUnprocessableEntity},
		violations: violation("body", codeParse, text),
	}
}
