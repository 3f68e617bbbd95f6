package engine_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

func newKeeper(tb testing.TB, o simlimit.Options) *simlimit.Keeper {
	tb.Helper()
	o.Memory = func() (ratelimit.Store, error) {
		return memstore.New(memstore.Options{MaxKeys: 10_000, Clock: o.Clock})
	}
	k, err := simlimit.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func (x *exchangeCase) changeClock(t *testing.T, _, data string) {
	t.Helper()
	words := append(strings.Fields(data), "default")
	change := mockbase.ClockChange{Reset: words[0] == "reset"}
	if words = words[1:]; !change.Reset {
		d, err := mockbase.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		change.Advance, words = &d, words[1:]
	}
	if _, err := x.engine.ChangeClock("prj_shop", words[0], change); err != nil {
		t.Fatal(err)
	}
}

// countingShield admits a number of requests.
type countingShield struct {
	mu   sync.Mutex
	left int
}

func (s *countingShield) Admit(w http.ResponseWriter, _ *http.Request) (engine.Admission, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := ratelimit.Decision{Limit: 2, Policy: &ratelimit.Policy{Name: "engine", Limit: 2, Window: time.Minute}}
	if s.left--; s.left >= 0 {
		d.Allowed, d.Remaining = true, int64(s.left)
		return engine.Admission{Decision: d}, true
	}
	d.RetryAfter = 43 * time.Second
	h := w.Header()
	h["Retry-After"] = []string{"43"}
	h["RateLimit"] = []string{`"engine";r=0;t=43`}
	h["Mockbase-Limited-By"] = []string{`shield; policy="engine"`}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, `{"status":429}`)
	return engine.Admission{Decision: d, Policy: "engine"}, false
}

func (*countingShield) Done(engine.Admission, int) {}

// algorithms are all of them, with limits that one window fills.
func algorithms(limit int) map[string]string {
	n := strconv.Itoa(limit)
	return map[string]string{
		"fixed_window":       "limit: " + n + ", window: 1h",
		"fixed_window clock": "limit: " + n + ", window: 1d, align: clock",
		"sliding_window":     "algorithm: sliding_window, limit: " + n + ", window: 1d",
		"sliding_log":        "algorithm: sliding_log, limit: " + n + ", window: 1h",
		"token_bucket":       "algorithm: token_bucket, limit: " + n + ", window: 30d",
		"leaky_bucket":       "algorithm: leaky_bucket, limit: " + n + ", window: 30d",
		"gcra":               "algorithm: gcra, limit: " + n + ", window: 30d",
	}
}

func limitedMock(policy string) string {
	return "mocks: [{ request: GET /a, name: a, response: { text: a }, rateLimit: { " + policy + " } }]\n"
}

func TestX6_exactly_n_of_m_pass_with_every_algorithm(t *testing.T) {
	t.Parallel()
	for name, policy := range algorithms(50) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, limitedMock(policy))
			if diff := cmp.Diff(map[string]int{"a": 50, "429": 150}, s.crowd(200, "/a")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Several limits are as exact, and concurrency is by the answers that are under way.
func TestX6_lists_and_used_starts_are_exact(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mocks: [{ request: GET /a, name: a, response: { text: a }, rateLimit: [{ limit: 60, window: 1h, initialUsed: 10 }, 80/h] }]\n")
	if diff := cmp.Diff(map[string]int{"a": 50, "429": 150}, s.crowd(200, "/a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// received is an answer with its body read.
type received struct {
	status int
	header http.Header
	body   string
}

// field returns a field line by its name as it is written, "" if there is none.
func (r *received) field(name string) string { return strings.Join(r.header[name], ", ") }

// exchange sends one request and returns the whole answer.
func (s *stage) exchange(path string) received {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/m/shop"+path, http.NoBody))
	return received{w.Code, w.Header(), w.Body.String()}
}

func (s *stage) advance(t *testing.T, d time.Duration) {
	t.Helper()
	if _, err := s.ChangeClock("prj_shop", "default", mockbase.ClockChange{Advance: &d}); err != nil {
		t.Fatal(err)
	}
}

// Whatever came before: who waits as long as Retry-After says is admitted.
func TestX4_waiting_retry_after_is_enough(t *testing.T) {
	t.Parallel()
	for name, policy := range algorithms(3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(4, uint64(len(name))))
			s := newStage(t, limitedMock(policy))
			for refused := 0; refused < 40; {
				answer := s.exchange("/a")
				if answer.status == http.StatusOK {
					s.advance(t, time.Duration(random.Int64N(int64(4*time.Minute))))
					continue
				}
				refused++
				wait, err := strconv.Atoi(answer.field("Retry-After"))
				if err != nil || wait < 1 {
					t.Fatalf("Retry-After %q: %v", answer.field("Retry-After"), err)
				}
				s.advance(t, time.Duration(wait)*time.Second)
				if again := s.exchange("/a"); again.status != http.StatusOK {
					t.Fatalf("%d after %d s, told to wait %s more", again.status, wait, again.field("Retry-After"))
				}
			}
		})
	}
}

func TestX9_concurrency_counts_what_is_under_way(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, `
mocks:
  - { request: GET /a, name: a, response: { text: a, delay: 1m }, rateLimit: { algorithm: concurrency, limit: 2 } }
`)
		var answers []string
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { s.ask("/a") })
		}
		synctest.Wait()
		refused := s.exchange("/a")
		if refused.status != http.StatusTooManyRequests || refused.field("Retry-After") != "1" {
			t.Errorf("%d, Retry-After %q", refused.status, refused.field("Retry-After"))
		}
		// AA16: an advance frees no place. It ends the delay, and with it the requests.
		all.Go(func() { answers = append(answers, s.ask("/a")) })
		synctest.Wait()
		if diff := cmp.Diff([]string{"429"}, answers); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		all.Wait()
		all.Go(func() { answers = append(answers, s.ask("/a")) })
		all.Wait()
		if diff := cmp.Diff([]string{"429", "a"}, answers); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A place is given back when the client leaves.
func TestX9_a_client_that_leaves_gives_its_place_back(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mocks: [{ request: GET /a, name: a, response: { text: a, delay: 1m }, rateLimit: { algorithm: concurrency, limit: 1 } }]\n")
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		defer func() { _ = recover() }() // http.ErrAbortHandler ends the connection
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/m/shop/a", http.NoBody))
	}()
	for {
		keys, err := s.LimitKeys("prj_shop", "", "mock:a")
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 1 && keys[0].Used == 1 {
			break
		}
		runtime.Gosched()
	}
	leave()
	<-left
	keys, err := s.LimitKeys("prj_shop", "", "mock:a")
	if err != nil || len(keys) != 1 || keys[0].Used != 0 {
		t.Errorf("keys %+v: %v", keys, err)
	}
}

// A request that waits for its limit is admitted by an advance, and gone with its client.
func TestX11_delays_run_on_the_clock_of_the_session(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, limitedMock("limit: 1, window: 50s, onExceed: { action: delay }"))
		s.wants(t, "/a", "a")
		began := time.Now()
		answered := make(chan string, 1)
		go func() { answered <- s.ask("/a") }()
		synctest.Wait()
		<-time.After(10 * time.Second)
		s.advance(t, 40*time.Second)
		if got := <-answered; got != "a" || time.Since(began) != 10*time.Second {
			t.Errorf("%s after %s", got, time.Since(began))
		}
		x := s.recorded.last(t, 2)
		if x.DelayPlanned != 50*time.Second || x.DelaySlept != 10*time.Second || !x.Limits[0].Allowed {
			t.Errorf("planned %s, slept %s, limits %+v", x.DelayPlanned, x.DelaySlept, x.Limits)
		}
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan any, 1)
		go func() {
			defer func() { gone <- recover() }()
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/m/shop/a", http.NoBody))
		}()
		synctest.Wait()
		leave()
		if got, _ := (<-gone).(error); !errors.Is(got, http.ErrAbortHandler) {
			t.Errorf("recovered %v", got)
		}
		if x := s.recorded.last(t, 3); !x.ClientAborted || x.AnsweredBy != mockbase.AnsweredBySimulatedLimit {
			t.Errorf("aborted %t, by %s", x.ClientAborted, x.AnsweredBy)
		}
	})
}

func TestX7_a_changed_limit_keeps_its_counts(t *testing.T) {
	t.Parallel()
	s := newStage(t, limitedMock("limit: 5, window: 1h"))
	s.wants(t, "/a", "a", "a", "a")
	s.publish(t, limitedMock("limit: 2, window: 1h"))
	if got := s.exchange("/a"); got.status != http.StatusTooManyRequests || got.field("X-RateLimit-Remaining") != "0" {
		t.Errorf("%d, header %v", got.status, got.header)
	}
	s.publish(t, limitedMock("limit: 4, window: 1h"))
	s.wants(t, "/a", "a", "429")
}

func TestX7_a_changed_named_policy_reaches_its_mocks(t *testing.T) {
	t.Parallel()
	const mocks = "mocks: [{ request: GET /a, name: a, response: { text: a }, rateLimit: { use: p } }]\n"
	s := newStage(t, "rateLimits: { p: { limit: 1, window: 1h } }\n"+mocks)
	s.wants(t, "/a", "a", "429")
	s.publish(t, "rateLimits: { p: { limit: 3, window: 1h } }\n"+mocks)
	s.wants(t, "/a", "a", "a", "429")
}

func TestAA8_limits_are_per_session(t *testing.T) {
	t.Parallel()
	s := newStage(t, limitedMock("limit: 1, window: 1h"))
	s.wants(t, "/a", "a", "429")
	s.wants(t, "/~one/a", "a", "429")
	if err := s.Reset("prj_shop", "one", []mockbase.ResetLevel{mockbase.ResetLimits}); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "/~one/a", "a")
	s.wants(t, "/a", "429")
	if err := s.EndSession("prj_shop", "one"); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "/~one/a", "a", "429")
}

// L2: where a derived HEAD is free, limits are too; where it counts, they are shared.
func TestL2_a_free_head_costs_nothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /f, name: f, headCounts: false, response: { text: f }, rateLimit: 1/1h }
  - { request: GET /c, name: c, response: { text: c }, rateLimit: 1/1h }
`)
	s.wants(t, "HEAD /f", "", "")
	s.wants(t, "/f", "f", "429")
	s.wants(t, "HEAD /c", "", "429")
	s.wants(t, "/c", "429")
}

// Where states move while a limit is asked, the charge of the first mock stays, and the answer tells of the second alone.
func TestR2_the_answer_tells_of_the_limit_of_its_own_mock(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, name: second, response: { text: second }, priority: -1 }
  - { request: GET /a, name: first, scenario: s, state: Started, response: { text: first },
      rateLimit: { limit: 1, window: 300ms, onExceed: { action: delay } } }
  - { request: GET /move, name: move, scenario: s, response: { text: moved, setState: B } }
`)
	s.wants(t, "/a", "first")
	answered := make(chan received, 1)
	go func() { answered <- s.exchange("/a") }()
	s.wants(t, "/move", "moved")
	got := <-answered
	if got.body != "second" || got.field("X-RateLimit-Limit") != "" {
		t.Errorf("%s, header %v", got.body, got.header)
	}
}

// Secrets tell clients apart and are kept nowhere.
func TestX2_secrets_in_keys_are_digests(t *testing.T) {
	t.Parallel()
	s := newStage(t, limitedMock(`limit: 1, window: 1h, key: ["header:authorization", "cookie:sid", "template:{{ header `+"`X-B`"+` }}"]`))
	send := func(secret string) int {
		r := httptest.NewRequest(http.MethodGet, "/m/shop/a", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Cookie", "sid="+secret)
		r.Header.Set("X-B", "b")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	if got := []int{send("hush-1"), send("hush-1"), send("hush-2")}; !cmp.Equal(got, []int{200, 429, 200}) {
		t.Errorf("answered %v", got)
	}
	key := s.recorded.last(t, 3).Limits[0].Key
	if strings.Contains(key, "hush") || strings.Count(key, "hmac:") != 2 || !strings.HasSuffix(key, `"b"`) {
		t.Errorf("the key is recorded as %s", key)
	}
}

func TestAA1_no_mock_is_limited_unless_its_author_says_so(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mocks: [{ request: GET /a, name: a, response: { text: a } }]\n")
	if got := s.crowd(1_000, "/a"); got["a"] != 1_000 {
		t.Errorf("answered %v", got)
	}
	limits, err := s.Limits("prj_shop", "")
	if err != nil || len(limits) != 0 {
		t.Errorf("limits %+v: %v", limits, err)
	}
}

func TestAA1_an_engine_without_a_keeper_refuses_limits(t *testing.T) {
	t.Parallel()
	e, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []string
	for _, f := range faultsOf(t, e, `
defaults: { rateLimit: 5/10s }
rateLimits: { p: { limit: 1, window: 1s } }
collections: { posts: { rateLimit: 1/s } }
mocks: [{ request: GET /a, response: { text: a }, rateLimit: 1/s }, { request: GET /b, response: { text: b } }]
`) {
		got = append(got, string(f.Code)+" "+f.Pointer)
	}
	want := []string{"not_served #/rateLimits", "not_served #/defaults/rateLimit", "not_served #/collections/posts/rateLimit", "not_served #/mocks/0/rateLimit"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestX3_templates_see_the_limit_and_a_cost_that_is_none_fails(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, name: a, rateLimit: { limit: 1, window: 1m }, response: { template: true, text: "{{ limit.limit }} {{ limit.remaining }} {{ limit.reset }} {{ limit.policy }}" } }
  - { request: GET /w, name: w, rateLimit: { limit: 3, window: 1m, cost: '{{ query.n }}' }, response: { text: w } }
`)
	s.wants(t, "/a", "1 0 60 a", "429")
	s.wants(t, "/w?n=2", "w", "429")
	s.wants(t, "/w?n=many", "500")
	s.wants(t, "/w?n=99999999999999999999", "429")
	if x := s.recorded.last(t, 6); x.AnsweredBy != mockbase.AnsweredBySimulatedLimit {
		t.Errorf("answered by %s", x.AnsweredBy)
	}
}

func TestX7_management_reads_and_changes_buckets(t *testing.T) {
	t.Parallel()
	s := newStage(t, limitedMock("limit: 3, window: 1h, key: 'header:X-C'"))
	s.wants(t, "/a", "a", "a", "a", "429")
	keys, err := s.LimitKeys("prj_shop", "", "mock:a")
	if err != nil || len(keys) != 1 || keys[0].Requests != 4 || keys[0].Limited != 1 || keys[0].Used != 3 {
		t.Fatalf("keys %+v: %v", keys, err)
	}
	set, err := s.SetLimitUsed("prj_shop", "", "mock:a", keys[0].ID, 2)
	if err != nil || set.Remaining != 1 || len(set.Decisions) != 4 || set.Decisions[0].Allowed {
		t.Errorf("set %+v: %v", set, err)
	}
	s.wants(t, "/a", "a", "429")
	if n, err := s.ResetLimit("prj_shop", "", "mock:a", ""); n != 1 || err != nil {
		t.Errorf("cleared %d: %v", n, err)
	}
	s.wants(t, "/a", "a")
	view, err := s.Limit("prj_shop", "", "mock:a")
	if err != nil || view.Use.Allowed != 5 || view.Use.Limited != 2 || view.Use.PeakPercent != 100 {
		t.Errorf("limit %+v: %v", view, err)
	}
	trial, err := s.SimulateLimit("prj_shop", "mock:a", &mockbase.LimitTrial{Count: 4, RatePerSecond: 1})
	if err != nil || len(trial) != 4 || !trial[2].Allowed || trial[3].Allowed || trial[3].RetryAfter != time.Hour-3*time.Second {
		t.Errorf("trial %+v: %v", trial, err)
	}
	for name, err := range map[string]error{
		"no limit": func() error { _, err := s.Limit("prj_shop", "", "mock:b"); return err }(),
		"no key":   func() error { _, err := s.LimitKey("prj_shop", "", "mock:a", "key_0"); return err }(),
	} {
		if codeOf(err) != mockbase.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// AA28 and AA30: a wait is foretold as it will be, with what is left after it, and an author's slow answer is not waited for.
func TestAA30_waits_of_limits_are_foretold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, `
mocks:
  - request: GET /d
    name: d
    rateLimit: { limit: 1, window: 30s, onExceed: { action: delay } }
    response: { template: true, delay: 1s, text: "{{ limit.remaining }} {{ limit.reset }}" }
  - request: GET /s
    name: s
    rateLimit: { limit: 1, window: 30s, onExceed: { response: { delay: 1m, text: slow } } }
    response: { text: s }
`)
		if got := s.exchange("/d"); got.body != "0 30" {
			t.Errorf("answered %s", got.body)
		}
		s.wants(t, "/s", "s")
		began := time.Now()
		for path, want := range map[string]struct {
			body  string
			delay time.Duration
			by    mockbase.AnsweredBy
		}{"/d": {"0 30", 30 * time.Second, mockbase.AnsweredByMock}, "/s": {"slow", 0, mockbase.AnsweredBySimulatedLimit}} {
			told, err := s.Explain(t.Context(), &mockbase.Question{ProjectID: "prj_shop", Request: mockbase.SampleRequest{Target: path}})
			if err != nil || told.Outcome != want.by || string(told.Response.Body) != want.body || !told.Response.Rendered {
				t.Fatalf("%s: told %+v: %v", path, told, err)
			}
			if path == "/d" && (told.Response.Delay != want.delay || len(told.Limits) != 1 || !told.Limits[0].Allowed) {
				t.Errorf("waits %s, limits %+v", told.Response.Delay, told.Limits)
			}
		}
		if passed := time.Since(began); passed > 0 {
			t.Errorf("looking took %s", passed)
		}
	})
}

// X3 and X5: instants in headers are those of the wall clock, like the Date of the answer, however far the session's clock is ahead.
func TestX5_the_fields_of_a_rejection_agree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, `
mocks:
  - request: GET /ban
    name: ban
    rateLimit: { limit: 1, window: 30s, headers: [x], reset: seconds, ban: { after: 1, within: 1m, for: 1h } }
    response: { text: b }
  - request: GET /date
    name: date
    rateLimit: { limit: 1, window: 30s, headers: [x], reset: http_date, retryAfter: http_date }
    response: { text: d }
  - request: GET /epoch
    name: epoch
    rateLimit: { limit: 1, window: 30s, headers: [x], reset: epoch }
    response: { text: e }
`)
		s.wants(t, "/ban", "b")
		if got := s.exchange("/ban"); got.field("Retry-After") != "3600" || got.field("X-RateLimit-Reset") != "3600" {
			t.Errorf("the rejection that begins a ban says %v", got.header)
		}
		s.advance(t, 24*time.Hour)
		at := time.Now().Add(30 * time.Second)
		s.wants(t, "/date", "d")
		want := at.UTC().Format(http.TimeFormat)
		if got := s.exchange("/date"); got.field("Retry-After") != want || got.field("X-RateLimit-Reset") != want {
			t.Errorf("at %s the dates are %v", time.Now(), got.header)
		}
		if got := s.exchange("/epoch"); got.field("X-RateLimit-Reset") != strconv.FormatInt(at.Unix(), 10) {
			t.Errorf("at %s the instant is %v", time.Now(), got.header)
		}
	})
}
