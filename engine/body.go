package engine

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// What is still read of a body that is too large, so that its sender reads the answer (rule N8).
const (
	drainBytes = 256 << 10
	drainTime  = 250 * time.Millisecond
)

// readBody reads the request body, whatever the method, once and up to its limit (rules F1, F11 and N8). As much as is
// recorded is kept.
func (c *call) readBody() *failure {
	r := c.request
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	limit := c.program.settings.maxBody
	if r.ContentLength > limit {
		return bodyTooLarge(limit)
	}
	// This reader tells the server to close the connection when the limit is passed.
	limited := http.MaxBytesReader(c.w, r.Body, limit)
	var kept []byte
	var err error
	if c.recording != nil {
		kept, err = keep(limited, r.ContentLength, int64(c.engine.options.RecordCap))
	}
	var rest int64
	if err == nil {
		rest, err = io.Copy(io.Discard, limited)
	}
	c.outcome.received, c.outcome.receivedSize = kept, int64(len(kept))+rest
	if err != nil {
		return c.brokenBody(err, limit)
	}
	return nil
}

func (c *call) brokenBody(err error, limit int64) *failure {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bodyTooLarge(limit)
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
