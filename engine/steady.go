package engine

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// steady is a body that is passed on while it comes. Nothing bounds how long it takes as a whole, but each read has a time
// (rule N12).
type steady struct {
	body    io.Reader
	control *http.ResponseController
	each    time.Duration

	// mu keeps a read that outlasts the call from changing what the connection is waited for then.
	mu          sync.Mutex
	late, ended bool
}

var errAnswered = errors.New("the request is answered")

// steadyBody returns the body that nobody has read, nil if it was read.
func (c *call) steadyBody() *steady {
	if !c.outcome.unread {
		return nil
	}
	return &steady{body: c.request.Body, control: http.NewResponseController(c.w), each: c.engine.options.BodyTime}
}

// Read implements io.Reader.
func (s *steady) Read(p []byte) (int, error) {
	if !s.bound(time.Now().Add(s.each)) {
		return 0, errAnswered
	}
	n, err := s.body.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		// The upstream may take its time, and the server looks whether the client is still there.
		s.bound(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.mu.Lock()
		s.late = true
		s.mu.Unlock()
	}
	return n, err //nolint:wrapcheck // it stands in for the body
}

// bound bounds the time of a read. It returns false when the call is over.
func (s *steady) bound(until time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		_ = s.control.SetReadDeadline(until) // A writer that knows none goes without.
	}
	return !s.ended
}

// end is called when the body is passed on no more. It tells whether the client was too slow.
func (s *steady) end() (late bool) {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.late
}
