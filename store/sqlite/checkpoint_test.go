package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store/sqlite"
)

// bigProject is a change that writes somewhat more than so many pages.
func bigProject(slug string, pages int) mockbase.ChangeSet {
	p := newProject(slug)
	p.Description = strings.Repeat("0123456789abcdef", pages<<8)
	return mockbase.ChangeSet{ProjectID: p.ID, Project: p}
}

// M-15: a log that became long is moved while nobody closes the database.
func TestM15_a_long_log_is_moved_to_the_database(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	if err := db.Apply(t.Context(), bigProject("big", 2048)); err != nil {
		t.Fatal(err)
	}
	const size = 8 << 20
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() >= size {
			return
		}
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatalf("the database has %d bytes", info.Size())
		}
	}
}

// M-15: as long as somebody writes, a log of some length is moved between two transactions, so that the next one begins it anew.
// The changes that were under way are made.
func TestM15_a_log_begins_anew_while_changes_are_made(t *testing.T) {
	t.Parallel()
	const pages = 700 // not so many that the database itself moves them
	db := shopAndZoo(t)
	if err := db.Apply(t.Context(), bigProject("big", pages)); err != nil {
		t.Fatal(err)
	}
	lasts := soon(t, db, "prj_shop", 1)
	found, err := db.Checkpoint(t.Context(), 1_000_000)
	if err != nil || found < pages {
		t.Fatalf("there are %d pages in the log, %v", found, err)
	}
	wantRevisions(t, db, "while the change is open", map[string]int64{"prj_big": 1, "prj_shop": 1, "prj_zoo": 1})
	if found, err = db.Checkpoint(t.Context(), pages); err != nil || found < pages {
		t.Fatalf("there are %d pages in the log, %v", found, err)
	}
	wantRevisions(t, db, "when the log was moved", map[string]int64{"prj_big": 1, "prj_shop": 2, "prj_zoo": 1})
	if err := lasts(); err != nil {
		t.Fatal(err)
	}
	if err := soon(t, db, "prj_shop", 2)(); err != nil {
		t.Fatal(err)
	}
	if found, err = db.Checkpoint(t.Context(), pages); err != nil || found > 100 {
		t.Errorf("there are %d pages in the log, %v", found, err)
	}
}

// A database in memory has no log to move.
func TestADatabaseInMemoryHasNoLog(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Apply(t.Context(), bigProject("big", 1024)); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
