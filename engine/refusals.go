package engine

import (
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
)

// refusal is why a mock that fits did not answer: what its session remembered at the moment of the choice. An explanation
// tells of no other moment, and takes no lock (rule M6).
type refusal struct {
	*entry
	instant
	// spent tells that the mock is used up.
	spent bool
}

// refusalOf returns why a mock did not answer that fits the request, nil if it does not fit.
func (c *call) refusalOf(e *entry) *refusal {
	for i := range c.refusals {
		if c.refusals[i].is(e) {
			return &c.refusals[i]
		}
	}
	return nil
}

// lookedAt returns what the session remembered of a mock that fits, nil if that was not looked at.
func (c *call) lookedAt(e *entry) *refusal {
	for i := range c.held {
		if c.held[i].is(e) {
			return &c.held[i]
		}
	}
	return c.refusalOf(e)
}

// spent returns the first mock that fits and is used up (rule A11), nil if there is none.
func (c *call) spent() *refusal {
	for i := range c.refusals {
		if c.refusals[i].spent {
			return &c.refusals[i]
		}
	}
	return nil
}

// byState tells whether the state is what keeps the mock from answering.
func (r *refusal) byState() bool {
	return len(r.selection.states) > 0 && !r.inState(r.selection.states)
}

// stateOf is the state at the moment that is looked at, for an explanation.
func stateOf(q *inquiry) string {
	if at, ok := q.moment.(*instant); ok && at != nil {
		return at.state
	}
	return "another state"
}

// momentFindings is what became of the conditions of a mock that are not about the request alone: its states, its uses, and
// its responses, if none of them is the default (rule R10).
func (c *call) momentFindings(e *entry) []finding {
	var found []finding
	if r := c.lookedAt(e); r != nil {
		state, wanted := r.state, strings.Join(e.selection.states, ", ")
		if len(e.selection.states) > 0 {
			found = append(found, finding{part: partState, name: e.mock.Scenario, holds: !r.byState(), describe: func() (string, string, string) {
				return "in", wanted, state
			}})
		}
		if r.spent || e.selection.times > 0 {
			found = append(found, usesFinding(e, r.spent))
		}
	}
	if s := e.selection; s.kind == mockbase.SelectRules && s.byDefault < 0 && !c.preferred.forces() {
		found = append(found, anyFinding(s.whens, &c.inquiry))
	}
	return found
}

// momentHints names what keeps mocks from answering now, or here (rule M5).
func (c *call) momentHints() []string {
	var hints []string
	for i := range c.refusals {
		r := &c.refusals[i]
		named := fmt.Sprintf("mock %s (%s)", quoted(r.mock.Name), printable(placeOf(r.mock)))
		switch {
		case r.spent:
			hints = append(hints, named+" is exhausted: it has answered as often as it may")
		case r.byState():
			hints = append(hints, fmt.Sprintf("scenario %s is in state %s, but %s is needed for %s",
				quoted(r.mock.Scenario), quoted(r.state), quoted(strings.Join(r.selection.states, ", ")), named))
		}
		if len(hints) == maxNearMisses {
			break
		}
	}
	if len(hints) > 0 && c.program.sessions.Others() {
		hints = append(hints, "the request belongs to the session "+quoted(c.session.Name())+
			"; another session has states and counts of its own")
	}
	return hints
}
