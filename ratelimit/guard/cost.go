package guard

import (
	"context"
	"errors"
	"fmt"

	"github.com/mockbase/mockbase/ratelimit"
)

// Cost says what the requests that it matches cost (rule RL91). One of Fixed, Classes and From is stated.
type Cost struct {
	Match Matcher
	// Fixed is the cost of each.
	Fixed int64
	// Classes go by the size of the body, in order of size; a body of unknown size is of the last class.
	Classes []SizeClass
	// From computes the cost, for example from a template. It must be safe for concurrent use.
	From func(*ratelimit.Attempt) int64
}

// SizeClass is the cost of bodies of at most this many bytes. The last class is that of all larger ones.
type SizeClass struct{ UpTo, Cost int64 }

func (r *Rules) validateCosts() error {
	var faults []error
	for i := range r.Costs {
		if reason := r.Costs[i].wrong(); reason != "" {
			faults = append(faults, fault("cost %d: %s", i, reason))
		}
	}
	return errors.Join(faults...)
}

// wrong says what is wrong with a cost; the empty text is nothing.
func (c *Cost) wrong() string {
	stated := 0
	for _, one := range [...]bool{c.Fixed != 0, len(c.Classes) > 0, c.From != nil} {
		if one {
			stated++
		}
	}
	if stated != 1 {
		return "want one of a fixed cost, classes of size and a function"
	}
	if c.Fixed < 0 || c.Fixed > ratelimit.MaxCost {
		return fmt.Sprintf("%d is not in 0…%d", c.Fixed, ratelimit.MaxCost)
	}
	for i, class := range c.Classes {
		if class.Cost < 0 || class.Cost > ratelimit.MaxCost || i > 0 && class.UpTo <= c.Classes[i-1].UpTo {
			return fmt.Sprintf("class %d is out of order or not in 0…%d", i, ratelimit.MaxCost)
		}
	}
	return ""
}

// costOf returns what an attempt costs, from 1 to ratelimit.MaxCost.
func (p *program) costOf(a *ratelimit.Attempt) int64 {
	cost := a.Cost
	for i := range p.rules.Costs {
		if c := &p.rules.Costs[i]; c.Match.matches(a) {
			cost = c.of(a)
			break
		}
	}
	return min(max(cost, 1), ratelimit.MaxCost)
}

func (c *Cost) of(a *ratelimit.Attempt) int64 {
	if c.From != nil {
		return c.From(a)
	}
	for _, class := range c.Classes {
		if a.Size >= 0 && a.Size <= class.UpTo {
			return class.Cost
		}
	}
	if n := len(c.Classes); n > 0 {
		return c.Classes[n-1].Cost
	}
	return c.Fixed
}

// charge takes what a request cost beyond its announced cost from every tier that it passed. It denies nothing: what
// does not fit takes all that is left, and the next check sees less.
func (p *program) charge(ctx context.Context, a *ratelimit.Attempt, extra int64) {
	extra = min(extra, ratelimit.MaxCost)
	for _, t := range p.tiers {
		policy := t.policy()
		if policy.Limit == 0 || policy.Algorithm == ratelimit.Concurrency || !t.rule.Match.matches(a) {
			continue
		}
		key, ok := t.rule.Key.identifier(a)
		if !ok {
			continue
		}
		t.charge(ctx, ratelimit.Request{
			Key: ratelimit.Key{Namespace: policy.Name, Identifier: key}, Policy: policy, Cost: min(extra, policy.Capacity()),
		})
	}
}

// maxCharges is how often a charge is made smaller because others were faster.
const maxCharges = 3

func (t *tier) charge(ctx context.Context, r ratelimit.Request) {
	for range maxCharges {
		d, err := t.limiter.Check(ctx, r)
		if err != nil || d.Allowed || d.Remaining == 0 {
			return
		}
		r.Cost = d.Remaining
	}
}
