package management

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// ticketLife is how long a ticket can be used (rule M-71).
const ticketLife = time.Minute

// maxTickets bounds the tickets that wait to be used.
const maxTickets = 10_000

// tickets let clients in that cannot send headers, each once (rule M-71). They are kept in memory alone.
type tickets struct {
	clock func() time.Time

	mu   sync.Mutex
	open map[string]ticket
}

// ticket is what a ticket stands for: the credential of who asked for it, within one project.
type ticket struct {
	credential string
	projectID  string
	until      time.Time
}

func newTickets(clock func() time.Time) *tickets {
	return &tickets{clock: clock, open: map[string]ticket{}}
}

// issue makes a ticket; it returns "" when too many wait to be used.
func (t *tickets) issue(credential, projectID string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	if len(t.open) >= maxTickets {
		for text, own := range t.open {
			if !now.Before(own.until) {
				delete(t.open, text)
			}
		}
		if len(t.open) >= maxTickets {
			return ""
		}
	}
	text := "tkt_" + rand.Text()
	t.open[text] = ticket{credential: credential, projectID: projectID, until: now.Add(ticketLife)}
	return text
}

// use takes a ticket, whether or not it is still good.
func (t *tickets) use(text string) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own, ok := t.open[text]
	delete(t.open, text)
	return own, ok && t.clock().Before(own.until)
}

// issueTicket gives the caller a ticket for the events of a project (M-183).
func (s *Server) issueTicket(c *call) error {
	text := s.tickets.issue(c.credential, c.project.Project.ID)
	if text == "" {
		return mockbase.Errorf(mockbase.CodeBusy, "too many tickets wait to be used")
	}
	return c.json(http.StatusCreated, struct {
		Ticket    string `json:"ticket"`
		ExpiresIn int    `json:"expiresIn"`
	}{text, int(ticketLife / time.Second)})
}

// takeTicket lets a request in by the ticket in its query, on a route that takes one. It reports false when there is none.
func (s *Server) takeTicket(c *call) (bool, error) {
	text := c.QueryParam("ticket")
	if !c.route.tickets || text == "" {
		return false, nil
	}
	own, ok := s.tickets.use(text)
	project, known := s.Catalog.Project(c.Param("project"))
	if !ok || !known || project.Project.ID != own.projectID {
		return true, mockbase.Errorf(mockbase.CodeUnauthenticated, "the ticket is used up, too old, or for another project")
	}
	found, err := s.holder(c, own.credential)
	if err != nil {
		return true, err
	}
	c.caller, c.credential = found, own.credential
	return true, nil
}
