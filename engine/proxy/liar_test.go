package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// liar is an upstream that keeps its connections, and answers every request with the same bytes.
func liar(t *testing.T, answer string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for in := bufio.NewReader(conn); ; {
					if _, err := readRaw(in); err != nil {
						return
					}
					if _, err := io.WriteString(conn, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// What an upstream sends beyond the length that it stated is nobody's answer, least of all the next one.
func TestT12_more_than_the_stated_length_goes_nowhere(t *testing.T) {
	t.Parallel()
	const smuggled = "HTTP/1.1 299 Smuggled\r\nContent-Length: 0\r\n\r\n"
	for name, test := range map[string]struct {
		method, answer string
		status         int
		body           string
	}{
		"a longer body":       {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234" + smuggled, 200, "01234"},
		"more than chunks":    {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\n\r\n" + smuggled, 200, "01234"},
		"both lengths":        {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\n\r\n", 200, "01234"},
		"a body of a 204":     {"GET", "HTTP/1.1 204 No Content\r\n\r\n" + smuggled, 204, ""},
		"a body of a 304":     {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n" + smuggled, 304, ""},
		"a body after a HEAD": {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, mockbase.Proxy{To: "http://" + liar(t, test.answer)}, nil)
			for i := range 5 {
				request, err := http.NewRequestWithContext(t.Context(), test.method, f.URL, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(got.Body)
				got.Body.Close()
				if err != nil || got.StatusCode != test.status || string(body) != test.body {
					t.Errorf("request %d is answered %d %q, %v", i+1, got.StatusCode, body, err)
				}
			}
		})
	}
}

// Rule T10: what is no answer is a 502 that says why, soon and within bounds.
func TestT10_an_answer_that_cannot_be_read_is_502(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"two lengths":           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n012345",
		"a length that is none": "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n01234",
		"a length below zero":   "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n01234",
		"a length beyond all":   "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n01234",
		"another coding":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"no HTTP":               "SSH-2.0-OpenSSH_9.2\r\n",
		"no status":             "HTTP/1.1 abc\r\n\r\n",
		"half a header":         "HTTP/1.1 200 OK\r\nX: ",
		"an endless header":     "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 8<<10)+"\r\n", 2<<10),
		"endless 1xx":           strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1<<10)+"\r\n\r\n", 20<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream, _ := rawUpstream(t, answer)
			f := newFront(t, mockbase.Proxy{To: "http://" + upstream}, nil)
			got := exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close\n\n")
			if !strings.Contains(got, "HTTP/1.1 502 ") {
				t.Errorf("answered %.200q", got)
			}
			select {
			case failure := <-f.failures:
				if failure.Status != http.StatusBadGateway || failure.Error() == "" || failure.Aborted {
					t.Errorf("got %+v: %v", failure, failure)
				}
			case <-time.After(time.Minute):
				t.Error("no failure is told of")
			}
		})
	}
}

// Rule T10: a body that never comes ends with the time for it, one that never ends with its client.
func TestT10_a_body_without_an_end_ends_with_its_client(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := readRaw(bufio.NewReader(conn)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = io.WriteString(conn, "10\r\n0123456789abcdef\r\n")
		}
	}()
	f := newFront(t, mockbase.Proxy{To: "http://" + listener.Addr().String()}, nil)
	got, err := http.Get(f.URL) //nolint:forbidigo // a client that does not matter
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, got.Body, 4<<20); err != nil {
		t.Fatalf("read %d bytes: %v", n, err)
	}
	got.Body.Close()
	<-ended
	if result := <-f.results; !result.Aborted || len(result.Body) > 1<<10 {
		t.Errorf("aborted %t, %d bytes kept", result.Aborted, len(result.Body))
	}
}
