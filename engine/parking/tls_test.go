package parking_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

// serveSecure serves over TLS, and returns how clients connect.
func serveSecure(t *testing.T) (*delaying, *http.Transport) {
	t.Helper()
	return serveSecureWith(t, parking.Options{})
}

func serveSecureWith(t *testing.T, o parking.Options) (*delaying, *http.Transport) {
	t.Helper()
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	borrowed.Close()
	d := &delaying{}
	d.listen(t, o, func(s *http.Server) { s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug) })
	config := &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	l := d.listener(t)
	go func() { _ = d.lot.ServeTLS(l, config) }()
	from, ok := borrowed.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the client of a test server has another transport")
	}
	transport := from.Clone()
	transport.ForceAttemptHTTP2 = true
	t.Cleanup(transport.CloseIdleConnections)
	return d, transport
}

func TestN10_HTTP2_and_HTTP1_are_served_over_TLS(t *testing.T) {
	t.Parallel()
	d, transport := serveSecure(t)
	if answer := get(t, transport, "https://"+d.addr+"/next"); answer.version != 2 || !answer.secure {
		t.Errorf("answered in HTTP/%d", answer.version)
	}
	old := transport.Clone()
	old.TLSClientConfig.NextProtos = []string{"http/1.1"}
	old.ForceAttemptHTTP2, old.TLSNextProto = false, nil
	t.Cleanup(old.CloseIdleConnections)
	for range 3 {
		if answer := get(t, old, "https://"+d.addr+"/next"); answer.version != 1 || answer.status != http.StatusOK {
			t.Errorf("answered %d in HTTP/%d", answer.status, answer.version)
		}
		<-time.After(5 * time.Millisecond) // Longer than a quiet connection stays.
	}
	if got := testkit.RawHTTP(t, d.addr, nextRequest); got.Status != http.StatusBadRequest {
		t.Errorf("a request in clear: %s", got.StatusLine)
	}
}

// M-5: also a request that comes in clear where TLS is spoken is answered by the owner, whatever its method.
func TestM5_a_request_in_clear_is_answered_by_the_owner(t *testing.T) {
	t.Parallel()
	d, _ := serveSecureWith(t, parking.Options{Refuse: func(r *parking.Refused) *http.Response {
		if !r.InClear || r.Secure {
			return nil
		}
		return &http.Response{
			StatusCode: r.Status, ProtoMajor: 1, ProtoMinor: 1, Close: true, Body: io.NopCloser(strings.NewReader("own")), ContentLength: 3,
		}
	}})
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		got := testkit.RawHTTP(t, d.addr, method+" /next HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		want := "own"
		if method == http.MethodHead {
			want = ""
		}
		if got.Status != http.StatusBadRequest || string(got.Body) != want {
			t.Errorf("%s in clear: %s %q", method, got.StatusLine, got.Body)
		}
	}
	other := testkit.DialHTTP(t, d.addr)
	other.Send("\x00\x01\x02\x03\x04\x05\x06")
	if got, err := other.TryRead(http.MethodGet); err == nil {
		t.Errorf("something else: %s", got.StatusLine)
	}
}

// dialSecure opens a connection that speaks HTTP/1.1 over TLS.
func dialSecure(t *testing.T, d *delaying, transport *http.Transport) net.Conn {
	t.Helper()
	config := transport.TLSClientConfig.Clone()
	config.NextProtos = nil
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// Over TLS the lot reads what TLS has opened.
func TestN5_and_delays_over_TLS(t *testing.T) {
	t.Parallel()
	d, transport := serveSecure(t)
	conn := dialSecure(t, d, transport)
	in := bufio.NewReader(conn)
	_, _ = io.WriteString(conn, lateRequest)
	testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
	_, _ = io.WriteString(conn, nextRequest)
	d.wake(t, 1)
	for _, want := range []string{"answer to /later ", "answer to /next "} {
		if got := readAnswer(t, in); got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
	}
	_, _ = io.WriteString(conn, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+nextRequest)
	if got := readAnswer(t, in); got != "answer to /a " {
		t.Errorf("answered %q", got)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after two lengths: %q, %v", rest, err)
	}
}

func readAnswer(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestN13_a_handshake_that_never_ends_ends_with_the_server(t *testing.T) {
	t.Parallel()
	d, _ := serveSecure(t)
	testkit.DialHTTP(t, d.addr)
	testkit.Eventually(t, "the handshake begins", func() bool { return d.lot.Quiet() == 1 })
	if err := d.lot.Close(); err != nil {
		t.Error(err)
	}
}

// A connection that has just changed to TLS is closed like any other.
func TestN13_close_meets_handshakes_that_are_about_to_end(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		d, transport := serveSecure(t)
		config := transport.TLSClientConfig.Clone()
		config.NextProtos = nil
		var dialing sync.WaitGroup
		for range 8 {
			dialing.Go(func() {
				conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", d.addr)
				if err == nil {
					_ = conn.Close()
				}
			})
		}
		// Each round meets them at another moment.
		<-time.After(time.Duration(round) * time.Millisecond)
		if err := d.lot.Close(); err != nil {
			t.Error(err)
		}
		dialing.Wait()
	}
}
