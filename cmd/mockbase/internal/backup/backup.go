// Package backup keeps copies of the database in a folder of the data directory (rule M-233).
//
// A backup is two files: {id}.db, which is a database like the one that it was copied from, and {id}.db.sha256, which
// "sha256sum --check" reads. The copy gets its name when it is whole: a file without the other one is no backup.
package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/mockbase/mockbase"
)

const (
	extension = ".db"
	digest    = ".sha256"
	unready   = ".part"
)

// Source makes a copy of a database under a path where there is no file.
type Source interface {
	Copy(ctx context.Context, path string) error
}

// Folder holds backups. It is safe for concurrent use.
type Folder struct {
	// Path is made with mode 0700 when the first backup is.
	Path   string
	Source Source
	Clock  func() time.Time

	busy sync.Mutex
}

// ListBackups returns every backup, the newest first.
func (f *Folder) ListBackups(context.Context) ([]mockbase.Backup, error) {
	entries, err := os.ReadDir(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable("the folder of backups cannot be read", err)
	}
	var list []mockbase.Backup
	for _, e := range entries {
		id, isBackup := strings.CutSuffix(e.Name(), extension)
		if !isBackup {
			continue
		}
		if b, err := f.find(id); err == nil {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b mockbase.Backup) int { return cmp.Compare(b.ID, a.ID) })
	return list, nil
}

// CreateBackup makes a backup, unless whole, which is called with it before it gets its name, returns an error. Of several calls
// at the same time one does; the others fail with CodeBusy. A request that is repeated with its Idempotency-Key, because the process ended before it was answered, gets the backup that it made
// (rule M-12): the draft in the context is known again by the end of the id.
func (f *Folder) CreateBackup(ctx context.Context, whole func(mockbase.Backup) error) (mockbase.Backup, error) {
	if !f.busy.TryLock() {
		return mockbase.Backup{}, &mockbase.Error{Code: mockbase.CodeBusy, Message: "another backup is being made", Hint: "wait for it to end"}
	}
	defer f.busy.Unlock()
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return mockbase.Backup{}, unavailable("the folder of backups cannot be made", err)
	}
	id := mockbase.NewID(mockbase.PrefixBackup, f.Clock())
	if seed := mockbase.ReplayOf(ctx).Seed(); seed != nil {
		id = seeded(f.Clock(), seed)
		if made, ok := f.repeated(ctx, id); ok {
			return made, whole(made)
		}
	}
	path := f.file(id)
	if err := f.make(ctx, id, whole); err != nil {
		return mockbase.Backup{}, errors.Join(err, forget(path+unready), forget(path+digest), forget(path))
	}
	return f.find(id)
}

// seeded is an id whose end is made of a seed.
func seeded(now time.Time, seed []byte) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now))
	_ = id.SetEntropy(seed[:10])
	return mockbase.PrefixBackup + id.String()
}

// repeatedFor is how long a backup is known again.
const repeatedFor = 24 * time.Hour

// repeated finds the backup that the request with this id made before.
func (f *Folder) repeated(ctx context.Context, id string) (mockbase.Backup, bool) {
	const clock = len(mockbase.PrefixBackup) + 10 // the characters of an id up to the end of its time
	all, err := f.ListBackups(ctx)
	if err != nil {
		return mockbase.Backup{}, false
	}
	for _, b := range all {
		if b.ID[clock:] == id[clock:] && f.Clock().Sub(b.CreatedAt) < repeatedFor {
			return b, true
		}
	}
	return mockbase.Backup{}, false
}

func (f *Folder) make(ctx context.Context, id string, whole func(mockbase.Backup) error) error {
	path := f.file(id)
	if err := f.Source.Copy(ctx, path+unready); err != nil {
		return err
	}
	sum, err := Digest(path + unready)
	if err != nil {
		return unavailable("the backup cannot be read again", err)
	}
	if err := State(path, sum); err != nil {
		return unavailable("the backup cannot be written", err)
	}
	made, err := f.read(id, path+unready)
	if err != nil {
		return unavailable("the backup cannot be read again", err)
	}
	if err := whole(made); err != nil {
		return err
	}
	if err := os.Rename(path+unready, path); err != nil {
		return unavailable("the backup cannot be named", err)
	}
	return nil
}

// OpenBackup returns a backup and its bytes, or fails with CodeNotFound.
func (f *Folder) OpenBackup(_ context.Context, id string) (mockbase.Backup, io.ReadCloser, error) {
	b, err := f.find(id)
	if err != nil {
		return b, nil, err
	}
	file, err := os.Open(f.file(id))
	if err != nil {
		return b, nil, unavailable("the backup cannot be read", err)
	}
	return b, file, nil
}

// DeleteBackup forgets a backup, or fails with CodeNotFound.
func (f *Folder) DeleteBackup(_ context.Context, id string) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	path := f.file(id)
	if err := errors.Join(forget(path), forget(path+digest)); err != nil {
		return unavailable("the backup cannot be deleted", err)
	}
	return nil
}

// File returns the path of the backup with an id that [Folder.ListBackups] gave.
func (f *Folder) File(id string) (string, error) {
	if _, err := f.find(id); err != nil {
		return "", err
	}
	return f.file(id), nil
}

func (f *Folder) file(id string) string { return filepath.Join(f.Path, id+extension) }

// find reads what is known of a backup. An id is looked for on disk only if it is one: it is a part of a path.
func (f *Folder) find(id string) (mockbase.Backup, error) {
	return f.read(id, f.file(id))
}

// read reads what is known of a backup whose copy is at a path, which is not its own before it is named.
func (f *Folder) read(id, path string) (mockbase.Backup, error) {
	stamp, isBackup := strings.CutPrefix(id, mockbase.PrefixBackup)
	made, err := ulid.ParseStrict(stamp)
	if !isBackup || err != nil || made.String() != stamp {
		return mockbase.Backup{}, noSuchBackup()
	}
	info, err := os.Stat(path)
	if err != nil {
		return mockbase.Backup{}, noSuchBackup()
	}
	text, err := os.ReadFile(f.file(id) + digest)
	sum, _, _ := strings.Cut(string(text), " ")
	if err != nil || len(sum) != hex.EncodedLen(sha256.Size) {
		return mockbase.Backup{}, noSuchBackup()
	}
	return mockbase.Backup{ID: id, SizeBytes: info.Size(), SHA256: sum, CreatedAt: ulid.Time(made.Time()).UTC()}, nil
}

// Digest returns the SHA-256 of a file in small hexadecimal digits.
func Digest(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the operator's own
	if err != nil {
		return "", fmt.Errorf("read file: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read file: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// State writes the digest of a file beside it, as "sha256sum --check" reads it.
func State(path, sum string) error {
	if err := os.WriteFile(path+digest, []byte(sum+"  "+filepath.Base(path)+"\n"), 0o600); err != nil {
		return fmt.Errorf("write digest: %w", err)
	}
	return nil
}

// Stated returns the digest that stands beside a file, "" if there is none.
func Stated(path string) string {
	text, err := os.ReadFile(path + digest) //nolint:gosec // beside a file of the operator's own
	if err != nil {
		return ""
	}
	sum, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return sum
}

func noSuchBackup() error { return mockbase.Errorf(mockbase.CodeNotFound, "there is no such backup") }

func unavailable(message string, err error) error {
	return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: message, Hint: "look at the room and the rights of the data directory", Err: err}
}

func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
