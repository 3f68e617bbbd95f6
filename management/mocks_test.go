package management_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const mocksPath = "/api/v1/projects/shop/mocks"

func post(body string) call {
	return call{method: http.MethodPost, path: mocksPath, as: editor, body: body}
}

// TestY4 and Y2: what was put comes back, with number text, member order, header case and shorthand forms.
func TestY4_a_mock_comes_back_as_it_was_put(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	document := `{"name":"price","request":"GET /price","response":{"headers":{"x-CaSe":"1"},"json":{"b":2.50,"a":1e3,"html":"<b>&"}}}`
	got := w.send(post(document)).want(http.StatusCreated)
	if got.header.Get("Location") != mocksPath+"/price" || got.header.Get("ETag") != `"v1"` {
		t.Errorf("Location %q, ETag %q", got.header.Get("Location"), got.header.Get("ETag"))
	}
	read := w.send(call{method: http.MethodGet, path: got.header.Get("Location"), as: viewer}).want(http.StatusOK)
	if !strings.HasPrefix(string(read.body), strings.TrimSuffix(document, "}")+`,"id":"mck_`) {
		t.Errorf("got %s", read.body)
	}
	m := read.json()
	if m["project"] != "shop" || m["version"] != 1.0 || m["updatedBy"] != w.users[editor].ID || m["source"] != nil || m["readOnly"] != false ||
		m["urls"].(map[string]any)["path"] != w.server.URL+"/m/shop/price" {
		t.Errorf("members %s", read.body)
	}
	// What GET gave can be sent back by PUT, and changes nothing (rule M-8).
	again := w.send(call{method: http.MethodPut, path: mocksPath + "/price", as: editor, body: string(read.body)}).want(http.StatusOK)
	if again.header.Get("ETag") != `"v1"` {
		t.Errorf("writing back made %s", again.header.Get("ETag"))
	}
}

func TestM141_a_mock_is_taken_and_given_as_YAML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "request: GET /users/{id}\nresponse:\n  json: { price: 2.50 } # a comment\n"
	for _, kind := range []string{"application/yaml", "application/x-yaml", "text/yaml; charset=utf-8"} {
		got := w.send(call{method: http.MethodPost, path: mocksPath, as: editor, kind: kind, body: text, header: map[string]string{"Accept": "application/yaml"}}).want(http.StatusCreated)
		if got.header.Get("Content-Type") != "application/yaml" || !strings.Contains(string(got.body), "price: 2.50") {
			t.Errorf("%s: %s %s", kind, got.header.Get("Content-Type"), got.body)
		}
	}
	// Mock format, section 4: a clash of made-up names adds a number.
	list := w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).want(http.StatusOK)
	if diff := cmp.Diff([]string{"get-users-id", "get-users-id-2", "get-users-id-3"}, list.names("name")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	broken := w.send(call{method: http.MethodPost, path: mocksPath, as: editor, kind: "application/yaml", body: "request: GET /x\nresponse: {status: 99}\nrespons: {}\n"})
	broken.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	got := map[string]int{}
	for _, e := range broken.problem().Errors {
		got[e.Pointer] = e.Line
	}
	if diff := cmp.Diff(map[string]int{"#/response/status": 2, "#/respons": 3}, got); diff != "" {
		t.Errorf("lines of errors (-want +got):\n%s", diff)
	}
}

func TestY3_invalid_mocks_are_refused_with_all_errors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   mockbase.Code
		field  mockbase.Code
	}{
		"malformed":      {"{\n  \"request\": GET", 400, mockbase.CodeMalformedBody, "syntax"},
		"duplicate key":  {`{"request":"GET /a","request":"GET /b","response":{}}`, 422, mockbase.CodeValidationFailed, "duplicate_key"},
		"10,000 arrays":  {strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), 400, mockbase.CodeMalformedBody, "limit"},
		"unknown key":    {`{"request":"GET /a","respons":{},"response":{}}`, 422, mockbase.CodeValidationFailed, "unknown_key"},
		"bad path":       {`{"request":"GET /a/{","response":{}}`, 422, mockbase.CodeValidationFailed, "syntax"},
		"status 99":      {`{"request":"GET /a","response":{"status":99}}`, 422, mockbase.CodeValidationFailed, "range"},
		"CR in a header": {`{"request":"GET /a","response":{"headers":{"X":"a\r\nb"}}}`, 422, mockbase.CodeValidationFailed, "pattern"},
		"no request":     {`{"response":{}}`, 422, mockbase.CodeValidationFailed, "required"},
		"not served":     {`{"request":"GET /a","response":{"fault":"reset"}}`, 422, mockbase.CodeValidationFailed, "not_served"},
		"text":           {`"GET /a"`, 422, mockbase.CodeValidationFailed, "type"},
	} {
		got := w.send(post(c.body))
		if got.status != c.status || got.problem().Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
			continue
		}
		errs := got.problem().Errors
		if len(errs) != 1 || errs[0].Code != c.field || errs[0].Line < 1 || errs[0].Column < 1 {
			t.Errorf("%s: errors %+v", name, errs)
		}
	}
	if got := w.send(post("{\n  \"request\": GET")).problem(); got.Errors[0].Line != 2 || got.Errors[0].Column != 14 {
		t.Errorf("place of malformed JSON: %+v", got.Errors)
	}
	if len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")) != 0 {
		t.Error("something was stored")
	}
}

func TestY2_names_are_unique_and_deleted_mocks_are_gone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`
	w.send(post(body)).want(http.StatusCreated)
	w.send(post(body)).want(http.StatusConflict, mockbase.CodeNameTaken)
	path := mocksPath + "/hello"
	w.send(call{method: http.MethodPut, path: path, as: editor, body: strings.Replace(body, "hello", "other", 1)}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	w.send(call{method: http.MethodPut, path: mocksPath + "/nope", as: editor, body: body}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodDelete, path: path, as: editor}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: path, as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: path, as: editor}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM10_versions_are_compared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
	path := mocksPath + "/hello"
	put := func(text string, header map[string]string) *reply {
		return w.send(call{method: http.MethodPut, path: path, as: editor, body: `{"request":"GET /hello","response":{"text":"` + text + `"}}`, header: header})
	}
	if got := put("one", map[string]string{"If-Match": `"v1"`}).want(http.StatusOK); got.header.Get("ETag") != `"v2"` {
		t.Errorf("ETag %s", got.header.Get("ETag"))
	}
	for name, match := range map[string]string{"stale": `"v1"`, "weak": `W/"v2"`, "unknown": `"abc"`, "newer": `"v3"`, "none of several": `"v1", "v9"`, "empty": ``} {
		got := put("two", map[string]string{"If-Match": match})
		if got.status != http.StatusPreconditionFailed || got.problem().CurrentVersion != 2 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for i, match := range []string{`*`, `"v3"`, `"v9", "v4"`, `"v5"`, `"6"`} {
		put(fmt.Sprint("next", i), map[string]string{"If-Match": match}).want(http.StatusOK)
	}
	put("last write wins", nil).want(http.StatusOK)
	// A8: the mock keeps its id.
	if got := w.send(call{method: http.MethodGet, path: path, as: viewer}).want(http.StatusOK).json(); got["id"] != m.ID || got["version"] != 8.0 {
		t.Errorf("mock %v", got)
	}
	for match, status := range map[string]int{`"v8"`: 304, `W/"v8"`: 304, `*`: 304, `"v7"`: 200} {
		w.send(call{method: http.MethodGet, path: path, as: viewer, header: map[string]string{"If-None-Match": match}}).want(status)
	}
	w.send(call{method: http.MethodDelete, path: path, as: editor, header: map[string]string{"If-Match": `"v7"`}}).want(http.StatusPreconditionFailed)
	w.send(call{method: http.MethodDelete, path: path, as: editor, header: map[string]string{"If-Match": `"v8"`}}).want(http.StatusNoContent)
}

func TestM10_PUT_creates_with_a_star(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	star := map[string]string{"If-None-Match": "*"}
	put := func(name, body string) *reply {
		return w.send(call{method: http.MethodPut, path: mocksPath + "/" + name, as: editor, body: body, header: star})
	}
	got := put("fresh", `{"request":"GET /fresh","response":{}}`).want(http.StatusCreated)
	if got.header.Get("Location") != mocksPath+"/fresh" || got.json()["name"] != "fresh" {
		t.Errorf("%s: %s", got.header.Get("Location"), got.body)
	}
	there := put("fresh", `{"request":"GET /fresh","response":{}}`).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if p := there.problem(); !strings.Contains(p.Detail, `"fresh" exists already`) || strings.Contains(p.Detail, "somebody") || p.CurrentVersion != 1 {
		t.Errorf("problem %s", there.body)
	}
	put("named", `{"name":"named","request":"GET /named","response":{}}`).want(http.StatusCreated)
	put("one", `{"name":"two","request":"GET /x","response":{}}`).want(http.StatusUnprocessableEntity)
	put("Not%20A%20Slug", `{"request":"GET /x","response":{}}`).want(http.StatusUnprocessableEntity)
	put("mck_1", `{"request":"GET /x","response":{}}`).want(http.StatusUnprocessableEntity)
}

func TestM8_an_id_that_is_not_the_address_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	body := `{"id":"mck_other","request":"GET /hello","response":{}}`
	for _, c := range []call{
		{method: http.MethodPut, path: mocksPath + "/hello", as: editor, body: body},
		patch(mocksPath+"/hello", editor, `{"id":"mck_other"}`),
	} {
		got := w.send(c).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if e := got.problem().Errors; len(e) != 1 || e[0].Pointer != "#/id" || e[0].Line != 1 {
			t.Errorf("%s: errors %+v", c.method, e)
		}
	}
	w.send(call{method: http.MethodPut, path: mocksPath + "/" + m.ID, as: editor, body: strings.Replace(body, "mck_other", m.ID, 1)}).want(http.StatusOK)
}

func TestM144_a_merge_patch_changes_and_renames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","tags":["a","b"],"priority":3,"response":{"json":{"n":1.0}}}`)
	w.addMock(`{"name":"taken","request":"GET /taken","response":{}}`)
	got := w.send(patch(mocksPath+"/hello", editor, `{"name":"renamed","tags":["c"],"priority":null,"enabled":false}`)).want(http.StatusOK)
	if !strings.HasPrefix(string(got.body), `{"name":"renamed","request":"GET /hello","tags":["c"],"response":{"json":{"n":1.0}},"enabled":false,"id":`) {
		t.Errorf("got %s", got.body)
	}
	w.send(patch(mocksPath+"/renamed", editor, `{"name":"taken"}`)).want(http.StatusConflict, mockbase.CodeNameTaken)
	for _, body := range []string{`{"request":"GET /x"}`, `{"response":null}`, `{"responses":[]}`, `{"request":{"path":"/x"},"response":{}}`} {
		refused := w.send(patch(mocksPath+"/renamed", editor, body)).want(http.StatusUnprocessableEntity, mockbase.CodePatchNotAllowed)
		if p := refused.problem(); !strings.Contains(p.Detail, "PUT") || len(p.Errors) == 0 || p.Errors[0].Line != 1 {
			t.Errorf("%s: %s", body, refused.body)
		}
	}
	for name, c := range map[string]struct {
		body    string
		pointer string
		line    int
	}{
		"unknown":      {"{\n\"prority\":1}", "#/prority", 2},
		"out of range": {"{\n\n\"priority\":5000}", "#/priority", 3},
		"no object":    {`1`, "#", 1},
	} {
		refused := w.send(patch(mocksPath+"/renamed", editor, c.body)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if e := refused.problem().Errors; len(e) != 1 || e[0].Pointer != c.pointer || e[0].Line != c.line {
			t.Errorf("%s: %+v", name, e)
		}
	}
	w.send(call{method: http.MethodPatch, path: mocksPath + "/renamed", as: editor, body: `{}`}).want(http.StatusUnsupportedMediaType)
}

func TestM11_merge_patches_follow_RFC_7396(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"n":2.50}`, `{"m":1e3}`, `{"n":2.50,"m":1e3}`},
	} {
		got, err := management.Merge([]byte(c.target), []byte(c.patch))
		if err != nil || got != c.want {
			t.Errorf("%s with %s: %s (%v), want %s", c.target, c.patch, got, err, c.want)
		}
	}
}

func TestM77_a_mock_of_a_source_is_changed_with_takeOver_only(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apply := `{"mocks":[{"name":"owned","request":"GET /owned","response":{}}]}`
	w.send(call{method: http.MethodPut, path: "/api/v1/projects/shop/definition?source=repo", as: editor, body: apply}).want(http.StatusOK)
	path := mocksPath + "/owned"
	body := `{"request":"GET /owned","response":{"text":"x"}}`
	for _, c := range []call{
		{method: http.MethodPut, path: path, as: editor, body: body},
		patch(path, editor, `{"priority":1}`),
		{method: http.MethodDelete, path: path, as: editor},
	} {
		got := w.send(c).want(http.StatusConflict, mockbase.CodeManagedBySource)
		if !strings.Contains(got.problem().Detail, "repo") {
			t.Errorf("%s does not name the source: %s", c.method, got.body)
		}
	}
	if got := w.send(call{method: http.MethodPut, path: path + "?takeOver=true", as: editor, body: body}).want(http.StatusOK).json(); got["source"] != nil {
		t.Errorf("the source is still %v", got["source"])
	}
	w.send(call{method: http.MethodDelete, path: path + "?takeOver=maybe", as: editor}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	w.send(call{method: http.MethodDelete, path: path, as: editor}).want(http.StatusNoContent)
}

func TestM77_mocks_of_files_are_read_only(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "mocks:\n  - name: filed\n    request: GET /filed\n    response: {}\n"
	d, err := mockbase.DecodeDefinition([]byte(text), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.catalog.LoadFiles(t.Context(), "files", d, "/srv/mocks"); err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/projects/files"
	got := w.send(call{method: http.MethodGet, path: path + "/mocks/filed", as: admin}).want(http.StatusOK).json()
	if got["readOnly"] != true || !strings.Contains(fmt.Sprint(got["source"]), "/srv/mocks:2") {
		t.Errorf("mock %v", got)
	}
	if p := w.send(call{method: http.MethodGet, path: path, as: admin}).want(http.StatusOK).json(); p["readOnly"] != true || p["source"] != "/srv/mocks" {
		t.Errorf("project %v", p)
	}
	for _, c := range []call{
		{method: http.MethodPost, path: path + "/mocks", as: admin, body: `{"request":"GET /x","response":{}}`},
		{method: http.MethodPut, path: path + "/mocks/filed?takeOver=true", as: admin, body: `{"request":"GET /x","response":{}}`},
		patch(path+"/mocks/filed?takeOver=true", admin, `{"priority":1}`),
		{method: http.MethodDelete, path: path + "/mocks/filed?takeOver=true", as: admin},
		{method: http.MethodPut, path: path + "/definition?adopt=true", as: admin, body: `{"mocks":[]}`},
		patch(path, admin, `{"name":"x"}`),
		{method: http.MethodDelete, path: path + "?confirm=files", as: admin},
	} {
		got := w.send(c).want(http.StatusConflict, mockbase.CodeManagedBySource)
		if !strings.Contains(got.problem().Detail, "/srv/mocks") {
			t.Errorf("%s %s: %s", c.method, c.path, got.body)
		}
	}
}

func TestM140_lists_are_filtered_sorted_and_cut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, document := range []string{
		`{"name":"b","request":"POST /orders","priority":5,"tags":["x"],"folder":"shop/orders","description":"Makes an order","response":{}}`,
		`{"name":"a","request":"GET /users","priority":-1,"folder":"shop","enabled":false,"response":{}}`,
		`{"name":"c","request":"GET /users","tags":["x","y"],"response":{"text":"` + strings.Repeat("é", 3000) + `"}}`,
	} {
		w.addMock(document)
	}
	w.clock.Advance(1)
	w.send(call{method: http.MethodPut, path: "/api/v1/projects/shop/definition?source=repo", as: editor, body: `{"mocks":[{"name":"d","request":"ANY /d","response":{}}]}`}).want(http.StatusOK)
	for query, want := range map[string][]string{
		"":                    {"a", "b", "c", "d"},
		"?sort=-name":         {"d", "c", "b", "a"},
		"?sort=priority":      {"a", "c", "d", "b"},
		"?sort=path":          {"d", "b", "a", "c"},
		"?tag=x":              {"b", "c"},
		"?folder=shop":        {"a", "b"},
		"?folder=sho":         {},
		"?method=get":         {"a", "c"},
		"?enabled=false":      {"a"},
		"?enabled=true":       {"b", "c", "d"},
		"?source=repo":        {"d"},
		"?q=ORDER":            {"b"},
		"?warning=tie":        {"a", "c"},
		"?q=users&tag=y":      {"c"},
		"?limit=2":            {"a", "b"},
		"?limit=2&sort=-path": {"c", "a"},
	} {
		got := w.send(call{method: http.MethodGet, path: mocksPath + query, as: viewer}).want(http.StatusOK).names("name")
		if query == "?sort=priority" || query == "?sort=path" || query == "?limit=2&sort=-path" {
			got = sortedTies(got, want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	var list struct {
		Items []struct {
			Name      string
			Truncated bool
			Response  struct{ Text string }
		} `json:"items"`
		Total int `json:"total"`
	}
	w.send(call{method: http.MethodGet, path: mocksPath + "?count=true&limit=3", as: viewer}).want(http.StatusOK).into(&list)
	if c := list.Items[2]; !c.Truncated || len(c.Response.Text) > 4096 || !utf8.ValidString(c.Response.Text) || list.Items[0].Truncated || list.Total != 4 {
		t.Errorf("total %d, mock %s truncated %v with %d bytes", list.Total, c.Name, c.Truncated, len(c.Response.Text))
	}
}

// sortedTies is got in the order of want where both hold the same names: items that are equal in the sorted member come
// in the order of their random ids.
func sortedTies(got, want []string) []string {
	if len(got) != len(want) {
		return got
	}
	for _, name := range want {
		if !strings.Contains(strings.Join(got, " "), name) {
			return got
		}
	}
	return want
}

func TestM13_a_cursor_stays_right_while_mocks_come_and_go(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"b", "d", "f", "h", "j"} {
		w.addMock(`{"name":"` + name + `","request":"GET /` + name + `","response":{}}`)
	}
	first := w.send(call{method: http.MethodGet, path: mocksPath + "?limit=2", as: viewer}).want(http.StatusOK)
	w.addMock(`{"name":"a","request":"GET /a","response":{}}`)
	w.addMock(`{"name":"e","request":"GET /e","response":{}}`)
	w.send(call{method: http.MethodDelete, path: mocksPath + "/d", as: editor}).want(http.StatusNoContent)
	link := first.header.Get("Link")
	next, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok {
		t.Fatalf("Link %q", link)
	}
	second := w.send(call{method: http.MethodGet, path: next, as: viewer}).want(http.StatusOK)
	if diff := cmp.Diff([]string{"e", "f"}, second.names("name")); diff != "" {
		t.Errorf("second page (-want +got):\n%s", diff)
	}
	third := w.send(call{method: http.MethodGet, path: mocksPath + "?limit=2&cursor=" + second.json()["nextCursor"].(string), as: viewer}).want(http.StatusOK)
	if diff := cmp.Diff([]string{"h", "j"}, third.names("name")); diff != "" || third.json()["nextCursor"] != nil || third.header.Get("Link") != "" {
		t.Errorf("third page: %s\n%s", third.body, diff)
	}
	for _, cursor := range []string{"rubbish", "e30", "%00", second.json()["nextCursor"].(string) + "&sort=-name"} {
		w.send(call{method: http.MethodGet, path: mocksPath + "?cursor=" + cursor, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidCursor)
	}
}

func TestM15_parallel_creates_all_succeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { w.send(post(`{"request":"GET /same","response":{}}`)) })
	}
	group.Wait()
	if got := len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).want(http.StatusOK).names("name")); got != 20 {
		t.Errorf("%d mocks, want 20", got)
	}
}

func TestM62_warnings_name_the_neighbours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"first","request":"GET /x","response":{}}`)
	got := w.send(post(`{"name":"second","request":"GET /x","response":{"status":204,"text":"dropped"}}`)).want(http.StatusCreated)
	var m struct {
		Warnings []struct{ Code, Detail, Pointer string } `json:"warnings"`
	}
	got.into(&m)
	codes := map[string]string{}
	for _, one := range m.Warnings {
		codes[one.Code] = one.Detail
	}
	if !strings.Contains(codes["tie"], "first") || codes["body_dropped"] == "" {
		t.Errorf("warnings %+v", m.Warnings)
	}
}

func TestM62_stats_come_from_the_journal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	for range 3 {
		x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock)
		x.Mock = mockbase.MockRef{ID: m.ID, Name: m.Name, Version: m.Version}
		w.journal.Record(x)
	}
	got := w.send(call{method: http.MethodGet, path: mocksPath + "/hello", as: viewer}).want(http.StatusOK)
	if text := memberText(t, got.body, "stats"); text != `{"calls":3,"calls24h":3,"lastCallAt":"2026-03-01T12:00:00.000Z"}` {
		t.Errorf("stats %s", text)
	}
	w.addMock(`{"name":"quiet","request":"GET /quiet","response":{}}`)
	if names := w.send(call{method: http.MethodGet, path: mocksPath + "?sort=-calls", as: viewer}).names("name"); names[0] != "hello" {
		t.Errorf("by calls: %v", names)
	}
}

func TestM9_bodies_are_bounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	big := `{"request":"GET /big","response":{"text":"` + strings.Repeat("x", 2<<20) + `"}}`
	w.send(post(big)).want(http.StatusCreated) // a mock may have 16 MiB
	w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: editor, body: big}).want(http.StatusRequestEntityTooLarge, mockbase.CodeBodyTooLarge)
	// A body that does not say how long it is.
	r := w.request(t, call{method: http.MethodPost, path: "/api/v1/projects", as: editor, body: big})
	r.ContentLength = -1
	got, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: status %d", got.StatusCode)
	}
	w.send(call{method: http.MethodPost, path: mocksPath, as: editor, body: gzipped(t, `{"name":"packed","request":"GET /p","response":{}}`), header: map[string]string{"Content-Encoding": "gzip"}}).want(http.StatusCreated)
	bomb := gzipped(t, strings.Repeat(" ", 20<<20))
	w.send(call{method: http.MethodPost, path: mocksPath, as: editor, body: bomb, header: map[string]string{"Content-Encoding": "gzip"}}).want(http.StatusRequestEntityTooLarge, mockbase.CodeBodyTooLarge)
	odd := w.send(call{method: http.MethodPost, path: mocksPath, as: editor, body: `{}`, header: map[string]string{"Content-Encoding": "br"}}).want(http.StatusUnsupportedMediaType)
	if odd.header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("Accept-Encoding is %q", odd.header.Get("Accept-Encoding"))
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestM140_long_bodies_are_cut_at_characters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a", 5000), strings.Repeat("é", 3000), strings.Repeat("😀", 2000), "a" + strings.Repeat("😀", 2000), strings.Repeat("\ufffd", 2000)} {
		if got := management.CutText(text); len(got) > 4096 || len(got) < 4090 || !utf8.ValidString(got) || !strings.HasPrefix(text, got) {
			t.Errorf("%.8q: cut to %d bytes", text, len(got))
		}
	}
}

func FuzzReadCursor(f *testing.F) {
	f.Add("eyJzIjoibmFtZSIsImEiOnsidCI6ImIiLCJpIjoibWNrXzEifX0")
	f.Add("e30")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if err := management.ReadCursor(text); err != nil && mockbase.ErrorCode(err) != mockbase.CodeInvalidCursor {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1}}`), []byte(`{"a":{"b":null,"c":2.50}}`))
	f.Add([]byte(`[]`), []byte(`null`))
	f.Fuzz(func(t *testing.T, target, patch []byte) {
		once, err := management.Merge(target, patch)
		if err != nil {
			return
		}
		if twice, err := management.Merge([]byte(once), patch); err != nil || twice != once {
			t.Errorf("applied again: %s, %s (%v)", once, twice, err)
		}
	})
}
