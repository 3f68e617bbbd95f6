package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

const (
	variablesPath   = projectPath + "/variables"
	collectionsPath = projectPath + "/collections"
)

// variables is a world whose templates name the variable greeting.
func variables(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.send(call{method: http.MethodPut, path: variablesPath + "/greeting", as: editor, body: `{"value":"hi"}`}).want(http.StatusCreated)
	w.addMock(`{"name":"greet","request":"GET /greet","response":{"template":true,"text":"{{ var.greeting }}"}}`)
	return w
}

func TestM195_M196_variables_are_set_and_served(t *testing.T) {
	t.Parallel()
	w := variables(t)
	if got := w.calls("/greet", 1); got != "hi" {
		t.Errorf("answered %q", got)
	}
	for _, c := range []struct {
		body, etag, answer string
		header             map[string]string
		status             int
	}{
		{`{"value":"hello"}`, `"v2"`, "hello", nil, 200},
		{`{"value":"hello"}`, `"v2"`, "hello", nil, 200},
		{`{"value":2.50}`, `"v3"`, "2.50", map[string]string{"If-Match": `"v2"`}, 200},
		{`{"value":true}`, `"v3"`, "2.50", map[string]string{"If-Match": `"v2"`}, 412},
		{`{"value":true}`, `"v3"`, "2.50", map[string]string{"If-None-Match": "*"}, 412},
		{`{"value":[1]}`, ``, "2.50", nil, 422},
		{`{"value":null}`, ``, "2.50", nil, 422},
		{`{}`, ``, "2.50", nil, 422},
		{`{"value":1,"secrt":true}`, ``, "2.50", nil, 422},
	} {
		got := w.send(call{method: http.MethodPut, path: variablesPath + "/greeting", as: editor, body: c.body, header: c.header}).want(c.status)
		if got.header.Get("ETag") != c.etag || w.calls("/greet", 1) != c.answer {
			t.Errorf("%s: ETag %s, answered %q: %s", c.body, got.header.Get("ETag"), w.calls("/greet", 1), got.body)
		}
	}
	w.send(call{method: http.MethodPut, path: variablesPath + "/1st", as: editor, body: `{"value":1}`}).want(http.StatusUnprocessableEntity)
	made := w.send(call{method: http.MethodPut, path: variablesPath + "/other", as: editor, body: `{"value":1}`, header: map[string]string{"If-None-Match": "*"}})
	if made.want(http.StatusCreated); made.header.Get("Location") != variablesPath+"/other" || made.header.Get("ETag") != `"v1"` {
		t.Errorf("made at %q, %s", made.header.Get("Location"), made.header.Get("ETag"))
	}
	if got := w.send(call{method: http.MethodGet, path: variablesPath, as: viewer}).want(http.StatusOK).names("name"); !cmp.Equal(got, []string{"greeting", "other"}) {
		t.Errorf("listed %q", got)
	}
}

func TestM195_the_value_of_a_secret_is_shown_nowhere(t *testing.T) {
	t.Parallel()
	w := variables(t)
	put := func(body string) *reply {
		return w.send(call{method: http.MethodPut, path: variablesPath + "/greeting", as: editor, body: body}).want(http.StatusOK)
	}
	if got := put(`{"value":"sesame","secret":true}`); strings.Contains(string(got.body), "sesame") || got.header.Get("ETag") != `"v2"` {
		t.Errorf("ETag %s: %s", got.header.Get("ETag"), got.body)
	}
	if got := put(`{"value":"sesame2"}`); !strings.Contains(string(got.body), `"secret":true`) {
		t.Errorf("it is no secret any more: %s", got.body)
	}
	if got := w.calls("/greet", 1); got != "sesame2" {
		t.Errorf("a template answers %q", got)
	}
	for _, path := range []string{variablesPath, definitionPath, projectPath} {
		if got := w.send(call{method: http.MethodGet, path: path, as: owner}).want(http.StatusOK); strings.Contains(string(got.body), "sesame") {
			t.Errorf("%s shows it: %s", path, got.body)
		}
	}
	w.send(call{method: http.MethodPut, path: variablesPath + "/plain", as: editor, body: `{"value":1}`}).want(http.StatusCreated)
	exported := w.send(call{method: http.MethodGet, path: definitionPath, as: viewer}).want(http.StatusOK)
	if !strings.Contains(string(exported.body), `"plain"`) {
		t.Errorf("what is no secret is left out: %s", exported.body)
	}
	// A definition that leaves it out changes nothing of it, and a plan that changes it does not tell it.
	w.send(call{method: http.MethodPut, path: definitionPath + "?prune=true&adopt=true", as: owner, body: string(exported.body)}).want(http.StatusOK)
	if got := w.calls("/greet", 1); got != "sesame2" {
		t.Errorf("after the apply it answers %q", got)
	}
	plan := w.send(call{method: http.MethodPut, path: definitionPath + "?adopt=true&dryRun=true", as: owner, body: `{"variables":{"greeting":"next"},"mocks":[]}`}).want(http.StatusOK)
	if text := string(plan.body); strings.Contains(text, "sesame2") || !strings.Contains(text, "********") {
		t.Errorf("the plan tells it: %s", text)
	}
	if got := put(`{"value":"open","secret":false}`); !strings.Contains(string(got.body), `"open"`) || got.header.Get("ETag") != `"v4"` {
		t.Errorf("no secret any more: %s %s", got.header.Get("ETag"), got.body)
	}
	if got := put(`{"value":"open","secret":true}`); got.header.Get("ETag") != `"v5"` {
		t.Errorf("a secret again: %s", got.header.Get("ETag"))
	}
}

func TestM197_a_variable_that_a_template_names_stays(t *testing.T) {
	t.Parallel()
	w := variables(t)
	w.send(call{method: http.MethodDelete, path: variablesPath + "/greeting", as: editor, header: map[string]string{"If-Match": `"v9"`}}).want(http.StatusPreconditionFailed)
	got := w.send(call{method: http.MethodDelete, path: variablesPath + "/greeting", as: editor}).want(http.StatusConflict, mockbase.CodeInUse)
	if !strings.Contains(got.problem().Detail, "greet") {
		t.Errorf("it does not say where: %s", got.body)
	}
	for name, text := range map[string]string{"parenthesised": "{{ (var).greeting }}", "indexed": `{{ index var \"greeting\" }}`, "piped": "{{ if true }}{{ var.greeting | upper }}{{ end }}"} {
		w.send(call{method: http.MethodPut, path: mocksPath + "/greet", as: editor, body: `{"request":"GET /greet","response":{"template":true,"text":"` + text + `"}}`})
		if got := w.send(call{method: http.MethodDelete, path: variablesPath + "/greeting", as: editor}); got.status != http.StatusConflict {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	w.send(call{method: http.MethodPut, path: mocksPath + "/greet", as: editor, body: `{"request":"GET /greet","response":{"template":true,"text":"{{ var.greetings }} var.greeting"}}`}).want(http.StatusOK)
	w.send(call{method: http.MethodDelete, path: mocksPath + "/greet", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: variablesPath + "/greeting", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: variablesPath + "/greeting", as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.apply(`{"variables":{"owned":1},"mocks":[]}`)
	w.send(call{method: http.MethodPut, path: variablesPath + "/owned", as: editor, body: `{"value":2}`}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	w.send(call{method: http.MethodDelete, path: variablesPath + "/owned", as: editor}).want(http.StatusConflict, mockbase.CodeManagedBySource)
}

func TestM198_M199_collections_are_seen_in_a_session(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"collections":{"posts":{"path":"/posts","seed":[{"id":10},{"id":9},{"id":"x"},{"id":1.50}]},"me":{"path":"/me","singular":true,"seed":{"name":"ada"}}}}`)
	w.mocked(http.MethodPost, "/~ci/posts", `{"id":11,"n":2.50}`)
	list := string(w.send(call{method: http.MethodGet, path: collectionsPath, as: viewer}).want(http.StatusOK).body)
	if !strings.Contains(list, `{"name":"me","items":1,"changedAt":null,"persist":false},{"name":"posts","items":4,"changedAt":null,"persist":false}`) {
		t.Errorf("listed %s", list)
	}
	changed := string(w.send(call{method: http.MethodGet, path: collectionsPath + "?session=ci&sort=-changedAt&q=p", as: viewer}).want(http.StatusOK).body)
	if !strings.Contains(changed, `"items":5,"changedAt":"2026-03-01T12:00:00.000Z"`) {
		t.Errorf("in the session: %s", changed)
	}
	for query, want := range map[string]string{
		"posts/items":                            `[{"id":9},{"id":10},{"id":1.50},{"id":"x"}]`,
		"posts/items?sort=-id":                   `[{"id":"x"},{"id":1.50},{"id":10},{"id":9}]`,
		"posts/items?session=ci&q=2.50":          `[{"id":11,"n":2.50}]`,
		"posts/items?limit=1":                    `[{"id":9}]`,
		"me/items":                               `[{"name":"ada"}]`,
		"posts/items?session=default&count=true": `[{"id":9},{"id":10},{"id":1.50},{"id":"x"}]`,
	} {
		if got := string(w.send(call{method: http.MethodGet, path: collectionsPath + "/" + query, as: viewer}).want(http.StatusOK).body); !strings.HasPrefix(got, `{"items":`+want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, path := range []string{"/none/items", "/posts/items?session=none"} {
		w.send(call{method: http.MethodGet, path: collectionsPath + path, as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	}
}

func TestM13_a_page_of_items_stays_right_while_others_go(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"collections":{"posts":{"path":"/posts","seed":[{"id":1},{"id":2},{"id":3}]}}}`)
	first := w.send(call{method: http.MethodGet, path: collectionsPath + "/posts/items?limit=2", as: viewer}).want(http.StatusOK).json()
	w.mocked(http.MethodDelete, "/posts/1", "")
	w.mocked(http.MethodDelete, "/posts/2", "")
	next, _ := first["nextCursor"].(string)
	got := string(w.send(call{method: http.MethodGet, path: collectionsPath + "/posts/items?cursor=" + next, as: viewer}).want(http.StatusOK).body)
	if !strings.HasPrefix(got, `{"items":[{"id":3}]`) {
		t.Errorf("the second page is %s", got)
	}
}

func TestM200_a_collection_returns_to_its_sample_data(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"collections":{"posts":{"path":"/posts","seed":[{"id":1}]},"tags":{"path":"/tags"}}}`)
	for _, path := range []string{"/posts", "/tags", "/~ci/posts"} {
		w.mocked(http.MethodPost, path, `{}`)
	}
	if got := string(w.send(call{method: http.MethodPost, path: collectionsPath + "/posts/reset", as: editor}).want(http.StatusOK).body); !strings.HasPrefix(got, `{"items":1}`) {
		t.Errorf("answered %s", got)
	}
	for path, want := range map[string]int{"/posts": 1, "/tags": 1, "/~ci/posts": 2} {
		if _, text := w.mocked(http.MethodGet, path, ""); strings.Count(text, "id") != want {
			t.Errorf("afterwards %s is %s", path, text)
		}
	}
	w.send(call{method: http.MethodPost, path: collectionsPath + "/posts/reset", as: editor, body: `{"session":"ci"}`}).want(http.StatusOK)
	if _, text := w.mocked(http.MethodGet, "/~ci/posts", ""); strings.Count(text, "id") != 1 {
		t.Errorf("in the session: %s", text)
	}
	w.send(call{method: http.MethodPost, path: collectionsPath + "/none/reset", as: editor}).want(http.StatusNotFound)
	w.send(call{method: http.MethodPost, path: collectionsPath + "/posts/reset", as: editor, body: `{"session":"none"}`}).want(http.StatusNotFound)
}
