package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// moved is a stateful world in which everything has moved, in the default session and in ci.
func moved(t *testing.T) *world {
	t.Helper()
	w := stateful(t)
	for _, session := range []string{"", "/~ci"} {
		w.calls(session+"/steps", 1)
		w.calls(session+"/pay", 1)
		w.mocked(http.MethodPost, session+"/posts", `{"title":"second"}`)
	}
	return w
}

// state is how a session stands, in a few words: the next step of the sequence, the scenario and the number of posts.
func (w *world) state(session string) string {
	w.t.Helper()
	_, posts := w.mocked(http.MethodGet, session+"/posts", "")
	return w.calls(session+"/steps", 1) + " " + w.calls(session+"/cart", 1) + " " + strings.Repeat("+", strings.Count(posts, `"id"`))
}

func (w *world) recorded(query string) int {
	w.t.Helper()
	return len(w.send(call{method: http.MethodGet, path: trafficPath + query, as: viewer}).want(http.StatusOK).names("id"))
}

func TestM138_R7_levels_are_taken_back_in_all_sessions_or_one(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body        string
		standard, session string
		// kept are the exchanges of both sessions afterwards, six each before.
		kept string
	}{
		"the usual levels":            {resetPath, ``, "one open +", "one open +", "33"},
		"an empty object":             {resetPath, `{}`, "one open +", "one open +", "33"},
		"counters":                    {resetPath, `{"what":["counters"]}`, "one closed ++", "one closed ++", "33"},
		"scenarios":                   {resetPath, `{"what":["scenarios"]}`, "two open ++", "two open ++", "33"},
		"data":                        {resetPath, `{"what":["data"]}`, "two closed +", "two closed +", "33"},
		"limits":                      {resetPath, `{"what":["limits"]}`, "two closed ++", "two closed ++", "33"},
		"journal":                     {resetPath, `{"what":["journal"]}`, "two closed ++", "two closed ++", "00"},
		"all":                         {resetPath, `{"what":["all"]}`, "one open +", "one open +", "00"},
		"one session":                 {resetPath, `{"session":"ci"}`, "two closed ++", "one open +", "33"},
		"the default session":         {resetPath, `{"session":"default","what":["counters","data"]}`, "one closed +", "two closed ++", "33"},
		"a session's journal":         {resetPath, `{"session":"ci","what":["journal"]}`, "two closed ++", "two closed ++", "30"},
		"M-189 usual levels":          {sessionsPath + "/ci/reset", ``, "two closed ++", "one open +", "33"},
		"M-189 counters":              {sessionsPath + "/ci/reset", `{"what":["counters"]}`, "two closed ++", "one closed ++", "33"},
		"M-189 all":                   {sessionsPath + "/ci/reset", `{"what":["all"]}`, "two closed ++", "one open +", "30"},
		"M-189 of the default, all":   {sessionsPath + "/default/reset", `{"what":["all"]}`, "one open +", "two closed ++", "03"},
		"M-189 journal and scenarios": {sessionsPath + "/ci/reset", `{"what":["journal","scenarios"]}`, "two closed ++", "two open ++", "30"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := moved(t)
			w.sendIn(t, call{method: http.MethodPost, path: c.path, as: editor, body: c.body}).want(http.StatusNoContent)
			kept := string(rune('0'+w.recorded("?session=default"))) + string(rune('0'+w.recorded("?session=ci")))
			if standard, session := w.state(""), w.state("/~ci"); standard != c.standard || session != c.session || kept != c.kept {
				t.Errorf("default %q, ci %q, recorded %s; want %q, %q, %s", standard, session, kept, c.standard, c.session, c.kept)
			}
		})
	}
}

func TestM138_a_reset_that_is_refused_takes_nothing_back(t *testing.T) {
	t.Parallel()
	w := moved(t)
	for _, c := range []struct {
		path, body string
		status     int
		code       mockbase.Code
	}{
		{resetPath, `{"what":["everything"]}`, 422, mockbase.CodeValidationFailed},
		{resetPath, `{"what":[]}`, 422, mockbase.CodeValidationFailed},
		{resetPath, `{"what":"all"}`, 422, mockbase.CodeValidationFailed},
		{resetPath, `{"what":["counters","mocks"],"session":"ci"}`, 422, mockbase.CodeValidationFailed},
		{resetPath, `{"session":"none"}`, 404, mockbase.CodeNotFound},
		{sessionsPath + "/none/reset", ``, 404, mockbase.CodeNotFound},
		{sessionsPath + "/ci/reset", `{"what":["counters","mocks"]}`, 422, mockbase.CodeValidationFailed},
		{sessionsPath + "/ci/reset", `{"session":"default"}`, 422, mockbase.CodeValidationFailed},
	} {
		w.send(call{method: http.MethodPost, path: c.path, as: editor, body: c.body}).want(c.status, c.code)
	}
	if got := w.state("") + ", " + w.state("/~ci"); got != "two closed ++, two closed ++" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestM138_R7_mocks_go_back_to_what_their_source_wrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"mocks":[{"name":"a","request":"GET /a","response":{"text":"a"}},{"name":"b","request":"GET /b","response":{"text":"b"}},
		{"name":"c","request":"GET /c","response":{"text":"c"}}]}`)
	w.addMock(`{"name":"mine","request":"GET /mine","response":{"text":"mine"}}`)
	w.send(call{method: http.MethodPut, path: mocksPath + "/a?takeOver=true", as: editor, body: `{"request":"GET /a","response":{"text":"edited"}}`}).want(http.StatusOK)
	w.send(call{method: http.MethodPatch, path: mocksPath + "/a", as: editor, kind: "application/merge-patch+json", body: `{"name":"renamed","priority":3}`}).want(http.StatusOK)
	w.send(call{method: http.MethodDelete, path: mocksPath + "/b?takeOver=true", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodPatch, path: mocksPath + "/mine", as: editor, kind: "application/merge-patch+json", body: `{"priority":2}`}).want(http.StatusOK)
	w.send(call{method: http.MethodPatch, path: mocksPath + "/c?takeOver=true", as: editor, kind: "application/merge-patch+json", body: `{"priority":2}`}).want(http.StatusOK)
	w.send(call{method: http.MethodDelete, path: mocksPath + "/c", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodPost, path: resetPath, as: viewer, body: `{"what":["mocks"]}`}).want(http.StatusForbidden)
	w.send(call{method: http.MethodPost, path: resetPath, as: editor, body: `{"what":["mocks"]}`}).want(http.StatusNoContent)
	if got := w.shopMocks(); got != "a b c mine" {
		t.Errorf("mocks are %q", got)
	}
	if got := w.calls("/a", 1) + w.calls("/b", 1) + w.calls("/c", 1) + w.calls("/mine", 1); got != "abcmine" {
		t.Errorf("answered %q", got)
	}
	var plan struct {
		Summary struct{ Updated, Created, Unchanged, Conflicts int } `json:"summary"`
	}
	w.send(call{method: http.MethodPut, path: definitionPath + "?dryRun=true", as: owner, body: `{"mocks":[{"name":"a","request":"GET /a","response":{"text":"a"}},
		{"name":"b","request":"GET /b","response":{"text":"b"}},{"name":"c","request":"GET /c","response":{"text":"c"}}]}`}).want(http.StatusOK).into(&plan)
	if plan.Summary.Unchanged < 3 || plan.Summary.Conflicts+plan.Summary.Updated+plan.Summary.Created > 0 {
		t.Errorf("the source's next apply would do %+v", plan.Summary)
	}
	if got := w.send(call{method: http.MethodGet, path: projectPath + "/trash", as: viewer}).names("name"); len(got) > 0 {
		t.Errorf("in the trash are %q", got)
	}
}

// A mock by hand took the name that a mock had which its source wrote.
func TestM138_mocks_that_cannot_go_back_stay_all(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"mocks":[{"name":"a","request":"GET /a","response":{"text":"a"}}]}`)
	w.send(call{method: http.MethodPatch, path: mocksPath + "/a?takeOver=true", as: editor, kind: "application/merge-patch+json", body: `{"name":"b"}`}).want(http.StatusOK)
	w.addMock(`{"name":"a","request":"GET /other","response":{"text":"other"}}`)
	w.calls("/a", 1)
	w.send(call{method: http.MethodPost, path: resetPath, as: editor, body: `{"what":["all"]}`}).want(http.StatusConflict, mockbase.CodeNameTaken)
	if got := w.shopMocks(); got != "b a" || w.recorded("") != 1 {
		t.Errorf("mocks are %q, %d exchanges", got, w.recorded(""))
	}
}

func TestM138_files_have_nothing_to_take_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, err := mockbase.DecodeDefinition([]byte(`{"mocks":[{"name":"a","request":"GET /a","response":{"text":"a"}}]}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.catalog.LoadFiles(t.Context(), "filed", d, "/mocks"); err != nil {
		t.Fatal(err)
	}
	w.send(call{method: http.MethodPost, path: "/api/v1/projects/filed/reset", as: admin, body: `{"what":["all"]}`}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/filed/trash/mck_1", as: admin}).want(http.StatusNotFound)
}

func TestM138_who_may_reset(t *testing.T) {
	t.Parallel()
	run(t, as(scenario{name: "reset", call: call{method: http.MethodPost, path: resetPath}}, editors(http.StatusNoContent))...)
	run(t, as(scenario{name: "begin a session", call: call{method: http.MethodPost, path: sessionsPath}}, editors(http.StatusCreated))...)
	run(t, as(scenario{name: "list sessions", call: call{method: http.MethodGet, path: sessionsPath}}, readers())...)
}

func TestM138_without_a_journal_there_is_nothing_to_forget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.Traffic = nil })
	for _, body := range []string{`{"what":["journal"]}`, `{"what":["journal"],"session":"default"}`} {
		w.send(call{method: http.MethodPost, path: resetPath, as: editor, body: body}).want(http.StatusNoContent)
	}
}
