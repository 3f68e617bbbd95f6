package sqlite_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
)

// A change that is told of before it is on disk can be read at once, and waits for the disk together with others.
func TestChangesWaitForTheDiskTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	createProject(t, db, "shop")
	var group sync.WaitGroup
	for i := range int64(8) {
		lasts, err := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			if err := lasts(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	snapshots, err := db.Snapshots(t.Context())
	if err != nil || len(snapshots) != 1 || snapshots[0].Project.Revision != 9 {
		t.Errorf("%d projects, %v", len(snapshots), err)
	}
}

func TestAFlushThatFailsIsToldToTheOneWhoWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	createProject(t, db, "shop")
	lasts, err := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1})
	if err != nil {
		t.Fatal(err)
	}
	// A folder in the place of the log can't be flushed.
	log := path + "-wal"
	if err := os.Rename(log, log+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := lasts(); err == nil {
		t.Error("nothing was flushed and nobody was told")
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	// A log that is gone was moved into the database.
	if err := lasts(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(log+".away", log); err != nil {
		t.Fatal(err)
	}
}
