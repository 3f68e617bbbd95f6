package engine

import (
	"reflect"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// The scenario that the format gives to what is not configured (rule R4).
const (
	initialState = "Started"
	maxInstances = 10_000
)

// scenarioRules are what the engine knows of a scenario beside the session's memory of it.
type scenarioRules struct {
	key key
	// keys are the key's texts.
	keys []string
	// states are all that are named somewhere, the initial one first.
	states []string
	mocks  []string
}

// remember arranges what sessions remember for the program. What former, which may be nil, has in common with it keeps its
// memory: mocks whose way to choose has not changed, and scenarios by their names (mock format, section 4; rule R5).
func (p *program) remember(e *Engine, kept heritage) error {
	p.layout = &session.Layout{Revision: p.project.Revision, Mocks: make([]session.MockShape, len(p.entries), len(p.entries)+p.operations)}
	former, known := kept.former, kept.memories()
	places := make(map[string]int)
	for i := range p.entries {
		own := &p.entries[i]
		shape := session.MockShape{Scenario: session.NoScenario, Serial: kept.serial(i, own.mock, known)}
		if shape.Serial == 0 {
			shape.Serial = session.Serial(e.serials.Add(1))
		}
		if name := own.mock.Scenario; name != "" {
			at, met := places[name]
			if !met {
				at = len(p.scenarios)
				places[name] = at
				if err := p.addScenario(e, former, name); err != nil {
					return err
				}
			}
			shape.Scenario = at
			p.scenarios[at].add(own.mock)
		}
		own.scenario = shape.Scenario
		p.layout.Mocks[i] = shape
	}
	p.rememberOperations(e, known)
	return nil
}

// rememberOperations lets sessions count the calls of the operations of documents.
func (p *program) rememberOperations(e *Engine, known map[string]memoryOf) {
	for _, d := range p.documents {
		for i := range d.operations {
			own := &d.operations[i]
			own.scenario = session.NoScenario
			shape := session.MockShape{Scenario: session.NoScenario}
			if was, ok := known[own.mock.ID]; ok {
				shape.Serial = was.serial
			} else {
				shape.Serial = session.Serial(e.serials.Add(1))
			}
			p.layout.Mocks = append(p.layout.Mocks, shape)
		}
	}
}

// addScenario adds the rules and the memory of a scenario that a mock names.
func (p *program) addScenario(e *Engine, former *program, name string) error {
	shape := session.ScenarioShape{Name: name, Initial: initialState, MaxInstances: maxInstances}
	var rules scenarioRules
	for i := range p.project.Config.Scenarios {
		if own := &p.project.Config.Scenarios[i]; own.Name == name {
			shape.Initial, shape.MaxInstances = own.Initial, own.MaxInstances
			rules.keys = own.Keys
			var err error
			if rules.key, err = compileKey(own.Keys); err != nil {
				return err
			}
		}
	}
	if former != nil {
		for _, was := range former.layout.Scenarios {
			if was.Name == name {
				shape.Serial = was.Serial
			}
		}
	}
	if shape.Serial == 0 {
		shape.Serial = session.Serial(e.serials.Add(1))
	}
	rules.name(shape.Initial)
	p.layout.Scenarios = append(p.layout.Scenarios, shape)
	p.scenarios = append(p.scenarios, rules)
	return nil
}

// add notes a mock of the scenario and the states that it names.
func (s *scenarioRules) add(m *mockbase.Mock) {
	s.mocks = append(s.mocks, m.Name)
	s.name(m.States...)
	s.nameAll(m.Request.AnyOf)
	s.nameAll(m.Request.AllOf)
	s.nameIn(m.Request.Not)
	for i := range m.Responses {
		s.nameIn(m.Responses[i].When)
		if to := m.Responses[i].SetState; to != "" {
			s.name(to)
		}
	}
}

func (s *scenarioRules) name(states ...string) {
	for _, state := range states {
		if !s.names(state) {
			s.states = append(s.states, state)
		}
	}
}

func (s *scenarioRules) names(state string) bool {
	return slices.Contains(s.states, state)
}

func (s *scenarioRules) nameIn(c *mockbase.Condition) {
	if c != nil {
		s.name(c.States...)
		s.nameAll(c.AnyOf)
		s.nameAll(c.AllOf)
		s.nameIn(c.Not)
	}
}

func (s *scenarioRules) nameAll(list []mockbase.Condition) {
	for i := range list {
		s.nameIn(&list[i])
	}
}

// memoryOf is a mock with the serial of what sessions remember of it.
type memoryOf struct {
	mock   *mockbase.Mock
	serial session.Serial
}

// sameMemory tells whether a mock keeps its calls, uses and places through an edit (mock format, section 4).
func sameMemory(a, b *mockbase.Mock) bool {
	return a == b || a.Select == b.Select && a.Draw == b.Draw && a.OnEnd == b.OnEnd && a.Times == b.Times &&
		reflect.DeepEqual(a.Responses, b.Responses)
}
