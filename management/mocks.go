package management

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// listMocks lists the mocks of a project (M-140).
func (s *Server) listMocks(c *call) error {
	p := c.params()
	wanted := mockFilter{
		tag: p.text("tag"), folder: p.text("folder"), method: p.text("method"), source: p.text("source"),
		warning: mockbase.Code(p.text("warning")), enabled: p.choice("enabled", []string{"true", "false"}),
	}
	l, err := p.listing("name", "path", "priority", "updatedAt", "calls")
	if err != nil {
		return err
	}
	stats := s.stats(c.project.Project.ID)
	var found []*mockbase.Mock
	for _, m := range c.project.Mocks {
		if wanted.selects(m) && l.finds(m.Name, m.Description, requestPath(m)) && s.warns(c.project, m, wanted.warning) {
			found = append(found, m)
		}
	}
	onPage, next := cut(l, found, func(m *mockbase.Mock) key { return mockKey(m, l.sort, stats) })
	items := make([]any, len(onPage))
	for i, m := range onPage {
		items[i] = s.mockInList(c, m, stats[m.ID])
	}
	return c.list(l, items, len(found), next)
}

// mockFilter selects mocks; an empty member selects all.
type mockFilter struct {
	tag, folder, method, source, enabled string
	warning                              mockbase.Code
}

func (f mockFilter) selects(m *mockbase.Mock) bool {
	if f.enabled != "" && (f.enabled == "true") == m.Disabled {
		return false
	}
	if f.method != "" && !slices.ContainsFunc(m.Request.Methods, func(known string) bool { return strings.EqualFold(known, f.method) }) {
		return false
	}
	return (f.tag == "" || slices.Contains(m.Tags, f.tag)) &&
		(f.folder == "" || m.Folder == f.folder || strings.HasPrefix(m.Folder, f.folder+"/")) &&
		(f.source == "" || m.Owner == f.source)
}

// warns tells whether a mock has a warning of that code; every mock has none of them.
func (s *Server) warns(snapshot *mockbase.Snapshot, m *mockbase.Mock, code mockbase.Code) bool {
	return code == "" || slices.ContainsFunc(s.warnings(snapshot, m), func(w mockbase.FieldError) bool { return w.Code == code })
}

// requestPath is the path of a mock as its author wrote it.
func requestPath(m *mockbase.Mock) string {
	switch {
	case m.Request.Path != "":
		return m.Request.Path
	case m.Request.PathMatches != "":
		return m.Request.PathMatches
	default:
		return m.Request.RawTarget
	}
}

func mockKey(m *mockbase.Mock, sort string, stats map[string]mockStats) key {
	switch sort {
	case "path":
		return key{Text: requestPath(m), ID: m.ID}
	case "priority":
		return key{Number: int64(m.Priority), ID: m.ID}
	case "updatedAt":
		return key{Number: m.UpdatedAt.UnixMilli(), ID: m.ID}
	case "calls":
		return key{Number: int64(stats[m.ID].calls), ID: m.ID}
	default:
		return key{Text: m.Name, ID: m.ID}
	}
}

// readMock reads a body that is one mock document, JSON or YAML. An id in it must be that of the mock it replaces (rule
// M-8).
func (s *Server) readMock(c *call) (*mockbase.Mock, error) {
	body, err := c.take(typeJSON, typeYAML)
	if err != nil {
		return nil, err
	}
	m, err := mockbase.DecodeMock(body.text, body.format)
	if err == nil && c.mock != nil {
		var node *mockbase.Node
		if node, err = parse(body, c.route.body); err == nil {
			err = checkID(node, c.mock.ID)
		}
	}
	if err != nil {
		return nil, body.judged(err, func() []mockbase.FieldError { return s.Catalog.MockFaults(c.project.Project, m) })
	}
	return m, nil
}

// checkID refuses a document with the id of something else than what the address names: it is most likely meant for that
// (rule M-8).
func checkID(node *mockbase.Node, id string) error {
	sent := node.Find("id")
	if sent == nil || sent.Text == id {
		return nil
	}
	return mockbase.Invalid([]mockbase.FieldError{{
		Pointer: "#/id", Code: mockbase.FieldConflict, Line: sent.Line, Column: sent.Column,
		Detail: shown(sent.Text) + " is not the id of what this address names, which is " + id,
	}})
}

// createMock adds a mock to a project (M-141, rule Y2).
func (s *Server) createMock(c *call) error {
	m, err := s.readMock(c)
	if err != nil {
		return err
	}
	return s.addMock(c, m)
}

// addMock adds a mock and answers with it. Its warnings are those beside the neighbours that it has then.
func (s *Server) addMock(c *call, m *mockbase.Mock) error {
	c.foretellMade(func(made catalog.Making) (*answer, error) { return s.createdMock(c, made.Next, made.Set.Put[0]) })
	made, err := s.Catalog.CreateMock(c.ctx(), c.project.Project.ID, m, c.caller.user.ID)
	if err != nil {
		return err
	}
	if c.foretold != nil {
		return c.give(c.foretold)
	}
	a, err := s.createdMock(c, s.freshProject(c), made)
	if err != nil {
		return err
	}
	return c.give(a)
}

// createdMock is the answer that tells of a new mock in a project.
func (s *Server) createdMock(c *call, in *mockbase.Snapshot, made *mockbase.Mock) (*answer, error) {
	a, err := s.mockAnswer(c, in, made, mockStats{})
	if err != nil {
		return nil, err
	}
	a.status = http.StatusCreated
	a.header.Set("Location", apiPrefix+"/projects/"+url.PathEscape(in.Project.Slug)+"/mocks/"+url.PathEscape(made.Name))
	return a, nil
}

// getMock shows one mock (M-142). The answer as YAML is another representation of the same version, so both have its
// ETag.
func (s *Server) getMock(c *call) error {
	c.header().Add("Vary", "Accept")
	if c.notModified(c.mock.Version) {
		return c.unchanged(c.mock.Version)
	}
	return s.answerMock(c, c.mock)
}

// replaceMock puts a whole document in a mock's place, or, with If-None-Match: *, makes the mock (M-143, rule M-10).
func (s *Server) replaceMock(c *call) error {
	if readCondition(c, "If-None-Match").any {
		return s.putNewMock(c)
	}
	if c.mock == nil {
		return noSuchMock(c.Param("mock"))
	}
	options, err := c.writeOptions()
	if err != nil {
		return err
	}
	m, err := s.readMock(c)
	if err != nil {
		return err
	}
	changed, err := s.Catalog.ReplaceMock(c.ctx(), c.project.Project.ID, c.mock.ID, m, options)
	if err != nil {
		return err
	}
	return s.answerMock(c, changed)
}

func (s *Server) putNewMock(c *call) error {
	if c.mock != nil {
		return &mockbase.Error{
			Code: mockbase.CodeVersionMismatch, Message: "the mock " + shown(c.mock.Name) + " exists already, and If-None-Match: * makes new ones only",
			Hint: "send the PUT without If-None-Match to replace it", Version: c.mock.Version,
		}
	}
	name, err := pathParam(c, "mock")
	if err != nil {
		return err
	}
	m, err := s.readMock(c)
	if err != nil {
		return err
	}
	if m.NameGenerated && mockbase.ValidSlug(name) {
		m = m.WithName(name)
	}
	if m.Name != name {
		return c.body.judged(mockbase.Invalid(mockbase.Locate(c.body.text, c.body.format, []mockbase.FieldError{{
			Pointer: "#/name", Code: mockbase.FieldConflict,
			Detail: "the mock at this address is called " + shown(name) + ", and the document says " + shown(m.Name),
		}})), func() []mockbase.FieldError { return s.Catalog.MockFaults(c.project.Project, m) })
	}
	return s.addMock(c, m)
}

// writeOptions are how the caller changes the mock of the path.
func (c *call) writeOptions() (catalog.WriteOptions, error) {
	match, err := c.ifMatch(c.mock.Version)
	if err != nil {
		return catalog.WriteOptions{}, err
	}
	p := c.params()
	options := catalog.WriteOptions{By: c.caller.user.ID, Match: match, TakeOver: p.flag("takeOver")}
	return options, p.err()
}

// wholeMembers are the members of a mock that a merge patch would tear apart: it replaces lists and drops nulls (rule
// M-11).
func wholeMembers() []string { return []string{"request", "response", "responses"} }

// updateMock changes members of a mock by a merge patch; it may rename the mock (M-144).
func (s *Server) updateMock(c *call) error {
	options, err := c.writeOptions()
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
	if err := checkMockPatch(patch); err != nil {
		return err
	}
	if err := checkID(patch, c.mock.ID); err != nil {
		return err
	}
	changed, err := s.Catalog.PatchMock(c.ctx(), c.project.Project.ID, c.mock.ID, options, func(current *mockbase.Mock) (*mockbase.Mock, error) {
		m, err := patchMock(current, patch)
		if err != nil {
			return nil, mockbase.MoreFaults(err, s.Catalog.MockFaults(c.project.Project, m))
		}
		return m, nil
	})
	if err != nil {
		return err
	}
	return s.answerMock(c, changed)
}

func checkMockPatch(patch *mockbase.Node) error {
	var faults mockbase.Faults
	for _, m := range patch.Members {
		if slices.Contains(wholeMembers(), m.Key) {
			faults.Append(mockbase.FieldError{
				Pointer: "#/" + m.Key, Code: mockbase.FieldConflict, Line: m.Line, Column: m.Column,
				Detail: "a merge patch replaces lists and drops nulls, so it cannot change " + m.Key,
			})
		}
	}
	fields := faults.Fields()
	if len(fields) == 0 {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodePatchNotAllowed, Message: fields[0].Detail, Hint: "send the whole mock with PUT", Fields: fields,
	}
}

// patchMock is the mock that a patch makes of another. Beside faults comes what could be read of it.
func patchMock(current *mockbase.Mock, patch *mockbase.Node) (*mockbase.Mock, error) {
	now, err := stored(current.Document)
	if err != nil {
		return nil, err
	}
	if patch.Kind != mockbase.NodeObject {
		return nil, mockbase.Invalid([]mockbase.FieldError{{
			Pointer: "#", Code: mockbase.FieldType, Detail: "must be an object", Line: patch.Line, Column: patch.Column,
		}})
	}
	read := func(n *mockbase.Node) (*mockbase.Mock, error) {
		return mockbase.DecodeMock(n.JSON(), mockbase.FormatJSON)
	}
	faults := unknownNulls(now, patch, func(n *mockbase.Node) error { _, err := read(n); return err })
	faults = append(faults, keepsName(patch)...)
	m, err := read(merge(now, patch))
	if known, ok := errors.AsType[*mockbase.Error](unplacedFaults(err)); ok {
		if len(known.Fields) == 0 {
			return nil, err
		}
		faults = append(faults, known.Fields...)
	}
	return m, mockbase.Invalid(faults)
}

// keepsName refuses to remove the name of a mock, which is its address: a name that is made up anew would move it to
// where nobody asked for it.
func keepsName(patch *mockbase.Node) []mockbase.FieldError {
	name := patch.Find("name")
	if name == nil || name.Kind != mockbase.NodeNull {
		return nil
	}
	return []mockbase.FieldError{{
		Pointer: "#/name", Code: mockbase.FieldRequired, Detail: "a mock always has a name: send its new name, or leave name out to keep this one",
	}}
}

// deleteMock deletes a mock (M-145).
func (s *Server) deleteMock(c *call) error {
	options, err := c.writeOptions()
	if err != nil {
		return err
	}
	if err := s.Catalog.DeleteMock(c.ctx(), c.project.Project.ID, c.mock.ID, options); err != nil {
		return err
	}
	return c.nothing()
}
