package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/store"
)

// acquireLock takes the lock file for the life of the process and writes the process's id into it. The system frees the
// lock when the process ends, however it ends, so that a file left behind never locks anybody out.
func acquireLock(path string) (*os.File, error) {
	f, err := openLocked(path)
	if errors.Is(err, errLocked) {
		return nil, &store.LockedError{Path: path, PID: holder(path)}
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock data directory: %w", err), f.Close())
	}
	return f, nil
}

// errLocked is what openLocked returns when another process has the lock.
var errLocked = errors.New("locked")

// holder reads the id of the process that has the lock, 0 when the file does not tell.
func holder(path string) int {
	f, err := os.Open(path) //nolint:gosec // the path is the operator's own
	if err != nil {
		return 0
	}
	defer finish(f)
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// releaseLock gives the lock up; a second time it does nothing. The file stays: to delete it would let two processes lock
// two files of one name.
func releaseLock(f *os.File) error {
	unlock(f)
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
