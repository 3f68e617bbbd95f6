package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

// plain is a store without the methods that a store may have besides.
type plain struct{ ratelimit.Store }

// selective serves fixed windows alone.
type selective struct{ plain }

var errOther = errors.New("another algorithm")

func (selective) Serves(p *ratelimit.Policy) error {
	if p.Algorithm != "" && p.Algorithm != ratelimit.FixedWindow {
		return errors.Join(errOther, ratelimit.ErrConfig)
	}
	return nil
}

func (s selective) Take(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	if r.Policy != nil && s.Serves(r.Policy) != nil && r.Policy.Limit > 0 {
		return ratelimit.Decision{}, s.Serves(r.Policy)
	}
	return s.plain.Take(ctx, r) //nolint:wrapcheck // It stands for the store.
}

func (s selective) Reset(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	if err := s.Serves(p); err != nil {
		return err
	}
	return s.plain.Reset(ctx, k, p) //nolint:wrapcheck // It stands for the store.
}

func TestRL137_stores_that_can_do_less_keep_the_contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return plain{newMemory(t)}
	}, storetest.Algorithms()...)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return selective{plain{newMemory(t)}}
	}, ratelimit.FixedWindow)
}

func TestRL130_what_a_limiter_serves_is_known_before_a_check(t *testing.T) {
	t.Parallel()
	gcra := of(ratelimit.GCRA, 1, time.Minute)
	both := newBench(t, ratelimit.FailMemory, nil)
	main := newBench(t, ratelimit.FailOpen, func(b *bench, o *ratelimit.Options) { o.Store, o.Fallback = selective{plain{b.store}}, nil })
	fallback := newBench(t, ratelimit.FailMemory, func(b *bench, o *ratelimit.Options) { o.Fallback = selective{plain{b.fallback}} })
	for name, c := range map[string]struct {
		l    *bench
		p    *ratelimit.Policy
		want bool
	}{
		"all":                        {both, gcra, true},
		"a window":                   {main, clock(1, time.Minute), true},
		"not by the store":           {main, gcra, false},
		"not by the fallback":        {fallback, gcra, false},
		"a policy that is wrong":     {both, of("dice", 1, time.Minute), false},
		"no policy":                  {both, nil, false},
		"limit 0 of a known meter":   {both, of(ratelimit.GCRA, 0, 0), true},
		"limit 0 of an unknown kind": {both, of("dice", 0, 0), false},
	} {
		if err := c.l.Serves(c.p); (err == nil) != c.want || err != nil && !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want it served: %t", name, err, c.want)
		}
	}
}

func TestRL41_a_place_goes_back_to_the_store_that_gave_it(t *testing.T) {
	t.Parallel()
	p := of(ratelimit.Concurrency, 1, 30*time.Second)
	k := ratelimit.Key{Namespace: "engine", Identifier: "k"}
	for name, c := range map[string]struct {
		mode ratelimit.Mode
		err  error // of the store at the check
		held func(b *bench) ratelimit.Store
	}{
		"the store":              {ratelimit.FailMemory, nil, func(b *bench) ratelimit.Store { return b.store.Store }},
		"the fallback":           {ratelimit.FailMemory, errRefused, func(b *bench) ratelimit.Store { return b.fallback }},
		"nowhere, when it fails": {ratelimit.FailOpen, errRefused, nil},
		"nowhere, when shut":     {ratelimit.FailClosed, errRefused, nil},
	} {
		b := newBench(t, c.mode, nil)
		b.store.err = c.err
		b.now = time.Now() // The stores renew by the machine's clock.
		r := ratelimit.Request{Key: k, Policy: p, Cost: 1, Lease: "a"}
		d, err := b.Check(t.Context(), r)
		if err != nil || d.Allowed == (c.mode == ratelimit.FailClosed) {
			t.Fatalf("%s: %+v, %v", name, d, err)
		}
		// The decision knows where its place is, whatever the store's state is when it goes back.
		b.store.err = errRefused
		if renewed, err := b.Renew(t.Context(), r, d); err != nil || renewed != d.Allowed {
			t.Errorf("%s: renewed %t, %v, want %t", name, renewed, err, d.Allowed)
		}
		if c.held == nil {
			if err := b.Release(t.Context(), r, d); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		peek := ratelimit.Request{Key: k, Policy: p, Now: b.now}
		if held, err := c.held(b).Take(t.Context(), peek); err != nil || held.Remaining != 0 {
			t.Errorf("%s: %+v, %v, want the place held", name, held, err)
		}
		if err := b.Release(t.Context(), r, d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if freed, err := c.held(b).Take(t.Context(), peek); err != nil || freed.Remaining != 1 {
			t.Errorf("%s: %+v, %v, want the place back", name, freed, err)
		}
	}
}

// broken is a store whose leases cannot be reached.
type broken struct{ plain }

func (broken) Release(context.Context, ratelimit.Key, *ratelimit.Policy, string) error {
	return errRefused
}

func (broken) Renew(context.Context, ratelimit.Key, *ratelimit.Policy, string) (bool, error) {
	return true, errRefused
}

func TestRL41_a_store_that_cannot_take_a_place_back_says_so(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", func(b *bench, o *ratelimit.Options) { o.Store = broken{plain{b.store}} })
	r := ratelimit.Request{
		Key: ratelimit.Key{Namespace: "engine"}, Policy: of(ratelimit.Concurrency, 1, time.Minute), Cost: 1, Lease: "a",
	}
	d, err := b.Check(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if renewed, err := b.Renew(t.Context(), r, d); renewed || !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("renewed %t, %v", renewed, err)
	}
	if err := b.Release(t.Context(), r, d); !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("released: %v", err)
	}
	b.store.err = errRefused
	if d, err = b.Check(t.Context(), r); err != nil || !d.Allowed || d.Degraded != ratelimit.Open || d.Limit != 1 {
		t.Errorf("open: %+v, %v", d, err)
	}
}
