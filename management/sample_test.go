package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// A project that begins with the sample has mocks that can be called at once, and changed as if its owner had made them.
func TestM131_a_project_may_begin_with_the_sample_of_rate_limits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.do("POST", "/projects", member, `{"slug":"limits","name":"Limits","sample":"rate-limits","settings":{"redaction":"raw"}}`).want(http.StatusCreated)
	counts, _ := made.json()["counts"].(map[string]any)
	if got := made.header.Get("Location"); got != "/api/v1/projects/limits" || counts["mocks"] != float64(5) || made.json()["role"] != "owner" {
		t.Fatalf("made %s at %s", made.body, got)
	}
	for range 5 {
		w.sent("limits", "/quotes", http.StatusOK)
	}
	w.sent("limits", "/quotes", http.StatusTooManyRequests)
	list := w.do("GET", "/projects/limits/mocks", member, "").want(http.StatusOK)
	if strings.Contains(string(list.body), `"source":"`) {
		t.Errorf("a mock belongs to a source: %s", list.body)
	}
	w.do("DELETE", "/projects/limits/mocks/watched-only", member, "").want(http.StatusNoContent)
	w.do("PUT", "/projects/limits/rate-limits/partner", member, `{"limit":2,"window":"1s"}`).want(http.StatusOK)
	w.do("DELETE", "/projects/limits/variables/currency", member, "").want(http.StatusConflict, mockbase.CodeInUse)
	w.do("POST", "/projects", member, `{"slug":"limits","name":"Again","sample":"rate-limits"}`).want(http.StatusConflict, mockbase.CodeNameTaken)
}

// sent sends one GET to a project by the API and compares the status that came back.
func (w *world) sent(project, target string, status int) {
	w.t.Helper()
	var got struct{ Items []struct{ Status int } }
	w.do("POST", "/projects/"+project+"/send", admin, `{"request":{"method":"GET","target":"`+target+`"}}`).want(http.StatusOK).into(&got)
	if len(got.Items) != 1 || got.Items[0].Status != status {
		w.t.Errorf("%s: %+v, want %d", target, got.Items, status)
	}
}

// What GET gave may be sent back, and what was meant for another object is told.
func TestM8_the_id_of_something_else_is_refused_by_every_change(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=pets", as: editor, kind: "application/yaml", body: petstore}).want(http.StatusCreated)
	const patch = "application/merge-patch+json"
	for _, c := range []struct{ path, as string }{
		{shopPath, owner},
		{shopPath + "/mocks/hello", editor},
		{documentsPath + "/pets", editor},
		{"/api/v1/users/viewer@example.com", admin},
		{"/api/v1/auth/me", viewer},
	} {
		got := w.send(call{method: http.MethodPatch, path: c.path, as: c.as, kind: patch, body: `{"id":"xxx_1"}`}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if fields := got.problem().Errors; len(fields) != 1 || fields[0].Pointer != "#/id" || fields[0].Code != mockbase.FieldConflict || fields[0].Column != 7 {
			t.Errorf("%s: %s", c.path, got.body)
		}
		read := c.path
		if c.path == "/api/v1/auth/me" {
			read = "/api/v1/users/viewer@example.com"
		}
		id, _ := w.send(call{method: http.MethodGet, path: read, as: admin}).want(http.StatusOK).json()["id"].(string)
		w.send(call{method: http.MethodPatch, path: c.path, as: c.as, kind: patch, body: `{"id":"` + id + `"}`}).want(http.StatusOK)
	}
}

// What is wrong with an object as a whole is told of it, and not of a member without a name.
func TestM5_faults_of_a_whole_body_point_at_it(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, body := range map[string]string{
		"/projects/shop/mocks/bulk": `{"action":"enable"}`, "/projects/shop/sessions/default/clock": `{}`,
	} {
		got := w.do("POST", path, editor, body).want(http.StatusUnprocessableEntity)
		if fields := got.problem().Errors; len(fields) != 1 || fields[0].Pointer != "#" || fields[0].Line != 1 {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	got := w.do("PUT", "/projects/shop/variables/1st", editor, `{"value":1}`).want(http.StatusUnprocessableEntity)
	if fields := got.problem().Errors; len(fields) != 1 || fields[0].Pointer != "#" {
		t.Errorf("variable: %s", got.body)
	}
}

// The kind of a target is the thing that was changed, whatever the words of its path are.
func TestM20_targets_are_named_by_what_they_are(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
	w.do("DELETE", "/projects/shop/mocks/hello", editor, "").want(http.StatusNoContent)
	id := w.do("GET", "/projects/shop/trash", editor, "").want(http.StatusOK).names("id")[0]
	w.do("DELETE", "/projects/shop/trash/"+id, editor, "").want(http.StatusNoContent)
	w.do("POST", "/auth/login", guest, `{"email":"viewer@example.com","password":"not the right one"}`).want(http.StatusUnauthorized)
	w.do("POST", "/auth/invitations/inspect", guest, `{"token":"none"}`).want(http.StatusUnauthorized)
	w.do("POST", "/auth/invitations/accept", guest, `{"token":"none","name":"N","password":"`+newPassword+`"}`).want(http.StatusUnauthorized)
	w.do("POST", "/admin/keys/rotate", admin, "").want(http.StatusOK)
	w.send(call{method: http.MethodPatch, path: "/api/v1/auth/me", as: viewer, kind: "application/merge-patch+json", body: `{"name":"V"}`}).want(http.StatusOK)
	w.do("PUT", "/auth/password", viewer, `{"currentPassword":"`+password+`","newPassword":"`+newPassword+`"}`).want(http.StatusNoContent)
	w.do("POST", "/auth/logout-all", viewer, "").want(http.StatusNoContent)
	w.do("POST", "/auth/setup", guest, `{"code":"AAAA-AAAA-AAAA","email":"x@example.com","password":"`+newPassword+`"}`)
	want := map[string]string{
		"purgeMock": "mock", "login": "user", "inspectInvitation": "invitation", "acceptInvitation": "invitation", "rotateKeys": "key",
		"updateMe": "user", "changePassword": "user", "logoutEverywhere": "user",
	}
	var log struct {
		Items []struct {
			Action string
			Target struct{ Type, ID, Name string }
			Before map[string]any
		}
	}
	w.do("GET", "/admin/audit?limit=200", admin, "").want(http.StatusOK).into(&log)
	for _, item := range log.Items {
		if kind, listed := want[item.Action]; listed {
			delete(want, item.Action)
			if item.Target.Type != kind {
				t.Errorf("%s is of a %s, want %s", item.Action, item.Target.Type, kind)
			}
		}
		if item.Action == "purgeMock" && (item.Target.ID != id || item.Target.Name != "hello" || item.Before["name"] != "hello") {
			t.Errorf("purged %+v", item)
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is told of %v", want)
	}
}
