package engine_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

const limitedInSeveralWays = `
collections: { items: { path: /items, seed: [{ id: 1, name: a }] } }
mocks:
  - { name: one, request: GET /one, response: { text: ok }, rateLimit: { limit: 1, window: 1h } }
  - { name: own, request: GET /own, response: { text: ok }, rateLimit: { limit: 1, window: 1h, onExceed: { response: { status: 503, template: true, text: "wait {{ limit.retryAfter }}" } } } }
  - { name: gone, request: GET /gone, response: { text: ok }, rateLimit: { limit: 1, window: 1h, onExceed: { action: drop } } }
  - { name: odd, request: GET /odd, response: { text: ok }, rateLimit: { limit: 5, window: 1h, cost: "{{ query.n }}" } }
`

// Rule AA28: both calls, the one that is admitted and the one that is not, get the answer that was told.
func TestAA30_answers_of_limited_mocks_are_foretold_with_their_headers(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/one", "/own"} {
		x := newExplained(t, limitedInSeveralWays)
		for n := range 2 {
			told := x.get(target)
			answer, exchange := x.call(http.MethodGet, target)
			r := told.Response
			if told.Outcome != exchange.AnsweredBy || !r.Rendered || r.Status != answer.Code || string(r.Body) != answer.Body.String() {
				t.Errorf("call %d of %s: told %s, %+v; got %d %s", n, target, told.Outcome, r, answer.Code, answer.Body)
			}
			for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "Retry-After", "Content-Type", "Mockbase-Limited-By"} {
				if diff := cmp.Diff(fieldOf(answer.Header(), name), fieldOf(r.Header, name)); diff != "" {
					t.Errorf("call %d of %s, %s: %s", n, target, name, diff)
				}
			}
			if n == 0 && fieldOf(r.Header, "X-Ratelimit-Remaining") != "0" {
				t.Errorf("the first call of %s is told with %v", target, r.Header)
			}
		}
	}
}

func fieldOf(h http.Header, name string) string {
	for own, lines := range h {
		if strings.EqualFold(own, name) {
			return strings.Join(lines, ", ")
		}
	}
	return ""
}

func TestAA28_a_dropped_request_is_told_to_be_dropped(t *testing.T) {
	t.Parallel()
	x := newExplained(t, limitedInSeveralWays)
	x.call(http.MethodGet, "/gone")
	told := x.get("/gone")
	if told.Outcome != mockbase.AnsweredBySimulatedLimit || told.Response.Rendered || told.Response.Status != 0 || told.Response.Error != "" ||
		!strings.Contains(strings.Join(told.Hints, "\n"), "closes the connection without an answer") {
		t.Errorf("%+v, %+v", told, told.Response)
	}
}

func TestAA28_a_write_of_a_collection_tells_what_is_not_tried(t *testing.T) {
	t.Parallel()
	x := newExplained(t, limitedInSeveralWays)
	told := x.ask(mockbase.Question{Request: mockbase.SampleRequest{Method: http.MethodPost, Target: "/items", Body: []byte(`{"name":"b"}`)}})
	if r := told.Response; r.Kind != "collection" || r.Rendered || !strings.Contains(strings.Join(told.Hints, "\n"), "a write to a collection is not tried") {
		t.Errorf("%+v, %+v", told, r)
	}
}

func TestAA30_a_cost_that_is_none_is_foretold(t *testing.T) {
	t.Parallel()
	x := newExplained(t, limitedInSeveralWays)
	told := x.get("/odd?n=-1")
	answer, _ := x.call(http.MethodGet, "/odd?n=-1")
	if r := told.Response; answer.Code != http.StatusInternalServerError || r.Status != answer.Code || r.Error == "" || len(r.Body) == 0 {
		t.Errorf("told %+v, got %d", r, answer.Code)
	}
}
