package management_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// listener is a client of an event stream.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
}

// listen opens the stream of a mock and waits for its first event.
func (w *world) listen(server *httptest.Server, path string) *listener {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, server.URL+"/m/shop"+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { got.Body.Close() })
	l := &listener{t: w.t, lines: bufio.NewScanner(got.Body)}
	if first := l.next(); first != "data: hello" {
		w.t.Fatalf("the stream begins with %q", first)
	}
	return l
}

// next is the next line that is not blank.
func (l *listener) next() string {
	l.t.Helper()
	for l.lines.Scan() {
		if text := l.lines.Text(); text != "" {
			return text
		}
	}
	l.t.Fatalf("the stream ended: %v", l.lines.Err())
	return ""
}

// streaming is a world with a mock that streams, and a server for it.
func streaming(t *testing.T) (*world, *httptest.Server) {
	t.Helper()
	w := newWorld(t)
	w.addMock(`{"name":"ticks","request":"GET /ticks","response":{"sse":{"events":[{"data":"hello"}],"end":"keep_open"}}}`)
	w.addMock(`{"name":"other","request":"GET /other","response":{"sse":{"events":[{"data":"hello"}],"end":"keep_open"}}}`)
	w.addMock(`{"name":"plain","request":"GET /plain","response":{"text":"x"}}`)
	server := httptest.NewServer(w.engine)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return w, server
}

func TestM157_U6_open_streams_are_listed(t *testing.T) {
	t.Parallel()
	w, server := streaming(t)
	w.listen(server, "/ticks")
	w.listen(server, "/~ci/ticks")
	w.listen(server, "/other")
	list := func(query string) []string {
		return w.get(mocksPath + "/ticks/connections" + query).names("session")
	}
	for query, want := range map[string]string{
		"?sort=-openedAt&q=default": "default", "?session=ci": "ci", "?session=default": "default", "?q=127.0.0.1&session=ci": "ci", "?q=nobody": "",
	} {
		if got := strings.Join(list(query), " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := list("?sort=sent&count=true"); len(got) != 2 {
		t.Errorf("listed are %q", got)
	}
	if got := string(w.get(mocksPath + "/ticks/connections?session=ci").body); !strings.Contains(got, `"kind":"sse","session":"ci","ip":"127.0.0.1","openedAt":"2026-03-01T12:00:00.000Z","sent":1,"received":0`) {
		t.Errorf("the stream is %s", got)
	}
	for _, path := range []string{"/none/connections", "/ticks/connections?session=none"} {
		w.send(call{method: http.MethodGet, path: mocksPath + path, as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
}

func TestM158_U5_a_broadcast_reaches_the_open_streams_of_a_mock(t *testing.T) {
	t.Parallel()
	w, server := streaming(t)
	standard, ci, other := w.listen(server, "/ticks"), w.listen(server, "/~ci/ticks"), w.listen(server, "/other")
	send := func(path, body, want string) {
		t.Helper()
		got := w.send(call{method: http.MethodPost, path: mocksPath + path, as: editor, body: body}).want(http.StatusOK)
		if text := strings.TrimSpace(string(got.body)); text != `{"connections":`+want+`}` {
			t.Errorf("%s %s: %s", path, body, text)
		}
	}
	send("/ticks/broadcast", `{"event":"news","data":"1"}`, "2")
	send("/ticks/broadcast?session=ci", `{"json":{"n":2.50}}`, "1")
	send("/ticks/broadcast", `{"data":"3"}`, "2")
	send("/other/broadcast", `{"data":"4"}`, "1")
	for _, want := range []string{"event: news", "data: 1", "data: 3"} {
		if got := standard.next(); got != want {
			t.Errorf("in the session default: %q, want %q", got, want)
		}
	}
	for _, want := range []string{"event: news", "data: 1", `data: {"n":2.50}`, "data: 3"} {
		if got := ci.next(); got != want {
			t.Errorf("in the session ci: %q, want %q", got, want)
		}
	}
	if got := other.next(); got != "data: 4" {
		t.Errorf("of another mock: %q", got)
	}
	w.send(call{method: http.MethodPost, path: mocksPath + "/ticks/broadcast?session=none", as: editor, body: `{"data":"x"}`}).want(http.StatusNotFound)
	w.send(call{method: http.MethodPost, path: mocksPath + "/ticks/broadcast", as: viewer, body: `{"data":"x"}`}).want(http.StatusForbidden)
}

func TestM158_what_is_no_event_is_refused(t *testing.T) {
	t.Parallel()
	w, _ := streaming(t)
	for body, pointer := range map[string]string{
		`{}`:                           "#",
		`{"data":"x","after":"1s"}`:    "#/after",
		`{"close":true}`:               "#/close",
		`{"data":"x","reset":true}`:    "#/reset",
		`{"data":"x","json":1}`:        "#/json",
		`{"event":"a\nb","data":"x"}`:  "#/event",
		`{"id":"a\u0000b","data":"x"}`: "#/id",
		`{"data":"x","evnt":"a"}`:      "#/evnt",
	} {
		got := w.send(call{method: http.MethodPost, path: mocksPath + "/ticks/broadcast", as: editor, body: body}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if faults := got.problem().Errors; len(faults) != 1 || faults[0].Pointer != pointer {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	got := w.send(call{method: http.MethodPost, path: mocksPath + "/plain/broadcast", as: editor, body: `{"data":"x"}`}).want(http.StatusUnprocessableEntity)
	if !strings.Contains(string(got.body), "no response that sends this") {
		t.Errorf("answered %s", got.body)
	}
}

func TestM157_without_streams_there_are_no_addresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Connections = nil })
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	w.send(call{method: http.MethodGet, path: mocksPath + "/hello/connections", as: owner}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

// talking is a world with mocks that converse, and a server for it.
func talking(t *testing.T) (*world, *httptest.Server) {
	t.Helper()
	w := newWorld(t)
	w.addMock(`{"name":"chat","request":"GET /chat","response":{"webSocket":{"onConnect":[{"text":"hello"}]}}}`)
	w.addMock(`{"name":"both","request":"GET /both","responses":[` +
		`{"when":{"headers":{"Upgrade":"websocket"}},"webSocket":{"onConnect":[{"text":"hello"}]}},{"sse":{"events":[{"data":"hello"}],"end":"keep_open"}}]}`)
	server := httptest.NewServer(w.engine)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return w, server
}

// converse opens a conversation and waits for its first message.
func (w *world) converse(server *httptest.Server, path string) *websocket.Conn {
	w.t.Helper()
	//nolint:bodyclose // the library hands out no body
	conn, _, err := websocket.Dial(w.t.Context(), server.URL+"/m/shop"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.CloseNow() })
	w.hears(conn, "hello")
	return conn
}

// hears reads one message.
func (w *world) hears(conn *websocket.Conn, want string) {
	w.t.Helper()
	if _, got, err := conn.Read(w.t.Context()); err != nil || string(got) != want {
		w.t.Fatalf("heard %q, %v, want %q", got, err, want)
	}
}

func TestM157_U6_conversations_are_listed_with_their_counts(t *testing.T) {
	t.Parallel()
	w, server := talking(t)
	conn := w.converse(server, "/~ci/chat")
	w.converse(server, "/both")
	w.listen(server, "/both")
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
		t.Fatal(err)
	}
	const want = `"kind":"webSocket","session":"ci","ip":"127.0.0.1","openedAt":"2026-03-01T12:00:00.000Z","sent":1,"received":1`
	w.until("the message counts", func() bool {
		return strings.Contains(string(w.get(mocksPath+"/chat/connections").body), want)
	})
	if got := strings.Join(w.get(mocksPath+"/both/connections").names("kind"), " "); got != "sse webSocket" && got != "webSocket sse" {
		t.Errorf("open are %s", got)
	}
	conn.CloseNow()
	w.until("the conversation is gone from the list", func() bool { return len(w.get(mocksPath+"/chat/connections").names("id")) == 0 })
}

func TestM158_U5_a_broadcast_reaches_the_conversations_of_a_mock(t *testing.T) {
	t.Parallel()
	w, server := talking(t)
	standard, ci, both, stream := w.converse(server, "/chat"), w.converse(server, "/~ci/chat"), w.converse(server, "/both"), w.listen(server, "/both")
	send := func(path, body, want string) {
		t.Helper()
		got := w.send(call{method: http.MethodPost, path: mocksPath + path, as: editor, body: body}).want(http.StatusOK)
		if text := strings.TrimSpace(string(got.body)); text != `{"connections":`+want+`}` {
			t.Errorf("%s %s: %s", path, body, text)
		}
	}
	send("/chat/broadcast", `{"text":"1"}`, "2")
	send("/chat/broadcast?session=ci", `{"json":{"n":2.50}}`, "1")
	send("/chat/broadcast", `{"base64":"Mw=="}`, "2")
	send("/chat/broadcast?session=ci", `{"close":4001,"reason":"over"}`, "1")
	send("/both/broadcast", `{"json":[4]}`, "2")
	send("/both/broadcast", `{"text":"5"}`, "1")
	send("/both/broadcast", `{"data":"6"}`, "1")
	for _, want := range []string{"1", "3"} {
		w.hears(standard, want)
	}
	for _, want := range []string{"1", `{"n":2.50}`, "3"} {
		w.hears(ci, want)
	}
	if _, _, err := ci.Read(t.Context()); websocket.CloseStatus(err) != 4001 {
		t.Errorf("the conversation ended with %v", err)
	}
	w.hears(both, "[4]")
	w.hears(both, "5")
	for _, want := range []string{"data: [4]", "data: 6"} {
		if got := stream.next(); got != want {
			t.Errorf("the stream goes on with %q, want %q", got, want)
		}
	}
}

func TestM158_what_is_no_message_is_refused(t *testing.T) {
	t.Parallel()
	w, _ := talking(t)
	for body, pointer := range map[string]string{
		`{}`:                        "#/text",
		`{"text":"x","after":"1s"}`: "#/after",
		`{"text":"x","json":1}`:     "#/json",
		`{"close":99}`:              "#/close",
		`{"text":"x","reason":"y"}`: "#/close",
		`{"data":"x"}`:              "#/data",
		`{"base64":"?"}`:            "#/base64",
	} {
		got := w.send(call{method: http.MethodPost, path: mocksPath + "/chat/broadcast", as: editor, body: body}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if faults := got.problem().Errors; len(faults) == 0 || !slices.ContainsFunc(faults, func(f mockbase.FieldError) bool { return f.Pointer == pointer }) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
}

// until waits until something is so.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for range 15_000 {
		if is() {
			return
		}
		select {
		case <-w.t.Context().Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
	w.t.Fatal("never: " + what)
}
