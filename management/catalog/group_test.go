package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store/sqlite"
)

var errLost = errors.New("the disk is gone")

// wavering is a store whose changes of a moment are all made when the first of them is waited for, or all lost.
type wavering struct {
	*sqlite.DB

	mu   sync.Mutex
	open *moment
	// lose tells for each moment whether it is lost; nil is never.
	lose func() bool
	// revision is that of the project with the changes that are open, 0 when none is.
	revision int64
}

type moment struct {
	sets  []mockbase.ChangeSet
	ended bool
	err   error
}

func (w *wavering) ApplySoon(ctx context.Context, set mockbase.ChangeSet) (func() error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		all, err := w.Snapshots(ctx)
		if err != nil {
			return nil, err
		}
		w.open, w.revision = &moment{}, all[0].Project.Revision
	}
	if set.IfRevision != w.revision {
		return nil, mockbase.Errorf(mockbase.CodeVersionMismatch, "the project is at revision %d, not %d", w.revision, set.IfRevision)
	}
	m := w.open
	m.sets, w.revision = append(m.sets, set), w.revision+1
	return func() error { return w.end(m) }, nil
}

func (w *wavering) end(m *moment) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.ended {
		return m.err
	}
	m.ended, w.open = true, nil
	if w.lose != nil && w.lose() {
		m.err = errLost
		return m.err
	}
	for _, set := range m.sets {
		m.err = errors.Join(m.err, w.Apply(context.Background(), set))
	}
	return m.err
}

// waver is a catalog with one project over a store that loses what the tests want.
func waver(t *testing.T) (*catalog.Catalog, *wavering) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "mockbase.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	store := &wavering{DB: db}
	c := catalog.New(catalog.Options{Store: store, Plane: &plane{}})
	if _, err := c.CreateProject(t.Context(), &mockbase.Project{Slug: "shop"}, ""); err != nil {
		t.Fatal(err)
	}
	return c, store
}

func createNamed(t *testing.T, c *catalog.Catalog, name string) error {
	t.Helper()
	_, err := c.CreateMock(t.Context(), "shop", decodeMock(t, fmt.Sprintf("name: %s\nrequest: GET /a\nresponse: { json: { a: 1 } }", name)), "")
	return err
}

// wantMocks compares the mocks that readers see, and those that are stored, in any order.
func wantMocks(t *testing.T, c *catalog.Catalog, store *wavering, want ...string) {
	t.Helper()
	seen, _ := c.Project("shop")
	stored, err := store.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	for where, s := range map[string]*mockbase.Snapshot{"seen": seen, "stored": stored[0]} {
		names := []string{}
		for _, m := range s.Mocks {
			names = append(names, m.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
	}
}

// M-15: a change that the store lost was not made: the next one builds on what is stored.
func TestM15_what_the_store_lost_was_not_made(t *testing.T) {
	t.Parallel()
	c, store := waver(t)
	if err := createNamed(t, c, "a"); err != nil {
		t.Fatal(err)
	}
	store.lose = func() bool { return true }
	for range 2 {
		if err := createNamed(t, c, "b"); !errors.Is(err, errLost) {
			t.Errorf("the lost change ended with %v", err)
		}
		wantMocks(t, c, store, "a")
	}
	store.lose = nil
	for _, name := range []string{"c", "b"} {
		if err := createNamed(t, c, name); err != nil {
			t.Error(err)
		}
	}
	wantMocks(t, c, store, "a", "b", "c")
}

// M-15: a change that came between the loss and the news of it is refused as one that may be repeated.
func TestM15_a_change_upon_a_lost_one_may_be_repeated(t *testing.T) {
	t.Parallel()
	c, store := waver(t)
	project, _ := c.Project("shop")
	// Another revision than the catalog's, as after a loss that it has not heard of.
	set := mockbase.ChangeSet{ProjectID: project.Project.ID, IfRevision: project.Project.Revision}
	if err := store.Apply(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := createNamed(t, c, "a"); mockbase.ErrorCode(err) != mockbase.CodeUnavailable {
		t.Errorf("the change ended with %v", err)
	}
	if err := createNamed(t, c, "a"); err != nil {
		t.Error(err)
	}
	wantMocks(t, c, store, "a")
}

// M-15: with many writers and a store that loses some moments, each writer is told the truth.
func TestM15_each_writer_is_told_whether_its_change_was_made(t *testing.T) {
	t.Parallel()
	c, store := waver(t)
	moments := 0
	store.lose = func() bool { moments++; return moments%3 == 0 }
	var group sync.WaitGroup
	var mu sync.Mutex
	made := []string{}
	for w := range 8 {
		group.Go(func() {
			for n := range 12 {
				name := fmt.Sprintf("m%d-%d", w, n)
				if createNamed(t, c, name) != nil {
					continue
				}
				if s, _ := c.Project("shop"); !slices.ContainsFunc(s.Mocks, func(m *mockbase.Mock) bool { return m.Name == name }) {
					t.Errorf("%s was answered and is not served", name)
				}
				mu.Lock()
				made = append(made, name)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	store.mu.Lock()
	store.lose = nil
	store.mu.Unlock()
	if err := createNamed(t, c, "last"); err != nil {
		// The last of the others may have been lost without anybody having come after it.
		if err := createNamed(t, c, "last"); err != nil {
			t.Error(err)
		}
	}
	wantMocks(t, c, store, append(made, "last")...)
	if len(made) == 0 || moments < 3 {
		t.Errorf("%d mocks in %d moments", len(made), moments)
	}
}

// M-15: whoever finds everything as it should be waits for the one who made it so.
func TestM15_a_change_of_nothing_waits_for_what_it_saw(t *testing.T) {
	t.Parallel()
	c, store := waver(t)
	text := "name: a\nrequest: GET /a\nresponse: { json: { a: 2 } }"
	if err := createNamed(t, c, "a"); err != nil {
		t.Fatal(err)
	}
	reached, goOn := make(chan struct{}), make(chan struct{})
	store.lose = func() bool { close(reached); <-goOn; store.lose = nil; return true }
	put := func() error {
		_, err := c.ReplaceMock(t.Context(), "shop", "a", decodeMock(t, text), catalog.WriteOptions{})
		return err
	}
	var group sync.WaitGroup
	answers := make([]error, 2)
	group.Go(func() { answers[0] = put() })
	<-reached
	group.Go(func() { answers[1] = put() })
	close(goOn)
	group.Wait()
	s, _ := c.Project("shop")
	if !errors.Is(answers[0], errLost) {
		t.Errorf("the lost change ended with %v", answers[0])
	}
	if served := s.Mocks[0].Version == 2; served != (answers[1] == nil) {
		t.Errorf("the second was answered with %v, and version %d is served", answers[1], s.Mocks[0].Version)
	}
}
