package management

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

const (
	maxProjectName        = 200
	maxProjectDescription = 4000
)

// projectView is a project as the API shows one (rule M-61).
type projectView struct {
	ID          string               `json:"id"`
	Slug        string               `json:"slug"`
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Access      mockbase.Access      `json:"access"`
	URLs        urls                 `json:"urls"`
	Settings    json.RawMessage      `json:"settings"`
	Counts      projectCounts        `json:"counts"`
	Source      *string              `json:"source"`
	ReadOnly    bool                 `json:"readOnly"`
	Role        mockbase.ProjectRole `json:"role"`
	Version     int64                `json:"version"`
	CreatedAt   string               `json:"createdAt"`
	UpdatedAt   string               `json:"updatedAt"`
}

type projectCounts struct {
	Mocks          int `json:"mocks"`
	EnabledMocks   int `json:"enabledMocks"`
	CallsPerMinute int `json:"callsPerMinute"`
	Unmatched24h   int `json:"unmatched24h"`
	Limited24h     int `json:"limited24h"`
}

func (s *Server) projectView(c *call, snapshot *mockbase.Snapshot, role mockbase.ProjectRole) projectView {
	p := snapshot.Project
	return projectView{
		ID: p.ID, Slug: p.Slug, Name: p.Name, Description: p.Description, Access: p.Access,
		URLs: s.urlsOf(c.Request(), p.Slug, ""), Settings: settingsView(p), Counts: s.count(snapshot),
		Source: maybeText(p.Origin), ReadOnly: p.Origin != "", Role: role, Version: p.Version,
		CreatedAt: timeText(p.CreatedAt), UpdatedAt: timeText(p.UpdatedAt),
	}
}

// maybeText is nil for a text that is not there.
func maybeText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// count tells what a project holds and what was recorded of it lately.
func (s *Server) count(snapshot *mockbase.Snapshot) projectCounts {
	counts := projectCounts{Mocks: len(snapshot.Mocks)}
	for _, m := range snapshot.Mocks {
		if !m.Disabled {
			counts.EnabledMocks++
		}
	}
	recorded := func(since time.Duration, by ...mockbase.AnsweredBy) int {
		f := mockbase.TrafficFilter{Since: s.clock().Add(-since), AnsweredBy: by}
		return s.Traffic.Traffic(snapshot.Project.ID, f, "", 0).Total
	}
	counts.CallsPerMinute = recorded(time.Minute)
	counts.Unmatched24h = recorded(24*time.Hour, mockbase.AnsweredByUnmatched)
	counts.Limited24h = recorded(24*time.Hour, mockbase.AnsweredBySimulatedLimit, mockbase.AnsweredByShield)
	return counts
}

// listProjects lists what the caller sees (M-130).
func (s *Server) listProjects(c *call) error {
	l, err := c.params().listing("slug", "name", "createdAt", "updatedAt")
	if err != nil {
		return err
	}
	roles, err := s.Accounts.Memberships(c.ctx(), c.caller.user.ID)
	if err != nil {
		return err
	}
	var seen []*mockbase.Snapshot
	for _, snapshot := range s.Catalog.Projects() {
		p := snapshot.Project
		if c.caller.roleIn(p.ID, roles) != mockbase.RoleNone && l.finds(p.Slug, p.Name, p.Description) {
			seen = append(seen, snapshot)
		}
	}
	onPage, next := cut(l, seen, func(snapshot *mockbase.Snapshot) key { return projectKey(snapshot.Project, l.sort) })
	items := make([]projectView, len(onPage))
	for i, snapshot := range onPage {
		items[i] = s.projectView(c, snapshot, c.caller.roleIn(snapshot.Project.ID, roles))
	}
	return c.list(l, items, len(seen), next)
}

// finds tells whether one of the texts holds what is looked for.
func (l listing) finds(texts ...string) bool {
	if l.find == "" {
		return true
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), l.find) {
			return true
		}
	}
	return false
}

func projectKey(p *mockbase.Project, sort string) key {
	switch sort {
	case "name":
		return key{Text: p.Name, ID: p.ID}
	case "createdAt":
		return key{Number: p.CreatedAt.UnixMilli(), ID: p.ID}
	case "updatedAt":
		return key{Number: p.UpdatedAt.UnixMilli(), ID: p.ID}
	default:
		return key{Text: p.Slug, ID: p.ID}
	}
}

// answerProject answers with one project and its version.
func (s *Server) answerProject(c *call, status int, snapshot *mockbase.Snapshot, role mockbase.ProjectRole) error {
	setETag(c.header(), snapshot.Project.Version)
	return c.json(status, s.projectView(c, snapshot, role))
}

// createProject makes a project that the caller owns (M-131).
func (s *Server) createProject(c *call) error {
	if err := s.mayCreateProject(c); err != nil {
		return err
	}
	body, err := c.take(typeJSON)
	if err != nil {
		return err
	}
	node, err := parse(body, c.route.body)
	if err != nil {
		return err
	}
	var p mockbase.Project
	var faults mockbase.Faults
	r := projectReader{fields: mockbase.NewFields(node, "#", &faults), faults: &faults, project: &p}
	sample := readBeginning(r.fields)
	if err := r.read(); err != nil {
		return mockbase.MoreFaults(c.located(err), mockbase.Locate(body.text, body.format, s.Catalog.ConfigFaults(&p.Config)))
	}
	answerTo := func(made *mockbase.Snapshot) *answer {
		return created(apiPrefix+"/projects/"+url.PathEscape(made.Project.Slug), s.projectView(c, made, mockbase.RoleOwner)).versioned(made.Project.Version)
	}
	c.foretellMade(func(made catalog.Making) (*answer, error) { return answerTo(made.Next), nil })
	made, err := s.makeProject(c, &p, sample)
	if err != nil {
		return err
	}
	return c.give(answerTo(made))
}

// makeProject stores a project, with what a sample holds unless that is nil.
func (s *Server) makeProject(c *call, p *mockbase.Project, sample *mockbase.Definition) (*mockbase.Snapshot, error) {
	if sample == nil {
		return s.Catalog.CreateProject(c.ctx(), p, c.caller.user.ID)
	}
	return s.Catalog.CreateSample(c.ctx(), p, sample, c.caller.user.ID)
}

// mayCreateProject refuses who is no administrator where only they create projects (rule M-50), and tokens that are not for
// all projects: one that is made would be out of their reach (rule M-51).
func (s *Server) mayCreateProject(c *call) error {
	if s.settings().ProjectCreation == mockbase.ProjectsByAdmins && c.caller.user.Role != mockbase.InstanceAdmin {
		return &mockbase.Error{
			Code: mockbase.CodeForbidden, Message: "only administrators of this server create projects", Hint: "ask an administrator",
		}
	}
	t := c.caller.token
	if t == nil || slices.Contains(t.Projects, mockbase.AllProjects) && c.caller.has(scopeProjectAdmin) {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeInsufficientScope, Message: "creating projects needs a personal token with the scope project:admin that is for all projects",
		Hint: "make one with projects: [\"*\"]",
	}
}

// projectReader reads the members of a project that a client may set, and ignores those that it may not (rule M-8).
type projectReader struct {
	fields  *mockbase.Fields
	faults  *mockbase.Faults
	project *mockbase.Project
}

func (r *projectReader) read() error {
	f, p := r.fields, r.project
	if f.Text("slug", &p.Slug) && !mockbase.ValidSlug(p.Slug) {
		f.Fault("slug", mockbase.FieldPattern, "must be 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end")
	}
	if f.Line("name", &p.Name) && (strings.TrimSpace(p.Name) == "" || utf8.RuneCountInString(p.Name) > maxProjectName) {
		f.Fault("name", mockbase.FieldLimit, "must have 1 to %d characters", maxProjectName)
	}
	if f.Prose("description", &p.Description) && utf8.RuneCountInString(p.Description) > maxProjectDescription {
		f.Fault("description", mockbase.FieldLimit, "must have at most %d characters", maxProjectDescription)
	}
	r.readAccess()
	r.readSettings()
	f.Required("slug", "name")
	f.ReadOnly(projectReadOnly()...)
	f.Done()
	return r.faults.Err()
}

// projectReadOnly are the members of a project that the server sets.
func projectReadOnly() []string {
	return []string{"id", "urls", "counts", "source", "readOnly", "role", "version", "createdAt", "updatedAt"}
}

func (r *projectReader) readAccess() {
	f, p := r.fields, r.project
	p.Access = mockbase.AccessPublic
	var asked string
	if !f.Text("access", &asked) {
		return
	}
	switch mockbase.Access(asked) {
	case mockbase.AccessPublic, mockbase.AccessToken:
		p.Access = mockbase.Access(asked)
	default:
		f.Fault("access", mockbase.FieldEnum, "must be public or token, not %s", shown(asked))
	}
}

// getProject shows one project (M-132).
func (s *Server) getProject(c *call) error {
	if c.notModified(c.project.Project.Version) {
		return c.unchanged(c.project.Project.Version)
	}
	return s.answerProject(c, http.StatusOK, c.project, c.role)
}

// unchanged answers 304: the client has this version already.
func (c *call) unchanged(version int64) error {
	setETag(c.header(), version)
	c.Response().WriteHeader(http.StatusNotModified)
	return nil
}

// updateProject changes members of a project by a merge patch (M-133, rule M-11).
func (s *Server) updateProject(c *call) error {
	match, err := c.ifMatch(c.project.Project.Version)
	if err != nil {
		return err
	}
	body, err := c.take(typeMergePatch)
	if err != nil {
		return err
	}
	patch, err := parse(body, c.route.body)
	if err != nil {
		return err
	}
	if err := checkID(patch, c.project.Project.ID); err != nil {
		return err
	}
	changed, err := s.Catalog.UpdateProject(c.ctx(), c.project.Project.ID, match, func(p *mockbase.Project) error {
		if err := patchProject(p, patch); err != nil {
			return mockbase.MoreFaults(err, s.Catalog.ConfigFaults(&p.Config))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.answerProject(c, http.StatusOK, changed, c.role)
}

// patchProject applies a patch to the members of p that a client may set, and reads the outcome as a whole.
func patchProject(p *mockbase.Project, patch *mockbase.Node) error {
	now, err := stored(encode(map[string]any{
		"slug": p.Slug, "name": p.Name, "description": p.Description, "access": p.Access, "settings": settingsView(p),
	}))
	if err != nil {
		return err
	}
	var faults mockbase.Faults
	scratch := *p
	for _, f := range unknownNulls(now, patch, func(n *mockbase.Node) error { return readProject(n, &scratch, &mockbase.Faults{}) }) {
		faults.Append(f)
	}
	return readProject(merge(now, patch), p, &faults)
}

// readProject reads a whole document into the members of p that a client may set.
func readProject(n *mockbase.Node, p *mockbase.Project, faults *mockbase.Faults) error {
	p.Description = ""
	r := projectReader{fields: mockbase.NewFields(n, "#", faults), faults: faults, project: p}
	return r.read()
}

// deleteProject deletes a project with everything in it, when its slug is given as well (M-134).
func (s *Server) deleteProject(c *call) error {
	p := c.project.Project
	match, err := c.ifMatch(p.Version)
	if err != nil {
		return err
	}
	if c.params().text("confirm") != p.Slug {
		return &mockbase.Error{
			Code: mockbase.CodeConfirmationRequired, Message: "deleting a project deletes its mocks and its traffic for good",
			Hint: "send ?confirm=" + p.Slug,
		}
	}
	if err := s.Catalog.DeleteProject(c.ctx(), p.ID, match); err != nil {
		return err
	}
	s.Traffic.Clear(p.ID)
	return c.nothing()
}
