package guard

import (
	"context"
	"slices"

	"github.com/mockbase/mockbase/ratelimit"
)

// Peek says what [Guard.Judge] would decide, and changes and counts nothing: no request is offered, no place taken, no
// match told of. The verdict names the layer that decides; where all let the request through it is the tier with the
// least left, if there is one. Rules in dry run are named in WouldLimit and refuse nothing.
func (g *Guard) Peek(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict {
	p := g.program.Load()
	if excludes(p.rules.Exclude, a) {
		return ratelimit.Verdict{Allowed: true, Layer: ratelimit.LayerExcluded}
	}
	if a.Now.IsZero() {
		a.Now = g.clock()
	}
	a.Cost = p.costOf(a)
	look := peek{walk{guard: g, program: p, attempt: a, silent: true}}
	if p.safelist != nil {
		if i := p.safelist.find(a); i >= 0 {
			e := &p.safelist.entries[i]
			return ratelimit.Verdict{Allowed: true, Layer: ratelimit.LayerSafelist, Rule: e.Name, Reason: e.Reason}
		}
	}
	if !look.blocked() && !look.bannedByHand() && !look.banned(ctx) && !look.limited(ctx) && !look.broken() {
		look.verdict.Allowed = true
	}
	return look.verdict
}

// peek is a walk that leaves everything as it is.
type peek struct{ walk }

// banned looks at the rules for bans, without counting what would be an offence.
func (w *peek) banned(ctx context.Context) bool {
	return slices.ContainsFunc(w.program.bans, func(r *banRule) bool { return w.bannedBy(ctx, r) })
}

func (w *peek) bannedBy(ctx context.Context, r *banRule) bool {
	if !r.Match.matches(w.attempt) && !r.scope.matches(w.attempt) {
		return false
	}
	key, ok := r.Key.identifier(w.attempt)
	if !ok {
		return r.Key.OnMissing == MissingDeny && w.refuse(w.keyless(ratelimit.LayerBans, r.Name, r.tally, r.DryRun))
	}
	ban, known := w.guard.bans.known.find(r.Name, key, w.attempt)
	if !known {
		standing, err := w.guard.bans.standing(ctx, r, key, w.attempt.Now)
		ban, known = standing.Ban, err == nil && standing.Banned
	}
	return known && w.refuse(w.byBan(r, key, &ban))
}

// limited peeks at each tier: at cost 0 a store tells what is left and takes nothing (rule RL6).
func (w *peek) limited(ctx context.Context) bool {
	return slices.ContainsFunc(w.program.tiers, func(t *tier) bool {
		key, counts, refuses := w.tierKey(t)
		return refuses && w.lacking(t) || counts && w.look(ctx, t, key)
	})
}

func (w *peek) look(ctx context.Context, t *tier, key string) bool {
	policy := t.policy()
	d, err := t.limiter.Check(ctx, ratelimit.Request{
		Key: ratelimit.Key{Namespace: policy.Name, Identifier: key}, Policy: policy, Now: w.attempt.Now,
	})
	if err != nil {
		return false
	}
	if d.Allowed && d.Remaining < w.attempt.Cost {
		d.Allowed, d.RetryAfter = false, d.Next
	}
	if !d.Allowed {
		return w.refuse(denial(t, key, &d))
	}
	w.report(t, &d)
	return false
}

// broken looks at the circuit without using up a turn of its share.
func (w *peek) broken() bool {
	c := w.program.circuit
	if c == nil {
		return false
	}
	pass, part, wait := c.Passes(w.guard.circuit.record.Load(), w.attempt.Now)
	if pass == PassAll || pass == PassKnown && w.attempt.Authenticated || part > 0 {
		return false
	}
	return w.refuse(w.byCircuit(c, wait))
}
