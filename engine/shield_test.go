package engine_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/ratelimit"
)

// watchingShield remembers what became of the requests.
type watchingShield struct {
	admission engine.Admission
	refuses   bool

	mu    sync.Mutex
	ended []int
}

func (s *watchingShield) Admit(w http.ResponseWriter, _ *http.Request) (engine.Admission, bool) {
	if s.refuses {
		w.WriteHeader(http.StatusForbidden)
	}
	a := s.admission
	a.Ticket = s
	return a, !s.refuses
}

func (s *watchingShield) Done(a engine.Admission, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Ticket != s {
		status = -1
	}
	s.ended = append(s.ended, status)
}

func TestRL94_the_shield_hears_what_became_of_each_request(t *testing.T) {
	t.Parallel()
	shield := &watchingShield{}
	e := newEngine(t, engine.Options{Shield: shield})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	for _, target := range []string{"/m/shop/a", "/m/shop/none", "/m/none/a"} {
		get(e, target)
	}
	shield.refuses = true
	get(e, "/m/shop/a")
	preflight := httptest.NewRequest(http.MethodOptions, "/m/shop/a", http.NoBody)
	preflight.Header.Set("Origin", "https://a.test")
	preflight.Header.Set("Access-Control-Request-Method", "GET")
	e.ServeHTTP(httptest.NewRecorder(), preflight)
	if want := []int{200, 404, 404, 403}; !slices.Equal(shield.ended, want) {
		t.Errorf("ended with %v, want %v", shield.ended, want)
	}
}

func TestRL92_a_dry_run_is_recorded(t *testing.T) {
	t.Parallel()
	var recorded recorder
	shield := &watchingShield{admission: engine.Admission{
		Decision: ratelimit.Decision{Allowed: true, Skipped: true}, Policy: "engine", WouldLimit: true,
	}}
	e := newEngine(t, engine.Options{Shield: shield, Journal: &recorded})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	get(e, "/m/shop/a")
	x := recorded.last(t, 1)
	if len(x.Limits) != 1 || !x.Limits[0].WouldLimit || !x.Limits[0].Allowed || x.Limits[0].Policy != "engine" || x.Policy != "" {
		t.Errorf("limits %+v, policy %q", x.Limits, x.Policy)
	}
}

func TestRL80_the_endpoint_of_a_request_is_the_path_of_its_mock(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{
		textMock("any", "/users/{id}", "a"), textMock("me", "/users/me", "b"), textMock("rest", "/files/**", "c"),
	})
	for target, want := range map[string]string{
		"/m/shop/users/7":         "/m/shop/users/{id}",
		"/m/shop/users/8?x=1":     "/m/shop/users/{id}",
		"/m/shop/users/me":        "/m/shop/users/me",
		"/m/shop/files/a/b":       "/m/shop/files/**",
		"/m/shop/nothing":         "",
		"/m/none/users/7":         "",
		"/elsewhere":              "",
		"/m/shop/users/%zz":       "",
		"/m/shop/users/a%2Fb":     "/m/shop/users/{id}",
		"http://h/m/shop/users/7": "/m/shop/users/{id}",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RequestURI = target
		if got := e.Endpoint(r); got != want {
			t.Errorf("%s: endpoint %q, want %q", target, got, want)
		}
	}
}
