package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func historyPromises() []promise {
	return []promise{
		{"M-147: each version of a mock is kept, up to a number", versionsAreKept},
		{"M-148: a version comes back as it was put", versionComesBack},
		{"M-145: a deleted mock goes to the trash, with who deleted it", deletedGoesToTrash},
		{"M-155: a mock that is put again leaves the trash and keeps its versions", putAgainLeavesTrash},
		{"M-156: a purged mock is gone with its versions", purgedIsGone},
		{"a mock of files does not go to the trash", filesKeepTheirOwn},
		{"M-14: the history of another project is out of reach", otherHistoryIsOutOfReach},
		{"deleting a project deletes its history", projectTakesHistory},
	}
}

// byHand is a mock that is in no file, at a version.
func byHand(t *testing.T, name string, version int64) *mockbase.Mock {
	t.Helper()
	m := mock(t, "shop", name, 1)
	m.Origin, m.Version = "", version
	return m
}

// changing is a change of the shop at a revision.
func changing(revision int64) mockbase.ChangeSet {
	return mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: revision, By: "usr_ada"}
}

func versions(t *testing.T, s store.Store, project, id string) []int64 {
	t.Helper()
	all := []int64{}
	ok(t, "read versions", s.MockVersions(t.Context(), project, id, func(v *mockbase.MockVersion) error {
		all = append(all, v.Version)
		return nil
	}))
	return all
}

func trashed(t *testing.T, s store.Store) []string {
	t.Helper()
	all, err := s.Trash(t.Context(), "prj_shop")
	ok(t, "read trash", err)
	names := []string{}
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

func versionsAreKept(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", byHand(t, "first", 1))))
	for version := int64(2); version <= mockbase.MaxMockVersions+3; version++ {
		set := changing(version - 1)
		set.Put = []*mockbase.Mock{byHand(t, "first", version)}
		ok(t, "put version", s.Apply(t.Context(), set))
	}
	kept := versions(t, s, "prj_shop", "mck_shop_first")
	same(t, "number of versions", len(kept), mockbase.MaxMockVersions)
	same(t, "oldest", kept[0], int64(4))
	// A mock that moved is put again at its version.
	set := changing(mockbase.MaxMockVersions + 3)
	set.Put = []*mockbase.Mock{byHand(t, "first", mockbase.MaxMockVersions+3)}
	ok(t, "put the same version", s.Apply(t.Context(), set))
	same(t, "versions", versions(t, s, "prj_shop", "mck_shop_first"), kept)
	stop := errors.New("enough")
	if err := s.MockVersions(t.Context(), "prj_shop", "mck_shop_first", func(*mockbase.MockVersion) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visit ended with %v", err)
	}
	_, err := s.MockVersion(t.Context(), "prj_shop", "mck_shop_first", 3)
	wantCode(t, "read a version that is not kept", err, mockbase.CodeNotFound)
}

func versionComesBack(t *testing.T, s store.Store) {
	t.Helper()
	m := byHand(t, "first", 7)
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", m)))
	v, err := s.MockVersion(t.Context(), "prj_shop", m.ID, 7)
	ok(t, "read version", err)
	want := &mockbase.MockVersion{
		MockID: m.ID, Name: "first", Version: 7, At: m.UpdatedAt, By: m.UpdatedBy, Owner: m.Owner, Edited: m.Edited, Document: m.Document,
	}
	same(t, "version", v, want)
}

func deletedGoesToTrash(t *testing.T, s store.Store) {
	t.Helper()
	m := byHand(t, "first", 7)
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", m)))
	set := changing(1)
	set.Delete, set.Source = []string{m.ID}, "ci"
	ok(t, "delete mock", s.Apply(t.Context(), set))
	got, err := s.TrashedMock(t.Context(), "prj_shop", m.ID)
	ok(t, "read trash", err)
	if got.DeletedAt.IsZero() || got.ExpiresAt.Sub(got.DeletedAt) != mockbase.TrashAge {
		t.Errorf("deleted at %s, expires at %s", got.DeletedAt, got.ExpiresAt)
	}
	got.DeletedAt, got.ExpiresAt = time.Time{}, time.Time{}
	same(t, "deleted mock", got, &mockbase.TrashedMock{
		MockVersion: mockbase.MockVersion{
			MockID: m.ID, Name: "first", Version: 7, At: m.UpdatedAt, By: m.UpdatedBy, Owner: m.Owner, Edited: m.Edited, Document: m.Document,
		},
		Order: 1, CreatedAt: m.CreatedAt, DeletedBy: "usr_ada", Source: "ci",
	})
	same(t, "trash", trashed(t, s), []string{"first"})
	_, err = s.TrashedMock(t.Context(), "prj_shop", "mck_none")
	wantCode(t, "read a mock that is not in the trash", err, mockbase.CodeNotFound)
}

func putAgainLeavesTrash(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", byHand(t, "first", 1))))
	set := changing(1)
	set.Delete = []string{"mck_shop_first"}
	ok(t, "delete mock", s.Apply(t.Context(), set))
	set = changing(2)
	set.Put = []*mockbase.Mock{byHand(t, "first", 2)}
	ok(t, "put it again", s.Apply(t.Context(), set))
	same(t, "trash", trashed(t, s), []string{})
	same(t, "versions", versions(t, s, "prj_shop", "mck_shop_first"), []int64{1, 2})
}

func purgedIsGone(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", byHand(t, "first", 1))))
	set := changing(1)
	set.Delete = []string{"mck_shop_first"}
	ok(t, "delete mock", s.Apply(t.Context(), set))
	set = changing(2)
	set.Purge = []string{"mck_shop_first"}
	ok(t, "purge mock", s.Apply(t.Context(), set))
	same(t, "trash", trashed(t, s), []string{})
	same(t, "versions", versions(t, s, "prj_shop", "mck_shop_first"), []int64{})
	set = changing(3)
	set.Purge = []string{"mck_shop_first"}
	wantCode(t, "purge again", s.Apply(t.Context(), set), mockbase.CodeNotFound)
}

func filesKeepTheirOwn(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", mock(t, "shop", "first", 1))))
	set := changing(1)
	set.Delete = []string{"mck_shop_first"}
	ok(t, "delete mock", s.Apply(t.Context(), set))
	same(t, "trash", trashed(t, s), []string{})
	same(t, "versions", versions(t, s, "prj_shop", "mck_shop_first"), []int64{})
}

func otherHistoryIsOutOfReach(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", byHand(t, "first", 1), byHand(t, "second", 1))))
	ok(t, "create project", s.Apply(t.Context(), creation("other", "")))
	set := changing(1)
	set.Delete = []string{"mck_shop_first"}
	ok(t, "delete mock", s.Apply(t.Context(), set))
	same(t, "versions", versions(t, s, "prj_other", "mck_shop_second"), []int64{})
	_, err := s.MockVersion(t.Context(), "prj_other", "mck_shop_second", 1)
	wantCode(t, "read version", err, mockbase.CodeNotFound)
	_, err = s.TrashedMock(t.Context(), "prj_other", "mck_shop_first")
	wantCode(t, "read trash", err, mockbase.CodeNotFound)
	purge := mockbase.ChangeSet{ProjectID: "prj_other", IfRevision: 1, Purge: []string{"mck_shop_first"}}
	wantCode(t, "purge", s.Apply(t.Context(), purge), mockbase.CodeNotFound)
	same(t, "trash", trashed(t, s), []string{"first"})
}

func projectTakesHistory(t *testing.T, s store.Store) {
	t.Helper()
	mocks := make([]*mockbase.Mock, 3)
	for i := range mocks {
		mocks[i] = byHand(t, fmt.Sprint("m", i), 1)
	}
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "", mocks...)))
	set := changing(1)
	set.Delete = []string{mocks[0].ID}
	ok(t, "delete mock", s.Apply(t.Context(), set))
	ok(t, "delete project", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 2, DeleteProject: true}))
	same(t, "trash", trashed(t, s), []string{})
	same(t, "versions", versions(t, s, "prj_shop", mocks[1].ID), []int64{})
}
