package management_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

const trashPath = projectPath + "/trash"

// editedMock is a world in which the mock hello has three versions.
func editedMock(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"one"}}`)
	for _, text := range []string{"two", "three"} {
		w.clock.Advance(time.Minute)
		w.put("hello", text)
	}
	return w
}

func (w *world) put(name, text string) {
	w.t.Helper()
	w.send(call{method: http.MethodPut, path: mocksPath + "/" + name, as: owner, body: fmt.Sprintf(`{"request":"GET /hello","response":{"text":%q}}`, text)}).want(http.StatusOK)
}

func TestM147_versions_tell_what_changed(t *testing.T) {
	t.Parallel()
	w := editedMock(t)
	var list struct {
		Items []struct {
			Version int64
			At      string
			By      *string
			Source  *string
			Changes []struct{ Pointer, From, To string }
		} `json:"items"`
	}
	w.send(call{method: http.MethodGet, path: mocksPath + "/hello/versions", as: viewer}).want(http.StatusOK).into(&list)
	if len(list.Items) != 3 || list.Items[0].Version != 3 || list.Items[2].Version != 1 || len(list.Items[2].Changes) != 0 {
		t.Fatalf("versions %+v", list.Items)
	}
	newest := list.Items[0]
	if newest.At != "2026-03-01T12:02:00.000Z" || *newest.By != w.users[owner].ID || newest.Source != nil || len(newest.Changes) != 1 ||
		newest.Changes[0].Pointer != "#/response/text" || newest.Changes[0].From != "two" || newest.Changes[0].To != "three" {
		t.Errorf("the newest %+v", newest)
	}
}

func TestM147_fifty_versions_are_kept(t *testing.T) {
	t.Parallel()
	w := editedMock(t)
	for i := range 60 {
		w.put("hello", strconv.Itoa(i))
	}
	got := w.send(call{method: http.MethodGet, path: mocksPath + "/hello/versions?limit=200&count=true", as: viewer}).want(http.StatusOK)
	if total := got.json()["total"]; total != float64(mockbase.MaxMockVersions) {
		t.Errorf("%v versions are kept", total)
	}
	w.send(call{method: http.MethodGet, path: mocksPath + "/hello/versions/13", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: mocksPath + "/hello/versions/14", as: viewer}).want(http.StatusOK)
	page := w.send(call{method: http.MethodGet, path: mocksPath + "/hello/versions?limit=2&sort=version", as: viewer}).want(http.StatusOK)
	if next, _ := page.json()["nextCursor"].(string); next == "" || page.header.Get("Link") == "" {
		t.Errorf("page %s", page.body)
	}
}

func TestM148_M149_a_mock_is_shown_and_restored_as_it_was(t *testing.T) {
	t.Parallel()
	w := editedMock(t)
	versions := mocksPath + "/hello/versions"
	was := w.send(call{method: http.MethodGet, path: versions + "/1", as: viewer}).want(http.StatusOK)
	if was.header.Get("ETag") != `"v1"` || !strings.Contains(string(was.body), `"text":"one"`) {
		t.Errorf("version 1: %s", was.body)
	}
	for _, version := range []string{"0", "4", "x", "-1", "1e0"} {
		w.send(call{method: http.MethodGet, path: versions + "/" + version, as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
		w.send(call{method: http.MethodPost, path: versions + "/" + version + "/restore", as: editor}).want(http.StatusNotFound)
	}
	w.send(call{method: http.MethodPost, path: versions + "/1/restore", as: editor, header: map[string]string{"If-Match": `"v2"`}}).
		want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	got := w.send(call{method: http.MethodPost, path: versions + "/1/restore", as: editor, header: map[string]string{"If-Match": `"v3"`}}).want(http.StatusOK)
	if got.header.Get("ETag") != `"v4"` || !strings.Contains(string(got.body), `"text":"one"`) || w.calls("/hello", 1) != "one" {
		t.Errorf("restored: %s", got.body)
	}
}

func TestM149_a_former_name_may_be_taken(t *testing.T) {
	t.Parallel()
	w := editedMock(t)
	w.send(call{method: http.MethodPatch, path: mocksPath + "/hello", as: editor, kind: "application/merge-patch+json", body: `{"name":"bye"}`}).want(http.StatusOK)
	w.addMock(`{"name":"hello","request":"GET /other","response":{}}`)
	w.send(call{method: http.MethodPost, path: mocksPath + "/bye/versions/1/restore", as: editor}).want(http.StatusConflict, mockbase.CodeNameTaken)
	w.send(call{method: http.MethodDelete, path: mocksPath + "/hello", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodPost, path: mocksPath + "/bye/versions/1/restore", as: editor}).want(http.StatusOK)
	if got := w.shopMocks(); got != "hello" {
		t.Errorf("mocks are %q", got)
	}
}

func TestM77_a_version_of_a_source_is_restored_by_taking_over(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"one", "two"} {
		w.apply(`{"mocks":[{"name":"hello","request":"GET /hello","response":{"text":"` + text + `"}}]}`)
	}
	restore := mocksPath + "/hello/versions/1/restore"
	w.send(call{method: http.MethodPost, path: restore, as: editor}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	w.send(call{method: http.MethodPost, path: restore + "?takeOver=true", as: editor}).want(http.StatusOK)
	if got := w.calls("/hello", 1); got != "one" {
		t.Errorf("answered %q", got)
	}
}

func TestM146_a_copy_does_not_answer_unless_asked_to(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","priority":2.0,"request":"GET /hello","response":{"json":{"n":2.50}}}`)
	for _, c := range []struct{ body, name, enabled string }{
		{``, "hello-copy", "false"},
		{`{}`, "hello-copy-2", "false"},
		{`{"name":"again","enabled":true}`, "again", "true"},
	} {
		got := w.send(call{method: http.MethodPost, path: mocksPath + "/hello/duplicate", as: editor, body: c.body}).want(http.StatusCreated)
		if text := string(got.body); !strings.Contains(text, `"name":"`+c.name+`"`) || !strings.Contains(text, `"enabled":`+c.enabled) || !strings.Contains(text, "2.50") {
			t.Errorf("%s: %s", c.body, text)
		}
		if at := got.header.Get("Location"); at != mocksPath+"/"+c.name || got.header.Get("ETag") != `"v1"` {
			t.Errorf("%s: at %s, %s", c.body, at, got.header.Get("ETag"))
		}
	}
	w.send(call{method: http.MethodPost, path: mocksPath + "/hello/duplicate", as: editor, body: `{"name":"again"}`}).want(http.StatusConflict, mockbase.CodeNameTaken)
	w.send(call{method: http.MethodPost, path: mocksPath + "/hello/duplicate", as: editor, body: `{"name":"No Slug"}`}).want(http.StatusUnprocessableEntity)
	w.send(call{method: http.MethodPost, path: mocksPath + "/none/duplicate", as: editor}).want(http.StatusNotFound)
	long := strings.Repeat("x", 64)
	w.addMock(`{"name":"` + long + `","request":"GET /long","response":{}}`)
	w.send(call{method: http.MethodPost, path: mocksPath + "/" + long + "/duplicate", as: editor}).want(http.StatusCreated)
}

// bulkWorld has the mocks a, b and c: a has the tag x, b the folder f, c is switched off.
func bulkWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.addMock(`{"name":"a","tags":["x"],"request":"GET /a","response":{}}`)
	w.addMock(`{"name":"b","folder":"f/g","request":"POST /b","response":{}}`)
	w.addMock(`{"name":"c","enabled":false,"request":"GET /c","response":{}}`)
	return w
}

// looks is how the shop's mocks look, in a few words.
func (w *world) looks() string {
	w.t.Helper()
	found, _ := w.catalog.Project(w.shop.ID)
	words := make([]string, len(found.Mocks))
	for i, m := range found.Mocks {
		words[i] = fmt.Sprintf("%s%d", m.Name, m.Version)
		if m.Disabled {
			words[i] += "-off"
		}
		if m.Folder != "" {
			words[i] += "@" + m.Folder
		}
		for _, tag := range m.Tags {
			words[i] += "#" + tag
		}
	}
	return strings.Join(words, " ")
}

func TestM153_many_mocks_change_at_once(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		matched, changed int
		looks            string
	}{
		`{"action":"enable","mocks":["a","c"]}`:                            {2, 1, "a1#x b1@f/g c2"},
		`{"action":"disable","filter":{}}`:                                 {3, 2, "a2-off#x b2-off@f/g c1-off"},
		`{"action":"disable","filter":{"method":"post"}}`:                  {1, 1, "a1#x b2-off@f/g c1-off"},
		`{"action":"delete","mocks":["b"]}`:                                {1, 1, "a1#x c1-off"},
		`{"action":"delete","filter":{"enabled":false}}`:                   {1, 1, "a1#x b1@f/g"},
		`{"action":"delete","filter":{},"all":true}`:                       {3, 3, ""},
		`{"action":"delete","filter":{"q":"nothing"}}`:                     {0, 0, "a1#x b1@f/g c1-off"},
		`{"action":"move","mocks":["a","b"],"value":"h"}`:                  {2, 2, "a2@h#x b2@h c1-off"},
		`{"action":"move","filter":{"folder":"f"},"value":""}`:             {1, 1, "a1#x b2 c1-off"},
		`{"action":"tag","filter":{},"value":"x"}`:                         {3, 2, "a1#x b2@f/g#x c2-off#x"},
		`{"action":"untag","filter":{"tag":"x"},"value":"x"}`:              {1, 1, "a2 b1@f/g c1-off"},
		`{"action":"untag","mocks":["b"],"value":"x"}`:                     {1, 0, "a1#x b1@f/g c1-off"},
		`{"action":"tag","filter":{"q":"/a","warning":"tie"},"value":"y"}`: {0, 0, "a1#x b1@f/g c1-off"},
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			w := bulkWorld(t)
			before, _ := w.catalog.Project(w.shop.ID)
			var got struct {
				Matched, Changed int
				Items            []struct{ Name string }
			}
			w.sendIn(t, call{method: http.MethodPost, path: mocksPath + "/bulk", as: editor, body: body}).want(http.StatusOK).into(&got)
			if got.Matched != want.matched || got.Changed != want.changed || len(got.Items) != want.matched || w.looks() != want.looks {
				t.Errorf("%+v, afterwards %s; want %+v", got, w.looks(), want)
			}
			after, _ := w.catalog.Project(w.shop.ID)
			if revisions := after.Project.Revision - before.Project.Revision; revisions > 1 || revisions == 1 && want.changed == 0 {
				t.Errorf("it was %d changes", revisions)
			}
		})
	}
}

func TestM153_what_is_refused_changes_nothing(t *testing.T) {
	t.Parallel()
	w := bulkWorld(t)
	w.apply(`{"mocks":[{"name":"owned","request":"GET /owned","response":{}}]}`)
	before := w.looks()
	names := strings.Repeat(`"a",`, 1000) + `"a"`
	for body, code := range map[string]mockbase.Code{
		`{"action":"disable","filter":{}}`:                                  mockbase.CodeManagedBySource,
		`{"action":"delete","mocks":["a","owned"]}`:                         mockbase.CodeManagedBySource,
		`{"action":"delete","mocks":["a","none"]}`:                          mockbase.CodeValidationFailed,
		`{"action":"delete","filter":{}}`:                                   mockbase.CodeValidationFailed,
		`{"action":"delete","filter":{"tag":""}}`:                           mockbase.CodeValidationFailed,
		`{"action":"delete","filter":{},"all":false}`:                       mockbase.CodeValidationFailed,
		`{"action":"delete"}`:                                               mockbase.CodeValidationFailed,
		`{"action":"delete","mocks":["a"],"filter":{}}`:                     mockbase.CodeValidationFailed,
		`{"action":"erase","mocks":["a"]}`:                                  mockbase.CodeValidationFailed,
		`{"mocks":["a"]}`:                                                   mockbase.CodeValidationFailed,
		`{"action":"move","mocks":["a"]}`:                                   mockbase.CodeValidationFailed,
		`{"action":"move","mocks":["a"],"value":"a/b/c/d/e/f/g/h/i/j/k/l"}`: mockbase.CodeValidationFailed,
		`{"action":"tag","mocks":["a"],"value":""}`:                         mockbase.CodeValidationFailed,
		`{"action":"tag","mocks":["a"],"value":"No Slug"}`:                  mockbase.CodeValidationFailed,
		`{"action":"enable","mocks":["a"],"value":"x"}`:                     mockbase.CodeValidationFailed,
		`{"action":"enable","filter":{"tga":"x"}}`:                          mockbase.CodeValidationFailed,
		`{"action":"enable","mocks":[` + names + `]}`:                       mockbase.CodeValidationFailed,
	} {
		got := w.send(call{method: http.MethodPost, path: mocksPath + "/bulk", as: editor, body: body})
		if got.problem().Code != code || w.looks() != before {
			t.Errorf("%.80s: %s, afterwards %s", body, got.body, w.looks())
		}
	}
}

func TestM145_M154_M155_a_deleted_mock_comes_back(t *testing.T) {
	t.Parallel()
	w := bulkWorld(t)
	found, _ := w.catalog.Project(w.shop.ID)
	b := found.Mocks[1]
	w.send(call{method: http.MethodDelete, path: mocksPath + "/b", as: editor}).want(http.StatusNoContent)
	var list struct {
		Items []map[string]any `json:"items"`
	}
	w.send(call{method: http.MethodGet, path: trashPath, as: viewer}).want(http.StatusOK).into(&list)
	want := []map[string]any{{
		"id": b.ID, "name": "b", "deletedAt": "2026-03-01T12:00:00.000Z", "deletedBy": w.users[editor].ID, "source": nil, "expiresAt": "2026-03-31T12:00:00.000Z",
	}}
	if diff := cmp.Diff(want, list.Items); diff != "" {
		t.Errorf("trash (-want +got):\n%s", diff)
	}
	if status, _ := w.mocked(http.MethodPost, "/b", ""); status != http.StatusNotFound {
		t.Errorf("a deleted mock answers %d", status)
	}
	got := w.send(call{method: http.MethodPost, path: trashPath + "/" + b.ID + "/restore", as: editor}).want(http.StatusOK)
	if got.header.Get("ETag") != `"v2"` || got.header.Get("Location") != mocksPath+"/b" || w.looks() != "a1#x b2@f/g c1-off" {
		t.Errorf("restored %s, afterwards %s", got.body, w.looks())
	}
	if status, _ := w.mocked(http.MethodPost, "/b", ""); status != http.StatusNoContent {
		t.Errorf("it answers %d", status)
	}
	w.send(call{method: http.MethodPost, path: trashPath + "/" + b.ID + "/restore", as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
	if got := w.send(call{method: http.MethodGet, path: mocksPath + "/b/versions?count=true", as: viewer}).json()["total"]; got != float64(2) {
		t.Errorf("it has %v versions", got)
	}
}

func TestM155_a_taken_name_is_refused(t *testing.T) {
	t.Parallel()
	w := bulkWorld(t)
	id := w.addMock(`{"name":"d","request":"GET /d","response":{}}`).ID
	w.send(call{method: http.MethodDelete, path: mocksPath + "/d", as: editor}).want(http.StatusNoContent)
	w.addMock(`{"name":"d","request":"GET /other","response":{}}`)
	w.send(call{method: http.MethodPost, path: trashPath + "/" + id + "/restore", as: editor}).want(http.StatusConflict, mockbase.CodeNameTaken)
	for _, name := range []string{"d", "mck_none"} {
		w.send(call{method: http.MethodPost, path: trashPath + "/" + name + "/restore", as: editor}).want(http.StatusNotFound)
	}
	// A mock of another project is out of reach.
	w.send(call{method: http.MethodPost, path: "/api/v1/projects/other/trash/" + id + "/restore", as: stranger}).want(http.StatusNotFound)
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/other/trash/" + id, as: stranger}).want(http.StatusNotFound)
}

func TestM156_a_mock_in_the_trash_is_deleted_for_good(t *testing.T) {
	t.Parallel()
	w := bulkWorld(t)
	id := w.addMock(`{"name":"d","request":"GET /d","response":{}}`).ID
	w.send(call{method: http.MethodDelete, path: mocksPath + "/d", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: trashPath + "/" + id, as: viewer}).want(http.StatusForbidden)
	w.send(call{method: http.MethodDelete, path: trashPath + "/" + id, as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: trashPath + "/" + id, as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodPost, path: trashPath + "/" + id + "/restore", as: editor}).want(http.StatusNotFound)
}

func TestM154_the_trash_forgets_after_thirty_days(t *testing.T) {
	t.Parallel()
	w := bulkWorld(t)
	ids := map[string]string{}
	for i, name := range []string{"d", "e"} {
		ids[name] = w.addMock(fmt.Sprintf(`{"name":%q,"request":"GET /%s","response":{}}`, name, name)).ID
		w.clock.Advance(time.Duration(i) * time.Minute)
		w.send(call{method: http.MethodDelete, path: mocksPath + "/" + name, as: editor}).want(http.StatusNoContent)
	}
	if got := w.send(call{method: http.MethodGet, path: trashPath, as: viewer}).names("name"); !cmp.Equal(got, []string{"e", "d"}) {
		t.Errorf("in the trash are %q", got)
	}
	if got := w.send(call{method: http.MethodGet, path: trashPath + "?sort=name&q=D", as: viewer}).names("name"); !cmp.Equal(got, []string{"d"}) {
		t.Errorf("found are %q", got)
	}
	w.clock.Advance(mockbase.TrashAge - time.Minute)
	w.tokens = map[string]string{} // the old ones have expired
	if got := w.send(call{method: http.MethodGet, path: trashPath, as: viewer}).names("name"); !cmp.Equal(got, []string{"e"}) {
		t.Errorf("in the trash are %q", got)
	}
	w.send(call{method: http.MethodPost, path: trashPath + "/" + ids["d"] + "/restore", as: editor}).want(http.StatusNotFound)
	w.send(call{method: http.MethodPost, path: trashPath + "/" + ids["e"] + "/restore", as: editor}).want(http.StatusOK)
}
