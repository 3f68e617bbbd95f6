package management_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// members are the names of an object's members, sorted.
func members(t *testing.T, object json.RawMessage) string {
	t.Helper()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(object, &got); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	names := make([]string, 0, len(got))
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// part is the value below an object, by the names on the way; a number is the place in an array.
func part(t *testing.T, object json.RawMessage, way ...string) json.RawMessage {
	t.Helper()
	for _, name := range way {
		if name == "0" {
			var items []json.RawMessage
			if err := json.Unmarshal(object, &items); err != nil || len(items) == 0 {
				t.Fatalf("no first of %s", object)
			}
			object = items[0]
			continue
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(object, &got); err != nil || got[name] == nil {
			t.Fatalf("no %s in %s", name, object)
		}
		object = got[name]
	}
	return object
}

// M-60: exactly these members, wherever a user, a sign-in answer or a token is shown; a secret is shown once.
func TestM60_a_user_a_sign_in_and_a_token_have_these_members_and_no_others(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const (
		user   = "createdAt disabled email id lastSeenAt name role"
		signIn = "accessToken expiresIn refresh tokenType user"
		token  = "allowedIps createdAt createdBy expiresAt id kind lastUsedAt lastUsedIp name prefix projects scopes"
	)
	login := w.do("POST", "/auth/login", guest, `{"email":"owner@example.com","password":"`+password+`"}`).want(http.StatusOK)
	made := w.do("POST", "/tokens", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"]}`).want(http.StatusCreated)
	for name, c := range map[string]struct{ got, want string }{
		"sign-in":         {members(t, login.body), signIn},
		"its user":        {members(t, part(t, login.body, "user")), user},
		"me":              {members(t, part(t, w.do("GET", "/auth/me", owner, "").want(http.StatusOK).body, "user")), user},
		"one of all":      {members(t, part(t, w.do("GET", "/users", admin, "").want(http.StatusOK).body, "items", "0")), user},
		"token in a list": {members(t, part(t, w.do("GET", "/tokens", owner, "").want(http.StatusOK).body, "items", "0")), token},
	} {
		if c.got != c.want {
			t.Errorf("%s has %s, want %s", name, c.got, c.want)
		}
	}
	if got := string(login.body); !strings.Contains(got, `"tokenType":"Bearer"`) || !strings.Contains(got, `"expiresIn":600`) || !strings.Contains(got, `"refresh":"cookie"`) {
		t.Errorf("sign-in answer %s", got)
	}
	var secret struct{ Token string }
	made.into(&secret)
	if secret.Token == "" || strings.Contains(string(w.do("GET", "/tokens", owner, "").want(http.StatusOK).body), secret.Token) {
		t.Errorf("the secret of a token is shown once: %s", made.body)
	}
}

// M-67: a session, made, listed and read alone.
func TestM67_a_session_has_these_members_and_no_others(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const session = "clock counts endedAt expiresAt header id labels name seed startedAt ttl url variables"
	made := w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"run-7","seed":"s","labels":{"ci":"7"},"ttl":"1h"}`}).want(http.StatusCreated)
	for name, body := range map[string]json.RawMessage{
		"made": made.body,
		"read": w.send(call{method: http.MethodGet, path: sessionsPath + "/run-7", as: viewer}).want(http.StatusOK).body,
		"listed": part(t, w.send(call{method: http.MethodGet, path: sessionsPath + "?label=ci%3D7", as: viewer}).want(http.StatusOK).body,
			"items", "0"),
	} {
		if got := members(t, body); got != session {
			t.Errorf("%s: %s, want %s", name, got, session)
		}
		if clock, counts := members(t, part(t, body, "clock")), members(t, part(t, body, "counts")); clock != "now offsetMs" || counts != "calls limited unmatched" {
			t.Errorf("%s: clock %s, counts %s", name, clock, counts)
		}
		if got := string(part(t, body, "header")); got != `{"name":"Mockbase-Session","value":"run-7"}` {
			t.Errorf("%s: header %s", name, got)
		}
	}
}

// M-106: what was too old is fresh again, the refresh token stays the browser's, and an API token can't do it.
func TestM106_a_password_makes_a_sign_in_fresh_again(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims := w.claims(owner)
	claims.AuthTime = w.clock.Now().Add(-time.Hour)
	stale, err := w.keys.Issue(claims)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/auth/reauthenticate"
	create := call{method: http.MethodPost, path: "/api/v1/tokens", bearer: stale, body: `{"name":"ci","scopes":["mocks:read"],"projects":["shop"]}`}
	w.send(create).want(http.StatusForbidden, mockbase.CodeReauthenticate)
	w.send(call{method: http.MethodPost, path: path, bearer: stale, body: `{"password":"wrong"}`}).want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
	w.send(call{method: http.MethodPost, path: path, body: `{"password":"` + password + `"}`}).want(http.StatusUnauthorized)
	w.send(call{method: http.MethodPost, path: path, bearer: w.addToken("tok_all", mockbase.TokenPersonal, owner, "admin"), body: `{"password":"` + password + `"}`}).
		want(http.StatusForbidden, mockbase.CodeSessionRequired)
	answer := w.send(call{method: http.MethodPost, path: path, bearer: stale, body: `{"password":"` + password + `"}`}).want(http.StatusOK)
	var again signedIn
	answer.into(&again)
	if len(answer.cookie) != 0 {
		t.Errorf("the refresh cookie changed: %v", answer.cookie)
	}
	create.bearer = again.AccessToken
	w.send(create).want(http.StatusCreated)
}

// M-19: a page that a mock serves runs without the rights of our origin, and neither sees, sets nor clears our cookies.
func TestM19_a_mock_cannot_act_for_the_viewer_of_the_dashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"mocks":[{"name":"evil","request":"GET /evil","response":{"template":true,"text":"<script>1</script>{{cookieAll \"__Host-mb_rt\" | length}}{{header \"Mockbase-Session\"}}",
		"headers":{"Content-Type":"text/html","Set-Cookie":"__Host-mb_rt=mine; Path=/; Secure","Clear-Site-Data":"\"*\"","Service-Worker-Allowed":"/"}}}]}`)
	ask := func(browser bool) http.Header {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://mocks.test/m/shop/evil", nil)
		r.Header.Set("Cookie", "__Host-mb_rt=secret")
		r.Header.Set("Mockbase-Session", "default")
		if browser {
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}
		answer := httptest.NewRecorder()
		w.engine.ServeHTTP(answer, r)
		if got := answer.Body.String(); answer.Code != http.StatusOK || got != "<script>1</script>0" {
			t.Errorf("%d %q: our cookie and our headers reach no mock", answer.Code, got)
		}
		return answer.Header()
	}
	shown := ask(true)
	if shown.Get("Set-Cookie") != "" || shown.Get("Clear-Site-Data") != "" || !strings.Contains(shown.Get("Content-Security-Policy"), "sandbox") ||
		strings.Contains(shown.Get("Content-Security-Policy"), "allow-same-origin") {
		t.Errorf("a browser is told %v", shown)
	}
	if got := ask(false); got.Get("Set-Cookie") == "" || got.Get("Content-Security-Policy") != "" {
		t.Errorf("a client that is no browser is told %v", got)
	}
}
