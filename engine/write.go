package engine

import (
	"net/http"
	"sync/atomic"
	"time"
)

// write sends a mock's answer.
func (c *call) write(r *route) {
	a, h := r.answer, c.w.Header()
	c.lay(h, a)
	if a.headLength != nil && c.method.name == http.MethodHead && !r.derives(&c.method) {
		h[headerContentLength] = a.headLength
	}
	c.send(h, a)
}

// lay puts the headers of an answer in place, with those for the request's origin.
func (c *call) lay(h http.Header, a *answer) {
	beside := len(h) > 0
	copyLines(h, a.lines)
	if c.allowed != nil {
		copyLines(h, a.cross)
		if !a.ownOrigin {
			h[headerAllowOrigin] = c.allowed
		}
	}
	if beside && !a.ownExpose && len(h[headerExpose]) > 0 {
		// The shield has left headers of its own, which must be exposed too.
		delete(h, headerExpose)
		h[headerExpose] = []string{c.program.settings.origins.exposed(h)}
	}
}

func copyLines(h http.Header, lines []headerLine) {
	for i := range lines {
		h[lines[i].key] = lines[i].lines
	}
}

// send writes status, header and body, and notes what was sent.
func (c *call) send(h http.Header, a *answer) {
	if a.browser || c.program.settings.sandbox {
		c.protectBrowser(h)
	}
	c.stamp(h)
	c.w.WriteHeader(a.status)
	c.outcome.status, c.outcome.header = a.status, h
	if len(a.body) > 0 && c.method.name != http.MethodHead {
		_, err := c.w.Write(a.body)
		c.outcome.body, c.outcome.aborted = a.body, c.outcome.aborted || err != nil
	}
	if a.nameless {
		// net/http works on a copy of the header from here on.
		cleanHeader(h)
	}
}

// stamp sets the date, so that it is recorded as it is sent. Without recording that is left to net/http.
func (c *call) stamp(h http.Header) {
	if c.recording == nil {
		return
	}
	if _, ok := h[headerDate]; !ok {
		now := c.start
		if c.outcome.planned > 0 {
			now = c.engine.options.Clock()
		}
		h[headerDate] = c.engine.date.at(now)
	}
}

// dateLine is the Date header of the current second.
type dateLine struct {
	current atomic.Pointer[datedLine]
}

type datedLine struct {
	second int64
	lines  []string
}

// at returns the field lines for an instant.
func (d *dateLine) at(now time.Time) []string {
	second := now.Unix()
	if current := d.current.Load(); current != nil && current.second == second {
		return current.lines
	}
	fresh := &datedLine{second: second, lines: []string{now.UTC().Format(http.TimeFormat)}}
	d.current.Store(fresh)
	return fresh.lines
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
