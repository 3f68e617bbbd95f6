package management

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// problemType is the media type of every answer with a status of 400 and more (RFC 9457).
const problemType = "application/problem+json"

// statusTable is the one table from codes to statuses (rule M-6): that of the pages that explain them.
func statusTable() map[mockbase.Code]int {
	table := map[mockbase.Code]int{}
	for _, p := range mockbase.Problems() {
		table[p.Code] = p.Status
	}
	return table
}

// problem is the body of an answer that reports a failure (rule M-5).
type problem struct {
	Type           string                `json:"type"`
	Title          string                `json:"title"`
	Status         int                   `json:"status"`
	Detail         string                `json:"detail"`
	Instance       string                `json:"instance"`
	Code           mockbase.Code         `json:"code"`
	RequestID      string                `json:"requestId"`
	Errors         []mockbase.FieldError `json:"errors,omitempty"`
	CurrentVersion int64                 `json:"currentVersion,omitempty"`
	Quota          *mockbase.QuotaUse    `json:"quota,omitempty"`
	Plan           any                   `json:"plan,omitempty"`
	Checks         map[string]string     `json:"checks,omitempty"`
}

// failure is an error with what its answer carries beside the problem's own members.
type failure struct {
	err    error
	header http.Header
	plan   any
	checks map[string]string
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// withHeader adds a header field to the answer of err.
func withHeader(err error, name, value string) error {
	return &failure{err: err, header: http.Header{name: {value}}}
}

// refusal turns any error into one that a person may see.
func refusal(err error) *mockbase.Error {
	if known, ok := errors.AsType[*mockbase.Error](err); ok && known.Code != mockbase.CodeInternal {
		return known
	}
	switch {
	case errors.Is(err, echo.ErrNotFound):
		return noSuchRoute()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the request took too long and was given up", Err: err}
	}
	return &mockbase.Error{
		Code: mockbase.CodeInternal, Message: "something went wrong inside the server",
		Hint: "the server's log says more under this request id", Err: err,
	}
}

func noSuchRoute() *mockbase.Error {
	return &mockbase.Error{Code: mockbase.CodeNotFound, Message: "there is nothing at this address", Hint: "/api/openapi.json lists what there is"}
}

// handleError is what Echo calls with every error that a handler or the router returned.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.LogAttrs(c.Request().Context(), slog.LevelError, "answer was cut short", slog.String(keyRequestID, RequestID(c.Request().Context())), slog.Any(keyError, err))
		return
	}
	s.writeProblem(c.Response(), c.Request(), err)
}

// writeProblem answers a request with the problem that err is, and returns the answer.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) *answer {
	known := refusal(err)
	status := s.statuses[known.Code]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if status >= http.StatusInternalServerError {
		s.logFailure(r, status, err)
	}
	p := newProblem(r, status, known)
	if strings.HasPrefix(p.Type, "/") {
		p.Type = s.BasePath + p.Type
	}
	h := w.Header()
	if extra, ok := errors.AsType[*failure](err); ok {
		p.Plan, p.Checks = extra.plan, extra.checks
		maps.Copy(h, extra.header)
	}
	problemHeaders(h, status, known)
	body := encode(p)
	s.write(w, r, status, problemType, body)
	return &answer{status: status, mediaType: problemType, body: body}
}

// logFailure logs why a request was not answered. That a client went away is no news to anybody.
func (s *Server) logFailure(r *http.Request, status int, err error) {
	level := slog.LevelError
	switch {
	case errors.Is(err, context.Canceled):
		level = slog.LevelDebug
	case status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	}
	s.log.LogAttrs(r.Context(), level, "request was not answered", slog.String(keyRequestID, RequestID(r.Context())),
		slog.String("method", r.Method), slog.Int("status", status), slog.Any(keyError, err), slog.Any("cause", cause(err)))
}

// cause is what a *mockbase.Error keeps from its reader, nil when it keeps nothing.
func cause(err error) error {
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		return known.Err
	}
	return nil
}

func newProblem(r *http.Request, status int, known *mockbase.Error) problem {
	detail := known.Message
	if known.Hint != "" {
		detail += "; " + known.Hint
	}
	id := RequestID(r.Context())
	fields := known.Fields
	if len(fields) > mockbase.MaxFieldErrors {
		fields = fields[:mockbase.MaxFieldErrors]
	}
	return problem{
		Type: "/docs/problems/" + string(known.Code), Title: title(known.Code), Status: status, Detail: detail,
		Instance: id, Code: known.Code, RequestID: id, Errors: fields, CurrentVersion: known.Version, Quota: known.Quota,
	}
}

// problemHeaders sets the fields that a status demands.
func problemHeaders(h http.Header, status int, known *mockbase.Error) {
	switch status {
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = []string{`Bearer realm="mockbase"`}
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusPreconditionFailed:
		if known.Version > 0 {
			setETag(h, known.Version)
		}
	}
	if known.Code == mockbase.CodeIdempotencyRunning {
		h.Set("Retry-After", "1")
	}
}

// title is the short text of a code: "not-found" is "Not found".
func title(code mockbase.Code) string {
	text := strings.ReplaceAll(string(code), "-", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// encode writes v as JSON, without escaping what only HTML needs escaped, so that stored texts come back as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("management: encode answer: " + err.Error()) // a defect: answers hold nothing that JSON cannot say
	}
	return b.Bytes()
}

// write sends a whole answer.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, mediaType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := w.Write(body); err != nil {
		s.log.LogAttrs(r.Context(), slog.LevelDebug, "answer was not taken", slog.String(keyRequestID, RequestID(r.Context())), slog.Any(keyError, err))
	}
}
