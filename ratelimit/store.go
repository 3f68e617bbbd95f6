package ratelimit

import (
	"context"
	"fmt"
	"time"
)

// Store keeps the states of counters and judges by [Judge]. Its methods are safe for concurrent use. A nil policy, one
// that [Policy.Validate] refuses, an impossible namespace and a place asked for without a lease are ErrConfig, a negative
// cost is ErrCost; every other error means that the store did not decide.
type Store interface {
	// Take asks for r.Cost units and counts them as the policy's algorithm says.
	Take(ctx context.Context, r Request) (Decision, error)
	// Release gives back the place that a lease of a Concurrency policy holds. Releasing it again, or after it lapsed,
	// changes nothing. Other policies hold no leases, and nothing happens.
	Release(ctx context.Context, k Key, p *Policy, lease string) error
	// Renew makes a lease of a Concurrency policy live one window from now; false says that it lapsed, or that the
	// policy holds no leases.
	Renew(ctx context.Context, k Key, p *Policy, lease string) (bool, error)
	// Reset forgets the state of the key under the policy.
	Reset(ctx context.Context, k Key, p *Policy) error
}

// SelectiveStore is a store that does not serve every policy.
type SelectiveStore interface {
	Store
	// Serves returns an error that wraps ErrConfig for a policy whose checks the store refuses.
	Serves(p *Policy) error
}

// OrderedStore is a store that judges several requests in order in one go (rule RL14).
type OrderedStore interface {
	Store
	// TakeInOrder judges the requests in order, stops after the first denial, fills a decision for each that was judged
	// and returns their number. Later requests are not counted. There must be a decision for each request.
	TakeInOrder(ctx context.Context, requests []Request, decisions []Decision) (int, error)
}

// AtomicStore is a store that charges several requests together, or none of them (rule RL143).
type AtomicStore interface {
	Store
	// TakeAll judges every request, and counts them only if all are allowed. If one is denied, the decisions of the
	// allowed ones say what is left without their costs. Each request needs a counter of its own: two with the same key
	// and the same kind of policy are ErrConfig. There must be a decision for each request.
	TakeAll(ctx context.Context, requests []Request, decisions []Decision) error
}

// SessionStore is a store whose leases can be renewed at given instants, for callers with a clock of their own.
type SessionStore interface {
	Store
	// RenewAt is Renew at an instant; the zero time is the store's clock.
	RenewAt(ctx context.Context, k Key, p *Policy, lease string, now time.Time) (bool, error)
}

// Serves returns an error that wraps ErrConfig if the policy is wrong or the store refuses its checks.
func Serves(s Store, p *Policy) error {
	if p == nil {
		return fmt.Errorf("look at policy: no policy: %w", ErrConfig)
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if selective, ok := s.(SelectiveStore); ok {
		return selective.Serves(p) //nolint:wrapcheck // The store says what is wrong.
	}
	return nil
}

// TakeInOrder judges the requests as [OrderedStore] says, one by one if the store is no OrderedStore.
func TakeInOrder(ctx context.Context, s Store, requests []Request, decisions []Decision) (int, error) {
	if len(decisions) < len(requests) {
		return 0, fmt.Errorf("take in order: %d requests and %d decisions: %w", len(requests), len(decisions), ErrConfig)
	}
	if ordered, ok := s.(OrderedStore); ok {
		return ordered.TakeInOrder(ctx, requests, decisions) //nolint:wrapcheck // Store errors say what is wrong.
	}
	for i := range requests {
		d, err := s.Take(ctx, requests[i])
		if err != nil {
			return i, err //nolint:wrapcheck // Store errors say what is wrong.
		}
		decisions[i] = d
		if !d.Allowed {
			return i + 1, nil
		}
	}
	return len(requests), nil
}
