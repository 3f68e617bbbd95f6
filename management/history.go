package management

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// historyRoutes are those of what mocks were, of the trash, and of changes of many mocks. The parameters of lists are list.
func historyRoutes(list []string) []route {
	const (
		project  = apiPrefix + "/projects/{project}"
		mocks    = project + "/mocks"
		mock     = mocks + "/{mock}"
		versions = mock + "/versions"
		trash    = project + "/trash"
	)
	return []route{
		{id: "M-146", method: http.MethodPost, path: mock + "/duplicate", access: accessEditor, scope: scopeMocksWrite, operation: "duplicateMock", handle: (*Server).duplicateMock, creates: true},
		{id: "M-147", method: http.MethodGet, path: versions, access: accessViewer, scope: scopeMocksRead, operation: "listMockVersions", handle: (*Server).listVersions, query: list},
		{id: "M-148", method: http.MethodGet, path: versions + "/{version}", access: accessViewer, scope: scopeMocksRead, operation: "getMockVersion", handle: (*Server).getVersion},
		{id: "M-149", method: http.MethodPost, path: versions + "/{version}/restore", access: accessEditor, scope: scopeMocksWrite, operation: "restoreMockVersion", handle: (*Server).restoreVersion, query: []string{"takeOver"}},
		{id: "M-153", method: http.MethodPost, path: mocks + "/bulk", access: accessEditor, scope: scopeMocksWrite, operation: "changeMocks", handle: (*Server).changeMocks},
		{id: "M-154", method: http.MethodGet, path: trash, access: accessViewer, scope: scopeMocksRead, operation: "listTrash", handle: (*Server).listTrash, query: list},
		{id: "M-155", method: http.MethodPost, path: trash + "/{mock}/restore", access: accessEditor, scope: scopeMocksWrite, operation: "restoreMock", handle: (*Server).restoreMock, absent: true},
		{id: "M-156", method: http.MethodDelete, path: trash + "/{mock}", access: accessEditor, scope: scopeMocksWrite, operation: "purgeMock", handle: (*Server).purgeMock, absent: true},
	}
}

// duplicateMock makes another mock with the document of one, which does not answer unless that is asked for (M-146).
func (s *Server) duplicateMock(c *call) error {
	var (
		name    string
		enabled bool
	)
	err := c.maybeObject(func(f *mockbase.Fields) {
		if f.Text("name", &name) && !mockbase.ValidSlug(name) {
			f.Fault("name", mockbase.FieldPattern, "must be 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end")
		}
		f.Bool("enabled", &enabled)
	})
	if err != nil {
		return err
	}
	copied, err := patchMock(c.mock, object("enabled", &mockbase.Node{Kind: mockbase.NodeBool, Text: strconv.FormatBool(enabled)}))
	if err != nil {
		return err
	}
	if name == "" {
		// One that is made up makes room for the mocks that have it already.
		const longest = 48
		copied = copied.WithName(strings.TrimRight(c.mock.Name[:min(len(c.mock.Name), longest)], "-") + "-copy")
		copied.NameGenerated = true
	} else {
		copied = copied.WithName(name)
	}
	return s.addMock(c, copied)
}

// object is an object with one member.
func object(name string, value *mockbase.Node) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: name, Value: value}}}
}

// versionView is a version of a mock in a list (M-147).
type versionView struct {
	Version int64            `json:"version"`
	At      string           `json:"at"`
	By      *string          `json:"by"`
	Source  *string          `json:"source"`
	Changes []catalog.Change `json:"changes"`
}

// listVersions lists the last versions of a mock, the newest first (M-147).
func (s *Server) listVersions(c *call) error {
	l, err := c.params().listing("-version")
	if err != nil {
		return err
	}
	all, err := s.Catalog.Versions(c.ctx(), c.project.Project.ID, c.mock.ID)
	if err != nil {
		return err
	}
	var found []catalog.Version
	for _, v := range all {
		if l.finds(v.By, v.Source) {
			found = append(found, v)
		}
	}
	onPage, next := cut(l, found, func(v catalog.Version) key { return key{Number: v.Version, ID: strconv.FormatInt(v.Version, 10)} })
	items := make([]versionView, len(onPage))
	for i, v := range onPage {
		items[i] = versionView{Version: v.Version, At: timeText(v.At), By: maybeText(v.By), Source: maybeText(v.Source), Changes: v.Changes}
		if v.Changes == nil {
			items[i].Changes = []catalog.Change{}
		}
	}
	return c.list(l, items, len(found), next)
}

// version reads the version of the path; what is no number is no version.
func (c *call) version() (int64, error) {
	text, err := pathParam(c, "version")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, mockbase.Errorf(mockbase.CodeNotFound, "the mock has no version %s", shown(text))
	}
	return n, nil
}

// getVersion shows a mock as it was (M-148).
func (s *Server) getVersion(c *call) error {
	n, err := c.version()
	if err != nil {
		return err
	}
	m, err := s.Catalog.VersionOf(c.ctx(), c.mock, n)
	if err != nil {
		return err
	}
	return s.answerMock(c, m)
}

// restoreVersion makes a mock what it was, as a new version (M-149).
func (s *Server) restoreVersion(c *call) error {
	n, err := c.version()
	if err != nil {
		return err
	}
	options, err := c.writeOptions()
	if err != nil {
		return err
	}
	m, err := s.Catalog.RestoreVersion(c.ctx(), c.mock, n, options)
	if err != nil {
		return err
	}
	return s.answerMock(c, m)
}

// trashView is a deleted mock (M-154).
type trashView struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	DeletedAt string  `json:"deletedAt"`
	DeletedBy *string `json:"deletedBy"`
	Source    *string `json:"source"`
	ExpiresAt string  `json:"expiresAt"`
}

// listTrash lists the deleted mocks that can be restored (M-154).
func (s *Server) listTrash(c *call) error {
	l, err := c.params().listing("-deletedAt", "name", "expiresAt")
	if err != nil {
		return err
	}
	all, err := s.Catalog.Trash(c.ctx(), c.project.Project.ID)
	if err != nil {
		return err
	}
	var found []*mockbase.TrashedMock
	for i := range all {
		if l.finds(all[i].Name) {
			found = append(found, &all[i])
		}
	}
	onPage, next := cut(l, found, func(m *mockbase.TrashedMock) key {
		if l.sort == "name" {
			return key{Text: m.Name, ID: m.MockID}
		}
		return key{Number: m.DeletedAt.UnixNano(), ID: m.MockID}
	})
	items := make([]trashView, len(onPage))
	for i, m := range onPage {
		items[i] = trashView{
			ID: m.MockID, Name: m.Name, DeletedAt: timeText(m.DeletedAt), DeletedBy: maybeText(m.DeletedBy), Source: maybeText(m.Source),
			ExpiresAt: timeText(m.ExpiresAt),
		}
	}
	return c.list(l, items, len(found), next)
}

// restoreMock brings a deleted mock back (M-155).
func (s *Server) restoreMock(c *call) error {
	id, err := pathParam(c, "mock")
	if err != nil {
		return err
	}
	m, err := s.Catalog.RestoreMock(c.ctx(), c.project.Project.ID, id, c.caller.user.ID)
	if err != nil {
		return err
	}
	c.header().Set("Location", apiPrefix+"/projects/"+url.PathEscape(c.project.Project.Slug)+"/mocks/"+url.PathEscape(m.Name))
	return s.answerMock(c, m)
}

// purgeMock deletes a mock for good (M-156).
func (s *Server) purgeMock(c *call) error {
	id, err := pathParam(c, "mock")
	if err != nil {
		return err
	}
	if err := s.Catalog.PurgeMock(c.ctx(), c.project.Project.ID, id); err != nil {
		return err
	}
	return c.nothing()
}
