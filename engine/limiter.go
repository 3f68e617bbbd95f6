package engine

import "slices"

// limiter is the simulated limits of one mock (group X).
type limiter interface {
	// admit charges a request for which the mock was chosen, and tells whether it may go on. When it may not, or the client
	// has left, everything is answered and noted in the call's outcome. It is asked outside of every step, so it may wait;
	// nothing was moved before it, and what it charged stays charged whatever follows (rules R2 and X1).
	admit(c *call, r *route) bool
}

// unasked tells whether a mock has limits that must be asked before it may answer. Where a HEAD is free, limits are too
// (rule L2).
func (c *call) unasked(e *entry) bool {
	return e.limits != nil && !c.isFree(e) && !slices.Contains(c.charged, e.route)
}

// admittedChoice chooses the mock that answers, nil if none does, and asks its limits. After each answer of a limit matching starts
// again, since states may have moved meanwhile (rule R2); no limit is asked twice. It returns false when a limit has
// answered.
func (c *call) admittedChoice() (*choice, bool) {
	for {
		chosen := c.choose()
		if chosen == nil && !c.effort.Spent() {
			chosen = c.chooseOperation()
		}
		if chosen == nil || !c.unasked(chosen.entry) {
			c.tellLimits(chosen)
			return chosen, true
		}
		c.route = chosen.route
		if !chosen.limits.admit(c, chosen.route) {
			if c.outcome.by != chosen.by && !c.outcome.aborted {
				c.session.CountLimited()
			}
			return nil, false
		}
		c.charged = append(c.charged, chosen.route)
	}
}
