package management

import (
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
)

// Connections are the open streams and conversations of mocks. An empty session is all sessions. Errors are of CodeNotFound and
// CodeValidationFailed.
type Connections interface {
	Connections(projectID string, m *mockbase.Mock, session string) ([]mockbase.Connection, error)
	// Broadcast writes an event or a message to them, and tells how many there are (rule U5).
	Broadcast(projectID string, m *mockbase.Mock, session string, what *mockbase.Broadcast) (int, error)
}

// connectionRoutes are those of open connections. The parameters of lists are list.
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

// listConnections lists the open connections of a mock, the oldest first (M-157).
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

// broadcast writes an event or a message to the open connections of a mock (M-158).
func (s *Server) broadcast(c *call) error {
	p := c.params()
	session := p.text("session")
	if err := p.err(); err != nil {
		return err
	}
	what, err := c.broadcast()
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	reached, err := s.Connections.Broadcast(c.project.Project.ID, c.mock, session, what)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Connections int `json:"connections"`
	}{reached})
}

// broadcast reads an event or a message of the mock format. What the mock can send decides which of them it is; where it can
// send both, what only one of them has, and a value alone is both.
func (c *call) broadcast() (*mockbase.Broadcast, error) {
	body, err := c.read(typeJSON)
	if err != nil {
		return nil, err
	}
	root, err := parse(body, c.route.body)
	if err != nil {
		return nil, err
	}
	var faults mockbase.Faults
	var what mockbase.Broadcast
	message := c.mock.Converses() && (!c.mock.Streams() || has(root, "text", "base64", "close", "reason", "ping"))
	if !message {
		what.Event = mockbase.DecodeSSEEvent(root, "#", &faults)
	}
	if message || c.mock.Converses() && len(root.Members) == 1 && has(root, "json") {
		what.Message = mockbase.DecodeWebSocketMessage(root, "#", &faults)
	}
	return &what, faults.Err()
}

// has tells whether an object has one of these members.
func has(n *mockbase.Node, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return n.Find(name) != nil })
}
