package ratelimit_test

import (
	"math"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func TestRL36_nothing_is_rounded_in_the_state(t *testing.T) {
	t.Parallel()
	p := of(ratelimit.GCRA, 7, time.Minute)
	var s ratelimit.State
	s, _ = ratelimit.Step(p, s, at(0), 7)
	admitted := 0
	for ms := int64(1); ms <= 10*60_000; ms += 13 { // Ten minutes of a caller that never rests.
		var d ratelimit.Decision
		if s, d = ratelimit.Step(p, s, at(ms), 1); d.Allowed {
			admitted++
		}
	}
	if admitted != 69 && admitted != 70 {
		t.Errorf("%d admitted in ten minutes, want 7 a minute", admitted)
	}
	if _, d := ratelimit.Step(p, s, at(10*60_000+8571), 0); d.Remaining < 70-int64(admitted) {
		t.Errorf("%+v after %d admitted", d, admitted)
	}
}

func TestRL36_the_largest_meters_do_not_overflow(t *testing.T) {
	t.Parallel()
	for _, p := range []*ratelimit.Policy{
		withBurst(of(ratelimit.TokenBucket, 1, ratelimit.MaxWindow), 28),
		withBurst(of(ratelimit.TokenBucket, 1, time.Millisecond), (1<<53-1)/1000),
		withBurst(of(ratelimit.TokenBucket, 1_000_003, time.Second), (1<<53-1)/1_000_000),
		withBurst(of(ratelimit.TokenBucket, ratelimit.MaxLimit, ratelimit.MinWindow), 1),
	} {
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", *p, err)
			continue
		}
		far := time.Unix(1<<60, 0)
		for _, now := range []time.Time{at(0), far, time.Unix(-1<<60, 0), time.Unix(4_000_000_000_000, 0)} {
			s, d := ratelimit.Step(p, ratelimit.State{}, now, p.Burst)
			if !d.Allowed || d.Remaining != 0 || d.Reset <= 0 || d.Next <= 0 || d.Next > d.Reset {
				t.Errorf("%+v: all at once: %+v", *p, d)
			}
			if _, d = ratelimit.Step(p, s, now, p.Burst); d.Allowed || d.RetryAfter != d.Reset {
				t.Errorf("%+v: all again: %+v", *p, d)
			}
			if _, d = ratelimit.Step(p, s, far, p.Burst); now.Before(time.Unix(1<<40, 0)) && !d.Allowed {
				t.Errorf("%+v: at the end of time: %+v", *p, d)
			}
			if d = back(p, s, now); d.RetryAfter <= 0 || d.RetryAfter < d.Next {
				t.Errorf("%+v: after the clock went back by nearly the horizon: %+v", *p, d)
			}
		}
	}
}

// back asks for the burst again, by a clock that was set back by as much as a state survives.
func back(p *ratelimit.Policy, s ratelimit.State, now time.Time) ratelimit.Decision {
	_, full := ratelimit.Step(p, s, now, 0)
	_, d := ratelimit.Step(p, s, now.Add(-full.Reset), p.Burst)
	return d
}

func TestRL37_a_wait_of_centuries_is_told_as_the_longest_duration(t *testing.T) {
	t.Parallel()
	p := withBurst(of(ratelimit.LeakyBucket, 1, ratelimit.MaxWindow), 28) // 280 years.
	s, _ := ratelimit.Step(p, ratelimit.State{}, at(0), 28)
	d := back(p, s, at(0))
	if d.Allowed || d.Reset != math.MaxInt64/1000*1000 {
		t.Errorf("%+v, want the longest wait of whole ticks", d)
	}
}

func TestRL12_RL38_a_level_is_converted_to_the_new_rate(t *testing.T) {
	t.Parallel()
	old := of(ratelimit.GCRA, 10, time.Minute)
	s, _ := ratelimit.Step(old, ratelimit.State{}, at(0), 6)
	for _, c := range []struct {
		name  string
		p     *ratelimit.Policy
		left  int64
		reset time.Duration
	}{
		{"the same", old, 4, 36 * time.Second},
		{"the same rate in other numbers", of(ratelimit.TokenBucket, 20, 2*time.Minute), 14, 36 * time.Second},
		{"a finer rate", of(ratelimit.TokenBucket, 7, time.Minute), 1, 51_428_572 * time.Microsecond},
		{"a tighter burst", withBurst(of(ratelimit.GCRA, 10, time.Minute), 4), 0, 24 * time.Second},
		{"a tighter burst at another rate", withBurst(of(ratelimit.GCRA, 20, time.Minute), 4), 0, 12 * time.Second},
		{"a huge burst", withBurst(of(ratelimit.GCRA, 10, time.Minute), 1_000_000), 999_994, 36 * time.Second},
		{"a huge rate", of(ratelimit.GCRA, 1<<38, time.Second), 1<<38 - 6, time.Microsecond},
	} {
		if _, d := ratelimit.Step(c.p, s, at(0), 0); d.Remaining != c.left || d.Reset != c.reset {
			t.Errorf("%s: %+v, want %d left and a reset of %v", c.name, d, c.left, c.reset)
		}
	}
	// A part of a unit is rounded up, so that a change of the policy gives nothing away.
	s, _ = ratelimit.Step(of(ratelimit.GCRA, 7, time.Minute), ratelimit.State{}, at(0), 1)
	s, _ = ratelimit.Step(of(ratelimit.GCRA, 7, time.Minute), s, at(1), 1)
	if _, d := ratelimit.Step(of(ratelimit.GCRA, 1, time.Millisecond), s, at(1), 0); d.Remaining != 0 || d.Reset != time.Millisecond {
		t.Errorf("cut to the new burst: %+v", d)
	}
	if _, d := ratelimit.Step(withBurst(of(ratelimit.GCRA, 1, time.Second), 9), s, at(1), 0); d.Reset != 1_999_884*time.Microsecond {
		t.Errorf("%+v, want 2 units less what drained in a millisecond, rounded up", d)
	}
}

func TestRL29_the_waits_of_a_sliding_window_count_from_the_tick_given(t *testing.T) {
	t.Parallel()
	p := of(ratelimit.SlidingWindow, 5, time.Second)
	s, _ := ratelimit.Step(p, ratelimit.State{}, at(500), 5)
	now := at(600).Add(700 * time.Microsecond)
	_, d := ratelimit.Step(p, s, now, 1)
	if want := 600*time.Millisecond - 700*time.Microsecond; d.Allowed || d.RetryAfter != want || d.Next != want {
		t.Errorf("%+v, want the wait to end with a whole millisecond, after %v", d, want)
	}
	if want := 1400*time.Millisecond - 700*time.Microsecond; d.Reset != want {
		t.Errorf("reset %v, want %v", d.Reset, want)
	}
}

func TestRL34_a_log_takes_the_room_it_needs(t *testing.T) {
	t.Parallel()
	p := of(ratelimit.SlidingLog, 100, time.Second)
	var s ratelimit.State
	for range 50 {
		s, _ = ratelimit.Step(p, s, at(0), 1)
	}
	one := s.Bytes()
	for ms := range int64(50) {
		s, _ = ratelimit.Step(p, s, at(1+ms), 1)
	}
	full := s.Bytes()
	if one >= full || full > 100*16+500 {
		t.Errorf("%d bytes for one instant and %d for 51, want equal instants merged", one, full)
	}
	for ms := range int64(5000) {
		s, _ = ratelimit.Step(p, s, at(100+10*ms), 1)
	}
	if s.Bytes() > 100*16+500 {
		t.Errorf("%d bytes after 5,000 checks, want the ring used again", s.Bytes())
	}
}

func TestRL31_a_million_units_are_found_without_a_walk(t *testing.T) {
	t.Parallel()
	p := of(ratelimit.SlidingLog, ratelimit.MaxRemembered, time.Second)
	var s ratelimit.State
	r := ratelimit.Request{Policy: p, Cost: 1}
	var d ratelimit.Decision
	for i := range ratelimit.MaxRemembered {
		r.Now = time.UnixMicro(i / 2)
		ratelimit.Judge(&r, &s, &d)
	}
	if !d.Allowed || d.Remaining != 0 {
		t.Fatalf("a million: %+v", d)
	}
	for _, c := range []struct {
		cost int64
		want int64 // Ticks until the oldest of them are older than a window, from the first one's end.
	}{{1, 1}, {2, 1}, {3, 2}, {1000, 500}, {ratelimit.MaxRemembered, 500_000}} {
		r.Cost = c.cost
		ratelimit.Judge(&r, &s, &d)
		if want := time.Duration(1_000_000-499_999+c.want) * time.Microsecond; d.Allowed || d.RetryAfter != want {
			t.Errorf("%d more: %+v, want a wait of %v", c.cost, d, want)
		}
	}
}
