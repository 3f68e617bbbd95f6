package ratelimit

import (
	"context"
	"fmt"
)

// CheckInOrder asks whether the actions may proceed, one after the other, and stops after the first denial: later requests
// are not counted (rule RL14). It fills a decision for each that was judged and returns their number. A store that is an
// [OrderedStore] judges them in one go. Its failure becomes decisions of the failure mode for those that it had not judged.
// There must be a decision for each request. The error is misuse only, and then none is judged.
func (l *Limiter) CheckInOrder(ctx context.Context, requests []Request, decisions []Decision) (int, error) {
	if len(decisions) < len(requests) {
		return 0, fmt.Errorf("check in order: %d requests and %d decisions: %w", len(requests), len(decisions), ErrConfig)
	}
	timed := true
	for i := range requests {
		_, settled, err := Settle(requests[i].Policy, requests[i].Cost)
		if err == nil && !settled {
			err = requests[i].Validate()
		}
		if err != nil {
			return 0, err
		}
		timed = timed && !requests[i].Now.IsZero()
	}
	if !timed {
		requests = l.stamped(requests)
	}
	judged := l.askInOrder(ctx, requests, decisions)
	for i := range requests[:judged] {
		l.tallies.count(&requests[i], &decisions[i])
	}
	return judged, nil
}

// askInOrder puts the checks to the store, and those that it does not decide to the failure mode.
func (l *Limiter) askInOrder(ctx context.Context, requests []Request, decisions []Decision) int {
	began := l.timing.begin()
	judged, err := TakeInOrder(ctx, l.store, requests, decisions)
	l.timing.end(began)
	if err == nil {
		if l.health.failing.Load() && !nothingAsked(requests[:judged]) {
			l.health.succeeded(l.clock.read())
		}
		return judged
	}
	l.health.failed(l.clock.read(), err)
	for ; judged < len(requests); judged++ {
		d, settled, _ := Settle(requests[judged].Policy, requests[judged].Cost) // The error was ruled out before.
		if !settled {
			d = l.degrade(ctx, &requests[judged])
		}
		decisions[judged] = d
		if !d.Allowed {
			return judged + 1
		}
	}
	return judged
}

// nothingAsked says whether none of the checks needs a store.
func nothingAsked(requests []Request) bool {
	for i := range requests {
		if _, settled, _ := Settle(requests[i].Policy, requests[i].Cost); !settled {
			return false
		}
	}
	return true
}
