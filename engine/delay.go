package engine

import (
	"time"

	"github.com/mockbase/mockbase"
)

// delays is the time before the first byte of a response, and that of the project, which it replaces or is added to (rule
// Q2). Either may be nil.
type delays struct {
	own, byDefault *mockbase.Delay
}

func (d delays) draw() time.Duration {
	switch {
	case d.own == nil && d.byDefault == nil:
		return 0
	case d.own == nil:
		return d.byDefault.Fixed
	case d.own.AddDefault && d.byDefault != nil:
		return d.own.Fixed + d.byDefault.Fixed
	default:
		return d.own.Fixed
	}
}

// wait delays the answer. It returns false when the client has gone meanwhile, and cuts the delay short when the engine
// closes (rule N13).
func (c *call) wait(delay time.Duration) bool {
	clock := c.engine.options.Clock
	began := clock()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.engine.closing:
	case <-c.request.Context().Done():
		c.outcome.aborted = true
	}
	c.outcome.planned, c.outcome.slept = delay, clock().Sub(began)
	return !c.outcome.aborted
}
