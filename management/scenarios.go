package management

import (
	"net/http"

	"github.com/mockbase/mockbase"
)

// scenarioView is where a scenario stands (M-192).
type scenarioView struct {
	Name      string                 `json:"name"`
	State     string                 `json:"state"`
	States    []string               `json:"states"`
	Mocks     []string               `json:"mocks"`
	ChangedAt *string                `json:"changedAt"`
	ChangedBy *string                `json:"changedBy"`
	Key       []string               `json:"key,omitempty"`
	Instances []scenarioInstanceView `json:"instances,omitempty"`
}

type scenarioInstanceView struct {
	Key       string  `json:"key"`
	State     string  `json:"state"`
	ChangedAt *string `json:"changedAt"`
	ChangedBy *string `json:"changedBy"`
}

func viewOfScenario(s *mockbase.ScenarioState) scenarioView {
	v := scenarioView{
		Name: s.Name, State: s.State, States: s.States, Mocks: s.Mocks, ChangedAt: maybeTime(s.ChangedAt), ChangedBy: maybeText(s.ChangedBy),
		Key: s.Keys,
	}
	for _, i := range s.Instances {
		v.Instances = append(v.Instances, scenarioInstanceView{Key: i.Key, State: i.State, ChangedAt: maybeTime(i.ChangedAt), ChangedBy: maybeText(i.ChangedBy)})
	}
	return v
}

func viewsOfScenarios(list []mockbase.ScenarioState) []scenarioView {
	views := make([]scenarioView, len(list))
	for i := range list {
		views[i] = viewOfScenario(&list[i])
	}
	return views
}

// listScenarios tells where the scenarios of a project stand in a session (M-192).
func (s *Server) listScenarios(c *call) error {
	p := c.params()
	session := p.text("session")
	l, err := p.listing("name")
	if err != nil {
		return err
	}
	all, err := s.State.Scenarios(c.project.Project.ID, session)
	if err != nil {
		return err
	}
	var found []mockbase.ScenarioState
	for i := range all {
		if l.finds(all[i].Name) {
			found = append(found, all[i])
		}
	}
	onPage, next := cut(l, found, func(one mockbase.ScenarioState) key { return key{Text: one.Name, ID: one.Name} })
	return c.list(l, viewsOfScenarios(onPage), len(found), next)
}

// setScenario moves a scenario to a state that the definitions name (M-193, rules R4 and R6).
func (s *Server) setScenario(c *call) error {
	name, err := pathParam(c, "name")
	if err != nil {
		return err
	}
	move := mockbase.ScenarioMove{By: c.caller.user.ID}
	session := ""
	err = c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("state", &move.State)
		f.Text("session", &session)
		f.Text("key", &move.Key)
		f.Required("state")
	})
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	state, err := s.State.SetScenario(c.project.Project.ID, session, name, &move)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfScenario(&state))
}

// resetScenarios takes scenarios back to their initial states and tells where all stand then (M-194). A body is not needed.
func (s *Server) resetScenarios(c *call) error {
	var (
		session string
		names   []string
	)
	err := c.maybeObject(func(f *mockbase.Fields) {
		f.Text("session", &session)
		f.Texts("names", &names)
	})
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	states, err := s.State.ResetScenarios(c.project.Project.ID, session, names)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, page{Items: viewsOfScenarios(states)})
}
