package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// TakeAll fails as Take does.
func (s *fickle) TakeAll(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.err != nil {
		return s.err
	}
	return s.Store.TakeAll(ctx, requests, decisions) //nolint:wrapcheck // It stands for the store.
}

// both are a wide and a narrow limit of one caller, and one without a limit.
func both() []ratelimit.Request {
	k := func(namespace string) ratelimit.Key { return ratelimit.Key{Namespace: namespace, Identifier: "k"} }
	return []ratelimit.Request{
		{Key: k("wide"), Policy: first(10, time.Hour), Cost: 1},
		{Key: k("narrow"), Policy: of(ratelimit.SlidingLog, 2, time.Second), Cost: 1},
		{Key: k("none"), Policy: &ratelimit.Policy{}, Cost: 1},
	}
}

// outcomes checks all three and tells what came out of each: a for allowed, d for denied, s for skipped, and by what.
func (b *bench) outcomes(t *testing.T, requests []ratelimit.Request) string {
	t.Helper()
	decisions := make([]ratelimit.Decision, len(requests))
	if err := b.CheckAll(t.Context(), requests, decisions); err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 0, len(decisions))
	for _, d := range decisions {
		word := "denied"
		if d.Skipped {
			word = "skipped"
		} else if d.Allowed {
			word = "allowed"
		}
		texts = append(texts, word+" "+d.Degraded.String())
	}
	return strings.Join(texts, ", ")
}

func TestRL143_a_limiter_charges_all_or_none_in_every_mode(t *testing.T) {
	t.Parallel()
	const passed = "allowed none, allowed none, skipped none"
	for mode, want := range map[ratelimit.Mode][]string{
		ratelimit.FailOpen:   {"allowed open, allowed open, skipped none", "allowed open, allowed open, skipped none"},
		ratelimit.FailClosed: {"denied closed, denied closed, skipped none", "denied closed, denied closed, skipped none"},
		ratelimit.FailMemory: {"allowed memory, allowed memory, skipped none", "allowed memory, denied memory, skipped none"},
	} {
		b := newBench(t, mode, nil)
		for i, want := range []string{passed, passed, "allowed none, denied none, skipped none"} {
			if got := b.outcomes(t, both()); got != want {
				t.Errorf("%s, check %d: %s, want %s", mode, i, got, want)
			}
		}
		if d := b.check(t, first(10, time.Hour), 0); d.Remaining != 10 {
			t.Errorf("%s: another key: %+v", mode, d)
		}
		b.store.err = errRefused
		b.outcomes(t, both())
		for _, want := range want {
			if got := b.outcomes(t, both()); got != want {
				t.Errorf("RL127 %s, without the store: %s, want %s", mode, got, want)
			}
		}
		if h := b.Health(); !h.Degraded {
			t.Errorf("%s: health %+v", mode, h)
		}
		b.store.err = nil
		b.now = b.now.Add(time.Minute)
		if got := b.outcomes(t, both()); got != passed || b.Health().Degraded {
			t.Errorf("%s, with the store again: %s, %+v", mode, got, b.Health())
		}
		if counts := b.Counts(); counts.Skipped != 7 || counts.Allowed+counts.Denied != 15 {
			t.Errorf("%s: counts %+v", mode, counts)
		}
	}
}

func TestRL3_RL143_requests_without_state_ask_no_store(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailClosed, nil)
	b.store.err = errRefused
	requests := both()
	requests[0].Cost, requests[1] = 11, requests[2]
	if got := b.outcomes(t, requests); got != "denied none, skipped none, skipped none" || b.store.asked != 0 {
		t.Errorf("%s, and the store was asked %d times", got, b.store.asked)
	}
}

func TestRL9_RL143_misuse_of_several_is_an_error(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	for name, c := range map[string]struct {
		change func(requests []ratelimit.Request) []ratelimit.Request
		want   error
	}{
		"too few decisions": {func(r []ratelimit.Request) []ratelimit.Request { return append(r, r[2]) }, ratelimit.ErrConfig},
		"no policy":         {func(r []ratelimit.Request) []ratelimit.Request { r[2].Policy = nil; return r }, ratelimit.ErrConfig},
		"no namespace":      {func(r []ratelimit.Request) []ratelimit.Request { r[1].Key.Namespace = ""; return r }, ratelimit.ErrConfig},
		"a negative cost":   {func(r []ratelimit.Request) []ratelimit.Request { r[0].Cost = -1; return r }, ratelimit.ErrCost},
		"one counter twice": {func(r []ratelimit.Request) []ratelimit.Request { r[1] = r[0]; return r }, ratelimit.ErrConfig},
		"no lease": {func(r []ratelimit.Request) []ratelimit.Request {
			r[0].Policy = of(ratelimit.Concurrency, 1, time.Second)
			return r
		}, ratelimit.ErrConfig},
	} {
		if err := b.CheckAll(t.Context(), c.change(both()), make([]ratelimit.Decision, 3)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if b.store.asked != 0 || b.Health().Degraded {
		t.Errorf("the store was asked %d times, health %+v", b.store.asked, b.Health())
	}
	one := newBench(t, "", func(b *bench, o *ratelimit.Options) { o.Store = plain{b.store} })
	if err := one.CheckAll(t.Context(), both(), make([]ratelimit.Decision, 3)); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("a store that charges one at a time: %v", err)
	}
}

func TestRL57_kinds_of_state_are_counters_of_their_own(t *testing.T) {
	t.Parallel()
	requests := both()
	requests[1].Key = requests[0].Key // A window and a log share no counter.
	requests[2].Key = requests[0].Key // No limit has none.
	if err := ratelimit.Together(requests, make([]ratelimit.Decision, 3)); err != nil {
		t.Error(err)
	}
}
