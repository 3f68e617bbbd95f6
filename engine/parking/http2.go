package parking

import (
	"crypto/tls"
	"io"
	"maps"
	"net/http"
)

const (
	// roomHTTP2 is how much longer a head of HTTP/2 may be than it should, to be read and answered. What is longer still is
	// answered by net/http, or ends the connection: to read it costs memory, and to pass over it is not possible in HTTP/2,
	// where each head is needed to read the next one.
	roomHTTP2 = 192 << 10
	// fieldOverhead is what HTTP/2 counts for each field beside its name and value (RFC 9113, section 6.5.2).
	fieldOverhead = 32
)

// widen has net/http read longer heads of HTTP/2 than of HTTP/1. It is called when net/http is ready to serve, before it has a
// connection.
func (l *Lot) widen() {
	l.widened.Do(func() {
		if l.maxHead == 0 || l.refuse == nil {
			return
		}
		wide := &http.Server{
			MaxHeaderBytes: l.maxHead + roomHTTP2, ConnState: l.server.ConnState, ErrorLog: l.server.ErrorLog, HTTP2: l.server.HTTP2,
			ReadTimeout: l.server.ReadTimeout, WriteTimeout: l.server.WriteTimeout, ReadHeaderTimeout: l.server.ReadHeaderTimeout,
		}
		for protocol, serve := range l.server.TLSNextProto {
			l.server.TLSNextProto[protocol] = func(_ *http.Server, conn *tls.Conn, next http.Handler) { serve(wide, conn, next) }
		}
	})
}

// refuses answers a request of HTTP/2 whose head is too long, or that expects what nobody does. It returns false for all others.
func (l *Lot) refuses(w http.ResponseWriter, r *http.Request) bool {
	refused := &Refused{Secure: r.TLS != nil, HTTP2: true}
	switch {
	case l.refuse == nil:
		return false
	case l.maxHead > 0 && listSize(r) > l.maxHead:
		refused.Status, refused.InLine = http.StatusRequestHeaderFieldsTooLarge, len(r.RequestURI) > l.maxHead
	case r.Header.Get(nameExpect) != "": // net/http takes away the one that it meets.
		refused.Status = http.StatusExpectationFailed
	default:
		return false
	}
	answer := l.refuse(refused)
	if answer == nil {
		return false
	}
	defer answer.Body.Close()
	clear(r.Header) // The answer may wait for a slow client, and what was too long need not.
	r.RequestURI, r.URL, r.Host = "", nil, ""
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // Who does not read it has left.
	return true
}

// listSize is the length of a head as HTTP/2 counts.
func listSize(r *http.Request) int {
	size := 4*fieldOverhead + len(":method:scheme:authority:pathhttps") + len(r.Method) + len(r.Host) + len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + fieldOverhead
		}
	}
	return size
}
