package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// textMock answers a path with a text.
func textMock(name, path, text string) *mockbase.Mock {
	return &mockbase.Mock{
		ID: "mck_" + name, Name: name, Request: mockbase.RequestMatcher{Methods: []string{http.MethodGet}, Path: path},
		Responses: []mockbase.Response{{Body: mockbase.Body{Kind: mockbase.BodyText, Bytes: []byte(text)}}},
	}
}

// get asks an engine in the process.
func get(e *engine.Engine, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	e.ServeHTTP(w, r)
	return w
}

// Rule A14: a change at the same moment never lets a request fall between two states.
func TestA14_swaps_never_let_a_request_fall_between(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	states := [][]*mockbase.Mock{
		{textMock("a", "/a", "A"), textMock("other", "/b", "x")},
		{textMock("b", "/a", "B")},
	}
	publish(t, e, 1, states[0])
	var stop atomic.Bool
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for !stop.Load() {
				if w := get(e, "/m/shop/a"); w.Code != http.StatusOK || w.Body.String() != "A" && w.Body.String() != "B" {
					t.Errorf("status %d, body %q", w.Code, w.Body)
					return
				}
			}
		})
	}
	for revision := range int64(300) {
		publish(t, e, revision+2, states[revision%2])
	}
	stop.Store(true)
	clients.Wait()
}

// Rule Y6: a change holds for every request that arrives after Publish has returned.
func TestY6_a_published_change_is_seen_at_once(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	for revision := range int64(50) {
		text := strconv.FormatInt(revision, 10)
		publish(t, e, revision+1, []*mockbase.Mock{textMock("a", "/a", text)})
		if got := get(e, "/m/shop/a").Body.String(); got != text {
			t.Fatalf("revision %d answers %q", revision, got)
		}
	}
}

func TestTheNewestRevisionWinsWhateverTheOrderOfPublishing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	const newest = 60
	var publishers sync.WaitGroup
	for revision := int64(newest); revision > 0; revision-- {
		publishers.Go(func() {
			publish(t, e, revision, []*mockbase.Mock{textMock("a", "/a", strconv.FormatInt(revision, 10))})
		})
	}
	publishers.Wait()
	if got := get(e, "/m/shop/a").Body.String(); got != strconv.Itoa(newest) {
		t.Errorf("revision %s answers, want %d", got, newest)
	}
}

// Rule A8: editing a mock keeps its place in the order.
func TestA8_an_edited_mock_keeps_its_place(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	first, second := textMock("m1", "/a", "1"), textMock("m2", "/a", "2")
	publish(t, e, 1, []*mockbase.Mock{first, second})
	publish(t, e, 2, []*mockbase.Mock{textMock("m1", "/a", "9"), second})
	if got := get(e, "/m/shop/a").Body.String(); got != "2" {
		t.Errorf("%q answers after the edit", got)
	}
	// Rule A7: deleting the newer one uncovers the older one.
	publish(t, e, 3, []*mockbase.Mock{textMock("m1", "/a", "9")})
	if got := get(e, "/m/shop/a").Body.String(); got != "9" {
		t.Errorf("%q answers after the deletion", got)
	}
}

func snapshot(revision int64, config mockbase.Config, mocks []*mockbase.Mock) *mockbase.Snapshot {
	project := &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: revision, Config: config}
	return &mockbase.Snapshot{Project: project, Mocks: mocks}
}

func TestUnchangedMocksAreNotCompiledAgain(t *testing.T) {
	t.Parallel()
	mocks := manyMocks(100)
	changed := append(append([]*mockbase.Mock{textMock("new", "/x", "x")}, mocks[:50]...), mocks[51:]...)
	e := newEngine(t, engine.Options{})
	if shared, err := e.SharedRoutes(snapshot(1, mockbase.Config{}, mocks), snapshot(2, mockbase.Config{}, changed)); err != nil || shared != 99 {
		t.Errorf("%d mocks are shared, want 99 (%v)", shared, err)
	}
	strict := mockbase.Config{Settings: mockbase.Settings{StrictMethods: true}}
	if shared, err := e.SharedRoutes(snapshot(3, mockbase.Config{}, mocks), snapshot(4, strict, mocks)); err != nil || shared != 0 {
		t.Errorf("%d mocks are shared although the settings changed (%v)", shared, err)
	}
}

func TestProjectsAreToldApartBySlug(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	project := func(id, slug string, revision int64) {
		t.Helper()
		err := e.Publish(&mockbase.Snapshot{
			Project: &mockbase.Project{ID: id, Slug: slug, Revision: revision}, Mocks: []*mockbase.Mock{textMock("a", "/a", id)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	answers := func(slug, want string) {
		t.Helper()
		w := get(e, "/m/"+slug+"/a")
		if got := w.Body.String(); w.Code == http.StatusOK && got != want || w.Code != http.StatusOK && want != "" {
			t.Errorf("%s: %d %s, want %q", slug, w.Code, got, want)
		}
	}
	project("prj_1", "one", 1)
	project("prj_2", "two", 1)
	answers("one", "prj_1")
	answers("two", "prj_2")
	project("prj_1", "renamed", 2)
	answers("one", "")
	answers("renamed", "prj_1")
	// The free slug goes to another project, and the first owner's next change does not take it away.
	project("prj_2", "one", 2)
	project("prj_1", "renamed", 3)
	answers("one", "prj_2")
	e.Withdraw("prj_2")
	e.Withdraw("prj_2")
	e.Withdraw("prj_unknown")
	answers("one", "")
	answers("renamed", "prj_1")
}

func TestASnapshotThatDoesNotCompileChangesNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "good")})
	for name, s := range map[string]*mockbase.Snapshot{
		"path": {
			Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 2}, Mocks: []*mockbase.Mock{textMock("a", "/a/{x", "bad")},
		},
		"no response": {
			Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 2},
			Mocks:   []*mockbase.Mock{{Name: "a", Request: mockbase.RequestMatcher{Methods: []string{http.MethodGet}, Path: "/a"}}},
		},
		"origin": {Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 2, Config: mockbase.Config{
			Settings: mockbase.Settings{CORS: mockbase.CORS{Origins: []string{"nonsense"}}},
		}}},
	} {
		if err := e.Publish(s); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := get(e, "/m/shop/a").Body.String(); got != "good" {
			t.Errorf("%s: %q answers", name, got)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]engine.Options{
		"base path without a slash":      {BasePath: "m"},
		"base path that ends with one":   {BasePath: "/m/"},
		"a body of less than nothing":    {MaxBody: -1},
		"a target of less than nothing":  {MaxTarget: -1},
		"a record of less than nothing":  {RecordCap: -1},
		"the root, which is not a place": {BasePath: "/"},
	} {
		if _, err := engine.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
