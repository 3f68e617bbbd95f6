package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine"
)

// A request that the conditions of mocks take too long to test is refused, whatever would answer it otherwise, and neither
// counted nor matched.
func TestARequestThatTakesTooMuchWorkIsRefused(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", 2<<20)
	for _, c := range []struct {
		name, mocks, body string
		want              int
	}{
		{"a condition", "- { request: { method: POST, path: /a, body: { text: { search: b } } }, response: {} }", large, 413},
		{"a catch-all behind it", "- { request: { method: POST, path: /a }, response: {} }\n- { request: { method: POST, path: /a, body: { text: { search: b } } }, response: {} }", large, 413},
		{"a small body", "- { request: { method: POST, path: /a, body: { text: { search: a } } }, response: { status: 299 } }", "a", 299},
		{"no condition on the body", "- { request: { method: POST, path: /a }, response: { status: 299 } }", large, 299},
		{"in a step", "- { times: 1, request: { method: POST, path: /a }, responses: [{ when: { call: 1, body: { text: { search: b } } }, status: 200 }] }", large, 413},
	} {
		e := newEngine(t, engine.Options{MatchTime: -1})
		publishDefinition(t, e, "mocks:\n"+c.mocks)
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/m/shop/a", strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, w.Code, c.want, w.Body)
		}
		if c.want == 413 && (!strings.Contains(w.Body.String(), "processor time") || w.Header().Get("Mockbase-Mock") != "none") {
			t.Errorf("%s: %s %v", c.name, w.Body, w.Header())
		}
	}
}

// What a step asks of a large body was found out before it, and comes to the same.
func TestLargeBodiesAreTestedBeforeTheStep(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, `
scenarios: { s: {} }
mocks:
- scenario: s
  request: { method: POST, path: /a, body: { text: { contains: x } } }
  responses:
    - { when: { call: { lte: 1 }, not: { body: { text: { contains: y } } } }, status: 291, setState: b }
    - { when: { anyOf: [{ call: 7 }, { allOf: [{ body: { text: { endsWith: z } } }] }] }, status: 292 }
- { request: { method: POST, path: /a }, priority: -1, response: { status: 293 } }
`)
	filler := strings.Repeat("a", 100<<10)
	for i, c := range []struct {
		body string
		want int
	}{{filler + "x", 291}, {filler + "x", 293}, {filler + "xyz", 292}, {filler, 293}, {"xz", 292}} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/m/shop/a", strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("request %d: %d, want %d", i, w.Code, c.want)
		}
	}
}
