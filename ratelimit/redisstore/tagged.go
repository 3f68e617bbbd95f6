package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Tagged is the part of a store whose keys carry a hash tag, so that they lie on one server of a cluster and can be
// charged together there (rules RL59, RL121). It shares everything but the names of its keys with its store, and is as
// safe for concurrent use.
type Tagged struct {
	store *Store
	in    space
}

// space is where keys lie: what they begin with, and how long they live at least.
type space struct {
	prefix string
	life   time.Duration
}

// space is that of the store's own keys.
func (s *Store) space() space { return space{prefix: s.prefix} }

var _ interface {
	ratelimit.SessionStore
	ratelimit.OrderedStore
	ratelimit.AtomicStore
} = (*Tagged)(nil)

// Tagged returns the part of the store whose keys begin with prefix:{tag}. The tag, such as the ids of a project and a
// session, matches [A-Za-z0-9._~:/-]{1,128} and does not begin with h_; another one is ErrConfig. After each write a key
// lives for the given time at least: a session with a clock of its own, in whose time keys would end too early, gives the
// rest of its life (rules RL60, RL126). 0 is as long as the state matters. It is 0 to [ratelimit.MaxWindow].
func (s *Store) Tagged(tag string, life time.Duration) (*Tagged, error) {
	if life < 0 || life > ratelimit.MaxWindow {
		return nil, fmt.Errorf("tag keys: life %s is not in 0…%s: %w", life, ratelimit.MaxWindow, ratelimit.ErrConfig)
	}
	if ratelimit.KeyIdentifier(tag) != tag {
		return nil, fmt.Errorf("tag keys: %q does not match [A-Za-z0-9._~:/-]{1,128}: %w", tag, ratelimit.ErrConfig)
	}
	return &Tagged{store: s, in: space{prefix: s.prefix + ":{" + tag + "}", life: life}}, nil
}

// Take is [Store.Take].
func (t *Tagged) Take(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	return t.store.takeUnder(ctx, t.in, r)
}

// TakeInOrder is [Store.TakeInOrder].
func (t *Tagged) TakeInOrder(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	return t.store.takeInOrder(ctx, t.in, requests, decisions)
}

// TakeAll is [Store.TakeAll], in a cluster too.
func (t *Tagged) TakeAll(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	return t.store.takeAll(ctx, t.in, requests, decisions)
}

// Release is [Store.Release].
func (t *Tagged) Release(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) error {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease}
	_, err := t.store.manage(ctx, t.in, &r, t.store.target.scripts.release)
	return err
}

// Renew is [Store.Renew].
func (t *Tagged) Renew(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) (bool, error) {
	return t.RenewAt(ctx, k, p, lease, time.Time{})
}

// RenewAt is [Store.RenewAt].
func (t *Tagged) RenewAt(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string, now time.Time) (bool, error) {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease, Now: now}
	return t.store.manage(ctx, t.in, &r, t.store.target.scripts.renew)
}

// Reset is [Store.Reset].
func (t *Tagged) Reset(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	return t.store.resetUnder(ctx, t.in, k, p)
}
