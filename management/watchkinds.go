package management

import (
	"reflect"
	"slices"

	"github.com/mockbase/mockbase"
)

// What is told of a mock, session, scenario, limit or document.
const (
	changeCreated = "created"
	changeUpdated = "updated"
	changeDeleted = "deleted"
	changeStarted = "started"
	changeEnded   = "ended"
	changeUsed    = "used"
)

// sessionName names a session in events.
type sessionName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// mockEvent tells that a mock was made, changed or deleted.
type mockEvent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Change  string `json:"change"`
}

// documentEvent tells that an OpenAPI document was attached, changed or detached.
type documentEvent struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Change  string `json:"change"`
}

// sessionEvent tells that a session began, that its clock was changed, or that it ended. The clock of one that ended is null.
type sessionEvent struct {
	ID     string     `json:"id"`
	Name   string     `json:"name"`
	Change string     `json:"change"`
	Clock  *clockView `json:"clock"`
}

// scenarioEvent tells where a scenario stands in a session; key is the value of the scenario's key that it is about.
type scenarioEvent struct {
	Session   sessionName `json:"session"`
	Name      string      `json:"name"`
	Key       *string     `json:"key"`
	State     string      `json:"state"`
	ChangedAt *string     `json:"changedAt"`
	ChangedBy *string     `json:"changedBy"`
}

// limitEvent tells that a simulated limit was made, changed or deleted, or that it was used in a session.
type limitEvent struct {
	Name    string              `json:"name"`
	Scope   mockbase.LimitScope `json:"scope"`
	Mock    *string             `json:"mock"`
	Change  string              `json:"change"`
	Session *sessionName        `json:"session"`
	Usage   *limitUseView       `json:"usage"`
}

// everyLook is how often sessions are looked at that nobody called, as there are other ways to change them.
const everyLook = 10

// seen is what a project was when it was looked at last.
type seen struct {
	projectID string
	// known are the kinds that were looked at before; what is seen first is no news.
	known     map[string]bool
	snapshot  *mockbase.Snapshot
	sessions  map[string]mockbase.Session
	scenarios map[place]mockbase.ScenarioInstance
	limits    map[string]mockbase.LimitView
	uses      map[place]mockbase.LimitUse
	looks     int
}

// place is a scenario, with a value of its key, or a limit in a session.
type place struct{ session, name, key string }

// compare looks at the project again and returns what of some kinds is new. Nothing is new of one that is gone.
func (v *seen) compare(s *Server, kinds []string) []told {
	now, ok := s.Catalog.Project(v.projectID)
	if !ok {
		return nil
	}
	if v.known == nil {
		v.known, v.sessions = map[string]bool{}, map[string]mockbase.Session{}
		v.scenarios, v.limits, v.uses = map[place]mockbase.ScenarioInstance{}, map[string]mockbase.LimitView{}, map[place]mockbase.LimitUse{}
		v.snapshot = now
	}
	list := slices.Concat(v.mocks(now), v.documents(now), v.state(s, kinds))
	v.snapshot = now
	list = slices.DeleteFunc(list, func(t told) bool { return !v.known[t.kind] })
	for _, kind := range kinds {
		v.known[kind] = true
	}
	return list
}

// mocks compares the mocks of a project with what they were.
func (v *seen) mocks(now *mockbase.Snapshot) []told {
	if now == v.snapshot {
		return nil
	}
	before := make(map[string]*mockbase.Mock, len(v.snapshot.Mocks))
	for _, m := range v.snapshot.Mocks {
		before[m.ID] = m
	}
	var list []told
	tell := func(m *mockbase.Mock, change string) {
		list = append(list, told{kind: "mock", data: mockEvent{ID: m.ID, Name: m.Name, Version: m.Version, Change: change}})
	}
	for _, m := range now.Mocks {
		old := before[m.ID]
		delete(before, m.ID)
		switch {
		case old == nil:
			tell(m, changeCreated)
		case old.Version != m.Version:
			tell(m, changeUpdated)
		}
	}
	for _, m := range v.snapshot.Mocks {
		if before[m.ID] != nil {
			tell(m, changeDeleted)
		}
	}
	return list
}

// documents compares the OpenAPI documents of a project with what they were.
func (v *seen) documents(now *mockbase.Snapshot) []told {
	if now == v.snapshot {
		return nil
	}
	was, is := v.snapshot.Project, now.Project
	before := map[string]int64{}
	for i := range was.Config.Documents {
		name := was.Config.Documents[i].Name
		before[name] = was.DocumentNoteOf(name).Version
	}
	var list []told
	for i := range is.Config.Documents {
		name := is.Config.Documents[i].Name
		version := is.DocumentNoteOf(name).Version
		old, had := before[name]
		delete(before, name)
		switch {
		case !had:
			list = append(list, told{kind: "document", data: documentEvent{name, version, changeCreated}})
		case old != version:
			list = append(list, told{kind: "document", data: documentEvent{name, version, changeUpdated}})
		}
	}
	for i := range was.Config.Documents {
		if version, gone := before[was.Config.Documents[i].Name]; gone {
			list = append(list, told{kind: "document", data: documentEvent{was.Config.Documents[i].Name, version, changeDeleted}})
		}
	}
	return list
}

// state compares what mocks remember, session by session.
func (v *seen) state(s *Server, kinds []string) []told {
	wanted := func(kind string) bool { return slices.Contains(kinds, kind) }
	if s.State == nil || !wanted("session") && !wanted("scenario") && !wanted("limit") {
		return nil
	}
	living, err := s.State.Sessions(v.projectID)
	if err != nil {
		return nil // the project went away, or is not published yet
	}
	v.looks++
	var list []told
	if wanted("limit") {
		list = v.definitions(s)
	}
	now := make(map[string]mockbase.Session, len(living))
	for i := range living {
		one := &living[i]
		now[one.ID] = *one
		old, had := v.sessions[one.ID]
		list = append(list, sessionChange(one, old, had)...)
		if had && old.Counts == one.Counts && v.looks%everyLook != 1 {
			continue
		}
		list = append(list, v.inside(s, one, kinds)...)
	}
	list = append(list, v.ended(now)...)
	v.sessions = now
	return list
}

// inside compares what is in a session.
func (v *seen) inside(s *Server, one *mockbase.Session, kinds []string) []told {
	var list []told
	if slices.Contains(kinds, "scenario") {
		list = v.moves(s, one)
	}
	if slices.Contains(kinds, "limit") {
		list = append(list, v.hits(s, one)...)
	}
	return list
}

// sessionChange tells what became of a session that lives.
func sessionChange(one *mockbase.Session, old mockbase.Session, had bool) []told {
	clock := viewOfClock(one.Clock)
	event := sessionEvent{ID: one.ID, Name: one.Name, Clock: &clock}
	switch {
	case !had:
		event.Change = changeStarted
	case old.Clock.Offset != one.Clock.Offset:
		event.Change = changeUpdated
	default:
		return nil
	}
	return []told{{kind: "session", session: sessionName{one.ID, one.Name}, data: event}}
}

// ended tells which sessions are gone, and forgets them.
func (v *seen) ended(now map[string]mockbase.Session) []told {
	var list []told
	for id := range v.sessions {
		if _, lives := now[id]; !lives {
			name := v.sessions[id].Name
			list = append(list, told{kind: "session", session: sessionName{id, name}, data: sessionEvent{ID: id, Name: name, Change: changeEnded}})
		}
	}
	if len(list) > 0 {
		forget(v.scenarios, now)
		forget(v.uses, now)
	}
	return list
}

// forget drops what is of sessions that are gone.
func forget[T any](from map[place]T, living map[string]mockbase.Session) {
	for at := range from {
		if _, lives := living[at.session]; !lives {
			delete(from, at)
		}
	}
}

// moves tells which scenarios of a session stand elsewhere now.
func (v *seen) moves(s *Server, one *mockbase.Session) []told {
	states, err := s.State.Scenarios(v.projectID, one.ID)
	if err != nil {
		return nil // it ended a moment ago
	}
	session := sessionName{one.ID, one.Name}
	var list []told
	for i := range states {
		st := &states[i]
		own := mockbase.ScenarioInstance{State: st.State, ChangedAt: st.ChangedAt, ChangedBy: st.ChangedBy}
		here := map[string]bool{"": true}
		for _, instance := range append(st.Instances, own) {
			here[instance.Key] = true
			list = append(list, v.move(session, st.Name, instance)...)
		}
		if len(st.Keys) > 0 {
			list = append(list, v.returned(session, st, here)...)
		}
	}
	return list
}

// move tells where a scenario stands, if that is new. One that never moved is nothing new in a session that just began.
func (v *seen) move(session sessionName, name string, now mockbase.ScenarioInstance) []told {
	at := place{session.ID, name, now.Key}
	was, had := v.scenarios[at]
	v.scenarios[at] = now
	if had && was.State == now.State && was.ChangedAt.Equal(now.ChangedAt) || !had && now.ChangedAt.IsZero() {
		return nil
	}
	return []told{{kind: "scenario", session: session, data: scenarioEvent{
		Session: session, Name: name, Key: maybeText(now.Key), State: now.State, ChangedAt: maybeTime(now.ChangedAt), ChangedBy: maybeText(now.ChangedBy),
	}}}
}

// returned tells which values of a scenario's key are forgotten: the scenario is in its first state for them.
func (v *seen) returned(session sessionName, st *mockbase.ScenarioState, here map[string]bool) []told {
	var list []told
	for at := range v.scenarios {
		if at.session != session.ID || at.name != st.Name || here[at.key] {
			continue
		}
		delete(v.scenarios, at)
		list = append(list, told{kind: "scenario", session: session, data: scenarioEvent{Session: session, Name: st.Name, Key: &at.key, State: st.States[0]}})
	}
	return list
}

// definitions tells which limits were made, changed or deleted.
func (v *seen) definitions(s *Server) []told {
	if s.Limits == nil {
		return nil
	}
	views, err := s.Limits.Limits(v.projectID, "")
	if err != nil {
		return nil
	}
	now, list := make(map[string]mockbase.LimitView, len(views)), []told(nil)
	tell := func(l *mockbase.LimitView, change string) {
		list = append(list, told{kind: "limit", data: limitEvent{Name: l.Name, Scope: l.Scope, Mock: maybeText(l.Mock), Change: change}})
	}
	for i := range views {
		l := &views[i]
		now[l.Name] = *l
		old, had := v.limits[l.Name]
		switch {
		case !had:
			tell(l, changeCreated)
		case old.Policy != l.Policy && !reflect.DeepEqual(old.Policy, l.Policy):
			tell(l, changeUpdated)
		}
	}
	for name := range v.limits {
		if old := v.limits[name]; now[name].Name == "" {
			tell(&old, changeDeleted)
		}
	}
	v.limits = now
	return list
}

// hits tells which limits were used in a session, and how much of them by now. Nobody who never called has used any.
func (v *seen) hits(s *Server, one *mockbase.Session) []told {
	if s.Limits == nil || one.Counts.Calls == 0 {
		return nil
	}
	views, err := s.Limits.Limits(v.projectID, one.ID)
	if err != nil {
		return nil // it ended a moment ago
	}
	session := sessionName{one.ID, one.Name}
	var list []told
	for i := range views {
		l := &views[i]
		at := place{session: one.ID, name: l.Name}
		was := v.uses[at]
		if v.uses[at] = l.Use; was.LastHitAt.Equal(l.Use.LastHitAt) && was.Limited == l.Use.Limited && was.Allowed == l.Use.Allowed {
			continue
		}
		usage := viewOfLimitUse(&l.Use)
		list = append(list, told{kind: "limit", session: session, data: limitEvent{
			Name: l.Name, Scope: l.Scope, Mock: maybeText(l.Mock), Change: changeUsed, Session: &session, Usage: &usage,
		}})
	}
	return list
}
