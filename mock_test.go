package mockbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

func decodeMock(tb testing.TB, src string) *mockbase.Mock {
	tb.Helper()
	m, err := mockbase.DecodeMock([]byte(src), mockbase.FormatYAML)
	if err != nil {
		tb.Fatalf("%s: %v", src, err)
	}
	return m
}

func decodeDefinition(tb testing.TB, src string) *mockbase.Definition {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(src), mockbase.FormatYAML)
	if err != nil {
		tb.Fatalf("%s: %v", src, err)
	}
	return d
}

func TestY4_a_mock_keeps_its_document(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, src, want string }{
		{
			"numbers, order, letter case and shorthands stay",
			`{"response": {"json": {"z": 2.50, "a": 1e3}, "headers": {"eTAG": 1}}, "rateLimit": "5/10s", "request": "GET /a", "name": "x"}`,
			`{"response":{"json":{"z":2.50,"a":1e3},"headers":{"eTAG":1}},"rateLimit":"5/10s","request":"GET /a","name":"x"}`,
		},
		{
			"a generated name comes first",
			`{"request": "GET /users/{id}", "response": {}}`,
			`{"name":"get-users-id","request":"GET /users/{id}","response":{}}`,
		},
		{
			"M8 members that the API adds are left out",
			`{"id": "mck_1", "name": "x", "project": "prj_1", "version": 3, "createdAt": "t", "updatedAt": "t", "updatedBy": "u", "source": "s",
			  "readOnly": true, "urls": {}, "warnings": [], "stats": {}, "request": "GET /a", "response": {}}`,
			`{"name":"x","request":"GET /a","response":{}}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, err := mockbase.DecodeMock([]byte(c.src), mockbase.FormatJSON)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.Document); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// ignoreHistory compares what a document says.
func ignoreHistory(m *mockbase.Mock) mockbase.Mock {
	plain := *m
	plain.NameGenerated, plain.Line, plain.Column = false, 0, 0
	return plain
}

func TestAMockDecodedFromItsDocumentIsTheSame(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "valid") {
		d, err := mockbase.DecodeDefinition(readFile(t, file), formatOf(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range d.Mocks {
			again, err := mockbase.DecodeMock(m.Document, mockbase.FormatJSON)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if diff := cmp.Diff(ignoreHistory(m), ignoreHistory(again)); diff != "" {
				t.Errorf("%s: %s\n%s", file, m.Name, diff)
			}
			if again.NameGenerated {
				t.Errorf("%s: the document of %s has no name", file, m.Name)
			}
		}
	}
}

func TestGeneratedNamesAreNumberedInFileOrder(t *testing.T) {
	t.Parallel()
	d, err := mockbase.DecodeDefinition(readFile(t, "testdata/definitions/valid/clashes.yaml"), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range d.Mocks {
		got = append(got, fmt.Sprintf("%s %d:%d %t %s", m.Name, m.Line, m.Column, m.NameGenerated, m.Document))
	}
	want := []string{
		`get-a 2:5 true {"name":"get-a","request":"GET /a","response":{"text":"1"}}`,
		`get-a-3 3:5 true {"name":"get-a-3","request":"GET /a","response":{"text":"2"}}`,
		`get-a-2 4:5 false {"name":"get-a-2","request":"GET /x","response":{"text":"3"}}`,
		`get-a-4 5:5 true {"name":"get-a-4","request":"GET /{a}","response":{"text":"4"}}`,
		`get 6:5 true {"name":"get","request":{"pathMatches":"/.*"},"response":{"text":"5"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithNameRenamesTheDocumentToo(t *testing.T) {
	t.Parallel()
	m := decodeMock(t, `{request: GET /a, response: {json: 2.50}, name: old, priority: 3}`)
	renamed := m.WithName("new")
	if want := `{"request":"GET /a","response":{"json":2.50},"name":"new","priority":3}`; string(renamed.Document) != want || renamed.Name != "new" {
		t.Errorf("got %s", renamed.Document)
	}
	if m.Name != "old" || renamed.Priority != 3 {
		t.Error("the mock itself has changed")
	}
	bare := &mockbase.Mock{Document: json.RawMessage(`{"request":"GET /a"}`)}
	if got := string(bare.WithName("x").Document); got != `{"name":"x","request":"GET /a"}` {
		t.Errorf("got %s", got)
	}
}

func TestDecodedDefaults(t *testing.T) {
	t.Parallel()
	d := decodeDefinition(t, `
scenarios: { s: {} }
rateLimits: { p: { limit: 5, window: 1s }, q: { limit: 1, algorithm: concurrency } }
mocks:
  - request: { path: /a }
    response: { proxy: { to: "http://a.test" } }
    rateLimit: 100/m
  - request: GET /b
    response: { webhooks: [{ url: "http://a.test" }] }
  - { request: GET /c, response: { sse: { events: [{ data: a }] } } }
  - { request: GET /d, response: { webSocket: {} } }
collections: { posts: {}, me: { singular: true } }
documents: [{ name: a, file: a.yaml }]
`)
	first := d.Mocks[0]
	policy := mockbase.LimitPolicy{
		Algorithm: "fixed_window", Limit: 100, Window: time.Minute, Align: "first_request", Keys: []string{"global"}, Mode: "enforce",
		Headers: []string{"x"}, Reset: "epoch",
	}
	checks := []struct {
		name      string
		got, want any
	}{
		{"method", first.Request.Methods, []string{"GET"}},
		{"response name", first.Responses[0].Name, "r1"},
		{"limit", first.RateLimit.Limits[0].Policy, &policy},
		{"proxy", first.Responses[0].Proxy, &mockbase.Proxy{
			To: "http://a.test", Timeout: 30 * time.Second, Record: "never", RecordHeaders: []string{"Accept", "Content-Type"},
		}},
		{"webhook", d.Mocks[1].Responses[0].Webhooks, []mockbase.Webhook{{URL: "http://a.test", Method: "POST", Timeout: 10 * time.Second}}},
		{"sse loop", d.Mocks[2].Responses[0].SSE.Loop, 1},
		{"sse end", d.Mocks[2].Responses[0].SSE.End, "close"},
		{"web socket", d.Mocks[3].Responses[0].WebSocket, &mockbase.WebSocket{Otherwise: "ignore", MaxMessage: 1 << 20}},
		{"scenario", d.Config.Scenarios, []mockbase.Scenario{{Name: "s", Initial: "Started", MaxInstances: 10000}}},
		{"lease", d.Config.RateLimits[1].Policy.Window, 5 * time.Minute},
		{"collection", d.Config.Collections[0], mockbase.Collection{
			Name: "posts", Path: "/posts", IDMember: "id", Seed: json.RawMessage("[]"), PageSize: 10, MaxPageSize: 100,
		}},
		{"singular collection", string(d.Config.Collections[1].Seed), "{}"},
		{"document", d.Config.Documents[0], mockbase.Document{
			Name: "a", File: "a.yaml", BasePath: "accept", Requests: "enforce", Responses: "warn",
		}},
		{"settings", d.Config.Settings, mockbase.Settings{}},
	}
	for _, c := range checks {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestDecodedRequest(t *testing.T) {
	t.Parallel()
	one := func(text string) mockbase.Match { return mockbase.Match{{Equals: json.RawMessage(text)}} }
	text := func(s string) *string { return &s }
	cases := []struct {
		name, src string
		want      mockbase.RequestMatcher
	}{
		{"the shorthand", `"POST /a/{id}"`, mockbase.RequestMatcher{Shorthand: true, Methods: []string{"POST"}, Path: "/a/{id}"}},
		{"A13 methods keep their letters", `{method: [Get, PURGE], path: /}`, mockbase.RequestMatcher{Methods: []string{"Get", "PURGE"}, Path: "/"}},
		{"ANY covers the others", `{method: [GET, ANY], path: /}`, mockbase.RequestMatcher{Methods: []string{"ANY"}, Path: "/"}},
		{"K9 a scalar means equals, a list and", `{path: /, query: {a: 2.50, b: [x, {contains: y}], c: null}}`, mockbase.RequestMatcher{
			Methods: []string{"GET"}, Path: "/", Query: []mockbase.NamedMatch{
				{Name: "a", Match: one("2.50")},
				{Name: "b", Match: mockbase.Match{{Equals: json.RawMessage(`"x"`)}, {Contains: text("y")}}},
				{Name: "c", Match: one("null")},
			},
		}},
		{"G16 matchers stay in the expected JSON", `{path: /, body: {json: {id: {$match: {type: integer}}, n: 1.0}}}`, mockbase.RequestMatcher{
			Methods: []string{"GET"}, Path: "/",
			Body: &mockbase.BodyMatch{JSON: json.RawMessage(`{"id":{"$match":{"type":"integer"}},"n":1.0}`)},
		}},
		{"an empty base64 is stated", `{path: /, body: {base64: ""}}`, mockbase.RequestMatcher{
			Methods: []string{"GET"}, Path: "/", Body: &mockbase.BodyMatch{Base64: []byte{}, HasBase64: true},
		}},
		{"conditions nest", `{path: /, not: {anyOf: [{state: A}, {headers: {h: 1}}]}}`, mockbase.RequestMatcher{
			Methods: []string{"GET"}, Path: "/", Not: &mockbase.Condition{AnyOf: []mockbase.Condition{
				{States: []string{"A"}}, {Headers: []mockbase.NamedMatch{{Name: "h", Match: one("1")}}},
			}},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := decodeMock(t, "{scenario: s, response: {}, request: "+c.src+"}")
			if diff := cmp.Diff(c.want, m.Request); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodedResponse(t *testing.T) {
	t.Parallel()
	share := 0.5
	zero := int64(0)
	off := false
	cases := []struct {
		name, src string
		want      mockbase.Response
	}{
		{"O16 json keeps order and number text", `{json: {b: 1.0, a: "<"}}`, mockbase.Response{
			Body: mockbase.Body{Kind: mockbase.BodyJSON, Bytes: []byte(`{"b":1.0,"a":"<"}`)},
		}},
		{"an empty text is a body", `{text: ""}`, mockbase.Response{Body: mockbase.Body{Kind: mockbase.BodyText, Bytes: []byte{}}}},
		{"base64 is decoded", `{base64: "AP8="}`, mockbase.Response{Body: mockbase.Body{Kind: mockbase.BodyBase64, Bytes: []byte{0, 255}}}},
		{"base64 with breaks and without padding", `{base64: "AP\n8"}`, mockbase.Response{
			Body: mockbase.Body{Kind: mockbase.BodyBase64, Bytes: []byte{0, 255}},
		}},
		{"O6, O7, O10 headers as defined", `{headers: {eTAG: x, Set-Cookie: [a, 1, true], Date: null, N: 2.50}}`, mockbase.Response{
			Headers: []mockbase.Header{
				{Name: "eTAG", Values: []string{"x"}},
				{Name: "Set-Cookie", Values: []string{"a", "1", "true"}},
				{Name: "Date", Remove: true},
				{Name: "N", Values: []string{"2.50"}},
			},
		}},
		{"a templated status", `{status: "{{ query.s }}"}`, mockbase.Response{StatusTemplate: "{{ query.s }}"}},
		{"a status in another spelling", `{status: 2.0e2}`, mockbase.Response{Status: 200}},
		{"Q1 a bare number is milliseconds", `{delay: 1.5}`, mockbase.Response{
			Delay: &mockbase.Delay{Kind: mockbase.DelayFixed, Fixed: 1500 * time.Microsecond},
		}},
		{"Q3 no delay is stated", `{delay: 0}`, mockbase.Response{Delay: &mockbase.Delay{Kind: mockbase.DelayFixed}}},
		{"a uniform delay", `{delay: {min: 1s, max: 2s, addDefault: true}}`, mockbase.Response{Delay: &mockbase.Delay{
			Kind: mockbase.DelayUniform, Min: time.Second, Max: 2 * time.Second, HasMax: true, AddDefault: true,
		}}},
		{"a lognormal delay", `{delay: {lognormal: {median: 1s, sigma: 0.4}}}`, mockbase.Response{Delay: &mockbase.Delay{
			Kind: mockbase.DelayLognormal, Median: time.Second, Sigma: 0.4,
		}}},
		{"a templated delay", `{delay: "{{ query.d }}"}`, mockbase.Response{
			Delay: &mockbase.Delay{Kind: mockbase.DelayTemplate, Template: "{{ query.d }}"},
		}},
		{"a fault by its kind", `{fault: reset}`, mockbase.Response{Fault: &mockbase.Fault{Kind: "reset"}}},
		{"a fault in full", `{fault: {kind: reset, afterBytes: 0, probability: 0.5}}`, mockbase.Response{
			Fault: &mockbase.Fault{Kind: "reset", AfterBytes: &zero, Probability: &share},
		}},
		{"stream: true", `{stream: true, template: false}`, mockbase.Response{Stream: &mockbase.Stream{Chunked: true}, Template: &off}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := decodeMock(t, "{request: GET /a, response: "+c.src+"}")
			c.want.Name = "r1"
			if diff := cmp.Diff([]mockbase.Response{c.want}, m.Responses); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResponsesWithoutANameAreCounted(t *testing.T) {
	t.Parallel()
	m := decodeMock(t, `{request: GET /a, select: sequence, responses: [{}, {name: own}, {}]}`)
	var names []string
	for _, r := range m.Responses {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"r1", "own", "r3"}, names); diff != "" {
		t.Error(diff)
	}
	if m.SingleResponse || m.ResponsePointer(2) != "#/responses/2" {
		t.Error("the pointers are those of a single response")
	}
}

func TestM9_a_body_has_a_bound(t *testing.T) {
	t.Parallel()
	src := `{"request":"GET /a","response":{"text":"` + strings.Repeat("a", 10<<20) + `"}}`
	if _, err := mockbase.DecodeMock([]byte(src), mockbase.FormatJSON); err != nil {
		t.Fatal(err)
	}
	_, err := mockbase.DecodeMock([]byte(strings.Replace(src, "aa", "aaa", 1)), mockbase.FormatJSON)
	if want := "validation-failed: /response/text: has 10485761 bytes, at most 10485760 are allowed"; err == nil || err.Error() != want {
		t.Errorf("error is %v", err)
	}
	_, err = mockbase.DecodeMock(make([]byte, 16<<20+1), mockbase.FormatJSON)
	if code := mockbase.ErrorCode(err); code != mockbase.CodeMalformedBody {
		t.Errorf("17 MiB: %v", err)
	}
}

func TestA_document_holds_ten_thousand_mocks_and_no_more(t *testing.T) {
	t.Parallel()
	src := `{"mocks":[` + strings.Repeat(`{"request":"GET /a","response":{}},`, 10_000) + `{}]}`
	_, err := mockbase.DecodeDefinition([]byte(src), mockbase.FormatJSON)
	if want := "validation-failed: /mocks: has 10001 entries, at most 10000 are allowed"; err == nil || err.Error() != want {
		t.Errorf("error is %v", err)
	}
}

func TestA9_a_broken_second_mock_is_named_by_line_and_column(t *testing.T) {
	t.Parallel()
	src := "mocks:\n  - request: GET /a\n    response: {}\n  - request: GET /b\n    response: { status: 99 }\n"
	_, err := mockbase.DecodeDefinition([]byte(src), mockbase.FormatYAML)
	e, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	want := "5:25: #/mocks/1/response/status: must be from 200 to 999, found 99 [range]\n"
	if diff := cmp.Diff(want, string(faultLines(e.Fields))); diff != "" {
		t.Error(diff)
	}
}

// A decoded mock without other texts than name and path lets go of what it was read from, so that many idle mocks keep little.
func TestY4_a_decoded_mock_keeps_its_own_texts_alone(t *testing.T) { //nolint:paralleltest // the heap is measured
	padding := strings.Repeat(" ", 1<<20)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	mocks := make([]*mockbase.Mock, 48)
	for i := range mocks {
		mocks[i] = decodeMock(t, fmt.Sprintf(`{"name":"m%d","request":{"method":"GET","path":"/a/%d"},"response":{"text":"a"}}%s`, i, i, padding))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
		t.Errorf("48 small mocks out of texts of a megabyte keep %d bytes", grown)
	}
	if m := mocks[7]; m.Name != "m7" || m.Request.Path != "/a/7" || m.Request.Methods[0] != "GET" {
		t.Errorf("the mock is %q, %v %q", m.Name, m.Request.Methods, m.Request.Path)
	}
}
