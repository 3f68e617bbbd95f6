package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// createdBytes is what the server's log takes for one mock: some 14 pages of the database, with their headers.
const createdBytes = 14 * (4096 + 24)

// DiskFloor creates nothing as [Manager.Create] creates mocks: the same writers send the same bodies to a bare handler that
// appends as much as the server does to a file in dir, and answers when it is on disk. Those who wait at the same time wait
// for one flush. What the disk and two cores allow is what it tells.
func DiskFloor(ctx context.Context, dir string, writers, count int) (CreateReport, error) {
	file, err := os.Create(filepath.Join(dir, "floor")) //nolint:gosec // a temporary folder
	if err != nil {
		return CreateReport{}, fmt.Errorf("make the file: %w", err)
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	addr, end, err := Listen(ctx, &appender{file: file})
	if err != nil {
		return CreateReport{}, err
	}
	defer end()
	m := &Manager{addr: addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	return m.Create(ctx, "floor", writers, count)
}

// appender is the bare handler. It brings what was appended to the disk for all who wait.
type appender struct {
	file *os.File

	writing sync.Mutex
	size    int64

	flushing sync.Mutex
	mu       sync.Mutex
	next     *flush
}

// flush is one flush and those who wait for it.
type flush struct {
	done chan struct{}
	err  error
}

// ServeHTTP answers when the request is on disk.
func (a *appender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, err := io.Copy(io.Discard, r.Body)
	if err = errors.Join(err, a.append(), a.wait()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

func (a *appender) append() error {
	a.writing.Lock()
	defer a.writing.Unlock()
	n, err := a.file.WriteAt(make([]byte, createdBytes), a.size)
	a.size += int64(n)
	return err //nolint:wrapcheck // It is told as it is.
}

func (a *appender) wait() error {
	a.mu.Lock()
	if joined := a.next; joined != nil {
		a.mu.Unlock()
		<-joined.done
		return joined.err
	}
	own := &flush{done: make(chan struct{})}
	a.next = own
	a.mu.Unlock()
	defer close(own.done)
	a.flushing.Lock()
	defer a.flushing.Unlock()
	a.mu.Lock()
	a.next = nil
	a.mu.Unlock()
	own.err = syncData(a.file)
	return own.err
}
