package engine

import (
	"io"
	"net/http"
	"time"
)

// extendBytes is after how many bytes of a body of unknown length its time is extended.
const extendBytes = 4 * bodyRate

// timed reads a body. One whose length is not known has more time for what came of it (rule N12).
func (c *call) timed(body io.ReadCloser) io.ReadCloser {
	if c.bodyUntil.IsZero() || c.request.ContentLength >= 0 {
		return body
	}
	return &extending{ReadCloser: body, call: c, next: extendBytes}
}

// extending extends the time of a body as it comes in.
type extending struct {
	io.ReadCloser

	call       *call
	read, next int64
}

// Read implements io.Reader.
func (e *extending) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	if e.read += int64(n); e.read >= e.next && err == nil {
		more := (e.read - e.next + extendBytes) / extendBytes
		e.next += more * extendBytes
		e.call.bodyUntil = e.call.bodyUntil.Add(time.Duration(more*extendBytes/bodyRate) * time.Second)
		_ = http.NewResponseController(e.call.w).SetReadDeadline(e.call.bodyUntil) // It could be set before.
	}
	return n, err //nolint:wrapcheck // it is the body's
}
