package parking_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/internal/testkit"
)

// told is a lot whose owner answers what net/http refuses, with what it was told.
func told(t *testing.T) *delaying {
	t.Helper()
	return serveDelaying(t, parking.Options{MaxHead: 8 << 10, Refuse: func(r *parking.Refused) *http.Response {
		if r.Status == http.StatusHTTPVersionNotSupported {
			return nil
		}
		text := r.Reason
		if r.InLine {
			text += "in line"
		}
		if r.HTTP2 {
			text = strings.TrimSpace(text + " HTTP/2")
		}
		return &http.Response{
			StatusCode: r.Status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"X-Own": {text}}, Close: true,
			Body: io.NopCloser(strings.NewReader("own")), ContentLength: 3,
		}
	}}, func(s *http.Server) {
		s.MaxHeaderBytes = 4 << 10
		next := s.Handler
		s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/refuses":
				w.Header()["Connection"] = []string{"close"}
				http.Error(w, "400 Bad Request", http.StatusBadRequest)
			case "/expects":
				w.Header()["Connection"] = []string{"close"}
				w.WriteHeader(http.StatusExpectationFailed)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
}

// M-6, N6 and N7: what net/http refuses past every handler is answered by the lot's owner.
func TestM6_heads_that_cannot_be_read_are_answered_by_the_owner(t *testing.T) {
	t.Parallel()
	d := told(t)
	long := strings.Repeat("a", 16<<10)
	for _, c := range []struct {
		request string
		status  int
		own     string
	}{
		{"GET / HTTP/1.1\r\nHost: x\r\nX: " + long + "\r\n\r\n", 431, ""},
		{"GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "in line"},
		{"GET / HTTP/1.1\r\n\r\n", 400, "missing required Host header"},
		{"G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "Unsupported transfer encoding"},
	} {
		answer := testkit.RawHTTP(t, d.addr, c.request)
		if answer.Status != c.status || answer.Get("X-Own") != c.own || string(answer.Body) != "own" {
			t.Errorf("%.40q: %s %q %q", c.request, answer.StatusLine, answer.Get("X-Own"), answer.Body)
		}
	}
	if answer := testkit.RawHTTP(t, d.addr, "GET / HTTP/3.7\r\nHost: x\r\n\r\n"); answer.Status != 505 || strings.Contains(string(answer.Body), "own") {
		t.Errorf("what the owner leaves: %s %q", answer.StatusLine, answer.Body)
	}
	if answer := testkit.RawHTTP(t, d.addr, "GET /refuses HTTP/1.1\r\nHost: x\r\n\r\n"); answer.Status != 400 || string(answer.Body) != "400 Bad Request\n" {
		t.Errorf("a handler's own: %s %q", answer.StatusLine, answer.Body)
	}
}

// N4: what net/http does not meet, whatever the version and the method of the request.
func TestN4_expectations_that_are_not_met_are_answered_by_the_owner(t *testing.T) {
	t.Parallel()
	d := told(t)
	for _, c := range []struct {
		request string
		status  int
		body    string
	}{
		{"GET / HTTP/1.1\r\nHost: x\r\nExpect: 202-maybe\r\n\r\n", 417, "own"},
		{"GET / HTTP/1.0\r\nHost: x\r\nEXPECT:202-maybe\r\n\r\n", 417, "own"},
		{"HEAD / HTTP/1.1\r\nHost: x\r\nExpect: 202-maybe\r\n\r\n", 417, ""},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 202-maybe, x" + strings.Repeat("y", 100) + "\r\n\r\nabc", 417, "own"},
		{"GET /next HTTP/1.1\r\nHost: x\r\nExpect:\r\n\r\n", 200, "answer to /next "},
		{"GET /expects HTTP/1.1\r\nHost: x\r\n\r\n", 417, ""},
		{"GET /expects HTTP/1.1\r\nHost: x\r\nExpect: x, 100-Continue\r\n\r\n", 417, ""},
	} {
		conn := testkit.DialHTTP(t, d.addr)
		conn.Send(c.request)
		method, _, _ := strings.Cut(c.request, " ")
		if answer := conn.Read(method); answer.Status != c.status || string(answer.Body) != c.body {
			t.Errorf("%.60q: %s %q", c.request, answer.StatusLine, answer.Body)
		}
	}
	conn := testkit.DialHTTP(t, d.addr)
	conn.Send("GET /next HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nExpect: 202-maybe\r\n\r\n")
	expect(t, conn.Read(http.MethodGet), http.StatusOK, "answer to /next ")
	expect(t, conn.Read(http.MethodGet), http.StatusExpectationFailed, "own")
}

// N7: the request behind another one on the same connection.
func TestM6_a_head_behind_a_readable_one_is_answered_by_the_owner(t *testing.T) {
	t.Parallel()
	conn := testkit.DialHTTP(t, told(t).addr)
	conn.Send("GET /now HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 16<<10) + "\r\n\r\n")
	if answer := conn.Read(http.MethodGet); answer.Status != http.StatusOK {
		t.Errorf("the first: %s", answer.StatusLine)
	}
	if answer := conn.Read(http.MethodGet); answer.Status != 431 || string(answer.Body) != "own" {
		t.Errorf("the second: %s %q", answer.StatusLine, answer.Body)
	}
}
