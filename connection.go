package mockbase

import (
	"net/netip"
	"time"
)

// ConnectionSSE is the kind of a connection on which server-sent events go out.
const ConnectionSSE = "sse"

// Connection is an open stream of a mock (rules U6 and M-157).
type Connection struct {
	ID, Kind string
	// Session is the name of the session that it belongs to.
	Session  string
	Client   netip.Addr
	OpenedAt time.Time
	// Sent counts the events that went out, heartbeats not among them; Received counts messages of the client.
	Sent, Received int64
}
