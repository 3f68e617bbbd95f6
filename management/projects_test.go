package management_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

func TestM131_a_project_is_created_by_whoever_is_signed_in(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"new","name":"New","description":"d","settings":{"trailingSlash":"ignore","persistTraffic":true}}`})
	got.want(http.StatusCreated)
	if got.header.Get("Location") != "/api/v1/projects/new" || got.header.Get("ETag") != `"v1"` {
		t.Errorf("Location %q, ETag %q", got.header.Get("Location"), got.header.Get("ETag"))
	}
	p := got.json()
	if p["role"] != "owner" || p["access"] != "public" || p["readOnly"] != false || p["urls"].(map[string]any)["path"] != w.server.URL+"/m/new" {
		t.Errorf("project %s", got.body)
	}
	want := `{"trailingSlash":"ignore","persistTraffic":true,"requireIfMatch":false,"redaction":"standard"}`
	if settings := memberText(t, got.body, "settings"); settings != want {
		t.Errorf("settings %s", settings)
	}
	// What GET gave can be sent back (rule M-8).
	text := w.send(call{method: http.MethodGet, path: got.header.Get("Location"), as: member}).want(http.StatusOK).body
	again := w.send(call{method: http.MethodPatch, path: "/api/v1/projects/new", as: member, kind: "application/merge-patch+json", body: string(text)})
	again.want(http.StatusOK)
	if again.header.Get("ETag") != `"v1"` {
		t.Errorf("writing back what was read made %s", again.header.Get("ETag"))
	}
}

func memberText(t *testing.T, text []byte, name string) string {
	t.Helper()
	n, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil || n.Find(name) == nil {
		t.Fatalf("no member %s in %s (%v)", name, text, err)
	}
	return string(n.Find(name).JSON())
}

func TestM131_what_is_wrong_is_told_with_pointer_and_place(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type fault struct {
		Pointer string
		Code    mockbase.Code
	}
	for name, c := range map[string]struct {
		body string
		want []fault
	}{
		"empty":             {`{}`, []fault{{"#/slug", "required"}, {"#/name", "required"}}},
		"bad slug":          {`{"slug":"Not Good","name":"x"}`, []fault{{"#/slug", "pattern"}}},
		"id as slug":        {`{"slug":"prj_1","name":"x"}`, []fault{{"#/slug", "pattern"}}},
		"slug too long":     {`{"slug":"` + strings.Repeat("a", 65) + `","name":"x"}`, []fault{{"#/slug", "pattern"}}},
		"empty name":        {`{"slug":"x","name":" "}`, []fault{{"#/name", "limit"}}},
		"long description":  {`{"slug":"x","name":"x","description":"` + strings.Repeat("d", 4001) + `"}`, []fault{{"#/description", "limit"}}},
		"unknown":           {`{"slug":"x","name":"x","desciption":"d"}`, []fault{{"#/desciption", "unknown_key"}}},
		"another access":    {`{"slug":"x","name":"x","access":"private"}`, []fault{{"#/access", "enum"}}},
		"unknown access":    {`{"slug":"x","name":"x","access":"private"}`, []fault{{"#/access", "enum"}}},
		"sample":            {`{"slug":"x","name":"x","sample":"rate-limit"}`, []fault{{"#/sample", "enum"}}},
		"unknown setting":   {`{"slug":"x","name":"x","settings":{"trailingslash":"ignore"}}`, []fault{{"#/settings/trailingslash", "unknown_key"}}},
		"wrong setting":     {`{"slug":"x","name":"x","settings":{"trailingSlash":"maybe"}}`, []fault{{"#/settings/trailingSlash", "enum"}}},
		"settings no map":   {`{"slug":"x","name":"x","settings":[]}`, []fault{{"#/settings", "type"}}},
		"no redaction":      {`{"slug":"x","name":"x","settings":{"redaction":"none"}}`, []fault{{"#/settings/redaction", "enum"}}},
		"retention":         {`{"slug":"x","name":"x","settings":{"retention":{"maxCount":0,"maxAge":"1ms"}}}`, []fault{{"#/settings/retention/maxCount", "range"}, {"#/settings/retention/maxAge", "range"}}},
		"redacted headers":  {`{"slug":"x","name":"x","settings":{"redactHeaders":["a b"]}}`, []fault{{"#/settings/redactHeaders", "pattern"}}},
		"a header twice":    {`{"slug":"x","name":"x","settings":{"redactHeaders":["x-a","X-A"]}}`, []fault{{"#/settings/redactHeaders", "unique"}}},
		"allowed upstreams": {`{"slug":"x","name":"x","settings":{"upstreamAllow":["10.0.0.0/33","http://a.test"]}}`, []fault{{"#/settings/upstreamAllow", "pattern"}, {"#/settings/upstreamAllow", "pattern"}}},
		"an upstream twice": {`{"slug":"x","name":"x","settings":{"upstreamAllow":["a.test","A.test."]}}`, []fault{{"#/settings/upstreamAllow", "unique"}}},
		"no upstream":       {`{"slug":"x","name":"x","settings":{"upstreamAllow":[]}}`, []fault{{"#/settings/upstreamAllow", "limit"}}},
		"blanks":            {`{"slug":"x","name":"x","settings":{"upstreamAllow":[" loopback "]}}`, []fault{{"#/settings/upstreamAllow", "pattern"}}},
		"no upstream list":  {`{"slug":"x","name":"x","settings":{"upstreamAllow":"a.test"}}`, []fault{{"#/settings/upstreamAllow", "type"}}},
		"not served yet":    {`{"slug":"x","name":"x","settings":{"compress":true}}`, []fault{{"#/settings/compress", "not_served"}}},
		"two at once":       {`{"slug":"X","name":""}`, []fault{{"#/slug", "pattern"}, {"#/name", "limit"}}},
		"wrong kinds":       {`{"slug":1,"name":true}`, []fault{{"#/slug", "type"}, {"#/name", "type"}}},
		"server's settings": {`{"slug":"x","name":"x","settings":{"persistTraffic":"yes"}}`, []fault{{"#/settings/persistTraffic", "type"}}},
	} {
		got := w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: c.body})
		if got.status != http.StatusUnprocessableEntity || got.problem().Code != mockbase.CodeValidationFailed {
			t.Errorf("%s: %d %s", name, got.status, got.body)
			continue
		}
		var faults []fault
		for _, e := range got.problem().Errors {
			faults = append(faults, fault{e.Pointer, e.Code})
			if e.Line < 1 || e.Column < 1 || e.Detail == "" {
				t.Errorf("%s: fault without place or detail: %+v", name, e)
			}
		}
		if diff := cmp.Diff(c.want, faults); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"x","name":"x","desciption":"d"}`}); got.problem().Errors[0].Suggestion != "description" {
		t.Errorf("no suggestion: %s", got.body)
	}
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/x", as: admin}).want(http.StatusNotFound)
}

func TestM131_names_and_quotas_are_conflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"shop","name":"x"}`}).want(http.StatusConflict, mockbase.CodeNameTaken)
	for i := range 6 {
		w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"p` + strconv.Itoa(i) + `","name":"x"}`}).want(http.StatusCreated)
	}
	full := w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"more","name":"x"}`}).want(http.StatusConflict, mockbase.CodeQuotaReached)
	if q := full.problem().Quota; q == nil || q.Name != "maxProjects" || q.Limit != 8 || q.Used != 8 {
		t.Errorf("quota %+v", q)
	}
}

func TestM130_everybody_lists_what_they_see(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for caller, want := range map[string][]string{viewer: {"shop"}, owner: {"shop"}, member: {}, stranger: {"other"}, admin: {"other", "shop"}} {
		got := w.send(call{method: http.MethodGet, path: "/api/v1/projects", as: caller}).want(http.StatusOK)
		if diff := cmp.Diff(want, got.names("slug")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", caller, diff)
		}
	}
	for query, want := range map[string][]string{
		"?q=OTH": {"other"}, "?q=none": {}, "?sort=-slug": {"shop", "other"}, "?sort=createdAt": {"shop", "other"}, "?limit=1": {"other"},
		"?sort=-name": {"shop", "other"}, "?sort=updatedAt": {"shop", "other"},
	} {
		got := w.send(call{method: http.MethodGet, path: "/api/v1/projects" + query, as: admin}).want(http.StatusOK).names("slug")
		if query == "?sort=createdAt" || query == "?sort=updatedAt" {
			continue // both were made at one instant: their ids decide
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestM132_a_project_is_found_by_slug_and_by_id(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bySlug := w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: viewer}).want(http.StatusOK)
	byID := w.send(call{method: http.MethodGet, path: "/api/v1/projects/" + w.shop.ID, as: viewer}).want(http.StatusOK)
	if string(bySlug.body) != string(byID.body) || bySlug.json()["role"] != "viewer" {
		t.Errorf("%s\n%s", bySlug.body, byID.body)
	}
	// M-10
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: viewer, header: map[string]string{"If-None-Match": `"v1"`}}).want(http.StatusNotModified)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: viewer, header: map[string]string{"If-None-Match": `W/"v1", "v9"`}}).want(http.StatusNotModified)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: viewer, header: map[string]string{"If-None-Match": `"v2"`}}).want(http.StatusOK)
}

func TestM61_counts_say_what_happens_in_a_project(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"on","request":"GET /on","response":{}}`)
	w.addMock(`{"name":"off","request":"GET /off","response":{},"enabled":false}`)
	now := w.clock.Now()
	for i, by := range []mockbase.AnsweredBy{mockbase.AnsweredByMock, mockbase.AnsweredByUnmatched, mockbase.AnsweredBySimulatedLimit} {
		w.journal.Record(exchange(w.shop.ID, now.Add(-time.Duration(i)*time.Hour), by))
	}
	var p struct {
		Counts map[string]int `json:"counts"`
	}
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: viewer}).want(http.StatusOK).into(&p)
	want := map[string]int{"mocks": 2, "enabledMocks": 1, "callsPerMinute": 1, "unmatched24h": 1, "limited24h": 1}
	if diff := cmp.Diff(want, p.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// exchange is a recorded request of a client.
func exchange(projectID string, when time.Time, by mockbase.AnsweredBy) *mockbase.Exchange {
	return &mockbase.Exchange{
		ID: mockbase.NewID(mockbase.PrefixExchange, when), ProjectID: projectID, At: when, AnsweredBy: by,
		Request:  mockbase.RecordedRequest{Method: http.MethodGet, Target: "/m/shop/hello?a=1", Path: "/hello", RawQuery: "a=1", Proto: "HTTP/1.1", Host: "localhost"},
		Response: mockbase.RecordedResponse{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("hi"), BodySize: 2},
		Client:   mockbase.Client{IP: netip.MustParseAddr("192.0.2.1"), UserAgent: "test"}, Duration: 1500 * time.Microsecond,
	}
}

func patch(path, as, body string) call {
	return call{method: http.MethodPatch, path: path, as: as, kind: "application/merge-patch+json", body: body}
}

func TestM133_an_owner_changes_a_project(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(patch("/api/v1/projects/shop", owner, `{"name":"Shop","description":"d","settings":{"pathCase":"ignore","requireIfMatch":true}}`))
	got.want(http.StatusOK)
	if got.header.Get("ETag") != `"v2"` || got.json()["name"] != "Shop" {
		t.Errorf("%s %s", got.header.Get("ETag"), got.body)
	}
	if s := memberText(t, got.body, "settings"); s != `{"pathCase":"ignore","persistTraffic":false,"requireIfMatch":true,"redaction":"standard"}` {
		t.Errorf("settings %s", s)
	}
	// From now on changes need If-Match (rule M-10), and a member that is set to null is gone (rule M-11).
	w.send(patch("/api/v1/projects/shop", owner, `{"description":null}`)).want(http.StatusPreconditionRequired, mockbase.CodePreconditionRequired)
	next := patch("/api/v1/projects/shop", owner, `{"description":null,"settings":{"pathCase":null,"requireIfMatch":null}}`)
	next.header = map[string]string{"If-Match": `"v1"`}
	stale := w.send(next).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if stale.problem().CurrentVersion != 2 || stale.header.Get("ETag") != `"v2"` {
		t.Errorf("current version %d, ETag %s", stale.problem().CurrentVersion, stale.header.Get("ETag"))
	}
	next.header["If-Match"] = `"v2"`
	got = w.send(next).want(http.StatusOK)
	if got.json()["description"] != "" || memberText(t, got.body, "settings") != `{"persistTraffic":false,"requireIfMatch":false,"redaction":"standard"}` {
		t.Errorf("%s", got.body)
	}
}

func TestM133_what_is_wrong_changes_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		call   call
		status int
		code   mockbase.Code
	}{
		"null of nothing":  {patch("/api/v1/projects/shop", owner, `{"nam":null}`), 422, mockbase.CodeValidationFailed},
		"name away":        {patch("/api/v1/projects/shop", owner, `{"name":null}`), 422, mockbase.CodeValidationFailed},
		"slug taken":       {patch("/api/v1/projects/shop", owner, `{"slug":"other"}`), 409, mockbase.CodeNameTaken},
		"no object":        {patch("/api/v1/projects/shop", owner, `[1]`), 422, mockbase.CodeValidationFailed},
		"plain JSON":       {call{method: "PATCH", path: "/api/v1/projects/shop", as: owner, body: `{}`}, 415, mockbase.CodeUnsupportedMediaType},
		"another access":   {patch("/api/v1/projects/shop", owner, `{"access":"private"}`), 422, mockbase.CodeValidationFailed},
		"broken":           {patch("/api/v1/projects/shop", owner, `{`), 400, mockbase.CodeMalformedBody},
		"a setting's name": {patch("/api/v1/projects/shop", owner, `{"settings":{"trailingSlsh":"ignore"}}`), 422, mockbase.CodeValidationFailed},
		"an editor":        {patch("/api/v1/projects/shop", editor, `{"name":"x"}`), 403, mockbase.CodeForbidden},
	} {
		if got := w.send(c.call); got.status != c.status || got.problem().Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := w.send(call{method: http.MethodPatch, path: "/api/v1/projects/shop", as: owner, body: `{}`}); got.header.Get("Accept-Patch") != "application/merge-patch+json" {
		t.Errorf("Accept-Patch is %q", got.header.Get("Accept-Patch"))
	}
	if now := w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: owner}); now.header.Get("ETag") != `"v1"` {
		t.Errorf("the project is at %s", now.header.Get("ETag"))
	}
}

func TestM133_a_renamed_project_is_found_under_its_new_slug_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(patch("/api/v1/projects/shop", owner, `{"slug":"store"}`)).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/store", as: owner}).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: owner}).want(http.StatusNotFound)
}

func TestM134_deleting_needs_the_slug_again(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.journal.Record(exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock))
	for _, query := range []string{"", "?confirm=", "?confirm=other"} {
		w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop" + query, as: owner}).want(http.StatusUnprocessableEntity, mockbase.CodeConfirmationRequired)
	}
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop", as: owner, header: map[string]string{"If-Match": `"v7"`}}).want(http.StatusPreconditionFailed)
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop", as: owner}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop", as: owner}).want(http.StatusNotFound)
	if n := w.journal.Traffic(w.shop.ID, mockbase.TrafficFilter{}, "", 0).Total; n != 0 {
		t.Errorf("%d exchanges outlived the project", n)
	}
}

// TestM61_urls name the address that people use.
func TestM61_urls_follow_the_public_address(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*management.Options){
		"https://mocks.test/m/shop":      func(o *management.Options) { o.PublicURL = "https://mocks.test" },
		"https://call.mocks.test/m/shop": func(o *management.Options) { o.PublicURL, o.MocksURL = "https://mocks.test", "https://call.mocks.test" },
	} {
		w := newWorld(t, change)
		var p struct {
			URLs map[string]string `json:"urls"`
		}
		if err := json.Unmarshal(w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: owner}).want(http.StatusOK).body, &p); err != nil {
			t.Fatal(err)
		}
		if p.URLs["path"] != want {
			t.Errorf("got %q, want %q", p.URLs["path"], want)
		}
	}
}
