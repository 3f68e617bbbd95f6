package testkit_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/internal/testkit"
)

// speaks is the address of a server that sends text to whoever connects, whatever it is asked, and closes.
func speaks(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, text)
			conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestRawHTTP_shows_lines_in_their_order_and_letters(t *testing.T) {
	t.Parallel()
	addr := speaks(t, "HTTP/1.1 429 Too Many\r\nRateLimit: a\r\nx-b:1\r\nX-B: \t2 \r\nContent-Length: 4\r\n\r\nbodyrest")
	got := testkit.RawHTTP(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want := &testkit.Answer{
		StatusLine: "HTTP/1.1 429 Too Many",
		Status:     429,
		Lines:      []testkit.HeaderLine{{Name: "RateLimit", Value: "a"}, {Name: "x-b", Value: "1"}, {Name: "X-B", Value: "2"}, {Name: "Content-Length", Value: "4"}},
		Body:       []byte("body"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Get("ratelimit") != "a" || got.Get("none") != "" || len(got.Values("X-b")) != 2 {
		t.Errorf("values are %q, %q, %q", got.Get("ratelimit"), got.Get("none"), got.Values("X-b"))
	}
}

func TestRawHTTP_takes_bodies_as_they_are_framed(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, method, answer, body string
		chunks                     []int
	}{
		{"up to the end", "GET", head + "\r\nall of it", "all of it", nil},
		{"chunked", "GET", head + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", "body0123456789", []int{4, 10}},
		{"none after HEAD", "HEAD", head + "Content-Length: 9\r\n\r\n", "", nil},
		{"none after 204", "GET", "HTTP/1.1 204 No Content\r\n\r\n", "", nil},
		{"none after 304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", nil},
		{"after interim answers", "GET", "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + head + "Content-Length: 2\r\n\r\nok", "ok", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := testkit.RawHTTP(t, speaks(t, c.answer), c.method+" / HTTP/1.1\r\n\r\n")
			if string(a.Body) != c.body || !cmp.Equal(a.Chunks, c.chunks) {
				t.Errorf("body %q in chunks %v", a.Body, a.Chunks)
			}
			if interim := strings.Count(c.answer, "HTTP/1.1 10"); len(a.Interim) != interim {
				t.Errorf("interim answers are %q", a.Interim)
			}
		})
	}
}

func TestRawHTTP_shows_trailers(t *testing.T) {
	t.Parallel()
	a := testkit.RawHTTP(t, speaks(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-End: yes\r\n\r\n"), "GET / HTTP/1.1\r\n\r\n")
	if diff := cmp.Diff([]testkit.HeaderLine{{Name: "X-End", Value: "yes"}}, a.Trailer); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTryRead_shows_what_came_and_why_it_ended(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, answer, body string
		cut                error
		says               string
	}{
		{"nothing", "", "", io.EOF, ""},
		{"within the status line", "HTTP/1.1 2", "", io.ErrUnexpectedEOF, ""},
		{"within the headers", head + "A: b\r\n", "", io.ErrUnexpectedEOF, ""},
		{"within the body", head + "Content-Length: 9\r\n\r\nfour", "four", io.ErrUnexpectedEOF, ""},
		{"before the body", head + "Content-Length: 9\r\n\r\n", "", io.ErrUnexpectedEOF, ""},
		{"within a chunk", head + "Transfer-Encoding: chunked\r\n\r\n9\r\nfour", "four", io.ErrUnexpectedEOF, ""},
		{"between chunks", head + "Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n", "four", io.ErrUnexpectedEOF, ""},
		{"bad chunk size", head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "", nil, `malformed chunk size "xyz"`},
		{"long chunk", head + "Transfer-Encoding: chunked\r\n\r\n2\r\nfour\r\n", "fo", nil, `ends with "ur"`},
		{"no HTTP", "SSH-2.0 hello\r\n", "", nil, "malformed status line"},
		{"bare line feed", "HTTP/1.1 200 OK\nA: b\n\n", "", nil, "does not end with CR LF"},
		{"bad length", head + "Content-Length: -1\r\n\r\n", "", nil, "malformed Content-Length"},
		{"bad line", head + "no colon\r\n\r\n", "", nil, "malformed header line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := testkit.DialHTTP(t, speaks(t, c.answer))
			conn.Send("GET / HTTP/1.1\r\n\r\n")
			a, err := conn.TryRead("GET")
			if err == nil || c.cut != nil && !errors.Is(err, c.cut) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v %s", err, c.cut, c.says)
			}
			if string(a.Body) != c.body {
				t.Errorf("body %q, want %q", a.Body, c.body)
			}
		})
	}
}

func TestRead_ends_the_test_without_a_whole_answer(t *testing.T) {
	t.Parallel()
	addr := speaks(t, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour")
	report := judge(t, func(v *verdict) {
		testkit.RawHTTP(v, addr, "GET / HTTP/1.1\r\n\r\n")
		v.Errorf("it went on")
	})
	if !strings.Contains(report, `with the body "four"`) || strings.Contains(report, "it went on") {
		t.Errorf("it said %q", report)
	}
}

func TestHTTPConn_keeps_a_connection_and_sees_its_end(t *testing.T) {
	t.Parallel()
	arrived, aborted := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/last":
			w.Header().Set("Connection", "close")
		case "/slow":
			close(arrived)
			<-r.Context().Done()
			close(aborted)
		}
		io.WriteString(w, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	c := testkit.DialHTTP(t, server.Listener.Addr().String())
	for _, path := range []string{"/one", "/two"} {
		c.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.Read("GET"); string(a.Body) != path {
			t.Errorf("got %q for %s", a.Body, path)
		}
	}
	if c.Closed(10 * time.Millisecond) {
		t.Error("the server closed a connection that it keeps")
	}
	c.Send("GET /last HTTP/1.1\r\nHost: x\r\n\r\n")
	c.Read("GET")
	if !c.Closed(10 * time.Second) {
		t.Error("the server kept a connection that it said it would close")
	}
	gone := testkit.DialHTTP(t, server.Listener.Addr().String())
	gone.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-arrived
	gone.Reset()
	<-aborted
}
