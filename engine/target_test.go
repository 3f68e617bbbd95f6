package engine_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine"
)

func TestTargetsAreTakenApartRaw(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, slug, path, query string
		elsewhere              bool
	}{
		{raw: "/m/shop/a/b?x=1", slug: "shop", path: "/a/b", query: "x=1"},
		{raw: "/m/shop", slug: "shop", path: "/"},
		{raw: "/m/shop?", slug: "shop", path: "/"},
		{raw: "/m/shop/", slug: "shop", path: "/"},
		{raw: "/m/shop//host/x", slug: "shop", path: "//host/x"},
		{raw: "/m/shop/../../x", slug: "shop", path: "/../../x"},
		{raw: "/m/s%68op/x", slug: "shop", path: "/x"},
		{raw: "/m/%zz/x", slug: "%zz", path: "/x"},
		{raw: "http://h.test:80/m/shop/a?b?c", slug: "shop", path: "/a", query: "b?c"},
		{raw: "/m/shop/a?x=/m/other/", slug: "shop", path: "/a", query: "x=/m/other/"},
		{raw: "/m", elsewhere: true},
		{raw: "/mm/shop", elsewhere: true},
		{raw: "//m/shop", elsewhere: true},
		{raw: "/api/v1/projects", elsewhere: true},
		{raw: "http://h.test", elsewhere: true},
		{raw: "http://h.test?/m/shop/", elsewhere: true},
		{raw: "h.test:443", elsewhere: true},
		{raw: "*", elsewhere: true},
		{raw: "", elsewhere: true},
	} {
		got, ok := engine.ParseTarget(c.raw)
		if ok == c.elsewhere {
			t.Errorf("%q: below the base path: %t", c.raw, ok)
		}
		if want := (engine.Target{Slug: c.slug, Path: c.path, Query: c.query}); ok && got != want {
			t.Errorf("%q: %q, want %q", c.raw, got, want)
		}
	}
}

// Rule Y1: below the base path, and OPTIONS *, nothing else.
func TestY1_the_engine_serves_what_lies_below_its_base_path(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{BasePath: "/mocks"})
	for target, want := range map[string]bool{
		"/mocks/shop/api/v1/projects": true, "/mocks/": true, "http://h.test/mocks/shop": true, "*": true,
		"/mocks": false, "/m/shop": false, "/api/v1/projects": false, "/": false, "/./mocks/shop": false,
	} {
		r := &http.Request{Method: http.MethodGet, RequestURI: target}
		if got := e.Serves(r); got != want {
			t.Errorf("%s: %t, want %t", target, got, want)
		}
	}
	if r := (&http.Request{URL: &url.URL{Path: "/mocks/shop"}}); !e.Serves(r) {
		t.Error("a request made in the process has no RequestURI and is served too")
	}
}

func TestPathsSplitBeforeTheyAreDecoded(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"/":                 {""},
		"//":                {"", ""},
		"/a%2Fb/c":          {"a/b", "c"},
		"/%2525":            {"%25"},
		"/a+b%20c":          {"a+b c"},
		"/%c3%a9":           {"é"},
		"/%FF":              {"\xff"},
		"/a/./b":            {"a", "b"},
		"/a/../../b":        {"b"},
		"/a/%2E%2e/b":       {"b"},
		"/a//../b":          {"a", "b"},
		"/a/..":             {""},
		"/a/b/.":            {"a", "b", ""},
		"/...":              {"..."},
		"/.%2e/":            {""},
		"/a%2F../b":         {"a/..", "b"},
		"/a;x=1/b":          {"a;x=1", "b"},
		"/~x/\xc3\xa9/#f":   {"~x", "é", "#f"},
		"/a/b/c/d/e/f/g/h/": {"a", "b", "c", "d", "e", "f", "g", "h", ""},
	} {
		got, text, err := engine.SplitPath(raw)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
		if joined := "/" + strings.Join(want, "/"); text != joined {
			t.Errorf("%q: text %q, want %q", raw, text, joined)
		}
	}
	for _, raw := range []string{"/%", "/%2", "/a/%zz", "/%%20", "/%2g/../x"} {
		if got, _, err := engine.SplitPath(raw); err == nil {
			t.Errorf("B6 %q: %q, want an error", raw, got)
		}
	}
}

func FuzzSplitPath(f *testing.F) {
	for _, seed := range []string{"/", "//", "/a%2Fb", "/%25", "/a/../b", "/%2e%2E/x", "/%zz", "/%", "/é/%FF/.", "/a//", "/./.././..//%2e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		raw = "/" + raw
		segments, text, err := engine.SplitPath(raw)
		if err != nil {
			return
		}
		if len(segments) == 0 || text != "/"+strings.Join(segments, "/") {
			t.Fatalf("%q: %q, text %q", raw, segments, text)
		}
		// What is left is a plain list of the segments that were sent, in their order, each decoded once.
		sent := strings.Split(raw[1:], "/")
		for _, segment := range segments {
			if segment == "." || segment == ".." {
				t.Fatalf("%q: %q holds a dot segment", raw, segments)
			}
			for len(sent) > 0 && segment != "" && unescaped(t, sent[0]) != segment {
				sent = sent[1:]
			}
			if len(sent) == 0 {
				t.Fatalf("%q: %q is not what was sent", raw, segments)
			}
		}
		again, _, err := engine.SplitPath("/" + strings.Join(escapeAll(segments), "/"))
		if diff := cmp.Diff(segments, again); err != nil || diff != "" {
			t.Fatalf("%q: splitting what came out differs: %v\n%s", raw, err, diff)
		}
	})
}

func unescaped(t *testing.T, s string) string {
	t.Helper()
	decoded, err := url.PathUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func escapeAll(segments []string) []string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	return escaped
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"/m/shop/a?b", "http://h/m/s/x", "*", "", "://", "/m/", "/m/%2F/x?", "h:443", "/m/shop#f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, ok := engine.ParseTarget(raw)
		if ok && !strings.HasPrefix(got.Path, "/") {
			t.Fatalf("%q: path %q", raw, got.Path)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"", "a", "a=", "=x", "&&a=1&", "a=1;b=2", "a=%zz", "a%5B0%5D=x+y", "a=b=c", "%", "+=+", "a=%4", "a=é#f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		names, values := engine.ParseQuery(raw)
		got := url.Values{}
		for i, name := range names {
			got.Add(name, values[i])
		}
		// Where the standard library drops nothing, both agree.
		if want, err := url.ParseQuery(raw); err == nil {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q (-standard library +ours):\n%s", raw, diff)
			}
		}
		pairs := 0
		for part := range strings.SplitSeq(raw, "&") {
			if part != "" {
				pairs++
			}
		}
		if pairs != len(names) {
			t.Fatalf("%q: %d pairs, want %d", raw, len(names), pairs)
		}
	})
}

// Whatever the bytes of a request target are, the engine answers and says something sensible.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{"/m/shop/a", "/m/shop/%FF?%zz", "/m/shop/a/../../..", "/m/shop/%zz", "/m/shop/%2", "/m/shop/~s/x", "/m/%00/x", "/m/shop/x#", "/m/shop/a//b/?a=1&a=2"} {
		f.Add(seed)
	}
	e := newEngine(f, engine.Options{Journal: &recorder{}})
	publishDefinition(f, e, `
mocks:
  - { request: "GET /a/{x}/{y:[0-9]+}", response: { text: a } }
  - { request: "GET /{n}.{e}", response: { text: b } }
  - { request: { path: "/c/**/z", query: { a: [{ contains: x }, { not: y }] } }, response: { text: c } }
  - { request: { path: "/a", headers: { X: 1 } }, response: { text: d } }
`)
	f.Fuzz(func(t *testing.T, target string) {
		r := &http.Request{
			Method: http.MethodGet, RequestURI: target, Host: "h.test", Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1",
			URL: &url.URL{Path: "/"},
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestURITooLong:
		default:
			t.Fatalf("%q: status %d", target, w.Code)
		}
	})
}
