package httplimit_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// newJudge makes a guard of these rules that lives at newYear.
func newJudge(tb testing.TB, rules guard.Rules) *guard.Guard {
	tb.Helper()
	bans, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	g, err := guard.New(guard.Options{
		Rules: rules, Limiter: newLimiter(tb, nil), Bans: bans, Circuits: memstore.NewCircuits(), Clock: stopped,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = g.Close() })
	return g
}

// newLayers makes layers before a guard of these rules.
func newLayers(tb testing.TB, rules guard.Rules, change func(*httplimit.LayerOptions)) *httplimit.Layers {
	tb.Helper()
	o := httplimit.LayerOptions{Judge: newJudge(tb, rules), Clock: stopped}
	if change != nil {
		change(&o)
	}
	l, err := httplimit.NewLayers(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return l
}

// clients are the addresses that the tests come from, by the header field that names them.
func clients() *httplimit.Addresses {
	return httplimit.NewAddresses(httplimit.AddressOptions{
		Header: "X-Client", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")},
	})
}

func engineTier(limit int64) guard.Tier {
	return guard.Tier{Policy: ratelimit.Policy{Name: "engine", Limit: limit, Window: time.Minute}}
}

func signInRule() guard.BanRule {
	return guard.BanRule{
		BanRule: ratelimit.BanRule{Name: "login", MaxRetry: 2, FindTime: time.Minute, BanTime: 15*time.Minute - 500*time.Millisecond},
	}
}

func answers(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func TestRL114_refusals_of_each_layer_on_the_wire(t *testing.T) {
	t.Parallel()
	lockdown := newJudge(t, guard.Rules{Circuit: &guard.Circuit{}})
	if err := lockdown.ForceCircuit(t.Context(), ratelimit.ForceLockdown, newYear.Add(28500*time.Millisecond), guard.Actor{}); err != nil {
		t.Fatal(err)
	}
	loginBan := signInRule()
	loginBan.Status, loginBan.Code = 429, "login-banned"
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	for _, c := range []struct {
		name    string
		rules   guard.Rules
		change  func(*httplimit.LayerOptions)
		handler http.Handler
		before  int
		want    string
	}{
		{
			"RL88 the blocklist says 403 and no wait",
			guard.Rules{Blocklist: []guard.Entry{{Name: "abuser", Network: loopback, Reason: "secret"}}},
			nil, hello, 0,
			"HTTP/1.1 403 Forbidden\r\nCache-Control: no-store\r\nContent-Length: 176\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; layer=\"blocklist\"\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Abnormal usage detected","status":403,"detail":"Requests like this one are refused."}`,
		},
		{
			"RL99 a ban says 403 and the rest of the ban, rounded up",
			guard.Rules{Bans: []guard.BanRule{signInRule()}},
			nil, answers(http.StatusUnauthorized), 2,
			"HTTP/1.1 403 Forbidden\r\nCache-Control: no-store\r\nContent-Length: 196\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; layer=\"bans\"; policy=\"login\"\r\nRetry-After: 900\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Abnormal usage detected","status":403,"detail":"Requests like this one are refused. Try again in 900 s."}`,
		},
		{
			"RL96 a sign-in ban says 429 and its code",
			guard.Rules{Bans: []guard.BanRule{loginBan}},
			nil, answers(http.StatusUnauthorized), 2,
			"HTTP/1.1 429 Too Many Requests\r\nCache-Control: no-store\r\nContent-Length: 221\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; layer=\"bans\"; policy=\"login\"\r\nRetry-After: 900\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,"detail":"Too many attempts. Try again in 900 s.","code":"login-banned","violated-policies":["login"]}`,
		},
		{
			"RL89 a tier says what a guard says",
			guard.Rules{Tiers: []guard.Tier{engineTier(1)}},
			nil, hello, 1,
			"HTTP/1.1 429 Too Many Requests\r\nCache-Control: no-store\r\nContent-Length: 225\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; policy=\"engine\"\r\nRateLimit: \"engine\";r=0;t=43\r\nRateLimit-Policy: \"engine\";q=1;w=60\r\n" +
				"Retry-After: 43\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,"detail":"Policy \"engine\" allows 1 request per 60 s. Try again in 43 s.","violated-policies":["engine"]}`,
		},
		{
			"RL90 the global tier shows no numbers",
			guard.Rules{Tiers: guard.DefaultTiers(ratelimit.Policy{}, ratelimit.Policy{}, engineTier(1).Policy)},
			nil, hello, 1,
			"HTTP/1.1 429 Too Many Requests\r\nCache-Control: no-store\r\nContent-Length: 231\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; policy=\"global\"\r\nRetry-After: 43\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,"detail":"The server has had all the requests that it takes. Try again in 43 s.","violated-policies":["global"]}`,
		},
		{
			"RL115 text and another status",
			guard.Rules{Tiers: []guard.Tier{engineTier(1)}},
			func(o *httplimit.LayerOptions) {
				o.Status, o.Body, o.HeadersOn = httplimit.StatusEnhanceYourCalm, httplimit.BodyText, httplimit.OnNever
			},
			hello, 1,
			"HTTP/1.1 420 status code 420\r\nCache-Control: no-store\r\nContent-Length: 13\r\nContent-Type: text/plain; charset=utf-8\r\n" +
				"Mockbase-Limited-By: shield; policy=\"engine\"\r\nRetry-After: 43\r\nConnection: close\r\n\r\nRate limited\n",
		},
		{
			"RL105 the circuit says 503 and the wait, rounded up",
			guard.Rules{},
			func(o *httplimit.LayerOptions) { o.Judge = lockdown }, hello, 0,
			"HTTP/1.1 503 Service Unavailable\r\nCache-Control: no-store\r\nContent-Length: 227\r\nContent-Type: application/problem+json\r\n" +
				"Mockbase-Limited-By: shield; layer=\"circuit\"\r\nRetry-After: 29\r\nConnection: close\r\n\r\n" +
				`{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Temporarily reduced capacity","status":503,"detail":"The server takes only a part of the requests at the moment. Try again in 29 s."}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, newLayers(t, c.rules, c.change).Middleware(c.handler))
			for range c.before {
				exchange(t, address, http.MethodGet)
			}
			if diff := cmp.Diff(c.want, exchange(t, address, http.MethodGet)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if head := exchange(t, address, http.MethodHead); !strings.HasSuffix(head, "\r\n\r\n") {
				t.Errorf("HEAD has a body: %q", head)
			}
		})
	}
}

// do sends one request through a handler and returns what it recorded.
func do(h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/login", http.NoBody)
	r.RemoteAddr = "192.0.2.1:1234"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// field returns a header field by its exact name.
func field(w *httptest.ResponseRecorder, name string) string {
	return strings.Join(w.Header()[name], ", ")
}

func TestRL94_the_handler_decides_what_failed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		banned  bool
	}{
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, true},
		{"no status is 200", func(http.ResponseWriter, *http.Request) {}, false},
		{"a body is 200", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, false},
		{"an informational status is none", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusUnauthorized)
		}, true},
		{"the first status counts", func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			w.WriteHeader(http.StatusUnauthorized)
		}, false},
		{"a reported failure wins", func(_ http.ResponseWriter, r *http.Request) { httplimit.ReportFailure(r.Context()) }, true},
		{"a reported success wins", func(w http.ResponseWriter, r *http.Request) {
			httplimit.ReportSuccess(r.Context())
			w.WriteHeader(http.StatusUnauthorized)
		}, false},
		{"the last report holds", func(w http.ResponseWriter, r *http.Request) {
			httplimit.ReportFailure(r.Context())
			httplimit.ReportSuccess(r.Context())
			w.WriteHeader(http.StatusUnauthorized)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newLayers(t, guard.Rules{Bans: []guard.BanRule{signInRule()}}, nil).Middleware(c.handler)
			for range 2 {
				do(h, nil)
			}
			if got := field(do(h, nil), httplimit.LimitedBy) != ""; got != c.banned {
				t.Errorf("banned %t, want %t", got, c.banned)
			}
		})
	}
}

// A handler that panics or whose client goes away gives its place back and is no failure.
func TestRL97_a_panic_gives_the_place_back(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	h := newLayers(t, guard.Rules{Bans: []guard.BanRule{signInRule()}}, nil).Middleware(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if calls.Add(1) < 5 {
				panic(http.ErrAbortHandler)
			}
		}))
	for range 4 {
		func() {
			defer func() { _ = recover() }()
			do(h, nil)
		}()
	}
	if status := do(h, nil).Code; status != http.StatusOK {
		t.Errorf("after four panics: %d, want 200", status)
	}
}

func TestRL97_parallel_guesses_over_sockets(t *testing.T) {
	t.Parallel()
	rule := signInRule()
	rule.MaxRetry = 5
	var reached atomic.Int64
	together := make(chan struct{})
	address := serve(t, newLayers(t, guard.Rules{Bans: []guard.BanRule{rule}}, nil).Middleware(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reached.Add(1)
			<-together
			w.WriteHeader(http.StatusUnauthorized)
		})))
	var group sync.WaitGroup
	var held atomic.Int64
	for range 64 {
		group.Go(func() {
			if answer := exchange(t, address, http.MethodGet); strings.Contains(answer, " 429 ") && strings.Contains(answer, "Retry-After: 1\r\n") {
				if held.Add(1) == 59 {
					close(together)
				}
			}
		})
	}
	group.Wait()
	if reached.Load() != 5 || held.Load() != 59 {
		t.Errorf("%d guesses reached the handler and %d were held back, want 5 and 59", reached.Load(), held.Load())
	}
}

func TestRL91_a_handler_adds_to_the_cost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		adds []int64
		left string
	}{
		{"nothing added", nil, "8"},
		{"what the request cost anyway", []int64{1}, "8"},
		{"more than that", []int64{2, 3}, "4"},
		{"what makes no sense", []int64{-5, 0}, "8"},
		{"more than there is", []int64{1 << 62, 1 << 62}, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules := guard.Rules{Tiers: []guard.Tier{engineTier(10)}}
			h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
				o.Headers, o.HeadersOn = []httplimit.Dialect{httplimit.DialectSplit}, httplimit.OnAlways
			}).Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					for _, n := range c.adds {
						httplimit.AddCost(r.Context(), n)
					}
				}
			}))
			if first := field(do(h, nil), "RateLimit-Remaining"); first != "9" {
				t.Errorf("the first answer says %q, want 9", first)
			}
			next := do(h, func(r *http.Request) { r.Method = http.MethodGet })
			if got := field(next, "RateLimit-Remaining"); got != c.left {
				t.Errorf("the next answer says %q, want %s", got, c.left)
			}
		})
	}
}

func TestRL94_reports_without_layers_do_nothing(t *testing.T) {
	t.Parallel()
	httplimit.ReportFailure(t.Context())
	httplimit.ReportSuccess(t.Context())
	httplimit.AddCost(t.Context(), 5)
}

func TestRL120_fields_are_on_no_answer_that_is_safelisted_or_excluded(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{
		Exclude: []string{"/healthz"}, Safelist: []guard.Entry{{Network: netip.MustParsePrefix("10.0.0.0/8")}},
		Tiers: []guard.Tier{engineTier(10)},
	}
	h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
		o.HeadersOn, o.ZeroWhenAllowed, o.Addresses = httplimit.OnAlways, true, clients()
	}).Middleware(hello)
	for _, c := range []struct {
		name, path, client string
		fields             bool
	}{
		{"a limited request", "/", "203.0.113.9", true},
		{"a safelisted one", "/", "10.1.2.3", false},
		{"an excluded one", "/healthz", "203.0.113.9", false},
	} {
		answer := do(h, func(r *http.Request) {
			r.URL.Path = c.path
			r.Header.Set("X-Client", c.client)
		})
		limit, zero := field(answer, "RateLimit") != "", field(answer, "Retry-After") == "0"
		if limit != c.fields || zero != c.fields {
			t.Errorf("%s: %v, want fields %t", c.name, answer.Header(), c.fields)
		}
	}
}

func TestRL80_an_endpoint_is_the_route_and_not_the_path(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("GET /users/{id}", hello)
	rules := guard.Rules{Tiers: guard.DefaultTiers(ratelimit.Policy{}, engineTier(2).Policy, ratelimit.Policy{})}
	h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
		o.Pattern = func(r *http.Request) string {
			_, pattern := mux.Handler(r)
			return pattern
		}
	}).Middleware(mux)
	for i, want := range []int{200, 200, 429} {
		answer := do(h, func(r *http.Request) { r.Method, r.URL.Path = http.MethodGet, "/users/"+string(rune('a'+i)) })
		if answer.Code != want {
			t.Errorf("user %d: %d, want %d", i, answer.Code, want)
		}
	}
}

func TestRL85_parts_and_authentication_come_from_the_options(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{
		Tiers: []guard.Tier{{Policy: engineTier(1).Policy, Key: guard.Key{Parts: []string{"tenant"}, OnMissing: guard.MissingSkip}}},
		Blocklist: []guard.Entry{
			{Name: "scanner", Header: "User-Agent", Value: func(sent string) bool { return sent == "sqlmap" }},
			{Name: "anonymous", Predicate: func(a *ratelimit.Attempt) bool { return !a.Authenticated && a.Path == "/private" }},
		},
	}
	with := func(path string, fields ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.URL.Path = path
			for i := 0; i < len(fields); i += 2 {
				r.Header.Set(fields[i], fields[i+1])
			}
		}
	}
	h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
		o.Authenticated = func(r *http.Request) bool { return r.Header.Get("X-Verified") == "yes" }
		o.Part = func(r *http.Request, name string) (string, bool) {
			tenant := r.Header.Get("X-Tenant")
			return tenant, name == "tenant" && tenant != ""
		}
	}).Middleware(hello)
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"a tenant", with("/", "X-Tenant", "blue"), 200},
		{"another tenant", with("/", "X-Tenant", "red"), 200},
		{"the first again", with("/", "X-Tenant", "blue"), 429},
		{"a header field on the blocklist", with("/", "User-Agent", "sqlmap"), 403},
		{"nobody at the private door", with("/private"), 403},
		{"somebody", with("/private", "X-Verified", "yes"), 200},
	} {
		if got := do(h, c.change).Code; got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestRL92_a_dry_run_is_told_and_logged_if_asked(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	rules := guard.Rules{DryRun: true, Tiers: []guard.Tier{engineTier(1)}}
	h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
		o.TellDryRuns, o.Logger, o.LogMatches = true, slog.New(slog.NewTextHandler(&lines, nil)), httplimit.LogAll
	}).Middleware(hello)
	if answer := do(h, nil); field(answer, httplimit.WouldLimit) != "" || lines.Len() > 0 {
		t.Errorf("the first request: %v\n%s", answer.Header(), &lines)
	}
	answer := do(h, nil)
	if answer.Code != http.StatusOK || field(answer, httplimit.WouldLimit) != "tiers/engine" {
		t.Errorf("the second: %d %v", answer.Code, answer.Header())
	}
	for _, want := range []string{"level=WARN", `msg="request would be refused by a guard"`, "policy=engine", "layer=tiers", "key=192.0.2.1", "dry_run=true"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%q is not in %s", want, &lines)
		}
	}
}

func TestRL93_matches_are_logged_once_a_window_and_summarised(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	rules := guard.Rules{Blocklist: []guard.Entry{{Name: "all", Predicate: func(*ratelimit.Attempt) bool { return true }}}}
	layers := newLayers(t, rules, func(o *httplimit.LayerOptions) { o.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
	h := layers.Middleware(hello)
	for range 5 {
		do(h, nil)
	}
	if err := layers.Close(); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(lines.String()), "\n")
	if len(got) != 2 || !strings.Contains(got[0], "layer=blocklist") || !strings.Contains(got[0], "dry_run=false") ||
		!strings.Contains(got[1], "layer=blocklist") || !strings.Contains(got[1], "suppressed=4") {
		t.Errorf("log:\n%s\nwant the first match and a summary of four", &lines)
	}
}

func TestRL115_a_handler_may_write_the_refusal(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{Tiers: []guard.Tier{engineTier(1)}}
	h := newLayers(t, rules, func(o *httplimit.LayerOptions) {
		o.Refuse = func(w http.ResponseWriter, _ *http.Request, refusal httplimit.LayerRefusal) {
			w.WriteHeader(refusal.Status)
			_, _ = io.WriteString(w, refusal.Verdict.Rule+" "+refusal.Problem.Title)
		}
	}).Middleware(hello)
	do(h, nil)
	answer := do(h, nil)
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "engine Request quota exceeded" || field(answer, "Retry-After") != "43" {
		t.Errorf("%q, %v, %v", body, err, answer.Header())
	}
}

func TestLayersRefuseOptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	_, err := httplimit.NewLayers(httplimit.LayerOptions{
		Headers: []httplimit.Dialect{"loud"}, HeadersOn: "sometimes", Status: 418, Body: "song", LogMatches: "some", Jitter: -1,
	})
	if !errors.Is(err, ratelimit.ErrConfig) {
		t.Fatalf("%v, want ErrConfig", err)
	}
	for _, want := range []string{"loud", "sometimes", "418", "song", "some", "no judge", "jitter"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestRL85_layers_without_rules_cost_no_allocation(t *testing.T) {
	h := newLayers(t, guard.Rules{}, func(o *httplimit.LayerOptions) { o.HeadersOn = httplimit.OnAlways }).
		Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	w := httptest.NewRecorder()
	if allocations := testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, r) }); allocations >= 1 {
		t.Errorf("%v allocations a request, want none", allocations)
	}
}
