package sse

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// heartbeat is the comment that keeps a quiet connection open.
const heartbeat = ": heartbeat\n\n"

// writeTimeout is how long a client may leave a write unread before its stream ends.
const writeTimeout = 30 * time.Second

// Play describes one run of a script.
type Play struct {
	Script *Script
	Stream Stream
	// LastID is the Last-Event-ID that the client sent.
	LastID string
	Clock  Clock
	// Written hears of every piece that was written; nil does not.
	Written func(piece []byte)
}

// Outcome is how a stream ended.
type Outcome struct {
	// Aborted tells that the client left or did not keep up.
	Aborted bool
	// Reset tells that the script asks for the connection to be broken off.
	Reset bool
	// Stopped tells that the server stops.
	Stopped bool
}

// Play plays a script. Status and header are the caller's; what is written after them is flushed event by event (rule U1).
// It returns when the script ends, the client leaves or closing, which may be nil, is closed. The error is ErrTooMany; then
// nothing was written.
func (h *Hub) Play(ctx context.Context, w http.ResponseWriter, p *Play, begin func(), closing <-chan struct{}) (Outcome, error) {
	s := &stream{Stream: p.Stream, broadcasts: make(chan []byte, queued), slow: make(chan struct{})}
	if s.Since.IsZero() {
		s.Since = p.Clock.Now()
	}
	if err := h.add(s); err != nil {
		return Outcome{}, err
	}
	defer h.remove(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin()
	r := &run{ctx: ctx, stream: s, play: p, control: http.NewResponseController(w), w: w, closing: closing}
	if !r.flush() {
		return Outcome{Aborted: true}, nil
	}
	return r.script(), nil
}

// run is a script on its way.
type run struct {
	ctx     context.Context //nolint:containedctx // lives as long as the stream
	stream  *stream
	play    *Play
	w       http.ResponseWriter
	control *http.ResponseController
	closing <-chan struct{}
	outcome Outcome
}

// script plays the steps, as often as asked, and the end.
func (r *run) script() Outcome {
	s := r.play.Script
	first := s.start(r.play.LastID)
	for round := 0; s.Loop == 0 || round < s.Loop; round++ {
		for i := first; i < len(s.Steps); i++ {
			step := &s.Steps[i]
			if !r.step(step) {
				return r.outcome
			}
			if step.Ends {
				return r.end(step.End)
			}
		}
		first = 0
		if s.Loop == 0 && !s.waits() && !r.wait(time.Second) {
			return r.outcome
		}
	}
	return r.end(s.End)
}

func (r *run) step(step *Step) bool {
	if step.After != nil && !r.wait(step.After()) {
		return false
	}
	// What was broadcast meanwhile is older than this event.
	for {
		select {
		case text := <-r.stream.broadcasts:
			if !r.send(text) {
				return false
			}
			continue
		default:
		}
		return r.event(step)
	}
}

// event writes the event of a step, if it has one.
func (r *run) event(step *Step) bool {
	text := step.Event
	if step.Make != nil {
		var made bool
		if text, made = step.Make(); !made {
			return false
		}
	}
	return len(text) == 0 || r.send(text)
}

// end ends the stream, or waits for others to end it.
func (r *run) end(end End) Outcome {
	switch end {
	case EndReset:
		r.outcome.Reset = true
	case EndKeepOpen:
		r.pass(nil)
	case EndClose:
	}
	return r.outcome
}

// wait waits for the session's clock, and passes broadcasts and heartbeats on meanwhile. It returns false when the stream
// is over.
func (r *run) wait(d time.Duration) bool {
	if d <= 0 {
		return r.ctx.Err() == nil
	}
	due := make(chan struct{})
	ctx, cancel := context.WithCancel(r.ctx)
	var sleeper sync.WaitGroup
	sleeper.Go(func() {
		if r.play.Clock.Sleep(ctx, d) == nil {
			close(due)
		}
	})
	defer sleeper.Wait()
	defer cancel()
	return r.pass(due)
}

// pass passes broadcasts and heartbeats on until the channel is closed, and returns false when the stream is over before.
func (r *run) pass(due <-chan struct{}) bool {
	var beat <-chan time.Time
	if every := r.play.Script.Heartbeat; every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		beat = ticker.C
	}
	for {
		select {
		case <-due:
			return true
		case text := <-r.stream.broadcasts:
			if !r.send(text) {
				return false
			}
		case <-beat:
			if !r.write([]byte(heartbeat)) {
				return false
			}
		case <-r.ctx.Done():
			r.outcome.Aborted = true
			return false
		case <-r.stream.slow:
			r.outcome.Aborted = true
			return false
		case <-r.closing:
			r.outcome.Stopped = true
			return false
		}
	}
}

// send writes an event. It counts before the client can have it.
func (r *run) send(text []byte) bool {
	r.stream.sent.Add(1)
	if !r.write(text) {
		r.stream.sent.Add(-1)
		return false
	}
	return true
}

func (r *run) write(text []byte) bool {
	// Not every writer knows deadlines; then a slow client is only bounded by its queue.
	_ = r.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := r.w.Write(text); err != nil {
		r.outcome.Aborted = true
		return false
	}
	if r.play.Written != nil {
		r.play.Written(text)
	}
	return r.flush()
}

func (r *run) flush() bool {
	if r.ctx.Err() != nil || r.control.Flush() != nil {
		r.outcome.Aborted = true
		return false
	}
	return true
}
