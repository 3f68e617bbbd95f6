package engine_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/ratelimit"
)

func dial(t *testing.T, address string) (net.Conn, *bufio.Reader) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// Rule N3: pipelined requests are answered in order, the slow one first.
func TestN3_pipelined_requests_are_answered_in_order(t *testing.T) {
	t.Parallel()
	slow := textMock("slow", "/slow", "slow")
	slow.Responses[0].Delay = &mockbase.Delay{Kind: mockbase.DelayFixed, Fixed: 20 * time.Millisecond}
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{slow, textMock("fast", "/fast", "fast")})
	conn, reader := dial(t, serveEngine(t, e))
	if _, err := io.WriteString(conn, "GET /m/shop/slow HTTP/1.1\r\nHost: h\r\n\r\nGET /m/shop/fast HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"slow", "fast"} {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || string(body) != want {
			t.Errorf("%q, %v; want %q", body, err, want)
		}
	}
}

// Rule AA2: the shield reads no body. A client that waits for 100 Continue is told the final status without it (N4).
func TestAA2_a_refused_request_keeps_its_body(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{Shield: &countingShield{}})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	conn, reader := dial(t, serveEngine(t, e))
	if _, err := io.WriteString(conn, "POST /m/shop/a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 429 ") {
		t.Errorf("%q, %v", line, err)
	}
}

// headerShield admits everything and leaves headers, as one does whose operator asked for them.
type headerShield struct{}

func (headerShield) Admit(w http.ResponseWriter, _ *http.Request) (engine.Admission, bool) {
	w.Header()["RateLimit"] = []string{`"engine";r=119;t=60`}
	policy := &ratelimit.Policy{Name: "engine", Limit: 120, Window: time.Minute}
	return engine.Admission{Decision: ratelimit.Decision{Allowed: true, Limit: 120, Remaining: 119, Policy: policy}}, true
}

func (headerShield) Done(engine.Admission, int) {}

// Rules AA4 and L19: what the operator asks for is sent, exposed and recorded.
func TestAA4_headers_of_the_shield_are_exposed(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Shield: headerShield{}, Journal: &recorded})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	w := get(e, "/m/shop/a")
	if got, want := w.Header().Get("Access-Control-Expose-Headers"), "Date, Mockbase-Mock, RateLimit"; got != want {
		t.Errorf("exposed %q, want %q", got, want)
	}
	if _, ok := w.Header()["RateLimit"]; !ok { //nolint:staticcheck // the registered spelling
		t.Errorf("header %v", w.Header())
	}
	x := recorded.last(t, 1)
	if len(x.Limits) != 1 || x.Limits[0].Remaining != 119 || !x.Limits[0].Allowed || x.Policy != "" || x.AnsweredBy != mockbase.AnsweredByMock {
		t.Errorf("limits %+v, policy %q, by %s", x.Limits, x.Policy, x.AnsweredBy)
	}
}

// A shield may look at the connection through the writer, and may answer without a status of its own.
func TestTheShieldWritesLikeAnyHandler(t *testing.T) {
	t.Parallel()
	var recorded recorder
	shield := shieldFunc(func(w http.ResponseWriter, _ *http.Request) (engine.Admission, bool) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
		return engine.Admission{}, false
	})
	e := newEngine(t, engine.Options{Shield: shield, Journal: &recorded, RecordCap: 10})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	conn, reader := dial(t, serveEngine(t, e))
	if _, err := io.WriteString(conn, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	x := recorded.last(t, 1)
	if x.AnsweredBy != mockbase.AnsweredByShield || len(x.Response.Body) != 10 || x.Response.BodySize != 100 || !x.Response.Truncated {
		t.Errorf("by %s, %d of %d bytes", x.AnsweredBy, len(x.Response.Body), x.Response.BodySize)
	}
}

type shieldFunc func(w http.ResponseWriter, r *http.Request) (engine.Admission, bool)

func (f shieldFunc) Admit(w http.ResponseWriter, r *http.Request) (engine.Admission, bool) {
	return f(w, r)
}

func (shieldFunc) Done(engine.Admission, int) {}

// Rule Y11: deny by default; preflights need no token.
func TestY11_a_project_with_tokens_refuses_everyone_yet(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	project := &mockbase.Project{ID: "prj_1", Slug: "shop", Access: mockbase.AccessToken, Revision: 1}
	if err := e.Publish(&mockbase.Snapshot{Project: project, Mocks: []*mockbase.Mock{textMock("a", "/a", "a")}}); err != nil {
		t.Fatal(err)
	}
	if w := get(e, "/m/shop/a"); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "unauthenticated") || w.Header()["WWW-Authenticate"] == nil { //nolint:staticcheck // the registered spelling
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if x := recorded.last(t, 1); x.AnsweredBy != mockbase.AnsweredByError {
		t.Errorf("by %s", x.AnsweredBy)
	}
	r := httptest.NewRequest(http.MethodOptions, "/m/shop/a", http.NoBody)
	r.Header.Set("Origin", "http://o.test")
	r.Header.Set("Access-Control-Request-Method", "GET")
	w := httptest.NewRecorder()
	if e.ServeHTTP(w, r); w.Code != http.StatusNoContent {
		t.Errorf("preflight: %d", w.Code)
	}
}

// Rules N7 and O19: a header block over the listener's limit is 431, and a long body has a length.
func TestN7_long_headers_are_the_listeners_431(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", strings.Repeat("0123456789", 500))})
	address := serveEngine(t, e)
	for _, c := range []struct {
		header string
		status int
		length int64
	}{
		{strings.Repeat("h", 60<<10), http.StatusOK, 5_000},
		{strings.Repeat("h", 100<<10), http.StatusRequestHeaderFieldsTooLarge, -1},
	} {
		conn, reader := dial(t, address)
		// The server answers before it has read all of it.
		_, _ = fmt.Fprintf(conn, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\nX: %s\r\n\r\n", c.header)
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || answer.ContentLength != c.length {
			t.Errorf("%d with length %d, want %d with %d", answer.StatusCode, answer.ContentLength, c.status, c.length)
		}
	}
}

// Rule N8: the sender of a body that is too large reads the answer while it is still sending.
func TestN8_the_sender_of_a_large_body_reads_the_answer(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"known length": "Content-Length: 2000000\r\n\r\n",
		"chunked":      "Transfer-Encoding: chunked\r\n\r\n1e8480\r\n",
	} {
		e := newEngine(t, engine.Options{MaxBody: 1_000})
		publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
		conn, reader := dial(t, serveEngine(t, e))
		if _, err := io.WriteString(conn, "POST /m/shop/a HTTP/1.1\r\nHost: h\r\n"+head); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(conn, strings.Repeat("x", 2_000_000))
		}()
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge || err != nil || !answer.Close || !strings.Contains(string(body), "body-too-large") {
			t.Errorf("%s: %d, %v, closes %t: %s", name, answer.StatusCode, err, answer.Close, body)
		}
	}
}

// Rules N10, N11, O5 and O6 on HTTP/2: names in lower case, no header twice, removed ones absent.
func TestN10_http_2(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{Journal: &recorder{}})
	publishDefinition(t, e, `
mocks:
  - { request: GET /a, response: { text: <x/>, headers: { content-TYPE: text/xml, eTAG: '"v"', Date: null } } }
  - { request: GET /n, response: { status: 304, text: abc } }
  - { request: { path: /h, headers: { Host: "api.test" }, host: api.test }, response: { text: host } }
`)
	server := httptest.NewUnstartedServer(e)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	fetch := func(path string) (status int, header http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/m/shop"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/h" {
			r.Host = "API.test"
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.ProtoMajor != 2 {
			t.Fatalf("%s", answer.Proto)
		}
		return answer.StatusCode, answer.Header
	}
	_, header := fetch("/a")
	if got := header["Content-Type"]; len(got) != 1 || got[0] != "text/xml" || header.Get("Etag") != `"v"` || header["Date"] != nil {
		t.Errorf("header %v", header)
	}
	status, header := fetch("/n")
	if got := header["Content-Type"]; status != http.StatusNotModified || len(got) != 1 {
		t.Errorf("%d, header %v", status, header)
	}
	if status, _ := fetch("/h"); status != http.StatusNotFound {
		// The header is compared as received, in its own letter case.
		t.Errorf("%d", status)
	}
}

// Rule AA5: what is sent and what is recorded are the same, also where the writer fails.
func TestAnAnswerThatCannotBeWrittenIsNoted(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a")})
	e.ServeHTTP(&brokenWriter{}, httptest.NewRequest(http.MethodGet, "/m/shop/a", http.NoBody))
	if x := recorded.last(t, 1); !x.ClientAborted || x.Response.Status != http.StatusOK {
		t.Errorf("aborted %t, status %d", x.ClientAborted, x.Response.Status)
	}
}

type brokenWriter struct{ discard }

func (*brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
