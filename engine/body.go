package engine

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/template"
)

// What is still read of a body that is too large, so that its sender reads the answer (rule N8).
const (
	drainBytes = 256 << 10
	drainTime  = 250 * time.Millisecond
)

// bodyTime is how long a body may take, with a second more for each bodyRate bytes of it, or of what came of it where its
// length is not known: who sends slowly on purpose holds a connection for no longer (rule N12).
const (
	bodyTime    = time.Minute
	bodyRate    = 16 << 10
	mostSeconds = 24 * 60 * 60
)

// How a body that nobody reads is passed over (rule N9): in pieces, each of which must come within a time, at most 64 GiB.
const (
	passBytes = 1 << 20
	passTime  = 5 * time.Second
	maxPassed = 64 << 10
)

// readBody reads the request body, whatever the method, once and up to its limit (rules F1, F11 and N8). All of it is kept
// if a candidate looks at it, and otherwise as much as is recorded. It stays unread where every candidate wants so (rule
// N9).
func (c *call) readBody() *failure {
	r := c.request
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if c.leavesBody() {
		// Nobody reads it until its turn comes, and then each read has a time.
		c.unboundBody()
		c.outcome.unread = true
		return nil
	}
	limit := c.program.settings.maxBody
	if r.ContentLength > limit {
		return bodyTooLarge(limit)
	}
	// This reader tells the server to close the connection when the limit is passed.
	limited := http.MaxBytesReader(c.w, c.timed(r.Body), limit)
	var kept []byte
	var rest int64
	var err error
	if most := c.keeps(limit); most > 0 {
		kept, err = keep(limited, r.ContentLength, most)
	}
	if err == nil {
		rest, err = io.Copy(io.Discard, limited)
	}
	c.outcome.received, c.outcome.receivedSize = kept, int64(len(kept))+rest
	if err != nil {
		return c.brokenBody(err, limit)
	}
	c.unboundBody()
	return c.readMessage(limit)
}

// boundBody bounds how long the body may take, also where nobody but the server reads it, to get at the next request.
func (c *call) boundBody() {
	r := c.request
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody || c.errand != nil {
		return
	}
	length := max(0, min(c.program.settings.maxBody, r.ContentLength))
	until := time.Now().Add(c.engine.options.BodyTime + time.Duration(min(length/bodyRate, mostSeconds))*time.Second)
	if http.NewResponseController(c.w).SetReadDeadline(until) == nil {
		c.bodyUntil = until
	}
}

// unboundBody ends that: what the connection is read for from now on is another matter. After an error the time stays over,
// so that the server waits for nothing more before it closes.
func (c *call) unboundBody() {
	if !c.bodyUntil.IsZero() {
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // It could be set before.
	}
}

// readMessage prepares the body for those that look at it. One that grows beyond its bounds when it is decoded, or has too
// many parts, is refused (rules F3 and I9); one that cannot be decoded only fails what looks at it.
func (c *call) readMessage(limit int64) *failure {
	reads, parts := c.readsBody()
	if !reads {
		return nil
	}
	c.message = body.New(c.outcome.received, c.header).Of(line{&c.inquiry}).Limit(limit).Within(&c.effort)
	_, err := c.message.Decoded()
	if errors.Is(err, body.ErrTooLarge) {
		return bodyExpands(limit)
	}
	if err == nil && parts {
		// What is no multipart body is a matter of the conditions.
		if _, err = c.message.Parts(); errors.Is(err, body.ErrTooLarge) {
			return tooManyParts()
		}
	}
	return nil
}

// keeps is how many bytes of a body are kept.
func (c *call) keeps(limit int64) int64 {
	switch reads, _ := c.readsBody(); {
	case reads:
		return limit
	case c.recording != nil:
		return int64(c.engine.options.RecordCap)
	default:
		return 0
	}
}

// readsBody tells whether a candidate, or the answer where there is none, looks at the body, and whether one looks at its
// parts.
func (c *call) readsBody() (reads, parts bool) {
	noMatch := c.program.settings.noMatch
	reads = noMatch != nil && noMatch.uses.Has(template.UsesBody) || c.program.settings.fallback != nil ||
		len(c.program.documents) > 0
	for _, l := range c.candidates() {
		reads, parts = reads || l.reads, parts || l.parts
	}
	return reads, parts
}

// leavesBody tells whether there is a candidate for this path, and none reads the body.
func (c *call) leavesBody() bool {
	if !c.program.leaves {
		return false
	}
	found := c.matching()
	for _, l := range found {
		for _, e := range l.all() {
			if !e.mock.LeaveBody {
				return false
			}
		}
	}
	return len(found) > 0
}

func (c *call) brokenBody(err error, limit int64) *failure {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bodyTooLarge(limit)
	}
	// The error of a trailer does not tell.
	if errors.Is(err, os.ErrDeadlineExceeded) || !c.bodyUntil.IsZero() && time.Now().After(c.bodyUntil) {
		return slowBody()
	}
	c.outcome.aborted = errors.Is(err, io.ErrUnexpectedEOF) || c.request.Context().Err() != nil
	return brokenBody(err)
}

// keep reads up to most bytes. A known length saves growing the buffer; it is not trusted beyond that.
func keep(from io.Reader, length, most int64) ([]byte, error) {
	var b bytes.Buffer
	if length > 0 {
		// One spare byte lets the buffer see the end without growing.
		b.Grow(int(min(length, most, drainBytes)) + bytes.MinRead)
	}
	_, err := io.CopyN(&b, from, most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b.Bytes(), err
}

// keepUnread lets the answer go out while the client still sends a body that nobody reads (rule N9). Without it, the
// server would read some of the body first, and then close the connection.
func (c *call) keepUnread() {
	if c.outcome.unread {
		// An error means that the protocol needs no such thing.
		_ = http.NewResponseController(c.w).EnableFullDuplex()
	}
}

// passUnread reads what the client still sends after the answer, and forgets it, as long as it comes in steadily.
func (c *call) passUnread() {
	if !c.outcome.unread {
		return
	}
	control := http.NewResponseController(c.w)
	each := min(passTime, c.engine.options.BodyTime)
	if c.request.Header.Get("Expect") != "" {
		// It may never come, and the server still looks for it.
		_ = control.SetReadDeadline(time.Now().Add(each))
		return
	}
	if control.Flush() != nil {
		return
	}
	for range maxPassed {
		if control.SetReadDeadline(time.Now().Add(each)) != nil {
			return
		}
		_, err := io.CopyN(io.Discard, c.request.Body, passBytes)
		if errors.Is(err, io.EOF) {
			// The next request of the connection has its own deadline.
			_ = control.SetReadDeadline(time.Time{})
			return
		}
		if err != nil {
			break
		}
	}
	c.closeAfter()
}

// closeAfter has the server close the connection behind the answer, whose head did not say so: what the client sends next is
// the rest of a body, and no request.
func (c *call) closeAfter() {
	w := c.w
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = outer.Unwrap()
	}
	// Passing a limit is the one way to tell the server.
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// drain reads a little of what is left of the body after the answer was written.
func (c *call) drain() {
	if c.request.Header.Get("Expect") != "" && c.outcome.receivedSize == 0 {
		// Reading would ask the client to send what was just refused (rule N4).
		return
	}
	control := http.NewResponseController(c.w)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	// An error means that nothing more comes.
	_, _ = io.CopyN(io.Discard, c.request.Body, drainBytes)
}
