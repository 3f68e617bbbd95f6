package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// plainMock is a mock as the oracle sees it.
type plainMock struct {
	name     string
	path     string
	method   string
	query    string
	priority int
	ignore   bool
	place    int
}

// The oracle tries every mock by the letter of the rules: no tree, no merge, no ranks worked out before.
func oracle(mocks []plainMock, method, path, query string) string {
	best := -1
	for i := range mocks {
		m := &mocks[i]
		fits := m.method == method || m.method == "ANY" || method == "HEAD" && m.method == "GET"
		if !fits || m.query != "" && query == "" || !oraclePath(m, path) {
			continue
		}
		if best < 0 || oracleBefore(m, &mocks[best], method) {
			best = i
		}
	}
	if best < 0 {
		return "none"
	}
	return mocks[best].name
}

func oraclePath(m *plainMock, path string) bool {
	own := strings.Split(m.path[1:], "/")
	sent := strings.Split(path[1:], "/")
	if m.ignore {
		// Rule B10: the path with and without its slash at the end.
		own = dropSlash(own)
		if last := len(sent) - 1; sent[last] == "" && oracleSegments(own, sent[:last]) {
			return true
		}
	}
	return oracleSegments(own, sent)
}

func dropSlash(segments []string) []string {
	if segments[len(segments)-1] == "" {
		return segments[:len(segments)-1]
	}
	return segments
}

func oracleSegments(own, sent []string) bool {
	if len(own) == 0 {
		return len(sent) == 0
	}
	if own[0] == "**" {
		least := 1
		if len(own) == 1 {
			least = 0
		}
		for n := least; n <= len(sent); n++ {
			if oracleSegments(own[1:], sent[n:]) {
				return true
			}
		}
		return false
	}
	return len(sent) > 0 && oracleSegment(own[0], sent[0]) && oracleSegments(own[1:], sent[1:])
}

func oracleSegment(own, sent string) bool {
	switch oracleKind(own) {
	case 0:
		return own == sent
	case 1:
		return regexp.MustCompile(`^.+` + regexp.QuoteMeta(own[3:]) + `$`).MatchString(sent)
	case 2:
		return regexp.MustCompile(`^[0-9]+$`).MatchString(sent)
	default:
		return sent != ""
	}
}

// oracleKind ranks a segment: literal, {x}.b, {x:[0-9]+}, {x}, *, end of the path, **.
func oracleKind(own string) int {
	switch {
	case own == "**":
		return 6
	case own == "*":
		return 4
	case own == "{x}":
		return 3
	case own == "{x:[0-9]+}":
		return 2
	case strings.HasPrefix(own, "{x}"):
		return 1
	default:
		return 0
	}
}

func oracleBefore(a, b *plainMock, method string) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if c := slices.Compare(oracleRank(a), oracleRank(b)); c != 0 {
		return c < 0
	}
	if x, y := oracleMethod(a, method), oracleMethod(b, method); x != y {
		return x < y
	}
	if (a.query != "") != (b.query != "") {
		return a.query != ""
	}
	return a.place > b.place
}

func oracleRank(m *plainMock) []int {
	var rank []int
	own := strings.Split(m.path[1:], "/")
	if m.ignore {
		own = dropSlash(own)
	}
	for _, segment := range own {
		rank = append(rank, oracleKind(segment))
	}
	return append(rank, 5)
}

func oracleMethod(m *plainMock, method string) int {
	switch m.method {
	case method:
		return 0
	case "ANY":
		return 2
	default:
		return 1
	}
}

func randomPath(r *rand.Rand) string {
	segments := []string{"a", "b", "7", "a.b", "", "{x}", "*", "{x}.b", "{x:[0-9]+}", "**"}
	var path strings.Builder
	rest, parameter := false, false
	for range 1 + r.IntN(4) {
		segment := segments[r.IntN(len(segments))]
		if segment == "**" && rest || strings.HasPrefix(segment, "{x") && parameter {
			segment = "a"
		}
		rest = rest || segment == "**"
		parameter = parameter || strings.HasPrefix(segment, "{x")
		path.WriteString("/" + segment)
	}
	return path.String()
}

// oracleMethods are the methods of random mocks; requests have one of the first three.
func oracleMethods() []string { return []string{"GET", "HEAD", "POST", "ANY"} }

// randomMocks are mocks as the oracle sees them and as the engine does.
func randomMocks(r *rand.Rand, number int) ([]plainMock, []*mockbase.Mock) {
	plain := make([]plainMock, number)
	mocks := make([]*mockbase.Mock, number)
	for i := range plain {
		p := plainMock{
			name: fmt.Sprintf("m%d", i), path: randomPath(r), method: oracleMethods()[r.IntN(4)],
			priority: r.IntN(8) / 6, ignore: r.IntN(4) == 0, place: i,
		}
		m := &mockbase.Mock{
			Name: p.name, Priority: p.priority, Request: mockbase.RequestMatcher{Methods: []string{p.method}, Path: p.path},
			Responses: []mockbase.Response{{Status: http.StatusOK}},
		}
		if p.ignore {
			m.Request.TrailingSlash = mockbase.TrailingSlashIgnore
		}
		if r.IntN(3) == 0 {
			p.query = "q"
			m.Request.Query = []mockbase.NamedMatch{{Name: "q", Match: mockbase.Match{{Equals: []byte(`"1"`)}}}}
		}
		plain[i], mocks[i] = p, m
	}
	return plain, mocks
}

// agree asks the engine and the oracle.
func agree(t *testing.T, r *rand.Rand, e *engine.Engine, plain []plainMock) {
	t.Helper()
	sent := []string{"a", "b", "7", "a.b", "8.b", ""}
	path := ""
	for range 1 + r.IntN(5) {
		path = path + "/" + sent[r.IntN(len(sent))]
	}
	method, query := oracleMethods()[r.IntN(3)], []string{"", "?q=1"}[r.IntN(2)]
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(method, "/m/shop"+path+query, http.NoBody))
	if got, want := w.Header().Get("Mockbase-Mock"), oracle(plain, method, path, query); got != want {
		t.Fatalf("%s %s: %s answers, want %s, of\n%+v", method, path+query, got, want, plain)
	}
}

// Rules A2 to A7, B10, B12 and L1: for thousands of random sets of mocks, the tree finds what trying every mock finds.
func TestIndexAgreesWithTryingEveryMock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	e := newEngine(t, engine.Options{})
	for round := range 150 {
		plain, mocks := randomMocks(r, 1+r.IntN(25))
		publish(t, e, int64(round+1), mocks)
		for range 60 {
			agree(t, r, e, plain)
		}
	}
}

// Rules A2 to A7 and M15: mocks that come one after the other, or a few at once, are found as those that come together, and
// so are those that are left when others go.
func TestA2_mocks_that_are_added_to_many_are_found_as_all_are(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	e := newEngine(t, engine.Options{})
	plain, mocks := randomMocks(r, 3*engine.MaxRecent)
	revision := int64(0)
	for n := 1; n <= len(mocks); n += 1 + r.IntN(1+r.IntN(9)) {
		if r.IntN(20) == 0 { // One of them goes.
			at := r.IntN(n)
			plain, mocks = slices.Delete(slices.Clone(plain), at, at+1), slices.Delete(slices.Clone(mocks), at, at+1)
			n--
		}
		revision++
		publish(t, e, revision, slices.Clone(mocks[:n]))
		for range 20 {
			agree(t, r, e, plain[:n])
		}
	}
	if grafted, planted := e.Grown("shop"); grafted == planted {
		t.Errorf("%d mocks are in the tree, and %d were when it was built: none was added", grafted, planted)
	}
}

// What is found by no tree, or changes what others do, is there at once too: expressions (rule A5), matrix parameters (rule
// B16), methods (rule L4), and recorded mocks that step aside (rule T17).
func TestA2_mocks_of_every_kind_are_added_to_others(t *testing.T) {
	t.Parallel()
	documents := []string{
		`{"name": "plain", "request": "GET /plain", "response": {"status": 200}}`,
		`{"name": "tape", "tags": ["recorded"], "request": "GET /tape", "response": {"status": 200}}`,
		`{"name": "expr", "request": {"method": "PUT", "pathMatches": "/e[0-9]+"}, "response": {"status": 200}}`,
		`{"name": "more", "request": "GET /more", "response": {"status": 200}}`,
		`{"name": "matrix", "request": {"method": "GET", "path": "/matrix", "matrix": {"a": "1"}}, "response": {"status": 200}}`,
		`{"name": "post", "request": "POST /plain", "response": {"status": 200}}`,
		`{"name": "off", "enabled": false, "request": "DELETE /plain", "response": {"status": 200}}`,
	}
	asked := map[string]string{
		"GET /plain": "plain", "GET /tape": "tape", "PUT /e7": "expr", "GET /more": "more", "GET /matrix;a=1": "matrix", "POST /plain": "post",
		"DELETE /plain": "none",
	}
	e := newEngine(t, engine.Options{})
	var mocks []*mockbase.Mock
	for n, document := range documents {
		m, err := mockbase.DecodeMock([]byte(document), mockbase.FormatJSON)
		if err != nil {
			t.Fatal(err)
		}
		mocks = append(mocks, m)
		publish(t, e, int64(n+1), slices.Clone(mocks))
		for request, name := range asked {
			if !slices.ContainsFunc(mocks, func(m *mockbase.Mock) bool { return m.Name == name }) {
				name = "none"
			}
			method, target, _ := strings.Cut(request, " ")
			w := httptest.NewRecorder()
			e.ServeHTTP(w, httptest.NewRequest(method, "/m/shop"+target, http.NoBody))
			if got := w.Header().Get("Mockbase-Mock"); got != name {
				t.Errorf("%s with %d mocks: %s answers, want %s", request, n+1, got, name)
			}
		}
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/m/shop/plain", http.NoBody))
	if got := w.Header().Get("Allow"); got != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("%d, Allow: %s", w.Code, got)
	}
}

// Rule B13: the engine's way of cutting a segment agrees with one regular expression for the whole of it.
func TestB13_mixed_segments_agree_with_regular_expressions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	letters := []string{"a", "b", ".", "-", "1", "é"}
	for range 800 {
		var path, pattern strings.Builder
		path.WriteByte('/')
		literal := r.IntN(2) == 0
		for i := range 1 + r.IntN(5) {
			if literal {
				text := letters[r.IntN(len(letters))]
				path.WriteString(text)
				pattern.WriteString(regexp.QuoteMeta(text))
			} else if r.IntN(3) == 0 {
				fmt.Fprintf(&path, "{p%d:[a-b1.]+}", i)
				pattern.WriteString("[a-b1.]+")
			} else {
				fmt.Fprintf(&path, "{p%d}", i)
				pattern.WriteString("(?s:.+)")
			}
			literal = !literal
		}
		if path.String() == "/." {
			// A dot segment is refused, as no request has one.
			continue
		}
		whole := regexp.MustCompile(`\A(?:` + pattern.String() + `)\z`)
		for range 20 {
			var b strings.Builder
			for range r.IntN(8) {
				b.WriteString(letters[r.IntN(len(letters))])
			}
			text := b.String()
			got, err := engine.MatchSegment(path.String(), text)
			if err != nil {
				t.Fatalf("%s: %v", path.String(), err)
			}
			if want := whole.MatchString(text); got != want {
				t.Fatalf("%s and %q: %t, want %t", path.String(), text, got, want)
			}
		}
	}
}

// A segment that is made to let every cut fail costs no time.
func TestB13_hostile_segments_end_soon(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a-", 8_000)
	for _, path := range []string{"/{a}-{b}-{c}-{d}-{e}!", "/{a:[a-]+}-{b:[a-]+}-{c:[a-]+}-{d:[a-]+}!", "/{a:[a-]+}-{b:[a-]+}-{c:[b]+}"} {
		if matched, err := engine.MatchSegment(path, text); matched || err != nil {
			t.Errorf("%s: %t, %v", path, matched, err)
		}
	}
}

// Paths that begin or end alike are told apart in whatever order their mocks were made (rules A4 and B10).
func TestB10_paths_with_common_ends_are_told_apart(t *testing.T) {
	t.Parallel()
	paths := []string{"/a/b/c", "/a/b", "/a/b/c/d", "/a/x/c", "/b/b/c", "/a/b/c/", "/a/{p}/c/e", "/a", "/b/b/c/d/e", "/b/**/e"}
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		mocks := make([]*mockbase.Mock, len(paths))
		for i, path := range paths {
			mocks[i] = textMock(fmt.Sprintf("m%d", i), path, path)
			if round%2 == 1 && path == "/a/b/c" {
				mocks[i].Request.TrailingSlash = mockbase.TrailingSlashIgnore
			}
		}
		e := newEngine(t, engine.Options{})
		publish(t, e, 1, mocks)
		for sent, want := range map[string]string{
			"/a/b/c": "/a/b/c", "/a/b": "/a/b", "/a/b/c/d": "/a/b/c/d", "/a/x/c": "/a/x/c", "/b/b/c": "/b/b/c", "/a": "/a",
			"/b/b/c/d/e": "/b/b/c/d/e", "/b/b/c/e": "/b/**/e", "/a/b/c/e": "/a/{p}/c/e",
			"/a/x/c/": "", "/b": "", "/b/b": "", "/a/b/c/d/": "", "/a/x": "", "/b/b/c/d": "", "/": "",
		} {
			w := get(e, "/m/shop"+sent)
			if answered := w.Code == http.StatusOK; answered != (want != "") || answered && w.Body.String() != want {
				t.Fatalf("%v: %s is answered with %d %s, want %q", paths, sent, w.Code, w.Body, want)
			}
		}
	}
}
