package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/mockbase/mockbase/engine"
)

// Every definition on the pages for users is one that the engine serves.
func TestDocs_definitions_of_the_pages_are_served(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"webhooks.md", "proxy-and-record.md", "streams.md"} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```yaml\n")[1:]
		if len(blocks) == 0 {
			t.Errorf("%s shows nothing", page)
		}
		for _, block := range blocks {
			definition, _, _ := strings.Cut(block, "```")
			if faults := faultsOf(t, newEngine(t, engine.Options{}), definition); len(faults) > 0 {
				t.Errorf("%s: %v in\n%s", page, faults, definition)
			}
		}
	}
}

func TestU11_a_reply_sees_the_message_it_answers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, `
mocks:
  - request: GET /chat
    response:
      template: true
      webSocket:
        onMessage:
          - { when: { json: { type: ping } }, reply: [{ json: { id: "{{ body.id }}", token: "{{ uuid }}" } }] }
          - { reply: [{ text: "you said {{ bodyText }}" }] }
`)
	//nolint:bodyclose // the library hands out no body
	conn, _, err := websocket.Dial(t.Context(), "ws://"+serveEngine(t, e)+"/m/shop/chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	seen := map[string]bool{}
	for _, step := range []struct{ say, hear string }{
		{`{"type":"ping","id":7}`, `{"id":7,"token":"`}, {`{"type":"ping","id":7}`, `{"id":7,"token":"`}, {"hello", "you said hello"},
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(step.say)); err != nil {
			t.Fatal(err)
		}
		_, heard, err := conn.Read(t.Context())
		if err != nil || !strings.HasPrefix(string(heard), step.hear) {
			t.Fatalf("heard %q, %v, want %q", heard, err, step.hear)
		}
		if seen[string(heard)] {
			t.Errorf("AA19: two messages drew the same values: %s", heard)
		}
		seen[string(heard)] = true
	}
}
