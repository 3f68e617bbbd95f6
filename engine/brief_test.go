package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine"
)

// briefly asks why a request is answered as it is.
func briefly(t *testing.T, e *engine.Engine, target string, header map[string]string) http.Header {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://mocks.test/m/shop"+target, http.NoBody)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, r)
	return answer.Result().Header
}

func TestAA27_who_has_a_token_is_told_why(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{Explains: func(r *http.Request, projectID string) bool {
		return r.Header.Get("Mockbase-Token") == "good" && projectID != ""
	}})
	publishDefinition(t, e, `
settings: { seed: 42 }
mocks:
  - { name: pay, request: GET /pay, responses: [{ name: r1, text: ok }, { name: r2, when: { query: { x: y } }, status: 503 }] }
  - { name: few, request: GET /few, rateLimit: 1/1h, response: { text: ok } }
`)
	asking := func(more ...string) map[string]string {
		header := map[string]string{"Mockbase-Explain": "true", "Mockbase-Token": "good"}
		for i := 0; i < len(more); i += 2 {
			header[more[i]] = more[i+1]
		}
		return header
	}
	for _, c := range []struct {
		name, target string
		header       map[string]string
		want         string
	}{
		{"a mock", "/pay", asking(), `mock="pay"; reason="matched"; response="r1"; call=1; seed="42"`},
		{"a preference", "/pay", asking("Mockbase-Prefer", "code=503, seed=7"), `mock="pay"; reason="preferred"; response="r2"; call=2; seed="7"`},
		{"a limit", "/few", asking(), `mock="few"; reason="matched"; response="r1"; call=1; seed="42"; limit="few"; remaining=0`},
		{"a refusal", "/few", asking(), `mock="few"; reason="simulated-limit"; seed="42"; limit="few"; remaining=0`},
		{"nothing", "/none", asking(), `reason="unmatched"; seed="42"`},
		{"no token", "/pay", map[string]string{"Mockbase-Explain": "true"}, ""},
		{"a wrong token", "/pay", asking("Mockbase-Token", "bad"), ""},
		{"another word", "/pay", asking("Mockbase-Explain", "yes"), ""},
		{"not asked", "/pay", map[string]string{"Mockbase-Token": "good"}, ""},
	} {
		if got := briefly(t, e, c.target, c.header).Get("Mockbase-Explanation"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := briefly(t, e, "/pay", asking("Mockbase-Prefer", "example=secret")).Get("Mockbase-Explanation"); !strings.Contains(got, `reason="error"`) || strings.Contains(got, "secret") {
		t.Errorf("a failure: %s", got)
	}
	// Browsers of other origins may read it.
	if h := briefly(t, e, "/pay", asking("Origin", "http://app.test")); !strings.Contains(strings.Join(h["Access-Control-Expose-Headers"], ","), "Mockbase-Explanation") {
		t.Errorf("header %v", h)
	}
}

func TestAA27_an_explanation_is_short_and_can_be_switched_off(t *testing.T) {
	t.Parallel()
	all := func(*http.Request, string) bool { return true }
	e := newEngine(t, engine.Options{Explains: all})
	publishDefinition(t, e, `
settings: { controlHeaders: false }
mocks: [{ request: GET /a, response: { text: ok } }]
`)
	if got := briefly(t, e, "/a", map[string]string{"Mockbase-Explain": "true"}).Get("Mockbase-Explanation"); got != "" {
		t.Errorf("switched off: %s", got)
	}
	e = newEngine(t, engine.Options{Explains: all})
	publishDefinition(t, e, "mocks: [{ request: GET /a, response: { text: ok } }]")
	long := briefly(t, e, "/a", map[string]string{"Mockbase-Explain": "true", "Mockbase-Prefer": "seed=" + strings.Repeat("\xc3\xa9", 120)}).Get("Mockbase-Explanation")
	if len(long) == 0 || len(long) > 1024 || strings.ContainsFunc(long, func(c rune) bool { return c < ' ' || c > '~' }) {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
