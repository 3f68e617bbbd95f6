package memstore_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func of(algorithm ratelimit.Algorithm, limit int64, window time.Duration) *ratelimit.Policy {
	return &ratelimit.Policy{Name: string(algorithm), Algorithm: algorithm, Limit: limit, Window: window}
}

// hold takes a place.
func hold(tb testing.TB, s *memstore.Store, k ratelimit.Key, p *ratelimit.Policy, lease string) ratelimit.Decision {
	tb.Helper()
	d, err := s.Take(tb.Context(), ratelimit.Request{Key: k, Policy: p, Cost: 1, Lease: lease})
	if err != nil {
		tb.Fatalf("take a place of %v: %v", k, err)
	}
	return d
}

func release(tb testing.TB, s *memstore.Store, k ratelimit.Key, p *ratelimit.Policy, lease string) {
	tb.Helper()
	if err := s.Release(tb.Context(), k, p, lease); err != nil {
		tb.Fatalf("release a place of %v: %v", k, err)
	}
}

// filler makes checks at instants of their own.
type filler struct {
	*memstore.Store

	clock *ticker
}

func newFiller(tb testing.TB, o memstore.Options) filler {
	tb.Helper()
	s, c := oneShard(tb, o)
	return filler{Store: s, clock: c}
}

func (f filler) fill(tb testing.TB, k ratelimit.Key, p *ratelimit.Policy, checks int) {
	tb.Helper()
	for range checks {
		f.clock.now = f.clock.now.Add(time.Millisecond)
		take(tb, f.Store, k, p, 1)
	}
}

func TestRL43_logs_are_charged_for_their_ring(t *testing.T) {
	t.Parallel()
	s := newFiller(t, memstore.Options{})
	p := of(ratelimit.SlidingLog, 1000, time.Hour)
	s.fill(t, client("a"), p, 1)
	one := s.Bytes()
	s.fill(t, client("a"), p, 999)
	if grown := s.Bytes() - one; grown < 900*16 || grown > 1100*16 {
		t.Errorf("999 more instants took %d bytes", grown)
	}
	if err := s.Reset(t.Context(), client("a"), p); err != nil || s.Bytes() != 0 {
		t.Errorf("%d bytes after a reset, %v", s.Bytes(), err)
	}
}

func TestRL43_a_log_that_grows_makes_others_go(t *testing.T) {
	t.Parallel()
	const bound = 32 << 10
	s := newFiller(t, memstore.Options{MaxBytes: bound})
	small := policy(10, time.Hour)
	for i := range 50 {
		take(t, s.Store, client(strconv.Itoa(i)), small, 1)
	}
	take(t, s.Store, client("exhausted"), policy(1, time.Hour), 1)
	long := of(ratelimit.SlidingLog, 1_000_000, time.Hour)
	for range 40 {
		s.fill(t, client("log"), long, 100)
		if s.Len() > 1 && s.Bytes() > bound {
			t.Fatalf("%d bytes in %d counters, want up to %d", s.Bytes(), s.Len(), bound)
		}
	}
	if d := take(t, s.Store, client("log"), long, 0); s.Len() != 1 || d.Remaining != 1_000_000-4000 {
		t.Errorf("%d counters and %d left, want the one in use, complete", s.Len(), d.Remaining)
	}
	if s.Evictions() != 51 {
		t.Errorf("%d evictions, want 51", s.Evictions())
	}
	take(t, s.Store, client("new"), small, 1) // The log takes all the room there is, and goes.
	if s.Len() != 1 || s.Bytes() > bound {
		t.Errorf("%d counters with %d bytes, want the new one alone", s.Len(), s.Bytes())
	}
}

func TestRL43_leases_are_charged_and_their_room_is_used_again(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{})
	p := of(ratelimit.Concurrency, 1000, time.Hour)
	hold(t, s, client("a"), p, "lease")
	one := s.Bytes()
	for i := range 999 {
		hold(t, s, client("a"), p, fmt.Sprintf("lease-%03d", i))
	}
	full := s.Bytes()
	if full-one < 999*60 {
		t.Errorf("999 more leases took %d bytes", full-one)
	}
	for i := range 999 {
		release(t, s, client("a"), p, fmt.Sprintf("lease-%03d", i))
	}
	for i := range 999 {
		hold(t, s, client("a"), p, fmt.Sprintf("other-%03d", i))
	}
	if s.Bytes() != full {
		t.Errorf("%d bytes with as many other leases, want %d", s.Bytes(), full)
	}
}

func TestRL43_a_place_given_back_makes_a_counter_an_ordinary_one(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxKeys: 2})
	p := of(ratelimit.Concurrency, 1, time.Hour)
	hold(t, s, client("a"), p, "x")
	hold(t, s, client("b"), p, "x")
	release(t, s, client("a"), p, "x")
	hold(t, s, client("c"), p, "x")
	if a, b := left(t, s, "a", p), left(t, s, "b", p); a != 1 || b != 0 {
		t.Errorf("a has %d left and b %d, want b to hold its place still", a, b)
	}
}

func TestRL40_leases_go_by_the_clock_of_the_store(t *testing.T) {
	t.Parallel()
	s, c := oneShard(t, memstore.Options{})
	p, other := of(ratelimit.Concurrency, 1, 30*time.Second), of(ratelimit.Concurrency, 1, time.Hour)
	renew := func(lease string) bool {
		renewed, err := s.Renew(t.Context(), client("a"), p, lease)
		if err != nil {
			t.Fatal(err)
		}
		return renewed
	}
	hold(t, s, client("a"), p, "x")
	for range 5 { // Long answers renew in time.
		c.now = c.now.Add(20 * time.Second)
		if !renew("x") || hold(t, s, client("a"), p, "y").Allowed {
			t.Fatal("a lease that is renewed lapsed")
		}
		for i := range 200 { // Enough for the sweep to come by.
			hold(t, s, client("other"), other, strconv.Itoa(i))
		}
	}
	c.now = c.now.Add(30 * time.Second)
	if renew("x") || !hold(t, s, client("a"), p, "y").Allowed || renew("x") || !renew("y") {
		t.Error("a lease that lapsed still counts")
	}
	if released := s.Release(t.Context(), client("never seen"), p, "x"); released != nil {
		t.Error(released)
	}
}

func TestRL46_a_snapshot_keeps_logs_and_leases(t *testing.T) {
	t.Parallel()
	s := newFiller(t, memstore.Options{})
	log, places := of(ratelimit.SlidingLog, 10, time.Hour), of(ratelimit.Concurrency, 10, time.Hour)
	s.fill(t, client("a"), log, 3)
	hold(t, s.Store, client("a"), places, "x")
	snapshot, before := s.Snapshot("engine"), s.Bytes()
	for range 2 { // It may be restored more than once.
		s.fill(t, client("a"), log, 5)
		hold(t, s.Store, client("a"), places, "y")
		release(t, s.Store, client("a"), places, "x")
		s.Restore(snapshot)
		if l, p := left(t, s.Store, "a", log), left(t, s.Store, "a", places); l != 7 || p != 9 || s.Bytes() != before {
			t.Errorf("left are %d and %d in %d bytes, want 7 and 9 in %d", l, p, s.Bytes(), before)
		}
	}
}

func TestRL143_TakeAll_judges_at_one_instant(t *testing.T) {
	t.Parallel()
	s, c := oneShard(t, memstore.Options{})
	requests := []ratelimit.Request{
		{Key: client("a"), Policy: of(ratelimit.SlidingLog, 1, time.Minute), Cost: 1},
		{Key: client("b"), Policy: of(ratelimit.SlidingLog, 1, time.Minute), Cost: 1, Now: c.now.Add(time.Hour)},
		{Key: client("c"), Policy: &ratelimit.Policy{}, Cost: 1},
	}
	decisions := make([]ratelimit.Decision, len(requests))
	if err := s.TakeAll(t.Context(), requests, decisions); err != nil || !decisions[0].Allowed || !decisions[1].Allowed || !decisions[2].Skipped {
		t.Fatalf("%+v, %v", decisions, err)
	}
	if !requests[0].Now.IsZero() {
		t.Error("the caller's requests were changed")
	}
}

func TestRL45_no_algorithm_allocates(t *testing.T) {
	s := newStore(t, memstore.Options{})
	ctx := t.Context()
	now := time.Now()
	for _, algorithm := range storetest.Algorithms() {
		for _, limit := range []int64{2, 1000} {
			r := ratelimit.Request{Key: client("2001:db8:1:2::/64"), Policy: of(algorithm, limit, time.Second), Cost: 1, Lease: "lease"}
			r.Key.Namespace = fmt.Sprintf("%s-%d", algorithm, limit)
			step := func() {
				now = now.Add(time.Millisecond)
				r.Now = now
				if _, err := s.Take(ctx, r); err != nil {
					t.Fatal(err)
				}
				if err := s.Release(ctx, r.Key, r.Policy, r.Lease); err != nil {
					t.Fatal(err)
				}
			}
			for range 2000 { // The log has its size, and the first entry lapsed.
				step()
			}
			if got := testing.AllocsPerRun(3000, step); got != 0 {
				t.Errorf("%s, limit %d: %v allocations", algorithm, limit, got)
			}
		}
	}
}

func TestRL45_requests_judged_together_do_not_allocate(t *testing.T) {
	s := newStore(t, memstore.Options{})
	ctx := t.Context()
	requests := []ratelimit.Request{
		{Key: client("a"), Policy: policy(1_000_000, time.Hour), Cost: 1},
		{Key: client("b"), Policy: of(ratelimit.GCRA, 1_000_000, time.Hour), Cost: 1},
	}
	decisions := make([]ratelimit.Decision, len(requests))
	for name, judge := range map[string]func() error{
		"in order": func() error { _, err := s.TakeInOrder(ctx, requests, decisions); return err },
		"together": func() error { return s.TakeAll(ctx, requests, decisions) },
	} {
		if got := testing.AllocsPerRun(1000, func() {
			if err := judge(); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

func TestRL126_lasting_counters_do_not_expire_by_real_time(t *testing.T) {
	t.Parallel()
	for _, lasting := range []bool{true, false} {
		c := &ticker{now: time.Unix(1_767_225_600, 0)}
		s := newStore(t, memstore.Options{MaxKeys: 1000, Lasting: lasting, Clock: c.read})
		session := time.Unix(1_000_000_000, 0) // A clock of its own, which stands still.
		policies := []*ratelimit.Policy{of(ratelimit.FixedWindow, 2, time.Minute), of(ratelimit.GCRA, 2, time.Minute), of(ratelimit.Concurrency, 2, time.Minute)}
		used := func() (units int64) {
			for _, p := range policies {
				d, err := s.Take(t.Context(), ratelimit.Request{Key: client("k"), Policy: p, Now: session})
				if err != nil {
					t.Fatal(err)
				}
				units += 2 - d.Remaining
			}
			return units
		}
		for _, p := range policies {
			r := ratelimit.Request{Key: client("k"), Policy: p, Cost: 1, Now: session, Lease: "a"}
			if _, err := s.Take(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		renewed, err := s.RenewAt(t.Context(), client("k"), policies[2], "a", session)
		if err != nil || !renewed {
			t.Errorf("renew: %t, %v", renewed, err)
		}
		c.now = c.now.Add(24 * time.Hour)
		for i := range 1000 { // New counters sweep old ones away.
			take(t, s, client(strconv.Itoa(i%100)), policy(10, time.Hour), 1)
		}
		if got, want := used(), map[bool]int64{true: 3, false: 0}[lasting]; got != want {
			t.Errorf("lasting %t: %d units used after a day, want %d", lasting, got, want)
		}
	}
}
