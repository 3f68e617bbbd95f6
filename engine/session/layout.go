package session

import (
	"slices"
	"sync/atomic"
)

// Layout says what a session has to remember for one program of a project. It is immutable, and one program has one.
type Layout struct {
	// Revision orders the layouts of a project.
	Revision int64
	// Mocks are those of the program, in its order; a step names them by their place here.
	Mocks     []MockShape
	Scenarios []ScenarioShape
}

// Serial names something to remember across layouts. Whoever keeps its serial keeps its memory; a new serial starts anew.
type Serial uint64

// MockShape is what there is to remember of a mock: calls, uses and, within its scenario, a place.
type MockShape struct {
	Serial Serial
	// Scenario is the place in Layout.Scenarios, or [NoScenario].
	Scenario int
}

// NoScenario is the scenario of a mock without one.
const NoScenario = -1

// ScenarioShape is a scenario, which has one state for each value of its key (rule R6).
type ScenarioShape struct {
	Serial  Serial
	Name    string
	Initial string
	// MaxInstances bounds the values of the key that are remembered; the least recently used is dropped.
	MaxInstances int
}

// table is what a session remembers, arranged by a layout. Tables of one session share what their layouts share.
type table struct {
	layout    *Layout
	cells     []atomic.Pointer[cell]
	scenarios []*scenario
}

// cell is what a session remembers of one mock. It is small, because every mock that was called has one in every session.
type cell struct {
	// calls is counted without a lock for mocks that have nothing else.
	calls atomic.Int64
	// more is what mocks that remember have besides, nil until it is needed. It is looked at and changed in steps alone.
	more *progress
}

// progress is how far a mock has come. Where the mock has a scenario, the places are with its instances.
type progress struct {
	uses  int64
	place place
}

// progress returns how far the mock has come, made if there is nothing yet.
func (c *cell) progress() *progress {
	if c.more == nil {
		c.more = new(progress)
	}
	return c.more
}

// place is how far a mock has come in a sequence or an exact draw.
type place struct {
	taken int64
	// credit is what each response of an exact draw is owed.
	credit []int64
}

func newTable(l *Layout) *table {
	t := &table{layout: l, cells: make([]atomic.Pointer[cell], len(l.Mocks)), scenarios: make([]*scenario, len(l.Scenarios))}
	for i := range l.Scenarios {
		t.scenarios[i] = &scenario{}
	}
	return t
}

// arranged returns the table for a layout that keeps what t, which may be nil, and the layout have in common.
func (t *table) arranged(l *Layout) *table {
	next := newTable(l)
	if t == nil {
		return next
	}
	cells := t.known()
	for i := range l.Mocks {
		if c := cells[l.Mocks[i].Serial]; c != nil {
			next.cells[i].Store(c)
		}
	}
	for i := range l.Scenarios {
		same := func(s ScenarioShape) bool { return s.Serial == l.Scenarios[i].Serial }
		if j := slices.IndexFunc(t.layout.Scenarios, same); j >= 0 {
			next.scenarios[i] = t.scenarios[j]
		}
	}
	return next
}

// known returns the cells that hold something, by their mocks.
func (t *table) known() map[Serial]*cell {
	cells := make(map[Serial]*cell)
	for i := range t.cells {
		if c := t.cells[i].Load(); c != nil {
			cells[t.layout.Mocks[i].Serial] = c
		}
	}
	return cells
}

// at returns the cell of a mock, made if there is none. The session must be locked.
func (t *table) at(mock int) *cell {
	c := t.cells[mock].Load()
	if c == nil {
		c = new(cell)
		t.cells[mock].Store(c)
	}
	return c
}

// arrange returns the session's table for a layout. A layout that is older than the session's gets a table of its own,
// which is not kept: it serves requests that began before the last change. The session must be locked.
func (s *Session) arrange(l *Layout) *table {
	t := s.table.Load()
	if t != nil && t.layout == l {
		return t
	}
	next := t.arranged(l)
	if t == nil || t.layout.Revision <= l.Revision {
		next.dropPlaces()
		s.table.Store(next)
	}
	return next
}

// dropPlaces forgets the places of mocks that the layout does not know.
func (t *table) dropPlaces() {
	known := make(map[Serial]bool)
	for _, m := range t.layout.Mocks {
		if m.Scenario != NoScenario {
			known[m.Serial] = true
		}
	}
	for _, s := range t.scenarios {
		s.dropPlaces(known)
	}
}
