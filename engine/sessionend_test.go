package engine_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func TestAA11_streams_and_conversations_end_with_their_session(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, `
mocks:
  - { request: GET /events, response: { sse: { events: [{ data: a }], end: keep_open } } }
  - { request: GET /talk, response: { webSocket: { onConnect: [{ text: a }] } } }
`)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	open := func(path, more string) *bufio.Reader {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET /m/shop/~"+path+" HTTP/1.1\r\nHost: m\r\nConnection: "+more+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(conn)
		head, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		head.Body.Close()
		return reader
	}
	connected := func() int {
		n := 0
		for _, id := range []string{"mck_0", "mck_1"} {
			list, err := e.Connections("prj_shop", &mockbase.Mock{ID: id}, "")
			if err != nil {
				t.Error(err)
			}
			n += len(list)
		}
		return n
	}
	const handshake = "Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
	ended := make(chan error, 1)
	events := make(chan error, 1)
	talk := open("qa/talk", handshake)
	open("ci/talk", handshake)
	go func() {
		answer, err := http.Get(server.URL + "/m/shop/~qa/events") //nolint:forbidigo // a client that waits as long as it is answered
		if err != nil {
			events <- err
			return
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		events <- err
	}()
	await(t, "all are open", func() bool { return connected() == 3 })
	go func() {
		_, err := io.Copy(io.Discard, talk)
		ended <- err
	}()
	if err := e.EndSession("prj_shop", "qa"); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]chan error{"the conversation": ended, "the stream": events} {
		if err := <-end; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	await(t, "one is left", func() bool { return connected() == 1 })
}
