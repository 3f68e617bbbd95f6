package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// RunCircuits tests one register of circuits against its contract (rules RL102, RL103, RL106). newCircuits returns an
// empty one and registers its end with t.Cleanup.
func RunCircuits(t *testing.T, newCircuits func(t *testing.T) ratelimit.Circuits) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(s circuits)
	}{
		{"RL102 offers are counted in a sliding window", circuits.window},
		{"RL102 circuits share nothing", circuits.independent},
		{"RL106 one of all changes wins", circuits.swap},
		{"RL103 a step counts from its beginning", circuits.step},
		{"RL103 a circuit that closes begins its window anew", circuits.closing},
		{"RL106 callers at one time are all counted", circuits.concurrent},
		{"RL11 misuse is an error of its own", circuits.misuse},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.test(circuits{T: t, store: newCircuits(t)})
		})
	}
}

// circuits is the register under test, and the test.
type circuits struct {
	*testing.T

	store ratelimit.Circuits
}

const circuitWindow = 10 * time.Second

// circuitOrigin begins a window of circuitWindow.
var circuitOrigin = time.Now().Truncate(circuitWindow)

func (s circuits) offer(name string, offered int64, after time.Duration) ratelimit.CircuitReading {
	s.Helper()
	n := ratelimit.CircuitCounts{Offered: offered, Admitted: offered / 2}
	got, err := s.store.Offer(s.Context(), name, circuitWindow, n, circuitOrigin.Add(after))
	if err != nil {
		s.Fatalf("offer %d to %s: %v", offered, name, err)
	}
	return got
}

func (s circuits) change(epoch int64, next ratelimit.CircuitRecord) bool {
	s.Helper()
	swapped, err := s.store.Swap(s.Context(), "server", epoch, next)
	if err != nil {
		s.Fatalf("swap %+v: %v", next, err)
	}
	return swapped
}

func (s circuits) window() {
	for _, step := range []struct {
		name          string
		offered       int64
		after         time.Duration
		want, admits  int64
		sinceTheState int64
	}{
		{"the first", 100, 0, 100, 50, 100},
		{"more in the same window", 100, 9 * time.Second, 200, 100, 200},
		{"the next window has all of the one before", 0, 10 * time.Second, 200, 100, 200},
		{"a quarter later, three quarters", 10, 12500 * time.Millisecond, 160, 80, 210},
		{"near its end, nearly nothing", 0, 19 * time.Second, 30, 15, 210},
		{"two windows later, nothing", 0, 35 * time.Second, 0, 0, 210},
	} {
		got := s.offer("server", step.offered, step.after)
		want := ratelimit.CircuitCounts{Offered: step.want, Admitted: step.admits}
		if got.Window != want || got.Offered != step.sinceTheState || got.Replicas < 1 {
			s.Errorf("%s: %+v, want %+v in the window and %d in all", step.name, got, want, step.sinceTheState)
		}
	}
}

func (s circuits) independent() {
	s.offer("server", 100, 0)
	if got := s.offer("other", 1, 0); got.Window.Offered != 1 || got.Record.Epoch != 0 {
		s.Errorf("another circuit: %+v", got)
	}
}

func (s circuits) swap() {
	opened := ratelimit.CircuitRecord{State: ratelimit.CircuitOpen, Since: circuitOrigin, Recovery: time.Minute, Force: ratelimit.ForceLockdown}
	if !s.change(0, opened) {
		s.Error("the first change lost against nobody")
	}
	if s.change(0, ratelimit.CircuitRecord{}) {
		s.Error("a change of an epoch that is over won")
	}
	got := s.offer("server", 0, 0).Record
	if !got.Since.Equal(circuitOrigin) {
		s.Errorf("since %s, want %s", got.Since, circuitOrigin)
	}
	opened.Epoch, opened.Since = 1, got.Since
	if got != opened {
		s.Errorf("record %+v, want %+v", got, opened)
	}
}

func (s circuits) step() {
	s.offer("server", 100, 0)
	s.change(0, ratelimit.CircuitRecord{State: ratelimit.CircuitHalfOpen})
	if got := s.offer("server", 7, time.Second); got.Offered != 7 || got.Window.Offered != 107 {
		s.Errorf("a new state: %+v, want 7 in it and 107 in the window", got)
	}
	s.change(1, ratelimit.CircuitRecord{State: ratelimit.CircuitHalfOpen, Force: ratelimit.ForceClosed})
	if got := s.offer("server", 1, time.Second); got.Offered != 8 {
		s.Errorf("an order in the same step: %+v, want 8", got)
	}
	s.change(2, ratelimit.CircuitRecord{State: ratelimit.CircuitHalfOpen, Step: 1})
	if got := s.offer("server", 2, time.Second); got.Offered != 2 {
		s.Errorf("the next step: %+v, want 2", got)
	}
}

func (s circuits) closing() {
	s.change(0, ratelimit.CircuitRecord{State: ratelimit.CircuitOpen})
	s.offer("server", 1000, 0)
	s.change(1, ratelimit.CircuitRecord{State: ratelimit.CircuitClosed})
	if got := s.offer("server", 3, time.Second); got.Window.Offered != 3 {
		s.Errorf("after it closed: %+v, want 3 in the window", got)
	}
}

func (s circuits) concurrent() {
	var won atomic.Int64
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if s.replica() {
				won.Add(1)
			}
		})
	}
	group.Wait()
	if got := s.offer("server", 0, 0); got.Window.Offered != 160 || won.Load() != 1 || got.Record.Epoch != 1 {
		s.Errorf("%+v after 160 offers and %d won changes, want 160 and 1", got, won.Load())
	}
}

// replica offers ten requests one by one and then opens the circuit, if nobody else was faster.
func (s circuits) replica() (won bool) {
	for range 10 {
		if _, err := s.store.Offer(s.Context(), "server", circuitWindow, ratelimit.CircuitCounts{Offered: 1}, circuitOrigin); err != nil {
			s.Errorf("offer: %v", err)
		}
	}
	won, err := s.store.Swap(s.Context(), "server", 0, ratelimit.CircuitRecord{State: ratelimit.CircuitOpen, Since: circuitOrigin})
	if err != nil {
		s.Errorf("swap: %v", err)
	}
	return won
}

func (s circuits) misuse() {
	for name, n := range map[string]ratelimit.CircuitCounts{"negative offers": {Offered: -1}, "negative admissions": {Admitted: -1}} {
		if _, err := s.store.Offer(s.Context(), "server", circuitWindow, n, circuitOrigin); !errors.Is(err, ratelimit.ErrConfig) {
			s.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	if _, err := s.store.Offer(s.Context(), "server", 0, ratelimit.CircuitCounts{}, circuitOrigin); !errors.Is(err, ratelimit.ErrConfig) {
		s.Errorf("no window: %v, want ErrConfig", err)
	}
}
