package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// C-80: disk full while running: writes are refused with 503, reads go on, and it heals by itself.
func TestC80_a_full_disk_refuses_writes_and_nothing_else(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "mockbase.db"))
	createProject(t, db, "shop")
	set := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1}
	for n := range 500 {
		set.Put = append(set.Put, newMock(t, "shop", 100+n))
	}
	setPages(t, db, "1")
	wantPublic(t, db.Apply(t.Context(), set), mockbase.CodeUnavailable)
	large := &mockbase.Exchange{ID: "xch_a", ProjectID: "prj_shop", Response: mockbase.RecordedResponse{Body: make([]byte, 1<<20)}}
	wantPublic(t, db.AppendExchanges(t.Context(), []*mockbase.Exchange{large}), mockbase.CodeUnavailable)
	snapshots, err := db.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshots) != 1 || len(snapshots[0].Mocks) != 1 || snapshots[0].Project.Revision != 1 {
		t.Error("the refused write left something behind")
	}
	setPages(t, db, "1000000")
	if err := db.Apply(t.Context(), set); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}

// C-80 and M-242: a disk that took no write is told until one works again, which is tried every few seconds.
func TestC80_a_full_disk_is_told_until_a_write_works(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"files": filepath.Join(t.TempDir(), "mockbase.db"), "memory": ""} {
		now := time.Unix(1_800_000_000, 0)
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		large := func() error {
			return db.AppendExchanges(t.Context(), []*mockbase.Exchange{{ID: "xch_a", ProjectID: "prj_shop", Response: mockbase.RecordedResponse{Body: make([]byte, 1<<20)}}})
		}
		setting := func() error {
			return db.PutSetting(t.Context(), &mockbase.Setting{Name: "a", Version: 1, Document: make([]byte, 1<<20), UpdatedAt: now})
		}
		for what, write := range map[string]func() error{"definitions": setting, "traffic": large} {
			fails := func(when string, want bool) {
				t.Helper()
				_, got := errors.AsType[*store.WriteError](db.Ping(t.Context()))
				if got != want {
					t.Errorf("%s, %s, %s: told %t", name, what, when, got)
				}
			}
			fails("before", false)
			now = now.Add(time.Minute)
			fill := func() {
				setPages(t, db, "1")
				wantPublic(t, write(), mockbase.CodeUnavailable)
			}
			fill()
			fails("probed", false) // There is room for a small write.
			fill()
			fails("at once", true)
			setPages(t, db, "1000000")
			fails("not tried yet", true)
			now = now.Add(5 * time.Second)
			fails("tried", false)
			fill()
			now = now.Add(time.Second)
			fails("full again", true)
			setPages(t, db, "1000000")
			if err := write(); err != nil {
				t.Error(err)
			}
			fails("written", false)
		}
	}
}

// M-15: of many writers at the moment that the disk becomes full, those who were told so have changed nothing, all others' changes
// last, reading goes on, and writing does as soon as there is room.
func TestM15_a_disk_that_becomes_full_among_many_writers_takes_no_half_changes(t *testing.T) {
	t.Parallel()
	const writers = 16
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	want := map[string]int64{}
	for n := range writers {
		slug := fmt.Sprintf("p%d", n)
		createProject(t, db, slug)
		want["prj_"+slug] = 1
	}
	setPages(t, db, "400")
	change := func(id string, revision int64) mockbase.ChangeSet {
		m := newMock(t, strings.TrimPrefix(id, "prj_"), int(revision))
		m.Document = bytes.Replace(m.Document, []byte("Ada"), bytes.Repeat([]byte("A"), 30_000), 1)
		return mockbase.ChangeSet{ProjectID: id, IfRevision: revision, Put: []*mockbase.Mock{m}}
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for id := range maps.Clone(want) {
		group.Go(func() {
			revision := int64(1)
			for ; ; revision++ {
				if err := db.Apply(t.Context(), change(id, revision)); err != nil {
					if mockbase.ErrorCode(err) != mockbase.CodeUnavailable {
						t.Error(err)
					}
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			want[id] = revision
		})
	}
	group.Wait()
	wantRevisions(t, db, "on a full disk", want)
	setPages(t, db, "1000000")
	for id, revision := range want {
		if err := db.Apply(t.Context(), change(id, revision)); err != nil {
			t.Errorf("with room again: %v", err)
		}
		want[id]++
	}
	if err := errors.Join(db.Ping(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
	wantRevisions(t, open(t, path), "after a restart", want)
}

func TestABusyDatabaseIsSaidToBeBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db := open(t, path)
	createProject(t, db, "shop")
	if err := db.ExecDefinitions(t.Context(), "PRAGMA busy_timeout = 10"); err != nil {
		t.Fatal(err)
	}
	// Some tool of the operator's holds the write lock.
	tool, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	tx, err := tool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	change := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{newMock(t, "shop", 2)}}
	wantPublic(t, db.Apply(t.Context(), change), mockbase.CodeBusy)
	if _, err := db.Snapshots(t.Context()); err != nil {
		t.Errorf("readers wait for writers: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.Apply(t.Context(), change); err != nil {
		t.Errorf("after the lock was freed: %v", err)
	}
}

func TestAProjectIsDeletedEvenIfItsTrafficCannotBe(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db, err := sqlite.Open(t.Context(), sqlite.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: noon})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	createProject(t, db, "shop")
	if err := db.ExecTraffic(t.Context(), "DROP TABLE exchanges"); err != nil {
		t.Fatal(err)
	}
	if err := db.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, DeleteProject: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "traffic of a deleted project was not deleted") {
		t.Errorf("the log says %q", log.String())
	}
}

// setPages bounds the size of both files, as a full disk does.
func setPages(t *testing.T, db *sqlite.DB, pages string) {
	t.Helper()
	err := errors.Join(db.ExecDefinitions(t.Context(), "PRAGMA max_page_count = "+pages), db.ExecTraffic(t.Context(), "PRAGMA max_page_count = "+pages))
	if err != nil {
		t.Fatal(err)
	}
}

func TestM5_errors_are_public_ones_without_SQL(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "mockbase.db"))
	createProject(t, db, "shop")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := db.Snapshots(cancelled)
	wantPublic(t, err, mockbase.CodeUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v hides that the caller left", err)
	}
	wantPublic(t, db.Apply(cancelled, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1}), mockbase.CodeUnavailable)

	stray := newMock(t, "shop", 1)
	stray.ProjectID, stray.Name = "prj_zoo", "stray"
	createProject(t, db, "zoo")
	wantPublic(t, db.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_zoo", IfRevision: 1, Put: []*mockbase.Mock{stray}}), mockbase.CodeInternal)
	wantPublic(t, db.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_none"}), mockbase.CodeInternal)

	if err := db.ExecDefinitions(t.Context(), "DROP TABLE rotations; DROP TABLE sign_ins; DROP TABLE project_members; DROP TABLE users; DROP TABLE mocks; DROP TABLE audit_failures"); err != nil {
		t.Fatal(err)
	}
	if err := db.ExecTraffic(t.Context(), "DROP TABLE exchanges"); err != nil {
		t.Fatal(err)
	}
	for name, call := range everyRead(t, db) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPublic(t, call(), mockbase.CodeInternal)
		})
	}
}

// everyRead is a call of each method that reads or writes without a project.
func everyRead(t *testing.T, db *sqlite.DB) map[string]func() error {
	t.Helper()
	ctx := t.Context()
	return map[string]func() error{
		"Snapshots":            func() error { _, err := db.Snapshots(ctx); return err },
		"CreateFirstAdmin":     func() error { return db.CreateFirstAdmin(ctx, &mockbase.User{ID: "a"}) },
		"CreateUser":           func() error { return db.CreateUser(ctx, &mockbase.User{ID: "a"}) },
		"UpdateUser":           func() error { return db.UpdateUser(ctx, &mockbase.User{ID: "a"}) },
		"UserCount":            func() error { _, err := db.UserCount(ctx); return err },
		"UserByEmail":          func() error { _, err := db.UserByEmail(ctx, "a"); return err },
		"UserByID":             func() error { _, err := db.UserByID(ctx, "a"); return err },
		"ProjectRole":          func() error { _, err := db.ProjectRole(ctx, "a", "b"); return err },
		"Memberships":          func() error { _, err := db.Memberships(ctx, "a"); return err },
		"CreateSignIn":         func() error { return db.CreateSignIn(ctx, &mockbase.SignIn{ID: "a"}) },
		"SignIn":               func() error { _, err := db.SignIn(ctx, "a"); return err },
		"FailAudit":            func() error { return db.FailAudit(ctx, "a") },
		"SignedIn":             func() error { _, _, err := db.SignedIn(ctx, "a"); return err },
		"SignInByRefreshHash":  func() error { _, err := db.SignInByRefreshHash(ctx, []byte("a")); return err },
		"RefreshRotatedAt":     func() error { _, err := db.RefreshRotatedAt(ctx, "a", []byte("a")); return err },
		"RotateSignIn":         func() error { _, err := db.RotateSignIn(ctx, "a", nil, nil, noon()); return err },
		"RevokeSignIn":         func() error { return db.RevokeSignIn(ctx, "a", noon()) },
		"DeleteExpiredSignIns": func() error { _, err := db.DeleteExpiredSignIns(ctx, noon()); return err },
		"AppendExchanges":      func() error { return db.AppendExchanges(ctx, []*mockbase.Exchange{{ID: "a"}}) },
		"RecentExchanges":      func() error { _, err := db.RecentExchanges(ctx, "a", 1); return err },
		"DeleteExchanges":      func() error { return db.DeleteExchanges(ctx, "a") },
		"TrimExchanges":        func() error { _, err := db.TrimExchanges(ctx, store.Retention{Count: 1}); return err },
	}
}

func wantPublic(t *testing.T, err error, code mockbase.Code) {
	t.Helper()
	e, ok := err.(*mockbase.Error) //nolint:errorlint // the border hands out the error itself
	if !ok {
		t.Fatalf("%v (%T) is no public error", err, err)
	}
	if e.Code != code {
		t.Errorf("code %q (%v), want %q", e.Code, errors.Unwrap(e), code)
	}
	if found := regexp.MustCompile(`(?i)sql|table|constraint|column|insert|select|delete from|\bdisk image\b`).FindString(e.Message + e.Hint); found != "" {
		t.Errorf("message %q says %q", e.Message, found)
	}
}

func TestADocumentThatCannotBeReadBackIsInternalAndNamesTheMock(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"mock mck_shop_1":                   `UPDATE mocks SET document = '{"name":"m1","requst":"GET /a"}'`,
		"the configuration of project shop": `UPDATE projects SET config = '{'`,
		"the documents of project shop":     `UPDATE projects SET documents = '['`,
		"the owners of project shop":        `UPDATE projects SET owners = '['`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, "")
			createProject(t, db, "shop")
			if err := db.ExecDefinitions(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			_, err := db.Snapshots(t.Context())
			wantPublic(t, err, mockbase.CodeInternal)
			if e, ok := errors.AsType[*mockbase.Error](err); !ok || e.Message != name+" can't be read from the database" {
				t.Errorf("message %q, want %q", err, name)
			}
		})
	}
	db := open(t, "")
	if err := db.AppendExchanges(t.Context(), []*mockbase.Exchange{{ID: "xch_a", ProjectID: "prj_a"}}); err != nil {
		t.Fatal(err)
	}
	if err := db.ExecTraffic(t.Context(), "UPDATE exchanges SET exchange = X'00'"); err != nil {
		t.Fatal(err)
	}
	_, err := db.RecentExchanges(t.Context(), "prj_a", 1)
	wantPublic(t, err, mockbase.CodeInternal)
}
