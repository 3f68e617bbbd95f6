package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/catalog"
)

// fileMode is a server whose mocks come from files (rules C-22 and C-23).
type fileMode struct {
	options files.Options
	first   *files.Set
	catalog *catalog.Catalog
	log     *journalist
	watcher *files.Watcher
	// shelf hands on what was compiled for the check.
	shelf *documentShelf
	// addresses reads the documents that files name by url.
	addresses addresses
	// restore ends the early collecting of memory, which goes on until the first set is served.
	restore func()
	// before is the print of the files that the first set was read from, or older.
	before uint64

	// changing is held while a set is applied.
	changing sync.Mutex
	// fault is the first fault of the files as they are now, nil when they are right.
	fault atomic.Pointer[string]
}

// openFiles reads the files of file mode and ends the start when one is faulty.
func (s *server) openFiles(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	restore := collectEarly()
	if err := s.readFiles(paths, restore); err != nil {
		restore()
		return err
	}
	return nil
}

// readFiles reads the first set.
func (s *server) readFiles(paths []string, restore func()) error {
	m := &fileMode{restore: restore, options: files.Options{Paths: paths, Project: string(s.settings.Project), Lookup: s.lookup}, log: s.log, shelf: &s.shelf}
	watcher, err := files.NewWatcher(paths, s.log.Logger)
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	m.watcher, m.before = watcher, watcher.Print()
	s.ends = append(s.ends, watcher.Close)
	if m.first, err = files.Load(m.options); err != nil {
		return unreadablePath(err)
	}
	watcher.Also(m.first.Named)
	if err := check(m.first, s.shelf.keep); err != nil {
		return err
	}
	if len(m.first.Faults) > 0 {
		return findingFaults(m.first.Faults)
	}
	if m.first.Files == 0 {
		s.log.Warn("there is no definition file yet: write one and it is served at once", slog.String("paths", strings.Join(paths, ", ")))
	}
	s.files = m
	return nil
}

// collectEarly frees memory earlier than usual, until the returned function is called: what files are read and compiled with
// is soon garbage, and the most memory that a start takes is what containers must allow.
func collectEarly() (restore func()) {
	const percent = 30
	usual := debug.SetGCPercent(percent)
	if usual < percent {
		debug.SetGCPercent(usual)
	}
	return func() { debug.SetGCPercent(usual) }
}

// findingFaults turns findings about files into an error that lists them all.
func findingFaults(found []files.Finding) error {
	f := &faults{code: exitBadInput}
	slices.SortStableFunc(found, func(a, b files.Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for _, one := range found {
		f.lines = append(f.lines, one.String())
		f.fixes = append(f.fixes, "")
	}
	return f
}

// load publishes the first set, with the documents that only a server fetches, and begins to watch.
func (m *fileMode) load(ctx context.Context, c *catalog.Catalog, fetch management.Fetcher) error {
	defer m.restore()
	defer m.shelf.clear()
	m.catalog, m.addresses.fetch = c, fetch
	first := m.first
	m.first = nil // its text and trees are needed no more
	if !namesAddresses(first) {
		return m.apply(ctx, first)
	}
	set, err := m.read(ctx)
	if err != nil {
		return err
	}
	if len(set.Faults) > 0 {
		return findingFaults(set.Faults)
	}
	return m.apply(ctx, set)
}

// read reads the files and what they name by url, and checks it all.
func (m *fileMode) read(ctx context.Context) (*files.Set, error) {
	set, err := files.Load(m.options)
	if err != nil {
		return nil, unreadablePath(err)
	}
	m.watcher.Also(set.Named)
	if len(set.Faults) == 0 {
		m.addresses.fill(ctx, set)
	}
	return set, check(set, m.shelf.keep)
}

// apply makes the catalog what a set says. All projects were checked before, so that a set is swapped as a whole.
func (m *fileMode) apply(ctx context.Context, set *files.Set) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	for _, w := range set.Warnings {
		m.log.Warn("a definition is suspicious", slog.String("place", fmt.Sprintf("%s:%d:%d", w.Path, w.Line, w.Column)),
			slog.String("code", string(w.Code)), slog.String("reason", w.Message))
	}
	slugs := make([]string, 0, len(set.Projects))
	for _, p := range set.Projects {
		if _, err := m.catalog.LoadFiles(ctx, p.Slug, p.Definition, p.Origin); err != nil {
			return findingFaults(p.Findings(err))
		}
		slugs = append(slugs, p.Slug)
	}
	if err := m.catalog.UnloadFiles(ctx, slugs...); err != nil {
		return fmt.Errorf("remove projects that left the files: %w", err)
	}
	m.fault.Store(nil)
	return nil
}

// reload reads the files again. A faulty file changes nothing: the mocks that there are go on answering (rule C-23).
func (m *fileMode) reload(ctx context.Context) {
	defer m.shelf.clear()
	set, err := m.read(ctx)
	if set == nil {
		m.refuse([]files.Finding{{Path: strings.Join(m.options.Paths, ", "), Code: "unreadable", Message: err.Error()}})
		return
	}
	if err == nil && len(set.Faults) == 0 {
		err = m.apply(ctx, set)
	}
	switch {
	case len(set.Faults) > 0:
		m.refuse(set.Faults)
	case err != nil:
		m.refuse([]files.Finding{{Path: strings.Join(m.options.Paths, ", "), Code: "internal", Message: err.Error()}})
	default:
		mocks := 0
		for _, p := range set.Projects {
			mocks += len(p.Definition.Mocks)
		}
		m.log.Info("files were loaded again", slog.Int("files", set.Files), slog.Int("mocks", mocks))
	}
}

func (m *fileMode) refuse(found []files.Finding) {
	first := found[0].String()
	m.fault.Store(&first)
	for _, f := range found {
		m.log.complain(f.String())
	}
	m.log.Error("the files are faulty: the mocks stay as they were", slog.Int("faults", len(found)))
}
