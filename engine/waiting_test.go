package engine_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

// waits are the responses that keep their request, or what follows it, waiting for minutes; {silent} is an upstream that does
// not answer, {half} one that sends a part of a body, {failing} one that wants every webhook again.
var waits = map[string]string{
	"delay":            "response: { text: a, delay: 5m }",
	"drawn delay":      "response: { text: a, delay: { min: 4m, max: 5m } }",
	"delay and fault":  "response: { delay: 5m, fault: reset }",
	"delay and stream": "response: { sse: { events: [ { data: a } ] }, delay: 5m }",
	"delay and proxy":  "response: { proxy: { to: '{silent}' }, delay: 5m }",
	"dribble":          "response: { text: aaaa, stream: { chunks: 4, over: 5m } }",
	"bandwidth":        "response: { text: '" + strings.Repeat("a", 4000) + "', stream: { bytesPerSecond: 10 } }",
	"slow headers":     "response: { text: a, stream: { slowHeaders: 10s } }",
	"hang":             "response: { fault: hang }",
	"hang for a time":  "response: { fault: { kind: hang, for: 5m } }",
	"events":           "response: { sse: { events: [ { data: a }, { after: 5m, data: b } ] } }",
	"endless events":   "response: { sse: { events: [ { after: 50ms, data: a } ], loop: 0 } }",
	"conversation":     "response: { webSocket: { onConnect: [ { text: a }, { after: 5m, text: b } ] } }",
	"silent upstream":  "response: { proxy: { to: '{silent}', timeout: 5m } }",
	"half an answer":   "response: { proxy: { to: '{half}', timeout: 5m } }",
	"webhook later":    "response: { text: a, webhooks: [ { url: '{failing}', after: 5m } ] }",
	"webhook again":    "response: { text: a, webhooks: [ { url: '{failing}', retries: { max: 3, backoff: 1m } } ] }",
	"silent webhook":   "response: { text: a, webhooks: [ { url: '{silent}', timeout: 5m } ] }",
	"limit":            "rateLimit: { limit: 1, window: 50s, onExceed: { action: delay, maxDelay: 60s } }, response: { text: a }",
}

// waiting is a server with one mock that waits.
type waiting struct {
	engine   *engine.Engine
	lot      *parking.Lot
	recorded recorder
	address  string
}

// newWaiting serves a mock whose request, and what else it starts, shows in leavesNoRequest by its name.
func newWaiting(t *testing.T, name, mock string) *waiting {
	t.Helper()
	gone := make(chan struct{})
	upstreams := http.NewServeMux()
	upstreams.HandleFunc("/silent/", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	})
	upstreams.HandleFunc("/half/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	})
	upstreams.HandleFunc("/failing/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	upstream := httptest.NewServer(upstreams)
	t.Cleanup(upstream.Close)
	t.Cleanup(func() { close(gone) })
	for _, place := range []string{"silent", "half", "failing"} {
		mock = strings.ReplaceAll(mock, "{"+place+"}", upstream.URL+"/"+place+"/")
	}
	s := &waiting{}
	s.engine = newEngine(t, engine.Options{Journal: &s.recorded, Upstreams: outbound.Options{Loopback: true}})
	publishDefinition(t, s.engine, "mocks: [ { request: GET /a, "+mock+" } ]\n")
	pprof.Do(t.Context(), pprof.Labels("case", name), func(context.Context) { s.address, s.lot = serveInLot(t, s.engine) })
	return s
}

// ask sends a request, or several where the first of them does not wait, and returns once the last one waits.
func (s *waiting) ask(t *testing.T, name string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if name == "limit" {
		testkit.RawHTTP(t, s.address, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	}
	upgrade := ""
	if name == "conversation" {
		upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	}
	fmt.Fprintf(conn, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\n%s\r\n", upgrade)
	// Long enough that it waits, whatever it does before.
	<-time.After(200 * time.Millisecond)
	return conn
}

// Rules Q5, U6, T10: whatever a request waits for, nothing of it is left when its client has gone.
func TestQ5_nothing_waits_for_a_client_that_has_left(t *testing.T) {
	t.Parallel()
	for name, mock := range maps.All(waits) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			label := "left: " + name
			s := newWaiting(t, label, mock)
			_ = s.ask(t, name).Close()
			leavesNoRequest(t, label)
			exchanges := 1
			if name == "limit" {
				exchanges = 2
			}
			x := s.recorded.last(t, exchanges)
			if follows := strings.Contains(name, "webhook"); x.ClientAborted == follows {
				t.Errorf("client aborted: %t", x.ClientAborted)
			}
		})
	}
}

// Rules N13 and S9: nor when the server stops. Delays end at once; what no rule ends is cut off at the end of the time for it.
func TestN13_nothing_waits_when_the_server_stops(t *testing.T) {
	t.Parallel()
	for name, mock := range maps.All(waits) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			label := "stopped: " + name
			s := newWaiting(t, label, mock)
			s.ask(t, name)
			most := time.Minute
			if strings.Contains(name, "silent upstream") || name == "half an answer" || name == "delay and proxy" {
				most = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), most)
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- s.engine.Close() }()
			err := s.lot.Shutdown(ctx)
			if most > time.Second && err != nil {
				t.Error(err)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if err := s.lot.Close(); err != nil {
				t.Error(err)
			}
			leavesNoRequest(t, label)
		})
	}
}
