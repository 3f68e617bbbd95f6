package openapi

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The query parameters that stand for preferences (rule W11).
const (
	controls       = "__"
	controlCode    = "__code"
	controlExample = "__example"
	controlDynamic = "__dynamic"
	controlSeed    = "__seed"
)

// refusal is why a request is not answered as it asks.
type refusal struct {
	// status is that of a generated problem, declared the statuses of the document's own answers, best first.
	status   int
	declared []int
	header   []mockbase.Header
	// code and detail name what went wrong where that is no violation.
	code       mockbase.Code
	detail     string
	violations []mockbase.Violation
}

// making is an answer in the making.
type making struct {
	*reading
	preferred mockbase.Preferred
	random    func() *rand.Rand
	answer    *mockbase.DocumentAnswer
}

// Answer answers a request for an operation that Find found (rules W6 to W46).
func (d *Document) Answer(op int, q *mockbase.DocumentRequest) *mockbase.DocumentAnswer {
	m := &making{reading: newReading(d.operations[op].ready(), q), preferred: q.Preferred, answer: &mockbase.DocumentAnswer{}}
	if refused := m.readControls(); refused != nil {
		return m.problem(refused)
	}
	if d.options.Requests != "disabled" {
		if refused := m.checkRequest(); refused != nil {
			m.answer.Violations = refused.violations
			if d.options.Requests != "warn" {
				return m.refuse(refused)
			}
			for i := range m.answer.Violations {
				m.answer.Violations[i].Severity = mockbase.SeverityWarning
			}
		}
	}
	chosen, status := m.operation.usual()
	if m.preferred.Code != 0 {
		status = m.preferred.Code
		if chosen = m.operation.coded(status); chosen == nil {
			return m.problem(&refusal{
				status: http.StatusNotFound, code: mockbase.CodeCodeNotDefined,
				detail: "The operation has no response of status " + statusText(status) + ".",
			})
		}
		m.answer.Applied.Code = status
	}
	return m.respond(chosen, status)
}

// readControls takes preferences from the query where the request has no others.
func (m *making) readControls() *refusal {
	if !m.Controls || m.Preferred.Any() {
		return nil
	}
	met := map[string]bool{}
	for _, own := range m.query {
		if !strings.HasPrefix(own.name, controls) || met[own.name] {
			continue
		}
		met[own.name] = true // the first of a name counts, as for the header
		if value := decodedForm(own.value); !m.control(own.name, value) {
			return badControl(own.name, value)
		}
	}
	return nil
}

// control takes one preference from the query. It reports false for a value that cannot be.
func (m *making) control(name, value string) bool {
	switch name {
	case controlCode:
		code, err := strconv.ParseUint(value, 10, 16)
		m.preferred.Code = int(code)
		return err == nil && code >= 100 && code <= 999
	case controlExample:
		m.preferred.Example = value
	case controlSeed:
		m.preferred.Seed = value
	case controlDynamic:
		m.preferred.Dynamic = value
		return value == "true" || value == "false"
	}
	return true
}

func badControl(name, value string) *refusal {
	name = strings.TrimPrefix(name, controls)
	return &refusal{
		status: http.StatusUnprocessableEntity, code: mockbase.CodeBadPreference,
		detail: "The preference " + quoted(name) + " cannot have the value " + quoted(value) + ": it is " + mockbase.PreferenceRange(name) + ".",
	}
}

// checkRequest makes the checks in their order; the first class that fails decides (rule W6).
func (r *reading) checkRequest() *refusal {
	if refused := r.checkSecurity(); refused != nil {
		return refused
	}
	m, refused := r.checkMedia()
	if refused != nil {
		return refused
	}
	inBody, refused := r.checkBody(m)
	if refused != nil {
		return refused
	}
	var list []mockbase.Violation
	for _, p := range r.operation.parameters {
		list = append(list, p.check(r)...)
	}
	list = append(list, r.unknown()...)
	list = append(list, inBody...)
	if len(list) == 0 {
		return nil
	}
	return &refusal{
		status: http.StatusUnprocessableEntity, declared: []int{http.StatusUnprocessableEntity, http.StatusBadRequest},
		violations: list[:min(len(list), maxViolations)],
	}
}

// unknown lists the parameters that the document does not declare, where that is a fault (rule W11).
func (r *reading) unknown() []mockbase.Violation {
	if !r.operation.document.options.Strict {
		return nil
	}
	var list []mockbase.Violation
	for _, own := range r.query {
		switch own.name {
		case controlCode, controlExample, controlDynamic, controlSeed:
			continue
		}
		if !r.declares(inQuery, own.name) && !r.carriesKey(inQuery, own.name) {
			list = append(list, violation("query."+own.name, codeUnknown, "the parameter is not declared")...)
		}
	}
	for _, own := range r.cookiePairs() {
		if !r.declares(inCookie, own.name) && !r.carriesKey(inCookie, own.name) {
			list = append(list, violation("cookie."+own.name, codeUnknown, "the cookie is not declared")...)
		}
	}
	return list
}

func (r *reading) declares(in, name string) bool {
	return slices.ContainsFunc(r.operation.parameters, func(p *parameter) bool { return p.in == in && p.names(name) }) ||
		slices.ContainsFunc(r.operation.template.asks, func(own pair) bool { return in == inQuery && own.name == name })
}

// carriesKey tells whether a security scheme reads this place.
func (r *reading) carriesKey(in, name string) bool {
	for _, one := range r.operation.security {
		for _, needed := range one {
			if needed.scheme.text("in") == in && needed.scheme.text("name") == name {
				return true
			}
		}
	}
	return false
}

// refuse answers an invalid request, as the document says or with a problem (rules W27 to W30).
func (m *making) refuse(refused *refusal) *mockbase.DocumentAnswer {
	declared, status := m.operation.refusing(refused.declared)
	if declared == nil {
		return m.problem(refused)
	}
	if m.preferred.Code != status {
		m.preferred.Example = ""
	} else {
		m.answer.Applied.Code = status
	}
	m.answer.Header = append(m.answer.Header, refused.header...)
	m.tellViolations()
	m.fill(declared, status, m.negotiateAny(declared))
	return m.answer
}

// negotiateAny picks the media type of an error, which is the first where nothing is acceptable (rule W29).
func (m *making) negotiateAny(r *response) offer {
	chosen, concrete := negotiate(m.Header["Accept"], r.content)
	if chosen == nil && len(r.content) > 0 {
		return offer{mediaType: r.content[0]}
	}
	return offer{chosen, concrete}
}

// offer is a media type, and what to say in its place if it is a range.
type offer struct {
	*mediaType

	concrete media
}

// written is the media type that the body is written in: of a range the one that is asked for (rule W32).
func (o *offer) written() *mediaType {
	t := o.mediaType
	if !t.parsed.isRange() || o.concrete.kind == "" || o.concrete.isRange() {
		return t
	}
	return &mediaType{
		key: o.concrete.String(), parsed: o.concrete, at: t.at, schema: t.schema, examples: t.examples, example: t.example,
		encoding: t.encoding, partHeaders: t.partHeaders,
	}
}

// respond answers with a response of the document.
func (m *making) respond(r *response, status int) *mockbase.DocumentAnswer {
	chosen, concrete := negotiate(m.Header["Accept"], r.content)
	if chosen == nil && len(r.content) > 0 {
		if status < http.StatusBadRequest {
			return m.notAcceptable(r)
		}
		chosen, concrete = r.content[0], media{}
	}
	m.tellViolations()
	m.fill(r, status, offer{chosen, concrete})
	return m.answer
}

func (m *making) notAcceptable(r *response) *mockbase.DocumentAnswer {
	refused := &refusal{status: http.StatusNotAcceptable, declared: []int{http.StatusNotAcceptable}, code: mockbase.CodeNotAcceptable}
	if declared := m.operation.find(statusText(http.StatusNotAcceptable)); declared != nil {
		m.fill(declared, http.StatusNotAcceptable, m.negotiateAny(declared))
		return m.answer
	}
	var keys []string
	for _, own := range r.content {
		keys = append(keys, own.key)
	}
	refused.detail = "The answer can be " + strings.Join(keys, ", ") + ", which Accept leaves out."
	return m.problem(refused)
}

// fill makes headers and body. A value that cannot be made turns the answer into a problem.
func (m *making) fill(r *response, status int, o offer) {
	m.answer.Status = status
	m.dynamic(status, o)
	for _, h := range r.headers {
		if n := h.value(m); n != nil {
			if text, ok := h.simple(n); ok {
				m.answer.Header = append(m.answer.Header, mockbase.Header{Name: h.name, Values: []string{text}})
			}
		}
	}
	if o.mediaType == nil {
		return
	}
	made, refused := m.body(o.written())
	if refused != nil {
		m.answer.Header, m.answer.Applied = nil, mockbase.Preferred{}
		m.problem(refused)
		return
	}
	m.answer.MediaType, m.answer.Body = o.header(o.concrete, made.text), made.bytes
}

// dynamic decides whether values are drawn, and from what (rule W45).
func (m *making) dynamic(status int, o offer) {
	wanted := m.operation.document.options.Dynamic
	if m.preferred.Dynamic != "" {
		wanted = m.preferred.Dynamic == "true"
		m.answer.Applied.Dynamic = m.preferred.Dynamic
	}
	if !wanted || m.Rand == nil {
		return
	}
	m.answer.Applied.Seed = m.preferred.Seed
	key := statusText(status)
	if o.mediaType != nil {
		key += " " + o.key
	}
	m.random = func() *rand.Rand { return m.Rand(key, m.preferred.Seed) }
}
