package mockbase

import (
	"strconv"
	"strings"
)

// The codes of warnings (mock format, section 5). A warning never blocks.
const (
	// WarningTie marks a mock that another one of the same rank hides, or is hidden by.
	WarningTie Code = "tie"
	// WarningUnreachable marks a mock that can never answer.
	WarningUnreachable Code = "unreachable"
	// WarningTemplateOff marks a text that holds {{ in a response that is not rendered (rule P1).
	WarningTemplateOff Code = "template_off"
	// WarningNoDefault marks a mock all of whose responses have a condition, so that it may not answer (rule R10).
	WarningNoDefault Code = "no_default"
	// WarningBodyDropped marks a body that HTTP does not allow beside the status (rule O2).
	WarningBodyDropped Code = "body_dropped"
	// WarningEncoding marks a header whose text is outside Latin-1 (rule O9).
	WarningEncoding Code = "encoding"
	// WarningNotTranslated marks what an import left out, as it has no equivalent here (rule M-78).
	WarningNotTranslated Code = "not_translated"
	// WarningUnused marks a value that has no effect here.
	WarningUnused Code = "unused"
)

// Warnings lists what in the mock alone deserves a second look: a body that is dropped, a header that is replaced, a
// template that is not rendered, a limit that nobody can afford, and responses without a default. The configuration may be nil. Pointers are relative to
// the mock, and places are not known; see [Locate]. What needs other mocks, such as a tie, the engine finds.
func (m *Mock) Warnings(c *Config) []FieldError {
	list := m.unaffordable(c)
	hasDefault := m.Select != "" && m.Select != SelectRules
	for i := range m.Responses {
		r := &m.Responses[i]
		hasDefault = hasDefault || r.When == nil
		pointer := m.ResponsePointer(i)
		list = append(list, r.dropped(pointer)...)
		list = append(list, m.replacedLength(r, pointer, c)...)
		list = append(list, r.reserved(pointer)...)
		list = append(list, r.unheard(pointer)...)
		list = append(list, r.beyondLatin1(pointer)...)
		list = append(list, r.foreign(pointer)...)
		if !r.renders(c) {
			list = append(list, r.unrendered(pointer)...)
		}
	}
	if !hasDefault && len(m.Responses) > 0 {
		list = append(list, FieldError{
			Pointer: strings.TrimSuffix(m.ResponsePointer(0), "/0"), Code: WarningNoDefault,
			Detail: "every response has a when: if none holds, the next mock is tried",
		})
	}
	return list
}

// renders tells whether the texts of a response are templates. The configuration may be nil.
func (r *Response) renders(c *Config) bool {
	if r.Template != nil {
		return *r.Template
	}
	return c != nil && c.Defaults.Template
}

// ResponsePointer is the JSON Pointer of a response, relative to the mock.
func (m *Mock) ResponsePointer(i int) string {
	if m.SingleResponse {
		return "#/response"
	}
	return itemPointer("#/responses", i)
}

// dropped finds a body that HTTP does not allow beside the status (rule O2).
func (r *Response) dropped(pointer string) []FieldError {
	if r.Status != 204 && r.Status != 205 && r.Status != 304 || len(r.Body.Bytes) == 0 {
		return nil
	}
	return []FieldError{{
		Pointer: pointer + "/" + string(r.Body.Kind), Code: WarningBodyDropped,
		Detail: "is not sent, as status " + strconv.Itoa(r.Status) + " has no body",
	}}
}

// unheard finds rules for messages after one that is for all of them (rule U11).
func (r *Response) unheard(pointer string) []FieldError {
	if r.WebSocket == nil {
		return nil
	}
	var list []FieldError
	found := false
	for i := range r.WebSocket.OnMessage {
		if r.WebSocket.OnMessage[i].When != nil {
			continue
		}
		if found {
			list = append(list, FieldError{
				Pointer: itemPointer(pointer+"/webSocket/onMessage", i), Code: WarningUnreachable,
				Detail: "never answers: an entry without when stands before it, and the first of those is for all messages",
			})
		}
		found = true
	}
	return list
}

// foreign finds runtime expressions of OpenAPI, which the callbacks of documents have and webhooks do not (rules S2 and
// S8).
func (r *Response) foreign(pointer string) []FieldError {
	var list []FieldError
	for i := range r.Webhooks {
		if strings.Contains(r.Webhooks[i].URL, "{$") {
			list = append(list, FieldError{
				Pointer: itemPointer(pointer+"/webhooks", i) + "/url", Code: WarningTemplateOff,
				Detail: "holds {$, as the expressions of OpenAPI do, and is sent as it stands: write a template, such as {{ body.url }}",
			})
		}
	}
	return list
}

// unrendered finds texts that look like templates in a response that is not rendered (rule P1).
func (r *Response) unrendered(pointer string) []FieldError {
	var list []FieldError
	look := func(name string, texts ...string) {
		for _, text := range texts {
			if strings.Contains(text, "{{") {
				list = append(list, FieldError{
					Pointer: pointer + "/" + name, Code: WarningTemplateOff,
					Detail: "holds {{ and is sent as it stands: set template: true to render it",
				})
				return
			}
		}
	}
	look("status", r.StatusTemplate)
	for _, h := range r.Headers {
		look("headers/"+PointerToken(h.Name), h.Values...)
	}
	if r.Body.Kind != BodyBase64 {
		look(string(r.Body.Kind), string(r.Body.Bytes))
	}
	if r.Delay != nil {
		look("delay", r.Delay.Template)
	}
	if r.Proxy != nil {
		look("proxy/to", r.Proxy.To)
	}
	for i := range r.Webhooks {
		w := &r.Webhooks[i]
		texts := []string{w.URL, string(w.Body.Bytes)}
		for _, h := range w.Headers {
			texts = append(texts, h.Values...)
		}
		look("webhooks/"+strconv.Itoa(i), texts...)
	}
	return list
}
