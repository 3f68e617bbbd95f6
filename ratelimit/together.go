package ratelimit

import (
	"context"
	"fmt"
	"slices"
)

// Together returns an error if the requests cannot be charged together, whatever the states are: one that no store could
// judge, too few decisions, or two requests for one counter. It wraps ErrConfig or ErrCost.
func Together(requests []Request, decisions []Decision) error {
	if len(decisions) < len(requests) {
		return fmt.Errorf("take all: %d requests and %d decisions: %w", len(requests), len(decisions), ErrConfig)
	}
	for i := range requests {
		r := &requests[i]
		_, settled, err := Settle(r.Policy, r.Cost)
		if err == nil && !settled {
			err = r.Validate()
		}
		if err != nil {
			return err
		}
		if settled {
			continue
		}
		for j := range requests[:i] {
			if requests[j].shares(r) {
				return fmt.Errorf("take all: two requests share the counter of %q in %q: %w",
					KeyIdentifier(r.Key.Identifier), r.Key.Namespace, ErrConfig)
			}
		}
	}
	return nil
}

// shares says whether two requests ask for one counter. The kinds of state have counters of their own.
func (r *Request) shares(other *Request) bool {
	return r.Policy.Limit > 0 && r.Key == other.Key && tailTag(r.Policy) == tailTag(other.Policy)
}

// CheckAll asks whether all actions may proceed, and counts them only if they may (rule RL143). The store must be an
// [AtomicStore]. Its failure becomes decisions of the failure mode, which stands in for all of them: FailMemory charges
// the fallback together too. There must be a decision for each request. The error is misuse only.
func (l *Limiter) CheckAll(ctx context.Context, requests []Request, decisions []Decision) error {
	store, ok := l.store.(AtomicStore)
	if !ok {
		return fmt.Errorf("check all: the store charges one request at a time: %w", ErrConfig)
	}
	if err := Together(requests, decisions); err != nil {
		return err
	}
	if !allSettled(requests, decisions) {
		requests = l.stamped(requests)
		began := l.timing.begin()
		err := store.TakeAll(ctx, requests, decisions)
		l.timing.end(began)
		if err != nil {
			l.health.failed(l.clock.read(), err)
			l.degradeAll(ctx, requests, decisions)
		} else if l.health.failing.Load() {
			l.health.succeeded(l.clock.read())
		}
	}
	for i := range requests {
		l.tallies.count(&requests[i], &decisions[i])
	}
	return nil
}

// allSettled fills in the decisions that need no state, and says whether none does.
func allSettled(requests []Request, decisions []Decision) bool {
	all := true
	for i := range requests {
		d, settled, _ := Settle(requests[i].Policy, requests[i].Cost) // Together has ruled out the error.
		decisions[i] = d
		all = all && settled
	}
	return all
}

// stamped returns the requests with one instant for those that give none.
func (l *Limiter) stamped(requests []Request) []Request {
	now := l.clock.now()
	requests = slices.Clone(requests)
	for i := range requests {
		if requests[i].Now.IsZero() {
			requests[i].Now = now
		}
	}
	return requests
}

// degradeAll decides without the store.
func (l *Limiter) degradeAll(ctx context.Context, requests []Request, decisions []Decision) {
	inMemory := l.chargeFallback(ctx, requests, decisions)
	for i := range requests {
		d, settled, _ := Settle(requests[i].Policy, requests[i].Cost) // Together has ruled out the error.
		switch {
		case settled:
			decisions[i] = d
		case inMemory:
			decisions[i].Degraded = Memory
		default:
			decisions[i] = l.standIn(&requests[i])
		}
	}
}

// chargeFallback charges the fallback, and returns false if the mode has none or that fails too.
func (l *Limiter) chargeFallback(ctx context.Context, requests []Request, decisions []Decision) bool {
	if l.mode != FailMemory {
		return false
	}
	fallback, ok := l.fallback.(AtomicStore)
	return ok && fallback.TakeAll(ctx, requests, decisions) == nil
}
