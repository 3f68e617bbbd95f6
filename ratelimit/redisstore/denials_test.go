package redisstore_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// bar is a store that remembers denials, with a server and a clock of its own.
type bar struct {
	*redisstore.Store
	t      *testing.T
	server *testkit.Redis
	now    *atomic.Int64
}

func newBar(t *testing.T) bar {
	t.Helper()
	b := bar{t: t, server: testkit.StartRedis(t), now: &atomic.Int64{}}
	b.now.Store(sharedAt.Add(7 * time.Second).UnixNano())
	b.Store = open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{b.server.Addr}, Budget: redisstore.Patient}, Clock: b.clock, ProbeInterval: time.Minute,
	})
	return b
}

func (b bar) clock() time.Time { return time.Unix(0, b.now.Load()) }

func (b bar) pass(d time.Duration) { b.now.Add(int64(d)) }

// want makes a check and says whether it must be allowed and whether Redis must be asked.
func (b bar) want(r ratelimit.Request, allowed, asked bool) ratelimit.Decision { //nolint:revive // A table of what is wanted.
	b.t.Helper()
	b.server.ResetCommandCalls()
	d, err := b.Take(b.t.Context(), r)
	if err != nil {
		b.t.Fatalf("take %d: %v", r.Cost, err)
	}
	calls := b.server.CommandCalls()
	questions := calls["incr"] + calls["incrby"] + calls["get"] + calls["evalsha"]
	if d.Allowed != allowed || questions > 0 != asked {
		b.t.Errorf("cost %d: %+v after %d questions, want allowed %t and asked %t", r.Cost, d, questions, allowed, asked)
	}
	return d
}

func request(p *ratelimit.Policy, cost int64) ratelimit.Request {
	return ratelimit.Request{Key: shared, Policy: p, Cost: cost}
}

func three(align ratelimit.Align) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "engine", Limit: 3, Window: time.Minute, Align: align}
}

func TestRL61_a_known_denial_is_repeated_without_Redis(t *testing.T) {
	t.Parallel()
	for _, align := range []ratelimit.Align{ratelimit.AlignClock, ratelimit.AlignFirstRequest} {
		t.Run(string(align), func(t *testing.T) {
			t.Parallel()
			b := newBar(t)
			r := request(three(align), 1)
			r.Now = b.clock()
			for range 3 {
				b.want(r, true, true)
			}
			first := b.want(r, false, true)
			if diff := cmp.Diff(first, b.want(r, false, false)); diff != "" {
				t.Errorf("the denial and its repetition (-first +second):\n%s", diff)
			}
			b.pass(1500 * time.Millisecond)
			r.Now = b.clock()
			later := first
			later.RetryAfter -= 1500 * time.Millisecond
			later.Reset, later.Next = later.RetryAfter, later.RetryAfter
			if diff := cmp.Diff(later, b.want(r, false, false)); diff != "" {
				t.Errorf("one and a half seconds later (-want +got):\n%s", diff)
			}
			b.pass(3499 * time.Millisecond)
			r.Now = b.clock()
			b.want(r, false, false)
			b.pass(time.Millisecond) // Five seconds are over.
			r.Now = b.clock()
			b.want(r, false, true)
			if stats := b.Stats(); stats.LocalDenials != 3 || stats.Exhausted != 1 {
				t.Errorf("stats = %+v, want three local denials of one key", stats)
			}
		})
	}
}

func TestRL61_a_denial_ends_with_its_window(t *testing.T) {
	t.Parallel()
	for _, align := range []ratelimit.Align{ratelimit.AlignClock, ratelimit.AlignFirstRequest} {
		b := newBar(t)
		p := three(align)
		r := request(p, 3)
		b.pass(51 * time.Second) // Two seconds before the end of the window on the clock.
		r.Now = b.clock()
		b.want(r, true, true)
		if align == ratelimit.AlignFirstRequest {
			b.pass(58 * time.Second)
		}
		r.Now, r.Cost = b.clock(), 1
		denied := b.want(r, false, true)
		b.pass(denied.RetryAfter - time.Microsecond)
		r.Now = b.clock()
		if got := b.want(r, false, false); got.RetryAfter != time.Microsecond {
			t.Errorf("%s: a tick before the end: retry after %v", align, got.RetryAfter)
		}
		b.pass(time.Microsecond)
		r.Now = b.clock()
		b.want(r, true, true)
	}
}

func TestRL61_what_a_denial_does_not_cover_reaches_Redis(t *testing.T) {
	t.Parallel()
	p := &ratelimit.Policy{Name: "engine", Limit: 10, Window: time.Minute, Align: ratelimit.AlignFirstRequest}
	raised, renamed := *p, *p
	raised.Limit, renamed.Name = 11, "other"
	for _, c := range []struct {
		name    string
		do      func(t *testing.T, b bar)
		r       ratelimit.Request
		allowed bool
		asked   bool
	}{
		{name: "the same again", r: request(p, 5)},
		{name: "a higher cost", r: request(p, 6)},
		{name: "the same policy under another name", r: request(&renamed, 5)},
		{name: "a lower cost", r: request(p, 2), allowed: true, asked: true},
		{name: "a peek", r: request(p, 0), allowed: true, asked: true},
		{name: "another limit", r: request(&raised, 5), asked: true},
		{name: "another key", r: ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "x"}, Policy: p, Cost: 5}, allowed: true, asked: true},
		{
			name: "after a reset", r: request(p, 5), allowed: true, asked: true,
			do: func(t *testing.T, b bar) {
				t.Helper()
				if err := b.Reset(t.Context(), shared, p); err != nil {
					t.Error(err)
				}
			},
		},
		{
			name: "after five seconds, when another process has reset the key", r: request(p, 5), allowed: true, asked: true,
			do: func(_ *testing.T, b bar) {
				b.server.Do("FLUSHALL")
				b.pass(5 * time.Second)
			},
		},
		{
			name: "a clock that went back", r: request(p, 5), asked: true,
			do: func(_ *testing.T, b bar) { b.pass(-time.Millisecond) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBar(t)
			before := request(p, 8)
			before.Now = b.clock()
			b.want(before, true, true)
			before.Cost = 5
			b.want(before, false, true)
			if c.do != nil {
				c.do(t, b)
			}
			c.r.Now = b.clock()
			b.want(c.r, c.allowed, c.asked)
		})
	}
}

func TestRL61_a_sessions_clock_is_always_asked_for(t *testing.T) {
	t.Parallel()
	b := newBar(t)
	r := request(three(ratelimit.AlignFirstRequest), 3)
	r.Now = b.clock().Add(time.Hour)
	b.want(r, true, true)
	for range 3 {
		b.want(r, false, true)
	}
}

func TestRL61_it_can_be_switched_off(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := three(ratelimit.AlignClock)
	for range checks {
		d.check(t, p, 1)
	}
	if got := d.server.Do("GET", "ratelimit:engine:203.0.113.9:1700000040"); got != strconv.Itoa(checks) {
		t.Errorf("Redis counted %s of %d", got, checks)
	}
	if s := d.Stats(); s.LocalDenials != 0 || s.Exhausted != 0 {
		t.Errorf("stats = %+v", s)
	}
}

func TestRL61_RL64_a_known_denial_does_not_outlive_Redis(t *testing.T) {
	t.Parallel()
	b := newBar(t)
	r := request(three(ratelimit.AlignClock), 3)
	b.want(r, true, true)
	b.want(r, false, true)
	b.server.Kill()
	testkit.Eventually(t, "the breaker to open", func() bool {
		// A key that is not known to be exhausted finds out.
		_, _ = b.Take(t.Context(), ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "y"}, Policy: r.Policy, Cost: 1})
		return b.Available() != nil
	})
	if _, err := b.Take(t.Context(), r); err == nil {
		t.Error("a denial was repeated while the failure mode must decide")
	}
}

// A caller over its limit passes as soon as Redis is gone, though nobody else asks and the breaker is still closed.
func TestRL61_RL64_a_known_denial_outlives_Redis_by_a_probe_interval_at_most(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	const interval = 20 * time.Millisecond
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}, ProbeInterval: interval,
	})
	policy := three(ratelimit.AlignFirstRequest)
	denied := func() bool {
		d, err := s.Take(t.Context(), request(policy, 3))
		return err == nil && !d.Allowed
	}
	testkit.Eventually(t, "the limit to be reached", denied)
	server.Kill()
	testkit.Eventually(t, "a check to reach Redis, and fail", func() bool { return !denied() })
	if denied() {
		t.Error("a denial is still repeated")
	}
}

func TestRL61_denials_are_bounded_and_those_in_use_stay(t *testing.T) {
	t.Parallel()
	d := redisstore.NewDenials(3, func() time.Time { return sharedAt })
	r := &ratelimit.Request{Policy: minute(), Cost: 1, Now: sharedAt}
	for _, key := range []string{"a", "b", "c"} {
		d.Deny(key, r, time.Minute, d.Era())
	}
	if !d.Known("a", r) {
		t.Error("a is unknown")
	}
	d.Deny("d", r, time.Minute, d.Era())
	d.Deny("d", r, time.Minute, d.Era())
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := d.Known(key, r); got != want {
			t.Errorf("%s is known: %t, want %t", key, got, want)
		}
	}
	if d.Held() != 3 {
		t.Errorf("%d are held", d.Held())
	}
}

func TestRL61_an_answer_from_before_a_reset_is_not_remembered(t *testing.T) {
	t.Parallel()
	d := redisstore.NewDenials(3, func() time.Time { return sharedAt })
	r := &ratelimit.Request{Policy: minute(), Cost: 1, Now: sharedAt}
	asked := d.Era()
	d.Forget("a") // While the answer is on its way.
	d.Deny("a", r, time.Minute, asked)
	if d.Known("a", r) || d.Held() != 0 {
		t.Error("the denial was remembered")
	}
	d.Deny("a", r, ratelimit.Never, d.Era())
	d.Deny("a", r, 0, d.Era())
	if d.Held() != 0 {
		t.Error("what has no end, or was allowed, was remembered")
	}
}

// BenchmarkExhausted measures a check of a key that is known to be over its limit.
func BenchmarkExhausted(b *testing.B) {
	store := open(b, redisstore.Options{Config: redisstore.Config{Addrs: []string{testkit.StartRedis(b).Addr}, Budget: redisstore.Patient}})
	r := ratelimit.Request{Key: shared, Policy: &ratelimit.Policy{Limit: 1, Window: 24 * time.Hour}, Cost: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Take(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
