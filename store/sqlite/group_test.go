package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store/sqlite"
)

// strayMember is a row that no commit takes: its project is missing, which is checked at the end.
var strayMember = []string{
	"PRAGMA defer_foreign_keys = 1",
	"INSERT INTO project_members (project_id, user_id, role, added_at) VALUES ('prj_none', 'usr_none', 'owner', 0)",
}

// revisions are those of all projects that readers see, by id.
func revisions(t *testing.T, db *sqlite.DB) map[string]int64 {
	t.Helper()
	snapshots, err := db.Snapshots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, s := range snapshots {
		all[s.Project.ID] = s.Project.Revision
	}
	return all
}

func wantRevisions(t *testing.T, db *sqlite.DB, when string, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, revisions(t, db)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func soon(t *testing.T, db *sqlite.DB, projectID string, revision int64) func() error {
	t.Helper()
	lasts, err := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: projectID, IfRevision: revision})
	if err != nil {
		t.Fatal(err)
	}
	return lasts
}

// shopAndZoo is a database file with two projects at revision 1.
func shopAndZoo(t *testing.T) *sqlite.DB {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "mockbase.db"))
	createProject(t, db, "shop")
	createProject(t, db, "zoo")
	return db
}

// M-15: changes of one transaction are seen together, and not before it ends.
func TestM15_changes_of_a_moment_end_together(t *testing.T) {
	t.Parallel()
	db := shopAndZoo(t)
	first := soon(t, db, "prj_shop", 1)
	second := soon(t, db, "prj_shop", 2)
	other := soon(t, db, "prj_zoo", 1)
	wantRevisions(t, db, "before the end", map[string]int64{"prj_shop": 1, "prj_zoo": 1})
	if err := first(); err != nil {
		t.Fatal(err)
	}
	wantRevisions(t, db, "after the end", map[string]int64{"prj_shop": 3, "prj_zoo": 2})
	next := soon(t, db, "prj_shop", 3)
	if err := errors.Join(second(), other()); err != nil {
		t.Fatal(err)
	}
	wantRevisions(t, db, "while the next is open", map[string]int64{"prj_shop": 3, "prj_zoo": 2})
	if err := next(); err != nil {
		t.Fatal(err)
	}
	wantRevisions(t, db, "after the next", map[string]int64{"prj_shop": 4, "prj_zoo": 2})
}

// M-15: a change that fails is undone alone, wherever in the transaction it comes.
func TestM15_a_change_that_fails_harms_no_other(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for place := range 3 {
		t.Run(fmt.Sprintf("place %d", place), func(t *testing.T) {
			t.Parallel()
			db := shopAndZoo(t)
			var all []func() error
			for n := range 3 {
				if n != place {
					all = append(all, soon(t, db, "prj_zoo", int64(len(all)+1)))
					continue
				}
				if _, err := db.ChangeSoon(t.Context(), refused, "UPDATE projects SET revision = 99"); !errors.Is(err, refused) {
					t.Errorf("the change ended with %v", err)
				}
				_, err := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 7})
				wantPublic(t, err, mockbase.CodeVersionMismatch)
			}
			for _, lasts := range all {
				if err := lasts(); err != nil {
					t.Error(err)
				}
			}
			wantRevisions(t, db, "at the end", map[string]int64{"prj_shop": 1, "prj_zoo": 3})
		})
	}
}

// drafts are what a request has written along with its change.
func drafts(ctx context.Context, key string) (context.Context, *mockbase.AuditDraft, *mockbase.ReplayDraft) {
	audit := mockbase.NewAuditDraft(mockbase.AuditEntry{ID: "aud_" + key, At: noon(), Action: "mock.create"})
	audit.Note(func(*mockbase.AuditEntry) {})
	replay := mockbase.NewReplayDraft(mockbase.Replay{Caller: "usr_a", Method: "POST", Path: "/a", Key: key, Digest: []byte("sum")})
	replay.Answer(func(r *mockbase.Replay) {
		r.Status, r.At, r.MediaType, r.Body = 201, noon(), "application/json", []byte("{}")
	})
	return mockbase.WithReplay(mockbase.WithAudit(ctx, audit), replay), audit, replay
}

// M-12, M-20: what is written along with a change is told to be written when the change is, and never before.
func TestM12_drafts_are_written_when_the_transaction_ends(t *testing.T) {
	t.Parallel()
	db := shopAndZoo(t)
	ctx, audit, replay := drafts(t.Context(), "one")
	lasts, err := db.ApplySoon(ctx, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1})
	if err != nil {
		t.Fatal(err)
	}
	if replay.IsWritten() || audit.Pending() == nil {
		t.Error("the drafts are said to be written before the end")
	}
	if err := lasts(); err != nil {
		t.Fatal(err)
	}
	if !replay.IsWritten() || audit.Pending() != nil {
		t.Error("the drafts are not said to be written")
	}
	if _, err := db.Replay(t.Context(), &mockbase.Replay{Caller: "usr_a", Method: "POST", Path: "/a", Key: "one"}, time.Time{}); err != nil {
		t.Error(err)
	}
}

// C-80: an error of the end reaches all who are in the transaction, and the next one begins afresh.
func TestC80_a_commit_that_fails_is_told_to_all(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*testing.T, *sqlite.DB){
		"the commit is refused": func(t *testing.T, db *sqlite.DB) {
			t.Helper()
			if _, err := db.ChangeSoon(t.Context(), nil, strayMember...); err != nil {
				t.Fatal(err)
			}
		},
		"SQLite undid the whole": func(t *testing.T, db *sqlite.DB) {
			t.Helper()
			if _, err := db.ChangeSoon(t.Context(), errors.New("out of memory"), "ROLLBACK"); err == nil {
				t.Error("the change was made")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := shopAndZoo(t)
			ctx, audit, replay := drafts(t.Context(), "one")
			first, err := db.ApplySoon(ctx, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1})
			if err != nil {
				t.Fatal(err)
			}
			other := soon(t, db, "prj_zoo", 1)
			spoil(t, db)
			for _, lasts := range []func() error{other, first, other} {
				if err := lasts(); err == nil {
					t.Error("a change that was not made is said to last")
				}
			}
			if replay.IsWritten() || audit.Pending() == nil {
				t.Error("the drafts of a change that was not made are said to be written")
			}
			wantRevisions(t, db, "after the failure", map[string]int64{"prj_shop": 1, "prj_zoo": 1})
			if err := errors.Join(soon(t, db, "prj_shop", 1)(), soon(t, db, "prj_zoo", 1)()); err != nil {
				t.Error(err)
			}
			wantRevisions(t, db, "at the end", map[string]int64{"prj_shop": 2, "prj_zoo": 2})
		})
	}
}

func TestAChangeThatPanicsIsUndoneAlone(t *testing.T) {
	t.Parallel()
	db := shopAndZoo(t)
	lasts := soon(t, db, "prj_zoo", 1)
	func() {
		defer func() { _ = recover() }()
		_, _ = db.ChangePanicking(t.Context(), "UPDATE projects SET revision = 99")
	}()
	if err := lasts(); err != nil {
		t.Error(err)
	}
	wantRevisions(t, db, "at the end", map[string]int64{"prj_shop": 1, "prj_zoo": 2})
}

// What was made and not waited for is made when the database is closed.
func TestClosingEndsTheOpenTransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mockbase.db")
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	createProject(t, db, "shop")
	lasts := soon(t, db, "prj_shop", 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lasts(); err != nil {
		t.Error(err)
	}
	wantRevisions(t, open(t, path), "after the next start", map[string]int64{"prj_shop": 2})
}

// In memory the connection is the database: a change that is not waited for yet must not keep readers away.
func TestInMemoryNobodyWaitsForTheEndOfAnother(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	createProject(t, db, "shop")
	lasts := soon(t, db, "prj_shop", 1)
	wantRevisions(t, db, "before it was waited for", map[string]int64{"prj_shop": 2})
	if err := lasts(); err != nil {
		t.Error(err)
	}
}

// Many writers, some of whom fail: what each was told is what is stored.
func TestM15_each_of_many_writers_is_told_the_truth(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "mockbase.db"))
	var group sync.WaitGroup
	var mu sync.Mutex
	want := map[string]int64{}
	for w := range 8 {
		slug := fmt.Sprintf("w%d", w)
		createProject(t, db, slug)
		group.Go(func() {
			revision := int64(1)
			for n := range 30 {
				_, bad := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: "prj_" + slug, IfRevision: 77})
				wantPublic(t, bad, mockbase.CodeVersionMismatch)
				if n%10 == 9 {
					_, _ = db.ChangeSoon(t.Context(), nil, strayMember...)
				}
				lasts, err := db.ApplySoon(t.Context(), mockbase.ChangeSet{ProjectID: "prj_" + slug, IfRevision: revision})
				if err == nil {
					err = lasts()
				}
				if err == nil {
					revision++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			want["prj_"+slug] = revision
		})
	}
	group.Wait()
	wantRevisions(t, db, "at the end", want)
	if !slices.ContainsFunc([]int64{want["prj_w0"], want["prj_w1"]}, func(r int64) bool { return r > 1 }) {
		t.Error("nobody ever made a change")
	}
}
