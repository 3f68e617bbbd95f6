package engine

import (
	"slices"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/chance"
	"github.com/mockbase/mockbase/engine/session"
)

// candidate is a mock that fits a request, with the value of its scenario's key.
type candidate struct {
	*entry
	key string
}

// choice is what was chosen for a call.
type choice struct {
	*entry
	// response is the place in the mock's list; -1 tells that the preferred response does not exist (rule AA25).
	response int
}

// instant is the moment of a call as its mock sees it: the state of its scenario and the number of the call.
type instant struct {
	state  string
	number int64
}

var _ moment = (*instant)(nil)

func (m *instant) inState(states []string) bool { return slices.Contains(states, m.state) }
func (m *instant) callNumber() int64            { return m.number }

// choose finds the first candidate, in the order of rule A2, whose conditions all hold, and moves on what it moves; it
// returns nil if there is none. Where the mock has limits that were not asked yet nothing is moved: they come first. What
// remembers nothing is chosen without a lock.
//
// A request that takes too long to test is given to no mock: the effort is spent then.
func (c *call) choose() *choice {
	var chosen *choice
	c.effort.Try(func() bool {
		chosen = c.first()
		return true
	})
	c.effort.End()
	if c.effort.Spent() {
		return nil
	}
	return chosen
}

// matchTime is how much processor time the conditions of mocks may spend on one request.
const matchTime = 5 * time.Second

// first returns the choice among the candidates, nil for none.
func (c *call) first() *choice {
	q := c.queue()
	for e := q.next(); e != nil && c.effort.Spend(candidateBytes); e = q.next() {
		switch {
		case !c.fits(e):
		case e.selection.remembers:
			return c.chooseInStep(e, &q)
		case c.settles(e) && !c.effort.Spent():
			c.countFree(e)
			return &c.chosen
		}
	}
	return nil
}

// candidateBytes is what asking one mock counts for beside what it says of the body.
const candidateBytes = 256

// fits tells whether everything holds that a mock states about the request, as far as no moment is asked for.
func (c *call) fits(e *entry) bool {
	c.route = e.route
	return e.accepts(&c.method) && e.host.match(c.request.Host) && e.here(&c.inquiry) &&
		(!e.guarded || e.selection.momentary || e.guards.hold(&c.inquiry))
}

// settles finds the response of a mock that remembers nothing. A weighted one is drawn when the call has its number.
func (c *call) settles(e *entry) bool {
	c.chosen = choice{entry: e}
	c.moment = nil
	if c.preferred.forces() {
		c.chosen.response = c.preferred.find(e.route)
		return true
	}
	if e.selection.kind == mockbase.SelectRules {
		c.chosen.response = e.selection.byRules(&c.inquiry)
	}
	return c.chosen.response >= 0
}

// countFree gives the call its number, without a lock, and draws the response that depends on it.
func (c *call) countFree(e *entry) {
	if c.unasked(e) || c.chosen.response < 0 {
		return
	}
	if c.isFree(e) {
		c.instant.number = c.session.Calls(c.program.layout, e.age) + 1
	} else {
		c.instant.number = c.session.Count(c.program.layout, e.age)
	}
	c.drawShare(e)
}

// drawShare draws a weighted response (rule R9).
func (c *call) drawShare(e *entry) {
	if e.selection.shares != nil && !c.preferred.forces() {
		drawn := chance.Key{
			Seed: c.seed(c.session), Session: c.session.Name(), Mock: e.mock.Name, Purpose: "weight", Call: c.instant.number,
		}.Rand().Float64()
		c.chosen.response = e.selection.byShare(drawn)
	}
}

// isFree tells whether a call moves nothing: one that only looks (rule AA29), and a HEAD that is derived from GET, with
// headCounts: false (rule L2).
func (c *call) isFree(e *entry) bool { return c.looking || e.headIsFree && e.derives(&c.method) }

// step begins a step of the session, in which a call that only looks can move nothing.
func (c *call) step() session.Step {
	if c.looking {
		return c.session.Look(c.program.layout)
	}
	return c.session.Step(c.program.layout)
}

// chooseInStep chooses among all that may answer, from the first one that remembers something. What the request alone
// decides is decided before the step, so that the step is short.
func (c *call) chooseInStep(first *entry, q *queue) *choice {
	list := append(c.candidateRoom[:0], c.candidate(first))
	for e := q.next(); e != nil; e = q.next() {
		if !c.fits(e) || !e.selection.remembers && !c.settles(e) {
			continue
		}
		list = append(list, c.candidate(e))
		if !e.selection.remembers {
			// It answers whatever the others do, so nothing behind it can.
			break
		}
	}
	c.settleBodies(list)
	if c.effort.Spent() {
		return nil
	}
	step := c.step()
	defer step.End()
	c.refusals = c.refusals[:0]
	for i := range list {
		if c.take(step, &list[i]) {
			return &c.chosen
		}
	}
	return nil
}

// settleBodies tests a large body with the conditions that the step will ask, which would hold up all others.
func (c *call) settleBodies(list []candidate) {
	c.settled = false
	if c.message == nil || len(c.message.Raw()) < body.Large {
		return
	}
	for i := range list {
		s := list[i].selection
		if s.momentary {
			list[i].guards.settleBodies(c.message)
		}
		for _, when := range s.whens {
			when.settleBodies(c.message)
		}
	}
	c.settled = true
}

func (c *call) candidate(e *entry) candidate {
	own := candidate{entry: e}
	if e.scenario != session.NoScenario {
		c.route = e.route
		own.key = c.program.scenarios[e.scenario].key.of(c)
	}
	return own
}

// take chooses a candidate if it may answer at this moment, and moves on what it moves (rule R2).
func (c *call) take(step session.Step, e *candidate) bool {
	c.instant = instant{number: step.Calls(e.age) + 1}
	if e.scenario != session.NoScenario {
		c.instant.state = step.State(e.scenario, e.key)
	}
	c.route, c.moment, c.chosen = e.route, &c.instant, choice{entry: e.entry, response: -1}
	holds, spent := c.holdsNow(step, e)
	if !holds {
		c.refusals = append(c.refusals, refusal{entry: e.entry, instant: c.instant, spent: spent})
		return false
	}
	if !c.unasked(e.entry) && !c.isFree(e.entry) && c.chosen.response >= 0 {
		c.move(step, e)
	}
	return true
}

// holdsNow tells whether a candidate may answer at this moment, and finds the response. spent tells that it may not because
// it is used up (rule A11).
func (c *call) holdsNow(step session.Step, e *candidate) (holds, spent bool) {
	s := e.selection
	switch {
	case s.times > 0 && step.Uses(e.age) >= s.times:
		return false, true
	case len(s.states) > 0 && !c.instant.inState(s.states), s.momentary && !e.guards.hold(&c.inquiry):
		return false, false
	}
	c.chosen.response = c.responseNow(step, e)
	holds = c.chosen.response >= 0 || c.preferred.forces()
	return holds, !holds && s.kind == mockbase.SelectSequence
}

// responseNow is the place of the response that is next, -1 for none.
func (c *call) responseNow(step session.Step, e *candidate) int {
	s := e.selection
	switch {
	case c.preferred.forces():
		return c.preferred.find(e.route)
	case s.kind == mockbase.SelectSequence:
		return s.bySequence(step.Place(e.age, e.key))
	case s.weights != nil:
		return step.Draw(e.age, e.key, s.weights)
	case s.shares != nil:
		c.drawShare(e.entry)
		return c.chosen.response
	default:
		return s.byRules(&c.inquiry)
	}
}

// move takes what was chosen: a use and a call of the mock, a place in its sequence, and the state that the response sets.
// A preferred response takes no place (rule AA25).
func (c *call) move(step session.Step, e *candidate) {
	s := e.selection
	c.instant.number = step.Use(e.age)
	switch {
	case c.preferred.forces():
	case s.kind == mockbase.SelectSequence:
		step.TakePlace(e.age, e.key)
	case s.weights != nil:
		step.TakeDraw(e.age, e.key, s.weights)
	default:
		// The number may be another than when it was looked at: mocks that remember nothing count without the step.
		c.drawShare(e.entry)
	}
	if e.scenario == session.NoScenario {
		return
	}
	if to := e.responses[c.chosen.response].source.SetState; to != "" {
		step.Move(e.scenario, e.key, to, e.mock.Name)
	} else {
		step.Keep(e.scenario, e.key)
	}
}

// queue walks the mocks of the request's path structure in the order of rule A2.
type queue struct {
	list   []*entry
	merged *merge
}

func (c *call) queue() queue {
	if len(c.leaves) == 1 && c.program.expressions.empty() {
		return queue{list: c.leaves[0].inOrder(c.method.name)}
	}
	return queue{merged: newMerge(c.candidates(), c.method.name)}
}

// next returns the entry that comes next, nil at the end.
func (q *queue) next() *entry {
	if q.merged != nil {
		return q.merged.next()
	}
	if len(q.list) == 0 {
		return nil
	}
	e := q.list[0]
	q.list = q.list[1:]
	return e
}

// merge walks the entries of several leaves in one order.
type merge struct {
	lists   [][]*entry
	compare func(a, b *entry) int
}

func newMerge(leaves []*leaf, name string) *merge {
	m := &merge{compare: comparison(name), lists: make([][]*entry, 0, len(leaves))}
	for _, l := range leaves {
		m.lists = append(m.lists, l.inOrder(name))
	}
	return m
}

// next returns the entry that comes next, nil at the end.
func (m *merge) next() *entry {
	best := -1
	for i, list := range m.lists {
		if len(list) > 0 && (best < 0 || m.compare(list[0], m.lists[best][0]) < 0) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	e := m.lists[best][0]
	m.lists[best] = m.lists[best][1:]
	return e
}
