package engine

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

const headerSession = "Mockbase-Session"

// cutSession takes the session off a path: /~{session}/…, with a literal tilde alone (rule AA6). It returns the rest of
// the path, and whether there was a session.
func cutSession(path string) (name, rest string, named bool) {
	below, named := strings.CutPrefix(path, "/~")
	if !named {
		return "", path, false
	}
	if slash := strings.IndexByte(below, '/'); slash >= 0 {
		return below[:slash], below[slash:], true
	}
	return below, "/", true
}

// nameSession finds the name of the session that the request belongs to, by the header or the path. The mock sees neither
// (rule AA12).
func (c *call) nameSession() {
	c.sessionName, c.target.path, c.sessionInPath = cutSession(c.target.path)
	if lines := c.request.Header[headerSession]; len(lines) > 0 {
		c.sessionInHeader, c.sessionClash = true, len(lines) > 1 || c.sessionInPath && lines[0] != c.sessionName
		c.sessionName = lines[0]
	}
}

// join finds the request's session, and begins it when it is new (rule AA7).
func (c *call) join() *failure {
	if !c.sessionInPath && !c.sessionInHeader {
		c.enter(c.program.sessions.Default())
		return nil
	}
	switch {
	case c.sessionClash:
		return badSession("The path and the header " + headerSession + " name different sessions, or there are several of the header.")
	case !session.ValidName(c.sessionName):
		return badSession("The name of a session is 1 to 64 of A-Z, a-z, 0-9, point, underscore and hyphen, and does not begin as an id " +
			"does; " + quoted(c.sessionName) + " is no such name.")
	}
	begin := c.program.sessions.Join
	if c.looking {
		begin = c.program.sessions.Glimpse
	}
	s, err := begin(c.sessionName)
	if _, full := errors.AsType[*session.QuotaError](err); full {
		return &failure{
			status: http.StatusServiceUnavailable, code: mockbase.CodeTooManySessions, title: "Too many sessions",
			detail: "The session " + quoted(c.sessionName) + " would be new, and " + err.Error() + ".",
		}
	}
	c.enter(s)
	return nil
}

func badSession(detail string) *failure {
	return &failure{status: http.StatusBadRequest, code: mockbase.CodeBadRequest, title: "Bad session", detail: detail}
}

func (c *call) enter(s *session.Session) {
	c.session = s
	if c.looking {
		return
	}
	s.CountCall()
	if c.recording != nil {
		// The session's time of arrival: what is advanced while the request is under way does not count.
		c.exchange.SessionAt = c.exchange.At.Add(s.Timeline().Offset())
	}
}

// recordSession notes the session, the seed and the call. A request that was refused before it joined its session belongs
// to it nevertheless, if it lives.
func (c *call) recordSession(x *mockbase.Exchange) {
	s := c.session
	if s == nil {
		living, ok := c.program.sessions.Find(c.sessionOr(session.DefaultName))
		if !ok {
			return
		}
		s, x.SessionAt = living, x.At.Add(living.Timeline().Offset())
	}
	x.Session = mockbase.SessionRef{ID: s.ID(), Name: s.Name()}
	x.Seed, x.Forced = c.seed(s), c.forced
	if c.outcome.route != nil && c.outcome.response != nil && c.outcome.by != mockbase.AnsweredBySimulatedLimit {
		x.Call = c.instant.number
	}
}

func (c *call) sessionOr(name string) string {
	if c.sessionInPath || c.sessionInHeader {
		return c.sessionName
	}
	return name
}

// seed is the seed of the call: the preferred one, else that of the session (rule AA20).
func (c *call) seed(s *session.Session) string {
	if c.preferred.seed != "" {
		return c.preferred.seed
	}
	return s.Seed()
}
