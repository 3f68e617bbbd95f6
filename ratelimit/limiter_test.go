package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// bench is a limiter before a store that fails on demand, with a clock of the test.
type bench struct {
	*ratelimit.Limiter

	store    *fickle
	fallback *memstore.Store
	now      time.Time
	logged   bytes.Buffer
	changes  []ratelimit.Health
}

// fickle is a memory store that answers err while it is set, and counts how often it was asked.
type fickle struct {
	*memstore.Store

	mu    sync.Mutex
	err   error
	asked int
}

func (s *fickle) Take(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.err != nil {
		return ratelimit.Decision{}, s.err
	}
	return s.Store.Take(ctx, r)
}

// knowing is a store that knows whether it can decide.
type knowing struct{ *fickle }

func (s knowing) Available() error { return s.err }

func newMemory(tb testing.TB) *memstore.Store {
	tb.Helper()
	s, err := memstore.New(memstore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func newBench(tb testing.TB, mode ratelimit.Mode, change func(*bench, *ratelimit.Options)) *bench {
	tb.Helper()
	b := &bench{store: &fickle{Store: newMemory(tb)}, fallback: newMemory(tb), now: time.Unix(1_767_225_600, 0)}
	o := ratelimit.Options{
		Name: "shield", Store: b.store, OnFailure: mode, Fallback: b.fallback,
		Clock:    func() time.Time { return b.now },
		OnHealth: func(h ratelimit.Health) { b.changes = append(b.changes, h) },
		Logger: slog.New(slog.NewTextHandler(&b.logged, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
	}
	if change != nil {
		change(b, &o)
	}
	l, err := ratelimit.NewLimiter(o)
	if err != nil {
		tb.Fatal(err)
	}
	b.Limiter = l
	return b
}

func (b *bench) check(tb testing.TB, p *ratelimit.Policy, cost int64) ratelimit.Decision {
	tb.Helper()
	d, err := b.Check(tb.Context(), ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "k"}, Policy: p, Cost: cost})
	if err != nil {
		tb.Fatalf("check: %v", err)
	}
	return d
}

// lines returns what was logged since the last call.
func (b *bench) lines() []string {
	defer b.logged.Reset()
	return strings.Split(strings.TrimSuffix(b.logged.String(), "\n"), "\n")
}

var errRefused = fmt.Errorf("dial 127.0.0.1:6379: connection refused: %w", ratelimit.ErrUnavailable)

func TestRL3_RL7_short_cuts_ask_no_store(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailClosed, nil)
	b.store.err = errRefused
	if d := b.check(t, &ratelimit.Policy{}, 1_000_000); !d.Allowed || !d.Skipped {
		t.Errorf("limit 0: %+v", d)
	}
	if d := b.check(t, clock(3, time.Minute), 4); d.Allowed || d.RetryAfter != ratelimit.Never || d.Limit != 3 || d.Degraded != ratelimit.None {
		t.Errorf("an impossible cost: %+v", d)
	}
	if b.store.asked != 0 {
		t.Errorf("the store was asked %d times", b.store.asked)
	}
	if got, want := b.Counts(), (ratelimit.Counts{Skipped: 1, Denied: 1, Degraded: map[string]int64{}}); !cmp.Equal(got, want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestRL9_misuse_is_an_error_in_every_mode(t *testing.T) {
	t.Parallel()
	for _, mode := range []ratelimit.Mode{ratelimit.FailOpen, ratelimit.FailClosed, ratelimit.FailMemory} {
		b := newBench(t, mode, nil)
		key := ratelimit.Key{Namespace: "engine"}
		for name, c := range map[string]struct {
			r    ratelimit.Request
			want error
		}{
			"no policy":          {ratelimit.Request{Key: key, Cost: 1}, ratelimit.ErrConfig},
			"negative cost":      {ratelimit.Request{Key: key, Policy: clock(1, time.Minute), Cost: -1}, ratelimit.ErrCost},
			"no such algorithm":  {ratelimit.Request{Key: key, Policy: &ratelimit.Policy{Algorithm: "dice", Limit: 1, Window: time.Minute}, Cost: 1}, ratelimit.ErrConfig},
			"no lease":           {ratelimit.Request{Key: key, Policy: &ratelimit.Policy{Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Minute}, Cost: 1}, ratelimit.ErrConfig},
			"no namespace":       {ratelimit.Request{Policy: clock(1, time.Minute), Cost: 1}, ratelimit.ErrConfig},
			"namespace of a key": {ratelimit.Request{Key: ratelimit.Key{Namespace: "a:b"}, Policy: clock(1, time.Minute), Cost: 1}, ratelimit.ErrConfig},
		} {
			if d, err := b.Check(t.Context(), c.r); !errors.Is(err, c.want) || d.Allowed {
				t.Errorf("%s, %s: %+v, %v, want %v", mode, name, d, err, c.want)
			}
		}
		if h := b.Health(); h.Degraded || h.Total != 0 {
			t.Errorf("%s: misuse counts as a failure of the store: %+v", mode, h)
		}
	}
}

func TestRL10_options_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	store := newMemory(t)
	for name, o := range map[string]ratelimit.Options{
		"no store":                {},
		"an unknown mode":         {Store: store, OnFailure: "half"},
		"memory without memory":   {Store: store, OnFailure: ratelimit.FailMemory},
		"a negative probe period": {Store: store, ProbeInterval: -1},
	} {
		if _, err := ratelimit.NewLimiter(o); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	l, err := ratelimit.NewLimiter(ratelimit.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if h := l.Health(); h.Degraded || h.Mode != ratelimit.FailOpen || h.Since.IsZero() {
		t.Errorf("the default: %+v, want open and healthy", h)
	}
}

func TestRL64_open_lets_every_check_pass_with_all_remaining(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", nil)
	p := clock(3, time.Minute)
	for _, err := range []error{errRefused, context.DeadlineExceeded, ratelimit.ErrStoreFull, ratelimit.ErrStoreData, ratelimit.ErrConfig, errors.New("odd")} {
		b.store.err = err
		for range 5 {
			d := b.check(t, p, 3)
			if want := (ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 3, Degraded: ratelimit.Open, Policy: p}); d != want {
				t.Fatalf("%v: %+v, want %+v", err, d, want)
			}
		}
	}
	want := map[string]int64{"unavailable": 5, "timeout": 5, "full": 5, "data": 5, "config": 5, "other": 5}
	if got := b.Counts(); !cmp.Equal(got.Degraded, want) || got.Allowed != 30 {
		t.Errorf("RL68 counts %+v, want %v", got, want)
	}
}

func TestRL65_closed_denies_until_the_next_probe(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailClosed, func(_ *bench, o *ratelimit.Options) { o.ProbeInterval = 2 * time.Second })
	b.store.err = errRefused
	p := clock(3, time.Minute)
	if d, want := b.check(t, p, 1), (ratelimit.Decision{Limit: 3, RetryAfter: 2 * time.Second, Degraded: ratelimit.Closed, Policy: p}); d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
}

func TestRL66_RL67_memory_keeps_the_policy_and_forgets_it_on_recovery(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailMemory, nil)
	p := clock(3, time.Hour)
	b.check(t, p, 3)
	for round := range 2 {
		b.store.err = errRefused
		for i := range 5 {
			d := b.check(t, p, 1)
			if d.Allowed != (i < 3) || d.Degraded != ratelimit.Memory {
				t.Fatalf("outage %d, check %d: %+v, want the full limit, kept in memory", round, i, d)
			}
		}
		b.store.err = nil
		b.now = b.now.Add(time.Second)
		if d := b.check(t, p, 1); d.Allowed || d.Degraded != ratelimit.None {
			t.Fatalf("after outage %d: %+v, want the store's own count", round, d)
		}
		if n := b.fallback.Len(); n != 0 {
			t.Errorf("after outage %d the fallback holds %d counters", round, n)
		}
	}
}

func TestRL66_memory_that_fails_too_is_open(t *testing.T) {
	t.Parallel()
	broken := &fickle{err: errRefused}
	b := newBench(t, ratelimit.FailMemory, func(_ *bench, o *ratelimit.Options) { o.Fallback = broken })
	b.store.err = errRefused
	if d := b.check(t, clock(3, time.Minute), 1); !d.Allowed || d.Degraded != ratelimit.Open {
		t.Errorf("%+v, want it to pass", d)
	}
}

func TestRL68_a_failure_is_logged_on_change_and_once_a_minute(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	p := clock(100, time.Minute)
	b.check(t, p, 1)
	start := b.now
	b.store.err = errRefused
	for range 150 { // Two and a half minutes of ten checks a second, one second at a time.
		for range 10 {
			b.check(t, p, 1)
		}
		b.now = b.now.Add(time.Second)
	}
	b.store.err = nil
	b.check(t, p, 1)
	b.check(t, p, 1)
	want := []string{
		`level=ERROR msg="limiter store failed" limiter=shield mode=open reason=unavailable error="dial 127.0.0.1:6379: connection refused: limiter store is unavailable"`,
		`level=WARN msg="limiter store still fails" limiter=shield mode=open reason=unavailable error="dial 127.0.0.1:6379: connection refused: limiter store is unavailable" checks=601 since=2026-01-01T00:00:00.000Z`,
		`level=WARN msg="limiter store still fails" limiter=shield mode=open reason=unavailable error="dial 127.0.0.1:6379: connection refused: limiter store is unavailable" checks=600 since=2026-01-01T00:00:00.000Z`,
		`level=INFO msg="limiter store works again" limiter=shield mode=open duration=2m30s checks=1500`,
	}
	got := b.lines()
	for i := range got { // The instant is written in the zone of the machine.
		if at := strings.Index(got[i], " since="); at >= 0 {
			got[i] = got[i][:at] + " since=2026-01-01T00:00:00.000Z"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cause := errRefused.Error()
	wantChanges := []ratelimit.Health{
		{Name: "shield", Degraded: true, Mode: ratelimit.FailOpen, Since: start, Reason: "unavailable", LastError: cause, Checks: 1, Total: 1},
		{Name: "shield", Mode: ratelimit.FailOpen, Since: b.now, Reason: "unavailable", LastError: cause, Total: 1500},
	}
	if diff := cmp.Diff(wantChanges, b.changes); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
}

func TestRL68_a_store_that_fails_every_other_check_writes_no_line_per_check(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	p := clock(1000, time.Minute)
	for i := range 1000 {
		b.store.err = nil
		if i%2 == 0 {
			b.store.err = errRefused
		}
		b.check(t, p, 1)
		b.now = b.now.Add(10 * time.Millisecond)
	}
	if lines := b.lines(); len(lines) != 1 {
		t.Errorf("%d lines for ten seconds of flapping, want the one of its beginning:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestRL68_a_foreign_value_under_one_key_is_no_outage(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	b.store.err = fmt.Errorf("read counter: %w", ratelimit.ErrStoreData)
	if d := b.check(t, clock(1, time.Minute), 1); !d.Allowed || d.Degraded != ratelimit.Open {
		t.Errorf("%+v, want the failure mode to decide", d)
	}
	if h := b.Health(); h.Degraded || h.Total != 1 || b.Counts().Degraded["data"] != 1 || len(b.changes) != 0 {
		t.Errorf("health %+v, counts %+v, want it counted and health kept", h, b.Counts())
	}
}

// classed is an error that names its own reason.
type classed struct{ error }

func (classed) ErrorClass() string { return "queue_full" }

func TestRL68_a_store_may_name_its_own_reasons(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	b.store.err = fmt.Errorf("take: %w", classed{ratelimit.ErrUnavailable})
	b.check(t, clock(1, time.Minute), 1)
	if h := b.Health(); h.Reason != "queue_full" || b.Counts().Degraded["queue_full"] != 1 {
		t.Errorf("health %+v, counts %+v", h, b.Counts())
	}
}

func TestRL67_a_recovery_is_seen_by_the_next_check_or_by_asking(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	p := clock(10, time.Minute)
	b.store.err = errRefused
	b.check(t, p, 1)
	b.store.err = nil
	b.now = b.now.Add(100 * time.Millisecond)
	if d := b.check(t, p, 1); d.Degraded != ratelimit.None {
		t.Errorf("the first check that the store decides: %+v", d)
	}
	if h := b.Health(); !h.Degraded {
		t.Errorf("a tenth of a second after a failure: %+v, too early to call it over", h)
	}
	b.now = b.now.Add(200 * time.Millisecond)
	if h := b.Health(); h.Degraded || h.LastError == "" || !h.Since.Equal(b.now) {
		t.Errorf("%+v, want it healthy since now, with the last error kept", h)
	}
}

func TestRL67_a_store_that_knows_its_state_is_asked(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, func(b *bench, o *ratelimit.Options) { o.Store = knowing{b.store} })
	b.store.err = errRefused
	if h := b.Health(); !h.Degraded || h.Reason != "unavailable" || h.Checks != 0 {
		t.Errorf("before any check: %+v, want the failure to be seen", h)
	}
	b.now = b.now.Add(time.Minute)
	b.Health()
	b.store.err = nil
	b.now = b.now.Add(time.Second)
	if h := b.Health(); h.Degraded {
		t.Errorf("after it came back: %+v, want it seen without a check", h)
	}
	if lines := b.lines(); len(lines) != 3 || b.store.asked != 0 || len(b.changes) != 2 {
		t.Errorf("%d checks, changes %+v, log:\n%s", b.store.asked, b.changes, strings.Join(lines, "\n"))
	}
}

func TestRL15_the_clock_does_not_step_back_a_little(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	start := b.now
	for _, c := range []struct{ read, want time.Duration }{
		{time.Minute, time.Minute},
		{time.Minute - time.Microsecond, time.Minute},
		{time.Minute - 5*time.Second, time.Minute},
		{time.Minute + time.Second, time.Minute + time.Second},
		{time.Minute - 4*time.Second - time.Microsecond, time.Minute - 4*time.Second - time.Microsecond},
		{time.Minute, time.Minute},
		{-time.Hour, -time.Hour},
	} {
		b.now = start.Add(c.read)
		if got := b.Now().Sub(start); got != c.want {
			t.Errorf("the clock reads %v: judged at %v, want %v", c.read, got, c.want)
		}
	}
	if jumps := b.Counts().ClockJumps; jumps != 2 {
		t.Errorf("%d jumps counted, want 2", jumps)
	}
	if lines := b.lines(); len(lines) != 1 || !strings.Contains(lines[0], "by=5.000001s") {
		t.Errorf("log %q, want the first jump once", lines)
	}
}

func TestRL15_a_check_without_an_instant_is_judged_by_the_limiters_clock(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	if d := b.check(t, clock(1, time.Minute), 1); d.Reset != time.Minute {
		t.Errorf("%+v, want the whole minute of the limiter's clock", d)
	}
	r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "other"}, Policy: clock(1, time.Minute), Cost: 1, Now: at(17_000)}
	if d, err := b.Check(t.Context(), r); err != nil || d.Reset != 43*time.Second {
		t.Errorf("%+v, %v, want the given instant", d, err)
	}
}

func TestRL137_reset_reaches_the_store_and_the_fallback(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailMemory, nil)
	p, key := clock(1, time.Hour), ratelimit.Key{Namespace: "engine", Identifier: "k"}
	b.check(t, p, 1)
	b.store.err = errRefused
	b.check(t, p, 1)
	if err := b.Reset(t.Context(), key, p); err != nil {
		t.Fatal(err)
	}
	if d := b.check(t, p, 1); !d.Allowed || d.Degraded != ratelimit.Memory {
		t.Errorf("the fallback after the reset: %+v", d)
	}
	b.store.err = nil
	if d := b.check(t, p, 1); !d.Allowed {
		t.Errorf("the store after the reset: %+v", d)
	}
	if err := b.Reset(t.Context(), ratelimit.Key{}, p); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("reset of an impossible key: %v", err)
	}
}

func TestRL10_a_limiter_serves_many_callers_through_an_outage(t *testing.T) {
	t.Parallel()
	store := &fickle{Store: newMemory(t)}
	l, err := ratelimit.NewLimiter(ratelimit.Options{Store: store, OnFailure: ratelimit.FailOpen})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for caller := range 8 {
		group.Go(func() {
			for i := range 200 {
				if caller == 0 && i%50 == 0 {
					store.mu.Lock()
					store.err = map[bool]error{true: errRefused}[i%100 == 0]
					store.mu.Unlock()
				}
				r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "k"}, Policy: clock(1_000_000, time.Hour), Cost: 1}
				if d, err := l.Check(t.Context(), r); err != nil || !d.Allowed {
					t.Errorf("%+v, %v", d, err)
				}
				l.Health()
			}
		})
	}
	group.Wait()
	if c := l.Counts(); c.Allowed != 1600 {
		t.Errorf("counts %+v, want 1,600 allowed", c)
	}
}
