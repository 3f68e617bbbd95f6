package session_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/session"
)

// newSession begins a session with the wall clock of the bubble.
func newSession(t *testing.T) *session.Session {
	t.Helper()
	r := session.NewRegistry(session.Options{})
	t.Cleanup(r.Close)
	return r.Default()
}

func TestAA13_the_clock_is_the_wall_clock_plus_an_offset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		if !clock.Now().Equal(time.Now()) {
			t.Errorf("a new clock shows %v, the wall clock %v", clock.Now(), time.Now())
		}
		if err := clock.Advance(time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's time
		if got := time.Until(clock.Now()); got != time.Hour {
			t.Errorf("the clock is %v ahead, want 1h", got)
		}
	})
}

func TestAA14_the_clock_never_runs_back(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		if err := clock.Set(time.Now().Add(2 * time.Hour)); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"a negative advance": clock.Advance(-time.Second),
			"an earlier set":     clock.Set(time.Now().Add(time.Hour)),
			"a set beyond years": clock.Set(time.Now().AddDate(9_000, 0, 0)),
			"an advance too far": clock.Advance(250 * 365 * 24 * time.Hour),
		} {
			if err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
		if got := clock.Offset(); got != 2*time.Hour {
			t.Errorf("the offset is %v after refusals, want 2h", got)
		}
		clock.Reset()
		if got := clock.Offset(); got != 0 {
			t.Errorf("the offset is %v after a reset", got)
		}
	})
}

func TestAA15_an_advance_runs_what_becomes_due_in_due_order_before_it_returns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		var mu sync.Mutex
		var ran []string
		for _, at := range []struct {
			name string
			d    time.Duration
		}{{"third", 30 * time.Second}, {"first", 10 * time.Second}, {"late", 2 * time.Minute}, {"second", 20 * time.Second}, {"tie", 30 * time.Second}} {
			clock.AfterFunc(at.d, func() {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, at.name)
			})
		}
		if err := clock.Advance(time.Minute); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		early := slices.Clone(ran)
		mu.Unlock()
		if diff := cmp.Diff([]string{"first", "second", "third", "tie"}, early); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's time
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(ran, "late") {
			t.Error("what was not due did not run when real time reached it")
		}
	})
}

func TestAA17_a_delay_ends_when_time_and_advances_reach_it(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		began := time.Now()
		var slept atomic.Int64
		go func() {
			_ = clock.Sleep(t.Context(), 10*time.Second)
			slept.Store(int64(time.Since(began)))
		}()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		if err := clock.Advance(8 * time.Second); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if slept.Load() != 0 {
			t.Fatal("the delay has ended a second too early")
		}
		// A reset is no advance, and takes none back.
		clock.Reset()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		synctest.Wait()
		if got := time.Duration(slept.Load()); got != 2*time.Second {
			t.Errorf("slept %v, want 2s", got)
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := clock.Sleep(ctx, time.Hour); err == nil {
			t.Error("the sleep went on")
		}
		if err := clock.Sleep(t.Context(), 0); err != nil {
			t.Errorf("no time at all: %v", err)
		}
	})
}

func TestStopKeepsAFunctionFromRunningOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := newSession(t).Timeline()
		var ran atomic.Int64
		stop := clock.AfterFunc(time.Second, func() { ran.Add(1) })
		other := clock.AfterFunc(2*time.Second, func() { ran.Add(10) })
		if !stop() || stop() {
			t.Error("stopping works once")
		}
		time.Sleep(3 * time.Second) //nolint:forbidigo // the bubble's time
		synctest.Wait()
		if ran.Load() != 10 || other() {
			t.Errorf("ran %d, want 10; and what ran cannot be stopped", ran.Load())
		}
	})
}

// Advances, waits and stops at the same time: each function runs once or is stopped, never both.
func TestAA15_the_clock_is_safe_under_concurrency(t *testing.T) {
	t.Parallel()
	clock := newSession(t).Timeline()
	var all sync.WaitGroup
	var mu sync.Mutex
	ran, stopped := 0, 0
	const each = 200
	for i := range 8 {
		all.Go(func() {
			for j := range each {
				stop := clock.AfterFunc(time.Duration(j%7)*time.Hour+time.Hour, func() {
					mu.Lock()
					defer mu.Unlock()
					ran++
				})
				switch {
				case j%3 == 0 && stop():
					mu.Lock()
					stopped++
					mu.Unlock()
				case i%2 == 0:
					_ = clock.Advance(time.Minute)
				}
				_ = clock.Now()
			}
		})
	}
	all.Wait()
	if err := clock.Advance(10 * time.Hour); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if ran+stopped != 8*each {
		t.Errorf("%d ran and %d were stopped of %d", ran, stopped, 8*each)
	}
}
