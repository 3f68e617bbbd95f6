package engine_test

import (
	"testing"

	"github.com/coder/websocket"

	"github.com/mockbase/mockbase/engine"
)

func TestU11_a_conversation_by_its_script(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, e, `
mocks:
  - request: GET /chat
    response:
      template: true
      webSocket:
        subprotocols: [chat.v1]
        onConnect: [{ json: { hello: "{{ query.name }}" } }]
        onMessage:
          - { when: { json: { type: ping } }, reply: [{ json: { type: pong } }] }
          - { when: { text: bye }, reply: [{ close: 4000, reason: bye }] }
`)
	//nolint:bodyclose // the library hands out no body
	conn, answer, err := websocket.Dial(t.Context(), "ws://"+serveEngine(t, e)+"/m/shop/chat?name=Ada", &websocket.DialOptions{Subprotocols: []string{"chat.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if conn.Subprotocol() != "chat.v1" || answer.Header.Get("Mockbase-Mock") != "get-chat" || answer.Header.Get("Content-Length") != "" {
		t.Errorf("the handshake is answered with %v", answer.Header)
	}
	for _, step := range []struct{ say, hear string }{{"", `{"hello":"Ada"}`}, {`{"type":"ping"}`, `{"type":"pong"}`}} {
		if step.say != "" {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(step.say)); err != nil {
				t.Fatal(err)
			}
		}
		if _, heard, err := conn.Read(t.Context()); err != nil || string(heard) != step.hear {
			t.Fatalf("heard %q, %v, want %q", heard, err, step.hear)
		}
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("bye")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 4000 {
		t.Errorf("the conversation ended with %v", err)
	}
	x := recorded.last(t, 1)
	if x.Response.Status != 101 || len(x.Messages) < 5 || string(x.Messages[1].Data) != `{"type":"ping"}` {
		t.Errorf("recorded %d: %+v", x.Response.Status, x.Messages)
	}
}
