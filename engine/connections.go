package engine

import (
	"fmt"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/sse"
)

// Connections lists the open event streams of a mock, the oldest first (rules U6 and M-157). A session that is not empty
// leaves out those of others. What is not there is CodeNotFound.
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
	return list, nil
}

func viewOfStream(s *sse.Stream) mockbase.Connection {
	return mockbase.Connection{
		ID: s.ID, Kind: mockbase.ConnectionSSE, Session: s.SessionName, Client: s.Client, OpenedAt: s.Since, Sent: s.Sent,
	}
}

// Broadcast writes an event to the open streams of a mock and tells how many there are (rules U5 and M-158), of one session if
// one is named. A mock without event streams is CodeValidationFailed, a session that is not there CodeNotFound.
func (e *Engine) Broadcast(projectID string, m *mockbase.Mock, sessionName string, event *mockbase.SSEEvent) (int, error) {
	id, err := e.sessionID(projectID, sessionName)
	if err != nil {
		return 0, err
	}
	if !streams(m) {
		return 0, invalid("nothing can be broadcast", mockbase.FieldError{
			Pointer: "#", Code: mockbase.FieldConflict, Detail: fmt.Sprintf("the mock %q has no response with sse", m.Name),
		})
	}
	return e.streams.Broadcast(streamGroup(projectID, m), id, eventOf(event)), nil
}

func streams(m *mockbase.Mock) bool {
	for i := range m.Responses {
		if m.Responses[i].SSE != nil {
			return true
		}
	}
	return false
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
