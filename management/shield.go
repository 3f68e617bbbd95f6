package management

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// limitFields are the fields that a limiter announces itself with.
func limitFields() []string {
	return []string{
		"RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
		"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Used", "X-RateLimit-Resource",
	}
}

type shieldKey struct{}

// behind puts a shield before next. Its refusals get the members that every problem of this plane has (rules M-5 and
// RL114). The fields in drop never leave: of two shields around one handler only the outer one announces itself, as
// every answer names the policy management (rule M-16).
func behind(shield func(http.Handler) http.Handler, drop []string, next http.Handler) http.Handler {
	return refusedAs(refusalForm{code: mockbase.CodeRateLimited, drop: drop}, shield, next)
}

// refusalForm says how the refusals of a shield are answered.
type refusalForm struct {
	// code is that of a 429; login tells that the shield is about signing in (rule M-37).
	code  mockbase.Code
	login bool
	// drop are the fields that never leave.
	drop []string
}

// refusedAs puts a shield before next whose refusals have a form.
func refusedAs(form refusalForm, shield func(http.Handler) http.Handler, next http.Handler) http.Handler {
	guarded := shield(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if held, ok := r.Context().Value(shieldKey{}).(*shieldWriter); ok {
			held.passed = true
		}
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		held := &shieldWriter{ResponseWriter: w, refusalForm: form}
		guarded.ServeHTTP(held, r.WithContext(context.WithValue(r.Context(), shieldKey{}, held)))
		held.refuse(r)
	})
}

// shieldWriter lets an answer pass once the shield has let the request pass, and holds back what the shield answers
// itself.
type shieldWriter struct {
	http.ResponseWriter
	refusalForm

	passed bool
	status int
	body   bytes.Buffer
}

// WriteHeader begins an answer, or notes the status of a refusal.
func (w *shieldWriter) WriteHeader(status int) {
	for name := range w.Header() {
		if slices.ContainsFunc(w.drop, func(field string) bool { return http.CanonicalHeaderKey(field) == http.CanonicalHeaderKey(name) }) {
			delete(w.Header(), name)
		}
	}
	if !w.passed {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of an answer, or keeps a part of a refusal.
func (w *shieldWriter) Write(b []byte) (int, error) {
	if !w.passed {
		return w.body.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *shieldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refuse sends the shield's refusal, if it made one.
func (w *shieldWriter) refuse(r *http.Request) {
	if w.passed || w.status == 0 {
		return
	}
	body, h := w.body.Bytes(), w.Header()
	if h.Get("Content-Type") == problemType && len(body) > 0 {
		id := RequestID(r.Context())
		body = withMembers(body, encode(struct {
			Instance  string        `json:"instance"`
			Code      mockbase.Code `json:"code"`
			RequestID string        `json:"requestId"`
		}{id, w.codeOf(), id}))
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.ResponseWriter.WriteHeader(w.status)
	w.ResponseWriter.Write(body)
}

// codeOf is the code of a refusal. That the circuit lets only a part through says nothing of signing in.
func (w *shieldWriter) codeOf() mockbase.Code {
	switch w.status {
	case http.StatusServiceUnavailable:
		if w.login && !strings.Contains(w.Header().Get(limitedBy), `layer="circuit"`) {
			return mockbase.CodeLoginUnavailable
		}
		return mockbase.CodeUnavailable
	case http.StatusForbidden:
		return mockbase.CodeAddressBlocked
	default:
		return w.code
	}
}

// limitedBy is the field in which a shield says which part of it refused.
const limitedBy = "Mockbase-Limited-By"

// withMembers puts the members of one JSON object behind those of another. A member that both have is in the result once,
// as more has it.
func withMembers(object, more []byte) []byte {
	first, err := mockbase.ParseNode(object, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxBody})
	second, wrong := mockbase.ParseNode(more, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxBody})
	if err != nil || wrong != nil || first.Kind != mockbase.NodeObject {
		return object // It is no object that members could be added to.
	}
	first.Members = slices.DeleteFunc(first.Members, func(m mockbase.Member) bool { return second.Find(m.Key) != nil })
	first.Members = append(first.Members, second.Members...)
	return first.JSON()
}
