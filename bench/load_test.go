package bench_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
)

// serving is the address of a handler that is served as the product's listener would.
func serving(tb testing.TB, h http.Handler) string {
	tb.Helper()
	addr, end, err := bench.Listen(tb.Context(), h)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(end)
	return addr
}

func request(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
}

func TestLoad_sends_every_request_as_often_as_it_was_told(t *testing.T) {
	t.Parallel()
	var one, two atomic.Int64
	addr := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/one":
			one.Add(1)
		case "/two":
			two.Add(1)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, strings.Repeat("x", int(one.Load()%100)))
	}))
	load := bench.Load{Addr: addr, Requests: [][]byte{request("/one"), request("/two"), request("/three")}, Clients: 3, Count: 300}
	out, err := load.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Requests != 300 || out.Refused != 300-one.Load()-two.Load() || out.Refused == 0 || one.Load() == 0 || two.Load() == 0 {
		t.Errorf("%+v, of which /one %d and /two %d", out, one.Load(), two.Load())
	}
	if out.PerSecond() <= 0 {
		t.Errorf("%v a second", out.PerSecond())
	}
}

func TestLoad_ends_after_its_time_and_with_its_context(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int64
	addr := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if io.WriteString(w, "ok"); r.URL.Path == "/cancel" && asked.Add(1) == 10 {
			cancel()
		}
	}))
	load := bench.Load{Addr: addr, Requests: [][]byte{request("/")}, Clients: 2, For: 20 * time.Millisecond, Pause: time.Millisecond}
	out, err := load.Run(t.Context())
	if err != nil || out.Requests == 0 {
		t.Errorf("%+v, %v", out, err)
	}
	load.For, load.Requests = time.Hour, [][]byte{request("/cancel")}
	if out, err = load.Run(ctx); err != nil || out.Requests == 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestLoad_says_what_it_cannot_do(t *testing.T) {
	t.Parallel()
	speaks := func(text string) string {
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
	one := [][]byte{request("/")}
	for _, c := range []struct {
		name string
		load bench.Load
		says string
	}{
		{"no end", bench.Load{Addr: "x", Requests: one, Clients: 1}, "never ends"},
		{"no clients", bench.Load{Addr: "x", Requests: one, Count: 1}, "never ends"},
		{"no requests", bench.Load{Addr: "x", Clients: 1, Count: 1}, "never ends"},
		{"nobody listens", bench.Load{Addr: "127.0.0.1:1", Requests: one, Clients: 1, Count: 1}, "connect to the server"},
		{"the answer is cut", bench.Load{Addr: speaks("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour"), Requests: one, Clients: 1, Count: 1}, "read answer 1: EOF"},
		{"the answer has no length", bench.Load{Addr: speaks("HTTP/1.1 200 OK\r\n\r\n"), Requests: one, Clients: 1, Count: 1}, "without a length"},
		{"the answer's length is no number", bench.Load{Addr: speaks("HTTP/1.1 200 OK\r\nContent-Length: x\r\nA: b\r\n\r\n"), Requests: one, Clients: 1, Count: 1}, `length "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.load.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
