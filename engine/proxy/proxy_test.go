package proxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/proxy"
)

// policy allows what tests call.
func policy() *outbound.Policy { return outbound.New(outbound.Options{Loopback: true}) }

// rawUpstream answers every connection's first request with the same bytes and hands out what it received.
func rawUpstream(t *testing.T, answer string) (address string, received <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	requests := make(chan string, 16)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				text, err := readRaw(bufio.NewReader(conn))
				if err != nil {
					return
				}
				requests <- text
				_, _ = io.WriteString(conn, answer)
			}()
		}
	}()
	return listener.Addr().String(), requests
}

// readRaw reads one request as text, its body included.
func readRaw(r *bufio.Reader) (string, error) {
	var text strings.Builder
	both := bufio.NewReader(io.TeeReader(r, &text))
	request, err := http.ReadRequest(both)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, request.Body)
	return text.String(), err
}

// front is a server that passes everything on by one rule.
type front struct {
	*httptest.Server
	results  chan *proxy.Result
	failures chan *proxy.UpstreamError
	closing  chan struct{}
}

func newFront(t *testing.T, rule mockbase.Proxy, change func(*proxy.Request)) *front {
	t.Helper()
	if rule.Timeout == 0 {
		rule.Timeout = time.Minute
	}
	route, err := proxy.Compile(&rule, proxy.FixedUpstream)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{results: make(chan *proxy.Result, 16), failures: make(chan *proxy.UpstreamError, 16), closing: make(chan struct{})}
	forwarder := proxy.New(policy(), f.closing)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in := &proxy.Request{In: r, Header: r.Header, Target: r.RequestURI, Keep: 1 << 10, OwnBase: "/m/shop", Peer: netip.MustParseAddrPort(r.RemoteAddr).Addr()}
		if r.ContentLength >= 0 && r.ContentLength < 1<<10 {
			in.Body, _ = io.ReadAll(r.Body)
		} else {
			in.Unread = r.Body
		}
		if change != nil {
			change(in)
		}
		result, err := forwarder.Forward(w, route, in)
		if failure, ok := errors.AsType[*proxy.UpstreamError](err); ok {
			f.failures <- failure
			w.WriteHeader(failure.Status)
			return
		}
		f.results <- result
		if result.Broken != nil {
			panic(http.ErrAbortHandler)
		}
	}))
	f.Config.ErrorLog = nil
	t.Cleanup(func() {
		f.Close()
		forwarder.CloseIdle()
	})
	return f
}

// exchange sends raw bytes and returns all that comes back until the connection ends.
func exchange(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	return strings.ReplaceAll(string(answer), "\r\n", "\n")
}

const plainAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// forwarded sends one request through a rule and returns what the upstream saw and what the client got.
func forwarded(t *testing.T, rule mockbase.Proxy, base, request, answer string) (seen, got string) {
	t.Helper()
	upstream, received := rawUpstream(t, answer)
	rule.To = "http://" + upstream + base
	f := newFront(t, rule, nil)
	got = exchange(t, f.Listener.Addr().String(), request)
	select {
	case seen = <-received:
	default:
		t.Fatalf("the upstream saw nothing; the client got %q", got)
	}
	return strings.ReplaceAll(strings.ReplaceAll(seen, "\r\n", "\n"), upstream, "{upstream}"), got
}

func TestT1_the_target_is_passed_on_byte_for_byte(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, strip, target, want string }{
		{"", "/api", "/api/a%2Fb?x=1;y", "/a%2Fb?x=1;y"},
		{"", "/api", "/apix", "/apix"},
		{"", "/api", "/api", "/"},
		{"", "/api/", "/api?", "/?"},
		{"/v1/", "/api", "/api/a", "/v1/a"},
		{"/v%31", "", "/a/", "/v%31/a/"},
		{"", "", "/a/../b//c/./d", "/a/../b//c/./d"},
		{"", "", "//evil.test/x?q", "//evil.test/x?q"},
		{"", "", `/a"<>|^{}%7e'`, `/a"<>|^{}%7e'`},
		{"", "", "/é?ü", "/é?ü"},
		{"", "", "/a?x=%zz&&;?", "/a?x=%zz&&;?"},
		{"/b", "", "//x", "/b//x"},
		// Rule S5: the upstream's own path is written as a URL has it.
		{"/a b/é HTTP/1.1 x", "", "/c", "/a%20b/%C3%A9%20HTTP/1.1%20x/c"},
	} {
		seen, _ := forwarded(t, mockbase.Proxy{StripPrefix: test.strip}, test.base, "GET "+test.target+" HTTP/1.1\nHost: m.test\nConnection: close\n\n", plainAnswer)
		if line, _, _ := strings.Cut(seen, "\n"); line != "GET "+test.want+" HTTP/1.1" {
			t.Errorf("to %q without %q, %s became %q", test.base, test.strip, test.target, line)
		}
	}
}

// HTTP/2 lets a client send a blank in its target.
func TestS5_a_blank_in_the_received_target_does_not_end_the_request_line(t *testing.T) {
	t.Parallel()
	upstream, received := rawUpstream(t, plainAnswer)
	f := newFront(t, mockbase.Proxy{To: "http://" + upstream}, func(in *proxy.Request) { in.Target = "/a b?c HTTP/1.1 " })
	exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m.test\nConnection: close\n\n")
	select {
	case seen := <-received:
		if line, _, _ := strings.Cut(seen, "\r\n"); line != "GET /a%20b?c%20HTTP/1.1%20 HTTP/1.1" {
			t.Errorf("the upstream saw %q", line)
		}
	default:
		t.Error("the upstream saw nothing")
	}
}

func TestT2_method_and_body_pass_unchanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ request, want, lacks string }{
		"GET with a body":              {"GET / HTTP/1.1\nHost: m\nConnection: close\nContent-Length: 1\n\nz", "Content-Length: 1\n", "Transfer-Encoding"},
		"empty POST":                   {"POST / HTTP/1.1\nHost: m\nConnection: close\nContent-Length: 0\n\n", "Content-Length: 0\n", "Transfer-Encoding"},
		"empty DELETE with a length":   {"DELETE / HTTP/1.1\nHost: m\nConnection: close\nContent-Length: 0\n\n", "Content-Length: 0\n", "Transfer-Encoding"},
		"DELETE without a length":      {"DELETE / HTTP/1.1\nHost: m\nConnection: close\n\n", "DELETE / HTTP/1.1\n", "Content-Length"},
		"method of its own":            {"BREW / HTTP/1.1\nHost: m\nConnection: close\nContent-Length: 3\n\nabc", "BREW / HTTP/1.1\n", "Transfer-Encoding"},
		"chunked":                      {"PUT / HTTP/1.1\nHost: m\nConnection: close\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n", "Transfer-Encoding: chunked\n", "Content-Length"},
		"trailers":                     {"PUT / HTTP/1.1\nHost: m\nConnection: close\nTransfer-Encoding: chunked\nTrailer: X-Sum\n\n3\nabc\n0\nX-Sum: 7\n\n", "X-Sum: 7\n", "Content-Length"},
		"trailers that frame":          {"PUT / HTTP/1.1\nHost: m\nConnection: close\nTransfer-Encoding: chunked\nTrailer: X-Sum\n\n3\nabc\n0\nX-Sum: 7\nContent-Length: 3\nTransfer-Encoding: x\n\n", "X-Sum: 7\n", "Content-Length"},
		"coded body":                   {"PUT / HTTP/1.1\nHost: m\nConnection: close\nContent-Encoding: gzip\nContent-Length: 3\n\n\x1f\x8bx", "\x1f\x8bx", "Transfer-Encoding"},
		"HTTP/1.0":                     {"GET / HTTP/1.0\n\n", "GET / HTTP/1.1\n", "Content-Length"},
		"length that is large streams": {"PUT / HTTP/1.1\nHost: m\nConnection: close\nContent-Length: 5000\n\n" + strings.Repeat("x", 5000), strings.Repeat("x", 5000), "Transfer-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, got := forwarded(t, mockbase.Proxy{}, "", test.request, plainAnswer)
			if !strings.Contains(seen, test.want) || strings.Contains(seen, test.lacks) {
				t.Errorf("the upstream saw %q, want %q and no %q", seen, test.want, test.lacks)
			}
			if !strings.HasSuffix(got, "\n\nok") {
				t.Errorf("the client got %q", got)
			}
		})
	}
}

// headerCase is a request header, as the client sends it, with the lines that the upstream must and must not see.
type headerCase struct {
	rule        mockbase.Proxy
	sent        string
	want, lacks []string
}

func (h *headerCase) run(t *testing.T) {
	t.Helper()
	seen, _ := forwarded(t, h.rule, "", "GET / HTTP/1.1\nHost: m.test\n"+h.sent+"\n", plainAnswer)
	for _, line := range h.want {
		if !strings.Contains(seen, "\n"+line+"\n") {
			t.Errorf("the upstream saw\n%s\nwhich lacks %q", seen, line)
		}
	}
	for _, line := range h.lacks {
		if strings.Contains(strings.ToLower(seen), "\n"+strings.ToLower(line)) {
			t.Errorf("the upstream saw\n%s\nwhich holds %q", seen, line)
		}
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	const closing = "Connection: close\n"
	set := func(name string, values ...string) mockbase.Header {
		return mockbase.Header{Name: name, Values: values}
	}
	for name, test := range map[string]headerCase{
		"T3 what Connection names": {sent: "Connection: close, X-Foo\nX-Foo: 1\nX-Bar: 2\n", want: []string{"X-Bar: 2"}, lacks: []string{"X-Foo"}},
		"T3 hop by hop": {
			sent:  closing + "Keep-Alive: 5\nProxy-Connection: x\nTE: gzip\nUpgrade: h2c\nProxy-Authorization: Basic x\nAuthorization: Bearer y\n",
			want:  []string{"Authorization: Bearer y"},
			lacks: []string{"Keep-Alive", "Proxy-Connection", "Te:", "Upgrade", "Proxy-Authorization", "Connection"},
		},
		"T3 TE trailers":             {sent: "Connection: close, TE\nTE: gzip, trailers;q=0.5\n", want: []string{"Te: trailers"}},
		"T3 what steers this server": {sent: closing + "Mockbase-Prefer: x\nMockbase-Session: y\nMockbase-Hops: 2\n", want: []string{"Mockbase-Hops: 3"}, lacks: []string{"Mockbase-Prefer", "Mockbase-Session"}},
		"T4 host of the upstream":    {sent: closing, want: []string{"Host: {upstream}"}},
		"T4 host of the client":      {rule: mockbase.Proxy{PreserveHost: true}, sent: closing, want: []string{"Host: m.test"}},
		"T4 host by its author":      {rule: mockbase.Proxy{HostText: "own.test"}, sent: closing, want: []string{"Host: own.test"}},
		"T5 off": {
			sent: closing + "X-Forwarded-For: 1.1.1.1\nVia: 1.0 a\n", want: []string{"X-Forwarded-For: 1.1.1.1", "Via: 1.0 a"},
			lacks: []string{"Forwarded:", "X-Forwarded-Host", "X-Forwarded-Proto"},
		},
		"T5 forwarded": {
			rule: mockbase.Proxy{Forwarded: true}, sent: closing + "X-Forwarded-For: 1.1.1.1\nForwarded: for=1.1.1.1\n",
			want:  []string{"X-Forwarded-For: 1.1.1.1, 127.0.0.1", "X-Forwarded-Host: m.test", "X-Forwarded-Proto: http", `Forwarded: for=1.1.1.1, for=127.0.0.1;host="m.test";proto=http`},
			lacks: []string{"Via"},
		},
		"T5 via": {rule: mockbase.Proxy{Via: true}, sent: closing + "Via: 1.0 a\n", want: []string{"Via: 1.0 a, 1.1 mockbase"}, lacks: []string{"X-Forwarded"}},
		"T6 removed before set": {
			rule: mockbase.Proxy{RemoveHeaders: []string{"x-a", "X-B"}, SetHeaders: []mockbase.Header{set("x-b", "1"), set("X-C", "2", "3"), {Name: "X-D", Remove: true}}},
			sent: closing + "X-A: 0\nX-B: 0\nX-D: 0\n", want: []string{"x-b: 1", "X-C: 2", "X-C: 3"}, lacks: []string{"X-A", "x-b: 0", "X-D"},
		},
		"T6 host and user agent": {
			rule: mockbase.Proxy{SetHeaders: []mockbase.Header{set("host", "set.test"), set("user-agent", "mine")}},
			sent: closing + "User-Agent: theirs\n", want: []string{"Host: set.test", "User-Agent: mine"}, lacks: []string{"User-Agent: theirs"},
		},
		"T7 no coding is asked for":    {sent: closing, lacks: []string{"Accept-Encoding", "User-Agent"}},
		"T7 the client's coding is":    {sent: closing + "Accept-Encoding: br\nUser-Agent: u\n", want: []string{"Accept-Encoding: br", "User-Agent: u"}},
		"an expectation is met by now": {sent: closing + "Expect: 100-continue\nContent-Length: 0\n", lacks: []string{"Expect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule        mockbase.Proxy
		method      string
		answer      string
		want, lacks []string
	}{
		"T3 hop by hop": {
			answer: "HTTP/1.1 200 OK\r\nConnection: X-Foo\r\nX-Foo: 1\r\nKeep-Alive: 5\r\nX-Bar: 2\r\nContent-Length: 0\r\n\r\n",
			want:   []string{"X-Bar: 2"}, lacks: []string{"X-Foo", "Keep-Alive"},
		},
		"T3 hop by hop, before the connection closes": {
			answer: "HTTP/1.1 103 Early Hints\r\nConnection: X-Bar\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close, X-Foo\r\nX-Foo: 1\r\nX-Bar: 2\r\nContent-Length: 0\r\n\r\n",
			want:   []string{"X-Bar: 2"}, lacks: []string{"X-Foo"},
		},
		"T7 a coded body comes back untouched": {
			answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8bx", want: []string{"Content-Encoding: gzip", "Content-Length: 3", "\x1f\x8bx"},
		},
		"T9 redirects come back": {answer: "HTTP/1.1 302 Found\r\nLocation: http://else.test/\r\nContent-Length: 0\r\n\r\n", want: []string{"HTTP/1.1 302 Found", "Location: http://else.test/"}},
		"T11 trailers":           {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n", want: []string{"Trailer: X-Sum", "X-Sum: 7"}},
		"T11 trailers that were not announced": {
			answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Late: 7\r\n\r\n", want: []string{"X-Late: 7"},
		},
		"T11 interim answers": {
			answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n",
			want:   []string{"HTTP/1.1 103 Early Hints\nLink: </a>\n", "HTTP/1.1 200 OK", "X-A: 1"}, lacks: []string{"100 Continue"},
		},
		"nothing is sniffed or added":     {answer: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nDate: now\r\nServer: s\r\n\r\n<html>", want: []string{"Date: now", "Server: s"}, lacks: []string{"Content-Type"}},
		"body that ends at close":         {answer: "HTTP/1.0 200 OK\r\n\r\nabc", want: []string{"abc"}},
		"304 keeps length and type":       {answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Type: a/b\r\nEtag: \"x\"\r\n\r\n", want: []string{"content-length: 5", "content-type: a/b", `Etag: "x"`}},
		"HEAD keeps the length":           {method: http.MethodHead, answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", want: []string{"Content-Length: 5"}},
		"several cookies stay apart":      {answer: "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n", want: []string{"Set-Cookie: a=1\n", "Set-Cookie: b=2\n"}},
		"T5 via":                          {rule: mockbase.Proxy{Via: true}, answer: plainAnswer, want: []string{"Via: 1.1 mockbase"}},
		"a status of three odd digits":    {answer: "HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", want: []string{"HTTP/1.1 599"}},
		"T10 a status below 100 is a 502": {answer: "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", want: []string{"HTTP/1.1 502"}},
		"T10 no HTTP at all is a 502":     {answer: "SSH-2.0-x\r\n", want: []string{"HTTP/1.1 502"}},
		"a switch that nobody asked for":  {answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", want: []string{"HTTP/1.1 502"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			_, got := forwarded(t, test.rule, "", method+" /x HTTP/1.1\nHost: m.test\nConnection: close\n\n", test.answer)
			for _, text := range test.want {
				if !strings.Contains(got, text) {
					t.Errorf("the client got\n%s\nwhich lacks %q", got, text)
				}
			}
			for _, text := range test.lacks {
				if strings.Contains(got, text) {
					t.Errorf("the client got\n%s\nwhich holds %q", got, text)
				}
			}
		})
	}
}

func TestT9_locations_are_rewritten_only_when_asked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ strip, target, location, want string }{
		{"", "/x", "http://up.test/base/a?b#c", "/m/shop/a?b#c"},
		{"", "/x", "http://UP.test:80/base/a", "/m/shop/a"},
		{"/api", "/api/x", "http://up.test/base/a", "/m/shop/api/a"},
		{"/api", "/apix", "http://up.test/base/a", "/m/shop/a"},
		{"", "/x", "/base", "/m/shop"},
		{"", "/x", "/base?q", "/m/shop?q"},
		{"", "/x", "/basement", "/basement"},
		{"", "/x", "/else", "/else"},
		{"", "/x", "a/b", "a/b"},
		{"", "/x", "//up.test/base", "//up.test/base"},
		{"", "/x", "http://else.test/base", "http://else.test/base"},
		{"", "/x", "https://up.test/base", "https://up.test/base"},
		{"", "/x", "http://up.test", "http://up.test"},
	} {
		route, err := proxy.Compile(&mockbase.Proxy{To: "http://up.test/base", StripPrefix: test.strip}, proxy.FixedUpstream)
		if err != nil {
			t.Fatal(err)
		}
		if got := proxy.RewriteLocation(route, test.target, test.location); got != test.want {
			t.Errorf("%s at %s without %q became %s, want %s", test.location, test.target, test.strip, got, test.want)
		}
	}
	const moved = "HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n"
	_, got := forwarded(t, mockbase.Proxy{RewriteLocation: true}, "", "GET / HTTP/1.1\nHost: m\nConnection: close\n\n", moved)
	if !strings.Contains(got, "\nLocation: /m/shop/a\n") {
		t.Errorf("the client got %q", got)
	}
}

func TestT3_hops_are_removed_over_TLS_and_HTTP2_is_spoken(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Foo", r.Proto)
			w.Header().Set("X-Proto", r.Proto)
			if r.ProtoMajor == 1 {
				w.Header().Set("Connection", "close, X-Foo")
			}
		}))
		upstream.EnableHTTP2 = http2
		upstream.StartTLS()
		t.Cleanup(upstream.Close)
		f := newFront(t, mockbase.Proxy{To: upstream.URL, InsecureTLS: true}, nil)
		got := exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close\n\n")
		if !strings.Contains(got, "X-Proto: "+protocol+"\n") || strings.Contains(got, "X-Foo") != http2 {
			t.Errorf("%s: %q", protocol, got)
		}
	}
}

func TestT8_certificates_are_verified_unless_told_otherwise(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	upstream.Config.ErrorLog = nil
	t.Cleanup(upstream.Close)
	for insecure, want := range map[bool]string{false: "HTTP/1.1 502", true: "HTTP/1.1 200"} {
		f := newFront(t, mockbase.Proxy{To: upstream.URL, InsecureTLS: insecure}, nil)
		if got := exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close\n\n"); !strings.HasPrefix(got, want) {
			t.Errorf("insecureTLS %t: %q", insecure, got)
		}
	}
}

func TestT10_failures_are_told_apart(t *testing.T) {
	t.Parallel()
	noName := strings.Repeat("x", 64) + ".invalid" // It is too long to ask a name server for.
	silent, _ := rawUpstream(t, "")
	hanging, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hanging.Close() })
	for name, test := range map[string]struct {
		to     string
		status int
		cause  string
	}{
		"closed port":         {"http://127.0.0.1:1", http.StatusBadGateway, "refused"},
		"blocked":             {"http://169.254.169.254", http.StatusBadGateway, "metadata"},
		"blocked in disguise": {"http://[::ffff:10.0.0.1]:80", http.StatusBadGateway, "private"},
		"unknown name":        {"http://" + noName, http.StatusBadGateway, noName},
		"closes at once":      {"http://" + silent, http.StatusBadGateway, "EOF"},
		"silent":              {"http://" + hanging.Addr().String(), http.StatusGatewayTimeout, "100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := mockbase.Proxy{To: test.to}
			if name == "silent" {
				rule.Timeout = 100 * time.Millisecond
			}
			f := newFront(t, rule, nil)
			exchange(t, f.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close\n\n")
			failure := <-f.failures
			if failure.Status != test.status || !strings.Contains(failure.Error(), test.cause) || failure.Aborted {
				t.Errorf("got %+v: %v", failure, failure)
			}
		})
	}
}

func TestT13_this_server_is_no_upstream(t *testing.T) {
	t.Parallel()
	var own netip.AddrPort
	forwarder := proxy.New(outbound.New(outbound.Options{Loopback: true, Own: func(a netip.AddrPort) bool { return a == own }}), nil)
	target := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(target.Close)
	own = netip.MustParseAddrPort(target.Listener.Addr().String())
	for name, test := range map[string]struct {
		hops string
		to   string
	}{"own address": {"", target.URL}, "too many hops": {"10", "http://127.0.0.1:1"}} {
		route, err := proxy.Compile(&mockbase.Proxy{To: test.to, Timeout: time.Second}, proxy.FixedUpstream)
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Mockbase-Hops", test.hops)
		_, err = forwarder.Forward(httptest.NewRecorder(), route, &proxy.Request{In: request, Header: request.Header, Target: "/"})
		if failure, ok := errors.AsType[*proxy.UpstreamError](err); !ok || failure.Status != http.StatusLoopDetected {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestS5_upstreams_that_can_never_be_called_do_not_compile(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"ftp://a.test", "http://u:p@a.test", "http://", "a.test", "http://a.test?q=1", "http://a.test/#f", "http://a b/", "http://[::1"} {
		_, err := proxy.Compile(&mockbase.Proxy{To: to}, proxy.FixedUpstream)
		if _, ok := errors.AsType[*outbound.BlockedError](err); !ok {
			t.Errorf("%q: %v", to, err)
		}
	}
	route, err := proxy.Compile(&mockbase.Proxy{To: "http://{{ x }}"}, proxy.TemplatedUpstream)
	if err != nil {
		t.Fatal(err)
	}
	for to, good := range map[string]bool{"http://a.test/x": true, "http://a.test/x HTTP/1.1 y": true, "http://u@a.test": false, "http://a b.test": false} {
		if _, err := route.To(to); (err == nil) != good {
			t.Errorf("rendered %q: %v", to, err)
		}
	}
}

func TestT12_an_answer_that_breaks_off_breaks_off(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"too short":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789",
		"chunk short": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n0123456789",
		"bad chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream, _ := rawUpstream(t, answer)
			f := newFront(t, mockbase.Proxy{To: "http://" + upstream}, nil)
			got, err := http.Get(f.URL) //nolint:forbidigo // a client that does not matter
			if err != nil {
				t.Fatal(err)
			}
			defer got.Body.Close()
			body, err := io.ReadAll(got.Body)
			if string(body) != "0123456789" || err == nil {
				t.Errorf("read %q, %v", body, err)
			}
			if result := <-f.results; result.Broken == nil || string(result.Body) != "0123456789" {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}
