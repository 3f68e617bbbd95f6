package management_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/federation"
)

const (
	startPath  = "/api/v1/auth/oidc/start"
	returnPath = "/api/v1/auth/oidc/callback"
)

// federated is a world whose people sign in by an identity provider.
func federated(t *testing.T, roles []management.GroupRole, changes ...func(*management.Options)) (*world, *testkit.IdentityProvider) {
	t.Helper()
	var idp *testkit.IdentityProvider
	w := newWorld(t, append([]func(*management.Options){func(o *management.Options) {
		idp = testkit.NewIdentityProvider(t, o.Clock)
		provider, err := federation.New(federation.Options{
			Issuer: idp.URL, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret, Key: o.Keys.Derive("identity provider"), Clock: o.Clock,
		})
		if err != nil {
			t.Fatal(err)
		}
		o.Federation = &management.Federation{Provider: provider, Issuer: idp.URL, Roles: roles}
	}}, changes...)...)
	return w, idp
}

// silentProvider gives a world an identity provider that vouches for nobody, for walks over every route.
func silentProvider(o *management.Options) {
	o.Federation = &management.Federation{Provider: silent{}, Issuer: "https://idp.example.com"}
}

type silent struct{}

func (silent) Begin(context.Context, federation.Start) (federation.Journey, error) {
	return federation.Journey{URL: "https://idp.example.com/authorize"}, nil
}

func (silent) Finish(context.Context, federation.Return) (*federation.Identity, string, error) {
	return nil, "", federation.ErrLost
}

// journey is a browser at the identity provider: what it keeps, and where the provider sends it.
type journey struct {
	kept *http.Cookie
	back string
}

// away goes to the provider by the start of a sign-in.
func (w *world) away(query string) journey {
	w.t.Helper()
	begun := w.send(call{method: http.MethodGet, path: startPath + query}).want(http.StatusSeeOther)
	if len(begun.cookie) != 1 || begun.cookie[0].Name != "mb_oidc" || !begun.cookie[0].HttpOnly || begun.cookie[0].SameSite != http.SameSiteLaxMode {
		w.t.Fatalf("cookies %v", begun.cookie)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, begun.header.Get("Location"), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	sent, err := new(http.Transport).RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := sent.Body.Close(); err != nil {
		w.t.Error(err)
	}
	return journey{kept: begun.cookie[0], back: strings.TrimPrefix(sent.Header.Get("Location"), w.server.URL)}
}

// home comes back from the provider.
func (w *world) home(j journey) *reply {
	w.t.Helper()
	return w.send(call{method: http.MethodGet, path: j.back, cookie: j.kept})
}

// entered is the part of a sign-in answer that these tests look at.
type entered struct {
	AccessToken string
	User        struct{ ID, Email, Name, Role string }
}

// enter signs in by the provider and returns the tokens of the first refresh.
func (w *world) enter(query string) entered {
	w.t.Helper()
	came := w.home(w.away(query)).want(http.StatusSeeOther)
	var refresh *http.Cookie
	for _, one := range came.cookie {
		if one.Name == "mb_rt" && one.SameSite == http.SameSiteStrictMode {
			refresh = one
		}
	}
	if refresh == nil {
		w.t.Fatalf("no refresh cookie in %v", came.cookie)
	}
	var in entered
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/refresh", cookie: refresh, header: map[string]string{"Mockbase-Csrf": "1"}}).want(http.StatusOK).into(&in)
	return in
}

func grace(groups ...string) map[string]any {
	return map[string]any{"sub": "42", "email": "Grace@Example.com", "email_verified": true, "name": "Grace", "groups": groups}
}

func TestM43_a_person_of_the_identity_provider_signs_in_and_is_the_same_one_again(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, nil)
	var status struct{ OIDC, PasswordSignIn bool }
	w.do("GET", "/auth/status", guest, "").want(http.StatusOK).into(&status)
	if !status.OIDC || !status.PasswordSignIn {
		t.Errorf("status %+v", status)
	}
	idp.Vouch(grace(), nil)
	first := w.enter("")
	if first.User.Email != "grace@example.com" || first.User.Role != "member" {
		t.Errorf("signed in as %+v", first.User)
	}
	changed := grace()
	changed["email"], changed["email_verified"] = "other@example.com", false
	idp.Vouch(changed, nil)
	if again := w.enter("?next=/projects"); again.User.ID != first.User.ID || again.User.Email != "grace@example.com" {
		t.Errorf("the subject names the person, not the address: %+v", again.User)
	}
	if got := w.home(w.away("?next=/projects%3Fq=1")).want(http.StatusSeeOther).header.Get("Location"); got != "/projects?q=1" {
		t.Errorf("led to %q", got)
	}
	w.do("POST", "/auth/login", guest, `{"email":"grace@example.com","password":"`+password+`"}`).want(http.StatusUnauthorized)
}

func TestM43_a_verified_address_is_the_user_who_has_it(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, nil)
	owned := map[string]any{"sub": "7", "email": "OWNER@example.com", "email_verified": false}
	idp.Vouch(owned, nil)
	w.home(w.away("")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	owned["email_verified"] = true
	idp.Vouch(owned, nil)
	if got := w.enter(""); got.User.ID != w.users[owner].ID {
		t.Errorf("signed in as %+v", got.User)
	}
	idp.Vouch(map[string]any{"sub": "8", "email": "owner@example.com", "email_verified": true}, nil)
	w.home(w.away("")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	// What the token leaves out is asked for.
	idp.Vouch(map[string]any{"sub": "9"}, map[string]any{"sub": "9", "email": "nine@example.com", "email_verified": true, "name": "Nine"})
	if got := w.enter(""); got.User.Name != "Nine" {
		t.Errorf("signed in as %+v", got.User)
	}
	idp.Vouch(map[string]any{"sub": "10"}, map[string]any{"sub": "9", "email": "ten@example.com", "email_verified": true})
	w.home(w.away("")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
}

func TestM43_groups_are_roles(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, []management.GroupRole{
		{Group: "ops", Instance: mockbase.InstanceAdmin},
		{Group: "devs", Instance: mockbase.InstanceMember},
		{Group: "qa", Project: "shop", Role: mockbase.RoleViewer},
		{Group: "leads", Project: "shop", Role: mockbase.RoleEditor},
		{Group: "qa", Project: "gone", Role: mockbase.RoleEditor},
	})
	role := func() string {
		t.Helper()
		user, err := w.people.UserByEmail(t.Context(), "grace@example.com")
		if err != nil {
			t.Fatal(err)
		}
		in, err := w.people.ProjectRole(t.Context(), w.shop.ID, user.ID)
		if err != nil {
			t.Fatal(err)
		}
		return string(user.Role) + " " + string(in)
	}
	for _, step := range []struct {
		groups []string
		want   string
	}{
		{[]string{"qa", "leads"}, "member editor"}, {[]string{"qa", "x"}, "member viewer"}, {[]string{"ops"}, "admin "}, {[]string{"devs"}, "member "},
	} {
		idp.Vouch(grace(step.groups...), nil)
		w.enter("")
		if got := role(); got != step.want {
			t.Errorf("groups %q give %q, want %q", step.groups, got, step.want)
		}
	}
	for _, groups := range [][]string{nil, {"other"}, {"OPS"}} {
		idp.Vouch(grace(groups...), nil)
		w.home(w.away("")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	}
	if got := string(w.do("GET", "/admin/audit?action=updateUser", admin, "").want(http.StatusOK).body); !strings.Contains(got, "grace@example.com") {
		t.Errorf("a role that changes is in the audit log: %s", got)
	}
	// The last administrator and the last owner stay.
	idp.Vouch(map[string]any{"sub": "1", "email": "admin@example.com", "email_verified": true, "groups": "devs"}, nil)
	if got := w.enter(""); got.User.Role != "admin" {
		t.Errorf("the last administrator became %s", got.User.Role)
	}
	idp.Vouch(map[string]any{"sub": "2", "email": "owner@example.com", "email_verified": true, "groups": "devs"}, nil)
	w.enter("")
	if got, err := w.people.ProjectRole(t.Context(), w.shop.ID, w.users[owner].ID); err != nil || got != mockbase.RoleOwner {
		t.Errorf("the last owner became %q, %v", got, err)
	}
}

func TestM43_what_a_browser_brings_back_must_be_what_it_was_given(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, nil)
	idp.Vouch(grace(), nil)
	first, second := w.away(""), w.away("")
	query := func(j journey, change func(url.Values)) journey {
		path, text, _ := strings.Cut(j.back, "?")
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		change(values)
		return journey{kept: j.kept, back: path + "?" + values.Encode()}
	}
	bent := *first.kept
	bent.Value = bent.Value[:len(bent.Value)-2] + "AA"
	for name, j := range map[string]journey{
		"no cookie":            {back: first.back},
		"another browser's":    {kept: second.kept, back: first.back},
		"a changed cookie":     {kept: &bent, back: first.back},
		"no state":             query(first, func(v url.Values) { v.Del("state") }),
		"another issuer":       query(first, func(v url.Values) { v.Set("iss", "https://evil.example.com") }),
		"a code of nobody":     query(first, func(v url.Values) { v.Set("code", "guess") }),
		"the code of another":  query(first, func(v url.Values) { v.Set("code", second.back[strings.Index(second.back, "code=")+5:][:26]) }),
		"the provider says no": query(first, func(v url.Values) { v.Set("error", "access_denied\r\n") }),
		"no answer at all":     {kept: first.kept, back: returnPath},
	} {
		t.Log(name)
		w.home(j).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	}
	late := w.away("")
	w.clock.Advance(10*time.Minute + time.Second)
	w.home(late).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	done := w.away("")
	w.home(done).want(http.StatusSeeOther)
	w.home(done).want(http.StatusForbidden, mockbase.CodeSignInRefused) // a code works once
	for name, claims := range map[string]map[string]any{
		"another issuer":     {"iss": "https://evil.example.com"},
		"another audience":   {"aud": "other"},
		"made for two":       {"aud": []string{"mockbase", "other"}},
		"another nonce":      {"nonce": "x"},
		"no nonce":           {"nonce": nil},
		"out of date":        {"exp": w.clock.Now().Add(-time.Hour).Unix()},
		"an unverified text": {"email_verified": "no"},
		"no subject":         {"sub": ""},
	} {
		t.Log(name)
		vouched := grace()
		vouched["sub"] = "new"
		maps.Copy(vouched, claims)
		idp.Vouch(vouched, nil)
		w.home(w.away("")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	}
	for _, next := range []string{"//evil.example.com", "https://evil.example.com", `/\evil.example.com`, "/a%0d%0ab", "x", "/" + strings.Repeat("a", 2000)} {
		w.send(call{method: http.MethodGet, path: startPath + "?next=" + next}).want(http.StatusBadRequest)
	}
	w.send(call{method: http.MethodGet, path: startPath, host: "mocks.test"}).want(http.StatusForbidden)
}

func TestM43_a_fresh_sign_in_asks_the_person_again(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, nil)
	stale := grace()
	stale["auth_time"] = w.clock.Now().Add(-time.Hour).Unix()
	idp.Vouch(stale, nil)
	create := call{method: http.MethodPost, path: "/api/v1/tokens", bearer: w.enter("").AccessToken, body: `{"name":"ci","scopes":["mocks:read"],"projects":["*"]}`}
	w.send(create).want(http.StatusForbidden, mockbase.CodeReauthenticate)
	w.home(w.away("?fresh=true")).want(http.StatusForbidden, mockbase.CodeSignInRefused)
	idp.Vouch(grace(), nil)
	create.bearer = w.enter("?fresh=true").AccessToken
	w.send(create).want(http.StatusCreated)
	stale["auth_time"] = nil
	idp.Vouch(stale, nil)
	create.bearer = w.enter("").AccessToken
	w.send(create).want(http.StatusForbidden, mockbase.CodeReauthenticate)
}

func TestM43_passwords_can_be_hidden_but_never_for_the_last_admin(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, []management.GroupRole{{Group: "ops", Instance: mockbase.InstanceAdmin}}, func(o *management.Options) { o.HidePasswords = true })
	login := func(name string) *reply {
		return w.do("POST", "/auth/login", guest, `{"email":"`+name+`@example.com","password":"`+password+`"}`)
	}
	var status struct{ PasswordSignIn bool }
	w.do("GET", "/auth/status", guest, "").want(http.StatusOK).into(&status)
	if status.PasswordSignIn {
		t.Error("the sign-in page offers passwords")
	}
	login(owner).want(http.StatusForbidden, mockbase.CodePasswordsHidden)
	login(admin).want(http.StatusOK)
	idp.Vouch(grace("ops"), nil)
	w.enter("")
	login(admin).want(http.StatusForbidden, mockbase.CodePasswordsHidden)
	w.do("POST", "/auth/login", guest, `{"email":"owner@example.com","password":"wrong"}`).want(http.StatusUnauthorized)
}

func TestM43_a_provider_that_is_away_fails_the_sign_in_alone(t *testing.T) {
	t.Parallel()
	w, idp := federated(t, nil)
	idp.Close()
	w.send(call{method: http.MethodGet, path: startPath}).want(http.StatusBadGateway, mockbase.CodeProviderFailed)
	w.do("POST", "/auth/login", guest, `{"email":"owner@example.com","password":"`+password+`"}`).want(http.StatusOK)
}

func TestM43_without_a_provider_there_is_no_such_route(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{method: http.MethodGet, path: startPath}).want(http.StatusNotFound)
	w.send(call{method: http.MethodGet, path: returnPath}).want(http.StatusNotFound)
}
