package engine

import (
	"time"

	"github.com/mockbase/mockbase"
)

// foreseer is a limiter that tells what it would decide about a request, and charges nothing (rules AA28 and AA29).
type foreseer interface {
	// foresee adds an outlook for each limit of the mock to the explanation. It returns how long the request would wait for
	// its limits and whether they admit it then; if not, they have answered. The call only looks.
	foresee(c *call, r *route, x *mockbase.Explanation) (wait time.Duration, admitted bool)
}

// foresee tells what the limits of the chosen mock would decide. It returns false when one of them would answer.
func (c *call) foresee(e *entry, x *mockbase.Explanation) (wait time.Duration, admitted bool) {
	limits, ok := e.limits.(foreseer)
	if !ok || e.headIsFree && e.derives(&c.method) {
		return 0, true
	}
	if !e.selection.remembers {
		// Limits are asked before such a mock counts the call.
		counted := c.instant
		c.instant = instant{}
		defer func() { c.instant = counted }()
	}
	return limits.foresee(c, e.route, x)
}
