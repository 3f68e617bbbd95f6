package engine_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// Ten thousand mocks keep their common headers once; what differs between them is their own (rules M7 and O3).
func TestM7_mocks_of_equal_headers_share_them_but_for_name_and_length(t *testing.T) {
	t.Parallel()
	other := textMock("other", "/other", "text")
	other.Responses[0].Headers = []mockbase.Header{{Name: "X-Own", Values: []string{"1", "2"}}}
	alike := textMock("alike", "/alike", "text")
	// The same bytes in other lines are another header.
	alike.Responses[0].Headers = []mockbase.Header{{Name: "X-Own", Values: []string{"12"}}}
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{textMock("short", "/short", "a"), textMock("long", "/long", "abcdefghij"), other, alike})
	if !engine.SharesLines(e, "prj_1", "short", "long") || engine.SharesLines(e, "prj_1", "short", "other") ||
		engine.SharesLines(e, "prj_1", "alike", "other") {
		t.Error("equal headers are not shared, or others are")
	}
	for path, want := range map[string]struct {
		length string
		own    []string
	}{"short": {"1", nil}, "long": {"10", nil}, "other": {"4", []string{"1", "2"}}, "alike": {"4", []string{"12"}}} {
		h := get(e, "/m/shop/"+path).Header()
		if h.Get("Mockbase-Mock") != path || h.Get("Content-Length") != want.length || !slices.Equal(h["X-Own"], want.own) {
			t.Errorf("%s is answered with %v", path, h)
		}
	}
}

// What somebody appends to the lines of one answer does not reach another.
func TestO6_lines_of_one_answer_stay_out_of_others(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "a"), textMock("b", "/b", "b")})
	first := get(e, "/m/shop/a").Header()
	for name := range first {
		first[name] = append(first[name], "more")
	}
	if h := get(e, "/m/shop/b").Header(); len(h["Content-Type"]) != 1 || len(h["Mockbase-Mock"]) != 1 || len(h["Content-Length"]) != 1 {
		t.Errorf("the other answer has %v", h)
	}
}

// More different headers than are remembered for sharing are all sent.
func TestO6_many_different_headers_are_each_mocks_own(t *testing.T) {
	t.Parallel()
	mocks := make([]*mockbase.Mock, 1500)
	for i := range mocks {
		text := strconv.Itoa(i)
		mocks[i] = textMock("m"+text, "/"+text, text)
		mocks[i].Responses[0].Headers = []mockbase.Header{{Name: "X-Own", Values: []string{text}}}
	}
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, mocks)
	for _, i := range []string{"0", "1023", "1024", "1499"} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/m/shop/"+i, http.NoBody))
		if w.Body.String() != i || w.Header().Get("X-Own") != i || w.Header().Get("Mockbase-Mock") != "m"+i {
			t.Errorf("%s is answered with %v %q", i, w.Header(), w.Body)
		}
	}
}

// A plain mock takes few pieces of memory, compiled and with its document: the collector looks at each of them, and a request
// waits for those that it needs. With one more for each mock this fails.
func TestY4_many_idle_mocks_take_little(t *testing.T) { //nolint:paralleltest // the heap is measured
	const count, mostObjects, mostBytes = 4000, 10, 2700
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e := newEngine(t, engine.Options{})
	mocks := make([]*mockbase.Mock, count)
	for i := range mocks {
		m, err := mockbase.DecodeMock(fmt.Appendf(nil, `{"name":"thing-%05d","request":{"method":"GET","path":"/v1/things-%05d/details"},`+
			`"response":{"json":{"text":"%0100d"}}}`, i, i, i), mockbase.FormatJSON)
		if err != nil {
			t.Fatal(err)
		}
		mocks[i] = m
	}
	publish(t, e, 1, mocks)
	runtime.GC()
	runtime.ReadMemStats(&after)
	objects, bytes := (after.HeapObjects-before.HeapObjects)/count, (after.HeapAlloc-before.HeapAlloc)/count
	if objects > mostObjects || bytes > mostBytes {
		t.Errorf("a mock takes %d objects and %d bytes, want at most %d and %d", objects, bytes, mostObjects, mostBytes)
	}
	runtime.KeepAlive(mocks)
}

// What is looked at of a mock with a short answer lies in one piece of memory, which is as large as pieces may be whose
// description lies elsewhere.
func TestY4_a_short_answer_lies_beside_its_mock(t *testing.T) {
	t.Parallel()
	if size := engine.LargestPlot(); size > 512 {
		t.Errorf("a mock with room for its body takes %d bytes", size)
	}
	// With the description that precedes it, this fills a piece of 768 bytes.
	if size := reflect.TypeFor[mockbase.Exchange]().Size(); size > 760 {
		t.Errorf("an exchange takes %d bytes", size)
	}
	// Bodies on both sides of the room, and one that is longer as it is sent than as it is stated.
	for _, size := range []int{0, 1, 191, 192, 193, 4096} {
		for _, coding := range []string{"", "gzip"} {
			text := strings.Repeat("x", size)
			m, other := textMock("a", "/a", text), textMock("b", "/b", "other")
			m.Responses[0].Encode = coding
			e := newEngine(t, engine.Options{})
			publish(t, e, 1, []*mockbase.Mock{m, other})
			w := get(e, "/m/shop/a")
			got := w.Body.Bytes()
			if coding != "" && size > 0 {
				got = unzipped(t, got)
			}
			if string(got) != text || w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
				t.Errorf("%d bytes %q: %q with the header %v", size, coding, got, w.Header())
			}
			if body := get(e, "/m/shop/b").Body.String(); body != "other" {
				t.Errorf("%d bytes %q: the other mock answers %q", size, coding, body)
			}
		}
	}
}

func unzipped(tb testing.TB, body []byte) []byte {
	tb.Helper()
	from, err := gzip.NewReader(strings.NewReader(string(body)))
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
