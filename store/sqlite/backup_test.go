package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// M-233: a copy is consistent while writers go on, is its owner's alone, passes the check, and opens with whole projects.
func TestM233_a_copy_taken_under_writes_is_whole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "mockbase.db"))
	createProject(t, db, "first")
	var (
		writers sync.WaitGroup
		stop    atomic.Bool
	)
	for i := range 4 {
		writers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				if err := db.CreateUser(t.Context(), &mockbase.User{ID: fmt.Sprintf("usr_%d_%d", i, n), Email: fmt.Sprintf("%d.%d@example.com", i, n), Role: mockbase.InstanceMember}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var copies []string
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("copy-%d.db", i))
		if err := db.Copy(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, path)
	}
	stop.Store(true)
	writers.Wait()
	for _, path := range copies {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if findings, err := sqlite.Check(t.Context(), path); err != nil || len(findings) > 0 {
			t.Errorf("check %s: %q, %v", path, findings, err)
		}
		restored := open(t, path)
		found, err := restored.Snapshots(t.Context())
		if err != nil || len(found) != 1 || found[0].Project.Slug != "first" {
			t.Errorf("%s holds %v, %v", path, found, err)
		}
		if err := restored.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestM233_a_database_in_memory_is_copied_too(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	createProject(t, db, "shop")
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Copy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if found, err := open(t, path).Snapshots(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestM233_a_copy_overwrites_nothing_and_leaves_nothing_half_done(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "mockbase.db"))
	taken := filepath.Join(dir, "taken")
	write(t, taken, "precious")
	if err := db.Copy(t.Context(), taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("copied over a file: %v", err)
	}
	if got := read(t, taken); string(got) != "precious" {
		t.Errorf("the file holds %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(dir, "mockbase.db"), "DROP TABLE goose_db_version; CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (parent REFERENCES parents (id)); INSERT INTO children VALUES (7)")
	findings, err := sqlite.Check(t.Context(), filepath.Join(dir, "mockbase.db"))
	if err != nil || len(findings) != 1 || !strings.Contains(findings[0], "a row of children refers to a missing row of parents") {
		t.Errorf("findings %q, %v", findings, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// C-40: restore is offline only and keeps the old file.
func TestC40_a_copy_is_restored_and_the_old_database_kept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, from, kept := filepath.Join(dir, "mockbase.db"), filepath.Join(dir, "copy.db"), filepath.Join(dir, "old.db")
	db := open(t, path)
	createProject(t, db, "before")
	if err := db.Copy(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	createProject(t, db, "after")
	err := sqlite.Restore(t.Context(), path, from, kept)
	if _, locked := errors.AsType[*store.LockedError](err); !locked {
		t.Fatalf("restored under a running process: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), path, from, kept); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{path: 1, kept: 2} {
		found, err := open(t, file).Snapshots(t.Context())
		if err != nil || len(found) != want {
			t.Errorf("%s holds %d projects, want %d: %v", file, len(found), want, err)
		}
	}
	if _, err := os.Stat(path + ".restoring"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was left behind: %v", err)
	}
}

func TestC40_a_restore_needs_no_database_to_replace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, "")
	createProject(t, db, "shop")
	from, path := filepath.Join(dir, "copy.db"), filepath.Join(dir, "new", "mockbase.db")
	if err := db.Copy(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), path, from, path+".old"); err != nil {
		t.Fatal(err)
	}
	if found, err := open(t, path).Snapshots(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

// A damaged database is what restoring is for: it goes aside with its journal, and the copy is not touched by it.
func TestC80_a_damaged_database_is_replaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, from, kept := filepath.Join(dir, "mockbase.db"), filepath.Join(dir, "copy.db"), filepath.Join(dir, "old.db")
	db := open(t, path)
	createProject(t, db, "shop")
	if err := db.Copy(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Repeat("this is no database. ", 500))
	write(t, path+"-wal", "nor is this a journal")
	if findings, err := sqlite.Check(t.Context(), path); err != nil || len(findings) != 1 {
		t.Errorf("findings %q, %v", findings, err)
	}
	if err := sqlite.Restore(t.Context(), path, from, kept); err != nil {
		t.Fatal(err)
	}
	if found, err := open(t, path).Snapshots(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	if got := read(t, kept); !bytes.HasPrefix(got, []byte("this is no database.")) {
		t.Error("the damaged file was not kept")
	}
}

func TestC40_what_is_no_copy_of_ours_is_not_restored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, foreign, newer, text := filepath.Join(dir, "mockbase.db"), filepath.Join(dir, "foreign.db"), filepath.Join(dir, "newer.db"), filepath.Join(dir, "text.db")
	for _, made := range []string{path, newer} {
		if err := open(t, made).Close(); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (7001, 1)")
	write(t, foreign, "")
	execute(t, foreign, "CREATE TABLE t (x)")
	write(t, text, strings.Repeat("text ", 1000))
	before := read(t, path)
	for from, expected := range map[string]func(error) bool{
		text: isDamaged, foreign: isDamaged, newer: isNewer, filepath.Join(dir, "none.db"): func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
	} {
		if err := sqlite.Restore(t.Context(), path, from, path+".old"); !expected(err) {
			t.Errorf("restored %s with %v", from, err)
		}
		if !bytes.Equal(before, read(t, path)) {
			t.Errorf("%s changed the database", from)
		}
	}
}

func isNewer(err error) bool {
	_, newer := errors.AsType[*store.NewerError](err)
	return newer
}

func isDamaged(err error) bool {
	_, damaged := errors.AsType[*store.DamagedError](err)
	return damaged
}

func TestC40_vacuum_gives_room_back(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "CREATE TABLE ballast (x); INSERT INTO ballast SELECT zeroblob(1000000) FROM (VALUES (1), (2), (3)); DROP TABLE ballast")
	before := len(read(t, path))
	db := open(t, path)
	if err := db.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := len(read(t, path)); after > before-2_000_000 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
}
