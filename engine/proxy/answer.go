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
		c.trailer(answer)
	}
	return result, nil
}

// head writes status and header, and announces the trailers.
func (c *call) head(result *Result, answer *http.Response) {
	h := c.w.Header()
	if names := slices.Sorted(maps.Keys(answer.Trailer)); len(names) > 0 {
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
	if answer.ContentLength < 0 && !c.noBody(answer) {
		_ = flush()
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
