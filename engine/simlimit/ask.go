package simlimit

import (
	"net/http"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// Ask is the question of one request to one limit.
type Ask struct {
	By *Limit
	// Key is the value of the limit's key, Label the same for people.
	Key, Label string
	Cost       int64
}

// Outcome is what one limit says.
type Outcome struct {
	Ask
	// Decision is the limiter's, or stands for it where none was asked. A skipped one says nothing.
	ratelimit.Decision
	// Banned tells that a ban decided.
	Banned bool

	// asked is what was put to the limiter.
	asked ratelimit.Request
	// unseeded tells that the key has not had the use yet that its limit begins with; only where nothing is consumed.
	unseeded bool
}

// refuses tells that the limit does not let the request pass.
func (o *Outcome) refuses() bool { return !o.Allowed && !o.By.DryRun() }

// Ruling is what all limits of a mock say about a request.
type Ruling struct {
	// Now is the session's time of the decision.
	Now time.Time
	// Admitted tells that the request may pass. It was charged for all limits then, and else for none (rule X8).
	Admitted bool
	// Outcomes are those of the limits, in their order.
	Outcomes []Outcome
	// Delayed tells that the request waited before it was admitted; whoever made it wait says so.
	Delayed bool

	space *Space
	held  []*ratelimit.Held
	// told is the limit that headers describe and decided the one that refused, -1 for none.
	told, decided int
}

// Ask puts a request to all limits of its mock at an instant of its session's clock. Nothing is charged unless all admit;
// limits in dry run are asked after that and refuse nobody (rules X8 and X11).
func (s *Space) Ask(now time.Time, asks []Ask) *Ruling {
	g := s.current.Load()
	r := s.prejudged(now, asks)
	if r.Admitted {
		r.charge(g, enforced)
	}
	if r.Admitted {
		r.charge(g, tried)
	}
	r.weigh()
	if r.Admitted {
		r.hold(g)
	}
	return r
}

// prejudged is a ruling as far as no limiter is needed.
func (s *Space) prejudged(now time.Time, asks []Ask) *Ruling {
	r := &Ruling{Now: now, Admitted: true, Outcomes: make([]Outcome, len(asks)), space: s, told: -1, decided: -1}
	for i := range asks {
		r.Outcomes[i].Ask = asks[i]
		r.prejudge(&r.Outcomes[i])
	}
	return r
}

// prejudge decides what needs no limiter: a limit of 0 and a ban.
func (r *Ruling) prejudge(o *Outcome) {
	o.Decision = o.By.unasked()
	switch rest := r.space.banned(o.By, o.Key, r.Now); {
	case rest > 0:
		o.Decision, o.Banned = o.By.barred(rest, o.Cost), true
	case o.By.policy.Limit == 0:
		o.Decision = o.By.closed()
	}
	if o.refuses() {
		r.Admitted = false
	}
}

// enforced and tried are the two kinds of limits that are put to the limiter: those that refuse, and those in dry run.
func enforced(o *Outcome) bool { return o.Skipped && !o.By.DryRun() }

func tried(o *Outcome) bool { return o.Skipped && o.By.DryRun() }

// open are the places of the limits of a kind.
func (r *Ruling) open(kind func(o *Outcome) bool) []int {
	places := make([]int, 0, len(r.Outcomes))
	for i := range r.Outcomes {
		if kind(&r.Outcomes[i]) {
			places = append(places, i)
		}
	}
	return places
}

// charge puts the request to the limiter under the limits of a kind. Those in dry run do not depend on each other.
func (r *Ruling) charge(g *generation, kind func(o *Outcome) bool) {
	places := r.open(kind)
	if len(places) == 0 {
		return
	}
	requests := make([]ratelimit.Request, 0, len(places))
	for _, i := range places {
		o := &r.Outcomes[i]
		r.space.seed(g, o, r.Now)
		o.asked = o.request(r.Now)
		requests = append(requests, o.asked)
	}
	limiter := r.space.keeper.limiter
	if len(requests) == 1 || requests[0].DryRun {
		for i := range requests {
			// The error is misuse alone, which compiling has ruled out.
			if d, err := limiter.Check(g.ctx, requests[i]); err == nil {
				r.take(places[i], d)
			}
		}
		return
	}
	decisions := make([]ratelimit.Decision, len(requests))
	if limiter.CheckAll(g.ctx, requests, decisions) == nil {
		for i := range decisions {
			r.take(places[i], decisions[i])
		}
	}
}

func (r *Ruling) take(place int, d ratelimit.Decision) {
	o := &r.Outcomes[place]
	o.Decision = d
	if o.refuses() {
		r.Admitted = false
	}
}

// request is the question to the limiter.
func (o *Outcome) request(now time.Time) ratelimit.Request {
	q := ratelimit.Request{Key: o.By.key(o.Key), Policy: &o.By.policy, Cost: o.Cost, Now: now, DryRun: o.By.DryRun()}
	if o.By.InFlight() {
		q.Now, q.Lease = time.Time{}, ratelimit.NewLease()
	}
	return q
}

// key is the name of a counter. Without a key all requests share one.
func (l *Limit) key(value string) ratelimit.Key {
	if value == "" {
		value = globalKey
	}
	return ratelimit.Key{Namespace: l.namespace, Identifier: value}
}

// globalKey is the value of the key of limits that do not tell requests apart.
const globalKey = "global"

// weigh finds the limit that headers describe, which is nearest to zero, and the one that refused: the strictest (rule X8).
func (r *Ruling) weigh() {
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Skipped || o.By.DryRun() {
			continue
		}
		if r.told < 0 || nearer(&o.Decision, &r.Outcomes[r.told].Decision) {
			r.told = i
		}
		if o.refuses() && (r.decided < 0 || longer(o.RetryAfter, r.Outcomes[r.decided].RetryAfter)) {
			r.decided = i
		}
	}
}

// nearer tells which of two is nearer to zero: the smaller remaining number, on a tie the longer reset.
func nearer(a, b *ratelimit.Decision) bool {
	return a.Remaining < b.Remaining || a.Remaining == b.Remaining && a.Reset > b.Reset
}

// longer compares two waits; no wait is longer than one that never ends.
func longer(a, b time.Duration) bool { return b != ratelimit.Never && (a == ratelimit.Never || a > b) }

// ban makes the wait of a rejection that of a ban which begins with it. Nothing is there again before the ban ends.
func (o *Outcome) ban(rest time.Duration) {
	if longer(rest, o.RetryAfter) {
		o.RetryAfter = rest
	}
	o.Reset = max(o.Reset, rest)
}

// hold keeps the places of limits of concurrency.
func (r *Ruling) hold(g *generation) {
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.By.InFlight() && o.Allowed && !o.Skipped && o.Cost > 0 {
			r.held = append(r.held, r.space.keeper.limiter.Hold(g.ctx, o.asked, o.Decision))
		}
	}
}

// Release gives back the places that the request held. It may be called again.
func (r *Ruling) Release() {
	for _, h := range r.held {
		h.Release()
	}
	r.held = nil
}

// Decided is the limit that refused the request, the strictest of them; nil if it was admitted.
func (r *Ruling) Decided() *Outcome {
	if r.decided < 0 {
		return nil
	}
	return &r.Outcomes[r.decided]
}

// Told is the limit that headers describe; nil where the request met none that is enforced.
func (r *Ruling) Told() *Outcome {
	if r.told < 0 {
		return nil
	}
	return &r.Outcomes[r.told]
}

// Fields writes the limit fields of the answer, except those that are there already (rules X5 and X10). Instants are those
// of the wall clock at the decision, as the Date of the same answer: clients subtract one from the other.
func (r *Ruling) Fields(h http.Header, wall time.Time) {
	if o := r.Told(); o != nil {
		o.By.fields.Limit(h, r.answer(o, wall))
	}
}

// answer is what fields are written from. All of a refusal tell the wait that Retry-After tells.
func (r *Ruling) answer(o *Outcome, wall time.Time) *dialect.Answer {
	a := &dialect.Answer{Decision: o.Decision, Now: wall}
	a.Reset = r.Reset(o)
	if d := r.Decided(); d != nil {
		a.Allowed, a.RetryAfter = false, d.RetryAfter
	}
	return a
}

// Reset is the time until a limit has all of its units again, as the answer tells it: not before a refused client may come
// again, whichever limit makes it wait (rule X5).
func (r *Ruling) Reset(o *Outcome) time.Duration {
	if d := r.Decided(); d != nil && d.RetryAfter != ratelimit.Never {
		return max(o.Reset, d.RetryAfter)
	}
	return o.Reset
}

// RetryAfter writes how long a refused client has to wait, if any wait helps (rule X3). A date is one of the wall clock,
// as those of [Ruling.Fields].
func (r *Ruling) RetryAfter(h http.Header, wall time.Time) {
	if d := r.Decided(); d != nil {
		d.By.fields.RetryAfter(h, d.RetryAfter, wall)
	}
}

// Problem is the body of a refusal whose author states none (rules X3 and RL114).
func (r *Ruling) Problem(status int) dialect.Problem {
	d := r.Decided()
	return (&dialect.Answer{Decision: d.Decision, Now: r.Now}).Problem(status, d.RetryAfter)
}
