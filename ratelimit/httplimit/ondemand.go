package httplimit

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mockbase/mockbase/ratelimit"
)

// demand is a guard whose policies a handler may ask, and the one that stands before that guard.
type demand struct {
	guard *Guard
	outer *demand
}

// demandKey is the place of the demand in a context.
type demandKey struct{}

// offer lets the handlers behind the guard ask its policies on demand.
func (g *Guard) offer(r *http.Request) *http.Request {
	if len(g.demanded) == 0 {
		return r
	}
	outer, _ := r.Context().Value(demandKey{}).(*demand)
	return r.WithContext(context.WithValue(r.Context(), demandKey{}, &demand{guard: g, outer: outer}))
}

// Check asks the policy of this name among Options.OnDemand of the guards that stand before the handler, the nearest
// first, for the key of the request (rule RL113). The handler writes the answer to a denial. The error wraps
// ratelimit.ErrConfig: no guard has such a policy, or none is a [Guard.Middleware].
func Check(ctx context.Context, r *http.Request, name string) (ratelimit.Decision, error) {
	for at, _ := ctx.Value(demandKey{}).(*demand); at != nil; at = at.outer {
		if p := at.guard.onDemand(name); p != nil {
			return at.guard.checkOne(ctx, r, p), nil
		}
	}
	return ratelimit.Decision{}, fmt.Errorf("check %q: no guard before the handler has this policy on demand: %w", name, ratelimit.ErrConfig)
}

// Check asks the policy of this name among Options.OnDemand for the key of the request, as [Check] does for handlers
// behind [Guard.Middleware].
func (g *Guard) Check(ctx context.Context, r *http.Request, name string) (ratelimit.Decision, error) {
	if p := g.onDemand(name); p != nil {
		return g.checkOne(ctx, r, p), nil
	}
	return ratelimit.Decision{}, fmt.Errorf("check %q: the guard does not have this policy on demand: %w", name, ratelimit.ErrConfig)
}

func (g *Guard) onDemand(name string) *ratelimit.Policy {
	for i := range g.demanded {
		if g.demanded[i].Name == name {
			return &g.demanded[i]
		}
	}
	return nil
}

// checkOne asks one policy for the key of the request.
func (g *Guard) checkOne(ctx context.Context, r *http.Request, p *ratelimit.Policy) ratelimit.Decision {
	identifier, ok := g.identifier(r)
	switch {
	case ok:
	case g.missing == MissingDeny:
		return ratelimit.Decision{Limit: p.Capacity(), RetryAfter: ratelimit.Never, Policy: p}
	default:
		return ratelimit.Decision{Allowed: true, Skipped: true, Policy: p}
	}
	return g.check(ctx, &ratelimit.Request{
		Key: ratelimit.Key{Namespace: p.Name, Identifier: identifier}, Policy: p, Cost: 1, Now: g.limiter.Now(),
	})
}
