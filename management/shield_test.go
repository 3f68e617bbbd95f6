package management_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// shield is a real guard of one policy over a store in memory.
func shield(t *testing.T, name string, limit int64, clock func() time.Time) func(http.Handler) http.Handler {
	t.Helper()
	store, err := memstore.New(memstore.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Name: name, Store: store, OnFailure: ratelimit.FailOpen, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := httplimit.New(httplimit.Options{
		Limiter: limiter, Policies: []ratelimit.Policy{{Name: name, Limit: limit, Window: time.Minute}}, HeadersOn: httplimit.OnAlways, Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { guard.Close() })
	return guard.Middleware
}

func shielded(t *testing.T, all, logins int64) *world {
	t.Helper()
	return newWorld(t, func(o *management.Options) {
		o.Shield, o.LoginShield = shield(t, "management", all, o.Clock), shield(t, "login", logins, o.Clock)
	})
}

func TestM16_every_answer_below_the_API_says_what_is_left(t *testing.T) {
	t.Parallel()
	w := shielded(t, 60, 60)
	left := 60
	for _, c := range []call{
		{method: http.MethodGet, path: "/api/v1/auth/status"},
		{method: http.MethodGet, path: "/api/v1/nope"},
		{method: http.MethodOptions, path: "/api/v1/projects"},
		{method: http.MethodGet, path: "/api/v1/auth/me"},
		{method: http.MethodGet, path: "/api/v1/projects/other", as: owner},
		{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`},
		{method: http.MethodPost, path: "/api/v1/auth/login", body: `{`},
		{method: http.MethodHead, path: "/api/v1/projects", as: owner},
		{method: http.MethodPost, path: mocksPath, as: viewer, body: `{}`},
	} {
		left--
		got := w.send(c)
		if got.header.Get("RateLimit-Policy") != `"management";q=60;w=60` || !strings.HasPrefix(got.header.Get("RateLimit"), `"management";r=`+itoa(left)+`;t=`) {
			t.Errorf("%s %s: %q %q, want r=%d", c.method, c.path, got.header.Get("RateLimit-Policy"), got.header.Get("RateLimit"), left)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/version", "/api/openapi.json", "/docs/problems", "/.well-known/jwks.json", "/nope", "/"} {
		if got := w.send(call{method: http.MethodGet, path: path}); got.header.Get("RateLimit") != "" {
			t.Errorf("%s is counted", path)
		}
	}
}

func itoa(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

func TestRL114_a_refusal_is_a_problem_of_this_plane_too(t *testing.T) {
	t.Parallel()
	w := shielded(t, 2, 60)
	for range 2 {
		w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK)
	}
	got := w.send(call{method: http.MethodGet, path: "/api/v1/auth/status", header: map[string]string{"X-Request-Id": "mine"}}).want(http.StatusTooManyRequests, mockbase.CodeRateLimited)
	p := got.problem()
	if p.Type != "https://iana.org/assignments/http-problem-types#quota-exceeded" || p.RequestID != "mine" || len(p.Violated) != 1 || p.Violated[0] != "management" {
		t.Errorf("problem %s", got.body)
	}
	if got.header.Get("Mockbase-Limited-By") != `shield; policy="management"` || got.header.Get("Retry-After") != "60" || got.header.Get("RateLimit-Policy") == "" {
		t.Errorf("header %v", got.header)
	}
	// Neither a foreign address nor a wrong method nor HEAD gets around it.
	w.send(call{method: http.MethodGet, path: "/api/v1/nope"}).want(http.StatusTooManyRequests)
	w.send(call{method: http.MethodHead, path: "/api/v1/auth/status"}).want(http.StatusTooManyRequests)
	w.send(call{method: http.MethodGet, path: "/healthz"}).want(http.StatusOK)
	w.clock.Advance(time.Minute)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK)
}

func TestM37_sign_ins_have_a_limit_of_their_own(t *testing.T) {
	t.Parallel()
	w := shielded(t, 60, 2)
	wrong := call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"wrong"}`}
	for range 2 {
		w.send(wrong).want(http.StatusUnauthorized)
	}
	got := w.send(wrong).want(http.StatusTooManyRequests, mockbase.CodeRateLimited)
	if got.header.Get("Mockbase-Limited-By") != `shield; policy="login"` || got.header.Get("RateLimit-Policy") != `"management";q=60;w=60` {
		t.Errorf("header %v", got.header)
	}
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/setup", body: `{}`}).want(http.StatusTooManyRequests)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK)
	for _, r := range management.Routes() {
		secret := slices.Contains([]string{
			"setup", "login", "reauthenticate", "password", "password-reset", "invitations/inspect", "invitations/accept", "oidc/start", "oidc/callback",
		}, strings.TrimPrefix(r.Path, "/api/v1/auth/"))
		if r.Secret != secret {
			t.Errorf("%s: behind the login limit: %v", r.Path, r.Secret)
		}
	}
}

// A limiter that fails closed answers 503; other bodies than problems pass as they are.
func TestM6_other_refusals_of_the_shield_keep_their_form(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             string
	}{
		{"closed", "application/problem+json", `{"type":"t","title":"T","status":503,"detail":"d"}`, 503, `{"type":"t","title":"T","status":503,"detail":"d","instance":"x","code":"unavailable","requestId":"x"}`},
		{"blocked", "application/problem+json", `{"type":"t","title":"T","status":403,"detail":"d"}`, 403, `{"type":"t","title":"T","status":403,"detail":"d","instance":"x","code":"address-blocked","requestId":"x"}`},
		{"a code of its own", "application/problem+json", `{"type":"t","code":"rate-limited","status":429,"requestId":"y"}`, 429, `{"type":"t","status":429,"instance":"x","code":"rate-limited","requestId":"x"}`},
		{"no object", "application/problem+json", `["t"]`, 429, `["t"]`},
		{"text", "text/plain", "Rate limited\n", 429, "Rate limited\n"},
		{"no body", "application/problem+json", "", 429, ""},
	} {
		refuse := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(c.status)
				w.Write([]byte(c.body))
			})
		}
		w := newWorld(t, func(o *management.Options) { o.Shield = refuse })
		r := w.request(t, call{method: http.MethodGet, path: "/api/v1/auth/status", header: map[string]string{"X-Request-Id": "x"}})
		got, err := w.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 1000)
		n, _ := got.Body.Read(body)
		got.Body.Close()
		if diff := cmp.Diff(c.want, strings.TrimSuffix(string(body[:n]), "")); diff != "" || got.StatusCode != c.status {
			t.Errorf("%s: status %d (-want +got):\n%s", c.name, got.StatusCode, diff)
		}
	}
}

func TestM37_a_closed_shield_says_that_signing_in_is_unavailable_whichever_layer_answers(t *testing.T) {
	t.Parallel()
	for layer, want := range map[string]mockbase.Code{`policy="management"`: mockbase.CodeLoginUnavailable, `layer="circuit"`: mockbase.CodeUnavailable} {
		w := newWorld(t, func(o *management.Options) {
			o.Shield = func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/problem+json")
					w.Header().Set("Mockbase-Limited-By", "shield; "+layer)
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusServiceUnavailable)
					w.Write([]byte(`{"type":"t","title":"T","status":503,"detail":"d"}`))
				})
			}
		})
		for _, r := range management.Routes() {
			code := mockbase.CodeUnavailable
			if r.Secret {
				code = want
			}
			if r.Secret || r.Path == "/api/v1/auth/status" {
				w.send(call{method: r.Method, path: r.Path}).want(http.StatusServiceUnavailable, code)
			}
		}
	}
}

// The address of a sign-in is what the operator's configuration says, and never a header by itself.
func TestM37_the_address_of_a_client_is_no_header(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{
		method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`,
		header: map[string]string{"X-Forwarded-For": "203.0.113.9", "X-Real-Ip": "203.0.113.9", "Forwarded": "for=203.0.113.9"},
	}).want(http.StatusOK)
	if log := w.log.String(); strings.Contains(log, "203.0.113.9") || !strings.Contains(log, "client=127.0.0.1") {
		t.Errorf("log %s", log)
	}
	given := newWorld(t, func(o *management.Options) {
		o.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr("198.51.100.7") }
	})
	given.login()
	if !strings.Contains(given.log.String(), "client=198.51.100.7") {
		t.Errorf("log %s", given.log.String())
	}
}

// A limit sits inside CORS, so that a page that may call sees the refusal and not a failure of its own.
func TestM17_a_listed_origin_sees_refusals_too(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) {
		o.Shield, o.Origins = shield(t, "management", 1, o.Clock), []string{"https://tools.test"}
	})
	for _, status := range []int{http.StatusNotFound, http.StatusTooManyRequests} {
		got := w.send(call{method: http.MethodGet, path: "/api/v1/nope", header: map[string]string{"Origin": "https://tools.test"}}).want(status)
		if got.header.Get("Access-Control-Allow-Origin") != "https://tools.test" || got.header.Get("Vary") != "Origin" {
			t.Errorf("status %d: header %v", status, got.header)
		}
	}
	w.clock.Advance(time.Minute)
	got := w.send(call{method: http.MethodGet, path: "/api/v1/nope", header: map[string]string{"Origin": "https://evil.test"}}).want(http.StatusNotFound)
	if got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a foreign origin may read answers")
	}
}
