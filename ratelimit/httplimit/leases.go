package httplimit

import (
	"net/http"

	"github.com/mockbase/mockbase/ratelimit"
)

// places are what a request holds of its concurrency policies.
type places struct{ held []*ratelimit.Held }

// hold keeps the place that a check took. A check that was decided without a store took none.
func (p *places) hold(l *ratelimit.Limiter, r *http.Request, request *ratelimit.Request, d *ratelimit.Decision) *places {
	if p == nil {
		p = &places{}
	}
	p.held = append(p.held, l.Hold(r.Context(), *request, *d))
	return p
}

// release gives all places back. It may be called again, and of nil.
func (p *places) release() {
	if p == nil {
		return
	}
	for _, held := range p.held {
		held.Release()
	}
}
