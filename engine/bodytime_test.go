package engine_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
)

// The time of a body that is late, and of one that a busy machine must not make late.
const (
	short  = 60 * time.Millisecond
	enough = 2 * time.Second
)

// echo is an upstream that reads a whole body, is silent for half as long again as a body may take, and says it back.
func echo(t *testing.T, bodyTime time.Duration) string {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		<-time.After(bodyTime * 3 / 2)
		_, _ = w.Write(body)
	}))
	t.Cleanup(upstream.Close)
	return upstream.URL
}

// slowly serves mocks whose requests have so long for their bodies; what they wait for takes half as long again.
func slowly(t *testing.T, bodyTime time.Duration, upstream string) *engine.Engine {
	t.Helper()
	e := newEngine(t, engine.Options{BodyTime: bodyTime, MaxBody: 1_000, Upstreams: outbound.Options{Loopback: true}})
	publishDefinition(t, e, strings.NewReplacer("{upstream}", upstream, "{wait}", (bodyTime*3/2).String()).Replace(`
mocks:
  - { request: POST /text, response: { text: abc } }
  - { request: POST /delay, response: { text: a, delay: {wait} } }
  - { request: POST /dribble, response: { text: aaaa, stream: { chunks: 4, over: {wait} } } }
  - { request: POST /events, response: { sse: { events: [ { data: a }, { after: {wait}, data: b } ] } } }
  - { request: POST /unread, readBody: false, response: { text: a } }
  - { request: POST /unread-delay, readBody: false, response: { text: a, delay: {wait} } }
  - { request: POST /proxy, readBody: false, response: { proxy: { to: "{upstream}" } } }
`))
	return e
}

// Rule N12: a request whose body does not end is answered, and its connection closed.
func TestN12_a_body_that_never_ends_holds_no_connection(t *testing.T) {
	t.Parallel()
	const known, chunked = "Content-Length: 900\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"
	late := `"status":408`
	for _, c := range []struct {
		name, path, rest string
		status           int
		body             string
	}{
		{"no byte", "/m/shop/text", known, 408, late},
		{"a part", "/m/shop/text", known + "abc", 408, late},
		{"no chunk", "/m/shop/text", chunked, 408, late},
		{"a part of a chunk", "/m/shop/text", chunked + "9\r\nabc", 408, late},
		{"an endless extension", "/m/shop/text", chunked + "9;a=bbb", 408, late},
		{"an endless trailer", "/m/shop/text", chunked + "1\r\na\r\n0\r\nX-A: b\r\nX-B", 408, late},
		{"no trailer", "/m/shop/text", chunked + "1\r\na\r\n0\r\n", 408, late},
		{"no byte after 100", "/m/shop/text", "Expect: 100-continue\r\n" + known, 408, late},
		{"no match", "/m/shop/none", known, 408, late},
		{"no project", "/m/none/text", known, 404, "no-project"},
		{"too large, asked for", "/m/shop/text", "Expect: 100-continue\r\nContent-Length: 9000\r\n\r\n", 413, "body-too-large"},
		{"unread", "/m/shop/unread", known, 200, "a"},
		{"unread, asked for", "/m/shop/unread", "Expect: 100-continue\r\n" + known, 200, "a"},
		{"passed on", "/m/shop/proxy", known, 408, "body-too-slow"},
		{"a part passed on", "/m/shop/proxy", known + "abc", 408, "body-too-slow"},
		{"chunks passed on", "/m/shop/proxy", chunked + "1\r\na\r\n", 408, "body-too-slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, reader := dial(t, serveEngine(t, slowly(t, short, echo(t, short))))
			if _, err := io.WriteString(conn, "POST "+c.path+" HTTP/1.1\r\nHost: h\r\n"+c.rest); err != nil {
				t.Fatal(err)
			}
			status, body := finalAnswer(t, reader)
			if status != c.status || !strings.Contains(body, c.body) {
				t.Errorf("%d: %s", status, body)
			}
			if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
				t.Errorf("the connection goes on with %q, %v", rest, err)
			}
		})
	}
}

// finalAnswer reads the answer behind interim ones.
func finalAnswer(t *testing.T, reader *bufio.Reader) (status int, body string) {
	t.Helper()
	for status < 200 {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		status, body = answer.StatusCode, string(text)
	}
	return status, body
}

// Rule N12: a byte now and then is not enough.
func TestN12_a_body_that_drips_is_given_up(t *testing.T) {
	t.Parallel()
	conn, reader := dial(t, serveEngine(t, slowly(t, short, echo(t, short))))
	if _, err := io.WriteString(conn, "POST /m/shop/text HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answered, dripped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(dripped)
		drops := time.NewTicker(20 * time.Millisecond)
		defer drops.Stop()
		for {
			select {
			case <-drops.C:
				_, _ = io.WriteString(conn, "x")
			case <-answered:
				return
			}
		}
	}()
	status, body := finalAnswer(t, reader)
	close(answered)
	<-dripped
	if status != http.StatusRequestTimeout {
		t.Errorf("%d: %s", status, body)
	}
}

// pipes is a listener of connections within the process, which have the time of a bubble.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// pipe is an end of such a connection.
type pipe struct{ net.Conn }

func (pipe) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return pipe{}.RemoteAddr() }

func (p *pipes) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _ = here.Close() })
	p.conns <- pipe{there}
	return here, bufio.NewReader(here)
}

// Rule N12: the time of a body ends with it: neither what a request waits for nor the next one on its connection has it.
func TestN12_the_time_for_a_body_ends_with_it(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"text": "abc", "delay": "a", "dribble": "aaaa", "events": "data: a\n\ndata: b\n\n", "unread": "a", "unread-delay": "a",
	} {
		for framing, rest := range framings {
			t.Run(path+" "+framing, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
					serveOn(t, slowly(t, enough, "http://nobody.test"), l)
					conn, reader := l.dial(t)
					asksThrice(t, conn, reader, "POST /m/shop/"+path+" HTTP/1.1\r\nHost: h\r\n"+rest, want)
				})
			})
		}
	}
	for framing, rest := range framings {
		t.Run("proxy "+framing, func(t *testing.T) {
			t.Parallel()
			conn, reader := dial(t, serveEngine(t, slowly(t, enough, echo(t, enough))))
			asksThrice(t, conn, reader, "POST /m/shop/proxy HTTP/1.1\r\nHost: h\r\n"+rest, "abc")
		})
	}
}

// framings are the ways to send a body of three bytes.
var framings = map[string]string{
	"known": "Content-Length: 3\r\n\r\nabc", "chunked": "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-A: b\r\n\r\n",
}

func asksThrice(t *testing.T, conn net.Conn, reader *bufio.Reader, request, want string) {
	t.Helper()
	for range 3 {
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if status, body := finalAnswer(t, reader); status != http.StatusOK || body != want {
			t.Fatalf("%d: %q", status, body)
		}
		// Between two requests there is time too.
		<-time.After(enough + time.Millisecond)
	}
}

// Rule N12: on HTTP/2 each stream has its own time.
func TestN12_bodies_have_their_time_on_HTTP2(t *testing.T) {
	t.Parallel()
	client, base := http2Client(t, slowly(t, short, echo(t, short)))
	for _, path := range []string{"text", "proxy"} {
		body, end := io.Pipe()
		t.Cleanup(func() { _ = end.Close() })
		if status, text := send2(t, client, base+"/"+path, body); status != http.StatusRequestTimeout || !strings.Contains(text, "body-too-slow") {
			t.Errorf("%s: %d: %s", path, status, text)
		}
	}
	client, base = http2Client(t, slowly(t, enough, echo(t, enough)))
	for path, want := range map[string]string{"text": "abc", "dribble": "aaaa", "unread-delay": "a", "proxy": "abc"} {
		if status, text := send2(t, client, base+"/"+path, io.LimitReader(strings.NewReader("abc"), 3)); status != http.StatusOK || text != want {
			t.Errorf("%s: %d: %s", path, status, text)
		}
	}
}

func send2(t *testing.T, client *http.Client, address string, body io.Reader) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}
