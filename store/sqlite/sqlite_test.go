package sqlite_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
	"github.com/mockbase/mockbase/store/storetest"
)

// The flags make this test binary the other process of a test.
var (
	childHolds  = flag.String("child.hold", "", "open this database and hold it until standard input ends")
	childWrites = flag.String("child.write", "", "write mocks to this database until killed")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *childHolds != "":
		holdDatabase(*childHolds)
	case *childWrites != "":
		writeUntilKilled(*childWrites)
	default:
		m.Run()
	}
}

// The contract holds M-10, M-15, M-34, M-38, M-39, M-50, M-76, A8, Y2, Y4 and Y8; its subtests name them.
func TestContract_M15_file(t *testing.T) {
	t.Parallel()
	var paths sync.Map
	storetest.Run(t, storetest.Options{
		Open: func(t *testing.T) store.Store {
			t.Helper()
			path := filepath.Join(t.TempDir(), "data", "mockbase.db")
			db := open(t, path)
			paths.Store(db, path)
			return db
		},
		Reopen: func(t *testing.T, s store.Store) store.Store {
			t.Helper()
			path, _ := paths.Load(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, path.(string))
		},
	})
}

func TestContract_M15_memory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Options{Open: func(t *testing.T) store.Store {
		t.Helper()
		return open(t, "")
	}})
}

func open(tb testing.TB, path string) *sqlite.DB {
	tb.Helper()
	db, err := sqlite.Open(tb.Context(), sqlite.Options{Path: path})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return db
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // Windows has no such rights
	}
	dir := filepath.Join(t.TempDir(), "made", "mockbase-data")
	db := open(t, filepath.Join(dir, "mockbase.db"))
	createProject(t, db, "shop")
	got := map[string]os.FileMode{}
	for _, path := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = info.Mode().Perm()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = info.Mode().Perm()
	}
	want := map[string]os.FileMode{
		"made": 0o700, "mockbase-data": 0o700, "mockbase.db": 0o600, "mockbase.db-wal": 0o600, "mockbase.db-shm": 0o600,
		"mockbase-traffic.db": 0o600, "mockbase-traffic.db-wal": 0o600, "mockbase-traffic.db-shm": 0o600, "mockbase.db.lock": 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}

func TestADatabaseInMemoryTouchesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	db := open(t, "")
	createProject(t, db, "shop")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 0 {
		t.Errorf("files appeared: %v", entries)
	}
	other := open(t, "")
	snapshots, err := other.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshots) != 0 {
		t.Error("two databases in memory share their content")
	}
}

func TestAPathMayHoldAnyCharacter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a b%41?c#d&e;ü", "my?base.db")
	db := open(t, path)
	createProject(t, db, "shop")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"my?base-traffic.db", "my?base.db", "my?base.db.lock"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	snapshots, err := open(t, path).Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshots) != 1 {
		t.Errorf("%d projects after a restart, want 1", len(snapshots))
	}
}

func TestARelativePathIsFound(t *testing.T) {
	t.Chdir(t.TempDir())
	createProject(t, open(t, "mockbase-data/mockbase.db"), "shop")
	if _, err := os.Stat("mockbase-data/mockbase.db"); err != nil {
		t.Error(err)
	}
}

// Loss of power can't be tried here; what SQLite promises about it hangs on these settings, and on the flush behind each
// write of a definition.
func TestCommitsAreInOrderInTheLogAndReadersNeverWrite(t *testing.T) {
	t.Parallel()
	got, err := open(t, filepath.Join(t.TempDir(), "mockbase.db")).Pragmas(t.Context(),
		"journal_mode", "synchronous", "foreign_keys", "query_only", "temp_store", "busy_timeout")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for pool, values := range map[string][2]string{
		"definitions write": {"1", "0"}, "definitions read": {"2", "1"}, "traffic write": {"1", "0"}, "traffic read": {"2", "1"},
	} {
		want[pool+" journal_mode"], want[pool+" foreign_keys"] = "wal", "1"
		want[pool+" temp_store"], want[pool+" busy_timeout"] = "2", "5000"
		want[pool+" synchronous"], want[pool+" query_only"] = values[0], values[1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}
