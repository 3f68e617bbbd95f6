package engine

import (
	"maps"
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
)

// preflight answers a CORS preflight from the program alone, before the shield, unless a mock for OPTIONS stands in the
// way (rules L9 to L12). It returns false when the request is to go on.
func (c *call) preflight() bool {
	if !c.program.settings.origins.isPreflight(c.request) {
		return false
	}
	here := c.presence()
	if _, found := slices.BinarySearch(here.methods.names, http.MethodOptions); found {
		return false
	}
	c.answerPreflight(here)
	c.record()
	return true
}

func (c *call) answerPreflight(here presence) {
	c.outcome.by = mockbase.AnsweredByPreflight
	s := c.program.settings
	h := s.origins.preflight(c.request, here.methods, s)
	c.sendEmpty(h)
}

// sendEmpty sends a 204 that the engine gives by itself.
func (c *call) sendEmpty(h http.Header) {
	if decision := c.program.settings.decision(decisionNone); decision != "" {
		h[headerDecision] = []string{decision}
	}
	sent := c.w.Header()
	maps.Copy(sent, h)
	c.send(sent, &answer{status: http.StatusNoContent})
}

// presence is what mocks state about a path, whatever their guards.
type presence struct {
	// path tells that an enabled mock has this host and path structure, accepted that one of them takes the method.
	path, accepted bool
	methods        methodSet
}

// presence looks at the mocks of this path structure and host. A path that cannot be decoded has none.
func (c *call) presence() presence {
	var p presence
	if c.locate() != nil {
		return p
	}
	for _, l := range c.matching() {
		for _, e := range l.all() {
			if !e.host.match(c.request.Host) {
				continue
			}
			p.path = true
			p.accepted = p.accepted || e.accepts(&c.method)
			for _, name := range e.mock.Request.Methods {
				p.methods.add(name)
			}
		}
	}
	c.describedPresence(&p)
	return p
}

// anyServer answers OPTIONS *, which asks the server and no project (rule L7). It returns false for other requests.
func (c *call) anyServer() bool {
	if c.request.RequestURI != "*" || c.request.Method != http.MethodOptions {
		return false
	}
	if c.looking || c.admitted() {
		methods := c.engine.programs.Load().methods
		c.sendEmpty(http.Header{headerAllow: {methods.allow(c.program.settings)}})
	}
	return true
}
