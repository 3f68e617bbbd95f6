package parking_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

// No goroutine is left when everything is closed.
func TestMain(m *testing.M) {
	testkit.VerifyNoLeaks(m)
}

const patience = time.Minute

// delaying is a server whose answers can be delayed until the test wants them.
type delaying struct {
	lot  *parking.Lot
	addr string
	// conns counts the connections that net/http was given, parked the answers that were parked, left those that nobody
	// waited for.
	conns, parked, left atomic.Int64

	mu    sync.Mutex
	wakes []func()
}

// serveDelaying serves with a lot.
func serveDelaying(t *testing.T, o parking.Options, adapt ...func(*http.Server)) *delaying {
	t.Helper()
	d := &delaying{}
	d.listen(t, o, adapt...)
	l := d.listener(t)
	go func() { _ = d.lot.Serve(l) }()
	return d
}

func (d *delaying) listen(t *testing.T, o parking.Options, adapt ...func(*http.Server)) {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: d, ReadHeaderTimeout: patience, IdleTimeout: patience, Protocols: protocols, ErrorLog: nil}
	for _, a := range adapt {
		a(server)
	}
	if o.Linger == 0 {
		o.Linger = time.Millisecond
	}
	d.lot = parking.New(server, o)
	state := server.ConnState
	server.ConnState = func(conn net.Conn, s http.ConnState) {
		if s == http.StateNew {
			d.conns.Add(1)
		}
		state(conn, s)
	}
	t.Cleanup(func() { _ = d.lot.Close() })
}

func (d *delaying) listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = l.Addr().String()
	return l
}

// ServeHTTP answers with what the request was: at once, or below /later when wake is called.
func (d *delaying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	answer := func(w http.ResponseWriter) {
		w.Header().Set("Asked", r.Method+" "+r.RequestURI)
		if r.URL.Query().Has("chunked") {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(append([]byte("answer to "+r.RequestURI+" "), body...))
	}
	if !strings.HasPrefix(r.URL.Path, "/later") {
		answer(w)
		return
	}
	wake, ok := parking.Park(r, time.Hour, &parking.Delayed{
		Answer: func(w http.ResponseWriter, now *http.Request) {
			switch r.URL.Path {
			case "/later/hijacked":
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_, _ = io.WriteString(conn, "HTTP/1.1 299 Own\r\nContent-Length: 0\r\n\r\n")
					_ = conn.Close()
				}
			case "/later/until-left":
				<-now.Context().Done()
				d.left.Add(1)
			default:
				answer(w)
			}
		},
		Left: func() { d.left.Add(1) },
	})
	if !ok {
		w.Header().Set("Parked", "no")
		answer(w)
		return
	}
	d.mu.Lock()
	d.wakes = append(d.wakes, wake)
	d.mu.Unlock()
	d.parked.Add(1)
	panic(http.ErrAbortHandler)
}

// wake lets all delays end, once there are so many.
func (d *delaying) wake(t *testing.T, many int64) {
	t.Helper()
	testkit.Eventually(t, "the answers wait", func() bool { return d.parked.Load() == many })
	d.mu.Lock()
	wakes := d.wakes
	d.wakes = nil
	d.mu.Unlock()
	for _, w := range wakes {
		w()
		w() // Once more changes nothing.
	}
}

func expect(t *testing.T, got *testkit.Answer, status int, body string) {
	t.Helper()
	if got.Status != status || string(got.Body) != body {
		t.Fatalf("%s with body %q, want %d with %q", got.StatusLine, got.Body, status, body)
	}
}

const (
	lateRequest = "GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
	nextRequest = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"
)

func TestQ4_a_delayed_answer_comes_on_its_connection_which_goes_on(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	for i := range int64(3) {
		conn.Send(lateRequest)
		d.wake(t, i+1)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /later ")
		conn.Send(nextRequest)
		expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	}
	if d.left.Load() != 0 {
		t.Error("an answer was given up")
	}
}

func TestQ4_requests_behind_a_delayed_one_keep_their_order(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(lateRequest)
	testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
	conn.Send(nextRequest + "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + nextRequest)
	d.wake(t, 1)
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /later ")
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
	expect(t, conn.Read("POST"), http.StatusOK, "answer to /body abc")
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
}

// What came with the request is with net/http already, and cannot be given back.
func TestQ4_a_request_that_came_with_others_waits_in_its_handler(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(lateRequest + nextRequest)
	if got := conn.Read("GET"); got.Get("Parked") != "no" {
		t.Error("the answer was parked")
	}
	expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
}

// The answer is framed as if its handler had waited.
func TestQ4_a_delayed_answer_is_framed_for_its_request(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request, method, body, asked string
		closes, chunked              bool
	}{
		"HEAD":                {request: "HEAD /later HTTP/1.1\r\nHost: x\r\n\r\n", method: "HEAD", asked: "HEAD /later"},
		"a body":              {request: "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", method: "POST", body: "answer to /later abc"},
		"a body in chunks":    {request: "POST /later HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", method: "POST", body: "answer to /later abc"},
		"a body that waits":   {request: "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n", method: "POST", body: "answer to /later "},
		"an own method":       {request: "BREW /later HTTP/1.1\r\nHost: x\r\n\r\n", method: "BREW", body: "answer to /later "},
		"an answer in chunks": {request: "GET /later?chunked HTTP/1.1\r\nHost: x\r\n\r\n", method: "GET", body: "answer to /later?chunked ", chunked: true},
		"close":               {request: "GET /later HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n", method: "GET", body: "answer to /later ", closes: true},
		"HTTP/1.0":            {request: "GET /later HTTP/1.0\r\n\r\n", method: "GET", body: "answer to /later ", closes: true},
		"HTTP/1.0 in pieces":  {request: "GET /later?chunked HTTP/1.0\r\n\r\n", method: "GET", body: "answer to /later?chunked ", closes: true},
		"HTTP/1.0 that stays": {request: "GET /later HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", method: "GET", body: "answer to /later "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serveDelaying(t, parking.Options{})
			conn := testkit.DialHTTP(t, d.addr)
			conn.Send(test.request)
			d.wake(t, 1)
			got := conn.Read(test.method)
			expect(t, got, http.StatusOK, test.body)
			if test.asked != "" && got.Get("Asked") != test.asked {
				t.Errorf("the answer is to %q, want %q", got.Get("Asked"), test.asked)
			}
			if chunked := got.Get("Transfer-Encoding") == "chunked"; chunked != test.chunked {
				t.Errorf("chunked: %t, want %t", chunked, test.chunked)
			}
			if test.closes {
				if !conn.Closed(patience) {
					t.Error("the connection is open")
				}
				return
			}
			conn.Send(nextRequest)
			expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
		})
	}
}

func TestQ4_a_delayed_answer_can_take_the_connection_over(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send("GET /later/hijacked HTTP/1.1\r\nHost: x\r\n\r\n")
	d.wake(t, 1)
	expect(t, conn.Read("GET"), 299, "")
	if !conn.Closed(patience) {
		t.Error("the connection is open")
	}
}

func TestQ5_a_client_that_leaves_ends_the_wait(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*testkit.HTTPConn){
		"in order":     (*testkit.HTTPConn).Close,
		"with a reset": (*testkit.HTTPConn).Reset,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serveDelaying(t, parking.Options{})
			conn := testkit.DialHTTP(t, d.addr)
			conn.Send(lateRequest)
			testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
			leave(conn)
			testkit.Eventually(t, "the answer is given up", func() bool { return d.left.Load() == 1 })
			d.wake(t, 1)
			if d.left.Load() != 1 {
				t.Error("the answer was ended twice")
			}
		})
	}
}

// The context of a delayed answer ends as that of any handler.
func TestQ5_a_client_that_leaves_ends_the_context_of_its_answer(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send("GET /later/until-left HTTP/1.1\r\nHost: x\r\n\r\n")
	d.wake(t, 1)
	conn.Close()
	testkit.Eventually(t, "the context ends", func() bool { return d.left.Load() == 1 })
}

func TestQ4_a_thousand_answers_wait_at_the_same_time(t *testing.T) {
	t.Parallel()
	const many = 1000
	d := serveDelaying(t, parking.Options{})
	var waiting, done sync.WaitGroup
	waiting.Add(many)
	for i := range many {
		done.Go(func() {
			conn := testkit.DialHTTP(t, d.addr)
			conn.Send(lateRequest)
			waiting.Done()
			if i%10 == 9 {
				testkit.Eventually(t, "all answers wait", func() bool { return d.parked.Load() == many })
				conn.Close()
				return
			}
			expect(t, conn.Read("GET"), http.StatusOK, "answer to /later ")
			conn.Send(nextRequest)
			expect(t, conn.Read("GET"), http.StatusOK, "answer to /next ")
		})
	}
	waiting.Wait()
	testkit.Eventually(t, "those who leave are noticed", func() bool { return d.left.Load() == many/10 })
	d.wake(t, many)
	done.Wait()
	if d.left.Load() != many/10 {
		t.Errorf("%d answers were given up", d.left.Load())
	}
}

func TestN13_shutdown_lets_delayed_answers_finish(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	late, idle, fresh := testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr)
	idle.Send(nextRequest)
	expect(t, idle.Read("GET"), http.StatusOK, "answer to /next ")
	late.Send(lateRequest)
	testkit.Eventually(t, "the answer waits", func() bool { return d.parked.Load() == 1 })
	ended := make(chan error, 1)
	go func() { ended <- d.lot.Shutdown(t.Context()) }()
	for _, quiet := range []*testkit.HTTPConn{idle, fresh} {
		if !quiet.Closed(patience) {
			t.Error("a connection without a request is open")
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("shutdown ended with %v before the answer was given", err)
	default:
	}
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr); err == nil {
		t.Error("a new connection is accepted")
	}
	d.wake(t, 1)
	expect(t, late.Read("GET"), http.StatusOK, "answer to /later ")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !late.Closed(patience) {
		t.Error("the connection stays open")
	}
}

func TestN13_close_gives_delayed_answers_up(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{})
	quiet, busy := testkit.DialHTTP(t, d.addr), testkit.DialHTTP(t, d.addr)
	quiet.Send(lateRequest)
	busy.Send(lateRequest)
	testkit.Eventually(t, "the answers wait", func() bool { return d.parked.Load() == 2 })
	busy.Send(nextRequest) // The lot does not read any more.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.lot.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shutdown ended with %v", err)
	}
	if err := d.lot.Close(); err != nil {
		t.Error(err)
	}
	if d.left.Load() != 2 {
		t.Errorf("%d answers were given up, want 2", d.left.Load())
	}
	if err := d.lot.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	if err := d.lot.Serve(d.listener(t)); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("serve after close: %v", err)
	}
}

// Without a lot, on HTTP/2 and for short delays a handler waits by itself.
func TestPark_refuses_what_it_cannot_keep(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := parking.Park(r, time.Hour, &parking.Delayed{}); ok {
		t.Error("parked without a lot")
	}
	d := serveDelaying(t, parking.Options{Shortest: 2 * time.Hour})
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send(lateRequest)
	if got := conn.Read("GET"); got.Get("Parked") != "no" {
		t.Error("a short delay was parked")
	}
	only2 := new(http.Protocols)
	only2.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: only2}
	t.Cleanup(transport.CloseIdleConnections)
	d = serveDelaying(t, parking.Options{})
	if answer := get(t, transport, "http://"+d.addr+"/later"); answer.version != 2 || answer.parked != "no" {
		t.Errorf("answered in HTTP/%d, parked: %q", answer.version, answer.parked)
	}
}

// got is what a client of the standard library sees of an answer.
type got struct {
	status, version int
	parked          string
	secure          bool
}

func get(t *testing.T, transport *http.Transport, url string) got {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return got{status: answer.StatusCode, version: answer.ProtoMajor, parked: answer.Header.Get("Parked"), secure: answer.TLS != nil}
}

var errListener = errors.New("the listener is broken")

// full is a listener that can accept nothing for a moment, and breaks in the end.
type full struct {
	net.Listener

	calls atomic.Int64
}

type passing struct{ error }

func (passing) Temporary() bool { return true }

func (f *full) Accept() (net.Conn, error) {
	switch f.calls.Add(1) {
	case 1, 2:
		return nil, passing{errListener}
	case 3:
		return f.Listener.Accept()
	default:
		return nil, errListener
	}
}

func TestServe_outlives_a_lack_of_room_and_tells_of_a_broken_listener(t *testing.T) {
	t.Parallel()
	d := &delaying{}
	d.listen(t, parking.Options{})
	served := make(chan error, 1)
	l := &full{Listener: d.listener(t)}
	go func() { served <- d.lot.Serve(l) }()
	conn := testkit.DialHTTP(t, d.addr)
	if err := <-served; !errors.Is(err, errListener) {
		t.Errorf("serve ended with %v", err)
	}
	conn.Close()
}
