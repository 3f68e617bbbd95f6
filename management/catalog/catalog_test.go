package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store/sqlite"
)

// plane is a mock plane that remembers what it was told, and refuses what the tests ask it to.
type plane struct {
	mu        sync.Mutex
	published map[string]*mockbase.Snapshot
	withdrawn []string
	// onPublish is called before a snapshot is taken; its error is returned.
	onPublish func(*mockbase.Snapshot) error
	// faults tells of things that must not happen.
	faults []string
}

func (*plane) CheckConfig(c *mockbase.Config) []mockbase.FieldError {
	faults := itemsCalled(c, "broken", mockbase.FieldSyntax)
	if c.Settings.Compress {
		faults = append(faults, mockbase.FieldError{Pointer: "#/settings/compress", Code: mockbase.FieldNotServed, Detail: "is not served yet"})
	}
	return faults
}

// ConfigWarnings finds odd what is called so.
func (*plane) ConfigWarnings(c *mockbase.Config) []mockbase.FieldError {
	return itemsCalled(c, "odd", mockbase.WarningUnused)
}

// itemsCalled finds fault with documents and collections by their names.
func itemsCalled(c *mockbase.Config, name string, code mockbase.Code) []mockbase.FieldError {
	var found []mockbase.FieldError
	for i := range c.Documents {
		if strings.HasPrefix(c.Documents[i].Name, name) {
			found = append(found, mockbase.FieldError{Pointer: fmt.Sprintf("#/documents/%d/inline/paths", i), Code: code, Detail: "is " + name})
		}
	}
	for i := range c.Collections {
		if strings.HasPrefix(c.Collections[i].Name, name) {
			found = append(found, mockbase.FieldError{Pointer: "#/collections/" + c.Collections[i].Name + "/seed", Code: code, Detail: "is " + name})
		}
	}
	return found
}

// CheckMock refuses faults, and on a project that ignores trailing slashes also mocks of the folder strict.
func (*plane) CheckMock(c *mockbase.Config, m *mockbase.Mock) []mockbase.FieldError {
	var faults []mockbase.FieldError
	for _, r := range m.Responses {
		if r.Fault != nil {
			faults = append(faults, mockbase.FieldError{Pointer: "#/response/fault", Code: mockbase.FieldNotServed, Detail: "is not served yet"})
		}
	}
	if m.Folder == "strict" && c.Settings.TrailingSlash == mockbase.TrailingSlashIgnore {
		faults = append(faults, mockbase.FieldError{Pointer: "#/folder", Code: mockbase.FieldConflict, Detail: "needs strict slashes"})
	}
	return faults
}

// Warnings names every other mock of the same path.
func (*plane) Warnings(s *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError {
	var all []mockbase.FieldError
	for _, other := range s.Mocks {
		if other != m && other.Request.Path == m.Request.Path && slices.Equal(other.Request.Methods, m.Request.Methods) {
			all = append(all, mockbase.FieldError{Pointer: "#", Code: mockbase.WarningTie, Detail: fmt.Sprintf("%s has the same rank", other.Name)})
		}
	}
	return all
}

func (p *plane) Publish(s *mockbase.Snapshot) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.onPublish != nil {
		if err := p.onPublish(s); err != nil {
			return err
		}
	}
	if old := p.published[s.Project.ID]; old != nil && s.Project.Revision <= old.Project.Revision {
		p.faults = append(p.faults, fmt.Sprintf("%s: revision %d follows %d", s.Project.Slug, s.Project.Revision, old.Project.Revision))
	}
	if p.published == nil {
		p.published = map[string]*mockbase.Snapshot{}
	}
	p.published[s.Project.ID] = s
	return nil
}

func (p *plane) Withdraw(projectID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.published, projectID)
	p.withdrawn = append(p.withdrawn, projectID)
}

// house is a catalog with its real store and a plane to look at.
type house struct {
	*catalog.Catalog

	store *sqlite.DB
	plane *plane
	now   time.Time
}

func newHouse(tb testing.TB, quotas catalog.Quotas) *house {
	tb.Helper()
	db, err := sqlite.Open(tb.Context(), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	h := &house{store: db, plane: &plane{}, now: time.Date(2031, time.May, 7, 12, 0, 0, 0, time.UTC)}
	h.Catalog = catalog.New(catalog.Options{Store: db, Plane: h.plane, Clock: func() time.Time { return h.now }, Quotas: quotas})
	tb.Cleanup(func() {
		h.check(tb)
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return h
}

// check makes sure that catalog, store and plane tell the same.
func (h *house) check(tb testing.TB) {
	tb.Helper()
	for _, fault := range h.plane.faults {
		tb.Error(fault)
	}
	stored, err := h.store.Snapshots(context.WithoutCancel(tb.Context()))
	if err != nil {
		tb.Fatal(err)
	}
	known := h.Projects()
	if len(stored) != len(known) || len(known) != len(h.plane.published) {
		tb.Fatalf("%d projects stored, %d in the catalog, %d published", len(stored), len(known), len(h.plane.published))
	}
	for i, s := range known {
		if h.plane.published[s.Project.ID] != s {
			tb.Errorf("%s: what is published is not what the catalog has", s.Project.Slug)
		}
		if got, want := describe(stored[i]), describe(s); got != want {
			tb.Errorf("the store has\n%s\nthe catalog has\n%s", got, want)
		}
	}
}

// describe is everything of a snapshot that is stored, as text.
func describe(s *mockbase.Snapshot) string {
	var b strings.Builder
	p := *s.Project
	fmt.Fprintf(&b, "%s %s %q %q %s v%d r%d %s %s owners=%v origin=%q %t %t\n", p.ID, p.Slug, p.Name, p.Description, p.Access, p.Version,
		p.Revision, p.CreatedAt, p.UpdatedAt, p.Owners, p.Origin, p.PersistTraffic, p.RequireIfMatch)
	for _, key := range slices.Sorted(maps.Keys(p.Config.Source)) {
		fmt.Fprintf(&b, "  %s: %s\n", key, p.Config.Source[key])
	}
	for _, m := range s.Mocks {
		fmt.Fprintf(&b, "  %s %s %s v%d o%d %s %s by=%q owner=%q %t %q %s\n", m.ID, m.ProjectID, m.Name, m.Version, m.Order, m.CreatedAt,
			m.UpdatedAt, m.UpdatedBy, m.Owner, m.Edited, m.Origin, m.Document)
	}
	return b.String()
}

func (h *house) createProject(tb testing.TB, slug string) *mockbase.Snapshot {
	tb.Helper()
	s, err := h.CreateProject(tb.Context(), &mockbase.Project{Slug: slug}, "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// createMock creates a mock in the project shop.
func (h *house) createMock(tb testing.TB, text string) *mockbase.Mock {
	tb.Helper()
	m, err := h.CreateMock(tb.Context(), "shop", decodeMock(tb, text), "usr_ada")
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func (h *house) names(tb testing.TB) []string {
	tb.Helper()
	s, ok := h.Project("shop")
	if !ok {
		tb.Fatal("there is no project")
	}
	var names []string
	for _, m := range s.Mocks {
		names = append(names, m.Name)
	}
	return names
}

func (h *house) mock(tb testing.TB, name string) *mockbase.Mock {
	tb.Helper()
	s, _ := h.Project("shop")
	m, ok := catalog.Mock(s, name)
	if !ok {
		tb.Fatalf("no mock %s", name)
	}
	return m
}

func decodeMock(tb testing.TB, text string) *mockbase.Mock {
	tb.Helper()
	m, err := mockbase.DecodeMock([]byte(text), mockbase.FormatYAML)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func decodeDefinition(tb testing.TB, text string) *mockbase.Definition {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(text), mockbase.FormatYAML)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func wantCode(tb testing.TB, err error, code mockbase.Code) *mockbase.Error {
	tb.Helper()
	e, ok := err.(*mockbase.Error) //nolint:errorlint // the catalog hands out the error itself
	if !ok || e.Code != code {
		tb.Fatalf("error %v (%T), want code %q", err, err, code)
	}
	return e
}
