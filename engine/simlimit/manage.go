package simlimit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
)

// Use tells how much a limit's bucket was used over the last day.
func (s *Space) Use(l *Limit) mockbase.LimitUse {
	b := s.book(l)
	b.mu.Lock()
	defer b.mu.Unlock()
	use := b.usage.day(s.keeper.options.Clock())
	use.LastHitAt = b.last
	return use
}

// Timeline tells the use of a limit's bucket over time (M-209).
func (s *Space) Timeline(l *Limit, span time.Duration) mockbase.LimitTimeline {
	b := s.book(l)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usage.timeline(s.keeper.options.Clock(), span)
}

// Keys lists the keys of a limit's bucket with what they have left at an instant of the session, the one used last first
// (M-210). Keys beyond a bound are forgotten here, and still count.
func (s *Space) Keys(l *Limit, now time.Time) []mockbase.LimitKey {
	known := s.book(l).list(now)
	all := make([]mockbase.LimitKey, len(known))
	for i := range known {
		all[i] = s.look(l, &known[i], now)
	}
	return all
}

// Key returns one key with its last decisions (M-211). It fails with ErrNoKey.
func (s *Space) Key(l *Limit, id string, now time.Time) (mockbase.LimitKey, error) {
	b := s.book(l)
	r, ok := b.find(id)
	if !ok {
		return mockbase.LimitKey{}, ErrNoKey
	}
	all := b.list(now)
	i := slices.IndexFunc(all, func(k keyed) bool { return k.ID == id })
	if i < 0 {
		return mockbase.LimitKey{}, ErrNoKey
	}
	view := s.look(l, &all[i], now)
	view.Decisions = b.decisionsOf(r)
	return view, nil
}

// look fills in what a key has left, without consuming anything.
func (s *Space) look(l *Limit, k *keyed, now time.Time) mockbase.LimitKey {
	view := k.LimitKey
	if l.policy.Limit == 0 {
		return view
	}
	q := ratelimit.Request{Key: l.key(k.value), Policy: &l.policy, Now: now}
	if l.InFlight() {
		q.Now = time.Time{}
	}
	g := s.current.Load()
	d, err := s.keeper.limiter.Check(g.ctx, q)
	if err != nil {
		return view
	}
	view.Remaining, view.Used = d.Remaining, d.Limit-d.Remaining
	if d.Reset > 0 {
		view.ResetAt = s.keeper.options.Clock().Add(d.Reset)
	}
	return view
}

// SetUsed makes a key have used a number of units at an instant of the session, from a state as if nothing had happened
// before (M-212). It fails with ErrNoKey, and with an error that wraps ratelimit.ErrConfig for a number that the limit
// cannot have or a limit that counts what is under way.
func (s *Space) SetUsed(l *Limit, id string, used int64, now time.Time) error {
	r, ok := s.book(l).find(id)
	switch {
	case !ok:
		return ErrNoKey
	case l.InFlight():
		return fmt.Errorf("set use: it counts requests that are under way: %w", ratelimit.ErrConfig)
	case used < 0 || used > l.Capacity():
		return fmt.Errorf("set use: %d is not from 0 to %d: %w", used, l.Capacity(), ratelimit.ErrConfig)
	case l.policy.Limit == 0:
		return nil
	}
	g := s.current.Load()
	r.seeding.Lock()
	defer r.seeding.Unlock()
	r.in = g
	q := ratelimit.Request{Key: l.key(r.value), Policy: &l.policy, Now: now, Cost: used}
	if err := g.forget(l, r.value); err != nil {
		return fmt.Errorf("set use: %w", err)
	}
	if _, err := s.keeper.limiter.Check(g.ctx, q); err != nil {
		return fmt.Errorf("set use: %w", err)
	}
	return nil
}

// ResetKey empties one key of a limit's bucket and lifts its ban (M-213). It fails with ErrNoKey or the store's error.
func (s *Space) ResetKey(l *Limit, id string) error {
	b := s.book(l)
	r, ok := b.find(id)
	if !ok {
		return ErrNoKey
	}
	if err := s.current.Load().forget(l, r.value); err != nil {
		return fmt.Errorf("reset key: %w", err)
	}
	b.drop(r)
	return nil
}

// ResetBucket empties the bucket of a limit and lifts its bans (M-213). It returns how many keys were known, and fails with
// the store's error.
func (s *Space) ResetBucket(l *Limit) (int, error) {
	if err := s.current.Load().forgetAll(l); err != nil {
		return 0, fmt.Errorf("reset bucket: %w", err)
	}
	return s.book(l).forget(), nil
}

// forget empties one key of a bucket, in the memory that stands in too.
func (g *generation) forget(l *Limit, value string) error {
	k := l.key(value)
	if err := g.memory.Reset(g.ctx, k, &l.policy); err != nil {
		return err //nolint:wrapcheck // The caller says what was tried.
	}
	return g.clear(k.Namespace + ":" + ratelimit.KeyIdentifier(k.Identifier) + ":")
}

// forgetAll empties a bucket.
func (g *generation) forgetAll(l *Limit) error {
	if m, ok := g.memory.(resettable); ok {
		m.ResetPrefix(l.namespace + ":")
	}
	return g.clear(l.namespace + ":")
}

// clear forgets counters of the shared store. Their keys hold the session's time, so that they are searched for.
func (g *generation) clear(prefix string) error {
	if g.shared == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(g.ctx, clearing)
	defer cancel()
	_, err := g.shared.Clear(ctx, prefix)
	return err //nolint:wrapcheck // The caller says what was tried.
}

// Simulate decides about requests that begin with empty buckets, and consumes nothing (M-214). Bans and templated costs
// are left out; a request without a cost has the policy's, or 1.
func (l *Limit) Simulate(requests []mockbase.LimitTrialRequest) []mockbase.LimitTrialDecision {
	states := make(map[string]*ratelimit.State)
	decisions := make([]mockbase.LimitTrialDecision, len(requests))
	beginning := time.Unix(0, 0).UTC()
	for i := range requests {
		r := &requests[i]
		q := ratelimit.Request{Key: l.key(r.Key), Policy: &l.policy, Now: beginning.Add(r.At), Cost: 1, Lease: ratelimit.NewLease()}
		if l.Source.Cost != nil {
			q.Cost = *l.Source.Cost
		}
		if r.Cost != nil {
			q.Cost = *r.Cost
		}
		state := states[r.Key]
		if state == nil {
			state = l.begun(beginning)
			states[r.Key] = state
		}
		d := l.judge(&q, state)
		decisions[i] = mockbase.LimitTrialDecision{
			At: r.At, Key: q.Key.Identifier, Allowed: d.Allowed, Remaining: d.Remaining, RetryAfter: d.RetryAfter,
		}
	}
	return decisions
}

// begun is the state of a key with its initial use.
func (l *Limit) begun(at time.Time) *ratelimit.State {
	state := new(ratelimit.State)
	if l.Source.InitialUsed > 0 && l.policy.Limit > 0 {
		l.judge(&ratelimit.Request{Policy: &l.policy, Now: at, Cost: l.Source.InitialUsed}, state)
	}
	return state
}

func (l *Limit) judge(q *ratelimit.Request, state *ratelimit.State) ratelimit.Decision {
	if l.policy.Limit == 0 {
		return l.closed()
	}
	d, settled, err := ratelimit.Settle(q.Policy, q.Cost)
	if settled || err != nil {
		return d
	}
	ratelimit.Judge(q, state, &d)
	return d
}
