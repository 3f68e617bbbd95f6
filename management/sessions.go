package management

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// stateRoutes are those of sessions, scenarios and resets. The parameters of lists are list.
func stateRoutes(list []string) []route {
	const (
		project   = apiPrefix + "/projects/{project}"
		sessions  = project + "/sessions"
		session   = sessions + "/{session}"
		scenarios = project + "/scenarios"
	)
	return []route{
		{id: "M-138", method: http.MethodPost, path: project + "/reset", access: accessEditor, scope: scopeSessions, operation: "resetProject", handle: (*Server).resetProject},
		{id: "M-185", method: http.MethodGet, path: sessions, access: accessViewer, scope: scopeSessions, operation: "listSessions", handle: (*Server).listSessions, query: append(slices.Clip(list), "active", "label")},
		{id: "M-186", method: http.MethodPost, path: sessions, access: accessEditor, scope: scopeSessions, operation: "createSession", handle: (*Server).createSession, creates: true, passes: true},
		{id: "M-187", method: http.MethodGet, path: session, access: accessViewer, scope: scopeSessions, operation: "getSession", handle: (*Server).getSession},
		{id: "M-188", method: http.MethodDelete, path: session, access: accessEditor, scope: scopeSessions, operation: "endSession", handle: (*Server).endSession},
		{id: "M-189", method: http.MethodPost, path: session + "/reset", access: accessEditor, scope: scopeSessions, operation: "resetSession", handle: (*Server).resetSession},
		{id: "M-190", method: http.MethodGet, path: session + "/clock", access: accessViewer, scope: scopeSessions, operation: "getClock", handle: (*Server).getClock},
		{id: "M-191", method: http.MethodPost, path: session + "/clock", access: accessEditor, scope: scopeSessions, operation: "changeClock", handle: (*Server).changeClock},
		{id: "M-192", method: http.MethodGet, path: scenarios, access: accessViewer, scope: scopeMocksRead, operation: "listScenarios", handle: (*Server).listScenarios, query: append(slices.Clip(list), "session")},
		{id: "M-193", method: http.MethodPut, path: scenarios + "/{name}", access: accessEditor, scope: scopeSessions, operation: "setScenario", handle: (*Server).setScenario},
		{id: "M-194", method: http.MethodPost, path: scenarios + "/reset", access: accessEditor, scope: scopeSessions, operation: "resetScenarios", handle: (*Server).resetScenarios},
	}
}

// sessionHeader names the session of a request on the mock plane (rule AA6).
const sessionHeader = "Mockbase-Session"

// sessionView is a session as the API shows one (rule M-67).
type sessionView struct {
	ID        string                     `json:"id"`
	Name      string                     `json:"name"`
	URL       string                     `json:"url"`
	Header    headerView                 `json:"header"`
	Seed      string                     `json:"seed"`
	Variables map[string]json.RawMessage `json:"variables"`
	Labels    map[string]string          `json:"labels"`
	TTL       *string                    `json:"ttl"`
	StartedAt string                     `json:"startedAt"`
	ExpiresAt *string                    `json:"expiresAt"`
	Clock     clockView                  `json:"clock"`
	Counts    sessionCounts              `json:"counts"`
	EndedAt   *string                    `json:"endedAt"`
}

type headerView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type clockView struct {
	Now      string  `json:"now"`
	OffsetMs float64 `json:"offsetMs"`
}

type sessionCounts struct {
	Calls     int64 `json:"calls"`
	Unmatched int64 `json:"unmatched"`
	Limited   int64 `json:"limited"`
}

func viewOfClock(c mockbase.SessionClock) clockView {
	return clockView{Now: timeText(c.Now), OffsetMs: milliseconds(c.Offset)}
}

// defaultSession is the name of the state that requests without a session use.
const defaultSession = "default"

func (s *Server) sessionView(c *call, one *mockbase.Session) sessionView {
	v := sessionView{
		ID: one.ID, Name: one.Name, URL: s.mocksURL(c.Request(), c.project.Project.Slug),
		Header: headerView{sessionHeader, one.Name}, Seed: one.Seed, Variables: one.Variables, Labels: one.Labels,
		StartedAt: timeText(one.StartedAt), ExpiresAt: maybeTime(one.ExpiresAt), Clock: viewOfClock(one.Clock),
		Counts: sessionCounts(one.Counts), EndedAt: maybeTime(one.EndedAt),
	}
	if one.Name != defaultSession {
		v.URL += "/~" + one.Name
	}
	if one.TTL > 0 {
		text := durationText(one.TTL)
		v.TTL = &text
	}
	if v.Variables == nil {
		v.Variables = map[string]json.RawMessage{}
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	return v
}

// listSessions lists the sessions of a project (M-185). Sessions that ended are not kept, so that active=false selects none.
func (s *Server) listSessions(c *call) error {
	p := c.params()
	active, label := p.choice("active", []string{"true", "false"}), p.text("label")
	l, err := p.listing("startedAt", "name", "expiresAt", "calls")
	if err != nil {
		return err
	}
	all, err := s.State.Sessions(c.project.Project.ID)
	if err != nil {
		return err
	}
	var found []*mockbase.Session
	for i := range all {
		one := &all[i]
		if active != "false" && hasLabel(one.Labels, label) && l.finds(one.Name) {
			found = append(found, one)
		}
	}
	onPage, next := cut(l, found, func(one *mockbase.Session) key { return sessionKey(one, l.sort) })
	items := make([]sessionView, len(onPage))
	for i, one := range onPage {
		items[i] = s.sessionView(c, one)
	}
	return c.list(l, items, len(found), next)
}

// hasLabel tells whether there is a label: its name alone, or with its value behind an equals sign.
func hasLabel(labels map[string]string, wanted string) bool {
	if wanted == "" {
		return true
	}
	name, value, exact := strings.Cut(wanted, "=")
	has, ok := labels[name]
	return ok && (!exact || has == value)
}

func sessionKey(one *mockbase.Session, sort string) key {
	switch sort {
	case "name":
		return key{Text: one.Name, ID: one.ID}
	case "expiresAt":
		if one.ExpiresAt.IsZero() {
			return key{ID: one.ID}
		}
		return key{Number: one.ExpiresAt.UnixMilli(), ID: one.ID}
	case "calls":
		return key{Number: one.Counts.Calls, ID: one.ID}
	default:
		return key{Number: one.StartedAt.UnixMilli(), ID: one.ID}
	}
}

// createSession begins a session (M-186, rule AA7). A body is not needed.
func (s *Server) createSession(c *call) error {
	var spec mockbase.SessionSpec
	err := c.maybeObject(func(f *mockbase.Fields) {
		f.Text("name", &spec.Name)
		if f.Duration("ttl", &spec.TTL) && spec.TTL == 0 {
			f.Fault("ttl", mockbase.FieldRange, "must be above 0 and at most 24h")
		}
		readSeed(f, &spec.Seed)
		scalars(f, "variables", &spec.Variables)
		texts(f, "labels", &spec.Labels)
	})
	if err != nil {
		return err
	}
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Target.Type, e.Target.ID, e.Target.Name = "session", spec.Name, spec.Name
	})
	if err := s.audited(c); err != nil {
		return err
	}
	made, err := s.State.CreateSession(c.project.Project.ID, &spec)
	if err != nil {
		return err
	}
	c.header().Set("Location", apiPrefix+"/projects/"+url.PathEscape(c.project.Project.Slug)+"/sessions/"+url.PathEscape(made.Name))
	return c.json(http.StatusCreated, s.sessionView(c, &made))
}

// readSeed reads a seed: a text, or a whole number as in settings.
func readSeed(f *mockbase.Fields, to *string) {
	const longest = 256
	switch node := f.Node("seed"); {
	case node == nil:
	case node.Kind != mockbase.NodeText && (node.Kind != mockbase.NodeNumber || strings.ContainsAny(node.Text, ".eE")):
		f.Fault("seed", mockbase.FieldType, "must be a whole number or a text")
	case len(node.Text) > longest:
		f.Fault("seed", mockbase.FieldLimit, "must have at most %d characters", longest)
	default:
		*to = node.Text
	}
}

// getSession shows one session (M-187).
func (s *Server) getSession(c *call) error {
	name, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	one, err := s.State.Session(c.project.Project.ID, name)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, s.sessionView(c, &one))
}

// endSession ends a session; its traffic stays (M-188, rule AA11).
func (s *Server) endSession(c *call) error {
	name, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	one, err := s.State.Session(c.project.Project.ID, name)
	if err != nil {
		return err
	}
	if one.Name == defaultSession {
		return &mockbase.Error{Code: mockbase.CodeInUse, Message: "the session default never ends", Hint: "reset it instead"}
	}
	if err := s.audited(c); err != nil {
		return err
	}
	if err := s.State.EndSession(c.project.Project.ID, one.ID); err != nil {
		return err
	}
	return c.nothing()
}

// getClock shows the time of a session (M-190).
func (s *Server) getClock(c *call) error {
	name, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	clock, err := s.State.SessionClock(c.project.Project.ID, name)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfClock(clock))
}

// changeClock advances, sets or resets the time of a session (M-191, rule AA14).
func (s *Server) changeClock(c *call) error {
	name, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	projectID := c.project.Project.ID
	if _, err := s.State.SessionClock(projectID, name); err != nil {
		return err
	}
	var change mockbase.ClockChange
	if err := c.object(typeJSON, func(f *mockbase.Fields) { readClockChange(f, &change) }); err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	clock, err := s.State.ChangeClock(projectID, name, change)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfClock(clock))
}

func readClockChange(f *mockbase.Fields, change *mockbase.ClockChange) {
	var advance time.Duration
	if n := f.Node("advance"); n != nil && n.Kind == mockbase.NodeText && strings.HasPrefix(n.Text, "-") {
		f.Fault("advance", mockbase.FieldRange, "the clock never runs back; reset it, or end the session")
	} else if f.Duration("advance", &advance) {
		change.Advance = &advance
	}
	var set string
	if f.Text("set", &set) {
		at, err := time.Parse(time.RFC3339Nano, set)
		if err != nil {
			f.Fault("set", mockbase.FieldPattern, "must be a time like 2026-03-01T12:00:00.000Z, not %s", shown(set))
		}
		change.Set = &at
	}
	f.Bool("reset", &change.Reset)
	given := 0
	for _, name := range []string{"advance", "set", "reset"} {
		if f.Has(name) {
			given++
		}
	}
	if given != 1 {
		f.FaultHere(mockbase.FieldConflict, "needs exactly one of advance, set and reset")
	} else if f.Has("reset") && !change.Reset {
		f.Fault("reset", mockbase.FieldEnum, "must be true")
	}
}
