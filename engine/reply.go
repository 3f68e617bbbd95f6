package engine

import (
	"strconv"

	"github.com/mockbase/mockbase"
)

// response is one compiled response of a mock. It is immutable.
type response struct {
	// name is that of the author, or r1, r2 and so on.
	name   string
	source *mockbase.Response
	delay  delays
	reply  reply
}

// reply is how a response becomes bytes: fixed bytes, rendered ones, a script of events, an upstream's answer.
type reply interface {
	// prepare works out what will be sent, once for each call and before its delay. A failure is answered instead, without
	// a delay.
	prepare(c *call) (sending, *failure)
}

// sending is an answer that only has to be written. It notes in the call's outcome what was sent: status, header, body,
// and whether the client left.
type sending interface {
	send(c *call)
}

// compileResponses compiles every response of a mock. Pointers are relative to the mock.
func compileResponses(c *mockbase.Config, s *settings, m *mockbase.Mock) []response {
	list := make([]response, len(m.Responses))
	for i := range m.Responses {
		source := &m.Responses[i]
		r := &list[i]
		r.source, r.name = source, source.Name
		if r.name == "" {
			r.name = "r" + strconv.Itoa(i+1)
		}
		r.delay = delays{own: source.Delay, byDefault: c.Defaults.Delay}
		r.reply = compileReply(c, s, m, source)
	}
	return list
}

// compileReply finds the kind of a response.
func compileReply(c *mockbase.Config, s *settings, m *mockbase.Mock, source *mockbase.Response) reply {
	d := draft{
		status: source.Status, kind: source.Body.Kind, body: source.Body.Bytes,
		headers:  mergeHeaders(c.Defaults.Headers, source.Headers),
		decision: s.decision(m.Name),
	}
	return d.compile(s)
}

// give answers with a response: it works the answer out, waits, and sends it (rule Q2).
func (c *call) give(r *response) {
	c.outcome.response = r
	ready, failed := r.reply.prepare(c)
	if failed != nil {
		c.refuse(failed)
		return
	}
	if delay := r.delay.draw(); delay > 0 && !c.wait(delay) {
		return
	}
	ready.send(c)
}
