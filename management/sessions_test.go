package management_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const (
	projectPath   = "/api/v1/projects/shop"
	sessionsPath  = projectPath + "/sessions"
	scenariosPath = projectPath + "/scenarios"
	resetPath     = projectPath + "/reset"
)

// mocked asks the shop's mocks and returns status and body. A session is named by ~name in front of the path.
func (w *world) mocked(method, path, body string) (status int, text string) {
	w.t.Helper()
	answer := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "http://mocks.test/m/shop"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w.engine.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

// calls asks the shop's mocks several times, and returns the texts that they answer.
func (w *world) calls(path string, times int) string {
	w.t.Helper()
	texts := make([]string, times)
	for i := range times {
		_, texts[i] = w.mocked(http.MethodGet, path, "")
	}
	return strings.Join(texts, " ")
}

// stateful is a world whose shop has a sequence, a scenario and a collection.
func stateful(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.apply(`{
		"collections":{"posts":{"path":"/posts","seed":[{"id":1,"title":"first"}]}},
		"mocks":[
			{"name":"steps","request":"GET /steps","select":"sequence","responses":[{"text":"one"},{"text":"two"},{"text":"three"}]},
			{"name":"cart","request":"GET /cart","scenario":"checkout","responses":[
				{"when":{"state":"Started"},"text":"open"},{"when":{"state":"paid"},"text":"closed"}]},
			{"name":"pay","request":"GET /pay","scenario":"checkout","response":{"text":"ok","setState":"paid"}},
			{"name":"now","request":"GET /now","response":{"template":true,"text":"{{now}}"}}
		]}`)
	return w
}

// apply applies a definition to the shop as its owner.
func (w *world) apply(definition string) {
	w.t.Helper()
	w.send(call{method: http.MethodPut, path: definitionPath, as: owner, body: definition}).want(http.StatusOK)
}

type sessionJSON struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	URL       string            `json:"url"`
	Header    map[string]string `json:"header"`
	Seed      string            `json:"seed"`
	Variables map[string]any    `json:"variables"`
	Labels    map[string]string `json:"labels"`
	TTL       *string           `json:"ttl"`
	ExpiresAt *string           `json:"expiresAt"`
	Counts    map[string]int64  `json:"counts"`
}

func TestM186_a_session_begins_with_what_is_asked_for(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	made := w.send(call{
		method: http.MethodPost, path: sessionsPath, as: editor,
		body: `{"name":"ci-1","ttl":"90m","seed":42,"labels":{"branch":"main"},"variables":{"price":2.50,"name":"x","on":true}}`,
	}).want(http.StatusCreated)
	if at := made.header.Get("Location"); at != sessionsPath+"/ci-1" {
		t.Errorf("Location %q", at)
	}
	var s sessionJSON
	made.into(&s)
	if s.Name != "ci-1" || s.Seed != "42" || s.TTL == nil || *s.TTL != "1h30m" || *s.ExpiresAt != "2026-03-01T13:30:00.000Z" {
		t.Errorf("session %+v", s)
	}
	if !strings.HasSuffix(s.URL, "/m/shop/~ci-1") || s.Header["name"] != "Mockbase-Session" || s.Header["value"] != "ci-1" {
		t.Errorf("address %q, header %v", s.URL, s.Header)
	}
	if !strings.Contains(string(made.body), `"price":2.50`) {
		t.Errorf("the number is not as it was written: %s", made.body)
	}
	w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"ci-1"}`}).want(http.StatusConflict, mockbase.CodeNameTaken)
	w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"default"}`}).want(http.StatusConflict, mockbase.CodeNameTaken)
	// Y7: without a body everything is at its default.
	var plain sessionJSON
	w.send(call{method: http.MethodPost, path: sessionsPath, as: editor}).want(http.StatusCreated).into(&plain)
	if plain.Name == "" || *plain.TTL != "1h" || plain.Seed == "" {
		t.Errorf("session %+v", plain)
	}
	var found sessionJSON
	w.send(call{method: http.MethodGet, path: sessionsPath + "/" + s.ID, as: viewer}).want(http.StatusOK).into(&found)
	if diff := cmp.Diff(s, found); diff != "" {
		t.Errorf("by id (-made +found):\n%s", diff)
	}
}

func TestM186_what_no_session_can_begin_with_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, pointer := range map[string]string{
		`{"name":"a/b"}`: "#/name",
		`{"name":""}`:    "",
		`{"ttl":"25h"}`:  "#/ttl",
		`{"ttl":"0s"}`:   "#/ttl",
		`{"ttl":3600}`:   "#/ttl",
		`{"seed":1.5}`:   "#/seed",
		`{"seed":true}`:  "#/seed",
		`{"seed":"` + strings.Repeat("x", 257) + `"}`: "#/seed",
		`{"variables":{"a":[1]}}`:                     "#/variables",
		`{"variables":[]}`:                            "#/variables",
		`{"labels":{"a":1}}`:                          "#/labels",
		`{"label":{}}`:                                "#/label",
	} {
		got := w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: body})
		if pointer == "" {
			got.want(http.StatusCreated)
			continue
		}
		if p := got.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem(); len(p.Errors) == 0 || p.Errors[0].Pointer != pointer || p.Errors[0].Line == 0 {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
}

func TestM12_a_session_is_begun_once_for_a_key(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"ci"}`, header: map[string]string{"Idempotency-Key": "k"}}
	first := w.send(ask).want(http.StatusCreated)
	again := w.send(ask).want(http.StatusCreated)
	if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s\n%s", first.body, again.body)
	}
}

func TestM12_a_session_that_ended_with_its_process_is_begun_anew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := call{method: http.MethodPost, path: sessionsPath, as: admin, body: `{"name":"ci"}`, header: map[string]string{"Idempotency-Key": "k"}}
	begin := func(w *world) {
		t.Helper()
		if got := w.send(ask).want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "" {
			t.Error("the answer tells of a session that is gone")
		}
		w.send(call{method: http.MethodGet, path: sessionsPath + "/ci", as: admin}).want(http.StatusOK)
		w.stop()
	}
	w := worldIn(t, dir)
	w.addUser(admin)
	w.addProject("shop", admin)
	begin(w)
	again := worldIn(t, dir)
	again.users = w.users
	begin(again)
}

func TestM185_sessions_are_listed_and_filtered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, body := range []string{`{"name":"a","labels":{"branch":"main"}}`, `{"name":"b","labels":{"branch":"dev"}}`, `{"name":"c"}`} {
		w.clock.Advance(time.Second)
		w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: body}).want(http.StatusCreated)
	}
	for query, want := range map[string][]string{
		"":                    {"default", "a", "b", "c"},
		"?sort=-name":         {"default", "c", "b", "a"},
		"?sort=expiresAt":     {"default", "a", "b", "c"},
		"?sort=-startedAt":    {"c", "b", "a", "default"},
		"?label=branch":       {"a", "b"},
		"?label=branch%3Ddev": {"b"},
		"?label=none":         {},
		"?active=true&q=c":    {"c"},
		"?active=false":       {},
		"?limit=2":            {"default", "a"},
	} {
		if got := w.send(call{method: http.MethodGet, path: sessionsPath + query, as: viewer}).want(http.StatusOK).names("name"); !cmp.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	w.send(call{method: http.MethodGet, path: sessionsPath + "?active=maybe", as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}

func TestM188_an_ended_session_is_gone_and_its_traffic_stays(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	if got := w.calls("/~ci/steps", 2); got != "one two" {
		t.Fatalf("answered %q", got)
	}
	var first, second sessionJSON
	w.send(call{method: http.MethodGet, path: sessionsPath + "/ci", as: viewer}).want(http.StatusOK).into(&first)
	if first.Counts["calls"] != 2 {
		t.Errorf("counts %v", first.Counts)
	}
	w.send(call{method: http.MethodDelete, path: sessionsPath + "/ci", as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: sessionsPath + "/ci", as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: sessionsPath + "/ci", as: viewer}).want(http.StatusNotFound)
	if got := len(w.send(call{method: http.MethodGet, path: trafficPath + "?session=" + first.ID, as: viewer}).want(http.StatusOK).names("id")); got != 2 {
		t.Errorf("%d exchanges are left", got)
	}
	if got := w.calls("/~ci/steps", 1); got != "one" {
		t.Errorf("AA11: the next session of the name answers %q", got)
	}
	w.send(call{method: http.MethodGet, path: sessionsPath + "/ci", as: viewer}).want(http.StatusOK).into(&second)
	if second.ID == first.ID {
		t.Error("AA11: it has the id of the ended one")
	}
	w.send(call{method: http.MethodDelete, path: sessionsPath + "/default", as: editor}).want(http.StatusConflict, mockbase.CodeInUse)
}

func TestM191_AA14_a_clock_goes_forward_only(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	clock := sessionsPath + "/ci/clock"
	w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"ci"}`}).want(http.StatusCreated)
	for _, step := range []struct {
		body, now string
		offset    float64
	}{
		{`{"advance":"60s"}`, "2026-03-01T12:01:00.000Z", 60_000},
		{`{"advance":"0s"}`, "2026-03-01T12:01:00.000Z", 60_000},
		{`{"set":"2026-03-02T12:00:00Z"}`, "2026-03-02T12:00:00.000Z", 86_400_000},
		{`{"reset":true}`, "2026-03-01T12:00:00.000Z", 0},
	} {
		var got struct {
			Now      string  `json:"now"`
			OffsetMs float64 `json:"offsetMs"`
		}
		w.send(call{method: http.MethodPost, path: clock, as: editor, body: step.body}).want(http.StatusOK).into(&got)
		if got.Now != step.now || got.OffsetMs != step.offset {
			t.Errorf("%s: %+v", step.body, got)
		}
		w.send(call{method: http.MethodGet, path: clock, as: viewer}).want(http.StatusOK).into(&got)
		if _, told := w.mocked(http.MethodGet, "/~ci/now", ""); got.Now != step.now || !strings.HasPrefix(told, step.now[:19]) {
			t.Errorf("%s: the clock is %s, a template says %s", step.body, got.Now, told)
		}
	}
	for _, body := range []string{
		`{"advance":"-1s"}`, `{"advance":60}`, `{"set":"2026-03-01T11:59:59Z"}`, `{"set":"soon"}`, `{"reset":false}`, `{}`,
		`{"advance":"1s","reset":true}`, `{"advance":"1s","set":"2026-03-02T12:00:00Z"}`, `{"adance":"1s"}`,
	} {
		got := w.send(call{method: http.MethodPost, path: clock, as: editor, body: body})
		if got.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed); len(got.problem().Errors) == 0 {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	for _, body := range []string{`{"advance":"-1s"}`, `{"set":"2026-03-01T11:59:59Z"}`} {
		if got := w.send(call{method: http.MethodPost, path: clock, as: editor, body: body}); !strings.Contains(got.problem().Detail, "never runs back") {
			t.Errorf("AA14 %s: %s", body, got.body)
		}
	}
	// AA14: the default session has a clock too, and AA10: other sessions' clocks stand where they stood.
	w.send(call{method: http.MethodPost, path: sessionsPath + "/default/clock", as: editor, body: `{"advance":"1h"}`}).want(http.StatusOK)
	if text := string(w.send(call{method: http.MethodGet, path: clock, as: viewer}).body); !strings.Contains(text, `"offsetMs":0`) {
		t.Errorf("the clock of another session moved: %s", text)
	}
	w.send(call{method: http.MethodPost, path: sessionsPath + "/none/clock", as: editor, body: `{"advance":"-1s"}`}).want(http.StatusNotFound)
}

func TestM192_M193_R4_scenarios_are_seen_and_moved(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	type scenarioJSON struct {
		Name      string   `json:"name"`
		State     string   `json:"state"`
		States    []string `json:"states"`
		Mocks     []string `json:"mocks"`
		ChangedAt *string  `json:"changedAt"`
		ChangedBy *string  `json:"changedBy"`
	}
	in := func(session string) scenarioJSON {
		var list struct {
			Items []scenarioJSON `json:"items"`
		}
		w.send(call{method: http.MethodGet, path: scenariosPath + session, as: viewer}).want(http.StatusOK).into(&list)
		if len(list.Items) != 1 {
			t.Fatalf("scenarios %+v", list)
		}
		return list.Items[0]
	}
	want := scenarioJSON{Name: "checkout", State: "Started", States: []string{"Started", "paid"}, Mocks: []string{"cart", "pay"}}
	if diff := cmp.Diff(want, in("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.calls("/~ci/pay", 1)
	if got := in("?session=ci"); got.State != "paid" || got.ChangedBy == nil || *got.ChangedBy != "pay" || got.ChangedAt == nil {
		t.Errorf("after a call: %+v", got)
	}
	if got := in(""); got.State != "Started" {
		t.Errorf("AA8: another session is at %s", got.State)
	}
	w.send(call{method: http.MethodPut, path: scenariosPath + "/checkout", as: editor, body: `{"state":"paid"}`}).want(http.StatusOK)
	if got := in(""); got.State != "paid" || *got.ChangedBy != w.users[editor].ID || w.calls("/cart", 1) != "closed" {
		t.Errorf("after a move: %+v", got)
	}
	w.send(call{method: http.MethodPut, path: scenariosPath + "/checkout", as: editor, body: `{"state":"Started","session":"ci"}`}).want(http.StatusOK)
	if got := w.calls("/~ci/cart", 1); got != "open" {
		t.Errorf("in the session: %s", got)
	}
	refused := w.send(call{method: http.MethodPut, path: scenariosPath + "/checkout", as: editor, body: `{"state":"payd"}`})
	if p := refused.want(http.StatusUnprocessableEntity).problem(); p.Errors[0].Pointer != "#/state" || p.Errors[0].Suggestion != "paid" {
		t.Errorf("R4: %+v", p.Errors)
	}
	for body, status := range map[string]int{`{"state":"paid","key":"x"}`: 422, `{"session":"ci"}`: 422, `{"state":"paid","session":"none"}`: 404} {
		w.send(call{method: http.MethodPut, path: scenariosPath + "/checkout", as: editor, body: body}).want(status)
	}
	w.send(call{method: http.MethodPut, path: scenariosPath + "/none", as: editor, body: `{"state":"paid"}`}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM194_scenarios_go_back_to_their_initial_states(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	w.calls("/pay", 1)
	w.calls("/~ci/pay", 1)
	w.calls("/steps", 1)
	w.send(call{method: http.MethodPost, path: scenariosPath + "/reset", as: editor, body: `{"names":["none"]}`}).want(http.StatusNotFound)
	if got := w.calls("/cart", 1); got != "closed" {
		t.Errorf("a refused reset moved the scenario: %s", got)
	}
	w.send(call{method: http.MethodPost, path: scenariosPath + "/reset", as: editor}).want(http.StatusOK)
	if got := w.calls("/cart", 1) + w.calls("/~ci/cart", 1) + w.calls("/steps", 1); got != "openclosedtwo" {
		t.Errorf("after the reset: %s", got)
	}
	w.send(call{method: http.MethodPost, path: scenariosPath + "/reset", as: editor, body: `{"session":"ci","names":["checkout"]}`}).want(http.StatusOK)
	if got := w.calls("/~ci/cart", 1); got != "open" {
		t.Errorf("in the session: %s", got)
	}
}

func TestM193_a_scenario_with_a_key_has_a_state_for_each_value(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"scenarios":{"cart":{"key":"query:user"}},"mocks":[
		{"name":"look","request":"GET /look","scenario":"cart","responses":[{"when":{"state":"Started"},"text":"open"},{"when":{"state":"paid"},"text":"closed"}]},
		{"name":"pay","request":"GET /pay","scenario":"cart","response":{"setState":"paid"}}]}`)
	w.send(call{method: http.MethodPut, path: scenariosPath + "/cart", as: editor, body: `{"state":"paid","key":"ada"}`}).want(http.StatusOK)
	if got := w.calls("/look?user=ada", 1) + " " + w.calls("/look?user=bob", 1); got != "closed open" {
		t.Errorf("R6: answered %q", got)
	}
	text := string(w.send(call{method: http.MethodGet, path: scenariosPath, as: viewer}).want(http.StatusOK).body)
	if !strings.Contains(text, `"key":["query:user"]`) || !strings.Contains(text, `"key":"ada","state":"paid"`) {
		t.Errorf("listed: %s", text)
	}
}

// A scenario or a mock may have the name of a word of the API's own.
func TestM3_a_scenario_may_be_called_reset_and_a_mock_bulk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"bulk","request":"GET /bulk","scenario":"reset","response":{"text":"hi","setState":"done"}}`)
	for _, c := range []struct {
		call   call
		status int
	}{
		{call{method: http.MethodPut, path: scenariosPath + "/reset", as: editor, body: `{"state":"done"}`}, http.StatusOK},
		{call{method: http.MethodGet, path: mocksPath + "/bulk", as: viewer}, http.StatusOK},
		{call{method: http.MethodHead, path: mocksPath + "/bulk", as: viewer}, http.StatusOK},
		{call{method: http.MethodDelete, path: mocksPath + "/bulk", as: viewer}, http.StatusForbidden},
		{call{method: http.MethodDelete, path: mocksPath + "/bulk", as: editor}, http.StatusNoContent},
	} {
		// The API document has one address for all names, so that this answer is not held against it.
		got, err := w.server.Client().Do(w.request(t, c.call))
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != c.status {
			t.Errorf("%s %s as %s: status %d", c.call.method, c.call.path, c.call.as, got.StatusCode)
		}
	}
}

func TestM185_without_a_mock_plane_there_is_no_state(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) { o.State = nil })
	w.send(call{method: http.MethodGet, path: sessionsPath, as: owner}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: mocksPath, as: owner}).want(http.StatusOK)
}
