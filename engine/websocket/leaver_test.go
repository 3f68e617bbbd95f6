package websocket_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/websocket"
)

// flood sends a short message until nothing more is taken, and tells how many were sent.
func (c *client) flood(t *testing.T) {
	t.Helper()
	frames := []byte(strings.Repeat("\x81\x81\x00\x00\x00\x00q", 1000))
	for {
		if err := c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(frames); err != nil {
			return
		}
	}
}

func TestU6_a_client_that_leaves_much_unread_and_unanswered_ends_its_conversation(t *testing.T) {
	t.Parallel()
	v, host := hostOf(t, &websocket.Script{
		OnConnect: []websocket.Message{{Data: says("hello")}},
		Rules:     []websocket.Rule{{When: is("q"), Reply: []websocket.Message{{Data: says(strings.Repeat("x", 200_000))}}}},
	})
	c := join(t, v, "id=1&group=g")
	c.flood(t)
	select {
	case outcome := <-v.outcomes:
		t.Fatalf("ended with %+v before the client left", outcome)
	default:
	}
	c.Close()
	select {
	case outcome := <-v.outcomes:
		if outcome.Code != 0 {
			t.Errorf("ended with %+v", outcome)
		}
	case <-time.After(time.Minute):
		t.Fatal("the conversation goes on")
	}
	if n := host.Open(); n != 0 {
		t.Errorf("%d conversations are open", n)
	}
}

func TestU6_a_client_that_closes_its_half_while_replies_wait_ends_its_conversation(t *testing.T) {
	t.Parallel()
	late := func() time.Duration { return time.Hour }
	v, _ := hostOf(t, &websocket.Script{OnConnect: []websocket.Message{{Data: says("hello")}}, Rules: []websocket.Rule{{When: is("q"), Reply: []websocket.Message{{Data: says("a"), After: late}}}}})
	c := join(t, v, "id=1&group=g")
	for range 400 {
		c.send(t, 0x81, "q")
	}
	if tcp, ok := c.Conn.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatal("the half is not closed")
	}
	select {
	case <-v.outcomes:
	case <-time.After(time.Minute):
		t.Fatal("the conversation goes on")
	}
}

func TestN13_a_client_that_does_not_read_holds_no_stop_up(t *testing.T) {
	t.Parallel()
	v := serve(t, &websocket.Script{OnConnect: []websocket.Message{{Data: says(strings.Repeat("x", 64<<20))}}})
	dial(t, v, thirteen)
	close(v.closing)
	select {
	case <-v.outcomes:
	case <-time.After(time.Minute):
		t.Fatal("the conversation goes on")
	}
}
