package backup_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/backup"
)

// source copies a text, after it was allowed to.
type source struct {
	text  string
	err   error
	begun chan struct{}
	allow chan struct{}
}

func (s *source) Copy(_ context.Context, path string) error {
	if s.begun != nil {
		s.begun <- struct{}{}
		<-s.allow
	}
	return errors.Join(os.WriteFile(path, []byte(s.text), 0o600), s.err)
}

// agreed lets a copy become a backup.
func agreed(mockbase.Backup) error { return nil }

func newFolder(t *testing.T, s *source) *backup.Folder {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &backup.Folder{Path: filepath.Join(t.TempDir(), "backups"), Source: s, Clock: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}
}

func TestM232_backups_are_listed_with_their_digests_the_newest_first(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	if list, err := folder.ListBackups(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("no folder yet: %v, %v", list, err)
	}
	var want []mockbase.Backup
	for range 3 {
		b, err := folder.CreateBackup(t.Context(), agreed)
		if err != nil {
			t.Fatal(err)
		}
		want = append([]mockbase.Backup{b}, want...)
	}
	write(t, filepath.Join(folder.Path, "bkp_01KJMK2ZQ0AAAAAAAAAAAAAAAA.db"), "without a digest")
	write(t, filepath.Join(folder.Path, "notes.txt"), "a person's")
	list, err := folder.ListBackups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("backups (-want +got):\n%s", diff)
	}
	sum := sha256.Sum256([]byte("database"))
	if b := list[0]; b.SHA256 != hex.EncodeToString(sum[:]) || b.SizeBytes != 8 || b.CreatedAt != time.Date(2026, 3, 1, 12, 0, 3, 0, time.UTC) {
		t.Errorf("backup %+v", b)
	}
}

func TestM233_files_of_backups_are_their_owners_alone(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	b, err := folder.CreateBackup(t.Context(), agreed)
	if err != nil {
		t.Fatal(err)
	}
	path, err := folder.File(b.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{folder.Path: 0o700, path: 0o600, path + ".sha256": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if got := backup.Stated(path); got != b.SHA256 {
		t.Errorf("the digest beside the file is %q, want %q", got, b.SHA256)
	}
	if got, err := backup.Digest(path); err != nil || got != b.SHA256 {
		t.Errorf("the digest of the file is %q, %v", got, err)
	}
}

func TestM233_a_second_backup_at_the_same_time_is_busy(t *testing.T) {
	t.Parallel()
	s := &source{text: "database", begun: make(chan struct{}), allow: make(chan struct{})}
	folder := newFolder(t, s)
	done := make(chan error)
	go func() {
		_, err := folder.CreateBackup(t.Context(), agreed)
		done <- err
	}()
	<-s.begun
	_, err := folder.CreateBackup(t.Context(), agreed)
	wantCode(t, err, mockbase.CodeBusy)
	close(s.allow)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestM233_a_backup_that_fails_leaves_nothing(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "half of a data", err: mockbase.Errorf(mockbase.CodeUnavailable, "the disk is full")})
	_, err := folder.CreateBackup(t.Context(), agreed)
	wantCode(t, err, mockbase.CodeUnavailable)
	if left, err := os.ReadDir(folder.Path); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestM234_a_backup_is_read_and_M235_deleted(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	made, err := folder.CreateBackup(t.Context(), agreed)
	if err != nil {
		t.Fatal(err)
	}
	found, file, err := folder.OpenBackup(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || string(text) != "database" || found != made {
		t.Errorf("read %q of %+v: %v", text, found, err)
	}
	if err := folder.DeleteBackup(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, folder.DeleteBackup(t.Context(), made.ID), mockbase.CodeNotFound)
	if left, err := os.ReadDir(folder.Path); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// An id is a part of a path, and leads nowhere else.
func TestM235_what_is_no_id_is_not_looked_for(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	made, err := folder.CreateBackup(t.Context(), agreed)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder.Path, "..", "precious.db"), "text")
	write(t, filepath.Join(folder.Path, "..", "precious.db.sha256"), made.SHA256)
	for _, id := range []string{"", "../precious", "bkp_../precious", "precious", "bkp_", made.ID + "/.", "bkp_" + made.ID[4:8] + "\x00", made.ID[:len(made.ID)-1] + "u"} {
		_, _, err := folder.OpenBackup(t.Context(), id)
		wantCode(t, err, mockbase.CodeNotFound)
		wantCode(t, folder.DeleteBackup(t.Context(), id), mockbase.CodeNotFound)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code mockbase.Code) {
	t.Helper()
	if known, ok := errors.AsType[*mockbase.Error](err); !ok || known.Code != code {
		t.Errorf("error %v, want the code %s", err, code)
	}
}

func TestM12_a_repeated_request_gets_the_backup_that_it_made_before_it_was_answered(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	asked := mockbase.Replay{Caller: "usr_ada", Method: "POST", Path: "/api/v1/admin/backups", Key: "k"}
	create := func(r mockbase.Replay) mockbase.Backup {
		t.Helper()
		b, err := folder.CreateBackup(mockbase.WithReplay(t.Context(), mockbase.NewReplayDraft(r)), agreed)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := create(asked)
	if again := create(asked); again != first {
		t.Errorf("repeated: %+v, first: %+v", again, first)
	}
	other := asked
	other.Key = "l"
	if next := create(other); next.ID == first.ID {
		t.Error("another key got the same backup")
	}
	day := folder.Clock
	folder.Clock = func() time.Time { return day().Add(24 * time.Hour) }
	if late := create(asked); late.ID == first.ID {
		t.Error("the backup of another day was given")
	}
}

// M-20: a copy that whoever asked for it does not agree to becomes no backup, and is not there.
func TestM233_a_copy_becomes_a_backup_when_it_is_agreed_to(t *testing.T) {
	t.Parallel()
	folder := newFolder(t, &source{text: "database"})
	var told mockbase.Backup
	refused := errors.New("not audited")
	_, err := folder.CreateBackup(t.Context(), func(b mockbase.Backup) error {
		told = b
		if list, err := folder.ListBackups(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("it is a backup already: %v, %v", list, err)
		}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("made a backup: %v", err)
	}
	if left, err := os.ReadDir(folder.Path); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	sum := sha256.Sum256([]byte("database"))
	if told.SizeBytes != 8 || told.SHA256 != hex.EncodeToString(sum[:]) || told.CreatedAt.IsZero() {
		t.Errorf("told of %+v", told)
	}
	made, err := folder.CreateBackup(t.Context(), func(b mockbase.Backup) error { told = b; return nil })
	if diff := cmp.Diff(told, made); err != nil || diff != "" {
		t.Errorf("%v (-told +made):\n%s", err, diff)
	}
}
