package guard

import (
	"context"

	"github.com/mockbase/mockbase/ratelimit"
)

// lineup are tiers that follow each other and share a limiter, which are asked together.
type lineup struct {
	tiers     []*tier
	requests  []ratelimit.Request
	decisions []ratelimit.Decision
	// room is for the usual number of tiers, so that a lineup is one allocation.
	room struct {
		tiers     [usualTiers]*tier
		requests  [usualTiers]ratelimit.Request
		decisions [usualTiers]ratelimit.Decision
	}
}

// usualTiers is the number of tiers that a lineup has room for from the start.
const usualTiers = 4

func newLineup() any {
	l := &lineup{}
	l.tiers, l.requests, l.decisions = l.room.tiers[:0], l.room.requests[:0], l.room.decisions[:0]
	return l
}

func (l *lineup) add(t *tier, r *ratelimit.Request) {
	l.tiers, l.requests, l.decisions = append(l.tiers, t), append(l.requests, *r), append(l.decisions, ratelimit.Decision{})
}

// empty forgets the tiers, and whose keys they were asked for.
func (l *lineup) empty() {
	clear(l.tiers)
	clear(l.requests)
	clear(l.decisions)
	l.tiers, l.requests, l.decisions = l.tiers[:0], l.requests[:0], l.decisions[:0]
}

// limited asks the tiers in their order; the first denial ends. Those that share a limiter are asked in one go (rule
// RL62). The verdict reports the tier with the least share left of those that clients may see (rules RL89, RL90).
func (w *walk) limited(ctx context.Context) bool {
	if len(w.program.tiers) == 0 {
		return false
	}
	l := w.guard.lineups.Get().(*lineup) //nolint:errcheck,forcetypeassert // The pool holds nothing else.
	defer w.guard.lineups.Put(l)
	defer l.empty()
	for _, t := range w.program.tiers {
		if w.lineUp(ctx, l, t) {
			return true
		}
	}
	return w.ask(ctx, l)
}

// tierKey returns the key by which a tier counts the request, and whether it does, or refuses it for what it lacks.
func (w *walk) tierKey(t *tier) (key string, counts, refuses bool) {
	if t.policy().Limit == 0 || !t.rule.Match.matches(w.attempt) {
		return "", false, false
	}
	key, counts = t.rule.Key.identifier(w.attempt)
	return key, counts, !counts && t.rule.Key.OnMissing == MissingDeny
}

// lacking refuses a request that lacks a part of a tier's key.
func (w *walk) lacking(t *tier) bool {
	return w.refuse(w.keyless(ratelimit.LayerTiers, t.rule.Policy.Name, t.tally, t.rule.DryRun))
}

// lineUp adds a tier to the lineup. What must be known before is asked first: the tiers of another limiter, and those
// before one that refuses requests without a key.
func (w *walk) lineUp(ctx context.Context, l *lineup, t *tier) (refused bool) {
	key, counts, refuses := w.tierKey(t)
	if !counts {
		return refuses && (w.ask(ctx, l) || w.lacking(t))
	}
	if len(l.tiers) > 0 && l.tiers[0].limiter != t.limiter && w.ask(ctx, l) {
		return true
	}
	policy := t.policy()
	r := ratelimit.Request{
		Key: ratelimit.Key{Namespace: policy.Name, Identifier: key}, Policy: policy, Cost: w.attempt.Cost, Now: w.attempt.Now,
		DryRun: t.rule.DryRun || w.program.rules.DryRun,
	}
	if policy.Algorithm == ratelimit.Concurrency {
		r.Lease = ratelimit.NewLease()
	}
	l.add(t, &r)
	return false
}

// ask asks the tiers of a lineup and empties it. A tier in dry run that denies lets those behind it be asked.
func (w *walk) ask(ctx context.Context, l *lineup) (refused bool) {
	defer l.empty()
	for at := 0; at < len(l.tiers); {
		judged, err := l.judge(ctx, at)
		if err != nil || judged == 0 { // Only misuse, which Update has ruled out; limits must never take the server down.
			return false
		}
		for i := at; i < at+judged; i++ {
			if w.judged(ctx, l.tiers[i], &l.requests[i], &l.decisions[i]) {
				return true
			}
		}
		at += judged
	}
	return false
}

// judged takes in what a tier decided, and returns whether it refused.
func (w *walk) judged(ctx context.Context, t *tier, r *ratelimit.Request, d *ratelimit.Decision) (refused bool) {
	if !d.Allowed {
		return w.refuse(denial(t, r.Key.Identifier, d))
	}
	if r.Lease != "" && !d.Skipped {
		w.held = append(w.held, t.limiter.Hold(ctx, *r, *d))
	}
	w.report(t, d)
	return false
}

// judge asks the limiter from one tier on.
func (l *lineup) judge(ctx context.Context, from int) (judged int, err error) {
	limiter := l.tiers[from].limiter
	if from == len(l.tiers)-1 { // A check alone may share its round trip with those of other requests.
		l.decisions[from], err = limiter.Check(ctx, l.requests[from])
		return 1, err
	}
	return limiter.CheckInOrder(ctx, l.requests[from:], l.decisions[from:])
}

// report keeps the decision of an allowed check if it has less left than the one before.
func (w *walk) report(t *tier, d *ratelimit.Decision) {
	if d.Skipped || t.hidden || t.rule.DryRun || w.program.rules.DryRun {
		return
	}
	reported := &w.verdict.Decision
	if reported.Policy == nil || share(d) < share(reported) {
		*reported = *d
	}
}

func share(d *ratelimit.Decision) float64 { return float64(d.Remaining) / float64(d.Limit) }

// denial is the refusal by a tier: 429, or 503 if its store failed and its mode is closed (rule RL65).
func denial(t *tier, key string, d *ratelimit.Decision) *refusal {
	status := ratelimit.StatusTooMany
	if d.Degraded == ratelimit.Closed {
		status = ratelimit.StatusUnavailable
	}
	return &refusal{
		layer: ratelimit.LayerTiers, rule: t.rule.Policy.Name, key: key, tally: t.tally, status: status,
		retryAfter: d.RetryAfter, decision: *d, hidden: t.hidden, dry: t.rule.DryRun,
	}
}
