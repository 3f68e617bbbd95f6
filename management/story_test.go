package management_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// TestM38_what_a_person_makes_outlives_a_restart is the life of a small installation: set up, a project, a mock, a
// definition, a restart, and everything is still there, the signed-in browser too.
func TestM38_what_a_person_makes_outlives_a_restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := auth.NewSetupCode()
	w := worldIn(t, dir, func(o *management.Options) { o.SetupCode = code })
	var in signedIn
	set := w.send(setUp(code.String(), "ada@example.com", password))
	set.want(http.StatusCreated).into(&in)
	bearer := func(c call) call {
		c.bearer, c.as = in.AccessToken, guest
		return c
	}
	w.send(bearer(call{method: http.MethodPost, path: "/api/v1/projects", body: `{"slug":"shop","name":"Shop"}`})).want(http.StatusCreated)
	// M-4: a creation answers 201 with Location and ETag, a change 200.
	made := w.send(bearer(post(`{"name":"price","request":"GET /price","response":{"json":{"eur":2.50}}}`))).want(http.StatusCreated)
	changed := patch(made.header.Get("Location"), guest, `{"priority":7}`)
	changed.header = map[string]string{"If-Match": made.header.Get("ETag")}
	w.send(bearer(changed)).want(http.StatusOK)
	w.send(bearer(apply("?source=repo", guest, `{"mocks":[{"name":"owned","request":"GET /owned","response":{}}]}`))).want(http.StatusOK)
	before := w.send(bearer(call{method: http.MethodGet, path: definitionPath})).want(http.StatusOK)
	w.stop()

	again := worldIn(t, dir)
	again.clock.Advance(time.Minute)
	again.send(setUp(code.String(), "eve@example.com", password)).want(http.StatusConflict)
	after := again.send(bearer(call{method: http.MethodGet, path: definitionPath})).want(http.StatusOK)
	if string(after.body) != string(before.body) || after.header.Get("ETag") != before.header.Get("ETag") {
		t.Errorf("before %s %s\nafter %s %s", before.header.Get("ETag"), before.body, after.header.Get("ETag"), after.body)
	}
	price := again.send(bearer(call{method: http.MethodGet, path: mocksPath + "/price"})).want(http.StatusOK)
	if price.header.Get("ETag") != `"v2"` || price.json()["priority"] != 7.0 {
		t.Errorf("mock %s %s", price.header.Get("ETag"), price.body)
	}
	if owned := again.send(bearer(call{method: http.MethodGet, path: mocksPath + "/owned"})).want(http.StatusOK).json(); owned["source"] != "repo" {
		t.Errorf("source %v", owned["source"])
	}
	again.refreshWith(set.refreshCookie()).want(http.StatusOK)
	again.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"ada@example.com","password":"` + password + `"}`}).want(http.StatusOK)
}

// TestM104_a_sign_in_stays_ended_over_a_restart: the token's key is still there, and so is the end of its sign-in.
func TestM104_a_sign_in_stays_ended_over_a_restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := auth.NewSetupCode()
	w := worldIn(t, dir, func(o *management.Options) { o.SetupCode = code })
	var in signedIn
	w.send(setUp(code.String(), "ada@example.com", password)).want(http.StatusCreated).into(&in)
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/logout", bearer: in.AccessToken, header: csrf()}).want(http.StatusNoContent)
	w.stop()
	worldIn(t, dir).send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: in.AccessToken}).want(http.StatusUnauthorized)
}
