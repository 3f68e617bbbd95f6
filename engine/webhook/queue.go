package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mockbase/mockbase/engine/outbound"
)

// The bounds of a queue: MaxWaiting calls and MaxBytes that they are to send, of each project (rules S4 and S9).
const (
	MaxWaiting = 1000
	MaxBytes   = 64 << 20
	maxRunning = 64
	maxResult  = 64 << 10
)

var (
	// ErrFull is returned when as many calls or bytes of the project wait as may.
	ErrFull = errors.New("dropped: as many webhooks of the project wait as may")
	// ErrClosed is returned when the server stops.
	ErrClosed = errors.New("dropped: the server stops")
	// ErrCancelled is reported of a call that a reset cancelled.
	ErrCancelled = errors.New("cancelled by a reset")
)

// Clock is the time of a session, which may be advanced (rule AA15).
type Clock interface {
	Now() time.Time
	// AfterFunc calls f when d has passed, unless stop is called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Queue holds calls that wait, and makes them.
type Queue struct {
	transport http.RoundTripper
	report    func(Attempt)
	ctx       context.Context //nolint:containedctx // all calls end with it
	cancel    context.CancelFunc
	running   chan struct{}

	mu      sync.Mutex
	closed  bool
	waiting map[*Call]*entry
	loads   map[string]load
	active  sync.WaitGroup
}

// load is what waits of a project.
type load struct {
	calls int
	bytes int64
}

// entry is a call that waits, and how to keep it from being made.
type entry struct {
	stop func() bool
}

// New makes a queue that reports each attempt, at the same time as others perhaps. The transport must follow no redirect
// and hold to the policy of outgoing calls.
func New(transport http.RoundTripper, report func(Attempt)) *Queue {
	q := &Queue{
		transport: transport, report: report, running: make(chan struct{}, maxRunning),
		waiting: map[*Call]*entry{}, loads: map[string]load{},
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// Add lets a call wait for its time. A call that is dropped at once is reported, too (rules S7 and S9).
func (q *Queue) Add(c *Call) error {
	_, err := outbound.NextHops(c.Received)
	if err == nil {
		err = q.enter(c)
	}
	if err != nil {
		q.report(Attempt{Call: c, At: c.Clock.Now(), Err: err, Last: true})
		return fmt.Errorf("queue webhook: %w", err)
	}
	q.schedule(c, 1, c.After)
	return nil
}

func (q *Queue) enter(c *Call) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	waits := q.loads[c.Project]
	switch {
	case q.closed:
		return ErrClosed
	case waits.calls >= MaxWaiting, waits.bytes+c.Size > MaxBytes:
		return ErrFull
	}
	q.loads[c.Project] = load{waits.calls + 1, waits.bytes + c.Size}
	q.waiting[c] = &entry{stop: func() bool { return false }}
	q.active.Add(1)
	return nil
}

// schedule makes an attempt after a time. The clock only starts it, so that an advance does not wait for it.
func (q *Queue) schedule(c *Call, number int, after time.Duration) {
	stop := c.Clock.AfterFunc(after, func() { go q.attempt(c, number) })
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.waiting[c]; e != nil {
		e.stop = stop
	} else if stop() {
		q.active.Done()
	}
}

// leave takes a call out. It returns false when a reset has done so before.
func (q *Queue) leave(c *Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.drop(c)
}

func (q *Queue) drop(c *Call) bool {
	if q.waiting[c] == nil {
		return false
	}
	delete(q.waiting, c)
	waits := q.loads[c.Project]
	if waits.calls == 1 {
		delete(q.loads, c.Project)
	} else {
		q.loads[c.Project] = load{waits.calls - 1, waits.bytes - c.Size}
	}
	return true
}

// attempt makes one attempt, and schedules the next if there is one.
func (q *Queue) attempt(c *Call, number int) {
	select {
	case q.running <- struct{}{}:
		defer func() { <-q.running }()
	case <-q.ctx.Done():
	}
	a := Attempt{Call: c, Number: number, At: c.Clock.Now()}
	retryAfter := q.make(&a)
	if q.waits(c) && number <= c.Retries.Max && a.again() && !final(a.Err) {
		q.report(a)
		q.schedule(c, number+1, c.pause(number, retryAfter, c.Clock.Now()))
		return
	}
	a.Last = true
	q.leave(c)
	q.report(a)
	q.active.Done()
}

func (q *Queue) waits(c *Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting[c] != nil && !q.closed
}

// final tells whether trying again cannot help: the call was refused, or could not be made.
func final(err error) bool {
	_, blocked := errors.AsType[*outbound.BlockedError](err)
	_, unmade := errors.AsType[*unmadeError](err)
	return blocked || unmade
}

// unmadeError is a request that could not be rendered.
type unmadeError struct{ err error }

func (e *unmadeError) Error() string { return e.err.Error() }
func (e *unmadeError) Unwrap() error { return e.err }

// make makes the call and fills in how it went. It returns the Retry-After of the answer.
func (q *Queue) make(a *Attempt) string {
	began := time.Now()
	defer func() { a.Duration = time.Since(began) }()
	ctx, cancel := context.WithTimeout(q.ctx, a.Call.Timeout)
	defer cancel()
	request, err := q.request(ctx, a)
	if err != nil {
		a.Err = err
		return ""
	}
	transport := q.transport
	if own := a.Call.Transport; own != nil {
		transport = own
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		a.Err = fmt.Errorf("call webhook: %w", err)
		return ""
	}
	defer answer.Body.Close()
	a.Status = answer.StatusCode
	if a.Body, err = io.ReadAll(io.LimitReader(answer.Body, maxResult)); err != nil {
		a.Err = fmt.Errorf("read answer of webhook: %w", err)
	}
	return answer.Header.Get("Retry-After")
}

func (*Queue) request(ctx context.Context, a *Attempt) (*http.Request, error) {
	made, err := a.Call.Make(a.Number)
	if err != nil {
		return nil, &unmadeError{err}
	}
	a.Method, a.URL, a.Veiled = made.Method, made.URL, made.Shown != ""
	if a.Veiled {
		a.URL = made.Shown
	}
	target, err := outbound.ParseURL(made.URL)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all by itself
	}
	if !a.Veiled {
		a.URL = target.String()
	}
	request, err := http.NewRequestWithContext(ctx, made.Method, target.String(), bytes.NewReader(made.Body))
	if err != nil {
		return nil, &unmadeError{err}
	}
	if made.Header != nil {
		request.Header = made.Header.Clone()
	}
	hops, err := outbound.NextHops(a.Call.Received)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all by itself
	}
	request.Header[outbound.HopsHeader] = []string{hops}
	request.Header["Webhook-Id"] = []string{a.Call.ID}
	if sign := a.Call.Sign; sign != nil {
		request.Header[sign.Header] = []string{sign.signature(made.Body)}
	}
	return request, nil
}

// Waiting lists the calls of a project that are not done (rule S9).
func (q *Queue) Waiting(project string) []*Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*Call
	for c := range q.waiting {
		if c.Project == project {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Call) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
	return list
}

// Cancel drops the calls of a session that are not done, and tells how many there were.
func (q *Queue) Cancel(project, session string) int {
	return q.dropAll(func(c *Call) bool { return c.Project == project && c.Session == session }, ErrCancelled)
}

func (q *Queue) dropAll(which func(*Call) bool, why error) int {
	q.mu.Lock()
	var dropped []*Call
	for c, e := range q.waiting {
		if which(c) {
			dropped = append(dropped, c)
			if e.stop() {
				q.active.Done()
			}
		}
	}
	for _, c := range dropped {
		q.drop(c)
	}
	q.mu.Unlock()
	for _, c := range dropped {
		q.report(Attempt{Call: c, At: c.Clock.Now(), Err: why, Last: true})
	}
	return len(dropped)
}

// Close lets the attempts under way end as long as the context does, then breaks them off. What waits is dropped.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.dropAll(func(*Call) bool { return true }, ErrClosed)
	defer context.AfterFunc(ctx, q.cancel)()
	q.active.Wait()
	q.cancel()
}
