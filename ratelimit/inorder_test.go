package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
)

// TakeInOrder fails as Take does, behind the requests that pass.
func (s *fickle) TakeInOrder(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	judged, err := s.Store.TakeInOrder(ctx, requests[:min(len(requests), s.passes())], decisions)
	if err == nil && s.err != nil {
		err = s.err
	}
	return judged, err
}

// passes is how many requests in order are judged before a failure.
func (s *fickle) passes() int {
	if s.err != nil {
		return 1
	}
	return 1 << 20
}

// inOrder checks the requests and tells of each that was judged.
func (b *bench) inOrder(t *testing.T, requests []ratelimit.Request) []string {
	t.Helper()
	decisions := make([]ratelimit.Decision, len(requests))
	judged, err := b.CheckInOrder(t.Context(), requests, decisions)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 0, judged)
	for i := range decisions[:judged] {
		word := "denied "
		if decisions[i].Allowed {
			word = "allowed "
		}
		texts = append(texts, word+decisions[i].Degraded.String())
	}
	return texts
}

// ladder are three limits, each narrower than the next.
func ladder() []ratelimit.Request {
	k := func(namespace string) ratelimit.Key { return ratelimit.Key{Namespace: namespace, Identifier: "k"} }
	return []ratelimit.Request{
		{Key: k("user"), Policy: clock(2, time.Hour), Cost: 1},
		{Key: k("none"), Policy: &ratelimit.Policy{}, Cost: 1},
		{Key: k("endpoint"), Policy: of(ratelimit.GCRA, 1, time.Hour), Cost: 1},
		{Key: k("global"), Policy: clock(9, time.Hour), Cost: 1},
	}
}

func TestRL14_RL62_checks_in_order_ask_the_store_once_and_stop_at_a_denial(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	for i, want := range [][]string{
		{"allowed none", "allowed none", "allowed none", "allowed none"},
		{"allowed none", "allowed none", "denied none"},
		{"denied none"},
	} {
		if diff := cmp.Diff(want, b.inOrder(t, ladder())); diff != "" {
			t.Errorf("request %d (-want +got)\n%s", i+1, diff)
		}
	}
	if b.store.asked != 3 {
		t.Errorf("the store was asked %d times for three requests", b.store.asked)
	}
	if d := b.check(t, clock(9, time.Hour), 0); d.Remaining != 9 {
		t.Errorf("another key: %+v", d)
	}
	want := ratelimit.Counts{Allowed: 5, Denied: 2, Skipped: 2, Degraded: map[string]int64{}}
	if diff := cmp.Diff(want, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
}

func TestRL63_what_the_store_did_not_judge_in_order_the_failure_mode_does(t *testing.T) {
	t.Parallel()
	for mode, want := range map[ratelimit.Mode][][]string{
		ratelimit.FailOpen: {
			{"allowed none", "allowed none", "allowed open", "allowed open"}, {"allowed none", "allowed none", "allowed open", "allowed open"},
		},
		ratelimit.FailClosed: {{"allowed none", "allowed none", "denied closed"}, {"allowed none", "allowed none", "denied closed"}},
		ratelimit.FailMemory: {
			{"allowed none", "allowed none", "allowed memory", "allowed memory"}, {"allowed none", "allowed none", "denied memory"},
		},
	} {
		b := newBench(t, mode, nil)
		b.store.err = errRefused
		for i := range want[:2] {
			if diff := cmp.Diff(want[i], b.inOrder(t, ladder())); diff != "" {
				t.Errorf("%s, request %d (-want +got)\n%s", mode, i+1, diff)
			}
		}
		if h := b.Health(); !h.Degraded || h.Checks != 2 {
			t.Errorf("%s: %+v, want it degraded by two failures", mode, h)
		}
		b.store.err = nil
		b.now = b.now.Add(time.Second)
		b.inOrder(t, ladder())
		if h := b.Health(); h.Degraded {
			t.Errorf("%s: %+v after the store's return", mode, h)
		}
	}
}

func TestRL9_misuse_in_order_is_an_error_and_judges_nothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	decisions := make([]ratelimit.Decision, 4)
	for name, spoil := range map[string]func([]ratelimit.Request) ([]ratelimit.Request, []ratelimit.Decision){
		"too few decisions": func(r []ratelimit.Request) ([]ratelimit.Request, []ratelimit.Decision) { return r, decisions[:3] },
		"a negative cost": func(r []ratelimit.Request) ([]ratelimit.Request, []ratelimit.Decision) {
			r[3].Cost = -1
			return r, decisions
		},
		"no policy": func(r []ratelimit.Request) ([]ratelimit.Request, []ratelimit.Decision) {
			r[3].Policy = nil
			return r, decisions
		},
		"an impossible namespace": func(r []ratelimit.Request) ([]ratelimit.Request, []ratelimit.Decision) {
			r[3].Key.Namespace = "a:b"
			return r, decisions
		},
	} {
		requests, room := spoil(ladder())
		judged, err := b.CheckInOrder(t.Context(), requests, room)
		if judged != 0 || !errors.Is(err, ratelimit.ErrConfig) && !errors.Is(err, ratelimit.ErrCost) {
			t.Errorf("%s: %d judged, %v", name, judged, err)
		}
	}
	if b.store.asked != 0 {
		t.Errorf("the store was asked %d times", b.store.asked)
	}
}

func TestRL128_denials_in_dry_run_are_counted_apart(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "k"}, Policy: clock(1, time.Hour), Cost: 1, DryRun: true}
	for range 3 {
		if _, err := b.Check(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.CheckInOrder(t.Context(), []ratelimit.Request{r}, make([]ratelimit.Decision, 1)); err != nil {
		t.Fatal(err)
	}
	want := ratelimit.Counts{Allowed: 1, DryDenied: 3, Degraded: map[string]int64{}}
	if diff := cmp.Diff(want, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
}

func TestRL128_checks_of_a_store_that_can_be_away_are_timed(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, func(b *bench, o *ratelimit.Options) { o.Store = knowing{b.store} })
	for range 20 {
		b.check(t, clock(100, time.Hour), 1)
	}
	b.check(t, &ratelimit.Policy{}, 1) // It asks no store.
	b.inOrder(t, ladder())
	got := b.Timing()
	sum := int64(0)
	for _, n := range got.Buckets {
		sum += n
	}
	if got.Count != 21 || sum != got.Count || got.Sum <= 0 || len(got.Buckets) != len(got.Bounds)+1 {
		t.Errorf("%+v, want 21 checks", got)
	}
	for i := 1; i < len(got.Bounds); i++ {
		if got.Bounds[i] <= got.Bounds[i-1] {
			t.Errorf("bounds %v do not rise", got.Bounds)
		}
	}
}

func TestRL128_a_part_of_the_checks_in_memory_is_timed(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	const checks = 20_000
	for range checks {
		b.check(t, clock(1<<40, time.Hour), 1)
	}
	if got := b.Timing().Count; got < checks/64/2 || got > checks/64*2 {
		t.Errorf("%d of %d checks were timed", got, checks)
	}
}
