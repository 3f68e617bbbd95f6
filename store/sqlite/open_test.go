package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// C-80: database newer than the binary: both versions, and nothing is changed.
func TestC80_a_newer_database_is_left_alone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (7001, 1)")
	before := read(t, path)
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	newer, ok := errors.AsType[*store.NewerError](err)
	if !ok {
		t.Fatalf("opened with %v, want a NewerError", err)
	}
	if diff := cmp.Diff(&store.NewerError{Path: path, Have: 7001, Known: sqlite.LatestVersion}, newer); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	for _, version := range []string{"7001", strconv.Itoa(sqlite.LatestVersion)} {
		if !strings.Contains(err.Error(), version) {
			t.Errorf("%q does not name version %s", err, version)
		}
	}
	if !bytes.Equal(before, read(t, path)) {
		t.Error("the file was changed")
	}
}

// C-80: database damaged: the result of the check.
func TestC80_a_damaged_database_is_named(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"not a database":    func([]byte) []byte { return []byte(strings.Repeat("this is no database. ", 500)) },
		"schema page lost":  func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xee}, 3000)); return b },
		"everything zeroed": func(b []byte) []byte { clear(b[16:]); return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "mockbase.db")
			db := open(t, path)
			createProject(t, db, "shop")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(read(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			damaged, ok := errors.AsType[*store.DamagedError](err)
			if !ok {
				t.Fatalf("opened with %v, want a DamagedError", err)
			}
			if damaged.Path != path || damaged.Result == "" {
				t.Errorf("error %+v names no file or no result", damaged)
			}
		})
	}
}

func TestADamagedTableIsFoundBeforeAnythingIsServed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	set := mockbase.ChangeSet{ProjectID: "prj_shop", Project: newProject("shop")}
	for n := range 200 {
		set.Put = append(set.Put, newMock(t, "shop", n))
	}
	if err := db.Apply(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := read(t, path)
	// The schema stays whole, so that opening succeeds; the pages of the rows do not.
	for page := 12 * 4096; page < len(file); page += 4096 {
		copy(file[page:], bytes.Repeat([]byte{0xee}, 4096))
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if damaged, ok := errors.AsType[*store.DamagedError](err); !ok || damaged.Result == "" {
		t.Errorf("opened with %v, want a DamagedError", err)
	}
}

// C-80: data directory not writable: a path error, from which the system's words come.
func TestC80_a_directory_that_cannot_be_made_is_a_path_error(t *testing.T) {
	t.Parallel()
	blocker := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(blocker, "data", "mockbase.db")})
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		t.Errorf("opened with %v, want a path error", err)
	}
	_, err = sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir()})
	if err == nil {
		t.Error("a directory was opened as a database")
	}
}

func TestADatabaseOfEachOlderVersionIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	for version := range int64(sqlite.LatestVersion + 1) {
		t.Run(strconv.FormatInt(version, 10), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "mockbase.db")
			if err := sqlite.MigrateTo(t.Context(), path, version); err != nil {
				t.Fatal(err)
			}
			for v := int64(1); v <= version; v++ {
				execute(t, path, string(read(t, filepath.Join("testdata", "definitions", fmt.Sprintf("%d.sql", v)))))
			}
			db := open(t, path)
			createProject(t, db, "new")
			checkMigrated(t, db, version)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			checkIntegrity(t, path)
		})
	}
}

func checkMigrated(t *testing.T, db *sqlite.DB, version int64) {
	t.Helper()
	if version >= 1 {
		u, err := db.UserByEmail(t.Context(), "Ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if u.Epoch != 3 || !u.CreatedAt.Equal(time.Unix(0, 1900000000000000001)) {
			t.Errorf("user came through as %+v", u)
		}
		checkSignIn(t, db)
	}
	if u, err := db.UserByIdentity(t.Context(), "https://idp.example.com", "42"); version >= 10 && (err != nil || u.ID != "usr_ada") {
		t.Errorf("the identity came through as %+v, %v", u, err)
	}
	notes, err := db.BanNotes(t.Context())
	if version >= 11 && (err != nil || len(notes) != 1 || notes[0].Key != "198.51.100.7" || notes[0].Repeat != 2 || !notes[0].Until.Equal(time.Unix(0, 1900000000000000006))) {
		t.Errorf("the note of a ban came through as %+v, %v", notes, err)
	}
	failed, err := db.AuditEntries(t.Context(), mockbase.AuditFilter{Outcome: mockbase.AuditFailed}, 10)
	if version >= 12 && (err != nil || len(failed) != 1 || failed[0].ID != "aud_failed") {
		t.Errorf("the failed entry came through as %+v, %v", failed, err)
	}
	if version < 2 {
		return
	}
	snapshots, err := db.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshots) != 2 || len(snapshots[1].Mocks) != 1 {
		t.Fatalf("%d projects came through, want 2", len(snapshots))
	}
	p, m := snapshots[1].Project, snapshots[1].Mocks[0]
	if note := p.DocumentNotes["pets"]; version >= 9 && (note.ID != "doc_one" || note.Version != 2 || string(note.Text) != "{}") {
		t.Errorf("the note of a document is %+v", note)
	}
	if p.Revision != 7 || p.Owners["settings"] != "ci" || string(p.Config.Source["settings"]) != `{"trailingSlash":"ignore"}` {
		t.Errorf("project came through as %+v", p)
	}
	if m.Name != "get-users" || m.Order != 4 || string(m.Document) != `{"name":"get-users","request":"GET /users","response":{"json":{"n":2.50}}}` {
		t.Errorf("mock came through as %+v", m)
	}
	if role, err := db.ProjectRole(t.Context(), "prj_shop", "usr_ada"); err != nil || role != mockbase.RoleOwner {
		t.Errorf("role came through as %q, %v", role, err)
	}
	if v, err := db.MockVersion(t.Context(), "prj_shop", "mck_one", 2); err != nil || string(v.Document) != string(m.Document) || v.Owner != "ci" {
		t.Errorf("the version of the mock came through as %+v, %v", v, err)
	}
	if trash, err := db.Trash(t.Context(), "prj_shop"); err != nil || len(trash) != min(1, max(0, int(version)-5)) {
		t.Errorf("%d deleted mocks came through, %v", len(trash), err)
	}
}

func checkSignIn(t *testing.T, db *sqlite.DB) {
	t.Helper()
	if s, err := db.SignInByRefreshHash(t.Context(), []byte{0}); err != nil || s.ID != "sgn_one" {
		t.Errorf("sign-in came through as %+v, %v", s, err)
	}
	if at, err := db.RefreshRotatedAt(t.Context(), "sgn_one", []byte{0}); err != nil || !at.Equal(time.Unix(0, 1900000000000000003)) {
		t.Errorf("the time of a rotation came through as %s, %v", at, err)
	}
}

func TestMigrationsGoDownToNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.MigrateDown(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	createProject(t, db, "shop")
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity check: %q, %v", result, err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
