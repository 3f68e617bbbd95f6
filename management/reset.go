package management

import (
	"slices"

	"github.com/mockbase/mockbase"
)

// The levels of a reset, and those that are meant when none is named (M-138, rule R7).
func resetLevels() []mockbase.ResetLevel {
	return []mockbase.ResetLevel{
		mockbase.ResetCounters, mockbase.ResetScenarios, mockbase.ResetLimits, mockbase.ResetData, mockbase.ResetJournal,
		mockbase.ResetMocks, mockbase.ResetAll,
	}
}

func usualResets() []mockbase.ResetLevel { return resetLevels()[:4] }

// reset is what a client wants to take back.
type reset struct {
	// session is a name or an id, "" for the whole project.
	session string
	levels  []mockbase.ResetLevel
}

// includes tells whether a level is among those to take back.
func (r *reset) includes(level mockbase.ResetLevel) bool {
	return slices.Contains(r.levels, level) || slices.Contains(r.levels, mockbase.ResetAll)
}

// readLevels reads the levels to take back.
func (r *reset) readLevels(f *mockbase.Fields) {
	var names []string
	if !f.Texts("what", &names) {
		return
	}
	r.levels = nil
	for _, name := range names {
		level := mockbase.ResetLevel(name)
		if !slices.Contains(resetLevels(), level) {
			f.Fault("what", mockbase.FieldEnum, "%s is none of the levels counters, scenarios, limits, data, journal, mocks and all", shown(name))
			continue
		}
		r.levels = append(r.levels, level)
	}
	if len(names) == 0 {
		f.Fault("what", mockbase.FieldLimit, "must name at least one level")
	}
}

// resetProject takes levels back in all sessions of a project, or in one (M-138).
func (s *Server) resetProject(c *call) error {
	r := reset{levels: usualResets()}
	err := c.maybeObject(func(f *mockbase.Fields) {
		r.readLevels(f)
		f.Text("session", &r.session)
		if r.session != "" && slices.Contains(r.levels, mockbase.ResetMocks) {
			noSessionsMocks(f)
		}
	})
	if err != nil {
		return err
	}
	return s.reset(c, &r)
}

// resetSession takes levels back in the session of the path (M-189).
func (s *Server) resetSession(c *call) error {
	name, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	if _, err := s.State.Session(c.project.Project.ID, name); err != nil {
		return err
	}
	r := reset{session: name, levels: usualResets()}
	err = c.maybeObject(func(f *mockbase.Fields) {
		r.readLevels(f)
		if slices.Contains(r.levels, mockbase.ResetMocks) {
			noSessionsMocks(f)
		}
	})
	if err != nil {
		return err
	}
	return s.reset(c, &r)
}

func noSessionsMocks(f *mockbase.Fields) {
	f.Fault("what", mockbase.FieldConflict, "mocks belong to the project and to no session: reset them without one")
}

// permit asks of a token what the levels need beside the route's scope (M-138).
func (r *reset) permit(c *call) error {
	switch {
	case r.includes(mockbase.ResetJournal) && !c.caller.has(scopeTrafficClear):
		return insufficientScope(scopeTrafficClear)
	case r.includes(mockbase.ResetMocks) && !c.caller.has(scopeMocksWrite):
		return insufficientScope(scopeMocksWrite)
	}
	return nil
}

// reset takes levels back. What can be refused comes first, so that a refusal leaves all as it was.
func (s *Server) reset(c *call, r *reset) error {
	projectID := c.project.Project.ID
	var one mockbase.Session
	if r.session != "" {
		var err error
		if one, err = s.State.Session(projectID, r.session); err != nil {
			return err
		}
	}
	if err := r.permit(c); err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	if r.session == "" && r.includes(mockbase.ResetMocks) {
		if err := s.Catalog.ResetMocks(c.ctx(), projectID, c.caller.user.ID); err != nil {
			return err
		}
	}
	if err := s.State.Reset(projectID, r.session, r.levels); err != nil {
		return err
	}
	switch {
	case !r.includes(mockbase.ResetJournal):
	case r.session == "":
		s.Traffic.Clear(projectID)
	default:
		s.Traffic.ClearSelected(projectID, mockbase.TrafficFilter{Session: one.ID})
	}
	return c.nothing()
}
