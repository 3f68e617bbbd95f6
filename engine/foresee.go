package engine

import "github.com/mockbase/mockbase"

// foreseer is a limiter that tells what it would decide about a request, and charges nothing (rules AA28 and AA29).
type foreseer interface {
	// foresee returns an outlook for each limit that would be asked, in the order of asking. The call only looks.
	foresee(c *call, r *route) []mockbase.LimitOutlook
}

// foresee tells what the limits of the chosen mock would decide. It returns false when one of them would refuse.
func (c *call) foresee(e *entry, x *mockbase.Explanation) bool {
	limits, ok := e.limits.(foreseer)
	if !ok || e.mock.HeadIsFree && e.derives(&c.method) {
		return true
	}
	admitted := true
	x.Limits = append(x.Limits, limits.foresee(c, e.route)...)
	for i := range x.Limits {
		admitted = admitted && x.Limits[i].Allowed
	}
	return admitted
}
