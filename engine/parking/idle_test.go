package parking_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestN2_a_connection_goes_on_however_long_it_was_quiet(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	for i := range int64(3) {
		conn.Send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n")
		expect(t, conn.Read("POST"), http.StatusOK, "answer to /a abc")
		testkit.Eventually(t, "the connection is with the lot", func() bool { return d.lot.Quiet() == 1 })
		if d.conns.Load() != i+1 {
			t.Errorf("net/http was given %d connections, want %d", d.conns.Load(), i+1)
		}
	}
}

func TestN2_a_busy_connection_stays_with_net_http(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{Linger: patience / 2})
	conn := testkit.DialHTTP(t, d.addr)
	for range 20 {
		conn.Send(nextRequest)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	}
	if d.conns.Load() != 1 {
		t.Errorf("net/http was given %d connections", d.conns.Load())
	}
}

// A new connection costs net/http nothing before its first byte.
func TestN12_a_connection_without_a_request_is_closed_in_time(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{}, func(s *http.Server) { s.ReadHeaderTimeout, s.IdleTimeout = 2*time.Second, 2500*time.Millisecond })
	fresh := testkit.DialHTTP(t, d.addr)
	if !fresh.Closed(patience) {
		t.Error("a connection without a byte stays open")
	}
	if d.conns.Load() != 0 {
		t.Error("net/http was given a connection without a byte")
	}
	half := testkit.DialHTTP(t, d.addr)
	half.Send("GET /next HTTP/1.1\r\nHo")
	if got := half.Read("GET"); got.Status != http.StatusBadRequest || !half.Closed(patience) {
		t.Errorf("half a head is answered %s, or stays open", got.StatusLine)
	}
	idle := testkit.DialHTTP(t, d.addr)
	before := time.Now()
	idle.Send(nextRequest)
	expect(t, idle.Read("GET"), http.StatusOK, "answer to /next ")
	if !idle.Closed(patience) {
		t.Error("an idle connection stays open")
	}
	if took := time.Since(before); took < 2500*time.Millisecond {
		t.Errorf("an idle connection was closed after %s", took)
	}
}

// What came of the next request is with net/http, so the connection stays there.
func TestN2_the_beginning_of_the_next_request_is_not_lost(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"G", "GET /ne", "\r\n"} {
		d := serveDelaying(t, parking.Options{})
		conn := testkit.DialHTTP(t, d.addr)
		conn.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" + begin)
		expect(t, conn.Read("POST"), http.StatusOK, "answer to /a ")
		<-time.After(20 * time.Millisecond) // Longer than a quiet connection stays.
		conn.Send(strings.TrimPrefix(nextRequest, begin))
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	}
}

// N5: with both lengths the chunks count, and what follows is not believed.
func TestN5_a_request_with_two_lengths_is_the_last_of_its_connection(t *testing.T) {
	t.Parallel()
	const both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	for name, request := range map[string]string{
		"in one piece":     "POST /a HTTP/1.1\r\nHost: x\r\n" + both,
		"behind much else": "POST /a HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 60_000) + "\r\n" + both,
		"in lower case":    "POST /a HTTP/1.1\r\nHost: x\r\n" + strings.ToLower(both),
		"in bare lines":    "POST /a HTTP/1.1\nHost: x\n" + strings.Replace(both, "\r\n", "\n", 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serveDelaying(t, parking.Options{})
			conn := testkit.DialHTTP(t, d.addr)
			conn.Send(request + nextRequest)
			got := conn.Read("POST")
			expect(t, got, http.StatusOK, "answer to /a abc")
			if got.Get("Connection") != "close" {
				t.Error("the answer does not say that the connection closes")
			}
			if !conn.Closed(patience) {
				t.Error("the connection is open, or the second request was answered")
			}
		})
	}
}

func TestN5_a_head_in_single_bytes_is_seen_through(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	for _, b := range "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" {
		conn.Send(string(b))
		<-time.After(100 * time.Microsecond)
	}
	expect(t, conn.Read("POST"), http.StatusOK, "answer to /a ")
	if !conn.Closed(patience) {
		t.Error("the connection is open")
	}
}

func TestN5_a_second_request_with_two_lengths_is_seen_too(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(nextRequest + "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + nextRequest)
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	expect(t, conn.Read("POST"), http.StatusOK, "answer to /a ")
	if !conn.Closed(patience) {
		t.Error("the connection is open")
	}
}

// RFC 9112, section 6.1: an old client that names a transfer coding does not know what it says.
func TestN5_a_transfer_coding_on_HTTP_1_0_closes_the_connection(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send("POST /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc" + nextRequest)
	expect(t, conn.Read("POST"), http.StatusOK, "answer to /a abc")
	if !conn.Closed(patience) {
		t.Error("the connection is open, or the second request was answered")
	}
}

func TestN5_the_last_answer_is_one_that_was_delayed(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send("POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	d.wake(t, 1)
	expect(t, conn.Read("POST"), http.StatusOK, "answer to /later ")
	conn.Send(nextRequest)
	if !conn.Closed(patience) {
		t.Error("the connection is open, or the second request was answered")
	}
}
