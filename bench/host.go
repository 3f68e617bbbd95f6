package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// OutsideTests runs f with what test helpers ask of a test, so that a program can use them too: a failed helper ends f,
// and comes back as the error.
func OutsideTests(ctx context.Context, f func(tb testing.TB)) error {
	h := &host{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(h)
	}()
	<-done
	h.mu.Lock()
	cleanups := h.cleanups
	h.mu.Unlock()
	for _, cleanup := range slices.Backward(cleanups) {
		cleanup()
	}
	return errors.Join(h.errs...)
}

// host is a test that is none. Only what test helpers use is there; anything else would panic.
type host struct {
	testing.TB

	ctx context.Context //nolint:containedctx // testing.TB hands out its context

	mu       sync.Mutex
	cleanups []func()
	errs     []error
}

// Helper does nothing: there are no lines of a test to point at.
func (*host) Helper() {}

// Context is the context of the program.
func (h *host) Context() context.Context { return h.ctx }

// Cleanup has f called at the end, the last one first.
func (h *host) Cleanup(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cleanups = append(h.cleanups, f)
}

// Errorf keeps a failure.
func (h *host) Errorf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errs = append(h.errs, fmt.Errorf(format, args...)) //nolint:err113 // the caller's own words
}

// Error keeps a failure.
func (h *host) Error(args ...any) { h.Errorf("%s", fmt.Sprint(args...)) }

// Fatalf keeps a failure and ends the calling goroutine.
func (h *host) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	runtime.Goexit()
}

// Fatal keeps a failure and ends the calling goroutine.
func (h *host) Fatal(args ...any) { h.Fatalf("%s", fmt.Sprint(args...)) }

// TempDir makes a folder that is removed at the end.
func (h *host) TempDir() string {
	dir, err := os.MkdirTemp("", "mockbase-bench-")
	if err != nil {
		h.Fatalf("make a folder: %v", err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
