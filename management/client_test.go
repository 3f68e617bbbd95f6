package management_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/mockbase/mockbase"
)

// call is one request of a test. What is left out is not sent.
type call struct {
	method, path string
	// as is the caller, bearer a token to send instead of the caller's.
	as, bearer string
	// body is sent as JSON unless kind says otherwise.
	body, kind string
	header     map[string]string
	cookie     *http.Cookie
	// host replaces the server's own in the Host field.
	host string
}

// reply is an answer that agrees with the API document.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
	cookie []*http.Cookie
}

// streamed is how long a stream is read.
const streamed = 100 * time.Millisecond

// send sends a request over a socket, and holds the answer against the API document (rule M-22).
func (w *world) send(c call) *reply {
	w.t.Helper()
	return w.sendIn(w.t, c)
}

func (w *world) sendIn(t *testing.T, c call) *reply {
	t.Helper()
	r := w.request(t, c)
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true, ExpectContinueTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	got, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	defer got.Body.Close()
	if got.Header.Get("Content-Type") == "text/event-stream" {
		// It would not end by itself.
		time.AfterFunc(streamed, func() { got.Body.Close() })
	}
	body, err := io.ReadAll(got.Body)
	if err != nil && got.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	answer := &reply{t: t, status: got.StatusCode, header: got.Header, body: body, cookie: got.Cookies()}
	answer.checkHeader(c)
	answer.checkDocument(r)
	return answer
}

func (w *world) request(t *testing.T, c call) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.method, w.server.URL+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.kind != "" {
		r.Header.Set("Content-Type", c.kind)
	}
	if c.path == "/api/v1/admin/shield" && c.method == http.MethodPut && c.header["If-Match"] == "" {
		r.Header.Set("If-Match", "*") // It is needed, and most tests are about something else.
	}
	if c.as != guest {
		c.bearer = w.token(c.as)
	}
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	if c.cookie != nil {
		r.AddCookie(c.cookie)
	}
	if c.host != "" {
		r.Host = c.host
	}
	if len(c.body) > 1<<20 {
		r.Header.Set("Expect", "100-continue") // else an early refusal may reset the connection before it is read
	}
	return r
}

// checkHeader checks what every answer has (rules M-5 and M-18).
func (a *reply) checkHeader(c call) {
	a.t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Server": "", "X-Powered-By": "",
	} {
		if got := a.header.Get(name); got != want {
			a.t.Errorf("%s %s: %s is %q, want %q", c.method, c.path, name, got, want)
		}
	}
	if policy := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		a.t.Errorf("%s %s: Content-Security-Policy is %q", c.method, c.path, policy)
	}
	if id := a.header.Get("X-Request-Id"); id == "" {
		a.t.Errorf("%s %s: no X-Request-Id", c.method, c.path)
	}
	if a.status >= http.StatusBadRequest && c.method != http.MethodHead {
		a.problem()
	}
}

// apiDocument loads the committed document once for all tests, as loading takes longer than a test.
var apiDocument = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/schema+json", openapi3filter.JSONBodyDecoder)
	return openapi3.NewLoader().LoadFromData(text)
})

// apiRouter finds the operation of a request.
var apiRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := apiDocument()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// checkDocument holds an answer against the operation that the document has for the request. An address or a method that
// is not in it must not have been served.
func (a *reply) checkDocument(r *http.Request) {
	a.t.Helper()
	router, err := apiRouter()
	if err != nil {
		a.t.Fatal(err)
	}
	asked := r.Clone(r.Context())
	asked.URL.Scheme, asked.URL.Host, asked.Host = "", "", ""
	if r.Method == http.MethodHead {
		asked.Method = http.MethodGet
	}
	route, params, err := router.FindRoute(asked)
	if err != nil {
		if a.status < http.StatusBadRequest && strings.HasPrefix(r.URL.Path, "/api") && r.Method != http.MethodOptions {
			a.t.Errorf("%s %s: answered %d, and the API document does not know it", r.Method, r.URL.Path, a.status)
		}
		return
	}
	if r.Method == http.MethodHead {
		if len(a.body) > 0 || route.Operation.Responses.Status(a.status) == nil {
			a.t.Errorf("HEAD %s: status %d with %d bytes", r.URL.Path, a.status, len(a.body))
		}
		return
	}
	if a.knownToAgree(route.Operation.OperationID) {
		return
	}
	a.checkTold(route.Operation)
	schema := a.schema(route)
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: asked, Route: route, PathParams: params},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: schema != nil},
	}
	err = openapi3filter.ValidateResponse(a.t.Context(), input)
	if schema != nil && err == nil {
		err = matches(schema, a.body)
	}
	if err != nil {
		a.t.Errorf("%s %s: status %d does not agree with the API document: %v\n%s", r.Method, r.URL.Path, a.status, err, a.body)
	}
}

// agreed holds the answers that were found to agree with the document, as comparing takes longer than asking.
var agreed sync.Map

// knownToAgree tells whether the same answer to the same operation was compared before: same status, fields and body, but
// for the request's id.
func (a *reply) knownToAgree(operation string) bool {
	fields := slices.Sorted(maps.Keys(a.header))
	body := strings.ReplaceAll(string(a.body), a.header.Get("X-Request-Id"), "")
	_, known := agreed.LoadOrStore(strings.Join(append(fields, operation, strconv.Itoa(a.status), a.header.Get("Content-Type"), body), "\n"), true)
	return known
}

// want ends the test unless the answer has the status and, for a failure, the code.
func (a *reply) want(status int, code ...mockbase.Code) *reply {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if len(code) > 0 && a.problem().Code != code[0] {
		a.t.Fatalf("code %q, want %q: %s", a.problem().Code, code[0], a.body)
	}
	return a
}

// problem is a failure as a client reads it.
type problem struct {
	Type           string                `json:"type"`
	Title          string                `json:"title"`
	Status         int                   `json:"status"`
	Detail         string                `json:"detail"`
	Instance       string                `json:"instance"`
	Code           mockbase.Code         `json:"code"`
	RequestID      string                `json:"requestId"`
	Errors         []mockbase.FieldError `json:"errors"`
	CurrentVersion int64                 `json:"currentVersion"`
	Quota          *mockbase.QuotaUse    `json:"quota"`
	Plan           json.RawMessage       `json:"plan"`
	Checks         map[string]string     `json:"checks"`
	Violated       []string              `json:"violated-policies"` //nolint:tagliatelle // registered so
}

// problem reads a failure and checks what all have in common (rule M-5).
func (a *reply) problem() problem {
	a.t.Helper()
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		a.t.Fatalf("status %d is no problem: %v: %s", a.status, err, a.body)
	}
	if a.header.Get("Content-Type") != "application/problem+json" || p.Status != a.status || p.Title == "" || p.Detail == "" {
		a.t.Errorf("problem of type %q: %s", a.header.Get("Content-Type"), a.body)
	}
	if p.Instance != p.RequestID || p.RequestID != a.header.Get("X-Request-Id") {
		a.t.Errorf("request id %q, instance %q, header %q", p.RequestID, p.Instance, a.header.Get("X-Request-Id"))
	}
	if p.Type != "/docs/problems/"+string(p.Code) && p.Code != mockbase.CodeRateLimited && p.Code != mockbase.CodeLoginBanned && p.Code != mockbase.CodeUnavailable &&
		p.Code != mockbase.CodeLoginUnavailable && p.Code != mockbase.CodeAddressBlocked {
		a.t.Errorf("type %q of code %q", p.Type, p.Code)
	}
	return p
}

// json reads the body into a tree.
func (a *reply) json() map[string]any {
	a.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// into reads the body into v.
func (a *reply) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
}

// names lists one member of every item of a list.
func (a *reply) names(member string) []string {
	a.t.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	a.into(&list)
	names := []string{}
	for _, item := range list.Items {
		name, ok := item[member].(string)
		if !ok {
			a.t.Fatal(errors.New("item without " + member))
		}
		names = append(names, name)
	}
	return names
}

// refreshCookie is the cookie of a sign-in, nil when none was set.
func (a *reply) refreshCookie() *http.Cookie {
	for _, c := range a.cookie {
		if strings.HasSuffix(c.Name, "mb_rt") {
			return c
		}
	}
	return nil
}
