package management_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// signedIn is a sign-in answer.
type signedIn struct {
	AccessToken string         `json:"accessToken"`
	TokenType   string         `json:"tokenType"`
	ExpiresIn   int            `json:"expiresIn"`
	Refresh     string         `json:"refresh"`
	User        map[string]any `json:"user"`
}

// login signs the editor in.
func (w *world) login() (signedIn, *http.Cookie) {
	w.t.Helper()
	var in signedIn
	got := w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`})
	got.want(http.StatusOK).into(&in)
	return in, got.refreshCookie()
}

func csrf() map[string]string { return map[string]string{"Mockbase-Csrf": "1"} }

func (w *world) refreshWith(cookie *http.Cookie) *reply {
	w.t.Helper()
	return w.send(call{method: http.MethodPost, path: "/api/v1/auth/refresh", cookie: cookie, header: csrf()})
}

func TestM102_a_right_password_signs_in(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, cookie := w.login()
	if in.TokenType != "Bearer" || in.ExpiresIn != 600 || in.Refresh != "cookie" || in.User["email"] != "editor@example.com" || in.User["role"] != "member" {
		t.Errorf("answer %+v", in)
	}
	if cookie == nil {
		t.Fatal("no cookie")
	}
	// M-35 over plain HTTP on a loopback host.
	if cookie.Name != "mb_rt" || cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.MaxAge != 7*24*3600 {
		t.Errorf("cookie %+v", cookie)
	}
	me := w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: in.AccessToken}).want(http.StatusOK).json()
	if me["user"].(map[string]any)["id"] != w.users[editor].ID || len(me["projects"].([]any)) != 1 {
		t.Errorf("me %v", me)
	}
	for _, email := range []string{"EDITOR@example.com", " editor@Example.com "} {
		w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"` + email + `","password":"` + password + `"}`}).want(http.StatusOK)
	}
}

// TestM36_nothing_tells_an_unknown_user_from_a_wrong_password compares the answers to failed sign-ins byte for byte. That
// each costs one hash is shown in package auth.
func TestM36_nothing_tells_an_unknown_user_from_a_wrong_password(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disabled, err := w.people.UserByID(t.Context(), w.users[member].ID)
	if err != nil {
		t.Fatal(err)
	}
	disabled.Disabled = true
	if err := w.people.UpdateUser(t.Context(), disabled); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, body := range []string{
		`{"email":"editor@example.com","password":"a wrong password, long enough"}`,
		`{"email":"nobody@example.com","password":"` + password + `"}`,
		`{"email":"member@example.com","password":"` + password + `"}`,
		`{"email":"","password":""}`,
		`{"email":"editor@example.com","password":"` + strings.Repeat("x", 100_000) + `"}`,
		`{"email":"' or 1=1 --","password":"' or 1=1 --"}`,
	} {
		got := w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: body, header: map[string]string{"X-Request-Id": "same"}})
		got.want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
		if first == "" {
			first = string(got.body)
		}
		if string(got.body) != first || got.refreshCookie() != nil {
			t.Errorf("%.60s: %s", body, got.body)
		}
	}
	if log := w.log.String(); strings.Contains(log, password) || strings.Contains(log, "a wrong password") {
		t.Error("a password is in the log")
	}
}

func TestM102_bodies_are_read_strictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   mockbase.Code
	}{
		"missing":   {`{"email":"editor@example.com"}`, 422, mockbase.CodeValidationFailed},
		"unknown":   {`{"email":"a@b.test","pasword":"x","password":"x"}`, 422, mockbase.CodeValidationFailed},
		"number":    {`{"email":1,"password":"x"}`, 422, mockbase.CodeValidationFailed},
		"null":      {`{"email":null,"password":"x"}`, 422, mockbase.CodeValidationFailed},
		"list":      {`[]`, 422, mockbase.CodeValidationFailed},
		"twice":     {`{"email":"a","email":"b","password":"x"}`, 400, mockbase.CodeMalformedBody},
		"broken":    {`{"email":`, 400, mockbase.CodeMalformedBody},
		"trailing":  {`{"email":"a","password":"x"} {}`, 400, mockbase.CodeMalformedBody},
		"empty":     {``, 400, mockbase.CodeMalformedBody},
		"not UTF-8": {"{\"email\":\"\xff\",\"password\":\"x\"}", 400, mockbase.CodeMalformedBody},
	} {
		got := w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: c.body})
		if got.status != c.status || got.problem().Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestM36_a_weaker_hash_is_renewed_at_sign_in(t *testing.T) {
	t.Parallel()
	strong := auth.NewHasher(auth.HasherOptions{Parameters: auth.Parameters{Memory: 128, Passes: 1, Lanes: 1}})
	w := newWorld(t, func(o *management.Options) { o.Hasher = strong })
	before := w.users[editor].PasswordHash
	w.login()
	after, err := w.people.UserByID(t.Context(), w.users[editor].ID)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(before, "m=64,") || !strings.Contains(after.PasswordHash, "m=128,") {
		t.Errorf("hash %q, then %q", before, after.PasswordHash)
	}
	w.login()
}

func TestM103_a_refresh_gives_new_tokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, first := w.login()
	w.clock.Advance(time.Minute)
	var next signedIn
	got := w.refreshWith(first)
	got.want(http.StatusOK).into(&next)
	second := got.refreshCookie()
	if second == nil || second.Value == first.Value || next.AccessToken == in.AccessToken {
		t.Fatalf("cookie %v after %v", second, first)
	}
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: next.AccessToken}).want(http.StatusOK)
	w.refreshWith(second).want(http.StatusOK)
}

func TestM34_two_tabs_that_refresh_at_once_get_the_same_successor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, cookie := w.login()
	const tabs = 8
	values := make([]string, tabs)
	var group sync.WaitGroup
	for i := range tabs {
		group.Go(func() {
			got := w.refreshWith(cookie)
			if got.status == http.StatusOK {
				values[i] = got.refreshCookie().Value
			}
		})
	}
	group.Wait()
	for _, value := range values {
		if value == "" || value != values[0] {
			t.Fatalf("successors %q", values)
		}
	}
}

// TestM34_grace is the time line of one refresh token.
func TestM34_a_used_token_is_good_for_10_seconds_and_later_ends_the_sign_in(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.login()
	second := w.refreshWith(first).want(http.StatusOK).refreshCookie()
	w.clock.Advance(auth.RefreshGrace)
	if again := w.refreshWith(first).want(http.StatusOK).refreshCookie(); again.Value != second.Value {
		t.Errorf("within the grace another successor came: %q, %q", again.Value, second.Value)
	}
	w.clock.Advance(time.Second)
	got := w.refreshWith(first).want(http.StatusUnauthorized, mockbase.CodeRefreshReused)
	if got.refreshCookie() != nil {
		t.Error("a failing refresh touched the cookie")
	}
	w.refreshWith(second).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
	if !strings.Contains(w.log.String(), "refresh token reused") {
		t.Error("the reuse is not in the log")
	}
}

func TestM34_a_token_used_up_long_ago_still_ends_the_sign_in(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, first := w.login()
	latest := first
	for range 3 {
		latest = w.refreshWith(latest).want(http.StatusOK).refreshCookie()
		w.clock.Advance(auth.RefreshGrace)
	}
	w.refreshWith(first).want(http.StatusUnauthorized, mockbase.CodeRefreshReused)
	w.refreshWith(latest).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: in.AccessToken}).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
}

func TestM34_a_sign_in_ends_when_idle_and_in_the_end(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, idle := w.login()
	w.clock.Advance(auth.RefreshIdle + time.Second)
	w.refreshWith(idle).want(http.StatusUnauthorized, mockbase.CodeTokenExpired)

	_, busy := w.login()
	for range 4 {
		w.clock.Advance(auth.RefreshIdle)
		busy = w.refreshWith(busy).want(http.StatusOK).refreshCookie()
	}
	if busy.MaxAge != 2*24*3600 {
		t.Errorf("two days before its end the cookie lives %d s", busy.MaxAge)
	}
	w.clock.Advance(2 * 24 * time.Hour)
	w.refreshWith(busy).want(http.StatusUnauthorized, mockbase.CodeTokenExpired)
}

func TestM103_what_is_no_token_of_ours_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, good := w.login()
	parts := strings.Split(good.Value, ".")
	for name, cookie := range map[string]*http.Cookie{
		"none":            nil,
		"empty":           {Name: "mb_rt", Value: ""},
		"rubbish":         {Name: "mb_rt", Value: "rubbish"},
		"another sign-in": {Name: "mb_rt", Value: parts[0] + ".sgn_other." + parts[2]},
		"invented":        {Name: "mb_rt", Value: strings.Repeat("A", 43) + "." + parts[1] + "." + parts[2]},
		"other name":      {Name: "__Host-mb_rt", Value: good.Value},
	} {
		if got := w.refreshWith(cookie); got.status != http.StatusUnauthorized || got.refreshCookie() != nil {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	twice := call{method: http.MethodPost, path: "/api/v1/auth/refresh", header: map[string]string{"Mockbase-Csrf": "1", "Cookie": "mb_rt=" + good.Value + "; mb_rt=x"}}
	w.send(twice).want(http.StatusUnauthorized)
	w.refreshWith(good).want(http.StatusOK)
}

func TestM39_a_disabled_user_cannot_refresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, cookie := w.login()
	u, err := w.people.UserByID(t.Context(), w.users[editor].ID)
	if err != nil {
		t.Fatal(err)
	}
	u.Disabled = true
	if err := w.people.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	w.refreshWith(cookie).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
}

func TestM104_logout_ends_the_sign_in_and_clears_the_cookie(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(in signedIn, cookie *http.Cookie) call{
		"by cookie": func(_ signedIn, cookie *http.Cookie) call { return call{cookie: cookie} },
		"by token":  func(in signedIn, _ *http.Cookie) call { return call{bearer: in.AccessToken} },
		"by both":   func(in signedIn, cookie *http.Cookie) call { return call{bearer: in.AccessToken, cookie: cookie} },
	} {
		w := newWorld(t)
		in, cookie := w.login()
		c := how(in, cookie)
		c.method, c.path, c.header = http.MethodPost, "/api/v1/auth/logout", csrf()
		got := w.send(c).want(http.StatusNoContent)
		if cleared := got.refreshCookie(); cleared == nil || cleared.MaxAge >= 0 || cleared.Value != "" {
			t.Errorf("%s: cookie %v", name, cleared)
		}
		w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: in.AccessToken}).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
		w.refreshWith(cookie).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
	}
	w := newWorld(t)
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/logout", header: csrf()}).want(http.StatusNoContent)
}

func TestM35_cookie_endpoints_refuse_what_another_site_may_have_caused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, cookie := w.login()
	for _, path := range []string{"/api/v1/auth/refresh", "/api/v1/auth/logout"} {
		for name, header := range map[string]map[string]string{
			"no header":      {},
			"another value":  {"Mockbase-Csrf": "true"},
			"cross-site":     {"Mockbase-Csrf": "1", "Sec-Fetch-Site": "cross-site"},
			"same-site":      {"Mockbase-Csrf": "1", "Sec-Fetch-Site": "same-site"},
			"foreign origin": {"Mockbase-Csrf": "1", "Origin": "http://evil.test"},
			"null origin":    {"Mockbase-Csrf": "1", "Origin": "null"},
		} {
			got := w.send(call{method: http.MethodPost, path: path, cookie: cookie, header: header})
			if got.status != http.StatusForbidden || got.problem().Code != mockbase.CodeOriginRefused || got.refreshCookie() != nil {
				t.Errorf("%s, %s: %d %s", path, name, got.status, got.body)
			}
		}
	}
	same := csrf()
	same["Sec-Fetch-Site"], same["Origin"] = "same-origin", w.server.URL
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/refresh", cookie: cookie, header: same}).want(http.StatusOK)
}

func TestM35_the_cookie_depends_on_how_the_server_is_reached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, host, public string
		insecure           bool
		cookie, refresh    string
	}{
		{name: "loopback address", cookie: "mb_rt", refresh: "cookie"},
		{name: "localhost", host: "localhost:8080", cookie: "mb_rt", refresh: "cookie"},
		{name: "name below localhost", host: "mocks.localhost", cookie: "mb_rt", refresh: "cookie"},
		{name: "IPv6 loopback", host: "[::1]:8080", cookie: "mb_rt", refresh: "cookie"},
		{name: "elsewhere", host: "mocks.test", refresh: "none"},
		{name: "private address", host: "10.0.0.7:8080", refresh: "none"},
		{name: "a name that begins like loopback", host: "127.0.0.1.evil.test", refresh: "none"},
		{name: "elsewhere, allowed", host: "mocks.test", insecure: true, cookie: "mb_rt", refresh: "cookie"},
		{name: "behind TLS", host: "mocks.test", public: "https://mocks.test", cookie: "__Host-mb_rt", refresh: "cookie"},
		{name: "behind TLS, another name", host: "other.test", public: "https://mocks.test", refresh: "none"},
	} {
		w := newWorld(t, func(o *management.Options) { o.PublicURL, o.InsecureCookies = c.public, c.insecure })
		var in signedIn
		got := w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", host: c.host, body: `{"email":"editor@example.com","password":"` + password + `"}`})
		got.want(http.StatusOK).into(&in)
		name := ""
		if set := got.refreshCookie(); set != nil {
			name = set.Name
			if set.Secure != (name == "__Host-mb_rt") {
				t.Errorf("%s: cookie %+v", c.name, set)
			}
		}
		if name != c.cookie || in.Refresh != c.refresh {
			t.Errorf("%s: cookie %q, refresh %q", c.name, name, in.Refresh)
		}
	}
}

func TestM35_over_TLS_the_cookie_is_bound_to_the_host(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secure := httptest.NewTLSServer(w.server.Config.Handler)
	t.Cleanup(secure.Close)
	w.server = secure
	client := secure.Client()
	client.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS12
	r := w.request(t, call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`})
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if len(got.Cookies()) != 1 || got.Cookies()[0].Name != "__Host-mb_rt" || !got.Cookies()[0].Secure {
		t.Errorf("cookies %v", got.Cookies())
	}
	if got.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestM107_everybody_sees_their_own_projects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for caller, want := range map[string]map[string]string{
		viewer: {"shop": "viewer"}, editor: {"shop": "editor"}, owner: {"shop": "owner"}, member: {}, stranger: {"other": "owner"},
		admin: {"shop": "owner", "other": "owner"},
	} {
		var me struct {
			Projects []struct{ Slug, Role string } `json:"projects"`
		}
		w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: caller}).want(http.StatusOK).into(&me)
		got := map[string]string{}
		for _, p := range me.Projects {
			got[p.Slug] = p.Role
		}
		if len(got) != len(want) {
			t.Errorf("%s sees %v, want %v", caller, got, want)
		}
		for slug, role := range want {
			if got[slug] != role {
				t.Errorf("%s in %s is %q, want %q", caller, slug, got[slug], role)
			}
		}
	}
}
