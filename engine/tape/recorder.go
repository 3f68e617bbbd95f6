package tape

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/mockbase/mockbase"
)

// The bounds of a recorder.
const (
	maxQueued = 1000
	maxBytes  = 128 << 20
	// MaxBody is how long a body may be that is recorded: as long as that of a mock.
	MaxBody = 10 << 20
)

var (
	// ErrBusy is returned when as much waits to be recorded as may.
	ErrBusy = errors.New("as much waits to be recorded as may")
	// ErrClosed is returned when the recorder is closed.
	ErrClosed = errors.New("the server stops")
)

// Keeper keeps recorded mocks. Keep changes the mock of a name in one step: compose gets the one there is, nil for none, and
// returns the one that is to be.
type Keeper interface {
	Keep(ctx context.Context, projectID, name string, compose func(current *mockbase.Mock) (*mockbase.Mock, error)) error
}

// Take is an exchange to record.
type Take struct {
	ProjectID string
	Exchange  *Exchange
	Rules     Rules
	// Known are the mocks at the time of the request. With OnlyNew, what one of them recorded is not recorded again (rule
	// T15).
	Known   *mockbase.Snapshot
	OnlyNew bool
	// Failed is told, later, why the exchange could not be recorded; nil is nobody.
	Failed func(err error)
}

func (t *Take) size() int64 { return int64(len(t.Exchange.Body) + len(t.Exchange.AnswerBody)) }

// Recorder records exchanges one after the other, away from the path of requests.
type Recorder struct {
	keeper Keeper
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // all changes end with it
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []*Take
	bytes  int64
	closed bool
}

// NewRecorder makes a recorder, which runs until it is closed.
func NewRecorder(keeper Keeper, log *slog.Logger) *Recorder {
	r := &Recorder{keeper: keeper, log: log, done: make(chan struct{})}
	r.wake = sync.NewCond(&r.mu)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	go r.run()
	return r
}

// Record queues an exchange; it never waits. The error is [ErrBusy] or [ErrClosed].
func (r *Recorder) Record(t *Take) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return ErrClosed
	case len(r.queue) >= maxQueued, r.bytes+t.size() > maxBytes:
		return ErrBusy
	}
	r.queue = append(r.queue, t)
	r.bytes += t.size()
	r.wake.Signal()
	return nil
}

// run records until the recorder is closed and the queue is empty.
func (r *Recorder) run() {
	defer close(r.done)
	for t := r.next(); t != nil; t = r.next() {
		if err := r.record(t); err != nil {
			r.log.Warn("an exchange was not recorded", slog.String("project", t.ProjectID), slog.Any("error", err))
			if t.Failed != nil {
				t.Failed(err)
			}
		}
	}
}

func (r *Recorder) next() *Take {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) == 0 {
		if r.closed {
			return nil
		}
		r.wake.Wait()
	}
	t := r.queue[0]
	r.queue = r.queue[1:]
	r.bytes -= t.size()
	return t
}

func (r *Recorder) record(t *Take) error {
	name, err := Name(t.Exchange, t.Rules)
	if err != nil {
		return err
	}
	if t.OnlyNew && t.Known != nil && slices.ContainsFunc(t.Known.Mocks, func(m *mockbase.Mock) bool { return m.Name == name }) {
		return nil
	}
	err = r.keeper.Keep(r.ctx, t.ProjectID, name, func(current *mockbase.Mock) (*mockbase.Mock, error) {
		return Add(t.Exchange, t.Rules, current)
	})
	if err != nil {
		return fmt.Errorf("record mock %s: %w", name, err)
	}
	return nil
}

// Close records what waits, as long as the context lasts, and ends the recorder. It may be called again.
func (r *Recorder) Close(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	r.wake.Signal()
	r.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.mu.Lock()
		r.queue = nil
		r.mu.Unlock()
	}
	r.cancel()
	<-r.done
}
