package openapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// field is a parameter of a form by its property (rule W16).
func (r *reading) field(m *mediaType, own member) *parameter {
	encoding := m.encoding.find(own.name)
	p := &parameter{in: inForm, name: own.name, style: styleForm, schema: r.operation.document.schemas.of(own.place), at: encoding}
	if style := encoding.text("style"); style != "" {
		p.style = style
	}
	p.explode = p.style == styleForm && !encoding.denies("explode") || encoding.holds("explode")
	if p.schema != nil && p.schema.is("object") && !spelled(encoding) {
		p.style = styleDeep
	}
	return p
}

// spelled tells whether an encoding says how a field is spelled; its media type counts for nothing then.
func spelled(encoding place) bool {
	return encoding.find("style").node != nil || encoding.find("explode").node != nil || encoding.find("allowReserved").node != nil
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
	for _, own := range r.operation.document.schemas.propertyList(m.schema.place) {
		value, found, ok := r.readField(m, own, pairs)
		if ok {
			object[own.name] = value
			faults = append(faults, found...)
		}
	}
	for _, own := range pairs {
		name, _, _ := strings.Cut(own.name, "[")
		if declared[own.name].node == nil && declared[name].node == nil {
			object[own.name] = decodedForm(own.value)
			faults = append(faults, r.undeclared(m, declared, own.name)...)
		}
	}
	return m.schema.beside(faults, m.schema.check(r.direction, object, "body"))
}

// readField reads one field of a form by its encoding (rule W16). It reports false where the form does not have it.
func (r *reading) readField(m *mediaType, own member, pairs []pair) (value any, faults []mockbase.Violation, ok bool) {
	p := r.field(m, own)
	whole, sent := named(pairs, own.name), p.among(pairs)
	kind, _ := parseMedia(p.at.text("contentType"))
	switch {
	case len(whole) > 0 && (kind.isJSON() && !spelled(p.at) || p.style == styleDeep && len(sent) == 0):
		value, faults = p.documents(whole)
		return value, faults, true
	case len(sent) == 0:
		return nil, nil, false
	}
	if list := p.checkSpelling(sent); len(list) > 0 {
		return nil, list, true
	}
	value, faults, _ = p.read(sent, r.direction)
	return value, faults, true
}

// documents reads a field that is JSON: one value, or the items of a list.
func (p *parameter) documents(sent []pair) (any, []mockbase.Violation) {
	values := make([]any, len(sent))
	for i, own := range sent {
		value, err := parseJSON([]byte(p.decode(own.value)))
		if err != nil {
			return nil, p.spot().violation(codeParse, "the value is no JSON: "+err.Error())
		}
		values[i] = value
	}
	listed := p.schema.owner.kinds(p.schema.place).has("array")
	_, whole := values[0].([]any)
	switch {
	case len(values) == 1 && (whole || !listed):
		return values[0], nil
	case listed:
		return values, nil
	default:
		return nil, p.spot().violation("type", "the field is given "+strconv.Itoa(len(sent))+" times and is no list")
	}
}

// beside adds to the faults of reading a body what its schema says, in the order of the document. A value that could not be read
// says nothing more about itself.
func (s *schema) beside(faults, found []mockbase.Violation) []mockbase.Violation {
	if len(faults) == 0 {
		return found
	}
	faults = faults[:min(len(faults), maxViolations)] // more are not told, and would be compared with one another
	list := slices.Clone(faults)
	for _, v := range found {
		if !slices.ContainsFunc(faults, func(f mockbase.Violation) bool { return follows(v, f) }) {
			list = append(list, v)
		}
	}
	o := &ordering{schemas: s.owner, root: s.place}
	slices.SortStableFunc(list, func(a, b mockbase.Violation) int { return o.compare(pointed(a), pointed(b)) })
	return list
}

// follows tells whether a violation comes of a value that could not be read: it is about that value, or about a choice that
// the value is part of.
func follows(v, fault mockbase.Violation) bool {
	switch {
	case v.Pointer == fault.Pointer || strings.HasPrefix(v.Pointer, fault.Pointer+"/"):
		return true
	case v.Code == "anyOf" || v.Code == "oneOf" || v.Code == "not":
		return strings.HasPrefix(fault.Pointer, v.Pointer+"/")
	default:
		return false
	}
}

// pointed are the names that lead to a violation.
func pointed(v mockbase.Violation) []string {
	if v.Pointer == "" {
		return nil
	}
	list := strings.Split(v.Pointer[1:], "/")
	for i, token := range list {
		list[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return list
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
