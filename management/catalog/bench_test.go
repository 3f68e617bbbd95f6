package catalog_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store/sqlite"
)

// onDisk is a catalog over a database file, with a plane that does nothing.
func onDisk(b *testing.B) *catalog.Catalog {
	b.Helper()
	db, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "mockbase.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return catalog.New(catalog.Options{Store: db, Plane: idle{}, Quotas: catalog.Quotas{MaxProjects: 1 << 30, MaxMocksPerProject: 1 << 30}})
}

// idle is a plane that serves nothing.
type idle struct{}

func (idle) CheckConfig(*mockbase.Config) []mockbase.FieldError                { return nil }
func (idle) CheckMock(*mockbase.Config, *mockbase.Mock) []mockbase.FieldError  { return nil }
func (idle) Warnings(*mockbase.Snapshot, *mockbase.Mock) []mockbase.FieldError { return nil }
func (idle) Publish(*mockbase.Snapshot) error                                  { return nil }
func (idle) Withdraw(string)                                                   {}

// BenchmarkCreateMock is one mock for each call, from 16 callers, in one project or in one each.
func BenchmarkCreateMock(b *testing.B) {
	for _, projects := range []int{1, 16} {
		b.Run(fmt.Sprintf("projects=%d", projects), func(b *testing.B) {
			c := onDisk(b)
			for n := range projects {
				if _, err := c.CreateProject(b.Context(), &mockbase.Project{Slug: fmt.Sprintf("p%d", n)}, ""); err != nil {
					b.Fatal(err)
				}
			}
			var callers, mocks atomic.Int64
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				project := fmt.Sprintf("p%d", callers.Add(1)%int64(projects))
				for pb.Next() {
					m := decodeMock(b, fmt.Sprintf("name: m%d\nrequest: GET /a\nresponse: { json: { a: 1 } }", mocks.Add(1)))
					if _, err := c.CreateMock(b.Context(), project, m, ""); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkApply applies a definition of a thousand mocks: to an empty project, again, and with every mock changed.
func BenchmarkApply(b *testing.B) {
	one, two := definitionOf(b, 1000, 200), definitionOf(b, 1000, 201)
	b.Run("new", func(b *testing.B) {
		c := onDisk(b)
		for n := 0; b.Loop(); n++ {
			create := &mockbase.Project{Slug: "p" + strconv.Itoa(n)}
			if _, err := c.Apply(b.Context(), create.Slug, one, catalog.ApplyOptions{Create: create}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, pair := range map[string][2]*mockbase.Definition{"unchanged": {one, one}, "changed": {one, two}} {
		b.Run(name, func(b *testing.B) {
			c := onDisk(b)
			if _, err := c.CreateProject(b.Context(), &mockbase.Project{Slug: "shop"}, ""); err != nil {
				b.Fatal(err)
			}
			for n := 0; b.Loop(); n++ {
				if _, err := c.Apply(b.Context(), "shop", pair[n%2], catalog.ApplyOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func definitionOf(b *testing.B, size, status int) *mockbase.Definition {
	b.Helper()
	var text strings.Builder
	text.WriteString("mocks:\n")
	for n := range size {
		fmt.Fprintf(&text, "- { name: m%d, request: GET /users/%d, response: { status: %d, json: { id: %d, name: Ada } } }\n", n, n, status, n)
	}
	d, err := mockbase.DecodeDefinition([]byte(text.String()), mockbase.FormatYAML)
	if err != nil {
		b.Fatal(err)
	}
	return d
}
