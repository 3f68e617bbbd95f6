package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func definitionPromises() []promise {
	return []promise{
		{"an empty store has no snapshots", func(t *testing.T, s store.Store) {
			t.Helper()
			same(t, "number of snapshots", len(snapshots(t, s)), 0)
		}},
		{"Y4: a project and its mocks come back as they were put", comeBackAsPut},
		{"A8: mocks come back by their order, not by their time or name", comeBackByOrder},
		{"projects come back by slug", func(t *testing.T, s store.Store) {
			t.Helper()
			for _, slug := range []string{"zoo", "alpha", "mid"} {
				ok(t, "create project", s.Apply(t.Context(), creation(slug, "")))
			}
			same(t, "slugs", slugs(t, s), []string{"alpha", "mid", "zoo"})
		}},
		{"M-76: every change raises the revision by one", everyChangeRaisesRevision},
		{"M-10: a change of an older revision is refused with the current one", olderRevisionIsRefused},
		{"a taken slug is refused and nothing is stored", takenSlugIsRefused},
		{"Y2: a taken mock name is refused and nothing of the set is stored", takenNameIsRefused},
		{"names are compared after the whole set is done", namesAreComparedLast},
		{"a change of something that is not there is not found", missingIsNotFound},
		{"deleting a project deletes its mocks, members and traffic", deletesWithEverything},
		{"a mock of another project is out of reach", otherProjectIsOutOfReach},
	}
}

// project is a project with every member set.
func project(slug string) *mockbase.Project {
	return &mockbase.Project{
		ID: "prj_" + slug, Slug: slug, Name: "The " + slug, Description: "it's for <tests> & more",
		Access: mockbase.AccessToken, PersistTraffic: true, RequireIfMatch: true, Origin: "folder",
		RawTraffic: true, RedactHeaders: []string{"X-Session"}, UpstreamAllow: []string{"10.0.0.0/8", "api.example.com"}, Retention: mockbase.Retention{MaxCount: 7, MaxBytes: 1 << 20, MaxAge: time.Hour},
		Owners:        map[string]string{"settings": "ci"},
		VariableNotes: map[string]mockbase.VariableNote{"token": {Version: 3, Secret: true}, "plain": {Version: 1}},
		DocumentNotes: map[string]mockbase.DocumentNote{"pets": {ID: "doc_1", Version: 2, Text: []byte("\xef\xbb\xbfopenapi: 3.0.0 # <as sent>\n")}, "plain": {ID: "doc_2", Version: 1}, "joined": {ID: "doc_3", Version: 1, Files: []byte("PK\x00\xff")}},
		Version:       3, Revision: 1, CreatedAt: noon(), UpdatedAt: noon().AddDate(0, 0, 1),
	}
}

// mock is a mock with every member set that is no part of its document.
func mock(t *testing.T, slug, name string, order int64) *mockbase.Mock {
	t.Helper()
	// The number text, the order of members and the characters of HTML must survive.
	text := fmt.Sprintf(`{"name":%q,"response":{"headers":{"x-B":"<&>","X-A":"1"},"json":{"z":2.50,"a":1e2}},"request":"GET /%s"}`, name, name)
	m, err := mockbase.DecodeMock([]byte(text), mockbase.FormatJSON)
	ok(t, "decode mock", err)
	if string(m.Document) != text {
		t.Fatalf("the document was decoded to %s, want %s", m.Document, text)
	}
	m.ID, m.ProjectID = "mck_"+slug+"_"+name, "prj_"+slug
	m.Version, m.Order, m.CreatedAt, m.UpdatedAt = 7, order, noon(), noon().AddDate(0, 1, 0)
	m.UpdatedBy, m.Owner, m.Edited, m.Origin = "usr_ada", "ci", true, "shop.yaml:12"
	m.Line, m.Column = 0, 0
	return m
}

func creation(slug, owner string, mocks ...*mockbase.Mock) mockbase.ChangeSet {
	return mockbase.ChangeSet{ProjectID: "prj_" + slug, Project: project(slug), OwnerID: owner, Put: mocks}
}

func snapshots(t *testing.T, s store.Store) []*mockbase.Snapshot {
	t.Helper()
	all, err := s.Snapshots(t.Context())
	ok(t, "read snapshots", err)
	return all
}

func slugs(t *testing.T, s store.Store) []string {
	t.Helper()
	var all []string
	for _, snapshot := range snapshots(t, s) {
		all = append(all, snapshot.Project.Slug)
	}
	return all
}

// names are the names of a project's mocks in their order.
func names(t *testing.T, s store.Store, slug string) []string {
	t.Helper()
	var all []string
	for _, snapshot := range snapshots(t, s) {
		if snapshot.Project.Slug != slug {
			continue
		}
		for _, m := range snapshot.Mocks {
			all = append(all, m.Name)
		}
	}
	return all
}

func comeBackAsPut(t *testing.T, s store.Store) {
	t.Helper()
	set := creation("shop", "", mock(t, "shop", "first", 1), mock(t, "shop", "second", 2))
	config, err := mockbase.DecodeConfig(map[string]json.RawMessage{
		"variables": json.RawMessage(`{"b":"<&>","a":2.50}`),
		"settings":  json.RawMessage(`{"trailingSlash":"ignore"}`),
	})
	ok(t, "decode configuration", err)
	set.Project.Config = config
	ok(t, "create", s.Apply(t.Context(), set))
	got := snapshots(t, s)
	if len(got) != 1 {
		t.Fatalf("%d snapshots, want 1", len(got))
	}
	same(t, "project", got[0].Project, set.Project)
	same(t, "mocks", got[0].Mocks, set.Put)
}

func comeBackByOrder(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "", mock(t, "shop", "a", 30), mock(t, "shop", "b", 10), mock(t, "shop", "c", 20))))
	same(t, "names", names(t, s, "shop"), []string{"b", "c", "a"})
	edited := mock(t, "shop", "b", 10)
	edited.Version++
	ok(t, "edit", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{edited}}))
	same(t, "names after an edit", names(t, s, "shop"), []string{"b", "c", "a"})
}

func everyChangeRaisesRevision(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	ok(t, "add mock", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "a", 1)}}))
	renamed := project("shop")
	renamed.Slug, renamed.Name, renamed.Version, renamed.Revision, renamed.Owners = "store", "The store", 4, 3, nil
	ok(t, "rename", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 2, Project: renamed}))
	got := snapshots(t, s)
	same(t, "project", got[0].Project, renamed)
	ok(t, "delete mock", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 3, Delete: []string{"mck_shop_a"}}))
	got = snapshots(t, s)
	same(t, "revision", got[0].Project.Revision, int64(4))
	same(t, "number of mocks", len(got[0].Mocks), 0)
}

func olderRevisionIsRefused(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	first := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "a", 1)}}
	ok(t, "first change", s.Apply(t.Context(), first))
	before := snapshots(t, s)
	for _, set := range []mockbase.ChangeSet{
		{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "b", 2)}},
		{ProjectID: "prj_shop", IfRevision: 3, Project: project("shop")},
		{ProjectID: "prj_shop", IfRevision: 1, DeleteProject: true},
		creation("shop", ""),
	} {
		err := s.Apply(t.Context(), set)
		wantCode(t, "stale change", err, mockbase.CodeVersionMismatch)
		if e, isError := err.(*mockbase.Error); !isError || e.Version != 2 { //nolint:errorlint // the border hands out the error itself
			t.Errorf("stale change: %#v, want the current revision 2", err)
		}
	}
	same(t, "snapshots", snapshots(t, s), before)
}

func takenSlugIsRefused(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	ok(t, "create", s.Apply(t.Context(), creation("zoo", "")))
	before := snapshots(t, s)
	second := creation("other", "", mock(t, "other", "a", 1))
	second.Project.Slug = "shop"
	wantCode(t, "create", s.Apply(t.Context(), second), mockbase.CodeNameTaken)
	renamed := project("zoo")
	renamed.Slug = "shop"
	wantCode(t, "rename", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_zoo", IfRevision: 1, Project: renamed}), mockbase.CodeNameTaken)
	same(t, "snapshots", snapshots(t, s), before)
}

func takenNameIsRefused(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "", mock(t, "shop", "a", 1))))
	ok(t, "the name is free in another project", s.Apply(t.Context(), creation("zoo", "", mock(t, "zoo", "a", 1))))
	before := snapshots(t, s)
	clash := mock(t, "shop", "a", 9)
	clash.ID = "mck_clash"
	set := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "b", 2), clash}}
	wantCode(t, "create", s.Apply(t.Context(), set), mockbase.CodeNameTaken)
	same(t, "snapshots", snapshots(t, s), before)
}

func namesAreComparedLast(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "", mock(t, "shop", "a", 1), mock(t, "shop", "b", 2), mock(t, "shop", "c", 3))))
	a, b, c := mock(t, "shop", "b", 1), mock(t, "shop", "a", 2), mock(t, "shop", "c", 4)
	a.ID, b.ID, c.ID = "mck_shop_a", "mck_shop_b", "mck_shop_new"
	set := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{a, b, c}, Delete: []string{"mck_shop_c"}}
	ok(t, "exchange names", s.Apply(t.Context(), set))
	same(t, "mocks", snapshots(t, s)[0].Mocks, []*mockbase.Mock{a, b, c})
}

func missingIsNotFound(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	before := snapshots(t, s)
	for what, set := range map[string]mockbase.ChangeSet{
		"change of a missing project":   {ProjectID: "prj_none", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "none", "a", 1)}},
		"deletion of a missing project": {ProjectID: "prj_none", IfRevision: 1, DeleteProject: true},
		"deletion of a missing mock":    {ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "a", 1)}, Delete: []string{"mck_none"}},
		"a project of a missing owner":  creation("zoo", "usr_none"),
	} {
		wantCode(t, what, s.Apply(t.Context(), set), mockbase.CodeNotFound)
	}
	same(t, "snapshots", snapshots(t, s), before)
}

func deletesWithEverything(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	ok(t, "create", s.Apply(t.Context(), creation("shop", "usr_ada", mock(t, "shop", "a", 1))))
	ok(t, "create", s.Apply(t.Context(), creation("zoo", "usr_ada", mock(t, "zoo", "a", 1))))
	ok(t, "record", s.AppendExchanges(t.Context(), []*mockbase.Exchange{exchange("shop", 1), exchange("zoo", 2)}))
	ok(t, "delete", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, DeleteProject: true}))

	same(t, "slugs", slugs(t, s), []string{"zoo"})
	same(t, "mocks of the other project", names(t, s, "zoo"), []string{"a"})
	roles, err := s.Memberships(t.Context(), "usr_ada")
	ok(t, "read roles", err)
	same(t, "roles", roles, map[string]mockbase.ProjectRole{"prj_zoo": mockbase.RoleOwner})
	for id, want := range map[string]int{"prj_shop": 0, "prj_zoo": 1} {
		recent, err := s.RecentExchanges(t.Context(), id, 10)
		ok(t, "read traffic", err)
		same(t, "exchanges of "+id, len(recent), want)
	}
	ok(t, "the slug is free again", s.Apply(t.Context(), creation("shop", "")))
	same(t, "mocks of the new project", len(names(t, s, "shop")), 0)
}

func otherProjectIsOutOfReach(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "", mock(t, "shop", "a", 1))))
	ok(t, "create", s.Apply(t.Context(), creation("zoo", "")))
	before := snapshots(t, s)
	stolen := mock(t, "shop", "a", 1)
	for what, set := range map[string]mockbase.ChangeSet{
		"deletion": {ProjectID: "prj_zoo", IfRevision: 1, Delete: []string{"mck_shop_a"}},
		"change":   {ProjectID: "prj_zoo", IfRevision: 1, Put: []*mockbase.Mock{stolen}},
	} {
		if err := s.Apply(t.Context(), set); err == nil {
			t.Errorf("%s of a mock of another project went through", what)
		}
	}
	same(t, "snapshots", snapshots(t, s), before)
}
