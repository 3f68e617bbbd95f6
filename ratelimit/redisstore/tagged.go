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
	store  *Store
	prefix string
}

var _ interface {
	ratelimit.SessionStore
	ratelimit.OrderedStore
	ratelimit.AtomicStore
} = (*Tagged)(nil)

// Tagged returns the part of the store whose keys begin with prefix:{tag}. The tag, such as the ids of a project and a
// session, matches [A-Za-z0-9._~:/-]{1,128} and does not begin with h_; another one is ErrConfig.
func (s *Store) Tagged(tag string) (*Tagged, error) {
	if ratelimit.KeyIdentifier(tag) != tag {
		return nil, fmt.Errorf("tag keys: %q does not match [A-Za-z0-9._~:/-]{1,128}: %w", tag, ratelimit.ErrConfig)
	}
	return &Tagged{store: s, prefix: s.prefix + ":{" + tag + "}"}, nil
}

// Take is [Store.Take].
func (t *Tagged) Take(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	return t.store.takeUnder(ctx, t.prefix, r)
}

// TakeInOrder is [Store.TakeInOrder].
func (t *Tagged) TakeInOrder(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	return t.store.takeInOrder(ctx, t.prefix, requests, decisions)
}

// TakeAll is [Store.TakeAll], in a cluster too.
func (t *Tagged) TakeAll(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	return t.store.takeAll(ctx, t.prefix, requests, decisions)
}

// Release is [Store.Release].
func (t *Tagged) Release(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) error {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease}
	_, err := t.store.manage(ctx, t.prefix, &r, t.store.target.scripts.release)
	return err
}

// Renew is [Store.Renew].
func (t *Tagged) Renew(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) (bool, error) {
	return t.RenewAt(ctx, k, p, lease, time.Time{})
}

// RenewAt is [Store.RenewAt].
func (t *Tagged) RenewAt(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string, now time.Time) (bool, error) {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease, Now: now}
	return t.store.manage(ctx, t.prefix, &r, t.store.target.scripts.renew)
}

// Reset is [Store.Reset].
func (t *Tagged) Reset(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	return t.store.resetUnder(ctx, t.prefix, k, p)
}
