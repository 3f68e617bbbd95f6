package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// answer passes the upstream's answer back.
func (c *call) answer(out *http.Request, answer *http.Response) (*Result, error) {
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return c.tunnel(out, answer)
	}
	if answer.StatusCode < http.StatusOK {
		return nil, ErrorOf(fmt.Errorf("the upstream answered with the status %03d", answer.StatusCode))
	}
	result := &Result{Status: answer.StatusCode, Header: c.route.answerHeader(c.in, answer)}
	c.head(result, answer)
	c.copyBody(result, answer)
	if result.Broken == nil && !result.Aborted {
		result.Trailer = answer.Trailer
		if c.trails() {
			c.trailer(answer)
		}
	}
	return result, nil
}

// trails tells whether the client can get trailers: without chunks there are none (rule N1).
func (c *call) trails() bool { return c.in.In.ProtoAtLeast(1, 1) }

// head writes status and header, and announces the trailers.
func (c *call) head(result *Result, answer *http.Response) {
	h := c.w.Header()
	if names := slices.Sorted(maps.Keys(answer.Trailer)); len(names) > 0 && c.trails() {
		result.Header[headerTrailer] = []string{strings.Join(names, ", ")}
	}
	if c.in.Lay != nil {
		c.in.Lay(h, result.Header, answer.StatusCode)
	} else {
		maps.Copy(h, result.Header)
	}
	c.w.WriteHeader(answer.StatusCode)
}

// trailer writes the trailers; those that were not announced need a prefix.
func (c *call) trailer(answer *http.Response) {
	h := c.w.Header()
	announced := h.Get(headerTrailer)
	for name, lines := range answer.Trailer {
		if !listsToken([]string{announced}, name) {
			name = http.TrailerPrefix + name
		}
		h[name] = lines
	}
}

// copyBody passes the body on as it comes: what is not the end of it is flushed.
func (c *call) copyBody(result *Result, answer *http.Response) {
	flush := http.NewResponseController(c.w).Flush
	unbounded := isEventStream(answer.Header)
	if unbounded {
		c.silence.Stop()
		defer c.endWhenClosing()()
	}
	switch {
	case c.noBody(answer):
	case answer.ContentLength < 0:
		_ = flush()
	case answer.ContentLength > 0:
		head := announce(flush)
		defer head.passed()
		c.announced = head
	}
	buffer, _ := c.forwarder.buffers.Get().(*[copySize]byte)
	defer c.forwarder.buffers.Put(buffer)
	for more := true; more; {
		if !unbounded {
			c.silence.Reset(c.route.timeout)
		}
		n, err := answer.Body.Read(buffer[:])
		more = c.pass(result, buffer[:n], answer.ContentLength, flush)
		if err != nil && more {
			c.ended(result, err)
			return
		}
	}
}

// pass passes a piece on. It returns false when the client has left.
func (c *call) pass(result *Result, piece []byte, length int64, flush func() error) bool {
	if len(piece) == 0 {
		return true
	}
	result.keep(piece, c.in.Keep)
	c.announced.passed()
	if _, err := c.w.Write(piece); err != nil {
		result.Aborted = true
		return false
	}
	if result.BodySize != length {
		// The error comes back with the next piece.
		_ = flush()
	}
	return true
}

// noBody tells whether the answer cannot have a body.
func (c *call) noBody(answer *http.Response) bool {
	return c.in.In.Method == http.MethodHead || answer.StatusCode == http.StatusNoContent || answer.StatusCode == http.StatusNotModified
}

// ended notes how the body ended.
func (c *call) ended(result *Result, err error) {
	switch {
	case errors.Is(err, io.EOF):
	case c.in.In.Context().Err() != nil:
		result.Aborted = true
	case errors.Is(context.Cause(c.ctx), errTimeout):
		result.Broken = fmt.Errorf("%w (%s) in the middle of the body", errTimeout, c.route.timeout)
	case errors.Is(context.Cause(c.ctx), errClosing):
		result.Broken = errClosing
	default:
		result.Broken = fmt.Errorf("read body of the upstream: %w", err)
	}
}

// keep notes bytes that passed.
func (r *Result) keep(piece []byte, most int) {
	r.BodySize += int64(len(piece))
	r.Body = append(r.Body, piece[:max(0, min(len(piece), most-len(r.Body)))]...)
}

// isEventStream tells whether an answer lasts as long as the upstream likes.
func isEventStream(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get(headerContentType))
	return err == nil && media == "text/event-stream"
}

// headPatience is how long the header of an answer waits for the first bytes of its body, to be sent with them.
const headPatience = time.Millisecond

// announcement sends a header whose body is late (rule T11).
type announcement struct {
	timer *time.Timer

	// mu keeps the header and the body from being written at the same time.
	mu   sync.Mutex
	done bool
}

func announce(flush func() error) *announcement {
	a := &announcement{}
	a.timer = time.AfterFunc(headPatience, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.done {
			// The error comes back with the body.
			_ = flush()
		}
	})
	return a
}

// passed tells that the header goes out with the body, or is out. Nothing is flushed from then on. It may be called again.
func (a *announcement) passed() {
	if a == nil || a.timer == nil {
		return
	}
	a.timer.Stop()
	a.timer = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
}
