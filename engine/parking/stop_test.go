package parking_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

// stopping begins a stop and returns once new connections are refused.
func (d *delaying) stopping(t *testing.T) (ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	go func() { ended <- d.lot.Shutdown(t.Context()) }()
	testkit.Eventually(t, "new connections are refused", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
		if err != nil {
			return true
		}
		_ = conn.Close()
		return false
	})
	return ended
}

// RFC 9112, section 9.6: who is told nothing may send the next request, which would be lost.
func TestN13_an_answer_during_a_stop_says_that_the_connection_closes(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	late, followed, holds := testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr)
	for _, conn := range []*testkit.HTTPConn{late, followed, holds} {
		conn.Send(lateRequest)
	}
	testkit.Eventually(t, "the answers wait", func() bool { return d.parked.Load() == 3 })
	followed.Send(nextRequest)
	d.mu.Lock()
	last := d.wakes[2]
	others := d.wakes[:2]
	d.mu.Unlock()
	ended := d.stopping(t)
	for _, wake := range others {
		wake()
	}
	last()
	for _, conn := range []*testkit.HTTPConn{late, followed, holds} {
		got := conn.Read("GET")
		expect(t, got, http.StatusOK, "answer to /later ")
		if got.Get("Connection") != "close" {
			t.Error("the answer does not say that the connection closes")
		}
		if !conn.Closed(patience) {
			t.Error("the connection is open")
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestN13_an_answer_over_TLS_during_a_stop_says_that_the_connection_closes(t *testing.T) {
	t.Parallel()
	d, transport := serveSecure(t)
	conn := dialSecure(t, d, transport)
	_, _ = io.WriteString(conn, lateRequest)
	testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
	ended := d.stopping(t)
	d.wake(t, 1)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if !answer.Close {
		t.Error("the answer does not say that the connection closes")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// As with net/http, who has just connected is not turned away.
func TestN13_a_new_connection_may_still_send_its_request(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	fresh, silent, idle := testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr)
	idle.Send(nextRequest)
	expect(t, idle.Read("GET"), http.StatusOK, "answer to /next ")
	testkit.Eventually(t, "the lot has all connections", func() bool { return d.lot.Quiet() == 3 })
	ended := d.stopping(t)
	if !idle.Closed(patience) {
		t.Error("a connection between two requests is open")
	}
	fresh.Send(nextRequest)
	got := fresh.Read("GET")
	expect(t, got, http.StatusOK, "answer to /next ")
	if got.Get("Connection") != "close" || !fresh.Closed(patience) {
		t.Error("the answer does not say that the connection closes, or it is open")
	}
	if !silent.Closed(patience) {
		t.Error("a connection without a byte stays open")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Behind a request HTTP/2 does not begin, whether or not the connection was in the lot.
func TestN10_HTTP2_begins_at_the_beginning_only(t *testing.T) {
	t.Parallel()
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	d := serveDelaying(t, parking.Options{})
	for cut := range len(preface) {
		conn := testkit.DialHTTP(t, d.addr)
		conn.Send(nextRequest)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
		testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
		conn.Send(preface[:cut])
		<-time.After(time.Millisecond)
		conn.Send(preface[cut:])
		if got := conn.Read("GET"); got.Status != http.StatusHTTPVersionNotSupported || !conn.Closed(patience) {
			t.Errorf("cut at %d: %s, or open", cut, got.StatusLine)
		}
	}
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(nextRequest)
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
	conn.Send("PRI /next HTTP/1.1\r\nHost: x\r\n\r\n")
	expect(t, conn.Read("PRI"), http.StatusOK, "answer to /next ")
}

// RFC 9112, section 2.2.
func TestN2_empty_lines_before_the_next_request_are_passed_over(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{"\r\n", "\n", "\r\n\r\n", "\n\n\n"} {
		d := serveDelaying(t, parking.Options{})
		conn := testkit.DialHTTP(t, d.addr)
		conn.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		expect(t, conn.Read("POST"), http.StatusOK, "answer to /a ")
		testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
		conn.Send(blank + nextRequest)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
		testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
		conn.Send(blank)
		<-time.After(2 * time.Millisecond)
		conn.Send(lateRequest + blank)
		d.wake(t, 1)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /later ")
		conn.Send(nextRequest)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	}
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(nextRequest)
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
	conn.Send("\r\n\r\n\r\n\r\n\r\nGET /next HT")
	if got := conn.Read("GET"); got.Status != http.StatusBadRequest {
		t.Errorf("behind five empty lines: %s", got.StatusLine)
	}
}

// A client that leaves behind an empty line is noticed (rule Q5).
func TestQ5_an_empty_line_behind_a_delayed_request_is_not_the_next_request(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(lateRequest)
	testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
	conn.Send("\r\n")
	<-time.After(2 * time.Millisecond)
	conn.Close()
	testkit.Eventually(t, "the answer is given up", func() bool { return d.left.Load() == 1 })
}

// A stop may overtake the start of a server: whoever has connected meanwhile must not wait for ever.
func TestN13_a_listener_that_comes_after_the_end_is_closed(t *testing.T) {
	t.Parallel()
	d := &delaying{}
	d.listen(t, parking.Options{})
	l := d.listener(t)
	early := testkit.DialHTTP(t, d.addr)
	if err := d.lot.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.lot.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("serve after the end: %v", err)
	}
	if !early.Closed(patience) {
		t.Error("the connection is open")
	}
}
