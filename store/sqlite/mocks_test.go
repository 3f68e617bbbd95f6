package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// noon is when everything in these tests happens.
func noon() time.Time {
	return time.Date(2031, time.May, 7, 12, 0, 0, 0, time.UTC)
}

func newMock(tb testing.TB, project string, n int) *mockbase.Mock {
	tb.Helper()
	text := fmt.Sprintf(`{"name":"m%d","request":{"method":"GET","path":"/users/%d/{id}","headers":{"X-Key":"k%d"}},`+
		`"response":{"status":200,"headers":{"Content-Type":"application/json"},"json":{"id":%d,"name":"Ada","tags":["a","b"]}}}`, n, n, n, n)
	m, err := mockbase.DecodeMock([]byte(text), mockbase.FormatJSON)
	if err != nil {
		tb.Fatal(err)
	}
	m.ID, m.ProjectID, m.Version, m.Order = fmt.Sprintf("mck_%s_%d", project, n), "prj_"+project, 1, int64(n)
	m.CreatedAt, m.UpdatedAt = noon(), noon()
	return m
}

func newProject(slug string) *mockbase.Project {
	return &mockbase.Project{
		ID: "prj_" + slug, Slug: slug, Name: slug, Access: mockbase.AccessPublic, Version: 1, Revision: 1, CreatedAt: noon(), UpdatedAt: noon(),
	}
}

// createProject makes a project with one mock.
func createProject(tb testing.TB, s store.Definitions, slug string) {
	tb.Helper()
	set := mockbase.ChangeSet{ProjectID: "prj_" + slug, Project: newProject(slug), Put: []*mockbase.Mock{newMock(tb, slug, 1)}}
	if err := s.Apply(tb.Context(), set); err != nil {
		tb.Fatal(err)
	}
}
