package guard_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// outage is a register that fails while it is switched off.
type outage struct {
	ratelimit.Bans

	down atomic.Bool
}

func (o *outage) Strike(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if o.down.Load() {
		return ratelimit.Standing{}, errDown
	}
	return o.Bans.Strike(ctx, r, key, now) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Standing(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if o.down.Load() {
		return ratelimit.Standing{}, errDown
	}
	return o.Bans.Standing(ctx, r, key, now) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	if o.down.Load() {
		return ratelimit.BanPage{}, errDown
	}
	return o.Bans.Page(ctx, q) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Lift(ctx context.Context, rule, identifier string, now time.Time) (int, error) {
	if o.down.Load() {
		return 0, errDown
	}
	return o.Bans.Lift(ctx, rule, identifier, now) //nolint:wrapcheck // It stands in for the register.
}

func TestRL100_known_bans_hold_while_the_store_fails_and_new_ones_are_local(t *testing.T) {
	t.Parallel()
	store := &outage{Bans: newBans(t)}
	s := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans = store, newBans(t) })
	for range 5 {
		s.call(signIn("203.0.113.9"), wrong)
	}
	store.down.Store(true)
	s.want(s.judge(signIn("203.0.113.9")), "refused by bans/login")
	for range 5 {
		s.want(s.call(signIn("203.0.113.10"), wrong), "allowed")
	}
	s.want(s.judge(signIn("203.0.113.10")), "refused by bans/login")
	store.down.Store(false)
	s.want(s.judge(signIn("203.0.113.10")), "refused by bans/login")
	if got := s.BanStatus(); got.InForce["login"] != 2 || got.Begun["login"] != 2 || got.StoreFailures == 0 {
		t.Errorf("RL129: %+v, want two bans and some failures of the store", got)
	}
	s.clock.advance(15 * time.Minute)
	s.want(s.judge(signIn("203.0.113.10")), "allowed")
}

func TestRL100_a_local_ban_outlives_the_return_of_the_store(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &outage{Bans: newBans(t)}
		store.down.Store(true)
		s := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans, o.Clock = store, newBans(t), time.Now })
		for range 5 {
			s.call(signIn("203.0.113.9"), wrong)
		}
		store.down.Store(false)
		wait(5 * time.Second)
		s.want(s.judge(signIn("203.0.113.9")), "refused by bans/login")
	})
}

// overtaken is a register in which something happens between the reading of a page and its arrival.
type overtaken struct {
	ratelimit.Bans

	meanwhile atomic.Pointer[func()]
}

func (o *overtaken) Page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	page, err := o.Bans.Page(ctx, q)
	if meanwhile := o.meanwhile.Load(); meanwhile != nil {
		(*meanwhile)()
	}
	return page, err //nolint:wrapcheck // It stands in for the register.
}

func TestRL100_a_ban_that_begins_during_a_refresh_is_known_after_it(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &overtaken{Bans: newBans(t)}
		r := login()
		r.Scope = &guard.Matcher{}
		s := banning(t, r, func(o *guard.Options) { o.Bans, o.Clock = store, time.Now })
		guesses := func() {
			for range 5 {
				s.call(signIn("203.0.113.9"), wrong)
			}
		}
		store.meanwhile.Store(&guesses)
		wait(guard.DefaultRefresh + time.Millisecond)
		s.want(s.judge(attempt("203.0.113.9")), "refused by bans/login")
	})
}

// listed returns the keys of the bans that a guard lists.
func listed(t *testing.T, g *guard.Guard, q ratelimit.BanQuery) []string {
	t.Helper()
	page, err := g.Bans(t.Context(), q)
	if err != nil || page.Next != "" {
		t.Fatalf("next %q: %v", page.Next, err)
	}
	var keys []string
	for i := range page.Bans {
		keys = append(keys, page.Bans[i].Identifier)
	}
	return keys
}

// outages bans .9 through the store, then .10 while it fails, and gives a guard that knows both.
func outages(t *testing.T) (*subject, *outage) {
	t.Helper()
	store := &outage{Bans: newBans(t)}
	s := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans, o.Clock = store, newBans(t), time.Now })
	for _, address := range []string{"203.0.113.9", "203.0.113.10"} {
		for range 5 {
			s.call(signIn(address), wrong)
		}
		store.down.Store(true)
	}
	return s, store
}

// RL100 and RL101: bans can be listed and lifted while the store fails, those of the store as well, and what was lifted
// stays so when the store answers again.
func TestRL101_bans_are_listed_and_lifted_while_the_store_fails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := outages(t)
		both := []string{"203.0.113.10", "203.0.113.9"}
		if diff := cmp.Diff(both, listed(t, s.Guard, ratelimit.BanQuery{})); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(both[:1], listed(t, s.Guard, ratelimit.BanQuery{Rule: "login", Identifier: both[0]})); diff != "" {
			t.Error(diff)
		}
		if got := listed(t, s.Guard, ratelimit.BanQuery{Rule: "other"}); got != nil {
			t.Errorf("of another rule: %q", got)
		}
		for _, address := range both {
			if n, err := s.Lift(t.Context(), "login", address, root); n != 1 || err != nil {
				t.Errorf("%s: %d %v", address, n, err)
			}
			s.want(s.judge(signIn(address)), "allowed")
		}
		store.down.Store(false)
		wait(6 * time.Second)
		if got := listed(t, s.Guard, ratelimit.BanQuery{}); got != nil {
			t.Errorf("after its return: %q", got)
		}
		for _, address := range both {
			s.want(s.judge(signIn(address)), "allowed")
		}
	})
}

// RL100 and RL101: a ban that was made while the store failed is listed and can be lifted after its return.
func TestRL101_a_local_ban_is_listed_and_lifted_after_the_return_of_the_store(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := outages(t)
		store.down.Store(false)
		wait(6 * time.Second)
		if diff := cmp.Diff([]string{"203.0.113.10", "203.0.113.9"}, listed(t, s.Guard, ratelimit.BanQuery{})); diff != "" {
			t.Error(diff)
		}
		if n, err := s.Lift(t.Context(), "login", "203.0.113.10", root); n != 1 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		s.want(s.judge(signIn("203.0.113.10")), "allowed")
		s.want(s.judge(signIn("203.0.113.9")), "refused by bans/login")
	})
}

// RL101: what one process owes the store another one makes good: bans that it knows end at once, those of the store when it
// answers, and later ones never.
func TestRL101_an_owed_lift_is_handed_to_the_next_process(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := outages(t)
		if owed := s.OwedLifts(); owed != nil {
			t.Errorf("owed before: %v", owed)
		}
		for _, address := range []string{"203.0.113.9", "203.0.113.10"} {
			if _, err := s.Lift(t.Context(), "login", address, root); err != nil {
				t.Fatal(err)
			}
		}
		owed := s.OwedLifts()
		want := []guard.OwedLift{{Rule: "login", Key: "203.0.113.10", At: time.Now()}, {Rule: "login", Key: "203.0.113.9", At: time.Now()}}
		if diff := cmp.Diff(want, owed); diff != "" {
			t.Fatal(diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		store.down.Store(false)
		next := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans, o.Clock = store, newBans(t), time.Now })
		wait(6 * time.Second)
		next.want(next.judge(signIn("203.0.113.9")), "refused by bans/login")
		if err := store.Put(t.Context(), ratelimit.Ban{Rule: "login", Identifier: "203.0.113.10", From: time.Now(), Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		for _, lift := range owed {
			next.Owe(lift)
		}
		next.want(next.judge(signIn("203.0.113.9")), "refused by bans/login") // The store has it still.
		wait(6 * time.Second)
		next.want(next.judge(signIn("203.0.113.9")), "allowed")
		next.want(next.judge(signIn("203.0.113.10")), "refused by bans/login")
		if owed := next.OwedLifts(); owed != nil {
			t.Errorf("owed afterwards: %v", owed)
		}
		alone := banning(t, login(), func(*guard.Options) {})
		if alone.Owe(owed[0]); alone.OwedLifts() != nil {
			t.Error("what has no store beside it owes nothing")
		}
	})
}

// RL101: a lift that the store was not told of ends no ban that began after it.
func TestRL101_an_owed_lift_spares_later_bans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := outages(t)
		if n, err := s.Lift(t.Context(), "login", "", root); n != 2 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		wait(time.Second)
		store.down.Store(false)
		if err := store.Put(t.Context(), ratelimit.Ban{Rule: "login", Identifier: "203.0.113.11", From: time.Now(), Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		wait(6 * time.Second)
		if diff := cmp.Diff([]string{"203.0.113.11"}, listed(t, s.Guard, ratelimit.BanQuery{})); diff != "" {
			t.Error(diff)
		}
	})
}
