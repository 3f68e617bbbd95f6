package proxy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/proxy"
)

// pieces is a connection on which pieces come, one with each read.
type pieces struct {
	net.Conn

	left []string
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.ErrNoProgress
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

func (*pieces) Write(b []byte) (int, error) { return len(b), nil }

// readOn reads from a connection until it fails, and returns what came before that.
func readOn(conn net.Conn) (string, error) {
	var all []byte
	for b := make([]byte, 1<<16); ; {
		n, err := conn.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			return string(all), err
		}
	}
}

// T12: a connection on which more came than the answer ends for net/http with the bytes that the answer ends with, or with
// those before, wherever they are split. It goes on where no more came.
func TestT12_surplus_ends_the_connection_before_it_is_reused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ method, answer, surplus string }{
		"204":                   {"GET", "HTTP/1.1 204 No Content\r\n\r\n", "x"},
		"304 with a length":     {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 299 Smuggled\r\n\r\n"},
		"HEAD":                  {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\n"},
		"no content":            {"GET", "HTTP/1.1 200 OK\ncontent-length: 0\n\n", "x"},
		"a length":              {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234", "5"},
		"chunks":                {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5;x=y\r\n01234\r\nA \r\n0123456789\r\n0\r\n\r\n", "x"},
		"trailers":              {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\n", "\r\n"},
		"behind interim answer": {"GET", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "x"},
	} {
		whole := c.answer + c.surplus
		for at := range whole {
			conn := proxy.Observe(&pieces{left: []string{whole[:at], whole[at:]}}, c.method)
			want := whole // The end of the answer and more came in the second piece.
			if at >= len(c.answer) {
				want = whole[:at]
			}
			got, err := readOn(conn)
			if got != want || errors.Is(err, io.ErrNoProgress) || errors.Is(err, io.EOF) != (at != len(c.answer)) {
				t.Errorf("%s, split at %d: read %q, %v", name, at, got, err)
			}
			conn = proxy.Observe(&pieces{left: []string{c.answer[:min(at, len(c.answer))], c.answer[min(at, len(c.answer)):]}}, c.method)
			if got, err := readOn(conn); got != c.answer || !errors.Is(err, io.ErrNoProgress) {
				t.Errorf("%s without surplus, split at %d: read %q, %v", name, at, got, err)
			}
		}
	}
}

// What is not followed is left to net/http.
func TestT12_what_has_no_certain_end_goes_on(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\n\r\nuntil the end",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 1<<13) + "\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nx",
		"no HTTP at all",
	} {
		if got, err := readOn(proxy.Observe(&pieces{left: []string{answer, "more"}}, "GET")); got != answer+"more" || !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%.60q: read %.60q, %v", answer, got, err)
		}
	}
}

// Bytes that came before a request was sent answer none.
func TestT12_what_came_before_the_request_is_no_answer(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 204 No Content\r\n\r\n"
	if got, err := proxy.Silent(&pieces{left: []string{answer}}).Read(make([]byte, 100)); got != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v", got, err)
	}
	conn := proxy.Silent(&pieces{left: []string{answer}})
	if _, err := conn.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	if got, err := conn.Read(make([]byte, 100)); got != len(answer) || err != nil {
		t.Errorf("read %d bytes, %v", got, err)
	}
}

// Where net/http reads an answer to its end, that is the end here too, or none is known.
func FuzzBodyEnd(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;q\r\nabc\r\n0\r\nT: 1\r\n\r\nx",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, head bool) {
		if len(text) > 1<<15 {
			return
		}
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		in := bufio.NewReader(bytes.NewReader([]byte(text)))
		answer, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return
		}
		defer answer.Body.Close()
		if answer.StatusCode < http.StatusOK {
			return // net/http reads interim answers one by one.
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return
		}
		left, _ := io.ReadAll(in)
		_, err = readOn(proxy.Observe(&pieces{left: []string{text}}, method))
		if surplus := errors.Is(err, io.EOF); surplus && len(left) == 0 {
			t.Errorf("there is no more than the answer in %q", text)
		} else if framed := answer.ContentLength >= 0; framed && len(left) > 0 && !surplus {
			t.Errorf("%d bytes more than the answer in %q", len(left), text)
		}
	})
}
