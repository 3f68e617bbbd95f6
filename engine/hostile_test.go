package engine_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
)

const hostileDefinition = `
mocks:
  - { name: json, request: { method: POST, path: /json, body: { json: { a: 1 } } }, response: { text: json } }
  - { name: xml, request: { method: POST, path: /xml, body: { xml: "<a/>", xpath: { "//b": { exists: false } } } }, response: { text: xml } }
  - { name: text, request: { method: POST, path: /text, body: { text: { search: "(a+)+$" } } }, response: { text: text } }
  - { name: form, request: { method: POST, path: /form, body: { form: { a: 1 } } }, response: { text: form } }
  - { name: parts, request: { method: POST, path: /parts, body: { multipart: [{ name: a }] } }, response: { text: parts } }
  - { name: cookies, request: { path: /cookies, cookies: { a: x } }, response: { text: cookies } }
  - { name: expression, request: { pathMatches: "/e/(a|b)*c" }, response: { text: expression } }
`

// hostileRequest is a request that is meant to hurt, and the status of the rule that speaks of it.
type hostileRequest struct {
	head, body string
	status     int
}

func gzipped(tb testing.TB, plain []byte) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// codedBomb is 32 MiB of nothing in a coding.
func codedBomb(coding string) string { return string(engine.Encode(coding, make([]byte, 32<<20))) }

func hostileRequests(t *testing.T) map[string]hostileRequest {
	t.Helper()
	const parts = "POST /m/shop/parts\nContent-Type: multipart/form-data; boundary=B"
	const coded = "POST /m/shop/json\nContent-Encoding: gzip"
	bomb := gzipped(t, make([]byte, 32<<20))
	return map[string]hostileRequest{
		"G14 deep JSON":                {"POST /m/shop/json", strings.Repeat("[", 10_001), 404},
		"G14 very deep JSON":           {"POST /m/shop/json", strings.Repeat(`{"a":`, 1_000_000), 404},
		"G11 many duplicates":          {"POST /m/shop/json", "{" + strings.Repeat(`"a":2,`, 100_000) + `"a":1}`, 200},
		"G4 huge exponent":             {"POST /m/shop/json", `{"a":1e1000000000}`, 404},
		"G13 lone surrogate":           {"POST /m/shop/json", `{"a":"\ud800"}`, 404},
		"G13 invalid UTF-8":            {"POST /m/shop/json", "{\"a\":\"\xff\xfe\"}", 404},
		"F3 gzip bomb":                 {coded, bomb, 413},
		"F3 gzip bomb in a bomb":       {"POST /m/shop/json\nContent-Encoding: gzip, gzip", gzipped(t, []byte(bomb)), 413},
		"F3 br bomb":                   {"POST /m/shop/json\nContent-Encoding: br", codedBomb("br"), 413},
		"F3 deflate bomb":              {"POST /m/shop/json\nContent-Encoding: deflate", codedBomb("deflate"), 413},
		"F3 zstd bomb":                 {"POST /m/shop/json\nContent-Encoding: zstd", codedBomb("zstd"), 413},
		"F3 zstd bomb in br":           {"POST /m/shop/json\nContent-Encoding: zstd, br", string(engine.Encode("br", []byte(codedBomb("zstd")))), 413},
		"F3 broken br":                 {"POST /m/shop/json\nContent-Encoding: br", "x\xff", 404},
		"F3 broken zstd":               {"POST /m/shop/json\nContent-Encoding: zstd", "x\xff", 404},
		"G4 1e400":                     {"POST /m/shop/json", `{"a":1e400}`, 404},
		"F3 broken gzip":               {coded, "x", 404},
		"F3 a hundred codings":         {"POST /m/shop/json\nContent-Encoding: " + strings.Repeat("gzip,", 100), "x", 404},
		"J7 entity bomb":               {"POST /m/shop/xml", `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><l>&b;</l>`, 404},
		"J7 external entity":           {"POST /m/shop/xml", `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>`, 404},
		"J7 deep XML":                  {"POST /m/shop/xml", strings.Repeat("<a>", 300_000), 404},
		"J7 a million attributes":      {"POST /m/shop/xml", "<a " + strings.Repeat(`x="1" `, 1_000_000) + "/>", 404},
		"I9 ten thousand parts":        {parts, strings.Repeat("--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n", 10_000) + "--B--", 413},
		"I5 no end":                    {parts, strings.Repeat("--B\r\n", 100_000), 404},
		"I5 endless part header":       {parts, "--B\r\nA: " + strings.Repeat("x", 5<<20) + "\r\n\r\n1\r\n--B--", 404},
		"I1 a million fields":          {"POST /m/shop/form\nContent-Type: application/x-www-form-urlencoded", strings.Repeat("b=1&", 1_000_000), 404},
		"F5 unknown charset":           {"POST /m/shop/text\nContent-Type: text/plain; charset=" + strings.Repeat("x", 1000), "a", 404},
		"K2 catastrophic pattern":      {"POST /m/shop/text", strings.Repeat("a", 1<<20) + "!", 404},
		"K2 catastrophic expression":   {"GET /m/shop/e/" + strings.Repeat("ab", 5_000), "", 404},
		"N8 too much":                  {"POST /m/shop/json\nExpect-Nothing: 1", strings.Repeat(" ", 10<<20+1), 413},
		"N7 a header flood":            {"GET /m/shop/cookies\n" + strings.TrimSuffix(strings.Repeat("X-Header: x\n", 20_000), "\n"), "", 431},
		"E1 ten thousand cookies":      {"GET /m/shop/cookies\nCookie: " + strings.Repeat("b=1;", 10_000), "", 404},
		"E4 semicolons":                {"GET /m/shop/cookies\nCookie: " + strings.Repeat(";", 50_000), "", 404},
		"B6 percent garbage":           {"GET /m/shop/%%%%%zz", "", 400},
		"B7 bytes":                     {"GET /m/shop/%FF%C3%28%00", "", 404},
		"N7 a long target":             {"GET /m/shop/" + strings.Repeat("a", 20<<10), "", 414},
		"C3 a query of escapes":        {"GET /m/shop/cookies?" + strings.Repeat("%zz&", 3_000), "", 404},
		"B8 ten thousand dot segments": {"GET /m/shop/" + strings.Repeat("../", 4_000), "", 404},
	}
}

// Hostile requests neither crash nor stall the server: each has the status of its rule, soon.
func TestHostileRequestsHaveTheStatusOfTheirRule(t *testing.T) {
	t.Parallel()
	for name, r := range hostileRequests(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorded recorder
			e := newEngine(t, engine.Options{Journal: &recorded})
			publishDefinition(t, e, hostileDefinition)
			start := time.Now()
			if status := sendHostile(t, serveEngine(t, e), r); status != r.status {
				t.Errorf("status %d, want %d", status, r.status)
			}
			// What net/http answers itself, and a target that belongs to no project, are in no journal (rules B6 and N7).
			if r.status != http.StatusBadRequest && r.status != http.StatusRequestHeaderFieldsTooLarge && r.status != http.StatusRequestURITooLong {
				if x := recorded.last(t, 1); x.Response.Status != r.status {
					t.Errorf("recorded as %d", x.Response.Status)
				}
			}
			// What grows with the square of such a request takes hours; a busy machine takes its time too.
			if took := time.Since(start); took > 60*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestI9_too_many_parts_are_refused_for_their_number(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, hostileDefinition)
	many := strings.Repeat("--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n", 1_001) + "--B--"
	r := httptest.NewRequest(http.MethodPost, "/m/shop/parts", strings.NewReader(many))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), `"detail":"The multipart body has more than 1,000 parts."`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func sendHostile(t *testing.T, address string, r hostileRequest) int {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
		t.Fatal(err)
	}
	line, fields, _ := strings.Cut(r.head, "\n")
	if fields != "" {
		fields = strings.ReplaceAll(fields, "\n", "\r\n") + "\r\n"
	}
	// The answer may come before all is sent.
	go func() {
		_, _ = io.WriteString(conn, fmt.Sprintf("%s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n%s", line, fields, len(r.body), r.body))
	}()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
