package sse

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a hub.
const (
	DefaultMaxStreams = 10_000
	// queued is how many broadcasts wait for a client that reads slowly.
	queued = 64
)

// ErrTooMany is returned when as many streams are open as the hub allows.
var ErrTooMany = errors.New("as many streams are open as the server allows")

// Clock tells the time to streams, whose waits a session may cut short (rule AA15).
type Clock interface {
	Now() time.Time
	// Sleep returns when d has passed, or the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Stream describes an open stream.
type Stream struct {
	ID string
	// Group is what a broadcast reaches together: a mock of a project.
	Group   string
	Project string
	Mock    string
	// Session and SessionName name the session that it belongs to.
	Session, SessionName string
	Client               netip.Addr
	// Since is that of its clock, unless it is given.
	Since time.Time
	// Sent counts the events that were written, without heartbeats.
	Sent int64
}

// Hub keeps the open streams. Its methods may be called at the same time.
type Hub struct {
	most int

	mu      sync.Mutex
	streams map[*stream]struct{}
	groups  map[string]map[*stream]struct{}
}

// stream is one open stream.
type stream struct {
	Stream

	sent atomic.Int64
	// broadcasts are events to write between those of the script.
	broadcasts chan []byte
	// slow is closed when the client did not keep up.
	slow chan struct{}
}

// NewHub makes a hub for at most so many open streams; 0 is DefaultMaxStreams.
func NewHub(most int) *Hub {
	if most <= 0 {
		most = DefaultMaxStreams
	}
	return &Hub{most: most, streams: map[*stream]struct{}{}, groups: map[string]map[*stream]struct{}{}}
}

// Open tells how many streams are open.
func (h *Hub) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.streams)
}

// List returns the open streams of a project, the oldest first (rule U6).
func (h *Hub) List(project string) []Stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []Stream
	for s := range h.streams {
		if s.Project == project {
			one := s.Stream
			one.Sent = s.sent.Load()
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Stream) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Broadcast writes an event to every open stream of a group, in the order of the calls, and tells how many there are. A
// stream whose client is too far behind ends instead (rule U5). A session that is not empty leaves out those of others.
func (h *Hub) Broadcast(group, session string, e *Event) int {
	text := e.Append(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	reached := 0
	for s := range h.groups[group] {
		if session != "" && s.Session != session {
			continue
		}
		select {
		case s.broadcasts <- text:
			reached++
		default:
			close(s.slow)
			h.drop(s)
		}
	}
	return reached
}

func (h *Hub) add(s *stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= h.most {
		return ErrTooMany
	}
	h.streams[s] = struct{}{}
	if h.groups[s.Group] == nil {
		h.groups[s.Group] = map[*stream]struct{}{}
	}
	h.groups[s.Group][s] = struct{}{}
	return nil
}

func (h *Hub) remove(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(s)
}

func (h *Hub) drop(s *stream) {
	delete(h.streams, s)
	delete(h.groups[s.Group], s)
	if len(h.groups[s.Group]) == 0 {
		delete(h.groups, s.Group)
	}
}
