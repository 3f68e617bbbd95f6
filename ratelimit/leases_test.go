package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func places(limit int64) *ratelimit.Policy {
	return of(ratelimit.Concurrency, limit, 30*time.Second)
}

// asks judges a check of one place.
func asks(s *ratelimit.State, p *ratelimit.Policy, lease string, now time.Time) ratelimit.Decision {
	var d ratelimit.Decision
	ratelimit.Judge(&ratelimit.Request{Policy: p, Cost: 1, Now: now, Lease: lease}, s, &d)
	return d
}

func TestRL16_RL40_leases_and_a_clock_that_goes_back(t *testing.T) {
	t.Parallel()
	p := places(2)
	var s ratelimit.State
	asks(&s, p, "a", at(100_000))
	if d := asks(&s, p, "b", at(80_000)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("20 s back: %+v, want the second place", d)
	}
	if s.Holds(&ratelimit.Request{Policy: p, Lease: "b", Now: at(130_000)}) || !s.Holds(&ratelimit.Request{Policy: p, Lease: "b", Now: at(129_999)}) {
		t.Error("the lease was not counted from the newest instant")
	}
	if d := asks(&s, p, "c", at(69_999)); !d.Allowed || d.Remaining != 1 {
		t.Errorf("back by more than the window: %+v, want the state forgotten", d)
	}
	if d := asks(&s, p, "d", at(70_000)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the clock that was followed goes on: %+v, want c counted", d)
	}
	if s.Release("a") || !s.Release("c") || !s.Release("d") || !s.IsZero() {
		t.Error("leases from before are still there")
	}
}

func TestRL40_lapsed_leases_wait_for_the_next_place_to_be_taken(t *testing.T) {
	t.Parallel()
	p := places(2)
	var s ratelimit.State
	asks(&s, p, "a", at(0))
	asks(&s, p, "b", at(1))
	full := s.Bytes()
	for now, want := range map[int64]int64{29_999: 0, 30_000: 1, 30_001: 2, 40_000: 2} {
		peek := ratelimit.Request{Policy: p, Now: at(now)}
		var d ratelimit.Decision
		if ratelimit.Judge(&peek, &s, &d); d.Remaining != want {
			t.Errorf("peek at %d ms: %+v, want %d left", now, d, want)
		}
	}
	if d := asks(&s, p, "c", at(20)); d.Allowed {
		t.Errorf("a peek ahead freed places: %+v", d)
	}
	if s.Bytes() != full {
		t.Errorf("%d bytes after peeks, want %d", s.Bytes(), full)
	}
	if d := asks(&s, p, "c", at(30_000)); !d.Allowed || s.Bytes() != full {
		t.Errorf("a place that lapsed: %+v, and %d bytes, want its room used again", d, s.Bytes())
	}
}

func TestRL40_renewing_tells_what_lives(t *testing.T) {
	t.Parallel()
	p := places(1)
	var s ratelimit.State
	renew := func(now int64) bool { return s.Renew(&ratelimit.Request{Policy: p, Lease: "a", Now: at(now)}) }
	if renew(0) {
		t.Error("an unknown lease was renewed")
	}
	asks(&s, p, "a", at(0))
	if !renew(29_999) || !renew(59_998) || renew(89_998) {
		t.Error("a renewal does not last one window")
	}
	if s.Release("b") || !s.Release("a") || s.Release("a") {
		t.Error("a release tells something else than what was held")
	}
}

func TestRL58_long_leases_are_kept_as_digests(t *testing.T) {
	t.Parallel()
	p := places(3)
	var s ratelimit.State
	long := strings.Repeat("x", 1<<20)
	for i, lease := range []string{long, ratelimit.KeyIdentifier(long), long + "y"} {
		if d := asks(&s, p, lease, at(0)); d.Remaining != int64(2-i) {
			t.Errorf("a lease of %d bytes shares a place: %+v", len(lease), d)
		}
	}
	if s.Bytes() > 1000 {
		t.Errorf("%d bytes for three leases", s.Bytes())
	}
}

func TestRL2_a_clone_shares_nothing(t *testing.T) {
	t.Parallel()
	p := places(2)
	var s ratelimit.State
	asks(&s, p, "a", at(0))
	c := s.Clone()
	asks(&c, p, "b", at(1))
	c.Release("a")
	if d := asks(&s, p, "c", at(2)); !d.Allowed || !s.Release("a") {
		t.Errorf("the first state: %+v, want it without b and with a", d)
	}
	if d := asks(&c, p, "d", at(2)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the clone: %+v, want b and d", d)
	}
	if empty := (&ratelimit.State{}).Clone(); !empty.IsZero() || empty.Bytes() != 0 {
		t.Errorf("a clone of nothing: %+v", empty)
	}
}

// TestRL40_places_equal_those_of_a_plain_map compares with the simplest thing that could hold leases.
func TestRL40_places_equal_those_of_a_plain_map(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 11))
		var s ratelimit.State
		plain := map[string]int64{}
		now := int64(0)
		for range 500 {
			p := places(1 + random.Int64N(12))
			now += random.Int64N(6000)
			for lease, end := range plain {
				if end <= now {
					delete(plain, lease)
				}
			}
			lease := fmt.Sprintf("lease-%d", random.IntN(20))
			_, held := plain[lease]
			switch random.IntN(4) {
			case 0:
				s.Release(lease)
				delete(plain, lease)
			case 1:
				if got := s.Renew(&ratelimit.Request{Policy: p, Lease: lease, Now: at(now)}); got != held {
					t.Fatalf("renew: %t, want %t", got, held)
				}
				if held {
					plain[lease] = now + 30_000
				}
			default:
				d := asks(&s, p, lease, at(now))
				want := held || int64(len(plain)) < p.Limit
				if want {
					plain[lease] = now + 30_000
				}
				if left := max(0, p.Limit-int64(len(plain))); d.Allowed != want || d.Remaining != left {
					t.Fatalf("%+v, want allowed %t and %d left", d, want, left)
				}
			}
		}
	}
}
