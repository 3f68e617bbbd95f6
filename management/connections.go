package management

import (
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
)

// Connections are the open streams of mocks. An empty session is all sessions. Errors are of CodeNotFound and
// CodeValidationFailed.
type Connections interface {
	Connections(projectID string, m *mockbase.Mock, session string) ([]mockbase.Connection, error)
	// Broadcast writes an event to the streams, and tells how many there are (rule U5).
	Broadcast(projectID string, m *mockbase.Mock, session string, event *mockbase.SSEEvent) (int, error)
}

// connectionRoutes are those of open streams. The parameters of lists are list.
func connectionRoutes(list []string) []route {
	const mock = apiPrefix + "/projects/{project}/mocks/{mock}"
	return []route{
		{id: "M-157", method: http.MethodGet, path: mock + "/connections", access: accessViewer, scope: scopeMocksRead, operation: "listConnections", handle: (*Server).listConnections, query: append(slices.Clip(list), "session")},
		{id: "M-158", method: http.MethodPost, path: mock + "/broadcast", access: accessEditor, scope: scopeSessions, operation: "broadcast", handle: (*Server).broadcast, query: []string{"session"}},
	}
}

type connectionView struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Session  string  `json:"session"`
	IP       *string `json:"ip"`
	OpenedAt string  `json:"openedAt"`
	Sent     int64   `json:"sent"`
	Received int64   `json:"received"`
}

// listConnections lists the open streams of a mock, the oldest first (M-157).
func (s *Server) listConnections(c *call) error {
	p := c.params()
	session := p.text("session")
	l, err := p.listing("openedAt", "sent")
	if err != nil {
		return err
	}
	all, err := s.Connections.Connections(c.project.Project.ID, c.mock, session)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one mockbase.Connection) bool { return !l.finds(one.ID, one.Session, addressText(one.Client)) })
	onPage, next := cut(l, all, func(one mockbase.Connection) key {
		if l.sort == "sent" {
			return key{Number: one.Sent, ID: one.ID}
		}
		return key{Number: one.OpenedAt.UnixMilli(), ID: one.ID}
	})
	items := make([]connectionView, len(onPage))
	for i, one := range onPage {
		items[i] = connectionView{
			ID: one.ID, Kind: one.Kind, Session: one.Session, IP: maybeText(addressText(one.Client)), OpenedAt: timeText(one.OpenedAt),
			Sent: one.Sent, Received: one.Received,
		}
	}
	return c.list(l, items, len(all), next)
}

// broadcast writes an event to the open streams of a mock (M-158).
func (s *Server) broadcast(c *call) error {
	p := c.params()
	session := p.text("session")
	if err := p.err(); err != nil {
		return err
	}
	event, err := c.event()
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	reached, err := s.Connections.Broadcast(c.project.Project.ID, c.mock, session, event)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Connections int `json:"connections"`
	}{reached})
}

// event reads an event of the mock format.
func (c *call) event() (*mockbase.SSEEvent, error) {
	body, err := c.read(typeJSON)
	if err != nil {
		return nil, err
	}
	root, err := parse(body, c.route.body)
	if err != nil {
		return nil, err
	}
	var faults mockbase.Faults
	event := mockbase.DecodeSSEEvent(root, "#", &faults)
	return event, faults.Err()
}
