package management_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

const newPassword = "another handful of words"

func (w *world) do(method, path, as, body string) *reply {
	w.t.Helper()
	c := call{method: method, path: "/api/v1" + path, as: as, body: body}
	if method == http.MethodPatch {
		c.kind = "application/merge-patch+json"
	}
	return w.send(c)
}

// linkToken is the secret in the fragment of a link, which is part of no request.
func linkToken(t *testing.T, link string) string {
	t.Helper()
	at, err := url.Parse(link)
	if err != nil || at.RawQuery != "" || !strings.HasPrefix(at.Fragment, "token=") {
		t.Fatalf("link %q", link)
	}
	return strings.TrimPrefix(at.Fragment, "token=")
}

func TestM127_an_invitation_makes_one_account_of_its_address(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made struct{ ID, URL string }
	w.do("POST", "/invitations", owner, `{"email":"New@example.com","role":"member","projects":[{"project":"shop","role":"editor"}]}`).want(201).into(&made)
	token := linkToken(t, made.URL)
	w.do("POST", "/auth/invitations/inspect", guest, `{"token":"`+token+`"}`).want(200)
	w.do("POST", "/auth/invitations/accept", guest, `{"token":"`+token+`","name":"New","password":"`+newPassword+`"}`).want(201)
	w.do("POST", "/auth/invitations/accept", guest, `{"token":"`+token+`","name":"New","password":"`+newPassword+`"}`).want(401)
	w.do("POST", "/auth/login", guest, `{"email":"new@example.com","password":"`+newPassword+`"}`).want(200)
	for _, c := range []struct {
		as, body string
		status   int
	}{
		{member, `{"email":"x@example.com","role":"member"}`, 403},
		{owner, `{"email":"x@example.com","role":"member"}`, 422},
		{owner, `{"email":"x@example.com","role":"member","projects":[{"project":"other","role":"viewer"}]}`, 422},
		{owner, `{"email":"x@example.com","role":"admin","projects":[{"project":"shop","role":"viewer"}]}`, 403},
		{admin, `{"email":"editor@example.com","role":"member"}`, 409},
	} {
		w.do("POST", "/invitations", c.as, c.body).want(c.status)
	}
	w.do("DELETE", "/invitations/"+made.ID, editor, "").want(404)
	w.do("DELETE", "/invitations/"+made.ID, owner, "").want(204)
	w.do("POST", "/invitations", admin, `{"email":"late@example.com","role":"member"}`).want(201).into(&made)
	w.clock.Advance(72 * time.Hour)
	w.do("POST", "/auth/invitations/inspect", guest, `{"token":"`+linkToken(t, made.URL)+`"}`).want(401)
}

func TestM110_a_reset_link_works_once_for_an_hour_and_ends_sign_ins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made struct{ URL string }
	w.do("GET", "/auth/me", editor, "").want(200)
	w.do("POST", "/users/editor@example.com/password-reset", admin, "").want(201).into(&made)
	body := `{"token":"` + linkToken(t, made.URL) + `","newPassword":"` + newPassword + `"}`
	w.do("POST", "/auth/password-reset", guest, strings.Replace(body, newPassword, "short", 1)).want(422, mockbase.CodeWeakPassword)
	w.do("POST", "/auth/password-reset", guest, body).want(204)
	w.do("POST", "/auth/password-reset", guest, body).want(401)
	w.do("GET", "/auth/me", editor, "").want(401, mockbase.CodeTokenRevoked)
	w.do("POST", "/auth/login", guest, `{"email":"editor@example.com","password":"`+newPassword+`"}`).want(200)
}

func TestM40_delicate_changes_need_a_fresh_sign_in_and_no_API_token(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.addToken("tok_all", mockbase.TokenPersonal, admin, "admin")
	bodies := map[string][3]string{
		"M-116": {"POST", "/tokens", `{"name":"ci","scopes":["mocks:read"],"projects":["*"]}`},
		"M-109": {"PUT", "/auth/password", `{"currentPassword":"` + password + `","newPassword":"` + newPassword + `"}`},
		"M-122": {"PATCH", "/users/editor@example.com", `{"role":"admin"}`},
		"M-230": {"POST", "/admin/keys/rotate", ""},
	}
	claims := w.claims(admin)
	claims.AuthTime = w.clock.Now().Add(-15*time.Minute - time.Second)
	stale, err := w.keys.Issue(claims)
	if err != nil {
		t.Fatal(err)
	}
	for id, b := range bodies {
		c := call{method: b[0], path: "/api/v1" + b[1], body: b[2], bearer: stale}
		if b[0] == http.MethodPatch {
			c.kind = "application/merge-patch+json"
		}
		t.Log(id)
		w.send(c).want(403, mockbase.CodeReauthenticate)
		c.bearer = token
		w.send(c).want(403, mockbase.CodeSessionRequired)
	}
	w.send(call{method: "POST", path: "/api/v1/auth/reauthenticate", bearer: stale, body: `{"password":"wrong"}`}).want(401, mockbase.CodeInvalidCredentials)
	var again signedIn
	w.send(call{method: "POST", path: "/api/v1/auth/reauthenticate", bearer: stale, body: `{"password":"` + password + `"}`}).want(200).into(&again)
	w.send(call{method: "POST", path: "/api/v1/admin/keys/rotate", bearer: again.AccessToken}).want(200)
}

func TestM51_a_token_does_what_its_scopes_say_in_its_projects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := w.addToken("tok_read", mockbase.TokenService, owner, "mocks:read")
	write := w.addToken("tok_write", mockbase.TokenService, owner, "mocks:write")
	public := w.addToken("tok_public", mockbase.TokenPublic, owner)
	weak := w.addToken("tok_weak", mockbase.TokenPersonal, viewer, "mocks:write")
	mock := `{"request":"GET /x","response":{}}`
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		code                      mockbase.Code
	}{
		{read, "GET", "/projects/shop/mocks", "", 200, ""},
		{read, "POST", "/projects/shop/mocks", mock, 403, mockbase.CodeInsufficientScope},
		{write, "GET", "/projects/shop/mocks", "", 200, ""},
		{write, "POST", "/projects/shop/mocks", mock, 201, ""},
		{write, "GET", "/projects/shop/traffic", "", 403, mockbase.CodeInsufficientScope},
		{write, "GET", "/projects/other/mocks", "", 404, mockbase.CodeNotFound},
		{write, "PUT", "/projects/shop/members/viewer@example.com", `{"role":"owner"}`, 403, mockbase.CodeInsufficientScope},
		{write, "GET", "/users", "", 403, mockbase.CodeInsufficientScope},
		{write, "POST", "/projects", `{"slug":"new","name":"New"}`, 403, mockbase.CodeInsufficientScope},
		{weak, "POST", "/projects/shop/mocks", mock, 403, mockbase.CodeForbidden},
		{public, "GET", "/auth/me", "", 401, mockbase.CodeUnauthenticated},
		{read[:len(read)-1] + "!", "GET", "/auth/me", "", 401, mockbase.CodeUnauthenticated},
		{read, "GET", "/auth/me", "", 200, ""},
		{read, "DELETE", "/tokens/tok_write", "", 404, mockbase.CodeNotFound},
		{read, "DELETE", "/tokens/tok_read", "", 204, ""},
		{read, "GET", "/auth/me", "", 401, mockbase.CodeTokenRevoked},
	} {
		got := w.send(call{method: c.method, path: "/api/v1" + c.path, body: c.body, bearer: c.token})
		if got.status != c.status || c.code != "" && got.problem().Code != c.code {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, got.status, got.body, c.status, c.code)
		}
	}
	w.clock.Advance(time.Hour)
	w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: write}).want(401, mockbase.CodeTokenExpired)
}

func TestM136_roles_are_given_and_taken_and_an_owner_stays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const members = "/projects/shop/members/"
	w.do("PUT", members+"member@example.com", owner, `{"role":"viewer"}`).want(201)
	w.do("PUT", members+"member@example.com", owner, `{"role":"editor"}`).want(200)
	w.do("PUT", members+"owner@example.com", owner, `{"role":"editor"}`).want(409, mockbase.CodeLastOwner)
	w.do("DELETE", members+"owner@example.com", owner, "").want(409, mockbase.CodeLastOwner)
	w.do("PUT", members+"member@example.com", editor, `{"role":"owner"}`).want(403, mockbase.CodeForbidden)
	w.do("DELETE", members+"viewer@example.com", editor, "").want(403, mockbase.CodeForbidden)
	w.do("DELETE", members+"member@example.com", member, "").want(204)
	w.do("GET", "/projects/shop", member, "").want(404)
	w.do("DELETE", "/users/owner@example.com", admin, "").want(409, mockbase.CodeLastOwner)
	w.do("PATCH", "/users/admin@example.com", admin, `{"disabled":true}`).want(409, mockbase.CodeLastAdmin)
	w.do("POST", "/projects", admin, `{"slug":"alone","name":"Alone"}`).want(201)
	w.do("PATCH", "/users/admin@example.com", admin, `{"disabled":true}`).want(409, mockbase.CodeLastAdmin)
	w.do("DELETE", "/users/admin@example.com", admin, "").want(409, mockbase.CodeLastAdmin)
}

func TestM20_changes_and_refusals_are_audited_without_secrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("POST", "/projects/shop/mocks", editor, `{"name":"pay","request":"GET /x","response":{"headers":{"Authorization":"Bearer hidden"}}}`).want(201)
	w.do("POST", "/projects/shop/mocks", viewer, `{"request":"GET /y","response":{}}`).want(403)
	w.do("POST", "/auth/login", guest, `{"email":"editor@example.com","password":"a wrong one\u0007"}`).want(401)
	w.do("POST", "/users", admin, `{"email":"n@example.com","name":"N","role":"member","password":"`+newPassword+`"}`).want(201)
	log := string(w.do("GET", "/admin/audit", admin, "").want(200).body)
	for _, want := range []string{`"action":"createMock"`, `"outcome":"denied"`, `"action":"login"`, `"action":"createUser"`, `"name":"pay"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log holds no %s:\n%s", want, log)
		}
	}
	for _, secret := range []string{"hidden", newPassword, "a wrong one", "argon2id"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	lines := w.send(call{method: "GET", path: "/api/v1/admin/audit?action=createMock", as: admin, header: map[string]string{"Accept": "application/x-ndjson"}}).want(200)
	if n := strings.Count(string(lines.body), "\n"); n != 2 {
		t.Errorf("%d lines, want 2: %s", n, lines.body)
	}
	w.do("GET", "/projects/shop/audit", editor, "").want(403)
	w.do("GET", "/projects/shop/audit", owner, "").want(200)
}
