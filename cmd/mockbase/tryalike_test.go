package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mockbase/mockbase/internal/testkit"
)

// described is a request as try takes one. With raw it goes over the socket as it is.
type described struct {
	method, target string
	headers        [][2]string
	body           string
}

// bytes is the request on the wire, as a client that is told nothing else would send it.
func (d *described) bytes(slug string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", d.method, strings.Replace(d.target, "{}", "/m/"+slug, 1))
	framed := false
	hosted := slices.ContainsFunc(d.headers, func(l [2]string) bool { return strings.EqualFold(l[0], "Host") })
	if !hosted {
		b.WriteString("Host: localhost\r\n")
	}
	chunked := false
	for _, l := range d.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", l[0], l[1])
		framed = framed || strings.EqualFold(l[0], "Content-Length") || strings.EqualFold(l[0], "Transfer-Encoding")
		chunked = chunked || strings.EqualFold(l[0], "Transfer-Encoding")
	}
	if !framed && d.body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(d.body))
	}
	b.WriteString("\r\n")
	switch {
	case chunked && d.body != "":
		fmt.Fprintf(&b, "%x\r\n%s\r\n0\r\n\r\n", len(d.body), d.body)
	case chunked:
		b.WriteString("0\r\n\r\n")
	default:
		b.WriteString(d.body)
	}
	return b.String()
}

// ends tells that nobody waits for more of the body than there is.
func (d *described) ends() bool {
	return !slices.ContainsFunc(d.headers, func(l [2]string) bool {
		return l[0] == "Content-Length" && strings.ContainsFunc(l[1], unicode.IsDigit) && len(d.body) != len(`{"a":1}`)
	})
}

// oddRequests are requests that servers read differently.
func oddRequests() map[string]described {
	long := strings.Repeat("a", 70<<10)
	h := func(lines ...string) [][2]string {
		var list [][2]string
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			list = append(list, [2]string{name, value})
		}
		return list
	}
	gzipped, _ := base64.StdEncoding.DecodeString("H4sIAAAAAAAAA6tWSlSyMqwFAHBJ4HYHAAAA")
	return map[string]described{
		"plain":                     {"GET", "{}/a", nil, ""},
		"OPTIONS *":                 {"OPTIONS", "*", nil, ""},
		"OPTIONS":                   {"OPTIONS", "{}/a", nil, ""},
		"OPTIONS of nothing":        {"OPTIONS", "{}/none", nil, ""},
		"preflight":                 {"OPTIONS", "{}/a", h("Origin: http://o.test", "Access-Control-Request-Method: GET"), ""},
		"GET *":                     {"GET", "*", nil, ""},
		"no slash":                  {"GET", "a", nil, ""},
		"query alone":               {"GET", "?x=1", nil, ""},
		"lower case":                {"get", "{}/a", nil, ""},
		"odd method":                {"M-SEARCH", "{}/a", nil, ""},
		"odd token":                 {"!#$%&'*+-.^_`|~", "{}/a", nil, ""},
		"no token":                  {"G(T", "{}/a", nil, ""},
		"HEAD":                      {"HEAD", "{}/a", nil, ""},
		"TRACE":                     {"TRACE", "{}/a", nil, ""},
		"CONNECT to a path":         {"CONNECT", "{}/a", nil, ""},
		"CONNECT to a host":         {"CONNECT", "localhost:80", nil, ""},
		"CONNECT to a whole URL":    {"CONNECT", "http://x.test{}/a", nil, ""},
		"whole URL":                 {"GET", "http://x.test{}/a", nil, ""},
		"whole URL of a port":       {"GET", "http://x.test:81{}/host", h("Host: other.test"), ""},
		"whole URL with a user":     {"GET", "http://u:p@x.test{}/a", nil, ""},
		"whole URL with a bad host": {"GET", "http://x .test{}/a", nil, ""},
		"whole URL, bad port":       {"GET", "http://x.test:port{}/a", nil, ""},
		"whole URL, bad escape":     {"GET", "http://x%zz.test{}/a", nil, ""},
		"other scheme":              {"GET", "ftp://x.test{}/a", nil, ""},
		"two slashes":               {"GET", "{}//a", nil, ""},
		"dot segments":              {"GET", "{}/b/../a", nil, ""},
		"above the root":            {"GET", "{}/../../a", nil, ""},
		"bad escape":                {"GET", "{}/%zz", nil, ""},
		"cut escape":                {"GET", "{}/a%2", nil, ""},
		"bad escape in the query":   {"GET", "{}/a?x=%zz", nil, ""},
		"escaped slash":             {"GET", "{}/a%2Fb", nil, ""},
		"escaped NUL":               {"GET", "{}/%00", nil, ""},
		"bytes that are no text":    {"GET", "{}/%ff%fe", nil, ""},
		"raw text beyond ASCII":     {"GET", "{}/é", nil, ""},
		"fragment":                  {"GET", "{}/a#f", nil, ""},
		"backslash":                 {"GET", `{}/a\b`, nil, ""},
		"brackets":                  {"GET", "{}/a?f[x]=1&{y}=|", nil, ""},
		"blank in the target":       {"GET", "{}/a b", nil, ""},
		"tab in the target":         {"GET", "{}/a\tb", nil, ""},
		"DEL in the target":         {"GET", "{}/a\x7f", nil, ""},
		"empty query":               {"GET", "{}/a?", nil, ""},
		"semicolons":                {"GET", "{}/a;x=1?a=1;b=2", nil, ""},
		"session in the path":       {"GET", "{}/~one/a", nil, ""},
		"bad session in the path":   {"GET", "{}/~o ne/a", nil, ""},
		"long session":              {"GET", "{}/~" + strings.Repeat("s", 65) + "/a", nil, ""},
		"two sessions":              {"GET", "{}/~one/a", h("Mockbase-Session: two"), ""},
		"empty session":             {"GET", "{}/a", h("Mockbase-Session: "), ""},
		"long target":               {"GET", "{}/" + long[:17<<10], nil, ""},
		"long headers":              {"GET", "{}/a", h("X-Long: " + long), ""},
		"headers at the bound":      {"GET", "{}/a", h("X-Long: " + long[:(64<<10)-200]), ""},
		"two hosts":                 {"GET", "{}/a", h("Host: a.test", "Host: b.test"), ""},
		"the same host twice":       {"GET", "{}/a", h("Host: a.test", "host: a.test"), ""},
		"no host at all":            {"GET", "{}/a", h("Host: "), ""},
		"host with a blank":         {"GET", "{}/a", h("Host: a b"), ""},
		"host with a slash":         {"GET", "{}/a", h("Host: a/b"), ""},
		"host in capitals":          {"GET", "{}/host", h("Host: X.TEST:81"), ""},
		"host with a dot":           {"GET", "{}/host", h("Host: x.test."), ""},
		"address as host":           {"GET", "{}/host", h("Host: [::1]:80"), ""},
		"gzip as transfer coding":   {"POST", "{}/a", h("Transfer-Encoding: gzip"), "x"},
		"two transfer codings":      {"POST", "{}/a", h("Transfer-Encoding: gzip, chunked"), "x"},
		"chunked twice":             {"POST", "{}/a", h("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), "x"},
		"identity":                  {"POST", "{}/a", h("Transfer-Encoding: identity"), "x"},
		"chunked":                   {"POST", "{}/json", h("Transfer-Encoding: Chunked"), `{"a":1}`},
		"chunked and a length":      {"POST", "{}/json", h("Transfer-Encoding: chunked", "Content-Length: 3"), `{"a":1}`},
		"its own length":            {"POST", "{}/json", h("Content-Length: 7"), `{"a":1}`},
		"the same length twice":     {"POST", "{}/json", h("Content-Length: 7", "Content-Length: 7"), `{"a":1}`},
		"two lengths":               {"POST", "{}/json", h("Content-Length: 7", "Content-Length: 8"), `{"a":1}`},
		"a list of lengths":         {"POST", "{}/json", h("Content-Length: 7, 7"), `{"a":1}`},
		"no number as length":       {"POST", "{}/json", h("Content-Length: seven"), `{"a":1}`},
		"length below zero":         {"POST", "{}/json", h("Content-Length: -1"), ""},
		"length with a sign":        {"POST", "{}/json", h("Content-Length: +7"), `{"a":1}`},
		"empty length":              {"POST", "{}/json", h("Content-Length: "), ""},
		"length of nothing":         {"GET", "{}/a", h("Content-Length: 0"), ""},
		"body of GET":               {"GET", "{}/a", nil, "x"},
		"expectation":               {"POST", "{}/json", h("Expect: 100-continue"), `{"a":1}`},
		"other expectation":         {"POST", "{}/json", h("Expect: 200-ok"), `{"a":1}`},
		"empty expectation":         {"POST", "{}/json", h("Expect: "), `{"a":1}`},
		"gzip":                      {"POST", "{}/json", h("Content-Encoding: gzip"), string(gzipped)},
		"broken gzip":               {"POST", "{}/json", h("Content-Encoding: gzip"), "x"},
		"unknown coding":            {"POST", "{}/json", h("Content-Encoding: rot13"), `{"a":1}`},
		"large body":                {"POST", "{}/json", nil, strings.Repeat("x", 3<<10)},
		"body that is no text":      {"POST", "{}/json", nil, "{\"a\":\"\xff\"}"},
		"name with a blank":         {"GET", "{}/a", h("X Y: 1"), ""},
		"empty name":                {"GET", "{}/a", h(": 1"), ""},
		"name with a colon":         {"GET", "{}/a", [][2]string{{"X:Y", "1"}}, ""},
		"name beyond ASCII":         {"GET", "{}/a", h("X-é: 1"), ""},
		"name with an underscore":   {"GET", "{}/header", h("X_Odd: 1"), ""},
		"name in capitals":          {"GET", "{}/header", h("X-HEAD: 1"), ""},
		"value beyond ASCII":        {"GET", "{}/header", h("X-Head: é"), ""},
		"value with a NUL":          {"GET", "{}/a", h("X-Head: a\x00b"), ""},
		"value with a bell":         {"GET", "{}/a", h("X-Head: a\ab"), ""},
		"value with DEL":            {"GET", "{}/a", h("X-Head: a\x7fb"), ""},
		"value with a tab":          {"GET", "{}/header", h("X-Head: \t1\t"), ""},
		"empty value":               {"GET", "{}/header", h("X-Head: "), ""},
		"cookies":                   {"GET", "{}/cookie", h("Cookie: a=1; junk", "Cookie: c=\"2\""), ""},
		"connection":                {"GET", "{}/a", h("Connection: close, X-Head", "X-Head: 1"), ""},
		"upgrade":                   {"GET", "{}/a", h("Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: x"), ""},
		"handshake":                 {"GET", "{}/socket", nil, ""},
		"bad handshake":             {"GET", "{}/socket", h("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8", "Sec-WebSocket-Key: x"), ""},
		"preference":                {"GET", "{}/a", h("Mockbase-Prefer: code=503"), ""},
		"bad preference":            {"GET", "{}/a", h("Mockbase-Prefer: code=many"), ""},
		"credentials":               {"GET", "{}/auth", h("Authorization: bAsIc dTphOmI6Yw=="), ""},
		"accepts text":              {"GET", "{}/none", h("Accept: text/plain"), ""},
		"method that is not there":  {"DELETE", "{}/a", nil, ""},
		"If-None-Match":             {"GET", "{}/tag", h("If-None-Match: *"), ""},
		"range":                     {"GET", "{}/tag", h("Range: bytes=1-"), ""},
	}
}

const oddMocks = `
settings: { cors: true, maxBody: 2048 }
mocks:
  - { name: a, request: GET /a, response: { text: "{{ request.url }} {{ request.host }}", template: true } }
  - { name: rest, request: "GET /{x}", priority: -9, response: { text: "{{ path.x | json }}", template: true } }
  - { name: odd, request: { method: "M-SEARCH", path: /a }, response: { status: 201 } }
  - { name: connect, request: { method: CONNECT, path: /a }, response: { status: 202 } }
  - { name: host, request: { method: GET, path: /host, host: "x.test" }, response: { text: "{{ request.host }}:{{ request.port }}", template: true } }
  - { name: json, request: { method: POST, path: /json, body: { json: { a: 1 } } }, response: { text: "{{ bodyText }}", template: true } }
  - { name: header, request: { method: GET, path: /header, headers: { X-Head: { exists: true } } }, response: { text: "{{ header \"X-Head\" | json }}", template: true } }
  - { name: cookie, request: { method: GET, path: /cookie, cookies: { c: "2" } }, response: { text: "{{ cookie.a }}", template: true } }
  - { name: auth, request: { method: GET, path: /auth, auth: { basic: { username: u } } }, response: {} }
  - { name: socket, request: GET /socket, response: { webSocket: { onConnect: [{ text: hi }] } } }
  - { name: tag, request: GET /tag, response: { text: "0123456789", etag: auto, range: true } }
`

// TestAA30 …: what is tried is answered as what is sent, also where the server refuses before any mock is asked.
func TestAA30_what_is_tried_is_answered_like_what_is_sent(t *testing.T) {
	t.Parallel()
	server, c := administered(t, t.TempDir(), "--engine-limit=disabled")
	alike := newAlike(t, server, c)
	for name, d := range oddRequests() {
		alike.compare(t, name, &d)
	}
	// Parts of the odd ones put together.
	all := oddRequests()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(7, 7))
	pick := func() described { return all[names[random.IntN(len(names))]] }
	for range 200 {
		d := described{method: pick().method, target: pick().target, headers: slices.Concat(pick().headers, pick().headers), body: pick().body}
		if d.ends() {
			alike.compare(t, "mixed", &d)
		}
	}
}

// alike compares the two ways.
type alike struct {
	addr string
	c    *visitor
}

func newAlike(t *testing.T, server *instance, c *visitor) *alike {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.base+"/api/v1/projects/odd/definition?createProject=true", strings.NewReader(oddMocks))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/yaml")
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(err, answer)
	}
	answer.Body.Close()
	return &alike{server.Addr, c}
}

// tried is what try tells.
type tried struct {
	Outcome  string   `json:"outcome"`
	Hints    []string `json:"hints"`
	Response struct {
		Status   int         `json:"status"`
		Kind     string      `json:"kind"`
		Rendered bool        `json:"rendered"`
		Headers  [][2]string `json:"headers"`
		Body     *string     `json:"body"`
		Encoding string      `json:"bodyEncoding"`
	} `json:"response"`
	Detail string `json:"detail"`
	Errors []struct{ Pointer, Detail string }
}

func (a *alike) compare(t *testing.T, name string, d *described) {
	t.Helper()
	conn := testkit.DialHTTP(t, a.addr)
	conn.Send(d.bytes("odd"))
	sent, err := conn.TryRead(d.method)
	if err != nil && sent.Status == 0 {
		t.Errorf("%s: %v", name, err)
		return
	}
	headers := d.headers
	if headers == nil {
		headers = [][2]string{}
	}
	body, err := json.Marshal(map[string]any{"request": map[string]any{
		"method": d.method, "target": strings.Replace(d.target, "{}", "/m/odd", 1), "headers": headers, "bodyBase64": base64.StdEncoding.EncodeToString([]byte(d.body)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.c.try(t.Context(), http.MethodPost, "/api/v1/projects/odd/try", string(body))
	if err != nil {
		t.Fatal(err)
	}
	var told tried
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		t.Fatal(err)
	}
	show := fmt.Sprintf("%s: %.60s %.60s %.100q %.40q", name, d.method, d.target, d.headers, d.body)
	switch {
	case got.StatusCode == http.StatusUnprocessableEntity:
		// A description that is none, or of a request that is not for the project.
		if sent.Status != http.StatusBadRequest && !strings.HasPrefix(told.Errors[0].Pointer, "#/request/") {
			t.Errorf("%s: refused with %v, and the server answers %d", show, told.Errors, sent.Status)
		}
	case got.StatusCode != http.StatusOK:
		t.Errorf("%s: %d %s", show, got.StatusCode, got.body)
	case told.Response.Kind == "webSocket":
		if sent.Status != http.StatusUpgradeRequired {
			t.Errorf("%s: %d", show, sent.Status)
		}
	case told.Response.Status != sent.Status:
		t.Errorf("%s: tried %d %v, sent %d %.200q", show, told.Response.Status, told.Hints, sent.Status, sent.Body)
	case told.Response.Body != nil && told.Response.Encoding == "" && sent.Status < 400 && *told.Response.Body != string(sent.Body):
		t.Errorf("%s: tried %q, sent %q", show, *told.Response.Body, sent.Body)
	}
}
