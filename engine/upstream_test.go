package engine_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// upstream is a server that proxies and webhooks of a case call. It knows no more of HTTP than where a request ends, so
// that a case sees every byte.
type upstream struct {
	url, address string

	mu      sync.Mutex
	answers [][]byte
	seen    []testkit.Message
	calls   int
}

// answerUpstream adds an answer; the first one starts the upstream.
func (x *exchangeCase) answerUpstream(t *testing.T, codings, data string) {
	t.Helper()
	if x.upstream == nil {
		x.upstream = &upstream{}
		listener := listenLoopback(t)
		x.upstream.address = listener.Addr().String()
		x.upstream.url = "http://" + x.upstream.address
		if x.upstreamTLS {
			owner := httptest.NewTLSServer(http.NotFoundHandler())
			listener = tls.NewListener(listener, &tls.Config{Certificates: owner.TLS.Certificates, MinVersion: tls.VersionTLS12})
			owner.Close()
			x.upstream.url = "https://" + x.upstream.address
		}
		go x.upstream.serve(listener)
	}
	head, body, _ := strings.Cut(x.filled(data), "\n\n")
	body = coded(t, codings, strings.TrimSuffix(body, "\n"))
	head = strings.Replace(strings.TrimSuffix(head, "\n"), "Content-Length: auto", "Content-Length: "+strconv.Itoa(len(body)), 1)
	x.upstream.mu.Lock()
	defer x.upstream.mu.Unlock()
	x.upstream.answers = append(x.upstream.answers, []byte(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body))
}

func listenLoopback(t *testing.T) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func (u *upstream) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go u.answer(conn)
	}
}

// answer answers the requests of a connection. It closes behind an answer that doesn't end by itself or says so: closing behind
// another would race with a next request, which the proxy may not send twice.
func (u *upstream) answer(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReader(conn)
	for u.answerOne(conn, in) {
	}
}

// answerOne answers the next request, and tells whether another may follow.
func (u *upstream) answerOne(conn net.Conn, in *bufio.Reader) bool {
	var m testkit.Message
	var head bytes.Buffer
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		head.WriteString(line)
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		if m.First == "" {
			m.First = line
			continue
		}
		m.Lines = append(m.Lines, line)
	}
	r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(&head, in)))
	if err != nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	m.Body = string(body)
	u.mu.Lock()
	u.seen = append(u.seen, m)
	answer := u.answers[min(u.calls, len(u.answers)-1)]
	u.calls++
	u.mu.Unlock()
	_, err = conn.Write(answer)
	return err == nil && endsByItself(r, answer)
}

// endsByItself tells whether an answer has a length, is as long as that, and doesn't say that the connection closes.
func endsByItself(r *http.Request, answer []byte) bool {
	rest := bufio.NewReader(bytes.NewReader(answer))
	response, err := http.ReadResponse(rest, r)
	if err != nil || response.Close || response.ContentLength < 0 {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && rest.Buffered() == 0
}

// sawUpstream looks at the next request that the upstream got.
func (x *exchangeCase) sawUpstream(t *testing.T, _, data string) {
	t.Helper()
	var m testkit.Message
	await(t, "the upstream is called", func() bool {
		x.upstream.mu.Lock()
		defer x.upstream.mu.Unlock()
		if len(x.upstream.seen) == 0 {
			return false
		}
		m, x.upstream.seen = x.upstream.seen[0], x.upstream.seen[1:]
		return true
	})
	m.Check(t, data)
	x.body = m.Body
}

// sawNothing holds that the upstream got no request but those that were looked at.
func (x *exchangeCase) sawNothing(t *testing.T, argument, _ string) {
	t.Helper()
	if argument != "" {
		patience, err := time.ParseDuration(argument)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(patience)
	}
	x.upstream.mu.Lock()
	defer x.upstream.mu.Unlock()
	for _, m := range x.upstream.seen {
		t.Errorf("the upstream was called with %q", m.First)
	}
}

// The operations of WebSocket frames, by what a case calls them.
var frameKinds = map[string]byte{"": 1, "close": 8, "ping": 9, "pong": 10}

// talk sends and reads the frames of a WebSocket connection.
func (x *exchangeCase) talk(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		line = strings.TrimSuffix(line, "\n")
		word, text, _ := strings.Cut(line[1:], " ")
		switch {
		case line[0] == '>' && word == "raw":
			raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			x.write(t, raw)
		case line[0] == '>':
			payload := framePayload(t, word, text)
			frame := append([]byte{0x80 | frameKinds[word], 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
			x.write(t, frame)
		default:
			x.hear(t, word, text)
		}
	}
}

func (x *exchangeCase) write(t *testing.T, b []byte) {
	t.Helper()
	if _, err := x.conn.Write(b); err != nil {
		t.Fatal(err)
	}
}

// framePayload is the text of a frame, with the code of a close before it.
func framePayload(t *testing.T, word, text string) []byte {
	t.Helper()
	if word != "close" || text == "" {
		return []byte(text)
	}
	code, reason, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(n)), reason...)
}

// hear reads one frame, which must be this one; of a close, a reason that is not stated does not matter.
func (x *exchangeCase) hear(t *testing.T, word, text string) {
	t.Helper()
	var head [2]byte
	_, err := io.ReadFull(x.reader, head[:])
	if word == "end" {
		if err == nil {
			t.Errorf("a frame came: %x", head)
		}
		return
	}
	if err != nil {
		t.Fatalf("instead of %q: %v", text, err)
	}
	size := int(head[1])
	if size == 126 {
		var long [2]byte
		if _, err := io.ReadFull(x.reader, long[:]); err != nil {
			t.Fatal(err)
		}
		size = int(binary.BigEndian.Uint16(long[:]))
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(x.reader, payload); err != nil {
		t.Fatal(err)
	}
	want := framePayload(t, word, text)
	kind, binaryText := head[0]&0x0f, word == "" && head[0]&0x0f == 2
	same := bytes.Equal(payload, want) || word == "close" && len(want) == 2 && bytes.HasPrefix(payload, want)
	if !same || kind != frameKinds[word] && !binaryText {
		t.Errorf("heard %q of kind %d, want %q", payload, kind, line(word, text))
	}
}

func line(word, text string) string { return "<" + word + " " + text }
