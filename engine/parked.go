package engine

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/mockbase/mockbase/engine/parking"
)

// parked is the rest of a call whose handler has returned: its answer goes on when its delay is over.
type parked struct {
	call     *call
	response *response
	// handler is held until the handler that parked the call is through with it: a server that closes does not wait for that.
	handler sync.Mutex
	ready   sending
	delay   time.Duration
	began   time.Time
	// header is what was set for the answer so far.
	header http.Header
	// stopTime and stopEnd end what would end the delay.
	stopTime, stopEnd func() bool
}

// park leaves the connection to the lot until a delay is over, if there is a lot and it takes it (rule Q4). The call must
// end then without an answer.
func (c *call) park(r *response, ready sending, delay time.Duration) bool {
	if c.looking || c.errand != nil || c.outcome.unread {
		return false
	}
	p := &parked{call: c, response: r, ready: ready, delay: delay, began: c.engine.options.Clock(), header: c.w.Header()}
	p.handler.Lock()
	wake, ok := parking.Park(c.request, delay, &parking.Delayed{Answer: p.answer, Left: p.left})
	if !ok {
		return false
	}
	c.parked, c.w = p, nil
	p.stopTime = c.clock().Wake(delay, wake)
	p.stopEnd = context.AfterFunc(c.engine.ended, wake)
	return true
}

// answer goes on with the call.
func (p *parked) answer(w http.ResponseWriter, r *http.Request) {
	p.handler.Lock()
	c := p.call
	defer c.engine.done(c)
	c.parked = nil
	p.stopTime()
	p.stopEnd()
	c.w, c.request = w, c.request.WithContext(r.Context())
	// What the client sent is read, and the connection is another one to net/http.
	c.request.Body = http.NoBody
	maps.Copy(w.Header(), p.header)
	if c.waited(p.delay, p.began) {
		c.complete(p.response, p.ready)
	} else {
		c.expectHooks(p.response)
	}
	c.finish()
}

// left ends the call of a client that has gone.
func (p *parked) left() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// Nothing is sent, and ending the connection is left to the lot.
	p.call.engine.broken(func() { p.answer(newCapture(0), (&http.Request{}).WithContext(ctx)) })
}
