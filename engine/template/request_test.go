package template_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/template"
)

// request is a request as a test writes it down.
type request struct {
	method                         string
	segments                       []string
	path, matrix                   map[string]string
	query, form, cookies, trailers pairs
	headers                        map[string][]string
	body                           string
	xml                            map[string][]string
	parts                          map[string]*template.Part
}

// pairs are names with values, in order.
type pairs []string

func (p pairs) values(name string) []string {
	var found []string
	for i := 0; i < len(p); i += 2 {
		if p[i] == name {
			found = append(found, p[i+1])
		}
	}
	return found
}

func (p pairs) names() []string {
	var found []string
	for i := 0; i < len(p); i += 2 {
		if len(p[:i].values(p[i])) == 0 {
			found = append(found, p[i])
		}
	}
	return found
}

var _ template.Request = (*request)(nil)

func (q *request) Method() string { return cmp.Or(q.method, "GET") }

func (*request) Path() string     { return "/users/a b" }
func (*request) RawPath() string  { return "/users/a%20b" }
func (*request) RawQuery() string { return "n=1" }
func (*request) URL() string      { return "http://api.test:8080/users/a%20b?n=1" }
func (*request) Host() string     { return "api.test" }
func (*request) Port() string     { return "8080" }
func (*request) Scheme() string   { return "http" }
func (*request) ClientIP() string { return "192.0.2.7" }
func (*request) ID() string       { return "xch_1" }

func (q *request) PathParam(name string) (string, bool) { v, ok := q.path[name]; return v, ok }
func (q *request) Matrix(name string) (string, bool)    { v, ok := q.matrix[name]; return v, ok }

func (q *request) Segment(i int) (string, bool) {
	if i < 0 || i >= len(q.segments) {
		return "", false
	}
	return q.segments[i], true
}

func (q *request) PathParamNames() []string {
	var names []string
	for name := range q.path {
		names = append(names, name)
	}
	return names
}

func (q *request) Query(name string) []string   { return q.query.values(name) }
func (q *request) Form(name string) []string    { return q.form.values(name) }
func (q *request) Cookie(name string) []string  { return q.cookies.values(name) }
func (q *request) Trailer(name string) []string { return q.trailers.values(name) }
func (q *request) QueryNames() []string         { return q.query.names() }
func (q *request) FormNames() []string          { return q.form.names() }
func (q *request) CookieNames() []string        { return q.cookies.names() }
func (q *request) TrailerNames() []string       { return q.trailers.names() }

func (q *request) Header(name string) []string {
	for known, values := range q.headers {
		if strings.EqualFold(known, name) {
			return values
		}
	}
	return nil
}

func (q *request) Body() (*jsonvalue.Value, bool) {
	v, err := jsonvalue.Parse([]byte(q.body), jsonvalue.Limits{})
	return v, err == nil
}

func (q *request) BodyText() string { return q.body }

func (q *request) XPath(expression string) ([]string, error) {
	if expression == "//broken[" {
		return nil, errors.New("the expression does not end")
	}
	return q.xml[expression], nil
}

func (q *request) Part(name string) (*template.Part, bool) { p, ok := q.parts[name]; return p, ok }

// noon is the time of the sessions in these tests.
var noon = time.Date(2026, 3, 4, 12, 30, 15, 250_000_000, time.UTC)

// scopeOf is a scope around a request, with everything else filled in.
func scopeOf(q *request) *template.Scope {
	return &template.Scope{
		Request: q,
		Variables: map[string]json.RawMessage{
			"name": json.RawMessage(`"Ann"`), "shop": json.RawMessage(`{"b":1.50,"a":[1,2]}`),
		},
		State: "paid", Call: 3, Session: "ses_1", Seed: "7", Now: noon,
		Rand:     func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) },
		Limit:    &template.Limit{Limit: 10, Remaining: 4, Reset: 30, RetryAfter: 12, Policy: "burst"},
		Response: &template.Response{Status: 201, Headers: map[string][]string{"X-Id": {"9"}}, Body: []byte(`{"total":12.50}`)},
		Attempt:  2,
	}
}

// withBody is a scope around a request with a body.
func withBody(body string) *template.Scope { return scopeOf(&request{body: body}) }

// render renders a text that must compile and succeed.
func render(t *testing.T, text string, s *template.Scope) string {
	t.Helper()
	compiled, err := template.Compile(text)
	if err != nil {
		t.Fatalf("compile %q: %v", text, err)
	}
	out, err := compiled.Execute(t.Context(), s)
	if err != nil {
		t.Fatalf("execute %q: %v", text, err)
	}
	return string(out)
}

// renderJSON renders a document that must compile and succeed.
func renderJSON(t *testing.T, doc string, s *template.Scope) string {
	t.Helper()
	compiled, err := template.CompileJSON(json.RawMessage(doc))
	if err != nil {
		t.Fatalf("compile %s: %v", doc, err)
	}
	out, err := compiled.Execute(t.Context(), s)
	if err != nil {
		t.Fatalf("execute %s: %v", doc, err)
	}
	return string(out)
}

// failing renders a text that must compile and fail.
func failing(t *testing.T, text string, s *template.Scope) *template.ExecError {
	t.Helper()
	compiled, err := template.Compile(text)
	if err != nil {
		t.Fatalf("compile %q: %v", text, err)
	}
	out, err := compiled.Execute(t.Context(), s)
	failed, ok := errors.AsType[*template.ExecError](err)
	if !ok {
		t.Fatalf("execute %q: got %q and %v, want an ExecError", text, out, err)
	}
	if len(out) > 0 {
		t.Errorf("execute %q: half an output %q came with the error", text, out)
	}
	return failed
}

// refused compiles a text that must not compile.
func refused(t *testing.T, text string) *template.SyntaxError {
	t.Helper()
	_, err := template.Compile(text)
	fault, ok := errors.AsType[*template.SyntaxError](err)
	if !ok {
		t.Fatalf("compile %.60q: got %v, want a SyntaxError", text, err)
	}
	return fault
}
