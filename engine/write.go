package engine

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

var (
	_ reply   = (*answer)(nil)
	_ sending = (*answer)(nil)
)

// prepare returns the answer itself, as nothing about it depends on the call.
func (a *answer) prepare(*call) (sending, *failure) { return a, nil }

// send sends the answer of a mock.
func (a *answer) send(c *call) {
	h := c.w.Header()
	c.lay(h, a)
	if rare := a.special; rare != nil && rare.headLength != "" && c.method.name == http.MethodHead && !c.derived() {
		h[headerContentLength] = []string{rare.headLength}
	}
	c.outcome.plain = !a.secret
	if a.dressing != nil {
		c.sendDressed(h, a)
		return
	}
	c.send(h, a)
}

// lay puts the headers of an answer in place, with those for the request's origin.
func (c *call) lay(h http.Header, a *answer) {
	beside := len(h) > 0
	c.yieldFields(h, a)
	copyLines(h, a.lines)
	if a.length != nil {
		h[headerContentLength] = a.length[:]
	}
	if a.decision[0] != "" {
		h[headerDecision] = a.decision[:]
	}
	if c.allowed != nil {
		if a.special != nil {
			copyLines(h, a.special.cross)
		}
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

// derived tells whether a HEAD request is answered by a mock for GET; for what no mock answers it is always so.
func (c *call) derived() bool { return c.outcome.route == nil || c.outcome.route.derives(&c.method) }

// states tells whether the answer has a header of this name, in any spelling.
func (a *answer) states(name string) bool {
	return a.length != nil && strings.EqualFold(headerContentLength, name) ||
		a.decision[0] != "" && strings.EqualFold(headerDecision, name) ||
		slices.ContainsFunc(a.lines, func(l headerLine) bool { return strings.EqualFold(l.key, name) })
}

// send writes status, header and body, and notes what was sent.
func (c *call) send(h http.Header, a *answer) {
	c.begin(h, a)
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

// begin completes the header of an answer that is about to be written.
func (c *call) begin(h http.Header, a *answer) {
	if a.browser || c.program.settings.sandbox {
		c.protectBrowser(h)
	}
	if a.bound && c.request.ProtoMajor > 1 {
		c.dropConnectionHeaders(h, a)
	}
	c.explainBriefly(h)
	c.stamp(h)
}

// isConnectionHeader tells whether a header that a mock may state is about the connection alone (RFC 9113, section 8.2.2).
func isConnectionHeader(canonical string) bool {
	return canonical == "Keep-Alive" || canonical == "Proxy-Connection" || canonical == "Upgrade"
}

// dropConnectionHeaders takes out what HTTP/2 does not allow (rule N11).
func (c *call) dropConnectionHeaders(h http.Header, a *answer) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return isConnectionHeader(http.CanonicalHeaderKey(name)) })
	c.note("headers about the connection are not sent on HTTP/2")
	c.expose(h, a)
}

// stamp sets the date, so that it is recorded as it is sent. Without recording that is left to net/http.
func (c *call) stamp(h http.Header) {
	if c.recording == nil {
		return
	}
	if _, ok := h[headerDate]; !ok {
		now := c.exchange.At
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
