package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/mockbase/mockbase/store"
)

const (
	// probeInterval is the least time between two writes that only find out whether writes work again.
	probeInterval = 3 * time.Second
	// probeSize is the room that there must be on the disk: that of a change of some size.
	probeSize = 1 << 20
)

// trouble remembers that the disk does not take writes. Reads go on meanwhile and tell nothing of it.
type trouble struct {
	mu     sync.Mutex
	err    error
	probed time.Time
}

// note takes the outcome of a write. What is wrong with the change itself says nothing about the disk.
func (t *trouble) note(err error) {
	if err != nil && !ofDisk(err) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

// ofDisk tells whether a write failed because of the disk.
func ofDisk(err error) bool {
	switch primary(err) {
	case codes.SQLITE_FULL, codes.SQLITE_IOERR, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN:
		return true
	}
	_, ok := errors.AsType[*os.PathError](err) // The flush of the log.
	return ok
}

// due returns what is wrong, and whether it is time to try again.
func (t *trouble) due(now time.Time) (probe bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil || now.Sub(t.probed) < probeInterval && !now.Before(t.probed) {
		return false, t.err
	}
	t.probed = now
	return true, t.err
}

// writable returns a [*store.WriteError] while writes fail, and tries every few seconds whether they still do.
func (f *file) writable(ctx context.Context, now time.Time) error {
	probe, err := f.trouble.due(now)
	if probe {
		f.probe(ctx)
		_, err = f.trouble.due(now)
	}
	if err == nil {
		return nil
	}
	return &store.WriteError{Err: fault("write", err)}
}

// probe makes sure that there is room, and writes to the database what is there already.
func (f *file) probe(ctx context.Context) {
	if f.path != "" && reserve(f.path+".probe") != nil {
		return
	}
	_ = f.change(alone(ctx), "try to write", func(ctx context.Context, tx *sql.Tx) error {
		var number int64
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&number); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", number))
		return err
	}) // Its outcome is noted.
}

// reserve tells whether there is room on a file's disk.
func reserve(path string) (err error) {
	made, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the path is the operator's own
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close(), os.Remove(path)) }()
	_, err = made.Write(make([]byte, probeSize))
	return errors.Join(err, syncData(made))
}
