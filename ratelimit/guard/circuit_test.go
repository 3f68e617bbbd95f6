package guard_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

const (
	closed   = ratelimit.CircuitClosed
	open     = ratelimit.CircuitOpen
	halfOpen = ratelimit.CircuitHalfOpen
)

// The table of the specification, row by row: from a record and a reading to the next record.
func TestRL102_a_circuit_goes_from_state_to_state(t *testing.T) {
	t.Parallel()
	c := guard.Circuit{}
	record := func(state ratelimit.CircuitState, step int, recovery time.Duration) ratelimit.CircuitRecord {
		return ratelimit.CircuitRecord{State: state, Since: newYear, Step: step, Recovery: recovery}
	}
	for _, row := range []struct {
		name     string
		from     ratelimit.CircuitRecord
		window   int64
		offered  int64
		after    time.Duration
		state    ratelimit.CircuitState
		step     int
		recovery time.Duration
		stays    bool
	}{
		{"closed at the threshold", ratelimit.CircuitRecord{}, 10_000, 0, 0, "", 0, 0, true},
		{"closed above it opens", ratelimit.CircuitRecord{}, 10_001, 0, 0, open, 0, 30 * time.Second, false},
		{"open until the recovery is over", record(open, 0, 30*time.Second), 99_999, 0, 30*time.Second - 1, open, 0, 30 * time.Second, true},
		{"then half-open, whatever the window holds", record(open, 0, 30*time.Second), 99_999, 0, 30 * time.Second, halfOpen, 0, 30 * time.Second, false},
		{"open for longer after it doubled", record(open, 0, time.Minute), 0, 0, 30 * time.Second, open, 0, time.Minute, true},
		{"a step of 5 s", record(halfOpen, 0, 30*time.Second), 99_999, 0, 5*time.Second - 1, halfOpen, 0, 30 * time.Second, true},
		{"10 % calm, to 30 %", record(halfOpen, 0, 30*time.Second), 99_999, 833, 5 * time.Second, halfOpen, 1, 30 * time.Second, false},
		{"30 % calm, to 60 %", record(halfOpen, 1, 30*time.Second), 99_999, 833, 5 * time.Second, halfOpen, 2, 30 * time.Second, false},
		{"60 % calm, closed", record(halfOpen, 2, 30*time.Second), 99_999, 833, 5 * time.Second, closed, 0, 0, false},
		{"RL103 834 in 5 s are 10,008 a minute", record(halfOpen, 0, 30*time.Second), 0, 834, 5 * time.Second, open, 0, time.Minute, false},
		{"RL103 but not if the step took 6 s", record(halfOpen, 0, 30*time.Second), 0, 834, 6 * time.Second, halfOpen, 1, 30 * time.Second, false},
		{"recovery doubles again", record(halfOpen, 2, 2*time.Minute), 0, 9999, 5 * time.Second, open, 0, 4 * time.Minute, false},
		{"and at most to eight times", record(halfOpen, 0, 4*time.Minute), 0, 9999, 5 * time.Second, open, 0, 4 * time.Minute, false},
		{"a clock that went back changes nothing", record(open, 0, 30*time.Second), 0, 0, -time.Hour, open, 0, 30 * time.Second, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			reading := ratelimit.CircuitReading{Record: row.from, Offered: row.offered, Window: ratelimit.CircuitCounts{Offered: row.window}}
			next, changed := c.Next(reading, newYear.Add(row.after))
			if next.State != row.state || next.Step != row.step || next.Recovery != row.recovery || changed == row.stays {
				t.Errorf("%+v, changed %t", next, changed)
			}
			if changed && !next.Since.Equal(newYear.Add(row.after)) {
				t.Errorf("since %s, want the instant of the change", next.Since)
			}
		})
	}
}

func TestRL102_who_passes(t *testing.T) {
	t.Parallel()
	at := func(state ratelimit.CircuitState, step int) ratelimit.CircuitRecord {
		return ratelimit.CircuitRecord{State: state, Since: newYear.Add(-2 * time.Second), Step: step, Recovery: 30 * time.Second}
	}
	forced := func(force ratelimit.CircuitForce, until time.Time) ratelimit.CircuitRecord {
		r := at(open, 0)
		r.Force, r.ForceUntil = force, until
		return r
	}
	for _, c := range []struct {
		name   string
		mode   guard.CircuitMode
		record ratelimit.CircuitRecord
		pass   guard.Pass
		share  int64
		wait   time.Duration
	}{
		{"closed: all", "", at(closed, 0), guard.PassAll, 0, 0},
		{"RL104 open, adaptive: who is authenticated", guard.CircuitAdaptive, at(open, 0), guard.PassKnown, 0, 28 * time.Second},
		{"RL104 open, lockdown: nobody", guard.CircuitLockdown, at(open, 0), guard.PassNone, 0, 28 * time.Second},
		{"RL104 open, disabled: all", guard.CircuitDisabled, at(open, 0), guard.PassAll, 0, 0},
		{"half-open, first step", "", at(halfOpen, 0), guard.PassKnown, 10, 3 * time.Second},
		{"half-open, second step", "", at(halfOpen, 1), guard.PassKnown, 30, 3 * time.Second},
		{"half-open, third step, lockdown", guard.CircuitLockdown, at(halfOpen, 2), guard.PassNone, 60, 3 * time.Second},
		{"a step that cannot be", "", at(halfOpen, 99), guard.PassKnown, 60, 3 * time.Second},
		{"RL104 forced to lock down until", "", forced(ratelimit.ForceLockdown, newYear.Add(time.Hour)), guard.PassNone, 0, time.Hour},
		{"RL104 forced without end", guard.CircuitDisabled, forced(ratelimit.ForceLockdown, time.Time{}), guard.PassNone, 0, ratelimit.Never},
		{"RL104 forced closed", "", forced(ratelimit.ForceClosed, newYear.Add(time.Hour)), guard.PassAll, 0, 0},
		{"RL104 an order that has ended", "", forced(ratelimit.ForceClosed, newYear), guard.PassKnown, 0, 28 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules := guard.Circuit{Mode: c.mode}
			pass, share, wait := rules.Passes(&c.record, newYear)
			if pass != c.pass || share != c.share || wait != c.wait {
				t.Errorf("%d, %d %%, %s, want %d, %d %%, %s", pass, share, wait, c.pass, c.share, c.wait)
			}
		})
	}
}

func TestRL104_an_order_ends_and_the_state_goes_on_beneath_it(t *testing.T) {
	t.Parallel()
	c := guard.Circuit{}
	record := ratelimit.CircuitRecord{Force: ratelimit.ForceClosed, ForceUntil: newYear.Add(time.Minute)}
	flood := ratelimit.CircuitCounts{Offered: 20_000}
	next, changed := c.Next(ratelimit.CircuitReading{Record: record, Window: flood}, newYear)
	if !changed || next.State != open || next.Force != ratelimit.ForceClosed {
		t.Errorf("under the order: %+v", next)
	}
	next, changed = c.Next(ratelimit.CircuitReading{Record: record}, newYear.Add(time.Minute))
	if !changed || next.Force != ratelimit.ForceNone || !next.ForceUntil.IsZero() || next.State == open {
		t.Errorf("at its end: %+v", next)
	}
	disabled := guard.Circuit{Mode: guard.CircuitDisabled}
	if next, changed = disabled.Next(ratelimit.CircuitReading{Window: flood}, newYear); changed || next.State == open {
		t.Errorf("disabled: %+v", next)
	}
}

// flood offers requests and returns how many passed.
func (s *subject) flood(requests int, change func(*ratelimit.Attempt)) (passed int) {
	s.Helper()
	for range requests {
		a := attempt("203.0.113.9")
		if change != nil {
			change(a)
		}
		if v := s.Judge(s.Context(), a); v.Allowed {
			passed++
		} else if v.Layer != ratelimit.LayerCircuit || v.Status != 503 || v.RetryAfter == 0 {
			s.Fatalf("RL105: %+v, want 503 by the circuit with a wait", v)
		}
	}
	return passed
}

func signedIn(a *ratelimit.Attempt) { a.Authenticated = true }

// small is a circuit of 100 requests a minute.
func small() *guard.Circuit { return &guard.Circuit{Threshold: 100, GlobalLimit: 1000} }

// inBubble runs a guard with a circuit in a bubble whose time begins with a minute.
func inBubble(t *testing.T, rules guard.Rules, test func(s *subject)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(newSubject(t, rules, func(o *guard.Options) { o.Clock = time.Now }))
	})
}

func TestRL102_a_flood_opens_the_circuit_and_it_closes_again_in_steps(t *testing.T) {
	t.Parallel()
	inBubble(t, guard.Rules{Circuit: small(), Safelist: everything().Safelist}, func(s *subject) {
		expect := func(when string, state ratelimit.CircuitState, step int) {
			s.Helper()
			if got := s.Circuit().Record; got.State != state || got.Step != step {
				s.Fatalf("%s: %+v, want %s, step %d", when, got, state, step)
			}
		}
		if passed := s.flood(150, nil); passed != 150 {
			s.Errorf("%d of 150 passed before anybody counted", passed)
		}
		wait(200 * time.Millisecond)
		expect("after the flood", open, 0)
		if passed := s.flood(100, nil); passed != 0 {
			s.Errorf("open: %d of 100 passed", passed)
		}
		if passed := s.flood(50, signedIn); passed != 50 {
			s.Errorf("RL104 open: %d of 50 that are authenticated passed", passed)
		}
		s.want(s.judge(attempt("10.1.2.3")), "allowed by safelist/office")
		wait(30 * time.Second)
		expect("after the recovery", halfOpen, 0)
		if passed := s.flood(8, nil); passed > 1 {
			s.Errorf("RL103 10 %%: %d of 8 passed", passed)
		}
		wait(5 * time.Second)
		expect("after the first step", halfOpen, 1)
		wait(5 * time.Second)
		expect("after the second step", halfOpen, 2)
		wait(5 * time.Second)
		expect("after the last step", closed, 0)
		if passed := s.flood(100, nil); passed != 100 {
			s.Errorf("closed: %d of 100 passed", passed)
		}
		wait(time.Second)
		expect("RL103 the flood before is forgotten", closed, 0)
		if status := s.Circuit(); status.Trips != 1 || status.Replicas != 1 || status.OfferedRate <= 0 {
			s.Errorf("%+v, want one trip", status)
		}
	})
}

func TestRL102_a_flood_during_a_step_opens_again_for_twice_as_long(t *testing.T) {
	t.Parallel()
	inBubble(t, guard.Rules{Circuit: small()}, func(s *subject) {
		s.flood(150, nil)
		for _, recovery := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 4 * time.Minute} {
			wait(200 * time.Millisecond)
			if got := s.Circuit().Record; got.State != open || got.Recovery != recovery {
				s.Fatalf("%+v, want it open for %s", got, recovery)
			}
			wait(recovery)
			s.flood(50, nil) // 600 a minute.
			wait(5 * time.Second)
		}
	})
}

func TestRL103_the_share_is_taken_by_counting(t *testing.T) {
	t.Parallel()
	inBubble(t, guard.Rules{Circuit: &guard.Circuit{Threshold: 100_000}}, func(s *subject) {
		s.flood(1, nil)
		for step, want := range []int{100, 300, 600} {
			s.force(ratelimit.CircuitRecord{State: halfOpen, Step: step, Since: time.Now()})
			if passed := s.flood(1000, nil); passed != want {
				s.Errorf("step %d: %d of 1000 passed, want %d", step, passed, want)
			}
		}
	})
}

// force puts a record in the place of the present one and lets the guard see it.
func (s *subject) force(r ratelimit.CircuitRecord) {
	s.Helper()
	reading, err := s.circuits.Offer(s.Context(), guard.DefaultCircuitName, guard.DefaultWindow, ratelimit.CircuitCounts{}, time.Now())
	if err != nil {
		s.Fatal(err)
	}
	if swapped, err := s.circuits.Swap(s.Context(), guard.DefaultCircuitName, reading.Record.Epoch, r); err != nil || !swapped {
		s.Fatalf("swap: %t, %v", swapped, err)
	}
	wait(200 * time.Millisecond)
}

func TestRL102_no_caller_passes_the_global_limit(t *testing.T) {
	t.Parallel()
	for _, mode := range []guard.CircuitMode{guard.CircuitAdaptive, guard.CircuitLockdown, guard.CircuitDisabled} {
		want := 200
		if mode == guard.CircuitDisabled {
			want = 500
		}
		rules := guard.Rules{Circuit: &guard.Circuit{Mode: mode, Threshold: 10_000, GlobalLimit: 200}}
		inBubble(t, rules, func(s *subject) {
			passed := s.flood(100, signedIn)
			wait(time.Second)
			passed += s.flood(400, signedIn)
			if passed != want {
				s.Errorf("%s: %d of 500 passed, want %d", mode, passed, want)
			}
		})
	}
}

func TestRL86_what_other_layers_refused_was_offered_too(t *testing.T) {
	t.Parallel()
	rules := everything()
	rules.Circuit = small()
	inBubble(t, rules, func(s *subject) {
		for range 150 {
			s.judge(attempt("192.0.2.1"))
			s.judge(attempt("10.1.2.3"))
		}
		wait(time.Second)
		status := s.Circuit()
		if status.Record.State != open || status.OfferedRate != 150.0/60 {
			s.Errorf("%+v, want it open after 150 offers", status)
		}
	})
}

func TestRL102_excluded_and_safelisted_requests_are_not_offered(t *testing.T) {
	t.Parallel()
	rules := everything()
	rules.Circuit = small()
	inBubble(t, rules, func(s *subject) {
		probe := attempt("203.0.113.9")
		probe.Path = "/healthz"
		for range 500 {
			s.judge(probe)
			s.judge(attempt("10.1.2.3"))
		}
		wait(time.Second)
		if status := s.Circuit(); status.Record.State != closed || status.OfferedRate != 0 {
			s.Errorf("%+v, want nothing offered", status)
		}
	})
}

func TestRL104_an_administrator_locks_down_and_opens_up(t *testing.T) {
	t.Parallel()
	inBubble(t, guard.Rules{Circuit: small()}, func(s *subject) {
		if err := s.ForceCircuit(s.Context(), ratelimit.ForceLockdown, time.Now().Add(time.Minute), root); err != nil {
			s.Fatal(err)
		}
		if passed := s.flood(10, signedIn); passed != 0 {
			s.Errorf("locked down: %d passed", passed)
		}
		wait(time.Minute + time.Second)
		if passed := s.flood(10, nil); passed != 10 {
			s.Errorf("after its end: %d of 10 passed", passed)
		}
		s.flood(200, nil)
		wait(time.Second)
		if err := s.ForceCircuit(s.Context(), ratelimit.ForceClosed, time.Time{}, root); err != nil {
			s.Fatal(err)
		}
		if passed := s.flood(10, nil); passed != 10 {
			s.Errorf("forced closed: %d of 10 passed", passed)
		}
		for _, wrong := range []struct {
			force ratelimit.CircuitForce
			until time.Time
		}{{"melt", time.Time{}}, {ratelimit.ForceClosed, time.Now()}} {
			if err := s.ForceCircuit(s.Context(), wrong.force, wrong.until, root); !errors.Is(err, ratelimit.ErrConfig) {
				s.Errorf("%+v: %v, want ErrConfig", wrong, err)
			}
		}
	})
}

func TestRL92_a_circuit_in_dry_run_refuses_nothing(t *testing.T) {
	t.Parallel()
	circuit := small()
	circuit.DryRun = true
	inBubble(t, guard.Rules{Circuit: circuit}, func(s *subject) {
		s.flood(150, nil)
		wait(time.Second)
		if passed := s.flood(10, nil); passed != 10 {
			s.Errorf("%d of 10 passed", passed)
		}
		s.wantCounts("circuit/circuit dry 10")
	})
}

// Two replicas: they trip at the configured threshold together, and exactly one of them says so.
func TestRL106_replicas_trip_together_and_once(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := memstore.NewCircuits()
		var guards []*subject
		for range 4 {
			guards = append(guards, newSubject(t, guard.Rules{Circuit: small()}, func(o *guard.Options) {
				o.Circuits, o.Clock = shared, time.Now
			}))
		}
		for _, s := range guards {
			s.flood(26, nil)
		}
		wait(250 * time.Millisecond)
		trips := int64(0)
		for i, s := range guards {
			status := s.Circuit()
			trips += status.Trips
			if status.Record.State != open {
				t.Errorf("replica %d: %+v, want it open within 200 ms", i, status)
			}
		}
		if trips != 1 {
			t.Errorf("%d replicas say that they tripped, want 1", trips)
		}
	})
}

// broken is a register of circuits that says three replicas feed it, and fails while it is switched off.
type broken struct {
	*memstore.Circuits

	down atomic.Bool
}

func (b *broken) Offer(
	ctx context.Context, name string, window time.Duration, n ratelimit.CircuitCounts, now time.Time,
) (ratelimit.CircuitReading, error) {
	if b.down.Load() {
		return ratelimit.CircuitReading{}, errDown
	}
	reading, err := b.Circuits.Offer(ctx, name, window, n, now)
	reading.Replicas = 3
	return reading, err //nolint:wrapcheck // It stands in for the register.
}

func TestRL107_without_its_store_a_replica_trips_at_its_part_of_the_threshold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &broken{Circuits: memstore.NewCircuits()}
		rules := guard.Rules{Circuit: &guard.Circuit{Threshold: 99, GlobalLimit: 150}}
		s := newSubject(t, rules, func(o *guard.Options) {
			o.Circuits, o.LocalCircuits, o.Clock = store, memstore.NewCircuits(), time.Now
		})
		s.flood(1, nil)
		wait(time.Second)
		store.down.Store(true)
		s.flood(30, nil)
		wait(time.Second)
		if status := s.Circuit(); status.Record.State != closed || !status.Degraded || status.Replicas != 3 {
			t.Errorf("30 of 33: %+v, want it closed and degraded", status)
		}
		s.flood(10, nil)
		wait(time.Second)
		if status := s.Circuit(); status.Record.State != open {
			t.Errorf("40 of 33: %+v, want it open", status)
		}
		store.down.Store(false)
		wait(time.Second)
		if status := s.Circuit(); status.Record.State != closed || status.Degraded {
			t.Errorf("the store is back: %+v, want its record", status)
		}
		if err := s.ForceCircuit(t.Context(), ratelimit.ForceLockdown, time.Time{}, root); err != nil {
			t.Fatal(err)
		}
		store.down.Store(true)
		wait(time.Second)
		if passed := s.flood(5, signedIn); passed != 0 {
			t.Errorf("the order is lost with the store: %d passed", passed)
		}
		if err := s.ForceCircuit(t.Context(), ratelimit.ForceNone, time.Time{}, root); !errors.Is(err, ratelimit.ErrUnavailable) {
			t.Errorf("an order without the store: %v, want ErrUnavailable", err)
		}
	})
}

func TestRL104_a_guard_without_a_circuit_takes_no_orders(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{}, nil)
	if err := s.ForceCircuit(t.Context(), ratelimit.ForceLockdown, time.Time{}, root); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
}

func TestRL102_a_circuit_that_makes_no_sense_is_refused(t *testing.T) {
	t.Parallel()
	for i, c := range []guard.Circuit{
		{Mode: "half"},
		{Threshold: -1},
		{GlobalLimit: -1},
		{Threshold: 1 << 50},
		{Window: time.Millisecond},
		{Window: 2 * time.Hour},
		{Recovery: -1},
		{Recovery: 2 * time.Hour},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			if err := c.Validate(); !errors.Is(err, ratelimit.ErrConfig) {
				t.Errorf("%+v: %v, want ErrConfig", c, err)
			}
		})
	}
}
