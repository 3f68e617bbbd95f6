package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/internal/testkit"
)

// flooded serves many mocks on one path, each with a condition in which %d is its number.
func flooded(t *testing.T, o engine.Options, count int, request string) *engine.Engine {
	t.Helper()
	var mocks strings.Builder
	mocks.WriteString("mocks:\n")
	for i := range count {
		fmt.Fprintf(&mocks, "- { name: m%d, request: { path: /c, %s }, response: { status: 299 } }\n", i, strings.ReplaceAll(request, "%d", strconv.Itoa(i)))
	}
	e := newEngine(t, o)
	publishDefinition(t, e, mocks.String())
	return e
}

// floods are requests with values without end.
var floods = []struct { //nolint:gochecknoglobals  // of a test
	name, request, target string
	header                http.Header
}{
	{"cookies", "cookies: { a: v%d }", "/m/shop/c", http.Header{"Cookie": {strings.Repeat("a=q;", 16_000)}}},
	{"lines of a header", "headers: { X: v%d }", "/m/shop/c", http.Header{"X": strings.Split(strings.Repeat("q,", 9_000), ",")}},
	{"parameters", "query: { n: { all: [v%d, w, z] } }", "/m/shop/c?" + strings.Repeat("n=w&", 4_000), nil},
	{"parameters that nobody names", "strictQuery: true, query: { n: w }", "/m/shop/c?" + strings.Repeat("n=w&", 4_000) + "x=1", nil},
	{"a long header", "headers: { X: { matches: 'v%d' } }", "/m/shop/c", http.Header{"X": {strings.Repeat("v", 60_000)}}},
	{"a long authorization", "auth: { bearer: { contains: v%d } }", "/m/shop/c", http.Header{"Authorization": {"Bearer " + strings.Repeat("v", 60_000)}}},
	{"different cookies", "cookies: { a: { anyOf: [v%d, { endsWith: '.%d' }] } }", "/m/shop/c", http.Header{"Cookie": {differentCookies()}}},
}

func differentCookies() string {
	var all strings.Builder
	for i := range 8_000 {
		fmt.Fprintf(&all, "a=%d;", i)
	}
	return all.String()
}

func flood(e *engine.Engine, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	r.Header = header.Clone()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

// What conditions look at beside the body counts for what they may cost.
func TestAFloodOfValuesIsRefusedWhenItTakesTooMuchWork(t *testing.T) {
	t.Parallel()
	for _, c := range floods {
		e := flooded(t, engine.Options{MatchTime: -1, MaxTarget: 1 << 20}, 100, c.request)
		if w := flood(e, c.target, c.header); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "processor time") {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if w := flood(e, "/m/shop/c", nil); w.Code == http.StatusRequestEntityTooLarge {
			t.Errorf("%s: an ordinary request: %d", c.name, w.Code)
		}
	}
}

// Many values mean what few do.
func TestManyValuesMeanWhatFewDo(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, `
mocks:
- { request: { path: /c, query: { n: { count: 201, all: [x, w, w] } }, headers: { X: z }, cookies: { a: { every: { matches: '[qr]' }, count: 200 } } }, response: { status: 299 } }
`)
	h := http.Header{"X": append(strings.Split(strings.Repeat("q,", 200), ","), "z"), "Cookie": {strings.Repeat("a=q; a=r; ", 100)}}
	if w := flood(e, "/m/shop/c?"+strings.Repeat("n=w&", 200)+"n=x", h); w.Code != 299 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Rule M6: a path with segments without end is compared in part.
func TestM6_a_very_long_path_is_compared_in_part(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, manyMocks(10_000))
	cost := func(target string) time.Duration {
		return testkit.Fastest(5, func() {
			if w := get(e, target); w.Code != http.StatusNotFound {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	usual, long := cost("/m/shop"+strings.Repeat("/a", 40)), cost("/m/shop"+strings.Repeat("/a", 8_000))
	if long > 4*usual+50*time.Millisecond {
		t.Errorf("a long path takes %s, a usual one %s", long, usual)
	}
}

// Rule N12: the time of a body of unknown length is that of what came, and not that of the largest.
func TestN12_a_body_of_unknown_length_has_time_for_what_came(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{BodyTime: short, Upstreams: outbound.Options{Loopback: true}})
	publishDefinition(t, e, "mocks:\n- { request: POST /text, response: { text: abc } }")
	conn, reader := dial(t, serveEngine(t, e))
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /m/shop/text HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n"); err != nil {
		t.Fatal(err)
	}
	if status, body := finalAnswer(t, reader); status != http.StatusRequestTimeout {
		t.Errorf("%d: %s", status, body)
	}
}

// Rule AA31: what was refused for the time that it takes was read.
func TestAA31_a_request_that_took_too_much_work_is_not_said_to_be_unread(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded, MatchTime: -1})
	publishDefinition(t, x.engine, "mocks:\n- { request: { path: /a, headers: { X: { matches: v } } }, response: {} }")
	_, refused := x.call(http.MethodGet, "/a", "X: "+strings.Repeat("q", 2<<20))
	told := x.of(refused)
	if refused.Response.Status != http.StatusRequestEntityTooLarge || strings.Contains(strings.Join(told.Hints, " "), "too large to be read") {
		t.Errorf("%d, told %q", refused.Response.Status, told.Hints)
	}
}
