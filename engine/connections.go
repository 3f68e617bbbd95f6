package engine

import (
	"fmt"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/sse"
	"github.com/mockbase/mockbase/engine/websocket"
)

// Connections lists the open event streams and WebSocket conversations of a mock, the oldest first (rules U6 and M-157). A
// session that is not empty leaves out those of others. What is not there is CodeNotFound.
func (e *Engine) Connections(projectID string, m *mockbase.Mock, sessionName string) ([]mockbase.Connection, error) {
	id, err := e.sessionID(projectID, sessionName)
	if err != nil {
		return nil, err
	}
	group := streamGroup(projectID, m)
	var list []mockbase.Connection
	for _, s := range e.streams.List(projectID) {
		if s.Group == group && (id == "" || s.Session == id) {
			list = append(list, viewOfStream(&s))
		}
	}
	for _, p := range e.talks.List(projectID) {
		if p.Group == group && (id == "" || p.Session == id) {
			list = append(list, viewOfPeer(&p))
		}
	}
	slices.SortStableFunc(list, func(a, b mockbase.Connection) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return list, nil
}

func viewOfStream(s *sse.Stream) mockbase.Connection {
	return mockbase.Connection{
		ID: s.ID, Kind: mockbase.ConnectionSSE, Session: s.SessionName, Client: s.Client, OpenedAt: s.Since, Sent: s.Sent,
	}
}

func viewOfPeer(p *websocket.Peer) mockbase.Connection {
	return mockbase.Connection{
		ID: p.ID, Kind: mockbase.ConnectionWebSocket, Session: p.SessionName, Client: p.Client, OpenedAt: p.Since, Sent: p.Sent,
		Received: p.Received,
	}
}

// Broadcast writes an event to the open streams of a mock, and a message in its conversations, and tells how many it reached
// (rules U5 and M-158), of one session if one is named. What no response of the mock can send is CodeValidationFailed, a
// session that is not there CodeNotFound.
func (e *Engine) Broadcast(projectID string, m *mockbase.Mock, sessionName string, what *mockbase.Broadcast) (int, error) {
	id, err := e.sessionID(projectID, sessionName)
	if err != nil {
		return 0, err
	}
	events, talks := what.Event != nil && m.Streams(), what.Message != nil && m.Converses()
	if !events && !talks {
		return 0, invalid("nothing can be broadcast", mockbase.FieldError{
			Pointer: "#", Code: mockbase.FieldConflict, Detail: fmt.Sprintf("the mock %q has no response that sends this: an event needs sse, a message webSocket", m.Name),
		})
	}
	group, reached := streamGroup(projectID, m), 0
	if events {
		reached += e.streams.Broadcast(group, id, eventOf(what.Event))
	}
	if talks {
		message := messageOf(what.Message)
		reached += e.talks.Broadcast(group, id, &message)
	}
	return reached, nil
}

// sessionID is the id of a session, "" for none that is named.
func (e *Engine) sessionID(projectID, nameOrID string) (string, error) {
	if nameOrID == "" {
		return "", nil
	}
	_, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return "", err
	}
	return s.ID(), nil
}
