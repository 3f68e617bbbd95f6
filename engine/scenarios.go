package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// Scenarios tells where the scenarios of a project stand in a session, by name; "" is the default session. A scenario is
// there as long as a mock names it (rule R5).
func (e *Engine) Scenarios(projectID, nameOrID string) ([]mockbase.ScenarioState, error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return nil, err
	}
	step := s.Step(p.layout)
	defer step.End()
	list := make([]mockbase.ScenarioState, len(p.scenarios))
	for i := range p.scenarios {
		list[i] = p.stateOf(step, i)
	}
	slices.SortFunc(list, func(a, b mockbase.ScenarioState) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// SetScenario moves a scenario to a state (rule M-193). An unknown scenario is CodeNotFound, a state that no definition
// names CodeValidationFailed, with pointers relative to the move.
func (e *Engine) SetScenario(projectID, nameOrID, scenario string, to *mockbase.ScenarioMove) (mockbase.ScenarioState, error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return mockbase.ScenarioState{}, err
	}
	at, err := p.scenarioNamed(scenario)
	if err != nil {
		return mockbase.ScenarioState{}, err
	}
	rules := &p.scenarios[at]
	switch {
	case !rules.names(to.State):
		return mockbase.ScenarioState{}, invalid("the scenario has no such state", mockbase.FieldError{
			Pointer: "#/state", Code: mockbase.FieldReference, Suggestion: mockbase.Suggest(to.State, rules.states),
			Detail: fmt.Sprintf("%q is none of the states of %s: %s", to.State, scenario, strings.Join(rules.states, ", ")),
		})
	case to.Key != "" && len(rules.key.parts) == 0:
		return mockbase.ScenarioState{}, invalid("the scenario has no key", mockbase.FieldError{
			Pointer: "#/key", Code: mockbase.FieldConflict, Detail: "is not needed: the scenario has one state for all requests",
		})
	}
	step := s.Step(p.layout)
	defer step.End()
	key := to.Key
	if key == "" {
		key = rules.key.none()
	}
	step.Move(at, key, to.State, to.By)
	return p.stateOf(step, at), nil
}

// ResetScenarios takes scenarios back to their initial states, for every value of their keys, and returns where all stand
// then (rule M-194). Without names it takes back all; an unknown name is CodeNotFound, and nothing is taken back. Places in
// sequences are counters and stay.
func (e *Engine) ResetScenarios(projectID, nameOrID string, names []string) ([]mockbase.ScenarioState, error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := p.scenarioNamed(name); err != nil {
			return nil, err
		}
	}
	step := s.Step(p.layout)
	step.ResetScenarios(names...)
	step.End()
	return e.Scenarios(projectID, s.ID())
}

// scenarioNamed is the place of a scenario in the program.
func (p *program) scenarioNamed(name string) (int, error) {
	at := slices.IndexFunc(p.layout.Scenarios, func(s session.ScenarioShape) bool { return s.Name == name })
	if at < 0 {
		return 0, mockbase.Errorf(mockbase.CodeNotFound, "there is no scenario %q: no mock names it", name)
	}
	return at, nil
}

// stateOf tells where a scenario stands.
func (p *program) stateOf(step session.Step, at int) mockbase.ScenarioState {
	rules := &p.scenarios[at]
	own := step.Instance(at, rules.key.none())
	state := mockbase.ScenarioState{
		Name: p.layout.Scenarios[at].Name, State: own.State, States: slices.Clone(rules.states), Mocks: slices.Clone(rules.mocks),
		ChangedAt: own.ChangedAt, ChangedBy: own.ChangedBy, Keys: rules.keys,
	}
	if len(rules.key.parts) > 0 {
		for _, i := range step.Instances(at) {
			state.Instances = append(state.Instances, mockbase.ScenarioInstance(i))
		}
	}
	return state
}
