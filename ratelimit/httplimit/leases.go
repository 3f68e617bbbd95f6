package httplimit

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// renewals is how often a lease is renewed within its life, so that one failed renewal does not lose the place (rule
// RL40).
const renewals = 3

// places are what a request holds of its concurrency policies.
type places struct{ held []*place }

// hold keeps the place that a check took. A check that was decided without a store took none.
func (p *places) hold(l *ratelimit.Limiter, r *http.Request, request *ratelimit.Request, d *ratelimit.Decision) *places {
	if p == nil {
		p = &places{}
	}
	taken := &place{limiter: l, ctx: context.WithoutCancel(r.Context()), request: *request, decision: *d}
	p.held = append(p.held, taken)
	taken.schedule()
	return p
}

// release gives all places back. It may be called again, and of nil.
func (p *places) release() {
	if p == nil {
		return
	}
	for _, held := range p.held {
		held.release()
	}
}

// place is one place of a concurrency policy. Its lease is renewed until it is released (rules RL40, RL41).
type place struct {
	limiter  *ratelimit.Limiter
	ctx      context.Context //nolint:containedctx // It is the request's without its end, for renewals and the release.
	request  ratelimit.Request
	decision ratelimit.Decision

	mu       sync.Mutex
	timer    *time.Timer
	released bool
}

func (p *place) schedule() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(p.request.Policy.Window/renewals, p.renew)
}

// renew makes the lease live on. An error leaves it to the next renewal; a lease that lapsed is not to be had back, and
// whoever has the place now keeps it.
func (p *place) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return
	}
	if lives, err := p.limiter.Renew(p.ctx, p.request, p.decision); err != nil || lives {
		p.timer.Reset(p.request.Policy.Window / renewals)
	}
}

// release gives the place back to the store that gave it. If that fails, the place is free when its lease ends.
func (p *place) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return
	}
	p.released = true
	p.timer.Stop()
	_ = p.limiter.Release(p.ctx, p.request, p.decision)
}

// newLease returns the name of a lease that nobody else has.
func newLease() string { return rand.Text() }
