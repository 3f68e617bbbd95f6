package websocket

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMaxOpen is how many conversations a host holds at once.
const DefaultMaxOpen = 10_000

// waiting is how many broadcasts wait for a client that reads slowly.
const waiting = 64

// ErrTooMany is returned when as many conversations are held as the host allows.
var ErrTooMany = errors.New("as many WebSocket conversations are open as the server allows")

// Host holds conversations. Its methods may be called at the same time.
type Host struct {
	most int

	mu     sync.Mutex
	talks  map[*talk]struct{}
	groups map[string]map[*talk]struct{}
}

// NewHost makes a host for at most so many conversations; 0 is DefaultMaxOpen.
func NewHost(most int) *Host {
	if most <= 0 {
		most = DefaultMaxOpen
	}
	return &Host{most: most, talks: map[*talk]struct{}{}, groups: map[string]map[*talk]struct{}{}}
}

// Peer describes the client of a conversation.
type Peer struct {
	ID string
	// Group is what a broadcast reaches together: a mock of a project.
	Group   string
	Project string
	// Session and SessionName name the session that it belongs to.
	Session, SessionName string
	Client               netip.Addr
	Since                time.Time
	// Sent and Received count messages, without pongs and closes.
	Sent, Received int64
}

// Open tells how many conversations are held.
func (h *Host) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.talks)
}

// List returns the clients of a project's conversations, the oldest first (rule U6).
func (h *Host) List(project string) []Peer {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []Peer
	for t := range h.talks {
		if t.Peer.Project == project {
			one := t.Peer
			one.Sent, one.Received = t.sent.Load(), t.received.Load()
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Peer) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Broadcast sends a message in every conversation of a group, in the order of the calls and beside the script, and tells how
// many there are (rule U5). A conversation whose client is too far behind breaks off instead. A session that is not empty
// leaves out those of others.
func (h *Host) Broadcast(group, session string, m *Message) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	reached := 0
	for t := range h.groups[group] {
		if session != "" && t.Peer.Session != session {
			continue
		}
		select {
		case t.broadcasts <- m:
			reached++
		default:
			// What waits for the client to read ends with the connection, and so does the conversation.
			_ = t.wire.Close()
			h.drop(t)
		}
	}
	return reached
}

func (h *Host) add(t *talk) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.talks) >= h.most {
		return ErrTooMany
	}
	h.talks[t] = struct{}{}
	return nil
}

// enter lets broadcasts reach a conversation, whose connection is upgraded.
func (h *Host) enter(t *talk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[t.Peer.Group] == nil {
		h.groups[t.Peer.Group] = map[*talk]struct{}{}
	}
	h.groups[t.Peer.Group][t] = struct{}{}
}

func (h *Host) remove(t *talk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(t)
}

func (h *Host) drop(t *talk) {
	delete(h.talks, t)
	delete(h.groups[t.Peer.Group], t)
	if len(h.groups[t.Peer.Group]) == 0 {
		delete(h.groups, t.Peer.Group)
	}
}

// counts are the messages of a conversation.
type counts struct{ sent, received atomic.Int64 }
