package management_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const slippery = `
scenarios: { door: { initial: closed } }
mocks:
  - { name: users, request: GET /users, response: { text: a } }
  - { name: slashed, request: GET /slashed/, response: { text: a } }
  - { name: deep, request: GET /a/b, response: { text: a } }
  - { name: spaced, request: GET /x/a b, response: { text: a } }
  - { name: json, request: { method: POST, path: /j, body: { json: { a: 1 } } }, response: { text: a } }
  - { name: form, request: { method: POST, path: /f, body: { form: { a: "1" } } }, response: { text: a } }
  - { name: typed, request: { method: POST, path: /t, headers: { Content-Type: application/json } }, response: { text: a } }
  - { name: query, request: { path: /q, query: { Id: "1" } }, response: { text: a } }
  - { name: off, enabled: false, request: GET /off, response: { text: a } }
  - { name: once, request: GET /once, times: 1, response: { text: a } }
  - { name: door, request: GET /door, scenario: door, state: open, response: { text: a } }
  - { name: hosted, request: { path: /host, host: api.test }, response: { text: a } }
  - { name: authed, request: { path: /auth, auth: { basic: { username: ada } } }, response: { text: a } }
`

// TestM5_each_hint_is_told_in_all_places: the answer, the journal, the explanation of the exchange and the trial of a mock
// tell the same.
func TestM5_each_hint_is_told_in_all_places(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyYAML("shop", owner, slippery)
	w.applyYAML("other", stranger, "mocks: [{ name: theirs, request: GET /theirs, response: { text: a } }]")
	for name, c := range map[string]struct {
		// line is method and target, mock the one that was meant, before a request that goes before.
		line, kind, body, mock, want string
		before                       string
	}{
		"trailing slash":    {line: "GET /users/", mock: "users", want: "differs only by a trailing slash"},
		"no trailing slash": {line: "GET /slashed", mock: "slashed", want: "lacks only the trailing slash"},
		"case":              {line: "GET /USERS", mock: "users", want: "letter case"},
		"case of a name":    {line: "GET /q?id=1", mock: "query", want: "letter case"},
		"empty segment":     {line: "GET //users", mock: "users", want: "empty segment"},
		"encoded slash":     {line: "GET /a%2Fb", mock: "deep", want: "encoded slash"},
		"plus":              {line: "GET /x/a+b", mock: "spaced", want: "%20"},
		"fragment":          {line: "GET /q?Id=1#f", mock: "query", want: "fragment"},
		"content type":      {line: "POST /t", kind: "text/plain", body: "{}", mock: "typed", want: "Content-Type: mock"},
		"form without type": {line: "POST /f", kind: "text/plain", body: "a=1", mock: "form", want: "Content-Type: a form"},
		"no JSON":           {line: "POST /j", kind: "application/json", body: "{a:1}", mock: "json", want: "the body is not JSON"},
		"method":            {line: "PUT /users", mock: "users", want: "the method differs: mock \"users\" (/users) answers GET, not PUT"},
		"disabled":          {line: "GET /off", mock: "off", want: "disabled"},
		"used up":           {line: "GET /once", before: "GET /once", mock: "once", want: "exhausted"},
		"state":             {line: "GET /door", mock: "door", want: `is in state "closed"`},
		"host":              {line: "GET /host", mock: "hosted", want: "other host \"api.test\""},
		"credentials":       {line: "GET /auth", mock: "authed", want: "no Authorization header"},
		"other project":     {line: "GET /theirs", mock: "users", want: `another project has a mock for this method and path: check the project in the address, which is "shop"`},
	} {
		if c.before != "" {
			w.hintsOf(t, c.before, "", "")
		}
		told := map[string][]string{"answer": w.hintsOf(t, c.line, c.kind, c.body)}
		told["journal"] = hintsIn(t, w.get(trafficPath+"/latest"))
		told["explain"] = hintsIn(t, w.get(trafficPath+"/latest/explain"))
		method, target, _ := strings.Cut(c.line, " ")
		headers := [][2]string{}
		if c.kind != "" {
			headers = append(headers, [2]string{"Content-Type", c.kind})
		}
		sample, err := json.Marshal(map[string]any{"request": map[string]any{"method": method, "target": target, "headers": headers, "body": c.body}})
		if err != nil {
			t.Fatal(err)
		}
		told["try"] = hintsIn(t, w.post("/mocks/"+c.mock+"/try", viewer, string(sample)).want(http.StatusOK))
		var now struct{ Current struct{ Hints []string } }
		if err := json.Unmarshal(w.get(trafficPath+"/latest/explain").body, &now); err != nil {
			t.Fatal(err)
		}
		told["now"] = now.Current.Hints
		for place, hints := range told {
			if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(h, c.want) }) {
				t.Errorf("%s: the %s has no hint with %q: %q", name, place, c.want, hints)
			}
			if diff := cmp.Diff(told["answer"], hints, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: the hints of the %s (-answer +%s):\n%s", name, place, place, diff)
			}
		}
	}
}

// TestM5_what_others_have_is_not_told: a project that asks for a token is none of the caller's business, and a path that the
// project itself has needs no such hint.
func TestM5_what_others_have_is_not_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyYAML("shop", owner, "mocks: [{ name: both, request: GET /both, response: { text: a } }]")
	w.applyYAML("other", stranger, "mocks: [{ request: GET /theirs, response: { text: a } }, { request: POST /both, response: { text: a } }]")
	for _, line := range []string{"POST /both", "PUT /theirs", "GET /nobody"} {
		if hints := w.hintsOf(t, line, "", ""); slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(h, "another project") }) {
			t.Errorf("%s: %q", line, hints)
		}
	}
	if hints := w.hintsOf(t, "GET /theirs", "", ""); len(hints) != 1 || strings.Contains(hints[0], "other\"") {
		t.Errorf("hints %q", hints)
	}
	w.send(patch("/api/v1/projects/other", stranger, `{"access":"token"}`)).want(http.StatusOK)
	if hints := w.hintsOf(t, "GET /theirs", "", ""); len(hints) != 0 {
		t.Errorf("hints %q of a project that asks for a token", hints)
	}
}

// applyYAML applies a definition in YAML to a project.
func (w *world) applyYAML(project, as, definition string) {
	w.t.Helper()
	at := "/api/v1/projects/" + project + "/definition"
	w.send(call{method: http.MethodPut, path: at, as: as, kind: "application/yaml", body: definition}).want(http.StatusOK)
}

// hintsOf sends a request to a mock of the shop and returns the hints of the answer. The target is sent as it stands.
func (w *world) hintsOf(t *testing.T, line, kind, body string) []string {
	t.Helper()
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, "http://mocks.test/", strings.NewReader(body))
	r.RequestURI = "/m/shop" + target
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer := httptest.NewRecorder()
	w.engine.ServeHTTP(answer, r)
	var got struct{ Hints []string }
	if json.Valid(answer.Body.Bytes()) {
		if err := json.NewDecoder(bytes.NewReader(answer.Body.Bytes())).Decode(&got); err != nil {
			t.Fatal(err)
		}
	}
	return got.Hints
}

func hintsIn(t *testing.T, a *reply) []string {
	t.Helper()
	var got struct{ Hints []string }
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return got.Hints
}

const eventful = `{
	"scenarios":{"door":{"initial":"closed"},"checkout":{"key":"query:u"}},
	"rateLimits":{"partner":{"limit":3,"window":"1m"},"users":{"limit":2,"window":"1m","key":"query:u"}},
	"collections":{"posts":{"path":"/posts","seed":[{"id":1,"title":"first"}]}},
	"mocks":[
		{"name":"steps","request":"GET /steps","select":"sequence","responses":[{"text":"one"},{"text":"two"},{"text":"three"}]},
		{"name":"drawn","request":"GET /drawn","select":"weighted","draw":"exact","responses":[{"text":"a","weight":2},{"text":"b","weight":1}]},
		{"name":"once","request":"GET /once","times":2,"response":{"text":"once"}},
		{"name":"open","request":"POST /door","scenario":"door","state":"closed","response":{"text":"opened","setState":"open"}},
		{"name":"close","request":"POST /door","scenario":"door","state":"open","response":{"text":"closed","setState":"closed"}},
		{"name":"pay","request":"GET /pay","scenario":"checkout","response":{"text":"ok","setState":"paid"}},
		{"name":"named","request":"GET /named","rateLimit":{"use":"partner"},"response":{"text":"hi"}},
		{"name":"mine","request":"GET /mine","rateLimit":[{"use":"users"},"50/10s",{"limit":5,"window":"1d","algorithm":"sliding_window"},{"limit":4,"window":"1h","algorithm":"token_bucket"}],"response":{"text":"me"}},
		{"name":"random","request":"GET /random","response":{"template":true,"text":"{{ uuid }} {{ call }}"}}
	]}`

// TestAA29_explaining_and_trying_change_nothing: whatever the API shows of a project is the same before and after, and so is
// what it answers then.
func TestAA29_explaining_and_trying_change_nothing(t *testing.T) {
	t.Parallel()
	asked, untouched := newWorld(t), newWorld(t)
	lines := []string{
		"GET /steps", "GET /drawn", "GET /once", "POST /door", "GET /pay?u=ada", "GET /named", "GET /mine?u=ada", "GET /random",
		"GET /posts", "GET /posts/1", "POST /posts", "PATCH /posts/1", "DELETE /posts/2", "GET /none", "OPTIONS /steps", "HEAD /steps",
	}
	callAll := func(w *world) []string {
		var answers []string
		for _, line := range lines {
			for _, session := range []string{"", "/~ci"} {
				method, target, _ := strings.Cut(line, " ")
				body := ""
				if strings.HasPrefix(target, "/posts") && method != http.MethodGet {
					body = `{"title":"more"}`
				}
				status, text := w.mocked(method, session+target, body)
				if status < http.StatusBadRequest || status == http.StatusTooManyRequests {
					answers = append(answers, line+" "+session+" "+http.StatusText(status)+" "+text)
				}
			}
		}
		return answers
	}
	for _, w := range []*world{asked, untouched} {
		w.apply(eventful)
		w.send(patch(shopPath, owner, `{"settings":{"seed":"7"}}`)).want(http.StatusOK)
		callAll(w)
	}
	before := asked.everything()
	exchanges := asked.get(trafficPath + "?limit=200").names("id")
	for _, id := range exchanges {
		asked.get(trafficPath + "/" + id + "/explain")
	}
	for _, mock := range asked.get(mocksPath + "?limit=200").names("name") {
		for _, line := range lines {
			method, target, _ := strings.Cut(line, " ")
			for _, session := range []string{"default", "ci", "unborn"} {
				asked.post("/mocks/"+mock+"/try", viewer, `{"session":"`+session+`","request":{"method":"`+method+`","target":"`+target+`",`+
					`"headers":[["Content-Type","application/json"]],"body":"{\"title\":\"tried\"}"}}`).want(http.StatusOK)
			}
		}
	}
	if diff := cmp.Diff(before, asked.everything()); diff != "" {
		t.Errorf("after %d explanations and many trials (-before +after):\n%s", len(exchanges), diff)
	}
	if diff := cmp.Diff(callAll(untouched), callAll(asked)); diff != "" {
		t.Errorf("the next answers (-unasked +asked):\n%s", diff)
	}
}

// everything is what the API shows of the shop's state.
func (w *world) everything() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, path := range []string{
		"", "/mocks?limit=200", "/sessions", "/scenarios", "/scenarios?session=ci", "/collections", "/collections/posts/items",
		"/collections/posts/items?session=ci", "/rate-limits", "/rate-limits?session=ci", "/rate-limits/partner/keys",
		"/rate-limits/users/keys", "/rate-limits/users/keys?session=ci", "/traffic?limit=200&count&facets", "/traffic/latest",
	} {
		all[path] = string(w.get(shopPath + path).body)
	}
	return all
}
