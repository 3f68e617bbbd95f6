package mockbase

import (
	"net/netip"
	"slices"
	"time"
)

// The kinds of a connection: one on which server-sent events go out, and one on which messages go both ways.
const (
	ConnectionSSE       = "sse"
	ConnectionWebSocket = "webSocket"
)

// Broadcast is what goes out on the open connections of a mock: an event, a message, or one of each (rule M-158).
type Broadcast struct {
	Event   *SSEEvent
	Message *WebSocketMessage
}

// Connection is an open stream of a mock (rules U6 and M-157).
type Connection struct {
	ID, Kind string
	// Session is the name of the session that it belongs to.
	Session  string
	Client   netip.Addr
	OpenedAt time.Time
	// Sent counts the events and messages that went out, heartbeats not among them; Received counts messages of the client.
	Sent, Received int64
}

// Streams tells whether a response of the mock sends server-sent events.
func (m *Mock) Streams() bool {
	return slices.ContainsFunc(m.Responses, func(r Response) bool { return r.SSE != nil })
}

// Converses tells whether a response of the mock holds WebSocket conversations.
func (m *Mock) Converses() bool {
	return slices.ContainsFunc(m.Responses, func(r Response) bool { return r.WebSocket != nil })
}
