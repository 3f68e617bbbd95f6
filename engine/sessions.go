package engine

import (
	"fmt"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// What management sees and changes of a project's sessions. Projects are named by their ids, sessions by name or id, the
// session of requests that name none by "default". Everything fails with a [*mockbase.Error], of CodeNotFound where the
// project is not published or the session does not live.

// Sessions lists the living sessions of a project, the default one first, the others by their beginning.
func (e *Engine) Sessions(projectID string) ([]mockbase.Session, error) {
	p, err := e.published(projectID)
	if err != nil {
		return nil, err
	}
	living := p.sessions.List()
	list := make([]mockbase.Session, len(living))
	for i, s := range living {
		list[i] = viewOf(s)
	}
	return list, nil
}

// LimitSessions bounds the sessions of each project beside the default one from now on; 0 is session.DefaultQuota. Those
// that live go on (rules M-9 and AA7).
func (e *Engine) LimitSessions(most int) { e.maxSessions.Store(int64(most)) }

func (e *Engine) sessionQuota() int { return int(e.maxSessions.Load()) }

// CreateSession begins a session (rule AA7). It fails with CodeValidationFailed, pointers relative to the specification,
// CodeNameTaken or CodeQuotaReached.
func (e *Engine) CreateSession(projectID string, spec *mockbase.SessionSpec) (mockbase.Session, error) {
	p, err := e.published(projectID)
	if err != nil {
		return mockbase.Session{}, err
	}
	s, err := p.sessions.Create(session.Spec{
		Name: spec.Name, TTL: spec.TTL, Seed: spec.Seed, Variables: spec.Variables, Labels: spec.Labels,
	})
	if err != nil {
		return mockbase.Session{}, err
	}
	return viewOf(s), nil
}

// Session returns a living session. That it is looked at does not keep it alive.
func (e *Engine) Session(projectID, nameOrID string) (mockbase.Session, error) {
	_, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return mockbase.Session{}, err
	}
	return viewOf(s), nil
}

// EndSession ends a session: its state is gone, its exchanges stay (rule AA11). The default session cannot end: that is
// CodeForbidden.
func (e *Engine) EndSession(projectID, nameOrID string) error {
	p, s, err := e.living(projectID, nameOrID)
	switch {
	case err != nil:
		return err
	case s.IsDefault():
		return &mockbase.Error{Code: mockbase.CodeForbidden, Message: "the session default cannot end", Hint: "reset it instead"}
	case !p.sessions.End(s.ID()):
		return noSession(nameOrID)
	}
	return nil
}

// Reset takes levels back (rule R7), in one session, or in all of the project if none is named. Each session is reset in
// one step; requests in flight keep what they have. Levels that no session owns are passed over: ResetJournal and
// ResetMocks are their owners' to take back.
func (e *Engine) Reset(projectID, nameOrID string, levels []mockbase.ResetLevel) error {
	p, err := e.published(projectID)
	if err != nil {
		return err
	}
	sessions := p.sessions.List()
	if nameOrID != "" {
		_, s, err := e.living(projectID, nameOrID)
		if err != nil {
			return err
		}
		sessions = []*session.Session{s}
	}
	var what session.Levels
	for _, level := range levels {
		what |= levelsOf(level)
	}
	for _, s := range sessions {
		s.Reset(what)
	}
	return nil
}

func levelsOf(level mockbase.ResetLevel) session.Levels {
	switch level {
	case mockbase.ResetCounters:
		return session.Counters
	case mockbase.ResetScenarios:
		return session.Scenarios
	case mockbase.ResetLimits:
		return session.Limits
	case mockbase.ResetData:
		return session.Data
	case mockbase.ResetAll:
		return session.All
	default:
		return 0
	}
}

// SessionClock returns the time of a session.
func (e *Engine) SessionClock(projectID, nameOrID string) (mockbase.SessionClock, error) {
	_, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return mockbase.SessionClock{}, err
	}
	return clockOf(s), nil
}

// ChangeClock changes the time of a session and returns the new one (rules AA14 to AA18). Whatever an advance makes due has
// begun when it returns. The clock never runs back: that, and anything but exactly one change, is CodeValidationFailed with
// pointers relative to the change.
func (e *Engine) ChangeClock(projectID, nameOrID string, change mockbase.ClockChange) (mockbase.SessionClock, error) {
	_, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return mockbase.SessionClock{}, err
	}
	if err := changeClock(s, change); err != nil {
		return mockbase.SessionClock{}, err
	}
	return clockOf(s), nil
}

func changeClock(s *session.Session, change mockbase.ClockChange) error {
	switch {
	case change.Advance != nil && change.Set == nil && !change.Reset:
		return s.Timeline().Advance(*change.Advance)
	case change.Set != nil && change.Advance == nil && !change.Reset:
		return s.Timeline().Set(*change.Set)
	case change.Reset && change.Advance == nil && change.Set == nil:
		s.ResetClock()
		return nil
	default:
		return invalid("the clock cannot be set so", mockbase.FieldError{
			Pointer: "#", Code: mockbase.FieldConflict, Detail: "needs exactly one of advance, set and reset",
		})
	}
}

func clockOf(s *session.Session) mockbase.SessionClock {
	return mockbase.SessionClock{Now: s.Clock().Now(), Offset: s.Timeline().Offset()}
}

func viewOf(s *session.Session) mockbase.Session {
	return mockbase.Session{
		ID: s.ID(), Name: s.Name(), Seed: s.Seed(), Variables: s.Variables(), Labels: s.Labels(), StartedAt: s.StartedAt(),
		TTL: s.TTL(), ExpiresAt: s.ExpiresAt(), EndedAt: s.EndedAt(), Clock: clockOf(s), Counts: mockbase.SessionCounts(s.Counts()),
	}
}

// published returns the program of a project.
func (e *Engine) published(projectID string) (*program, error) {
	if p := e.programs.Load().byID[projectID]; p != nil {
		return p, nil
	}
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such project")
}

// living returns a session that lives; "" is the default one.
func (e *Engine) living(projectID, nameOrID string) (*program, *session.Session, error) {
	p, err := e.published(projectID)
	if err != nil {
		return nil, nil, err
	}
	if nameOrID == "" {
		return p, p.sessions.Default(), nil
	}
	s, ok := p.sessions.Find(nameOrID)
	if !ok {
		return nil, nil, noSession(nameOrID)
	}
	return p, s, nil
}

func noSession(nameOrID string) error {
	return &mockbase.Error{
		Code: mockbase.CodeNotFound, Message: fmt.Sprintf("there is no session %q", nameOrID),
		Hint: "a session begins with its first request, and ends an hour after its last if it was given no other time",
	}
}

func invalid(message string, field mockbase.FieldError) error {
	return &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: message, Fields: []mockbase.FieldError{field}}
}
