package simlimit

import (
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Foresee says what Ask would at an instant, without consuming anything (rules AA29 and AA30): the ruling has what would
// be left afterwards, and is neither settled nor released. The decisions are what each limit says by itself, with what is
// left before: a limit that Ask would not come to is looked at too.
func (s *Space) Foresee(now time.Time, asks []Ask) (*Ruling, []ratelimit.Decision) {
	g := s.current.Load()
	r := s.prejudged(now, asks)
	open := r.open(func(o *Outcome) bool { return o.Skipped })
	reached := r.Admitted
	r.glance(g, open)
	alone := make([]ratelimit.Decision, len(asks))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		s.expectBan(o, now)
		alone[i] = o.Decision
		r.Admitted = r.Admitted && !o.refuses()
	}
	for _, i := range open {
		o := &r.Outcomes[i]
		switch {
		case !reached, !r.Admitted && o.By.DryRun():
			o.Decision = o.By.unasked()
		case r.Admitted && o.Allowed:
			o.spend(now)
		}
	}
	r.weigh()
	return r, alone
}

// door is a policy that never admits what asks for two units, so that nothing is charged that is asked together with it
// (rule RL143).
func door() *ratelimit.Policy {
	return &ratelimit.Policy{Name: "looking", Algorithm: ratelimit.FixedWindow, Limit: 1, Window: time.Second}
}

// glance judges the limits at these places, and charges none of them.
func (r *Ruling) glance(g *generation, places []int) {
	if len(places) == 0 {
		return
	}
	requests := make([]ratelimit.Request, 0, len(places)+1)
	for _, i := range places {
		q := r.Outcomes[i].request(r.Now)
		q.DryRun = false
		requests = append(requests, q)
	}
	requests = append(requests, ratelimit.Request{
		Key: ratelimit.Key{Namespace: "looking", Identifier: globalKey}, Policy: r.space.keeper.door, Cost: 2, Now: r.Now,
	})
	decisions := make([]ratelimit.Decision, len(requests))
	if r.space.keeper.limiter.CheckAll(g.ctx, requests, decisions) != nil {
		// That is misuse alone, which compiling has ruled out.
		return
	}
	for n, i := range places {
		o := &r.Outcomes[i]
		o.Decision = decisions[n]
		if o.unseeded = untouched(&o.Decision) && r.unseeded(g, o); o.unseeded {
			state := o.By.begun(r.Now)
			o.Decision = o.By.judge(&ratelimit.Request{Policy: &o.By.policy, Now: r.Now}, state)
			if d := o.By.judge(&ratelimit.Request{Policy: &o.By.policy, Now: r.Now, Cost: o.Cost}, state); !d.Allowed {
				o.Decision = d
			}
		}
	}
}

// untouched tells that nothing is counted.
func untouched(d *ratelimit.Decision) bool {
	return d.Allowed && d.Remaining == d.Limit && d.Reset == 0
}

// unseeded tells that the key has not had the use yet that its limit begins with.
func (r *Ruling) unseeded(g *generation, o *Outcome) bool {
	return o.By.Source.InitialUsed > 0 && !r.space.book(o.By).begun(o.Key, g)
}

// spend turns what is left before a charge into what is left after it.
func (o *Outcome) spend(now time.Time) {
	if o.Cost == 0 {
		return
	}
	state := new(ratelimit.State)
	if o.unseeded {
		state = o.By.begun(now)
	}
	first := o.By.judge(&ratelimit.Request{Policy: &o.By.policy, Now: now, Cost: o.Cost, Lease: ratelimit.NewLease()}, state)
	if o.unseeded || untouched(&o.Decision) {
		o.Decision = first
		return
	}
	switch o.By.policy.Algorithm {
	case ratelimit.Concurrency:
		o.Remaining--
		return
	case ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA:
		o.Reset += first.Reset
	case ratelimit.SlidingLog, ratelimit.SlidingWindow:
		o.Reset = first.Reset
	case ratelimit.FixedWindow:
		// The window ends when it did.
	}
	o.Remaining -= o.Cost
}

// expectBan tells of the ban that would begin with a rejection.
func (s *Space) expectBan(o *Outcome, now time.Time) {
	if ban := o.By.Source.Ban; ban != nil && !o.Allowed && !o.Banned && s.book(o.By).offences(o, now)+1 >= ban.After {
		o.ban(ban.For)
	}
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

// offences is how many rejections of a key count towards a ban at an instant.
func (b *book) offences(o *Outcome, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	if e := b.records[o.Key]; e != nil {
		for _, at := range recordIn(e).offences {
			if now.Sub(at) < o.By.Source.Ban.Within {
				n++
			}
		}
	}
	return n
}
