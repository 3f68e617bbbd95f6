package management_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// fullMock has every member of a mock that a patch may remove, each one not at its default.
const fullMock = `{"name":"full","description":"d","folder":"a/b","tags":["t"],"enabled":false,"priority":3,"request":"GET /full",
	"scenario":"s","state":"one","times":2,"select":"sequence","onEnd":"loop","rateLimit":{"limit":3,"window":"1m"},
	"headCounts":false,"readBody":false,"response":{"text":"x"}}`

// TestM11_null_removes_a_member, or the patch is refused: nothing is accepted and ignored.
func TestM11_null_removes_a_member_of_a_mock_or_is_refused(t *testing.T) {
	t.Parallel()
	members := map[string]struct {
		status  int
		code    mockbase.Code
		pointer string
	}{
		"name":        {422, mockbase.CodeValidationFailed, "#/name"},
		"id":          {422, mockbase.CodeValidationFailed, "#/id"},
		"request":     {422, mockbase.CodePatchNotAllowed, "#/request"},
		"response":    {422, mockbase.CodePatchNotAllowed, "#/response"},
		"responses":   {422, mockbase.CodePatchNotAllowed, "#/responses"},
		"prority":     {422, mockbase.CodeValidationFailed, "#/prority"},
		"scenario":    {422, mockbase.CodeValidationFailed, "#/scenario"}, // state needs it
		"select":      {422, mockbase.CodeValidationFailed, "#/onEnd"},
		"description": {status: 200}, "folder": {status: 200}, "tags": {status: 200}, "enabled": {status: 200}, "priority": {status: 200},
		"state": {status: 200}, "times": {status: 200}, "onEnd": {status: 200}, "rateLimit": {status: 200}, "headCounts": {status: 200},
		"readBody": {status: 200}, "draw": {status: 200}, "expect": {status: 200},
	}
	for member, c := range members {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.addMock(fullMock)
			got := w.send(patch(mocksPath+"/full", editor, "{\n\""+member+"\":null}")).want(c.status)
			if c.status == http.StatusOK {
				if _, there := got.json()[member]; there {
					t.Errorf("%s is still there: %s", member, got.body)
				}
				return
			}
			if p := got.problem(); p.Code != c.code || len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || c.pointer == "#/"+member && p.Errors[0].Line != 2 {
				t.Errorf("problem %s", got.body)
			}
			if again := w.send(call{method: http.MethodGet, path: mocksPath + "/full", as: viewer}); again.json()["version"] != float64(before.Version) {
				t.Errorf("a refused patch made %s", again.body)
			}
		})
	}
	var schema struct {
		Defs struct {
			Mock struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"mock"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(mockbase.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.Defs.Mock.Properties) < 15 {
		t.Errorf("the schema lists %d members of a mock", len(schema.Defs.Mock.Properties))
	}
	for member := range schema.Defs.Mock.Properties {
		if _, listed := members[member]; !listed {
			t.Errorf("the member %s is not in the table of this test", member)
		}
	}
}

func TestM11_a_name_is_changed_and_not_removed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	got := w.send(patch(mocksPath+"/hello", editor, `{"name":null,"priority":3}`)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	if e := got.problem().Errors; len(e) != 1 || e[0].Code != mockbase.FieldRequired || !strings.Contains(e[0].Detail, "new name") {
		t.Errorf("errors %+v", e)
	}
	for _, body := range []string{`{"name":""}`, `{"name":1}`, `{"name":{}}`} {
		w.send(patch(mocksPath+"/hello", editor, body)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	}
}

// A null deep inside is judged like one at the top: what is known is removed, what is not is refused.
func TestM11_nulls_inside_members(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","rateLimit":{"limit":3,"window":"1m","cost":2},"response":{}}`)
	project, mock := "/api/v1/projects/shop", mocksPath+"/hello"
	for _, c := range []struct {
		call    call
		pointer string
	}{
		{patch(mock, editor, "{\"rateLimit\":{\n\"csot\":null}}"), "#/rateLimit/csot"},
		{patch(mock, editor, "{\"rateLimit\":{\n\"cost\":null,\"limt\":null}}"), "#/rateLimit/limt"},
		{patch(project, owner, "{\"settings\":{\n\"trailingSlsh\":null}}"), "#/settings/trailingSlsh"},
		{patch(project, owner, "{\"settings\":{\n\"requireIfMach\":null,\"pathCase\":\"ignore\"}}"), "#/settings/requireIfMach"},
	} {
		got := w.send(c.call).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if e := got.problem().Errors; len(e) != 1 || e[0].Pointer != c.pointer || e[0].Code != mockbase.FieldUnknownKey || e[0].Line != 2 || e[0].Suggestion == "" {
			t.Errorf("%s: %s", c.call.body, got.body)
		}
	}
	got := w.send(patch(mock, editor, `{"rateLimit":{"cost":null}}`)).want(http.StatusOK)
	if text := memberText(t, got.body, "rateLimit"); text != `{"limit":3,"window":"1m"}` {
		t.Errorf("rate limit %s", text)
	}
}

// TestM11_null_in_a_project goes through every member that PATCH of a project takes.
func TestM11_null_removes_a_member_of_a_project_or_is_refused(t *testing.T) {
	t.Parallel()
	const standard = `{"persistTraffic":false,"requireIfMatch":false,"redaction":"standard"}`
	for name, c := range map[string]struct {
		body    string
		status  int
		pointer string
		// settings are those after the patch.
		settings string
	}{
		"slug":             {body: `{"slug":null}`, status: 422, pointer: "#/slug"},
		"name":             {body: `{"name":null}`, status: 422, pointer: "#/name"},
		"unknown":          {body: `{"descriptin":null}`, status: 422, pointer: "#/descriptin"},
		"access":           {body: `{"access":null}`, status: 200, settings: `{"pathCase":"ignore","persistTraffic":true,"requireIfMatch":false,"redaction":"standard"}`},
		"description":      {body: `{"description":null}`, status: 200, settings: `{"pathCase":"ignore","persistTraffic":true,"requireIfMatch":false,"redaction":"standard"}`},
		"settings":         {body: `{"settings":null}`, status: 200, settings: standard},
		"a setting":        {body: `{"settings":{"pathCase":null}}`, status: 200, settings: `{"persistTraffic":true,"requireIfMatch":false,"redaction":"standard"}`},
		"a server setting": {body: `{"settings":{"persistTraffic":null}}`, status: 200, settings: `{"pathCase":"ignore","persistTraffic":false,"requireIfMatch":false,"redaction":"standard"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send(patch("/api/v1/projects/shop", owner, `{"description":"d","settings":{"pathCase":"ignore","persistTraffic":true}}`)).want(http.StatusOK)
			got := w.send(patch("/api/v1/projects/shop", owner, c.body)).want(c.status)
			if c.status != http.StatusOK {
				if e := got.problem().Errors; len(e) != 1 || e[0].Pointer != c.pointer {
					t.Errorf("errors %s", got.body)
				}
				return
			}
			if text := memberText(t, got.body, "settings"); text != c.settings {
				t.Errorf("settings %s, want %s", text, c.settings)
			}
			if now := got.json(); name == "description" && now["description"] != "" || now["access"] != "public" || now["name"] != "shop" {
				t.Errorf("project %s", got.body)
			}
		})
	}
}
