package session

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Session is the state that one run of tests has for itself (rule AA8). Its methods may be called at the same time.
type Session struct {
	registry *Registry
	id, name string
	started  time.Time
	ttl      time.Duration
	// given is the seed that was asked for, random the one that holds when neither it nor the project names one.
	given, random string
	variables     map[string]json.RawMessage
	labels        map[string]string
	clock         *Timeline
	// last is the wall clock's time of the last request, ended that of the end, in nanoseconds; 0 is none.
	last, ended atomic.Int64
	done        chan struct{}
	counts      counts

	// mu makes a step, or a reset, one.
	mu    sync.Mutex
	table atomic.Pointer[table]

	attachedMu sync.Mutex
	attached   map[any]Attachment
}

// Counts says how much a session was used.
type Counts struct {
	// Calls are all requests that belonged to the session, Unmatched those that nothing answered, Limited those that a
	// simulated limit refused.
	Calls, Unmatched, Limited int64
}

type counts struct{ calls, unmatched, limited atomic.Int64 }

// ID is the opaque id; a later session of the same name has another (rule AA11).
func (s *Session) ID() string { return s.id }

// Name is the name that requests use.
func (s *Session) Name() string { return s.name }

// IsDefault tells whether this is the session of requests that name none; it never expires.
func (s *Session) IsDefault() bool { return s.name == DefaultName }

// StartedAt is the wall clock's time of the beginning.
func (s *Session) StartedAt() time.Time { return s.started }

// TTL is how long the session lives on after its last request; 0 is without end.
func (s *Session) TTL() time.Duration { return s.ttl }

// ExpiresAt is when the session expires if no further request comes; the zero time is never.
func (s *Session) ExpiresAt() time.Time {
	if s.ttl == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.last.Load()).Add(s.ttl)
}

// EndedAt is when the session ended; the zero time tells that it has not.
func (s *Session) EndedAt() time.Time {
	if at := s.ended.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Seed is the text that random decisions depend on: the one given at the start, else the project's, else one drawn at
// the start (rule AA20).
func (s *Session) Seed() string {
	if s.given != "" {
		return s.given
	}
	if seed := s.registry.seed.Load(); seed != nil && *seed != "" {
		return *seed
	}
	return s.random
}

// Variables are the session's own values, which go before the project's of the same name. They must not be changed.
func (s *Session) Variables() map[string]json.RawMessage { return s.variables }

// Labels are the marks that were given at the start. They must not be changed.
func (s *Session) Labels() map[string]string { return s.labels }

// Clock is the session's time.
func (s *Session) Clock() Clock { return s.clock }

// Timeline is the session's time with the means to change it. Resetting it should go through [Session.ResetClock].
func (s *Session) Timeline() *Timeline { return s.clock }

// ResetClock returns to the wall clock's time and clears the session's limits, so that nothing waits for a time that is no
// longer near (rule AA18).
func (s *Session) ResetClock() {
	s.clock.Reset()
	s.Reset(Limits)
}

// Counts tells how much the session was used.
func (s *Session) Counts() Counts {
	return Counts{Calls: s.counts.calls.Load(), Unmatched: s.counts.unmatched.Load(), Limited: s.counts.limited.Load()}
}

// CountCall notes a request that belongs to the session.
func (s *Session) CountCall() { s.counts.calls.Add(1) }

// CountUnmatched notes that nothing answered a request.
func (s *Session) CountUnmatched() { s.counts.unmatched.Add(1) }

// CountLimited notes that a simulated limit refused a request.
func (s *Session) CountLimited() { s.counts.limited.Add(1) }

// Attachment is state that another part of the engine keeps for a session, such as the data of collections or the buckets
// of limits. It begins with its first use and is gone with the session.
type Attachment interface {
	// Reset takes back what belongs to the levels. It must not call the session.
	Reset(what Levels)
	// End is called once, when the session ends.
	End()
}

// Attached returns the session's attachment of a key, made by fresh when there is none. A key is a value of a type of its
// owner's, like that of a context.
func (s *Session) Attached(key any, fresh func() Attachment) Attachment {
	s.attachedMu.Lock()
	defer s.attachedMu.Unlock()
	if a := s.attached[key]; a != nil {
		return a
	}
	if s.attached == nil {
		s.attached = make(map[any]Attachment)
	}
	a := fresh()
	s.attached[key] = a
	return a
}

func (s *Session) attachments() map[any]Attachment {
	s.attachedMu.Lock()
	defer s.attachedMu.Unlock()
	return maps.Clone(s.attached)
}

// end frees what the session holds. Requests in flight keep what they have.
func (s *Session) end(now time.Time) {
	if !s.ended.CompareAndSwap(0, now.UnixNano()) {
		return
	}
	close(s.done)
	for _, a := range s.attachments() {
		a.End()
	}
}

// Done is closed when the session ends or expires.
func (s *Session) Done() <-chan struct{} { return s.done }

// expired tells whether the time to live is over.
func (s *Session) expired(now time.Time) bool {
	return s.ttl > 0 && now.UnixNano()-s.last.Load() >= int64(s.ttl)
}

// touch notes a request, and never an earlier one than the last.
func (s *Session) touch(now time.Time) {
	at := now.UnixNano()
	for {
		last := s.last.Load()
		if last >= at || s.last.CompareAndSwap(last, at) {
			return
		}
	}
}

// drawnSeed draws a seed that a person can copy.
func drawnSeed() string { return rand.Text()[:16] }
