package management_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// raw sends bytes as they stand, and returns the status of the answer and where it leads to.
func (w *world) raw(request string) (status int, location string) {
	w.t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(w.t.Context(), "tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		w.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("Location")
}

// TestM7_no_spelling_of_a_path_gets_past_the_checks asks for a protected address in every odd way. None may answer 200, be
// redirected, or be anything but a missing address or a missing credential: nothing is reached but at its own address (rule
// M-1).
func TestM7_no_spelling_of_a_path_gets_past_the_checks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) {
		o.Web = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { http.NotFound(rw, r) })
	})
	for _, target := range []string{
		"//api/v1/projects", "/api//v1/projects", "/api/v1//projects", "/api/v1/projects/", "/api/v1/projects//", "/API/v1/projects",
		"/api/V1/projects", "/api/v1/Projects", "/%61pi/v1/projects", "/api%2fv1%2fprojects", "/api/v1%2fprojects", "/api/v1/%70rojects",
		"/x/../api/v1/projects", "/x/%2e%2e/api/v1/projects", "/api/v1/./projects", "/api/v1/auth/../projects", "/api/v1/auth/%2e%2e/projects",
		"/api/v1/projects;x=1", "/api/v1/projects%00", "/api/v1/projects%20", "/api/v1/projects.json", "/api\\v1\\projects", "/api/v1/projects/shop/mocks/",
		"/healthz/../api/v1/projects", "/docs/problems/../../api/v1/projects", "/docs/problems/%2e%2e%2f%2e%2e%2fapi", "/api/v1/projects/shop/mocks/a/b",
		"/api/v1/projects/shop/traffic/latest/x", "/api/v1", "/api/v1/", "/api", "/m/shop", "/api/v1/projects/shop%2fmocks", "/api/v1/projects/..%2f..%2fadmin",
		"http://evil.test/api/v1/projects", "/api/v1/projects#x", "*",
	} {
		status, location := w.raw("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
		switch status {
		case http.StatusNotFound, http.StatusUnauthorized, http.StatusBadRequest, http.StatusMethodNotAllowed:
		default:
			t.Errorf("%s: status %d %s", target, status, location)
		}
	}
	// With a credential a slash too much is still no address, and a name with an escaped slash is only a name.
	for _, path := range []string{"/api/v1/projects/", "//api/v1/projects", "/api/v1/projects/shop/mocks/a/b", "/api/v1/projects/shop%2fmocks", "/api/v1/projects/shop/mocks/%2e%2e"} {
		w.send(call{method: http.MethodGet, path: path, as: admin}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
}

func TestM3_an_escaped_name_is_the_name(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/%73hop/mocks/hell%6f", as: viewer}).want(http.StatusOK)
}

const (
	mocksOf     = "/api/v1/projects/{project}/mocks"
	scenariosOf = "/api/v1/projects/{project}/scenarios"
)

func TestM6_other_methods_are_refused_with_Allow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, silentProvider)
	allowed := map[string][]string{}
	for _, r := range management.Routes() {
		allowed[r.Path] = append(allowed[r.Path], r.Method)
		if r.Method == http.MethodGet {
			allowed[r.Path] = append(allowed[r.Path], http.MethodHead)
		}
	}
	// Words of their own among names answer for the things of those names too.
	for word, name := range map[string]string{mocksOf + "/bulk": mocksOf + "/{mock}", scenariosOf + "/reset": scenariosOf + "/{name}"} {
		allowed[word] = append(allowed[word], allowed[name]...)
	}
	for path, methods := range allowed {
		for _, method := range []string{"OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "FOO"} {
			if strings.Contains(strings.Join(methods, " "), method) {
				continue
			}
			got := w.send(call{method: method, path: at(path, "shop", "hello")})
			if got.status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: status %d", method, path, got.status)
			}
			for _, m := range methods {
				if !strings.Contains(got.header.Get("Allow"), m) {
					t.Errorf("%s %s: Allow is %q", method, path, got.header.Get("Allow"))
				}
			}
			if method != http.MethodHead && got.problem().Code != mockbase.CodeMethodNotAllowed {
				t.Errorf("%s %s: %s", method, path, got.body)
			}
		}
	}
}

// HEAD works wherever GET does, and its header is that of GET.
func TestM241_HEAD_is_GET_without_a_body(t *testing.T) {
	t.Parallel()
	w := newWorld(t, silentProvider)
	w.apply(`{"collections":{"posts":{"path":"/posts"}}}`)
	w.attach("petstore", petstore)
	w.limit("partner", `{"limit":3,"window":"1m"}`)
	w.addMock(`{"name":"hello","request":"GET /hello","rateLimit":{"use":"partner"},"response":{}}`)
	w.mocked(http.MethodGet, "/hello", "")
	w.record()
	w.addToken("tok_latest", mockbase.TokenPersonal, owner)
	for _, r := range management.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		path, caller := strings.Replace(at(r.Path, "shop", "hello"), "/tokens/latest", "/tokens/tok_latest", 1), owner
		if r.Access == "admin" {
			caller = admin
		}
		if r.Path == "/api/v1/projects/{project}/exports" {
			path += "?format=har"
		}
		get := w.send(call{method: http.MethodGet, path: path, as: caller})
		head := w.send(call{method: http.MethodHead, path: path, as: caller})
		// Signing in elsewhere leads away, and a return from nowhere is refused.
		away := r.Path == startPath || r.Path == returnPath
		if (get.status != http.StatusOK) != away || head.status != get.status || len(head.body) != 0 {
			t.Errorf("%s: GET %d, HEAD %d with %d bytes", path, get.status, head.status, len(head.body))
		}
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Content-Security-Policy"} {
			if head.header.Get(name) != get.header.Get(name) {
				t.Errorf("%s: %s is %q for HEAD and %q for GET", path, name, head.header.Get(name), get.header.Get(name))
			}
		}
	}
}

func TestM5_request_ids_are_kept_when_they_are_harmless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for sent, kept := range map[string]bool{
		"abc-1.2_X": true, strings.Repeat("a", 64): true, "": false, strings.Repeat("a", 65): false, "a b": false, "a\"b": false,
		"a\tb": false, "é": false, "a;b": false, "<script>": false, "%0a": false,
	} {
		got := w.send(call{method: http.MethodGet, path: "/api/v1/nope", header: map[string]string{"X-Request-Id": sent}})
		id := got.header.Get("X-Request-Id")
		if (id == sent) != kept || got.problem().RequestID != id {
			t.Errorf("sent %q, got %q", sent, id)
		}
	}
	first := w.send(call{method: http.MethodGet, path: "/version"}).header.Get("X-Request-Id")
	if second := w.send(call{method: http.MethodGet, path: "/version"}).header.Get("X-Request-Id"); first == second {
		t.Error("two requests share an id")
	}
}

// TestM17 and Y9: who may call from where.
func TestM17_hosts_and_origins_are_checked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, host, origin string
		hosts, origins     []string
		public             string
		want               mockbase.Code
	}{
		{name: "no list: any host", host: "evil.test"},
		{name: "loopback listener, foreign host", host: "evil.test", hosts: []string{"localhost"}, want: mockbase.CodeHostRefused},
		{name: "loopback listener, localhost", host: "localhost:8080", hosts: []string{"localhost"}},
		{name: "loopback listener, address", hosts: []string{"localhost"}},
		{name: "loopback listener, IPv6", host: "[::1]:1", hosts: []string{"localhost"}},
		{name: "loopback listener, capitals and a dot", host: "LOCALHOST.:80", hosts: []string{"localhost"}},
		{name: "loopback listener, no host", host: " ", hosts: []string{"localhost"}, want: mockbase.CodeHostRefused},
		{name: "looks like loopback", host: "127.0.0.1.evil.test", hosts: []string{"localhost"}, want: mockbase.CodeHostRefused},
		{name: "ends like loopback", host: "evillocalhost", hosts: []string{"localhost"}, want: mockbase.CodeHostRefused},
		{name: "listed", host: "mocks.test:8080", hosts: []string{"mocks.test"}},
		{name: "the public one", host: "mocks.test", hosts: []string{"else.test"}, public: "https://mocks.test"},
		{name: "own origin", host: "mocks.test:8080", origin: "http://mocks.test:8080"},
		{name: "own origin behind TLS", host: "mocks.test", origin: "https://mocks.test"},
		{name: "own origin, default port", host: "mocks.test:443", origin: "https://mocks.test"},
		{name: "public origin", host: "internal:8080", origin: "https://mocks.test", public: "https://mocks.test"},
		{name: "another scheme of the public origin", host: "mocks.test", origin: "http://mocks.test", public: "https://mocks.test", want: mockbase.CodeOriginRefused},
		{name: "own origin beside the public one", host: "internal:8080", origin: "http://internal:8080", public: "https://mocks.test"},
		{name: "listed origin", host: "mocks.test", origin: "https://tools.test", origins: []string{"https://tools.test"}},
		{name: "foreign origin", host: "mocks.test", origin: "https://evil.test", want: mockbase.CodeOriginRefused},
		{name: "another port", host: "mocks.test:8080", origin: "http://mocks.test:9090", want: mockbase.CodeOriginRefused},
		{name: "another scheme of a listed origin", host: "mocks.test", origin: "http://tools.test", origins: []string{"https://tools.test"}, want: mockbase.CodeOriginRefused},
		{name: "name below a listed origin", host: "mocks.test", origin: "https://x.tools.test", origins: []string{"https://tools.test"}, want: mockbase.CodeOriginRefused},
		{name: "null", host: "mocks.test", origin: "null", want: mockbase.CodeOriginRefused},
		{name: "no origin at all", host: "mocks.test", origin: "mocks.test", want: mockbase.CodeOriginRefused},
		{name: "another kind of scheme", host: "mocks.test", origin: "chrome-extension://mocks.test", want: mockbase.CodeOriginRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *management.Options) { o.AllowedHosts, o.Origins, o.PublicURL = c.hosts, c.origins, c.public })
			header := map[string]string{}
			if c.origin != "" {
				header["Origin"] = c.origin
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete} {
				got := w.send(call{method: method, path: "/api/v1/projects/shop?confirm=no", as: owner, host: strings.TrimSpace(c.host), header: header})
				if c.host == " " {
					got = &reply{t: t}
					got.status, _ = w.raw("GET /api/v1/projects HTTP/1.0\r\n\r\n")
				}
				if (got.status == http.StatusForbidden) != (c.want != "") {
					t.Errorf("%s: status %d %s", method, got.status, got.body)
				}
				if c.want != "" && len(got.body) > 0 && got.problem().Code != c.want {
					t.Errorf("%s: %s", method, got.body)
				}
				shared := got.header.Get("Access-Control-Allow-Origin")
				if (shared != "") != (c.name == "listed origin") {
					t.Errorf("%s: Access-Control-Allow-Origin is %q", method, shared)
				}
			}
			// The probes are answered under every name.
			w.send(call{method: http.MethodGet, path: "/healthz", host: strings.TrimSpace(c.host)}).want(http.StatusOK)
		})
	}
}

func TestM17_a_listed_origin_may_ask_first(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Origins = []string{"https://tools.test"} })
	ask := func(origin string) *reply {
		return w.send(call{method: http.MethodOptions, path: "/api/v1/projects", header: map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST"}})
	}
	got := ask("https://tools.test").want(http.StatusNoContent)
	if got.header.Get("Access-Control-Allow-Origin") != "https://tools.test" || !strings.Contains(got.header.Get("Access-Control-Allow-Methods"), "POST") ||
		got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("header %v", got.header)
	}
	for name := range ask("https://evil.test").want(http.StatusMethodNotAllowed).header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("a foreign origin gets %s", name)
		}
	}
}

func TestM6_what_a_client_does_not_accept_is_not_sent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	for _, c := range []struct {
		path, accept, want string
	}{
		{"/api/v1/projects", "", "application/json"},
		{"/api/v1/projects", "*/*", "application/json"},
		{"/api/v1/projects", "application/*", "application/json"},
		{"/api/v1/projects", "text/html, application/json;q=0.5", "application/json"},
		{"/api/v1/projects", "text/html", ""},
		{"/api/v1/projects", "application/json;q=0", ""},
		{"/api/v1/projects", "*/*;q=0", ""},
		{"/api/v1/projects", "rubbish", ""},
		{"/api/v1/projects", "application/yaml", ""},
		{mocksPath + "/hello", "application/yaml", "application/yaml"},
		{mocksPath + "/hello", "text/yaml", "application/yaml"},
		{mocksPath + "/hello", "application/json, application/yaml", "application/json"},
		{mocksPath + "/hello", "application/json;q=0.1, application/yaml;q=0.9", "application/yaml"},
		{mocksPath + "/hello", "application/json;q=0, */*", "application/yaml"},
		{"/docs/problems", "application/json", ""},
		{"/docs/problems", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"},
		{"/schemas/mock/v1.json", "application/json", "application/json"},
		{"/schemas/mock/v1.json", "*/*", "application/schema+json"},
		{"/healthz", "text/html", "application/json"},
	} {
		header := map[string]string{}
		if c.accept != "" {
			header["Accept"] = c.accept
		}
		got := w.send(call{method: http.MethodGet, path: c.path, as: viewer, header: header})
		if c.want == "" {
			if got.status != http.StatusNotAcceptable || got.problem().Code != mockbase.CodeNotAcceptable {
				t.Errorf("%s as %q: %d %s", c.path, c.accept, got.status, got.body)
			}
			continue
		}
		if got.status != http.StatusOK || got.header.Get("Content-Type") != c.want {
			t.Errorf("%s as %q: %d %s", c.path, c.accept, got.status, got.header.Get("Content-Type"))
		}
	}
}

func TestM7_the_first_failing_check_answers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.AllowedHosts = []string{"localhost"} })
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	full := call{
		method: http.MethodPut, path: mocksPath + "/hello?unknown=1", body: strings.Repeat("x", 17<<20), kind: "text/plain",
		header: map[string]string{"Accept": "text/html", "Origin": "http://evil.test", "If-Match": `"v9"`}, host: "evil.test", bearer: "rubbish",
	}
	steps := []struct {
		name string
		mend func(*call)
		want mockbase.Code
	}{
		{"media type of the answer", func(*call) {}, mockbase.CodeNotAcceptable},
		{"host", func(c *call) { delete(c.header, "Accept") }, mockbase.CodeHostRefused},
		{"origin", func(c *call) { c.host = "" }, mockbase.CodeOriginRefused},
		{"credential", func(c *call) { delete(c.header, "Origin") }, mockbase.CodeUnauthenticated},
		{"project", func(c *call) { c.bearer, c.as = "", member }, mockbase.CodeNotFound},
		{"role", func(c *call) { c.as = viewer }, mockbase.CodeForbidden},
		{"query", func(c *call) { c.as = editor }, mockbase.CodeInvalidParameter},
		{"version", func(c *call) { c.path = mocksPath + "/hello" }, mockbase.CodeVersionMismatch},
		{"media type of the body", func(c *call) { c.header["If-Match"] = `"v1"` }, mockbase.CodeUnsupportedMediaType},
		{"size", func(c *call) { c.kind = "" }, mockbase.CodeBodyTooLarge},
		{"text", func(c *call) { c.body = "{" }, mockbase.CodeMalformedBody},
		{"document", func(c *call) { c.body = "{}" }, mockbase.CodeValidationFailed},
	}
	for _, step := range steps {
		step.mend(&full)
		if got := w.send(full); got.problem().Code != step.want {
			t.Errorf("%s: %d %s", step.name, got.status, got.body)
		}
	}
	// An address that is none comes before everything else.
	w.send(call{method: http.MethodGet, path: "/api/v1/nope", host: "evil.test"}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM9_a_target_that_is_too_long_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects?q=" + strings.Repeat("x", 8100), as: owner}).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects?q=" + strings.Repeat("x", 8200), as: owner}).want(http.StatusRequestURITooLong, mockbase.CodeTargetTooLong)
}

func TestL8_a_tunnel_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodConnect, "http://h.test/", http.NoBody)
	r.RequestURI, r.URL.Path, r.Host = "h:1", "", "h:1"
	answer := httptest.NewRecorder()
	w.made.ServeHTTP(answer, r)
	if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") == "" {
		t.Errorf("%d with Allow %q: %s", answer.Code, answer.Header().Get("Allow"), answer.Body)
	}
}

func TestM7_POSTs_without_a_body_need_no_type_and_no_length(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, cookie := w.login()
	status, _ := w.raw("POST /api/v1/auth/refresh HTTP/1.1\r\nHost: localhost\r\nMockbase-Csrf: 1\r\nCookie: mb_rt=" + cookie.Value + "\r\nConnection: close\r\n\r\n")
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func TestM5_a_defect_is_logged_and_not_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people.failWith("SignedIn", errors.New("SELECT secret FROM users: disk on fire"))
	got := w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: owner}).want(http.StatusInternalServerError, mockbase.CodeInternal)
	if strings.Contains(string(got.body), "SELECT") || strings.Contains(string(got.body), "disk") {
		t.Errorf("the cause is told: %s", got.body)
	}
	if log := w.log.String(); !strings.Contains(log, "disk on fire") || !strings.Contains(log, got.header.Get("X-Request-Id")) {
		t.Errorf("the cause is not logged: %s", log)
	}
	w.people.failWith("SignedIn", &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the store does not answer", Err: errors.New("locked")})
	down := w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: owner}).want(http.StatusServiceUnavailable, mockbase.CodeUnavailable)
	if down.header.Get("Retry-After") == "" || strings.Contains(string(down.body), "locked") {
		t.Errorf("%v %s", down.header, down.body)
	}
}

func TestM5_a_panic_is_an_answer_too(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	management.PanicAt(w.server.Config.Handler.(*management.Server), "/api/v1/boom", "no such thing")
	r := w.request(t, call{method: http.MethodGet, path: "/api/v1/boom"})
	answer, err := w.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "no such thing") {
		t.Errorf("%d %s (%v)", answer.StatusCode, body, err)
	}
	if log := w.log.String(); !strings.Contains(log, "no such thing") || !strings.Contains(log, "goroutine") {
		t.Error("the panic is not in the log")
	}
}

// A log line is one line, whatever a client sends.
func TestM20_nothing_that_a_client_sends_breaks_the_log(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.raw("POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\u2028level=ERROR\r\nUser-Agent: x\x1b[31m\r\nContent-Type: application/json\r\nContent-Length: 59\r\nConnection: close\r\n\r\n" +
		`{"email":"a@b.test\nlevel=ERROR msg=forged","password":"x"}`)
	for line := range strings.Lines(w.log.String()) {
		if strings.HasPrefix(line, "level=") || strings.Contains(line, "forged") || strings.Contains(line, "\x1b") {
			t.Errorf("log line %q", line)
		}
	}
}

// TestM9_a_body_that_never_ends_is_given_up: handlers have 30 s, and the reading of a body ends with them. The connection
// is a pipe inside a bubble, so that the time is the bubble's; the world stays outside.
func TestM9_a_body_that_never_ends_is_given_up(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(editor)
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		s := &http.Server{Handler: w.server.Config.Handler, ReadHeaderTimeout: time.Minute}
		go s.Serve(&onePipe{conn: server, done: make(chan struct{})})
		start := time.Now()
		fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", mocksPath, token)
		answer, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); answer.StatusCode != http.StatusRequestTimeout || took != 30*time.Second {
			t.Errorf("status %d after %v", answer.StatusCode, took)
		}
		answer.Body.Close()
		client.Close()
		s.Close()
	})
}

// onePipe is a listener with one connection.
type onePipe struct {
	conn net.Conn
	done chan struct{}
}

func (l *onePipe) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *onePipe) Close() error {
	close(l.done)
	return nil
}

func (*onePipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func FuzzQuality(f *testing.F) {
	f.Add("application/json;q=0.5, */*;q=0.1")
	f.Add(";;;,,,")
	f.Add("a/b;q=\"")
	f.Fuzz(func(t *testing.T, accepted string) {
		if q := management.Quality(accepted, "application/json"); q < 0 || q > 1 {
			t.Errorf("%q: %v", accepted, q)
		}
	})
}
