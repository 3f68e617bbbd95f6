package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// redacted records one request by a project's own settings.
func redacted(t *testing.T, target string, change func(*mockbase.Project)) (*mockbase.Exchange, string) {
	t.Helper()
	return redactedBy(t, engine.Options{}, target, change)
}

// redactedBy is redacted by an engine with these options.
func redactedBy(t *testing.T, o engine.Options, target string, change func(*mockbase.Project)) (*mockbase.Exchange, string) { //nolint:gocritic // it is made once
	t.Helper()
	var recorded recorder
	o.Journal = &recorded
	e := newEngine(t, o)
	d, err := mockbase.DecodeDefinition([]byte(`
mocks:
  - name: a
    request: { method: GET, path: /a, headers: { X-Own: right }, query: { token: right } }
    response: { text: a, headers: { X-Out: s3cret } }
  - name: b
    request: { method: GET, path: /b }
    rateLimit: { limit: 9, window: 1m, key: "header:X-Own" }
    response: { text: b, headers: { X-Out: s3cret } }
`), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Mocks {
		m.ID, m.Version = "mck_"+m.Name, 1
	}
	p := &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}
	change(p)
	if err := e.Publish(&mockbase.Snapshot{Project: p, Mocks: d.Mocks}); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	r.Header.Set("X-Own", "s3cret")
	r.Header.Set("Authorization", "Bearer s3cret")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return recorded.last(t, 1), w.Body.String()
}

func TestM81_headers_of_the_project_are_masked_before_they_are_kept(t *testing.T) {
	t.Parallel()
	x, _ := redacted(t, "/m/shop/b?token=s3cret&b=2", func(p *mockbase.Project) { p.RedactHeaders = []string{"x-own", "x-out"} })
	if x.Request.Header.Get("X-Own") != "***" || x.Response.Header.Get("X-Out") != "***" || x.Request.Header.Get("Authorization") != "Bearer ***" || !x.Redacted {
		t.Errorf("recorded %+v", x)
	}
	if x.Request.Target != "/m/shop/b?token=***&b=2" || x.Request.RawQuery != "token=***&b=2" {
		t.Errorf("target %s, query %s", x.Request.Target, x.Request.RawQuery)
	}
	if key := x.Limits[0].Key; !strings.HasPrefix(key, "hmac:") {
		t.Errorf("key %s", key)
	}
}

func TestM81_a_miss_shows_no_header_that_the_project_hides(t *testing.T) {
	t.Parallel()
	x, answer := redacted(t, "/m/shop/a?token=s3cret", func(p *mockbase.Project) { p.RedactHeaders = []string{"x-own"} })
	if x.AnsweredBy != mockbase.AnsweredByUnmatched || len(x.NearMisses) == 0 {
		t.Fatalf("answered by %s", x.AnsweredBy)
	}
	if strings.Contains(answer, "s3cret") || strings.Contains(answer, "right") || !strings.Contains(answer, "***") {
		t.Errorf("answer %s", answer)
	}
	for _, part := range x.NearMisses[0].Failed {
		if part.Actual != "***" {
			t.Errorf("near miss %+v", part)
		}
	}
}

func TestM81_raw_keeps_what_was_sent(t *testing.T) {
	t.Parallel()
	x, _ := redacted(t, "/m/shop/b?token=s3cret", func(p *mockbase.Project) { p.RawTraffic, p.RedactHeaders = true, []string{"x-own"} })
	if x.Request.Header.Get("Authorization") != "Bearer s3cret" || x.Request.Header.Get("X-Own") != "s3cret" || x.Request.RawQuery != "token=s3cret" || x.Redacted {
		t.Errorf("recorded %+v", x.Request)
	}
}

func TestAA31_a_masked_parameter_is_said_to_be_so(t *testing.T) {
	t.Parallel()
	x := newExplained(t, "mocks: [{ name: a, request: { method: GET, path: /a, query: { token: s3cret } }, response: { text: a } }]")
	_, hit := x.call(http.MethodGet, "/a?token=s3cret")
	told := x.of(hit)
	last := told.Current.Candidates[0].Checks[2]
	if !told.Candidates[0].Matched || last.OK || !strings.Contains(last.Hint, "masked") {
		t.Errorf("then %+v, now %+v", told.Candidates[0], last)
	}
}

// M-81: the digest that stands for a secret in a key of a limit depends on the installation, and is the same each time.
func TestM81_keys_of_limits_are_keyed_digests(t *testing.T) {
	t.Parallel()
	key := func(secret string) string {
		x, _ := redactedBy(t, engine.Options{KeySecret: []byte(secret)}, "/m/shop/b", func(p *mockbase.Project) { p.RedactHeaders = []string{"x-own"} })
		return x.Limits[0].Key
	}
	if one, again, other := key("first installation"), key("first installation"), key("second installation"); one != again || one == other || !strings.HasPrefix(one, "hmac:") {
		t.Errorf("one is %s, the same again %s, another %s", one, again, other)
	}
}
