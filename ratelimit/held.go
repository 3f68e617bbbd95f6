package ratelimit

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// renewals is how often a lease is renewed within its life, so that one failed renewal does not lose the place (rule
// RL40).
const renewals = 3

// Held is a place of a concurrency policy. Its lease is renewed until the place is released (rules RL40, RL41).
type Held struct {
	limiter  *Limiter
	ctx      context.Context //nolint:containedctx // It is the request's without its end, for renewals and the release.
	request  Request
	decision Decision

	mu       sync.Mutex
	timer    *time.Timer
	released bool
}

// NewLease returns the name of a lease that nobody else has.
func NewLease() string { return rand.Text() }

// Hold keeps the place that a check took until it is released; the caller hands in the request and its decision. The end
// of the context changes nothing.
func (l *Limiter) Hold(ctx context.Context, r Request, d Decision) *Held {
	h := &Held{limiter: l, ctx: context.WithoutCancel(ctx), request: r, decision: d}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(r.Policy.Window/renewals, h.renew)
	return h
}

// renew makes the lease live on. An error leaves it to the next renewal; a lease that lapsed is not to be had back, and
// whoever has the place now keeps it.
func (h *Held) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return
	}
	if lives, err := h.limiter.Renew(h.ctx, h.request, h.decision); err != nil || lives {
		h.timer.Reset(h.request.Policy.Window / renewals)
	}
}

// Release gives the place back to the store that gave it. If that fails, the place is free when its lease ends. It may be
// called again.
func (h *Held) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return
	}
	h.released = true
	h.timer.Stop()
	_ = h.limiter.Release(h.ctx, h.request, h.decision) // There is nobody to tell: the lease ends by itself.
}
