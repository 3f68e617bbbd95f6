package ratelimit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// of returns a policy of an algorithm without options.
func of(algorithm ratelimit.Algorithm, limit int64, window time.Duration) *ratelimit.Policy {
	return &ratelimit.Policy{Name: string(algorithm), Algorithm: algorithm, Limit: limit, Window: window}
}

func withBurst(p *ratelimit.Policy, burst int64) *ratelimit.Policy {
	p.Burst = burst
	return p
}

func meters() []ratelimit.Algorithm {
	return []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA}
}

// walk drives a random sequence of checks with instants that do not go back, and calls look after each.
func walk(p *ratelimit.Policy, seed uint64, look func(before, after ratelimit.State, now time.Time, cost int64, d ratelimit.Decision)) {
	random := rand.New(rand.NewPCG(seed, 1))
	now := time.UnixMicro(random.Int64N(1<<52) - 1<<51)
	state := ratelimit.State{}
	for range 200 {
		step := int64(p.Window) / 4
		if random.IntN(2) == 0 { // Often enough, small steps keep a policy busy.
			step = int64(p.Window)/(4*p.Limit) + 1
		}
		now = now.Add(time.Duration(random.Int64N(step)) / 1000 * 1000)
		cost := random.Int64N(p.Capacity() + 2)
		if random.IntN(2) == 0 {
			cost = random.Int64N(2)
		}
		after, d := ratelimit.Step(p, state, now, cost)
		look(state, after, now, cost, d)
		state = after
	}
}

// properties checks policies of every algorithm with random numbers.
func properties(t *testing.T, check func(t *testing.T, p *ratelimit.Policy, seed uint64)) {
	t.Helper()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		limit, window := 1+random.Int64N(20), time.Duration(1+random.Int64N(100_000))*time.Millisecond
		check(t, clock(limit, window), seed)
		check(t, first(limit, window), seed)
		check(t, of(ratelimit.SlidingWindow, limit, window), seed)
		check(t, of(ratelimit.SlidingLog, limit, window), seed)
		check(t, of(ratelimit.GCRA, limit, window), seed)
		check(t, withBurst(of(ratelimit.TokenBucket, limit, window), 1+random.Int64N(40)), seed)
	}
}

// tight fails the test unless the check, which was denied, is denied one tick before its wait is over too, and allowed
// then.
func tight(t *testing.T, s ratelimit.State, now time.Time, d ratelimit.Decision, cost int64) {
	t.Helper()
	p, wait := d.Policy, d.RetryAfter
	_, early := ratelimit.Step(p, s, now.Add(wait-time.Microsecond), cost)
	_, then := ratelimit.Step(p, s, now.Add(wait), cost)
	if early.Allowed || !then.Allowed {
		t.Fatalf("%+v at %v, cost %d: wait of %v; one tick early %t, then %t", *p, now.UnixMicro(), cost, wait, early.Allowed, then.Allowed)
	}
}

func TestRL138_waits_are_tight_to_a_tick(t *testing.T) {
	t.Parallel()
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		walk(p, seed, func(_, after ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
			if d.RetryAfter > 0 {
				tight(t, after, now, d, cost)
			}
			if d.Reset > 0 {
				_, early := ratelimit.Step(p, after, now.Add(d.Reset-time.Microsecond), 0)
				_, then := ratelimit.Step(p, after, now.Add(d.Reset), 0)
				if early.Remaining == d.Limit || then.Remaining != d.Limit || then.Reset != 0 {
					t.Fatalf("%+v at %v: reset of %+v; one tick early %d left, then %d", *p, now, d, early.Remaining, then.Remaining)
				}
			}
			if d.Next > 0 {
				_, early := ratelimit.Step(p, after, now.Add(d.Next-time.Microsecond), 0)
				_, then := ratelimit.Step(p, after, now.Add(d.Next), 0)
				if early.Remaining > d.Remaining || then.Remaining <= d.Remaining {
					t.Fatalf("%+v at %v: next of %+v; one tick early %d left, then %d", *p, now, d, early.Remaining, then.Remaining)
				}
			}
		})
	})
}

// TestRL138_waits_of_a_clock_set_back gives instants before the newest. Windows on the clock re-enter an older one.
func TestRL138_RL16_waits_are_tight_after_the_clock_went_back(t *testing.T) {
	t.Parallel()
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		if p.Name == "clock" {
			return
		}
		random := rand.New(rand.NewPCG(seed, 3))
		walk(p, seed, func(_, after ratelimit.State, now time.Time, _ int64, _ ratelimit.Decision) {
			back := now.Add(-time.Duration(random.Int64N(int64(p.Window))))
			cost := 1 + random.Int64N(p.Capacity())
			unchanged, d := ratelimit.Step(p, after, back, cost)
			if !d.Allowed {
				if unchanged != after {
					t.Fatalf("%+v: a denied check changed the state", *p)
				}
				tight(t, after, back, d, cost)
			}
		})
	})
}

func TestRL138_decisions_keep_their_bounds(t *testing.T) {
	t.Parallel()
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		walk(p, seed, func(before, after ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
			most := p.Capacity()
			switch {
			case d.Remaining < 0 || d.Remaining > most || d.Limit != most || d.Policy != p || d.Skipped || d.Degraded != ratelimit.None:
				t.Fatalf("%+v at %v: %+v", *p, now, d)
			case d.Allowed != (d.RetryAfter == 0), cost == 0 && !d.Allowed, (d.RetryAfter == ratelimit.Never) != (cost > most):
				t.Fatalf("%+v, cost %d: %+v", *p, cost, d)
			case d.RetryAfter != ratelimit.Never && ((d.Reset == 0) != (d.Remaining == most) || (d.Next == 0) != (d.Reset == 0) || d.Next > d.Reset || d.RetryAfter > d.Reset):
				t.Fatalf("%+v at %v: waits of %+v", *p, now, d)
			case (!d.Allowed || cost == 0) && p.Name != "clock" && after != before:
				t.Fatalf("RL5 %+v: a denied check or a peek changed %+v to %+v", *p, before, after)
			}
		})
	})
}

// TestRL138_allowed_means_that_it_fits ties the cost that is allowed to the Remaining of a peek, which is how several
// requests are judged together (rule RL143).
func TestRL138_what_is_allowed_is_what_a_peek_leaves(t *testing.T) {
	t.Parallel()
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		walk(p, seed, func(before, _ ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
			if _, peek := ratelimit.Step(p, before, now, 0); d.Allowed != (cost <= peek.Remaining) {
				t.Fatalf("%+v: cost %d with %d left: %+v", *p, cost, peek.Remaining, d)
			}
		})
	})
}

func TestRL138_no_window_admits_more_than_its_limit(t *testing.T) {
	t.Parallel()
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		if p.Algorithm != "" {
			return
		}
		admitted := map[int64]int64{}
		walk(p, seed, func(_, _ ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
			window := now.Add(d.Reset).UnixMicro() // All checks of one window end it at one instant.
			if !d.Allowed || cost == 0 {
				return
			}
			if admitted[window] += cost; admitted[window] > p.Limit {
				t.Fatalf("%+v: %d admitted in the window of %v", *p, admitted[window], now)
			}
		})
	})
}

// admission is an instant and what was admitted then.
type admission struct {
	at    time.Time
	units int64
}

// everyInterval calls look with each interval that begins and ends with an admission, and what it admitted.
func everyInterval(p *ratelimit.Policy, seed uint64, look func(length time.Duration, units int64)) {
	var all []admission
	walk(p, seed, func(_, _ ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
		if d.Allowed && cost > 0 {
			all = append(all, admission{now, cost})
		}
	})
	for i := range all {
		units := int64(0)
		for _, a := range all[i:] {
			units += a.units
			look(a.at.Sub(all[i].at), units)
		}
	}
}

func TestRL33_no_closed_interval_of_a_window_admits_more_than_the_limit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 4))
		p := of(ratelimit.SlidingLog, 1+random.Int64N(20), time.Duration(1+random.Int64N(1000))*time.Millisecond)
		everyInterval(p, seed, func(length time.Duration, units int64) {
			if length <= p.Window && units > p.Limit {
				t.Fatalf("%+v: %d admitted within %v", *p, units, length)
			}
		})
	}
}

func TestRL39_meters_admit_the_burst_and_what_drains_meanwhile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 5))
		p := of(meters()[seed%3], 1+random.Int64N(20), time.Duration(1+random.Int64N(1000))*time.Millisecond)
		p.Burst = random.Int64N(30)
		everyInterval(p, seed, func(length time.Duration, units int64) {
			if most := p.Capacity() + int64(length)*p.Limit/int64(p.Window); units > most {
				t.Fatalf("%+v: %d admitted within %v, want up to %d", *p, units, length, most)
			}
		})
	}
}

func TestRL30_a_sliding_window_admits_up_to_twice_the_limit_less_one(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 6))
		p := of(ratelimit.SlidingWindow, 1+random.Int64N(20), time.Duration(1+random.Int64N(1000))*time.Millisecond)
		everyInterval(p, seed, func(length time.Duration, units int64) {
			if length < p.Window && units > max(p.Limit, 2*p.Limit-1) {
				t.Fatalf("%+v: %d admitted within %v", *p, units, length)
			}
		})
	}
}

func TestRL35_RL138_the_three_meters_are_equal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 7))
		limit, window, burst := 1+random.Int64N(1000), time.Duration(1+random.Int64N(100_000))*time.Millisecond, random.Int64N(2000)
		states := make([]ratelimit.State, 3)
		now := time.UnixMicro(random.Int64N(1 << 50))
		for range 200 {
			now = now.Add(time.Duration(random.Int64N(int64(window)/2) - int64(window)/8))
			cost := random.Int64N(limit)
			var want ratelimit.Decision
			for i, algorithm := range meters() {
				p := withBurst(of(algorithm, limit, window), burst)
				var d ratelimit.Decision
				states[i], d = ratelimit.Step(p, states[i], now, cost)
				if d.Policy = nil; i == 0 {
					want = d
				}
				if d != want || states[i] != states[0] {
					t.Fatalf("%s: %+v, want the decision of the first meter %+v", algorithm, d, want)
				}
			}
		}
	}
}

// TestRL1_the_state_given_to_Step_stays keeps every state of a sequence and asks each again afterwards.
func TestRL1_RL2_the_state_given_to_Step_stays_as_it_was(t *testing.T) {
	t.Parallel()
	type question struct {
		state ratelimit.State
		now   time.Time
		cost  int64
		want  ratelimit.Decision
	}
	properties(t, func(t *testing.T, p *ratelimit.Policy, seed uint64) {
		t.Helper()
		var asked []question
		walk(p, seed, func(before, _ ratelimit.State, now time.Time, cost int64, d ratelimit.Decision) {
			asked = append(asked, question{before, now, cost, d})
		})
		for i, q := range asked {
			if _, d := ratelimit.Step(p, q.state, q.now, q.cost); d != q.want {
				t.Fatalf("%+v: check %d asked again: %+v, want %+v", *p, i, d, q.want)
			}
		}
	})
}

// TestRL12_RL138_bounds_hold_for_changing_policies changes limit, burst and window between checks.
func TestRL12_RL138_bounds_hold_for_changing_policies(t *testing.T) {
	t.Parallel()
	for _, algorithm := range append(meters(), ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.SlidingLog) {
		random := rand.New(rand.NewPCG(9, 9))
		state, now := ratelimit.State{}, time.UnixMicro(1<<50)
		for range 3000 {
			p := of(algorithm, 1+random.Int64N(50), time.Duration(1+random.Int64N(3))*7*time.Second)
			if algorithm != ratelimit.FixedWindow && random.IntN(2) == 0 && p.Capacity() > 0 && isMeter(algorithm) {
				p.Burst = 1 + random.Int64N(100)
			}
			now = now.Add(time.Duration(random.Int64N(int64(time.Second))) / 1000 * 1000)
			cost := random.Int64N(p.Capacity() + 1)
			var d ratelimit.Decision
			state, d = ratelimit.Step(p, state, now, cost)
			if d.Remaining < 0 || d.Remaining > p.Capacity() || (d.Reset == 0) != (d.Remaining == p.Capacity()) {
				t.Fatalf("%+v: %+v", *p, d)
			}
			if !d.Allowed {
				tight(t, state, now, d, cost)
			}
		}
	}
}

func isMeter(algorithm ratelimit.Algorithm) bool {
	return algorithm == ratelimit.TokenBucket || algorithm == ratelimit.LeakyBucket || algorithm == ratelimit.GCRA
}

func FuzzRL1_Step_survives_everything(f *testing.F) {
	algorithms := append(meters(), "", ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.SlidingLog, ratelimit.Concurrency, "dice")
	for i, extreme := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, ratelimit.MaxLimit, int64(ratelimit.MaxWindow)} {
		f.Add(extreme, int64(time.Minute), extreme, extreme, -extreme, int64(1), true, uint8(i))
		f.Add(int64(3), extreme, extreme, int64(0), extreme, extreme, false, uint8(i))
		f.Add(int64(3), int64(time.Minute), extreme, extreme/1_000_000, extreme, int64(2), false, uint8(i))
		f.Add(extreme, int64(ratelimit.MaxWindow), int64(1<<62), int64(0), int64(-1<<62), int64(28), false, uint8(i))
	}
	f.Fuzz(func(t *testing.T, limit, window, sec, nsec, back, cost int64, fromFirst bool, which uint8) {
		p := &ratelimit.Policy{Limit: limit, Window: time.Duration(window), Algorithm: algorithms[int(which)%len(algorithms)]}
		if fromFirst {
			p.Align = ratelimit.AlignFirstRequest
		}
		if isMeter(p.Algorithm) {
			p.Burst = nsec
		}
		valid := p.Validate() == nil
		state := ratelimit.State{}
		for _, now := range []time.Time{time.Unix(sec, nsec), time.Unix(back, 0), time.UnixMicro(sec), time.UnixMicro(back), {}} {
			for _, c := range []int64{cost, 1, 0, limit} {
				var d ratelimit.Decision
				state, d = ratelimit.Step(p, state, now, c)
				if !valid && d.Allowed && !d.Skipped && p.Window%time.Millisecond == 0 {
					t.Fatalf("%+v is not valid and allowed a check", *p)
				}
				if d.Remaining < 0 || d.Remaining > max(p.Capacity(), 0) || d.Reset < 0 || d.Next < 0 || d.RetryAfter < ratelimit.Never {
					t.Fatalf("%+v at %v, cost %d: %+v", *p, now, c, d)
				}
				if !d.Allowed && d.RetryAfter == 0 {
					t.Fatalf("%+v at %v, cost %d: denied without a wait: %+v", *p, now, c, d)
				}
			}
		}
	})
}

// FuzzRL138_waits_are_tight reads a policy and a sequence of checks from bytes: three bytes are how far the clock moves,
// back for a negative one, the cost, and now and then another limit.
func FuzzRL138_waits_are_tight(f *testing.F) {
	algorithms := append(meters(), ratelimit.SlidingWindow, ratelimit.SlidingLog)
	for i := range algorithms {
		f.Add([]byte{1, 1, 0, 1, 3, 0, 130, 1, 0, 127, 8, 0, 1, 0, 200}, uint8(i), uint16(10_000), uint8(3))
		f.Add([]byte{0, 7, 0, 0, 1, 0, 100, 1, 0, 156, 1, 0, 0, 1, 3}, uint8(i), uint16(997), uint8(0))
	}
	f.Fuzz(func(t *testing.T, moves []byte, which uint8, windowMs uint16, burst uint8) {
		p := *of(algorithms[int(which)%len(algorithms)], 7, time.Duration(max(1, windowMs))*time.Millisecond)
		if isMeter(p.Algorithm) {
			p.Burst = int64(burst)
		}
		state, now := ratelimit.State{}, time.UnixMicro(1_700_000_000_000_000)
		for ; len(moves) >= 3; moves = moves[3:] {
			now = now.Add((time.Duration(int8(moves[0])) * p.Window / 61).Truncate(time.Microsecond))
			if moves[2] > 0 {
				p.Limit = int64(moves[2])
			}
			cost := int64(moves[1]) % (p.Capacity() + 1)
			var d ratelimit.Decision
			if state, d = ratelimit.Step(&p, state, now, cost); !d.Allowed {
				tight(t, state, now, d, cost)
			}
		}
	})
}
