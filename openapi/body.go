package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of multipart bodies.
const maxParts = 1000

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

// field is a parameter of a form by its property (rule W16).
func (r *reading) field(m *mediaType, name string, schema place) *parameter {
	p := &parameter{in: inForm, name: name, style: styleForm, explode: true, schema: r.operation.document.schemas.of(schema), at: schema}
	encoding := m.encoding.find(name)
	if style := encoding.text("style"); style != "" {
		p.style = style
	}
	p.explode = p.style == styleForm && !encoding.denies("explode") || encoding.holds("explode")
	if p.schema != nil && p.schema.is("object") && encoding.node == nil {
		p.style = styleDeep
	}
	return p
}

// checkForm reads the fields of a form and validates them together.
func (r *reading) checkForm(m *mediaType, pairs []pair) []mockbase.Violation {
	if r.operation.body.form != nil {
		return r.checkForm20(pairs)
	}
	if m.schema == nil {
		return nil
	}
	declared := r.operation.document.schemas.properties(m.schema.place)
	object, faults := map[string]any{}, []mockbase.Violation(nil)
	for _, name := range sortedNames(declared) {
		p := r.field(m, name, declared[name])
		sent := p.among(pairs)
		if len(sent) == 0 && p.style == styleDeep {
			sent = named(pairs, name)
			p.style = styleForm
		}
		if len(sent) == 0 {
			continue
		}
		l := &lexer{parameter: p, schemas: p.schema.owner}
		object[name] = l.value(sent)
		faults = append(faults, l.faults...)
	}
	for _, own := range pairs {
		name, _, _ := strings.Cut(own.name, "[")
		if declared[own.name].node == nil && declared[name].node == nil {
			object[own.name] = decodedForm(own.value)
			faults = append(faults, r.undeclared(m, declared, own.name)...)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return m.schema.check(r.direction, object, "body")
}

// closes tells whether a form may have no fields but those that its schema declares: the document is strict, and the schema says
// nothing of others (rule W11).
func (r *reading) closes(m *mediaType, declared map[string]place) bool {
	return r.operation.document.options.Strict && len(declared) > 0 && !r.operation.document.schemas.tellsOfOthers(m.schema.place, 0)
}

// undeclared is the violation of a field that the schema does not declare, where it is one.
func (r *reading) undeclared(m *mediaType, declared map[string]place, name string) []mockbase.Violation {
	if !r.closes(m, declared) {
		return nil
	}
	return undeclaredField(name)
}

func undeclaredField(name string) []mockbase.Violation {
	return spotOf("body").child(name).violation(codeUnknown, "the field is not declared")
}

func sortedNames(declared map[string]place) []string {
	names := make([]string, 0, len(declared))
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkForm20 checks the parameters of a form one by one.
func (r *reading) checkForm20(pairs []pair) []mockbase.Violation {
	var list []mockbase.Violation
	own := *r
	own.query = pairs
	for _, p := range r.operation.body.form {
		list = append(list, p.check(&own)...)
	}
	if !r.operation.document.options.Strict {
		return list
	}
	for _, sent := range pairs {
		if !slices.ContainsFunc(r.operation.body.form, func(p *parameter) bool { return p.names(sent.name) }) {
			list = append(list, undeclaredField(sent.name)...)
		}
	}
	return list
}

// checkMultipart reads the parts of a multipart body: files by name alone, the others like fields of a form.
func (r *reading) checkMultipart(m *mediaType, sent media) ([]mockbase.Violation, *refusal) {
	parts, err := readParts(r.Body, sent.parameters["boundary"])
	if err != nil {
		return nil, unreadable("the body is no multipart body: " + err.Error())
	}
	if r.operation.body.form != nil {
		var pairs []pair
		for _, p := range parts {
			pairs = append(pairs, pair{name: p.name, value: r.operation.body.escaped(&p)})
		}
		return r.checkForm20(pairs), nil
	}
	if m.schema == nil {
		return nil, nil
	}
	return r.checkParts(m, parts), nil
}

// escaped is the text of a part as it would stand in a form of pairs, where the commas between the items of a list are themselves.
func (b *requestBody) escaped(own *part) string {
	text := escapedForm(own.text())
	for _, p := range b.form {
		if p.name == own.name && p.style == styleForm && !p.explode && p.schema != nil && p.schema.is("array") {
			return strings.ReplaceAll(text, "%2C", ",")
		}
	}
	return text
}

func (r *reading) checkParts(m *mediaType, parts []part) []mockbase.Violation {
	s := r.operation.document.schemas
	declared := s.properties(m.schema.place)
	object, faults := map[string]any{}, []mockbase.Violation(nil)
	closed := r.closes(m, declared)
	for _, p := range parts {
		own := spotOf("body").child(p.name)
		at := declared[p.name]
		if closed && at.node == nil {
			faults = append(faults, undeclaredField(p.name)...)
			continue
		}
		known, _ := object[p.name].([]any)
		listed := s.kinds(at).has("array")
		if listed {
			own, at = own.item(len(known)), s.item(at, len(known))
		}
		if wanted := m.encoding.find(p.name).text("contentType"); wanted != "" && !p.of(wanted) {
			faults = append(faults, own.violation(codeMediaType, "the part is "+quoted(p.contentType)+", wanted is "+wanted)...)
		}
		if m.encoding.find(p.name).denies("allowReserved") && strings.ContainsAny(p.text(), reservedCharacters) {
			faults = append(faults, own.violation(codeCoercion, "the value holds reserved characters")...)
		}
		value := r.partValue(&p, at, own, &faults)
		if listed {
			value = append(known, value)
		}
		object[p.name] = value
	}
	if len(faults) > 0 {
		return faults
	}
	return m.schema.check(r.direction, object, "body")
}

// partValue reads one part by its type and schema.
func (r *reading) partValue(p *part, at place, own spot, faults *[]mockbase.Violation) any {
	kinds := r.operation.document.schemas.kinds(at)
	sent, _ := parseMedia(p.contentType)
	if sent.isJSON() || kinds.only("object") {
		value, err := parseJSON(p.body)
		if err != nil {
			*faults = append(*faults, own.violation(codeParse, "the part is no JSON: "+err.Error())...)
		}
		return value
	}
	value, ok := kinds.read(p.text())
	if !ok {
		*faults = append(*faults, own.violation(codeCoercion, quoted(p.text())+" is no "+strings.Join(kinds, " or "))...)
	}
	return value
}

// part is one part of a multipart body.
type part struct {
	name, contentType string
	body              []byte
}

// text is the part's body. Bytes that are no text stand for themselves.
func (p *part) text() string { return string(p.body) }

// of tells whether the part has one of the types of a list.
func (p *part) of(wanted string) bool {
	sent, ok := parseMedia(p.contentType)
	if !ok {
		sent = media{kind: "text", subtype: "plain"}
	}
	for one := range strings.SplitSeq(wanted, ",") {
		if m, readable := parseMedia(one); readable && m.includes(sent) {
			return true
		}
	}
	return false
}

func readParts(body []byte, boundary string) ([]part, error) {
	if boundary == "" {
		return nil, errors.New("the media type names no boundary")
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	var list []part
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(list)+1, err)
		}
		if len(list) == maxParts {
			return nil, errors.New("there are more than " + strconv.Itoa(maxParts) + " parts")
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(list)+1, err)
		}
		list = append(list, part{name: p.FormName(), contentType: p.Header.Get("Content-Type"), body: text})
	}
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
