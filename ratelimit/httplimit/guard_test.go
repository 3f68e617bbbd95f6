package httplimit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// newYear is 17.25 s into a minute, so that 43 s are left when seconds are rounded up.
var newYear = time.Unix(1_767_225_617, 250_000_000)

func stopped() time.Time { return newYear }

var errDown = fmt.Errorf("dial: %w", ratelimit.ErrUnavailable)

// failing is a store that never decides.
type failing struct{ ratelimit.Store }

func (failing) Take(context.Context, ratelimit.Request) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, errDown
}

func newLimiter(tb testing.TB, change func(*ratelimit.Options)) *ratelimit.Limiter {
	tb.Helper()
	store, err := memstore.New(memstore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	o := ratelimit.Options{Name: "shield", Store: store, Clock: stopped}
	if change != nil {
		change(&o)
	}
	l, err := ratelimit.NewLimiter(o)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func policies(tb testing.TB, rules, place string) []ratelimit.Policy {
	tb.Helper()
	parsed, err := ratelimit.ParseRules(rules)
	if err != nil {
		tb.Fatal(err)
	}
	ratelimit.NameRules(parsed, place)
	return parsed
}

// newGuard makes a guard with the policies of a rule string, and the memory limiter unless change sets another.
func newGuard(tb testing.TB, rules string, change func(*httplimit.Options)) *httplimit.Guard {
	tb.Helper()
	o := httplimit.Options{Policies: policies(tb, rules, "engine")}
	if change != nil {
		change(&o)
	}
	if o.Limiter == nil {
		o.Limiter = newLimiter(tb, nil)
	}
	g, err := httplimit.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return g
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "hello\n")
})

// serve puts the handler on a real socket and returns its address.
func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// exchange sends a request and returns the bytes of the answer, without its Date.
func exchange(tb testing.TB, address, method string) string {
	tb.Helper()
	var dialer net.Dialer
	connection, err := dialer.DialContext(tb.Context(), "tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	defer connection.Close()
	if _, err := fmt.Fprintf(connection, "%s / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", method); err != nil {
		tb.Fatal(err)
	}
	var answer strings.Builder
	lines := bufio.NewReader(connection)
	for {
		line, err := lines.ReadString('\n')
		if !strings.HasPrefix(line, "Date: ") {
			answer.WriteString(line)
		}
		if errors.Is(err, io.EOF) {
			return answer.String()
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

const refusal429 = "HTTP/1.1 429 Too Many Requests\r\n" +
	"Cache-Control: no-store\r\n" +
	"Content-Length: 225\r\n" +
	"Content-Type: application/problem+json\r\n" +
	"Mockbase-Limited-By: shield; policy=\"engine\"\r\n" +
	"RateLimit: \"engine\";r=0;t=43\r\n" +
	"RateLimit-Policy: \"engine\";q=1;w=60\r\n" +
	"Retry-After: 43\r\n" +
	"Connection: close\r\n\r\n"

const problem429 = `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded",` +
	`"status":429,"detail":"Policy \"engine\" allows 1 request per 60 s. Try again in 43 s.","violated-policies":["engine"]}`

func TestRL114_RL119_the_bytes_of_a_refusal(t *testing.T) {
	t.Parallel()
	address := serve(t, newGuard(t, "1/60s", nil).Middleware(hello))
	want := "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nhello\n"
	if diff := cmp.Diff(want, exchange(t, address, "GET")); diff != "" {
		t.Errorf("RL120 an allowed answer carries no field of the shield (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(refusal429+problem429, exchange(t, address, "POST")); diff != "" {
		t.Errorf("a refusal (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(refusal429, exchange(t, address, "HEAD")); diff != "" {
		t.Errorf("a refusal of HEAD has no body (-want +got)\n%s", diff)
	}
}

func TestRL122_the_121st_call_in_a_minute_is_refused(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t, nil)
	engine := newGuard(t, "120/60s", func(o *httplimit.Options) { o.Limiter = limiter })
	management := newGuard(t, "60/60s", func(o *httplimit.Options) {
		o.Limiter, o.Policies = limiter, policies(t, "60/60s", "management")
	})
	routes := http.NewServeMux()
	routes.Handle("/m/", engine.Middleware(hello))
	routes.Handle("/api/", management.Middleware(hello))
	call := func(target, peer string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
		r.RemoteAddr = peer
		routes.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 130 {
		want := http.StatusOK
		if i >= 120 {
			want = http.StatusTooManyRequests
		}
		if got := call("/m/demo/x", "192.0.2.1:99"); got != want {
			t.Fatalf("call %d: %d, want %d", i+1, got, want)
		}
	}
	if got := call("/m/demo/x", "192.0.2.2:99"); got != http.StatusOK {
		t.Errorf("another client: %d", got)
	}
	if got := call("/api/v1/me", "192.0.2.1:99"); got != http.StatusOK {
		t.Errorf("another namespace: %d, they never share a counter", got)
	}
}

func TestRL115_statuses_and_bodies(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 420, 503} {
		for _, body := range []httplimit.Body{httplimit.BodyProblem, httplimit.BodyText} {
			g := newGuard(t, "1/60s", func(o *httplimit.Options) { o.Status, o.Body = status, body })
			for range 2 {
				w := httptest.NewRecorder()
				if _, ok := g.Admit(w, requestFrom("192.0.2.1:9")); ok {
					continue
				}
				if w.Code != status || w.Header().Get("Retry-After") != "43" || headerLines(w.Header(), "RateLimit") == "" ||
					w.Header().Get("Mockbase-Limited-By") != `shield; policy="engine"` || w.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("status %d, body %s: %d %v, want the status to change nothing else", status, body, w.Code, w.Header())
				}
				if body == httplimit.BodyText {
					if w.Body.String() != "Rate limited\n" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
						t.Errorf("text body: %q %v", w.Body, w.Header())
					}
					continue
				}
				var problem httplimit.Problem
				if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || problem.Status != status {
					t.Errorf("status %d: problem %+v, %v", status, problem, err)
				}
			}
		}
	}
}

func TestRL115_a_handler_of_ones_own_writes_the_refusal(t *testing.T) {
	t.Parallel()
	var got httplimit.Refusal
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.Refuse = func(w http.ResponseWriter, r *http.Request, refusal httplimit.Refusal) {
			got = refusal
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(refusal.Status)
			_, _ = io.WriteString(w, r.URL.Path)
		}
	})
	w := httptest.NewRecorder()
	for range 2 {
		g.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
		if w.Body.String() == "hello\n" {
			w = httptest.NewRecorder()
		}
	}
	if w.Code != 429 || w.Body.String() != "/" || w.Header().Get("Retry-After") != "43" {
		t.Errorf("%d %q %v, want the handler's body under the shield's header", w.Code, w.Body, w.Header())
	}
	want := httplimit.Problem{
		Type: httplimit.ProblemQuotaExceeded, Title: "Request quota exceeded", Status: 429,
		Detail:           `Policy "engine" allows 1 request per 60 s. Try again in 43 s.`,
		ViolatedPolicies: []string{"engine"},
	}
	if diff := cmp.Diff(want, got.Problem); diff != "" || got.Decision.Allowed || got.Decision.Policy.Name != "engine" {
		t.Errorf("refusal %+v (-want +got)\n%s", got.Decision, diff)
	}
}

func TestRL64_a_failing_store_lets_everything_pass_with_the_full_quota(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "120/60s", func(o *httplimit.Options) {
		o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Store = failing{} })
		o.HeadersOn = httplimit.OnAlways
	})
	for range 500 {
		w := httptest.NewRecorder()
		g.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
		lines := headerLines(w.Header(), "RateLimit-Policy", "RateLimit", "Retry-After", "Mockbase-Limited-By")
		if want := "RateLimit-Policy: \"engine\";q=120;w=60\nRateLimit: \"engine\";r=120;t=0"; w.Code != 200 || lines != want {
			t.Fatalf("%d with\n%s\nwant\n%s", w.Code, lines, want)
		}
	}
}

func TestRL65_a_failing_store_in_mode_closed_is_503(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "120/60s", func(o *httplimit.Options) {
		o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Store, o.OnFailure = failing{}, ratelimit.FailClosed })
		o.Status = httplimit.StatusEnhanceYourCalm
	})
	w := httptest.NewRecorder()
	d, ok := g.Admit(w, requestFrom("192.0.2.1:9"))
	want := `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Temporarily reduced capacity",` +
		`"status":503,"detail":"Rate limits cannot be checked at the moment. Try again in 1 s.","violated-policies":["engine"]}`
	if ok || d.Degraded != ratelimit.Closed || w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Body.String() != want {
		t.Errorf("%t %+v: %d %v\n%s", ok, d, w.Code, w.Header(), w.Body)
	}
}

func TestRL3_RL87_what_is_not_limited_carries_no_fields(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*httplimit.Options){
		"RL3 limit 0":                 func(o *httplimit.Options) { o.Policies = policies(t, "0/60s", "engine") },
		"RL87 an excluded path":       func(o *httplimit.Options) { o.Exclude = []string{"/other", "/"} },
		"RL87 an excluded prefix":     func(o *httplimit.Options) { o.Exclude = []string{"/*"} },
		"RL87 the prefix of anything": func(o *httplimit.Options) { o.Exclude = []string{"*"} },
	} {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.HeadersOn = httplimit.OnAlways
			change(o)
		})
		for range 5 {
			w := httptest.NewRecorder()
			g.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
			if lines := headerLines(w.Header(), "RateLimit-Policy", "RateLimit", "Retry-After"); w.Code != 200 || lines != "" {
				t.Errorf("%s: %d with %q", name, w.Code, lines)
			}
		}
	}
	g := newGuard(t, "1/60s", func(o *httplimit.Options) { o.Exclude = []string{"/healthz", "/static/*"} })
	for target, want := range map[string]bool{"/healthz": true, "/static/": true, "/static/a/b": true, "/healthz/": false, "/static": false, "/m/healthz": false} {
		r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
		if d, _ := g.Admit(httptest.NewRecorder(), r); d.Skipped != want {
			t.Errorf("RL87 %s: skipped %t, want %t", target, d.Skipped, want)
		}
	}
}

func TestRL19_RL90_several_policies(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t, nil)
	g := newGuard(t, "4/60s, 3/1h name=hourly, 100/1d", func(o *httplimit.Options) {
		o.Limiter, o.HeadersOn = limiter, httplimit.OnAlways
	})
	w := httptest.NewRecorder()
	d, _ := g.Admit(w, requestFrom("192.0.2.1:9"))
	if d.Policy.Name != "hourly" || d.Remaining != 2 {
		t.Errorf("after one call: %+v of %s, want the one with the least left", d, d.Policy.Name)
	}
	if got, want := headerLines(w.Header(), "RateLimit-Policy"), `RateLimit-Policy: "engine-1";q=4;w=60, "hourly";q=3;w=3600, "engine-3";q=100;w=86400`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for range 2 {
		g.Admit(httptest.NewRecorder(), requestFrom("192.0.2.1:9"))
	}
	w = httptest.NewRecorder()
	if d, ok := g.Admit(w, requestFrom("192.0.2.1:9")); ok || d.Policy.Name != "hourly" {
		t.Errorf("the fourth call: %+v, want it denied by hourly", d)
	}
	if got := w.Header().Get("Mockbase-Limited-By"); got != `shield; policy="hourly"` {
		t.Errorf("Mockbase-Limited-By: %s", got)
	}
	daily := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine-3", Identifier: "192.0.2.1"}, Policy: &policies(t, "100/1d", "engine-3")[0]}
	if d, err := limiter.Check(t.Context(), daily); err != nil || d.Remaining != 97 {
		t.Errorf("a policy after the denial: %+v, %v, want it not asked", d, err)
	}
}

func TestRL78_the_key_global_is_one_counter_for_all(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "2/60s", func(o *httplimit.Options) { o.Key = httplimit.KeyGlobal })
	for i, peer := range []string{"192.0.2.1:9", "192.0.2.2:9", "192.0.2.3:9"} {
		if _, ok := g.Admit(httptest.NewRecorder(), requestFrom(peer)); ok != (i < 2) {
			t.Errorf("call %d from %s: %t", i+1, peer, ok)
		}
	}
}

func TestRL116_retry_after(t *testing.T) {
	t.Parallel()
	zero := newGuard(t, "1/60s", func(o *httplimit.Options) { o.ZeroWhenAllowed = true })
	w := httptest.NewRecorder()
	zero.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
	if got := w.Header()["Retry-After"]; w.Code != 200 || len(got) != 1 || got[0] != "0" || headerLines(w.Header(), "RateLimit") != "" {
		t.Errorf("zero when allowed: %d %v", w.Code, w.Header())
	}
	jittered := newGuard(t, "1/60s", func(o *httplimit.Options) { o.Jitter = 10 * time.Second })
	seen := map[string]bool{}
	for range 200 {
		w = httptest.NewRecorder()
		if _, ok := jittered.Admit(w, requestFrom("192.0.2.1:9")); ok {
			continue
		}
		value := w.Header().Get("Retry-After")
		seen[value] = true
		if value < "43" || value > "53" || !strings.Contains(w.Body.String(), "Try again in "+value+" s.") {
			t.Fatalf("with up to 10 s of jitter: Retry-After %s and %s", value, w.Body)
		}
	}
	if len(seen) < 2 {
		t.Errorf("jitter spreads nothing: %v", seen)
	}
}

func TestRL118_options_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t, nil)
	dialects := func(d ...httplimit.Dialect) func(*httplimit.Options) {
		return func(o *httplimit.Options) { o.Headers = d }
	}
	for name, change := range map[string]func(*httplimit.Options){
		"no limiter":                    func(o *httplimit.Options) { o.Limiter = nil },
		"no policy":                     func(o *httplimit.Options) { o.Policies = nil },
		"a policy without a name":       func(o *httplimit.Options) { o.Policies[0].Name = "" },
		"RL4 a window of half a second": func(o *httplimit.Options) { o.Policies[0].Window = 500 * time.Millisecond },
		"places that nobody gives back": func(o *httplimit.Options) {
			o.OnDemand = []ratelimit.Policy{{Name: "jobs", Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Minute}}
		},
		"two policies of one name":                                func(o *httplimit.Options) { o.Policies = append(o.Policies, o.Policies[0]) },
		"a key that is none":                                      func(o *httplimit.Options) { o.Key = "team:X" },
		"RL84 a strict fingerprint without limits by the address": func(o *httplimit.Options) { o.Key = "ip+fingerprint:strict" },
		"RL84 the same in a template":                             func(o *httplimit.Options) { o.Key = `{{fingerprint "strict"}}` },
		"an answer to missing keys that is none":                  func(o *httplimit.Options) { o.OnMissingKey = "ignore" },
		"draft and split":                                         dialects(httplimit.DialectDraft, httplimit.DialectSplit),
		"split and draft":                                         dialects(httplimit.DialectSplit, httplimit.DialectDraft),
		"none and x":                                              dialects(httplimit.DialectNone, httplimit.DialectX),
		"x and x-delta":                                           dialects(httplimit.DialectX, httplimit.DialectXDelta),
		"x-delta and x-github":                                    dialects(httplimit.DialectXDelta, httplimit.DialectXGitHub),
		"x twice":                                                 dialects(httplimit.DialectX, httplimit.DialectX),
		"a custom dialect without fields":                         dialects(httplimit.DialectCustom),
		"fields without their dialect": func(o *httplimit.Options) {
			o.CustomFields = []httplimit.CustomField{{Name: "X-Left", Value: "{remaining}"}}
		},
		"an unknown time for fields":     func(o *httplimit.Options) { o.HeadersOn = "sometimes" },
		"RL115 a status of another kind": func(o *httplimit.Options) { o.Status = 418 },
		"an unknown body":                func(o *httplimit.Options) { o.Body = "xml" },
		"an unknown log mode":            func(o *httplimit.Options) { o.LogMatches = "some" },
		"negative jitter":                func(o *httplimit.Options) { o.Jitter = -1 },
	} {
		o := httplimit.Options{Limiter: limiter, Policies: policies(t, "1/60s", "engine")}
		change(&o)
		if _, err := httplimit.New(o); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	_, err := httplimit.New(httplimit.Options{Key: "cooky:id", Status: 1, Body: "?"})
	for _, part := range []string{"no limiter", "no policy", "cooky:id", "status 1", "body ?"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("all faults at once: %v lacks %q", err, part)
		}
	}
}

func TestRL9_an_allowed_request_costs_no_allocation(t *testing.T) {
	g := newGuard(t, "1000000/60s", func(o *httplimit.Options) {
		o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Clock = nil })
		o.Addresses = httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: networks(t, "10.0.0.0/8")})
	})
	for name, r := range map[string]*http.Request{
		"a direct client": requestFrom("[2001:db8::1]:4711"),
		"behind a proxy":  requestFrom("10.0.0.1:80", [2]string{"X-Forwarded-For", "192.0.2.9, 10.0.0.7"}),
	} {
		w := httptest.NewRecorder()
		if got := testing.AllocsPerRun(100, func() { g.Admit(w, r) }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
