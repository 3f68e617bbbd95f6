package session

import (
	"slices"
	"time"
)

// Step reads and changes what a session remembers, while nothing else does. It must be ended, and must not last: no
// request, no limit and no template is waited for within a step.
type Step struct {
	session *Session
	table   *table
}

// Step begins a step for a layout and waits for the one under way.
func (s *Session) Step(l *Layout) Step {
	s.mu.Lock()
	return Step{session: s, table: s.arrange(l)}
}

// Look begins a step that only looks, for a layout that may be one that never serves: the session is not arranged for it.
// Nothing may be moved in such a step.
func (s *Session) Look(l *Layout) Step {
	s.mu.Lock()
	t := s.table.Load()
	if t == nil || t.layout != l {
		t = t.arranged(l)
	}
	return Step{session: s, table: t}
}

// End ends the step.
func (p Step) End() { p.session.mu.Unlock() }

// Count counts a call of a mock that remembers nothing else, and returns its number, from 1. But for the first call after
// a change it takes no lock.
func (s *Session) Count(l *Layout, mock int) int64 {
	if t := s.table.Load(); t != nil && t.layout == l {
		if c := t.cells[mock].Load(); c != nil {
			return c.calls.Add(1)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrange(l).at(mock).calls.Add(1)
}

// Calls is how often a mock was called. It takes no lock but after a change.
func (s *Session) Calls(l *Layout, mock int) int64 {
	if t := s.table.Load(); t != nil && t.layout == l {
		return Step{session: s, table: t}.Calls(mock)
	}
	p := s.Look(l)
	defer p.End()
	return p.Calls(mock)
}

// Calls is how often a mock was called.
func (p Step) Calls(mock int) int64 {
	if c := p.table.cells[mock].Load(); c != nil {
		return c.calls.Load()
	}
	return 0
}

// Uses is how often a mock was used, for the count of times (rule A11).
func (p Step) Uses(mock int) int64 {
	if c := p.table.cells[mock].Load(); c != nil && c.more != nil {
		return c.more.uses
	}
	return 0
}

// Use counts a call of a mock and its use, and returns the number of the call.
func (p Step) Use(mock int) int64 {
	c := p.table.at(mock)
	c.progress().uses++
	return c.calls.Add(1)
}

// State is the state of a scenario for a value of its key (rules R4 and R6).
func (p Step) State(scenario int, key string) string {
	if i := p.table.scenarios[scenario].find(key); i != nil && i.state != "" {
		return i.state
	}
	return p.table.layout.Scenarios[scenario].Initial
}

// Move sets the state of a scenario for a value of its key. by names who moves it.
func (p Step) Move(scenario int, key, state, by string) {
	i := p.instance(scenario, key)
	i.state, i.changedAt, i.changedBy = state, p.session.clock.Now(), by
}

// Keep counts the value of a scenario's key as used, if something is remembered for it.
func (p Step) Keep(scenario int, key string) {
	if s := p.table.scenarios[scenario]; s.find(key) != nil {
		p.instance(scenario, key)
	}
}

func (p Step) instance(scenario int, key string) *instance {
	return p.table.scenarios[scenario].use(key, p.table.layout.Scenarios[scenario].MaxInstances)
}

// Place is how many answers of its sequence, or exact draw, a mock has given for a value of its scenario's key.
func (p Step) Place(mock int, key string) int64 {
	if at := p.placeOf(mock, key); at != nil {
		return at.taken
	}
	return 0
}

// TakePlace moves the mock one answer on in its sequence.
func (p Step) TakePlace(mock int, key string) { p.takenPlace(mock, key).taken++ }

// Draw tells which response an exact draw gives next. Any run of as many draws as the weights' sum gives each response as
// often as its weight says (rules R9 and AA22): each draw owes every response its weight, and the one that is owed most
// pays the sum.
func (p Step) Draw(mock int, key string, weights []int64) int {
	at := p.placeOf(mock, key)
	best := 0
	for i := range weights {
		if owed(at, weights, i) > owed(at, weights, best) {
			best = i
		}
	}
	return best
}

func owed(at *place, weights []int64, i int) int64 {
	if at == nil || len(at.credit) != len(weights) {
		return weights[i]
	}
	return at.credit[i] + weights[i]
}

// TakeDraw takes what [Step.Draw] tells.
func (p Step) TakeDraw(mock int, key string, weights []int64) {
	best := p.Draw(mock, key, weights)
	at := p.takenPlace(mock, key)
	if len(at.credit) != len(weights) {
		at.credit = make([]int64, len(weights))
	}
	at.taken++
	for i, w := range weights {
		at.credit[i] += w
		at.credit[best] -= w
	}
}

// placeOf returns the place of a mock, nil where nothing was taken.
func (p Step) placeOf(mock int, key string) *place {
	shape := p.table.layout.Mocks[mock]
	if shape.Scenario == NoScenario {
		if c := p.table.cells[mock].Load(); c != nil && c.more != nil {
			return &c.more.place
		}
		return nil
	}
	if i := p.table.scenarios[shape.Scenario].find(key); i != nil {
		return i.places[shape.Serial]
	}
	return nil
}

// takenPlace returns the place of a mock, made if there is none.
func (p Step) takenPlace(mock int, key string) *place {
	shape := p.table.layout.Mocks[mock]
	if shape.Scenario == NoScenario {
		return &p.table.at(mock).progress().place
	}
	i := p.instance(shape.Scenario, key)
	if i.places == nil {
		i.places = make(map[Serial]*place)
	}
	at := i.places[shape.Serial]
	if at == nil {
		at = new(place)
		i.places[shape.Serial] = at
	}
	return at
}

// InstanceState is the state of a scenario for one value of its key.
type InstanceState struct {
	// Key is the value of the scenario's key; "" where it has none.
	Key   string
	State string
	// ChangedAt is the session's time of the last move, zero where there was none; ChangedBy names who moved it.
	ChangedAt time.Time
	ChangedBy string
}

// Instances lists the remembered instances of a scenario, the one used last first.
func (p Step) Instances(scenario int) []InstanceState {
	var list []InstanceState
	p.table.scenarios[scenario].each(func(i *instance) bool {
		state := i.state
		if state == "" {
			state = p.table.layout.Scenarios[scenario].Initial
		}
		list = append(list, InstanceState{Key: i.key, State: state, ChangedAt: i.changedAt, ChangedBy: i.changedBy})
		return true
	})
	return list
}

// Instance returns the instance of one value of a scenario's key.
func (p Step) Instance(scenario int, key string) InstanceState {
	state := InstanceState{Key: key, State: p.State(scenario, key)}
	if i := p.table.scenarios[scenario].find(key); i != nil {
		state.ChangedAt, state.ChangedBy = i.changedAt, i.changedBy
	}
	return state
}

// ResetScenarios takes scenarios back to their initial states, for every value of their keys; without names all of them.
// Places in sequences stay.
func (p Step) ResetScenarios(names ...string) {
	for i := range p.table.layout.Scenarios {
		if len(names) > 0 && !slices.Contains(names, p.table.layout.Scenarios[i].Name) {
			continue
		}
		p.table.scenarios[i].each(func(i *instance) bool {
			i.state, i.changedAt, i.changedBy = "", time.Time{}, ""
			return i.holds()
		})
	}
}

// Levels are what a reset takes back (rule R7). Journal and mocks are not a session's.
type Levels uint8

// The levels of a session.
const (
	// Counters are call numbers, uses, and places in sequences and exact draws.
	Counters Levels = 1 << iota
	// Scenarios are the states of scenarios.
	Scenarios
	// Limits are the buckets and bans of simulated limits, kept by an [Attachment].
	Limits
	// Data is that of collections, kept by an [Attachment].
	Data
	// All is everything that a session has.
	All = Counters | Scenarios | Limits | Data
)

// Reset takes levels back, all in one step. Requests in flight keep what they have.
func (s *Session) Reset(what Levels) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil {
		p := Step{session: s, table: t}
		if what&Scenarios != 0 {
			p.ResetScenarios()
		}
		if what&Counters != 0 {
			// Calls that are being counted without the lock count in the cells of before.
			fresh := newTable(t.layout)
			copy(fresh.scenarios, t.scenarios)
			fresh.forgetPlaces()
			s.table.Store(fresh)
		}
	}
	for _, a := range s.attachments() {
		a.Reset(what)
	}
}

func (t *table) forgetPlaces() {
	for _, s := range t.scenarios {
		s.dropPlaces(nil)
	}
}
