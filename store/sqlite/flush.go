package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// flusher brings what was committed to the disk. SQLite could do that within each transaction (synchronous=FULL), but then
// each would wait for a disk of its own while all others wait for the one connection. Here a commit is complete in the
// write-ahead log, in order, when its transaction returns, and whoever must know it on disk joins the next flush with all
// who came meanwhile. A checkpoint flushes the log before it moves it, so nothing is ever in neither place.
type flusher struct {
	// path is the write-ahead log; "" has nothing to flush.
	path string

	// turn is held by the one who flushes.
	turn sync.Mutex
	mu   sync.Mutex
	next *flight
}

// flight is one flush and those who wait for it.
type flight struct {
	landed chan struct{}
	err    error
}

// walPath is the log that must be on disk, "" for a schema whose writes need only survive the end of the process.
func walPath(path string, s schema) string {
	if path == "" || s != schemaDefinitions {
		return ""
	}
	return path + "-wal"
}

// flush returns when everything that was committed before the call is on disk.
func (f *flusher) flush() error {
	if f.path == "" {
		return nil
	}
	f.mu.Lock()
	joined := f.next
	if joined != nil {
		f.mu.Unlock()
		<-joined.landed
		return joined.err
	}
	own := &flight{landed: make(chan struct{})}
	f.next = own
	f.mu.Unlock()
	defer close(own.landed)
	f.turn.Lock()
	defer f.turn.Unlock()
	// From here on nobody joins: what is committed later may be too late for this flush.
	f.mu.Lock()
	f.next = nil
	f.mu.Unlock()
	own.err = flushFile(f.path)
	return own.err
}

// flushFile opens the log each time: SQLite may have made it anew. One that is missing was moved into the database, and is
// on disk there. The locks of SQLite lie on other files, so that closing this one gives none of them up.
func flushFile(path string) error {
	log, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the path is the operator's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("flush database: %w", err)
	}
	if err := errors.Join(syncData(log), log.Close()); err != nil {
		return fmt.Errorf("flush database: %w", err)
	}
	return nil
}
