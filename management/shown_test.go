package management_test

import (
	"net/http"
	"strings"
	"testing"
)

// M-4 and M-20: what is a name or a reason to people holds nothing that they cannot be shown, whatever it names.
func TestM4_names_that_cannot_be_shown_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var invited struct{ URL string }
	w.do("POST", "/invitations", admin, `{"email":"new@example.com","role":"member"}`).want(201).into(&invited)
	for _, c := range []struct{ method, path, as, body, pointer string }{
		{"PATCH", "/auth/me", owner, `{"name":"%"}`, "#/name"},
		{"POST", "/auth/invitations/accept", guest, `{"token":"` + linkToken(t, invited.URL) + `","name":"%","password":"` + newPassword + `"}`, "#/name"},
		{"POST", "/users", admin, `{"email":"a@example.com","name":"%","role":"member","password":"` + newPassword + `"}`, "#/name"},
		{"PATCH", "/users/viewer@example.com", admin, `{"name":"%"}`, "#/name"},
		{"POST", "/tokens", owner, `{"name":"%","scopes":["mocks:read"],"projects":["*"]}`, "#/name"},
		{"POST", "/projects", owner, `{"slug":"new","name":"%"}`, "#/name"},
		{"POST", "/projects", owner, `{"slug":"new","name":"New","description":"%"}`, "#/description"},
		{"PATCH", "/projects/shop", owner, `{"name":"%"}`, "#/name"},
		{"PATCH", "/projects/shop", owner, `{"description":"%"}`, "#/description"},
		{"POST", "/projects/shop/sessions", owner, `{"name":"%"}`, "#/name"},
		{"POST", "/projects/shop/sessions", owner, `{"labels":{"job":"%"}}`, "#/labels"},
		{"POST", "/projects/shop/sessions", owner, `{"labels":{"%":"job"}}`, "#/labels"},
		{"POST", "/admin/bans", admin, `{"subject":{"type":"ip","value":"203.0.113.9"},"duration":"1h","reason":"%"}`, "#/reason"},
		{"POST", "/admin/bans", admin, `{"subject":{"type":"account","value":"%@example.com"},"duration":"1h","reason":"r"}`, "#/subject/value"},
		{"PATCH", "/admin/bans/latest", admin, `{"reason":"%"}`, "#/reason"},
	} {
		for _, wrong := range []string{`a\u0007b`, `a\u001b[31m`, `a\u009b2J`, `a\u202eb`, `\u2066a`, `a\u2028b`} {
			body := strings.Replace(c.body, "%", wrong, 1)
			got := w.do(c.method, c.path, c.as, body).want(http.StatusUnprocessableEntity)
			if !strings.Contains(string(got.body), `"pointer":"`+c.pointer+`"`) {
				t.Errorf("%s %s %s: %s", c.method, c.path, body, got.body)
			}
		}
	}
	for _, c := range []struct{ path, body string }{
		{"/auth/me", `{"name":"Zoë 👩‍💻 \u200fשלום"}`},
		{"/projects/shop", `{"name":"Läden – Ⅳ","description":"one\ntwo\r\n\tthree"}`},
	} {
		w.do("PATCH", c.path, owner, c.body).want(http.StatusOK)
	}
}

// M-38: the first administrator has such a name, too.
func TestM38_the_name_of_the_first_administrator_can_be_shown(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	for _, body := range []string{
		`{"code":"x","email":"a@example.com","password":"` + newPassword + `","name":"a\u0000b"}`,
		`{"code":"x","email":"a\u202e@example.com","password":"` + newPassword + `","name":"Ada"}`,
	} {
		w.do("POST", "/auth/setup", guest, body).want(http.StatusUnprocessableEntity)
	}
}
