package engine

import (
	"bytes"
	"maps"
	"net/http"
	"time"

	"github.com/mockbase/mockbase"
)

// outcome is how a call ended.
type outcome struct {
	by    mockbase.AnsweredBy
	route *route
	// response is the one that was chosen of the route's.
	response *response
	// plain tells that the header holds nothing that is never recorded.
	plain  bool
	status int
	header http.Header
	body   []byte
	// bodySize is set where body holds less than was sent.
	bodySize int64
	// fault is the kind of the fault that broke the answer. It was seized if the connection no longer belongs to the
	// server, and cut if the server still has to break it.
	fault          string
	seized, cut    bool
	aborted        bool
	planned, slept time.Duration
	failure        string
	// heardSize is the length of the recorded messages.
	heardSize int
	// received are the first bytes of the request body.
	received     []byte
	receivedSize int64
	// unread tells that the body was left to the time after the answer.
	unread bool
}

// recording is the exchange in the making.
type recording struct{ exchange mockbase.Exchange }

// startRecording notes when a request of a known project arrived.
func (c *call) startRecording() {
	if c.engine.options.Journal != nil && c.known() {
		c.recording = &recording{mockbase.Exchange{At: c.engine.options.Clock()}}
		if !c.program.served.Load() {
			c.program.served.Store(true)
		}
	}
}

// id is the id of the exchange. An answer may name it whether or not it is recorded.
func (c *call) id() string {
	if c.recording == nil {
		return mockbase.NewID(mockbase.PrefixExchange, c.engine.options.Clock())
	}
	if c.exchange.ID == "" {
		c.exchange.ID = mockbase.NewID(mockbase.PrefixExchange, c.exchange.At)
	}
	return c.exchange.ID
}

// record hands the exchange to the journal.
func (c *call) record() {
	if c.recording == nil {
		return
	}
	x, r := &c.exchange, c.request
	c.id()
	x.ProjectID = c.program.project.ID
	x.Duration = c.engine.options.Clock().Sub(x.At)
	x.AnsweredBy = c.outcome.by
	x.DelayPlanned, x.DelaySlept = c.outcome.planned, c.outcome.slept
	x.ClientAborted, x.Fault = c.outcome.aborted, c.outcome.fault
	x.Error = c.outcome.failure
	c.recordSession(x)
	c.recordMoments(x)
	if c.errand != nil {
		x.Via, c.errand.exchange = mockbase.ViaManagement, x.ID
	}
	x.Client.IP = c.engine.options.ClientAddress(r)
	if agent := c.header[headerUserAgent]; len(agent) > 0 {
		x.Client.UserAgent = agent[0]
	}
	c.checkAnswer()
	c.recordRequest(&x.Request)
	c.recordResponse(&x.Response)
	c.recordClient(x)
	c.redact(x)
	c.engine.options.Journal.Record(x)
}

func (c *call) recordRequest(to *mockbase.RecordedRequest) {
	r := c.request
	to.Method, to.Proto, to.Host = r.Method, r.Proto, r.Host
	to.Target, to.RawQuery = rawTarget(r), c.rawQuery
	to.Path = c.target.path
	if c.located {
		to.Path = c.path.text()
	}
	to.Header = c.header
	if len(r.TransferEncoding) > 0 {
		// It was sent as a header line, which net/http keeps elsewhere.
		to.Header = maps.Clone(c.header)
		to.Header["Transfer-Encoding"] = r.TransferEncoding
	}
	to.Body, to.BodySize = firstBytes(c.outcome.received, c.engine.options.RecordCap), c.outcome.receivedSize
	to.Truncated = to.BodySize > int64(len(to.Body))
}

func (c *call) recordResponse(to *mockbase.RecordedResponse) {
	if c.outcome.route != nil {
		c.exchange.Mock = c.outcome.route.ref
	}
	if c.outcome.response != nil {
		to.Name = c.outcome.response.name
	}
	to.Status, to.Header = c.outcome.status, c.outcome.header
	to.BodySize = max(c.outcome.bodySize, int64(len(c.outcome.body)))
	to.Body = c.outcome.body[:min(len(c.outcome.body), c.engine.options.RecordCap)]
	to.Truncated = to.BodySize > int64(len(to.Body))
}

// firstBytes returns at most the first bytes, in memory of their own where that lets go of the rest.
func firstBytes(body []byte, most int) []byte {
	if len(body) <= most {
		return body
	}
	return bytes.Clone(body[:most])
}
