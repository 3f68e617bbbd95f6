package websocket

import (
	"context"
	"slices"
	"time"
)

// Kind is a kind of message.
type Kind int

// The kinds of message.
const (
	Text Kind = iota
	Binary
	Ping
	Close
)

// Message is a message to send.
type Message struct {
	Kind Kind
	// After is the time to wait; nil is none.
	After func() time.Duration
	// Data is the payload, or the reason of a close; nil is none. It sees the message that is answered, which is nil where
	// none is.
	Data func(answered *Received) ([]byte, error)
	// Code is that of a close.
	Code int
}

// Received is a message from the client.
type Received struct {
	Binary bool
	Data   []byte
}

// Rule answers messages.
type Rule struct {
	// When tells whether the rule is for a message; nil is for all.
	When  func(m *Received) bool
	Reply []Message
}

// Script is one side of a conversation. It is not changed once it is used.
type Script struct {
	Subprotocols []string
	OnConnect    []Message
	// Rules are tried in order, those with a condition before those without (rule U11).
	Rules []Rule
	// Strict closes with 1008 when no rule is for a message; otherwise it is ignored.
	Strict bool
	// Unordered lets replies overtake each other (rule U12).
	Unordered bool
	// MaxMessage bounds a message in bytes; longer ones close with 1009.
	MaxMessage int64
}

// rule finds the rule for a message.
func (s *Script) rule(m *Received) *Rule {
	for _, conditional := range [...]bool{true, false} {
		i := slices.IndexFunc(s.Rules, func(r Rule) bool {
			return (r.When != nil) == conditional && (!conditional || r.When(m))
		})
		if i >= 0 {
			return &s.Rules[i]
		}
	}
	return nil
}

// Clock tells the time to conversations, whose waits a session may cut short (rule AA15).
type Clock interface {
	Now() time.Time
	// Sleep returns when d has passed, or the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Heard is a message of a conversation, for the record. It must not be changed.
type Heard struct {
	At time.Time
	// Sent tells that the mock sent the message; otherwise the client did.
	Sent bool
	Kind Kind
	Data []byte
	// Code is that of a close, Ignored that no rule was for the message.
	Code    int
	Ignored bool
}
