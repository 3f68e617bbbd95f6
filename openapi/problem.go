package openapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
)

// headerViolations carries a short form of the violations.
const (
	headerViolations = "Mockbase-Violations"
	maxViolationsLen = 1024
)

// problem is an RFC 9457 answer that the document does not describe (rule W30).
type problem struct {
	Type       string               `json:"type"`
	Title      string               `json:"title"`
	Status     int                  `json:"status"`
	Detail     string               `json:"detail"`
	Instance   string               `json:"instance,omitempty"`
	Code       mockbase.Code        `json:"code"`
	Violations []mockbase.Violation `json:"violations,omitempty"`
}

// problem answers with a generated problem.
func (m *making) problem(refused *refusal) *mockbase.DocumentAnswer {
	p := problem{Title: "The request is not valid", Status: refused.status, Detail: refused.detail, Code: refused.code, Violations: refused.violations}
	if p.Code == "" {
		p.Code = codeOf(refused.status)
	}
	if page, ok := mockbase.ProblemOf(p.Code); ok && refused.detail != "" {
		p.Title = page.Title
	}
	if p.Detail == "" {
		p.Detail = "The request does not fit operation " + quoted(m.operation.name) + " of the OpenAPI document."
	}
	p.Type = m.Pages + "/docs/problems/" + string(p.Code)
	if m.ID != nil {
		p.Instance = m.ID()
	}
	a := m.answer
	a.Status, a.MediaType, a.Problem, a.Body = refused.status, "application/problem+json", p.Code, encode(&p)
	a.Header = append(a.Header, refused.header...)
	a.Header = append(a.Header, mockbase.Header{Name: "Cache-Control", Values: []string{"no-store"}})
	m.tellViolations()
	return a
}

// codeOf is the code of a problem with violations.
func codeOf(status int) mockbase.Code {
	switch status {
	case http.StatusUnauthorized:
		return mockbase.CodeUnauthenticated
	case http.StatusForbidden:
		return mockbase.CodeForbidden
	case http.StatusUnsupportedMediaType:
		return mockbase.CodeUnsupportedMediaType
	case http.StatusBadRequest:
		return mockbase.CodeBadRequest
	default:
		return mockbase.CodeValidationFailed
	}
}

func encode(p *problem) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		// Only texts and numbers are encoded, so this is not reached.
		return []byte("{}\n")
	}
	return b.Bytes()
}

// tellViolations adds the short form of the violations (rule W30).
func (m *making) tellViolations() {
	var parts []string
	length := 0
	for _, v := range m.answer.Violations {
		part := printable(v.Location) + " " + v.Code
		if length += len(part) + 2; length > maxViolationsLen {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		m.answer.Header = append(m.answer.Header, mockbase.Header{Name: headerViolations, Values: []string{strings.Join(parts, ", ")}})
	}
}

// printable leaves out what no header can hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}
