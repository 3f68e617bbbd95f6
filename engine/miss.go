package engine

import (
	"fmt"
	"net/http"

	"github.com/mockbase/mockbase"
)

// The reasons why no mock answered.
const (
	reasonPath       = "path"
	reasonMethod     = "method"
	reasonConditions = "conditions"
	reasonExhausted  = "exhausted"
)

// diagnosis says why no mock answered (rule M2).
type diagnosis struct {
	Reason     string              `json:"reason"`
	Request    diagnosedRequest    `json:"request"`
	NearMisses []mockbase.NearMiss `json:"nearMisses"`
	Hints      []string            `json:"hints"`
}

type diagnosedRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query"`
}

// miss answers a request that no mock answers (rules L3 to L7 and M1).
func (c *call) miss() {
	here := c.presence()
	if c.program.settings.origins.isPreflight(c.request) {
		c.answerPreflight(here)
		return
	}
	allow := here.methods.allow(c.program.settings)
	if c.method.name == http.MethodOptions && here.path {
		c.outcome.by = mockbase.AnsweredByPreflight
		c.reply(http.StatusNoContent, http.Header{headerAllow: {allow}}, nil)
		return
	}
	c.unanswered(here, allow)
}

// unanswered says that no mock answers, and why.
func (c *call) unanswered(here presence, allow string) {
	p := c.describeMiss(here)
	c.outcome.by = mockbase.AnsweredByUnmatched
	if c.recording != nil {
		c.exchange.NearMisses, c.exchange.Hints = p.NearMisses, p.Hints
	}
	if c.program.settings.fallback != nil {
		c.fallBack()
		return
	}
	if c.program.settings.noMatch != nil {
		c.replaceMiss(p.Status, allow)
		return
	}
	h := http.Header{}
	if p.Status == http.StatusMethodNotAllowed {
		h[headerAllow] = []string{allow}
	}
	if acceptsText(c.header["Accept"]) {
		h[headerContentType] = []string{"text/plain; charset=utf-8"}
		c.reply(p.Status, h, tabulate(p))
		return
	}
	c.reply(p.Status, h, encodeProblem(p))
}

// describeMiss decides between 404 and 405 and explains.
func (c *call) describeMiss(here presence) *problem {
	p := &problem{
		Title: "No mock answers", Status: http.StatusNotFound, Code: mockbase.CodeNoMatch, Instance: c.id(),
		diagnosis: c.diagnose(),
	}
	asked := c.method.name + " " + printable(c.path.text())
	switch {
	case here.path && !here.accepted || c.method.stated:
		p.Title, p.Status, p.Code, p.Reason = "Method not allowed", http.StatusMethodNotAllowed, mockbase.CodeMethodNotAllowed, reasonMethod
		p.Detail = fmt.Sprintf("No mock of this path answers %s.", asked)
	case here.path && c.spent() != nil:
		p.Reason = reasonExhausted
		p.Detail = fmt.Sprintf("Mocks answer %s, but they are used up.", asked)
	case here.path:
		p.Reason = reasonConditions
		p.Detail = fmt.Sprintf("Mocks answer %s, but the conditions of none hold.", asked)
	default:
		p.Reason = reasonPath
		p.Detail = fmt.Sprintf("No mock has the path of %s.", asked)
	}
	p.Type = c.engine.problemType(p.Code)
	return p
}

// replaceMiss sends the project's own answer instead.
func (c *call) replaceMiss(status int, allow string) {
	s := c.program.settings
	c.outcome.response = s.noMatch
	ready, delay, failed := c.ready(s.noMatch)
	if failed != nil {
		c.refuse(failed)
		return
	}
	if delay > 0 && !c.wait(delay) {
		return
	}
	// What noMatch can state always comes to a whole answer.
	a := *ready.(*answer) //nolint:errcheck,forcetypeassert // the decoder allows nothing else
	if !s.noMatchStatus {
		a.status = status
	}
	if h := c.w.Header(); a.status == http.StatusMethodNotAllowed && !a.states(headerAllow) {
		h[headerAllow] = []string{allow}
	}
	a.send(c)
}

// diagnose compares the request with the mocks that come nearest.
func (c *call) diagnose() *diagnosis {
	d := &diagnosis{Request: diagnosedRequest{
		Method: printable(c.method.name),
		Path:   printable(c.path.text()),
		Query:  printable(mockbase.MaskQuery(c.rawQuery)),
	}}
	near := c.nearest()
	d.NearMisses = c.describe(near[:min(len(near), maxNearMisses)])
	d.Hints = c.hints(near)
	return d
}
