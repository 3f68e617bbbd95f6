package websocket_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/websocket"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestMain(m *testing.M) { testkit.VerifyNoLeaks(m) }

const upgrade = "GET / HTTP/1.1\r\nHost: m\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nOrigin: http://else.test\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// wall is the clock of a test.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// server plays one script and hands out what it heard and how conversations ended.
type server struct {
	*httptest.Server
	host     *websocket.Host
	heard    chan websocket.Heard
	outcomes chan websocket.Outcome
	closing  chan struct{}
}

func serve(t *testing.T, s *websocket.Script) *server {
	t.Helper()
	if s.MaxMessage == 0 {
		s.MaxMessage = 1 << 20
	}
	v := &server{host: websocket.NewHost(2), heard: make(chan websocket.Heard, 64), outcomes: make(chan websocket.Outcome, 8), closing: make(chan struct{})}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal := websocket.Check(r); refusal != nil {
			maps.Copy(w.Header(), refusal.Header)
			w.WriteHeader(refusal.Status)
			return
		}
		outcome, err := v.host.Serve(w, r, &websocket.Talk{Script: s, Clock: wall{}, Heard: func(h websocket.Heard) { v.heard <- h }, Closing: v.closing})
		if errors.Is(err, websocket.ErrTooMany) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		v.outcomes <- outcome
	}))
	t.Cleanup(v.Close)
	return v
}

// client speaks frames by hand, so that it can break the rules.
type client struct {
	net.Conn
	reader *bufio.Reader
	head   *http.Response
}

func dial(t *testing.T, v *server, more string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", v.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, upgrade+more+"\r\n"); err != nil {
		t.Fatal(err)
	}
	c := &client{Conn: conn, reader: bufio.NewReader(conn)}
	head, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Body.Close()
	c.head = head
	return c
}

const thirteen = "Sec-WebSocket-Version: 13\r\n"

// send sends a frame, masked with zeros.
func (c *client) send(t *testing.T, first byte, payload string) {
	t.Helper()
	frame := []byte{first}
	if len(payload) < 126 {
		frame = append(frame, 0x80|byte(len(payload)))
	} else {
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(len(payload)))
	}
	frame = append(append(frame, 0, 0, 0, 0), payload...)
	if _, err := c.Write(frame); err != nil {
		t.Fatal(err)
	}
}

// hear reads a frame as "opcode payload"; a close as "8 code reason".
func (c *client) hear(t *testing.T) string {
	t.Helper()
	var head [2]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return err.Error()
	}
	n := uint64(head[1])
	more := map[uint64]int{126: 2, 127: 8}[n]
	if more > 0 {
		long := make([]byte, 8)
		if _, err := io.ReadFull(c.reader, long[8-more:]); err != nil {
			t.Fatal(err)
		}
		n = binary.BigEndian.Uint64(long)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(c.reader, payload); err != nil {
		t.Fatal(err)
	}
	if opcode := head[0] & 0xf; opcode != 8 || n < 2 {
		return fmt.Sprintf("%d %s", opcode, payload)
	}
	return strings.TrimRight(fmt.Sprintf("8 %d %s", binary.BigEndian.Uint16(payload), payload[2:]), " ")
}

func (c *client) expect(t *testing.T, frames ...string) {
	t.Helper()
	for _, want := range frames {
		if got := c.hear(t); got != want {
			t.Fatalf("heard %.80q, want %.80q", got, want)
		}
	}
}

func says(text string) func(*websocket.Received) ([]byte, error) {
	return func(*websocket.Received) ([]byte, error) { return []byte(text), nil }
}

func is(text string) func(*websocket.Received) bool {
	return func(m *websocket.Received) bool { return string(m.Data) == text }
}

// echo says everything back.
func echo() *websocket.Script {
	back := func(m *websocket.Received) ([]byte, error) { return m.Data, nil }
	return &websocket.Script{Rules: []websocket.Rule{{Reply: []websocket.Message{{Data: back}}}}}
}

func TestU7_the_handshake_of_RFC_6455(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, echo()), thirteen)
	if c.head.StatusCode != http.StatusSwitchingProtocols || c.head.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Errorf("got %+v", c.head)
	}
	for _, name := range []string{"Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"} {
		if c.head.Header.Get(name) != "" {
			t.Errorf("%s is %q", name, c.head.Header.Get(name))
		}
	}
}

func TestU8_handshakes_that_are_none(t *testing.T) {
	t.Parallel()
	good := func() *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
		return r
	}
	if refusal := websocket.Check(good()); refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	for name, test := range map[string]struct {
		change func(r *http.Request)
		status int
		header string
	}{
		"plain GET":          {func(r *http.Request) { r.Header = http.Header{} }, http.StatusUpgradeRequired, "Upgrade"},
		"other protocol":     {func(r *http.Request) { r.Header.Set("Upgrade", "h2c") }, http.StatusUpgradeRequired, "Upgrade"},
		"no Connection":      {func(r *http.Request) { r.Header.Del("Connection") }, http.StatusUpgradeRequired, "Upgrade"},
		"POST":               {func(r *http.Request) { r.Method = http.MethodPost }, http.StatusUpgradeRequired, "Upgrade"},
		"HTTP/1.0":           {func(r *http.Request) { r.ProtoMinor = 0 }, http.StatusUpgradeRequired, "Upgrade"},
		"U13 HTTP/2":         {func(r *http.Request) { r.ProtoMajor = 2 }, http.StatusUpgradeRequired, "Upgrade"},
		"other version":      {func(r *http.Request) { r.Header.Set("Sec-Websocket-Version", "8") }, http.StatusUpgradeRequired, "Sec-WebSocket-Version"},
		"no version":         {func(r *http.Request) { r.Header.Del("Sec-Websocket-Version") }, http.StatusUpgradeRequired, "Sec-WebSocket-Version"},
		"short key":          {func(r *http.Request) { r.Header.Set("Sec-Websocket-Key", "short") }, http.StatusBadRequest, ""},
		"no key":             {func(r *http.Request) { r.Header.Del("Sec-Websocket-Key") }, http.StatusBadRequest, ""},
		"two keys":           {func(r *http.Request) { r.Header.Add("Sec-Websocket-Key", "dGhlIHNhbXBsZSBub25jZQ==") }, http.StatusBadRequest, ""},
		"key of other bytes": {func(r *http.Request) { r.Header.Set("Sec-Websocket-Key", "AAAA") }, http.StatusBadRequest, ""},
	} {
		r := good()
		test.change(r)
		refusal := websocket.Check(r)
		if refusal == nil || refusal.Status != test.status || test.header != "" && len(refusal.Header[test.header]) == 0 {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
}

func TestU9_the_first_subprotocol_that_is_offered_and_listed(t *testing.T) {
	t.Parallel()
	for offered, want := range map[string]string{"b, a": "b", "c, a": "a", "c": "", "A": ""} {
		script := echo()
		script.Subprotocols = []string{"a", "b"}
		c := dial(t, serve(t, script), thirteen+"Sec-WebSocket-Protocol: "+offered+"\r\n")
		if got := c.head.Header.Get("Sec-WebSocket-Protocol"); got != want {
			t.Errorf("offered %s: %q, want %q", offered, got, want)
		}
	}
}

func TestU12_replies_keep_the_order_of_messages(t *testing.T) {
	t.Parallel()
	for unordered, want := range map[bool][]string{false: {"1 slow", "1 quick"}, true: {"1 quick", "1 slow"}} {
		later := func() time.Duration { return 100 * time.Millisecond }
		c := dial(t, serve(t, &websocket.Script{Unordered: unordered, Rules: []websocket.Rule{
			{When: is("slow"), Reply: []websocket.Message{{After: later, Data: says("slow")}}},
			{Reply: []websocket.Message{{Data: says("quick")}}},
		}}), thirteen)
		c.send(t, 0x81, "slow")
		c.send(t, 0x81, "quick")
		c.expect(t, want...)
	}
}

func TestN13_conversations_close_with_1001_when_the_server_stops(t *testing.T) {
	t.Parallel()
	v := serve(t, echo())
	c := dial(t, v, thirteen)
	close(v.closing)
	c.expect(t, "8 1001")
	// The client never answers the close.
	if outcome := <-v.outcomes; outcome.Code != 1001 {
		t.Errorf("ended with %+v", outcome)
	}
}

func TestU6_conversations_are_bounded_and_end_with_their_client(t *testing.T) {
	t.Parallel()
	v := serve(t, echo())
	first := dial(t, v, thirteen)
	dial(t, v, thirteen)
	if third := dial(t, v, thirteen); third.head.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third conversation of two: %d", third.head.StatusCode)
	}
	first.Close()
	if outcome := <-v.outcomes; outcome.Code != 0 {
		t.Errorf("ended with %+v", outcome)
	}
	if n := v.host.Open(); n != 1 {
		t.Errorf("%d are open, want 1", n)
	}
}

func TestMessagesThatCannotBeMadeCloseWith1011(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	v := serve(t, &websocket.Script{OnConnect: []websocket.Message{{Data: func(*websocket.Received) ([]byte, error) { return nil, broken }}}})
	c := dial(t, v, thirteen)
	c.expect(t, "8 1011")
	c.Close()
	if outcome := <-v.outcomes; !errors.Is(outcome.Err, broken) {
		t.Errorf("ended with %+v", outcome)
	}
}

func TestLongMessagesPassWhole(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, echo()), thirteen)
	for _, n := range []int{125, 126, 65535, 65536, 200_000} {
		text := strings.Repeat("y", n)
		c.send(t, 0x81, text)
		c.expect(t, "1 "+text)
	}
}

// hostOf serves one script to peers that their query names: group, session and id.
func hostOf(t *testing.T, s *websocket.Script) (*server, *websocket.Host) {
	t.Helper()
	v := &server{host: websocket.NewHost(8), outcomes: make(chan websocket.Outcome, 8)}
	s.MaxMessage = 1 << 20
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		peer := websocket.Peer{ID: q.Get("id"), Group: q.Get("group"), Project: "p", Session: q.Get("session")}
		outcome, err := v.host.Serve(w, r, &websocket.Talk{Script: s, Clock: wall{}, Peer: peer})
		if err == nil {
			v.outcomes <- outcome
		}
	}))
	t.Cleanup(v.Close)
	return v, v.host
}

// join opens a conversation and waits until broadcasts reach it.
func join(t *testing.T, v *server, query string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", v.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.Replace(upgrade, "GET / ", "GET /?"+query+" ", 1)+thirteen+"\r\n"); err != nil {
		t.Fatal(err)
	}
	c := &client{Conn: conn, reader: bufio.NewReader(conn)}
	head, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	c.expect(t, "1 hello")
	return c
}

func TestU5_a_broadcast_reaches_the_conversations_of_its_group_in_order(t *testing.T) {
	t.Parallel()
	v, host := hostOf(t, &websocket.Script{OnConnect: []websocket.Message{{Data: says("hello")}}})
	a, b, other := join(t, v, "id=1&group=g&session=s"), join(t, v, "id=2&group=g&session=z"), join(t, v, "id=3&group=h")
	for i, session := range []string{"", "s", "", "none"} {
		want := map[string]int{"": 2, "s": 1, "none": 0}[session]
		if got := host.Broadcast("g", session, &websocket.Message{Data: says(strconv.Itoa(i))}); got != want {
			t.Errorf("broadcast %d reached %d, want %d", i, got, want)
		}
	}
	a.expect(t, "1 0", "1 1", "1 2")
	b.expect(t, "1 0", "1 2")
	a.send(t, 0x81, "x")
	if got := host.Broadcast("h", "", &websocket.Message{Kind: websocket.Close, Code: 1000}); got != 1 {
		t.Errorf("the other group has %d", got)
	}
	other.expect(t, "8 1000")
	list := host.List("p")
	if len(list) < 2 || list[0].ID != "1" || list[0].Sent != 4 || list[1].Sent != 3 || host.List("q") != nil {
		t.Errorf("open are %+v", list)
	}
}

func TestU5_a_client_that_does_not_read_loses_its_conversation(t *testing.T) {
	t.Parallel()
	v, host := hostOf(t, &websocket.Script{OnConnect: []websocket.Message{{Data: says("hello")}}})
	join(t, v, "id=1&group=g")
	big := &websocket.Message{Data: says(strings.Repeat("x", 1<<20))}
	for range 10_000 {
		if host.Broadcast("g", "", big) == 0 {
			break
		}
	}
	select {
	case outcome := <-v.outcomes:
		if outcome.Code != 0 {
			t.Errorf("the conversation ended with %d", outcome.Code)
		}
	case <-time.After(time.Minute):
		t.Fatal("the conversation goes on")
	}
	if n := host.Open(); n != 0 {
		t.Errorf("%d conversations are open", n)
	}
}
