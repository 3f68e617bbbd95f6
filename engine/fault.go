package engine

import (
	"maps"
	"net/http"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/fault"
)

// strikes tells whether the fault of a response happens in this call (rule Q11).
func (c *call) strikes(f *mockbase.Fault) bool {
	if f == nil {
		return false
	}
	return f.Probability == nil || *f.Probability >= 1 || *f.Probability > 0 && c.chance("fault").Float64() < *f.Probability
}

// fail breaks the answer on the wire and notes what went out (rules Q8 to Q13).
func (c *call) fail(f *mockbase.Fault, a *answer) {
	h := c.w.Header()
	c.lay(h, a)
	c.outcome.plain = !a.secret
	c.begin(h, a)
	struck := fault.Fault{
		Kind: f.Kind, AfterBytes: f.AfterBytes, For: f.For, Raw: f.Raw, Sleep: c.hang, Rand: c.chance("garbage"),
	}
	broken := fault.Answer{Status: a.status, Body: a.body}
	if bodyless(broken.Status) {
		broken.Status = http.StatusOK
	}
	outcome := struck.Strike(c.w, c.request, broken)
	c.outcome.fault = f.Kind
	c.outcome.aborted = c.outcome.aborted || outcome.Left
	c.outcome.status, c.outcome.body = outcome.Status, outcome.Body
	c.outcome.seized, c.outcome.cut = !outcome.Abort, outcome.Abort
	if outcome.Status != 0 {
		c.outcome.header = maps.Clone(h)
		cleanHeader(c.outcome.header)
	}
}
