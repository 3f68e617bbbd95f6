package parking

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	// farewell is how long a client may still send after it was told that it should have spoken TLS, and mostFarewell how much.
	farewell     = 500 * time.Millisecond
	mostFarewell = 256 << 10
)

// refuseClear answers a request that came in clear where TLS is spoken, in net/http's place, and closes the connection. It
// reports false where the handshake failed of anything else.
func (l *line) refuseClear(err error) bool {
	record, ok := errors.AsType[tls.RecordHeaderError](err)
	if !ok || record.Conn == nil || l.lot.refuse == nil || !beginsRequest(record.RecordHeader) {
		return false
	}
	answer := l.lot.refuse(&Refused{Status: http.StatusBadRequest, InClear: true})
	if answer == nil {
		return false
	}
	defer answer.Body.Close()
	if string(record.RecordHeader[:]) == "HEAD " {
		answer.Request = &http.Request{Method: http.MethodHead}
	}
	_ = l.conn.SetDeadline(time.Now().Add(farewell))
	if _, err := l.conn.Write(written(answer)); err == nil {
		if half, ok := l.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		// A connection that is closed before all is read takes the answer back from a client that still sends.
		_, _ = io.CopyN(io.Discard, l.conn, mostFarewell)
	}
	_ = l.conn.Close()
	return true
}

// beginsRequest tells whether what should be the head of a TLS record is the beginning of a request of HTTP/1.
func beginsRequest(head [5]byte) bool {
	return slices.Contains([]string{"GET /", "HEAD ", "POST ", "PUT /", "DELET", "PATCH", "OPTIO", "TRACE", "CONNE"}, string(head[:]))
}
