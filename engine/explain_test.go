package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// explained is an engine with a project whose requests can be explained and made.
type explained struct {
	*testing.T
	engine   *engine.Engine
	recorded recorder
}

func newExplained(t *testing.T, definition string) *explained {
	t.Helper()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded})
	publishDefinition(t, x.engine, definition)
	return x
}

func (x *explained) ask(q mockbase.Question) *mockbase.Explanation {
	x.Helper()
	q.ProjectID = "prj_shop"
	told, err := x.engine.Explain(x.Context(), &q)
	if err != nil {
		x.Fatal(err)
	}
	return told
}

func (x *explained) get(target string) *mockbase.Explanation {
	x.Helper()
	return x.ask(mockbase.Question{Request: mockbase.SampleRequest{Target: target}})
}

// call makes a request and returns the answer and the exchange.
func (x *explained) call(method, target string, header ...string) (*httptest.ResponseRecorder, *mockbase.Exchange) {
	x.Helper()
	r := httptest.NewRequestWithContext(x.Context(), method, "/m/shop"+target, http.NoBody)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	x.engine.ServeHTTP(w, r)
	all := x.recorded.all()
	return w, all[len(all)-1]
}

func (x *explained) of(exchange *mockbase.Exchange) *mockbase.Explanation {
	x.Helper()
	told, err := x.engine.ExplainExchange(x.Context(), exchange, mockbase.SeesAll)
	if err != nil {
		x.Fatal(err)
	}
	return told
}

const manyStates = `
settings: { seed: "7" }
collections: { items: { path: /items, seed: [{ id: 1, name: a }] } }
mocks:
  - { name: turn, request: GET /turn, select: sequence, responses: [{ text: one }, { text: two }] }
  - { name: drawn, request: GET /drawn, select: weighted, responses: [{ text: a, weight: 1 }, { text: b, weight: 1 }] }
  - { name: exact, request: GET /exact, select: weighted, draw: exact, responses: [{ text: a, weight: 2 }, { text: b, weight: 1 }] }
  - { name: few, request: GET /few, times: 1, response: { text: once } }
  - { name: open, request: GET /door, scenario: door, state: Started, response: { text: open, setState: shut } }
  - { name: shut, request: GET /door, scenario: door, state: shut, response: { text: shut, setState: Started } }
  - { name: random, request: "GET /random", response: { template: true, text: "{{ uuid }} {{ call }}", delay: 1m } }
`

// TestAA29_explaining_consumes_nothing explains a hundred times, and then calls: the answer is the one that the first
// explanation told.
func TestAA29_explaining_consumes_nothing(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/turn", "/drawn", "/exact", "/few", "/door", "/items/1", "/none"} {
		x := newExplained(t, manyStates)
		for range 3 {
			first := x.get(target)
			for range 100 {
				x.get(target)
			}
			w, exchange := x.call(http.MethodGet, target)
			if first.Outcome != exchange.AnsweredBy || first.Mock != exchange.Mock || first.Response.Name != exchange.Response.Name ||
				first.Response.Call != exchange.Call || first.Response.Status != w.Code {
				t.Errorf("%s: foretold %+v %+v, and it was %+v", target, first, first.Response, exchange)
			}
			if first.Outcome == mockbase.AnsweredByMock && string(first.Response.Body) != w.Body.String() {
				t.Errorf("%s: foretold %q, and it was %q", target, first.Response.Body, w.Body)
			}
		}
		if n := len(x.recorded.all()); n != 3 {
			t.Errorf("%s: %d exchanges of 3 calls", target, n)
		}
		sessions, err := x.engine.Sessions("prj_shop")
		if err != nil || len(sessions) != 1 || sessions[0].Counts.Calls != 3 {
			t.Errorf("%s: sessions %+v, %v", target, sessions, err)
		}
	}
}

func TestAA29_no_time_passes_and_templates_are_rendered_as_they_will_be(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	told := x.get("/random")
	if told.Response.Delay != time.Minute || !told.Response.Rendered {
		t.Errorf("response %+v", told.Response)
	}
	if diff := cmp.Diff(told.Response.Body, x.get("/random").Response.Body); diff != "" || !strings.HasSuffix(string(told.Response.Body), " 1") {
		t.Errorf("rendered %q: %s", told.Response.Body, diff)
	}
}

func TestAA29_writes_of_collections_are_not_tried(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	told := x.ask(mockbase.Question{Request: mockbase.SampleRequest{Method: http.MethodDelete, Target: "/items/1"}})
	if told.Outcome != mockbase.AnsweredByCollection || told.Response.Rendered || told.Response.Kind != "collection" {
		t.Errorf("told %+v %+v", told, told.Response)
	}
	if w, _ := x.call(http.MethodGet, "/items/1"); w.Code != http.StatusOK {
		t.Errorf("status %d: the item is gone", w.Code)
	}
}

func TestAA29_a_session_that_would_be_new_stays_unborn(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	x.call(http.MethodGet, "/turn")
	told := x.ask(mockbase.Question{Session: "ci", Request: mockbase.SampleRequest{Target: "/turn"}})
	if told.Response.Name != "r1" {
		t.Errorf("response %q in a new session", told.Response.Name)
	}
	if told := x.get("/turn"); told.Response.Name != "r2" {
		t.Errorf("response %q in the default session", told.Response.Name)
	}
	if sessions, err := x.engine.Sessions("prj_shop"); err != nil || len(sessions) != 1 {
		t.Errorf("sessions %v, %v", sessions, err)
	}
	_, err := x.engine.Explain(t.Context(), &mockbase.Question{
		ProjectID: "prj_shop", Session: "a", Request: mockbase.SampleRequest{Target: "/~b/turn"},
	})
	if mockbase.ErrorCode(err) != mockbase.CodeValidationFailed {
		t.Errorf("two sessions: %v", err)
	}
}

func TestM64_AA28_candidates_come_best_first_with_each_check(t *testing.T) {
	t.Parallel()
	x := newExplained(t, `
mocks:
  - { name: plain, request: "GET /users/{id}", response: { text: plain } }
  - { name: guarded, request: { method: GET, path: "/users/{id}", headers: { X-Team: red } }, response: { text: guarded } }
  - { name: other, request: POST /orders, response: { text: other } }
`)
	told := x.ask(mockbase.Question{Request: mockbase.SampleRequest{Target: "/users/7", Headers: [][2]string{{"x-team", "red"}}}})
	if told.Mock.Name != "guarded" || told.DecidedBy != mockbase.DecidedByGuards || told.Outcome != mockbase.AnsweredByMock {
		t.Errorf("told %+v", told)
	}
	want := mockbase.Candidate{Mock: told.Mock, Matched: true, Score: 3, Of: 3, Checks: []mockbase.Check{
		{Part: "method", Operator: "equals", Expected: "GET", Actual: "GET", OK: true},
		{Part: "path", Operator: "equals", Expected: "/users/{id}", Actual: "/users/7", OK: true},
		{Part: "headers", Name: "X-Team", Operator: "equals", Expected: "red", Actual: "red", OK: true},
	}}
	if diff := cmp.Diff(want, told.Candidates[0]); diff != "" {
		t.Errorf("winner (-want +got):\n%s", diff)
	}
	if len(told.Candidates) != 3 || told.Candidates[1].Mock.Name != "plain" || !told.Candidates[1].Matched || told.Candidates[2].Matched {
		t.Errorf("candidates %+v", told.Candidates)
	}
	told = x.get("/users/7/")
	if told.Outcome != mockbase.AnsweredByUnmatched || len(told.Hints) == 0 || told.Response.Status != http.StatusNotFound {
		t.Errorf("told %+v", told)
	}
	if k := told.Candidates[0].Checks[1]; k.OK || !strings.Contains(k.Hint, "trailing slash") {
		t.Errorf("check %+v", k)
	}
}

func TestAA28_the_step_that_decided_is_named(t *testing.T) {
	t.Parallel()
	for want, mocks := range map[string]string{
		mockbase.DecidedByPriority:    "[{ request: GET /a, priority: 1, response: {text: a} }, { request: GET /a, response: {text: a} }]",
		mockbase.DecidedBySpecificity: "[{ request: GET /a, response: {text: a} }, { request: 'GET /{x}', response: {text: a} }]",
		mockbase.DecidedByMethod:      "[{ request: GET /a, response: {text: a} }, { request: ANY /a, response: {text: a} }]",
		mockbase.DecidedByNewest:      "[{ name: x, request: GET /a, response: {text: a} }, { name: y, request: GET /a, response: {text: a} }]",
		"":                            "[{ request: GET /a, response: {text: a} }, { request: GET /b, response: {text: a} }]",
	} {
		if got := newExplained(t, "mocks: "+mocks).get("/a").DecidedBy; got != want {
			t.Errorf("decided by %q, want %q", got, want)
		}
	}
}

func TestAA28_secrets_are_masked(t *testing.T) {
	t.Parallel()
	x := newExplained(t, "mocks: [{ request: { method: GET, path: /a, auth: { bearer: { equals: s3cret } } }, response: { text: a } }]")
	told := x.ask(mockbase.Question{Request: mockbase.SampleRequest{Target: "/a", Headers: [][2]string{{"Authorization", "Bearer wr0ng"}}}})
	if text := fmt.Sprintf("%+v %+v", told, told.Candidates); strings.Contains(text, "s3cret") || strings.Contains(text, "wr0ng") {
		t.Errorf("told %s", text)
	}
}

func TestM150_an_unsaved_document_is_tried_in_the_place_of_its_mock(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	draft, err := mockbase.DecodeMock([]byte(`{"name":"turn","request":"GET /new","response":{"text":"draft"}}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	told := x.ask(mockbase.Question{Mock: "mck_0", Document: draft, Request: mockbase.SampleRequest{Target: "/new"}})
	if told.Mock.Name != "turn" || string(told.Response.Body) != "draft" {
		t.Errorf("told %+v", told)
	}
	if told := x.get("/new"); told.Outcome != mockbase.AnsweredByUnmatched {
		t.Errorf("the document was saved: %+v", told)
	}
	if told := x.get("/turn"); told.Response.Name != "r1" {
		t.Errorf("response %q", told.Response.Name)
	}
	_, err = x.engine.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_shop", Mock: "mck_none", Request: mockbase.SampleRequest{Target: "/"}})
	if mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		t.Errorf("an unknown mock: %v", err)
	}
}

func TestM150_the_mock_is_compared_however_far_it_is(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, manyMocks(1000))
	told, err := e.Explain(t.Context(), &mockbase.Question{
		ProjectID: "prj_1", Mock: "mck_999", Request: mockbase.SampleRequest{Target: "/api/v1/resource-3"},
	})
	if err != nil || len(told.Candidates) != 10 || told.Candidates[0].Mock.ID != "mck_6" || told.Candidates[9].Mock.ID != "mck_999" {
		t.Errorf("told %+v, %v", told, err)
	}
}

func TestM82_a_request_that_cannot_be_sent_is_refused(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	for pointer, sample := range map[string]mockbase.SampleRequest{
		"#/request/method":    {Method: "G T", Target: "/"},
		"#/request/target":    {Target: "/%zz"},
		"#/request/headers/1": {Target: "/", Headers: [][2]string{{"A", "b"}, {"A b", "c"}}},
	} {
		_, err := x.engine.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_shop", Request: sample})
		known, ok := errors.AsType[*mockbase.Error](err)
		if !ok || len(known.Fields) != 1 || known.Fields[0].Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	if _, err := x.engine.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_none"}); mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		t.Errorf("an unknown project: %v", err)
	}
}

func TestAA31_an_exchange_is_explained_by_the_mocks_of_its_time(t *testing.T) {
	t.Parallel()
	x := newExplained(t, "mocks: [{ name: a, request: { method: GET, path: /a, query: { q: '1' } }, response: { text: then } }]")
	_, hit := x.call(http.MethodGet, "/a?q=1")
	_, miss := x.call(http.MethodGet, "/a?q=2")
	changed, err := mockbase.DecodeMock([]byte(`{"name":"a","request":{"method":"GET","path":"/a","query":{"q":"2"}},"response":{"text":"now"}}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	changed.ID, changed.Version = "mck_0", 2
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Revision: 2}, Mocks: []*mockbase.Mock{changed}}
	if err := x.engine.Publish(s); err != nil {
		t.Fatal(err)
	}
	told := x.of(hit)
	if told.Outcome != mockbase.AnsweredByMock || told.Mock.Version != 1 || !told.Candidates[0].Matched || told.Candidates[0].Checks[2].Expected != "1" {
		t.Errorf("then %+v", told)
	}
	if string(told.Response.Body) != "then" || told.Current.Outcome != mockbase.AnsweredByUnmatched || told.Current.Candidates[0].Checks[2].Expected != "2" {
		t.Errorf("now %+v", told.Current)
	}
	if diff := cmp.Diff([]mockbase.Difference{
		{What: "outcome", From: "mock", To: "unmatched"}, {What: "mock", From: "a"}, {What: "response", From: "r1"},
	}, told.Changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	told = x.of(miss)
	if told.Outcome != mockbase.AnsweredByUnmatched || told.Candidates[0].Matched || told.Current.Mock.Version != 2 || string(told.Current.Response.Body) != "now" {
		t.Errorf("the miss: %+v, now %+v", told, told.Current)
	}
	x.engine.Withdraw("prj_shop")
	if _, err := x.engine.ExplainExchange(t.Context(), hit, mockbase.SeesAll); mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		t.Errorf("a project that is gone: %v", err)
	}
}

func TestAA31_the_state_of_then_explains_and_what_moved_is_listed(t *testing.T) {
	t.Parallel()
	x := newExplained(t, manyStates)
	_, first := x.call(http.MethodGet, "/door")
	told := x.of(first)
	if told.Mock.Name != "open" || told.Current.Mock.Name != "shut" || told.Candidates[0].Mock.Name != "open" || !told.Candidates[0].Matched {
		t.Errorf("then %+v, now %+v", told, told.Current)
	}
	state := mockbase.Difference{What: "state", From: "Started", To: "shut"}
	if len(told.Changed) == 0 || !strings.Contains(fmt.Sprint(told.Changed), fmt.Sprint(state)) {
		t.Errorf("changed %+v", told.Changed)
	}
	x.call(http.MethodGet, "/few")
	_, spent := x.call(http.MethodGet, "/few")
	x.engine.Reset("prj_shop", "", []mockbase.ResetLevel{mockbase.ResetAll})
	told = x.of(spent)
	if told.Outcome != mockbase.AnsweredByUnmatched || told.Candidates[0].Matched || told.Current.Mock.Name != "few" {
		t.Errorf("then %+v, now %+v", told.Candidates[0], told.Current)
	}
}

func TestAA31_what_was_masked_is_said_to_be_so(t *testing.T) {
	t.Parallel()
	x := newExplained(t, "mocks: [{ name: a, request: { method: GET, path: /a, auth: { bearer: { equals: s3cret } } }, response: { text: a } }]")
	_, hit := x.call(http.MethodGet, "/a", "Authorization: Bearer s3cret")
	told := x.of(hit)
	if !told.Candidates[0].Matched || told.Candidates[0].Score != told.Candidates[0].Of {
		t.Errorf("then %+v", told.Candidates)
	}
	last := told.Current.Candidates[0].Checks[2]
	if last.OK || !strings.Contains(last.Hint, "masked") {
		t.Errorf("now %+v", last)
	}
}

// TestAA31_the_past_is_bounded changes a project more often than is remembered: old exchanges are explained by what was
// recorded with them.
func TestAA31_the_past_is_bounded(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded})
	var oldest *mockbase.Exchange
	for revision := range int64(80) {
		mocks := manyMocks(2)
		mocks[0].Request.Path = fmt.Sprintf("/at-%d", revision)
		publish(t, x.engine, revision+1, mocks)
		_, exchange := x.call(http.MethodGet, fmt.Sprintf("/at-%d", revision))
		if oldest == nil {
			oldest = exchange
		}
	}
	told := x.of(oldest)
	if told.Mock.Name != "mock-0" || len(told.Candidates) != 1 || !strings.Contains(strings.Join(told.Hints, " "), "no longer kept") {
		t.Errorf("the oldest: %+v", told)
	}
	told = x.of(x.recorded.all()[70])
	if !told.Candidates[0].Matched || told.Candidates[0].Checks[1].Expected != "/at-70" {
		t.Errorf("a later one: %+v", told)
	}
}

func TestAA31_refusals_and_preflights_are_told_as_they_were(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded, Shield: &countingShield{}})
	publishDefinition(t, x.engine, manyStates)
	_, refused := x.call(http.MethodGet, "/turn")
	told := x.of(refused)
	if told.Outcome != mockbase.AnsweredByShield || len(told.Candidates) != 0 || len(told.Limits) != 1 || told.Current.Mock.Name != "turn" {
		t.Errorf("told %+v", told)
	}
	_, early := x.call(http.MethodOptions, "/turn", "Origin: http://a.test", "Access-Control-Request-Method: GET")
	if told := x.of(early); told.Outcome != mockbase.AnsweredByPreflight || told.Current.Outcome != mockbase.AnsweredByPreflight {
		t.Errorf("told %+v", told)
	}
}

// What it costs is a matter of BenchmarkExplain; here it ends, and shows no more than ten of 10,000 mocks.
func TestM6_an_explanation_of_a_miss_is_bounded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, manyMocks(10_000))
	told, err := e.Explain(t.Context(), missAmongMany())
	if err != nil || told.Outcome != mockbase.AnsweredByUnmatched || len(told.Candidates) != 10 {
		t.Fatalf("told %+v, %v", told, err)
	}
}

func BenchmarkExplain(b *testing.B) {
	e := newEngine(b, engine.Options{})
	publish(b, e, 1, manyMocks(10_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Explain(b.Context(), missAmongMany()); err != nil {
			b.Fatal(err)
		}
	}
}

func missAmongMany() *mockbase.Question {
	return &mockbase.Question{ProjectID: "prj_1", Request: mockbase.SampleRequest{Target: "/m/shop/api/v1/resource17"}}
}
