package management_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// naps are the times that attempts were held back for.
type naps struct {
	mu   sync.Mutex
	took []time.Duration
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.took = append(n.took, d)
	return ctx.Err()
}

func TestM37_failures_from_many_addresses_slow_an_account_down_and_never_lock_it(t *testing.T) {
	t.Parallel()
	var slept naps
	w := newWorld(t, func(o *management.Options) { o.Sleep = slept.sleep })
	for range 15 {
		w.send(signInWith("Editor@example.com", "wrong")).want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
	}
	// The owner waits like everybody, and gets in.
	w.send(signInWith("editor@example.com", password)).want(http.StatusOK)
	ms := time.Millisecond
	want := []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms, 5000 * ms, 5000 * ms, 5000 * ms}
	if !slices.Equal(slept.took, want) {
		t.Errorf("slept %v, want %v", slept.took, want)
	}
	// Nobody else is slowed down, an account that does not exist is like one that does, and failures are forgotten.
	slept.took = nil
	w.send(signInWith("viewer@example.com", password)).want(http.StatusOK)
	for range 7 {
		w.send(signInWith("nobody@example.com", "wrong")).want(http.StatusUnauthorized)
	}
	w.clock.Advance(10 * time.Minute)
	w.send(signInWith("editor@example.com", password)).want(http.StatusOK)
	if want := []time.Duration{250 * ms}; !slices.Equal(slept.took, want) {
		t.Errorf("slept %v, want %v", slept.took, want)
	}
}

func TestM37_those_who_wait_are_bounded_and_may_leave(t *testing.T) {
	t.Parallel()
	clock := &watch{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	held := make(chan struct{})
	var waiting sync.WaitGroup
	s := management.NewSlowdown(clock.Now, func(ctx context.Context, _ time.Duration) error {
		waiting.Done()
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	for range 8 {
		s.Failed("ada")
	}
	var ended sync.WaitGroup
	for range management.MaxSleepersEach {
		waiting.Add(1)
		ended.Go(func() {
			if err := s.Await(t.Context(), "ada"); err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	if err := s.Await(t.Context(), "ada"); mockbase.ErrorCode(err) != mockbase.CodeBusy {
		t.Errorf("one more: %v, want busy", err)
	}
	close(held)
	ended.Wait()
	waiting.Add(1)
	if err := s.Await(t.Context(), "ada"); err != nil {
		t.Errorf("after the others: %v", err)
	}
	// Without a sleep of its own it waits on the clock of the machine, and not longer than the request lives.
	plain := management.NewSlowdown(clock.Now, nil)
	for range 20 {
		plain.Failed("ada")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := plain.Await(ctx, "ada"); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is over: %v", err)
	}
	if err := plain.Await(ctx, "eve"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	// What is remembered is bounded.
	for i := range 3 * management.MaxSlowed {
		plain.Failed(string(rune('a'+i%26)) + time.Duration(i).String())
	}
	if n := plain.Accounts(); n > management.MaxSlowed {
		t.Errorf("%d accounts are remembered", n)
	}
}
