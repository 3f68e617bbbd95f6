package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// Y1: the raw target decides which plane answers; nothing is cleaned, decoded or redirected on the way.
func TestY1_the_raw_target_decides_which_plane_answers(t *testing.T) {
	t.Parallel()
	answering := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(name)) })
	}
	p := &plane{mocks: answering("mocks"), management: answering("management")}
	for target, want := range map[string]string{
		"GET /m/shop/a":                      "mocks",
		"GET /m/":                            "mocks",
		"GET /m//a/../../api/v1/auth/status": "mocks",
		"GET /m/%2e%2e/api":                  "mocks",
		"GET http://any.test/m/shop/a?x=/y":  "mocks",
		"OPTIONS *":                          "mocks",
		"GET /m":                             "management",
		"GET /M/shop/a":                      "management",
		"GET //m/shop/a":                     "management",
		"GET /%6d/shop/a":                    "management",
		"GET /./m/shop/a":                    "management",
		"GET /api/v1/../../m/shop/a":         "management",
		"GET /?/m/shop":                      "management",
		"GET http://any.test":                "management",
		"GET http://any.test/api/v1":         "management",
		"CONNECT any.test:80":                "management",
	} {
		method, uri, _ := strings.Cut(target, " ")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, &http.Request{Method: method, RequestURI: uri})
		if got := w.Body.String(); got != want {
			t.Errorf("%s is answered by %s, want %s", target, got, want)
		}
	}
}

func TestN12_times_of_a_connection(t *testing.T) {
	t.Parallel()
	s := newHTTPServer(http.NotFoundHandler(), 64<<10, slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout != 10*time.Second || s.IdleTimeout != 120*time.Second || s.WriteTimeout != 0 || s.ReadTimeout != 0 {
		t.Errorf("header %s, idle %s, write %s, read %s", s.ReadHeaderTimeout, s.IdleTimeout, s.WriteTimeout, s.ReadTimeout)
	}
}

func TestN7_long_headers_and_targets_are_refused(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--max-header=16KiB", "--max-target=1KiB", "--max-body=1KiB")
	addr := server.Addr
	for _, test := range []struct {
		name, request string
		want          int
	}{
		{"headers within their bound", "GET /m/demo/hello HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 15<<10) + "\r\n\r\n", 200},
		{"headers beyond it", "GET /m/demo/hello HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 17<<10) + "\r\n\r\n", 431},
		{"a target within its bound", "GET /m/demo/anything/" + strings.Repeat("a", 900) + " HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"a target beyond it", "GET /m/demo/anything/" + strings.Repeat("a", 1100) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
		{"a body beyond its bound", "POST /m/demo/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("a", 2000), 413},
		{"two hosts", "GET /m/demo/hello HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
		{"HTTP/1.0 without a host", "GET /m/demo/hello HTTP/1.0\r\n\r\n", 200},
		{"a target in absolute form", "GET http://elsewhere.test/m/demo/hello HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204},
	} {
		answer := testkit.RawHTTP(t, addr, test.request)
		if answer.Status != test.want {
			t.Errorf("%s: %s, want %d", test.name, answer.StatusLine, test.want)
		}
		if server := answer.Get("Server"); server != "" {
			t.Errorf("%s: the answer names the server %q", test.name, server)
		}
	}
}

// M-6 and M-18: a request that no plane sees is answered by a problem all the same, whichever plane it was for.
func TestM6_heads_that_cannot_be_read_are_problems(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--max-header=16KiB", "--max-target=1KiB", "--base-path=/mocks")
	for _, test := range []struct{ request, code, detail string }{
		{"GET /elsewhere HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n", "not-found", "serves mocks alone"},
		{"GET /mocks/api/v1/projects HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 17<<10) + "\r\n\r\n", "headers-too-large", "16384 bytes"},
		{"GET /mocks/m/demo/hello?" + strings.Repeat("a", 17<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", "target-too-long", "1024 bytes"},
		{"GET /mocks/m/demo/hello HTTP/1.1\r\n\r\n", "bad-request", "missing required Host header"},
		{"GET /mocks/m/demo/hello HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n", "bad-request", "invalid header name"},
		{"POST /mocks/m/demo/hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "bad-request", "transfer encoding"},
		{"GET /mocks/api/v1/projects HTTP/1.1\r\nHost: x\r\nExpect: 202-maybe\r\n\r\n", "bad-request", "100-continue"},
	} {
		answer := testkit.RawHTTP(t, server.Addr, test.request)
		var p struct{ Type, Title, Detail, Instance, Code, RequestID string }
		if err := json.Unmarshal(answer.Body, &p); err != nil {
			t.Fatalf("%.60q: %v: %s", test.request, err, answer.Body)
		}
		if answer.Get("Content-Type") != "application/problem+json" || p.Type != "/mocks/docs/problems/"+test.code || p.Code != test.code ||
			!strings.Contains(p.Detail, test.detail) || p.Title == "" || p.Instance == "" || p.RequestID != p.Instance || answer.Get("X-Request-Id") != p.Instance ||
			answer.Get("X-Content-Type-Options") != "nosniff" || answer.Get("Connection") != "close" || answer.Get("Date") == "" {
			t.Errorf("%.60q: %+v %s", test.request, answer, answer.Body)
		}
	}
}

// N5: on either plane the connection ends with a request of two lengths, whatever is smuggled behind it.
func TestN5_nothing_behind_a_request_with_two_lengths_is_answered(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral")
	for path, want := range map[string]int{"/m/demo/orders": 201, "/m/demo/nowhere": 404, "/m/nobody/a": 404, "/api/v1/auth/login": 422, "/nowhere": 404} {
		conn := testkit.DialHTTP(t, server.Addr)
		conn.Send("POST " + path + " HTTP/1.1\r\nHost: " + server.Addr + "\r\nContent-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"2\r\n{}\r\n0\r\n\r\nGET /m/demo/hello HTTP/1.1\r\nHost: x\r\n\r\n")
		if answer := conn.Read("POST"); answer.Status != want {
			t.Errorf("%s: %s with %s, want %d", path, answer.StatusLine, answer.Body, want)
		}
		if !conn.Closed(patience) {
			t.Errorf("%s: the connection is open, or the second request was answered", path)
		}
	}
}

// N10: HTTP/2 by prior knowledge in clear, by ALPN over TLS.
func TestN10_HTTP2_is_served_in_clear_and_over_TLS(t *testing.T) {
	t.Parallel()
	plain := start(t, "--ephemeral")
	only2 := new(http.Protocols)
	only2.SetUnencryptedHTTP2(true)
	expectHTTP2(t, &http.Transport{Protocols: only2}, plain.URL)

	dir := t.TempDir()
	cert, key, err := selfSigned(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secure := start(t, "--ephemeral", "--tls-cert="+filepath.Join(dir, "cert.pem"), "--tls-key="+filepath.Join(dir, "key.pem"))
	expectHTTP2(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}, secure.URL)
	for _, c := range []struct {
		transport *http.Transport
		base      string
	}{
		{&http.Transport{Protocols: only2}, plain.URL},
		{&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}, secure.URL},
	} {
		for _, path := range []string{"/m/demo/hello", "/api/v1/projects"} {
			expectRefusals(t, c.transport, c.base+path)
		}
	}

	unencrypted := &visitor{base: strings.Replace(secure.URL, "https://", "http://", 1), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if got, err := unencrypted.try(t.Context(), http.MethodGet, "/healthz", ""); err != nil || got.StatusCode != http.StatusBadRequest ||
		got.Header.Get("Content-Type") != "application/problem+json" || got.Header.Get("X-Request-Id") == "" || !strings.Contains(got.body, "HTTP request to an HTTPS server") {
		t.Errorf("in clear to the port of TLS: %v, %+v", err, got)
	}

	old := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}}
	t.Cleanup(old.CloseIdleConnections)
	if _, err := (&visitor{base: secure.URL, http: &http.Client{Transport: old}}).try(t.Context(), http.MethodGet, "/healthz", ""); err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func expectHTTP2(t *testing.T, transport *http.Transport, base string) {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	c := &visitor{base: base, http: &http.Client{Transport: transport, Timeout: patience}}
	for _, path := range []string{"/m/demo/hello", "/healthz"} {
		if answer := c.call(t, http.StatusOK, http.MethodGet, path, ""); answer.ProtoMajor != 2 {
			t.Errorf("%s%s is answered in %s", base, path, answer.Proto)
		}
	}
}

// expectRefusals expects problems where the head of a request of HTTP/2 is refused, on either plane (rules N4, N7 and M-6).
func expectRefusals(t *testing.T, transport *http.Transport, address string) {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	for _, c := range []struct {
		name, value, code, detail string
		status                    int
	}{
		{"X-Long", strings.Repeat("a", 65<<10), "headers-too-large", "65536 bytes", http.StatusRequestHeaderFieldsTooLarge},
		{"Cookie", "a=" + strings.Repeat("b", 200<<10), "headers-too-large", "65536 bytes", http.StatusRequestHeaderFieldsTooLarge},
		{"Expect", "202-maybe", "bad-request", "100-continue", http.StatusExpectationFailed},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(c.name, c.value)
		answer, err := (&http.Client{Transport: transport, Timeout: patience}).Do(r)
		if err != nil {
			t.Fatalf("%s with %s: %v", address, c.name, err)
		}
		var p struct{ Code, Detail, RequestID string }
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil {
			t.Errorf("%s with %s: %v", address, c.name, err)
		}
		answer.Body.Close()
		if answer.ProtoMajor != 2 || answer.StatusCode != c.status || answer.Header.Get("Content-Type") != "application/problem+json" || p.Code != c.code ||
			!strings.Contains(p.Detail, c.detail) || p.RequestID == "" || answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("Date") == "" ||
			(answer.Header.Get("Strict-Transport-Security") != "") != strings.HasPrefix(address, "https:") {
			t.Errorf("%s with %s: %s %d %v %+v", address, c.name, answer.Proto, answer.StatusCode, answer.Header, p)
		}
	}
}

// Y9 and M-17: on a loopback address only loopback names are answered, and no page of another site may call.
func TestY9_other_names_and_origins_are_refused_on_loopback(t *testing.T) {
	t.Parallel()
	server := start(t, "--ephemeral", "--allowed-hosts=tools.test", "--management-origins=https://tools.example.com")
	addr := server.Addr
	for _, test := range []struct {
		host, origin string
		want         int
	}{
		{addr, "", 200},
		{"localhost", "", 200},
		{"evil.test", "", 403},
		{"tools.test", "", 200},
		{addr, "http://evil.test", 403},
		{addr, "http://" + addr, 200},
		{addr, "https://tools.example.com", 200},
	} {
		request := "GET /api/v1/auth/status HTTP/1.1\r\nHost: " + test.host + "\r\n"
		if test.origin != "" {
			request += "Origin: " + test.origin + "\r\n"
		}
		if answer := testkit.RawHTTP(t, addr, request+"\r\n"); answer.Status != test.want {
			t.Errorf("host %s, origin %s: %s, want %d", test.host, test.origin, answer.StatusLine, test.want)
		}
	}
	if answer := testkit.RawHTTP(t, addr, "GET /m/demo/hello HTTP/1.1\r\nHost: evil.test\r\nOrigin: http://evil.test\r\n\r\n"); answer.Status != 200 {
		t.Errorf("a mock under another name: %s", answer.StatusLine)
	}
}
