package management_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
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

// Forty from many addresses guess at one account, and do so at the same instant as its owner, again and again.
func TestM37_the_owner_signs_in_however_many_guess_at_the_account(t *testing.T) {
	t.Parallel()
	const guessers = 40
	// A fifth of what people's cost: enough to have many wait at a time, and not more than a busy machine does in time.
	costs := auth.HasherOptions{Parameters: auth.Parameters{Memory: 8 << 10, Passes: 1, Lanes: 1}}
	var held atomic.Int64
	all := make(chan chan struct{}, 1)
	all <- make(chan struct{})
	w := newWorld(t, func(o *management.Options) {
		o.Hasher = auth.NewHasher(costs)
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			gate := <-all
			if held.Add(1)%(guessers+1) == 0 {
				close(gate)
				all <- make(chan struct{})
			} else {
				all <- gate
			}
			select {
			case <-gate:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	hash, err := auth.NewHasher(costs).Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.people.ChangeUser(t.Context(), mockbase.UserChange{ID: w.users[editor].ID, At: w.clock.Now(), Change: func(u *mockbase.User) error {
		u.PasswordHash = hash
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	for range 6 { // From here on everybody is held back.
		w.send(signInWith("editor@example.com", "wrong")).want(http.StatusUnauthorized)
	}
	for range 2 {
		var round sync.WaitGroup
		for range guessers {
			round.Go(func() {
				w.send(signInWith("editor@example.com", "wrong")).want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
			})
		}
		w.send(signInWith("editor@example.com", password)).want(http.StatusOK)
		round.Wait()
	}
}

func TestM37_who_waits_refuses_nobody_and_may_leave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := management.NewSlowdown(time.Now, nil)
		for range 20 {
			s.Failed("ada")
		}
		begun := time.Now()
		var ended sync.WaitGroup
		var checking, most atomic.Int64
		for range management.MaxSleepers {
			ended.Go(func() {
				done, err := s.Await(t.Context(), "ada")
				if err != nil {
					t.Error(err)
					return
				}
				defer done()
				most.Store(max(most.Load(), checking.Add(1)))
				if waited := time.Since(begun); waited < 5*time.Second {
					t.Errorf("an attempt waited %s", waited)
				}
				<-time.After(time.Millisecond)
				checking.Add(-1)
			})
		}
		synctest.Wait()
		// One more goes on at once.
		done, err := s.Await(t.Context(), "ada")
		if err != nil || !time.Now().Equal(begun) {
			t.Errorf("one more: %v after %s", err, time.Since(begun))
		}
		done()
		ended.Wait()
		if most.Load() > management.MaxTurns {
			t.Errorf("%d were checked at one time", most.Load())
		}
		// Who leaves while others are checked gives up the place.
		first, _ := s.Await(t.Context(), "eve")
		second, _ := s.Await(t.Context(), "eve")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Await(ctx, "eve"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a turn: %v", err)
		}
		if third, err := s.Await(t.Context(), "bob"); err != nil {
			t.Errorf("somebody else: %v", err)
		} else {
			third()
		}
		first()
		second()
		if n := s.Accounts(); n != 1 {
			t.Errorf("%d accounts are remembered, of one there are failures", n)
		}
	})
}

func TestM37_what_is_remembered_of_failures_is_bounded(t *testing.T) {
	t.Parallel()
	plain := management.NewSlowdown(time.Now, nil)
	for range 20 {
		plain.Failed("ada")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plain.Await(ctx, "ada"); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is over: %v", err)
	}
	for i := range 3 * management.MaxSlowed {
		plain.Failed(string(rune('a'+i%26)) + time.Duration(i).String())
	}
	if n := plain.Accounts(); n > management.MaxSlowed {
		t.Errorf("%d accounts are remembered", n)
	}
}
