package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

func TestM131_a_new_project_gets_what_its_maker_left_out(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	if err := h.store.CreateUser(t.Context(), &mockbase.User{ID: "usr_ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	s, err := h.CreateProject(t.Context(), &mockbase.Project{Slug: "shop", Description: "d", ID: "prj_forged", Version: 9, Revision: 9}, "usr_ada")
	if err != nil {
		t.Fatal(err)
	}
	want := &mockbase.Project{
		ID: s.Project.ID, Slug: "shop", Name: "shop", Description: "d", Access: mockbase.AccessPublic, Version: 1, Revision: 1,
		CreatedAt: h.now, UpdatedAt: h.now,
	}
	if diff := cmp.Diff(want, s.Project); diff != "" || want.ID == "prj_forged" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
	if role, err := h.store.ProjectRole(t.Context(), s.Project.ID, "usr_ada"); err != nil || role != mockbase.RoleOwner {
		t.Errorf("the maker's role is %q, %v", role, err)
	}
	for _, key := range []string{"shop", s.Project.ID} {
		if found, ok := h.Project(key); !ok || found != s {
			t.Errorf("%s is not found", key)
		}
	}
	if _, ok := h.Project("none"); ok {
		t.Error("a project that is not there was found")
	}
}

func TestTimesAreKeptAsExactAsTheyAreShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.now = time.Date(2031, time.May, 7, 12, 0, 0, 123456789, time.FixedZone("there", 3600))
	s := h.createProject(t, "shop")
	if want := time.Date(2031, time.May, 7, 11, 0, 0, 123000000, time.UTC); !s.Project.CreatedAt.Equal(want) || s.Project.CreatedAt.Location() != time.UTC {
		t.Errorf("created at %s, want %s (M-2)", s.Project.CreatedAt, want)
	}
}

func TestAProjectThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{MaxProjects: 2})
	h.createProject(t, "shop")
	_, err := h.CreateProject(t.Context(), &mockbase.Project{Slug: "shop"}, "")
	wantCode(t, err, mockbase.CodeNameTaken)
	_, err = h.CreateProject(t.Context(), &mockbase.Project{Slug: "No Slug", Access: "secret"}, "")
	fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields
	if len(fields) != 2 || fields[0].Pointer != "#/slug" || fields[1].Pointer != "#/access" {
		t.Errorf("faults %+v", fields)
	}
	config, err := mockbase.DecodeSettings(json.RawMessage(`{"compress":true}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.CreateProject(t.Context(), &mockbase.Project{Slug: "other", Config: config}, "")
	if fields := wantCode(t, err, mockbase.CodeValidationFailed).Fields; len(fields) != 1 || fields[0].Pointer != "#/settings/compress" {
		t.Errorf("faults %+v", fields)
	}
	_, err = h.CreateProject(t.Context(), &mockbase.Project{Slug: "other"}, "usr_none")
	wantCode(t, err, mockbase.CodeNotFound)
	h.createProject(t, "zoo")
	_, err = h.CreateProject(t.Context(), &mockbase.Project{Slug: "third"}, "")
	quota := wantCode(t, err, mockbase.CodeQuotaReached).Quota
	if diff := cmp.Diff(&mockbase.QuotaUse{Name: "maxProjects", Limit: 2, Used: 2}, quota); diff != "" {
		t.Errorf("M-9: quota (-want +got):\n%s", diff)
	}
}

func TestM133_a_project_changes_and_is_found_by_its_new_slug(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	made := h.createProject(t, "shop")
	h.createProject(t, "zoo")
	h.createMock(t, "request: GET /a\nresponse: {}")
	h.now = h.now.Add(time.Hour)
	s, err := h.UpdateProject(t.Context(), "shop", catalog.Match{Version: 1}, func(p *mockbase.Project) error {
		p.Slug, p.Name, p.RequireIfMatch, p.PersistTraffic = "store", "The store", true, true
		p.ID, p.Version, p.Revision, p.Origin = "prj_forged", 77, 77, "forged"
		p.Config.Source = map[string]json.RawMessage{"settings": json.RawMessage(`{"trailingSlash":"ignore"}`)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Project
	if p.ID != made.Project.ID || p.Version != 2 || p.Revision != 3 || p.Origin != "" || !p.UpdatedAt.Equal(h.now) || p.CreatedAt.Equal(h.now) {
		t.Errorf("project %+v", p)
	}
	if p.Config.Settings.TrailingSlash != mockbase.TrailingSlashIgnore {
		t.Error("the settings were not read from their source")
	}
	if made.Project.Slug != "shop" || made.Project.Config.Source != nil {
		t.Error("a snapshot that was handed out changed")
	}
	if _, ok := h.Project("shop"); ok {
		t.Error("the old slug still finds the project")
	}
	if found, ok := h.Project("store"); !ok || found != s {
		t.Error("the new slug finds nothing")
	}
	h.createProject(t, "shop")
}

func TestAChangeOfAProjectThatChangesNothingRaisesNoVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	before := h.createProject(t, "shop")
	after, err := h.UpdateProject(t.Context(), "shop", catalog.Match{}, func(*mockbase.Project) error { return nil })
	if err != nil || after != before {
		t.Errorf("got %+v, %v", after, err)
	}
}

func TestAChangeOfAProjectThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	set := func(change func(*mockbase.Project)) func(*mockbase.Project) error {
		return func(p *mockbase.Project) error {
			p.Name = "changed"
			change(p)
			return nil
		}
	}
	settings := func(text string) func(*mockbase.Project) {
		return func(p *mockbase.Project) {
			p.Config.Source = map[string]json.RawMessage{"settings": json.RawMessage(text)}
		}
	}
	for name, test := range map[string]struct {
		match   catalog.Match
		change  func(*mockbase.Project) error
		code    mockbase.Code
		pointer string
	}{
		"M-10 stale":                    {catalog.Match{Version: 2}, set(func(*mockbase.Project) {}), mockbase.CodeVersionMismatch, ""},
		"taken slug":                    {catalog.Match{}, set(func(p *mockbase.Project) { p.Slug = "zoo" }), mockbase.CodeNameTaken, ""},
		"bad slug":                      {catalog.Match{}, set(func(p *mockbase.Project) { p.Slug = "-" }), mockbase.CodeValidationFailed, "#/slug"},
		"bad access":                    {catalog.Match{}, set(func(p *mockbase.Project) { p.Access = "x" }), mockbase.CodeValidationFailed, "#/access"},
		"settings that are not served":  {catalog.Match{}, set(settings(`{"compress":true}`)), mockbase.CodeValidationFailed, "#/settings/compress"},
		"settings that are not valid":   {catalog.Match{}, set(settings(`{"trailingSlash":"x"}`)), mockbase.CodeValidationFailed, "#/settings/trailingSlash"},
		"settings that a mock can't do": {catalog.Match{}, set(settings(`{"trailingSlash":"ignore"}`)), mockbase.CodeValidationFailed, "#"},
		"refused by the caller":         {catalog.Match{}, func(*mockbase.Project) error { return own }, mockbase.CodeInternal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, catalog.Quotas{})
			h.createProject(t, "shop")
			h.createProject(t, "zoo")
			h.createMock(t, "folder: strict\nrequest: GET /a\nresponse: {}")
			before, _ := h.Project("shop")
			_, err := h.UpdateProject(t.Context(), "shop", test.match, test.change)
			if got := mockbase.ErrorCode(err); got != test.code {
				t.Fatalf("error %v, want code %q", err, test.code)
			}
			if e, ok := errors.AsType[*mockbase.Error](err); ok && test.pointer != "" && e.Fields[0].Pointer != test.pointer {
				t.Errorf("faults %+v, want one at %s", e.Fields, test.pointer)
			}
			if after, _ := h.Project("shop"); after != before {
				t.Error("the project changed")
			}
		})
	}
}

func TestM134_a_deleted_project_is_gone_everywhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	s := h.createProject(t, "shop")
	h.createMock(t, "request: GET /a\nresponse: {}")
	wantCode(t, h.DeleteProject(t.Context(), "shop", catalog.Match{Version: 5}), mockbase.CodeVersionMismatch)
	if err := h.DeleteProject(t.Context(), "shop", catalog.Match{Version: 1}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, h.DeleteProject(t.Context(), "shop", catalog.Match{}), mockbase.CodeNotFound)
	if diff := cmp.Diff([]string{s.Project.ID}, h.plane.withdrawn); diff != "" {
		t.Errorf("withdrawn (-want +got):\n%s", diff)
	}
	_, err := h.CreateMock(t.Context(), s.Project.ID, decodeMock(t, "request: GET /a\nresponse: {}"), "")
	wantCode(t, err, mockbase.CodeNotFound)
}

func TestProjectsAreListedBySlug(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	for _, slug := range []string{"zoo", "alpha", "mid"} {
		h.createProject(t, slug)
	}
	var slugs []string
	for _, s := range h.Projects() {
		slugs = append(slugs, s.Project.Slug)
	}
	if diff := cmp.Diff([]string{"alpha", "mid", "zoo"}, slugs); diff != "" {
		t.Errorf("slugs (-want +got):\n%s", diff)
	}
}

func TestLoadPublishesEverythingThatIsStored(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	h.createProject(t, "shop")
	h.createMock(t, "request: GET /a\nresponse: {}")
	h.createProject(t, "zoo")
	second := &plane{}
	c := catalog.New(catalog.Options{Store: h.store, Plane: second})
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range h.Projects() {
		got := c.Projects()[i]
		if describe(got) != describe(want) {
			t.Errorf("loaded\n%swant\n%s", describe(got), describe(want))
		}
		if second.published[got.Project.ID] != got {
			t.Errorf("%s is not published", got.Project.Slug)
		}
	}
	broken := catalog.New(catalog.Options{Store: h.store, Plane: &plane{onPublish: func(*mockbase.Snapshot) error { return errors.New("no") }}})
	// It is there to be repaired, and keeps no other project from being served.
	if err := broken.Load(t.Context()); err != nil || len(broken.Projects()) != 2 {
		t.Errorf("projects that can't be served: %v, %d are there", err, len(broken.Projects()))
	}
	full := &mockbase.Error{Code: mockbase.CodeUnavailable}
	unread := catalog.New(catalog.Options{Store: unreadableStore{full}, Plane: &plane{}})
	if err := unread.Load(t.Context()); !errors.Is(err, full) {
		t.Errorf("a store that can't be read was loaded with %v", err)
	}
}

// unreadableStore has nothing to read from.
type unreadableStore struct {
	err error
}

func (unreadableStore) Apply(context.Context, mockbase.ChangeSet) error { return nil }

func (s unreadableStore) Snapshots(context.Context) ([]*mockbase.Snapshot, error) { return nil, s.err }

func TestM15_projects_are_made_renamed_and_deleted_side_by_side(t *testing.T) {
	t.Parallel()
	h := newHouse(t, catalog.Quotas{})
	var group sync.WaitGroup
	var taken atomic.Int32
	for i := range 20 {
		group.Go(func() {
			slug := fmt.Sprintf("p%d", i/2)
			s, err := h.CreateProject(t.Context(), &mockbase.Project{Slug: slug}, "")
			if mockbase.ErrorCode(err) == mockbase.CodeNameTaken {
				taken.Add(1)
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := h.UpdateProject(t.Context(), s.Project.ID, catalog.Match{}, func(p *mockbase.Project) error {
				p.Name = "renamed"
				return nil
			}); err != nil {
				t.Error(err)
			}
			if i%4 < 2 {
				if err := h.DeleteProject(t.Context(), s.Project.ID, catalog.Match{Version: 2}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
