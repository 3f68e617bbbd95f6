package simlimit

import (
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Foresee says what the limits of a mock would decide at an instant, without consuming anything (rule AA29). The wait of a
// refusal is the one until as much is left as the request asks for, or until all is left again.
func (s *Space) Foresee(now time.Time, asks []Ask) []Outcome {
	g := s.current.Load()
	r := &Ruling{Now: now, Admitted: true, Outcomes: make([]Outcome, len(asks)), space: s}
	for i := range asks {
		o := &r.Outcomes[i]
		o.Ask = asks[i]
		r.prejudge(o)
		if o.Skipped {
			s.glance(g, o, now)
		}
	}
	return r.Outcomes
}

// glance looks at what is left for one limit.
func (s *Space) glance(g *generation, o *Outcome, now time.Time) {
	q := o.request(now)
	q.Cost = 0
	d, err := s.keeper.limiter.Check(g.ctx, q)
	if err != nil {
		return
	}
	o.Decision = d
	left := d.Remaining
	if used := o.By.Source.InitialUsed; used > 0 && d.Remaining == d.Limit && !s.book(o.By).begun(o.Key, g) {
		left -= used
	}
	switch cost := o.Cost; {
	case cost > d.Limit:
		o.Allowed, o.RetryAfter = false, ratelimit.Never
	case o.By.inFlight() && cost > 0 && left < 1:
		o.Allowed, o.RetryAfter = false, time.Second
	case !o.By.inFlight() && cost > left:
		o.Allowed, o.RetryAfter = false, d.Reset
		if cost == left+1 && d.Next > 0 {
			o.RetryAfter = d.Next
		}
	}
	o.Remaining = left
}

// begun tells whether a key has its initial use.
func (b *book) begun(key string, g *generation) bool {
	b.mu.Lock()
	e := b.records[key]
	b.mu.Unlock()
	if e == nil {
		return false
	}
	r := recordIn(e)
	r.seeding.Lock()
	defer r.seeding.Unlock()
	return r.in == g
}
