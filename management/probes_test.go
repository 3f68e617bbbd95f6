package management_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

func TestM241_health_is_ok_while_the_process_serves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.send(call{method: http.MethodGet, path: "/healthz"}).want(http.StatusOK); strings.TrimSpace(string(got.body)) != `{"status":"ok"}` {
		t.Errorf("got %s", got.body)
	}
}

func TestM242_readiness_says_what_fails(t *testing.T) {
	t.Parallel()
	now := management.Readiness{Status: management.Ready}
	w := newWorld(t, func(o *management.Options) {
		o.Readiness = func(context.Context) management.Readiness { return now }
	})
	if got := w.send(call{method: http.MethodGet, path: "/readyz"}).want(http.StatusOK).json(); got["status"] != "ready" {
		t.Errorf("got %v", got)
	}
	now = management.Readiness{Status: management.Degraded, Checks: map[string]string{"limiter": "degraded"}}
	if got := w.send(call{method: http.MethodGet, path: "/readyz"}).want(http.StatusOK).json(); got["status"] != "degraded" || got["checks"].(map[string]any)["limiter"] != "degraded" {
		t.Errorf("got %v", got)
	}
	now = management.Readiness{Status: management.NotReady, Checks: map[string]string{"store": "gone"}, Reason: "the store does not answer"}
	got := w.send(call{method: http.MethodGet, path: "/readyz"}).want(http.StatusServiceUnavailable, mockbase.CodeUnavailable)
	if p := got.problem(); p.Checks["store"] != "gone" || p.Detail != "the store does not answer" || got.header.Get("Retry-After") == "" {
		t.Errorf("got %s", got.body)
	}
	now = management.Readiness{Status: management.NotReady}
	w.send(call{method: http.MethodGet, path: "/readyz"}).want(http.StatusServiceUnavailable)
}

// M-243: metrics are read by an administrator of the instance, by everybody, or by nobody.
func TestM243_metrics_are_for_whom_the_options_say(t *testing.T) {
	t.Parallel()
	public := func(o *management.Options) { o.PublicMetrics = true }
	disabled := func(o *management.Options) { o.Metrics, o.PublicMetrics = nil, true }
	for _, test := range []struct {
		name   string
		change func(*management.Options)
		caller string
		bearer string
		status int
		code   mockbase.Code
	}{
		{name: "token, nobody", caller: guest, status: 401, code: mockbase.CodeUnauthenticated},
		{name: "token, rubbish", bearer: "rubbish", status: 401, code: mockbase.CodeUnauthenticated},
		{name: "token, member", caller: member, status: 403, code: mockbase.CodeForbidden},
		{name: "token, owner of a project", caller: owner, status: 403, code: mockbase.CodeForbidden},
		{name: "token, administrator", caller: admin, status: 200},
		{name: "public, nobody", change: public, caller: guest, status: 200},
		{name: "public, member", change: public, caller: member, status: 200},
		{name: "public, rubbish", change: public, bearer: "rubbish", status: 200},
		{name: "disabled, nobody", change: disabled, caller: guest, status: 404, code: mockbase.CodeNotFound},
		{name: "disabled, administrator", change: disabled, caller: admin, status: 404, code: mockbase.CodeNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *management.Options) {
				if test.change != nil {
					test.change(o)
				}
			})
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				got := w.send(call{method: method, path: "/metrics", as: test.caller, bearer: test.bearer})
				if got.status != test.status {
					t.Errorf("%s: status %d, want %d: %s", method, got.status, test.status, got.body)
				}
				if method == http.MethodGet && test.code != "" && got.problem().Code != test.code {
					t.Errorf("code %s, want %s", got.problem().Code, test.code)
				}
			}
		})
	}
}

func TestM243_metrics_are_plain_text(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scraper := "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.2"
	got := w.send(call{method: http.MethodGet, path: "/metrics", as: admin, header: map[string]string{"Accept": scraper}}).want(http.StatusOK)
	if kind := got.header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" || string(got.body) != "up 1\n" {
		t.Errorf("%s: %s", kind, got.body)
	}
	broken := newWorld(t, func(o *management.Options) {
		o.Metrics = func() ([]byte, error) { return nil, errors.New("two of one name") }
	})
	broken.send(call{method: http.MethodGet, path: "/metrics", as: admin}).want(http.StatusInternalServerError, mockbase.CodeInternal)
}

func TestM244_the_binary_names_itself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: http.MethodGet, path: "/version"}).want(http.StatusOK).json()
	if got["name"] != "mockbase" || got["version"] != "1.2.3" || got["commit"] != "abc" || got["builtAt"] != "2026-03-01T00:00:00Z" {
		t.Errorf("got %v", got)
	}
}

func TestM248_the_published_keys_verify_the_tokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := w.send(call{method: http.MethodGet, path: "/.well-known/jwks.json"}).want(http.StatusOK).json()["keys"].([]any)
	if len(keys) != 2 || keys[0].(map[string]any)["kid"] != w.keys.Keys()[0].ID || keys[0].(map[string]any)["d"] != nil {
		t.Errorf("keys %v", keys)
	}
}

func TestM247_the_schema_is_served_for_editors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: http.MethodGet, path: "/schemas/mock/v1.json"}).want(http.StatusOK)
	if got.header.Get("Content-Type") != "application/schema+json" || got.json()["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("%s %s", got.header.Get("Content-Type"), got.body)
	}
	bare := newWorld(t, func(o *management.Options) { o.MockSchema = nil })
	bare.send(call{method: http.MethodGet, path: "/schemas/mock/v1.json"}).want(http.StatusNotFound)
}

// TestM246: the type of every problem resolves without a network.
func TestM246_every_code_has_a_page(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	index := w.send(call{method: http.MethodGet, path: "/docs/problems"}).want(http.StatusOK)
	elsewhere := regexp.MustCompile(`(?i)(src|href)="(https?:)?//|<script|url\(`)
	for _, p := range mockbase.Problems() {
		page := w.send(call{method: http.MethodGet, path: "/docs/problems/" + string(p.Code)}).want(http.StatusOK)
		text := string(page.body)
		if !strings.Contains(text, "<code>"+string(p.Code)+"</code>") || !strings.Contains(string(index.body), `href="problems/`+string(p.Code)+`"`) {
			t.Errorf("page of %s: %s", p.Code, text)
		}
		if elsewhere.MatchString(text) {
			t.Errorf("the page of %s loads something", p.Code)
		}
	}
	policy := index.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	got := w.send(call{method: http.MethodGet, path: "/docs/problems/%3Cscript%3E"}).want(http.StatusNotFound, mockbase.CodeNotFound)
	if strings.Contains(got.header.Get("Content-Type"), "html") {
		t.Error("a missing page is HTML")
	}
}

func TestM249_pages_are_the_web_handlers(t *testing.T) {
	t.Parallel()
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/setup" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; style-src 'self'")
		w.WriteHeader(http.StatusOK)
		w.Write([]byte("page of " + r.URL.Path))
	})
	w := newWorld(t, func(o *management.Options) { o.Web, o.AllowedHosts = pages, []string{"localhost"} })
	for _, path := range []string{"/", "/setup"} {
		got := w.send(call{method: http.MethodGet, path: path}).want(http.StatusOK)
		if string(got.body) != "page of "+path || !strings.Contains(got.header.Get("Content-Security-Policy"), "style-src") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	for _, path := range []string{"/nope", "/api", "/api/v2/projects", "/docs/nope", "/m", "/m/shop", "/healthz/x", "/metrics/x", "/.well-known/nope", "/version/x", "/schemas"} {
		w.send(call{method: http.MethodGet, path: path}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
	if got := w.send(call{method: http.MethodPost, path: "/"}).want(http.StatusMethodNotAllowed); got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow is %q", got.header.Get("Allow"))
	}
	w.send(call{method: http.MethodPost, path: "/setup"}).want(http.StatusNotFound)
	w.send(call{method: http.MethodGet, path: "/", host: "evil.test"}).want(http.StatusForbidden, mockbase.CodeHostRefused)
	w.send(call{method: http.MethodGet, path: "/", header: map[string]string{"Origin": "http://evil.test"}}).want(http.StatusForbidden, mockbase.CodeOriginRefused)
	bare := newWorld(t)
	bare.send(call{method: http.MethodGet, path: "/"}).want(http.StatusNotFound)
}

func TestOptions_without_what_is_needed_are_refused(t *testing.T) {
	t.Parallel()
	if _, err := management.New(management.Options{}); err == nil {
		t.Error("made of nothing")
	}
	w := newWorld(t)
	for _, o := range []management.Options{
		{Catalog: w.catalog, Accounts: w.people, Keys: w.keys, PublicURL: "mocks.test"},
		{Catalog: w.catalog, Accounts: w.people, Keys: w.keys, Origins: []string{"ftp://mocks.test"}},
	} {
		if _, err := management.New(o); err == nil {
			t.Errorf("accepted %q %q", o.PublicURL, o.Origins)
		}
	}
}
