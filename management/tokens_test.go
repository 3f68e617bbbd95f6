package management_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// scopesOf is what a token needs for each route of the specification that names a scope.
func scopesOf() map[string]string {
	table := map[string]string{}
	for needed, ids := range map[string]string{
		"any":           "M-107 M-115 M-117 M-118 M-130 M-132",
		"project:admin": "M-131 M-133 M-134 M-135 M-136 M-137 M-239",
		"mocks:read": "M-140 M-142 M-147 M-148 M-150 M-151 M-154 M-160 M-163 M-164 M-166 M-167 M-178 M-192 M-195 M-198 M-199 " +
			"M-157 M-201 M-203",
		"mocks:write":   "M-141 M-143 M-144 M-145 M-146 M-149 M-153 M-155 M-156 M-161 M-165 M-168 M-169 M-170 M-196 M-197",
		"sessions":      "M-138 M-152 M-158 M-185 M-186 M-187 M-188 M-189 M-190 M-191 M-193 M-194 M-200 M-202 M-204",
		"import":        "M-162",
		"traffic:read":  "M-175 M-176 M-177 M-182 M-183",
		"traffic:clear": "M-179",
		"verify":        "M-180 M-181",
		"limits:read":   "M-205 M-206 M-209 M-210 M-211 M-214",
		"limits:write":  "M-207 M-208 M-212 M-213",
	} {
		for id := range strings.FieldsSeq(ids) {
			table[id] = needed
		}
	}
	return table
}

// holds is what each scope includes beside itself (rule M-51).
func holds(held, needed string) bool {
	switch {
	case needed == "any", held == needed, held == "admin":
		return true
	case held == "project:admin":
		return needed != "admin"
	default:
		return strings.HasSuffix(needed, ":read") && slices.Contains([]string{"mocks:write", "traffic:clear", "limits:write"}, held) &&
			strings.SplitN(held, ":", 2)[0] == strings.TrimSuffix(needed, ":read")
	}
}

func projectScopes() []string {
	return []string{
		"mocks:read", "mocks:write", "traffic:read", "traffic:clear", "verify", "sessions", "limits:read", "limits:write", "import", "project:admin",
	}
}

// M-52: a route of a project that said nothing would be open to no token, or to each.
func TestM52_every_route_of_a_project_names_the_scope_of_the_specification(t *testing.T) {
	t.Parallel()
	table := scopesOf()
	for _, r := range management.Routes() {
		if !strings.Contains(r.Path, "{project}") {
			continue
		}
		want := table[r.ID]
		if r.ID == "M-163" {
			want = "any" // The format decides, see TestM163.
		}
		if r.Scope == "" || r.Scope != want {
			t.Errorf("%s %s %s: scope %q, want %q", r.ID, r.Method, r.Path, r.Scope, want)
		}
	}
}

// refusedToken is the status and code that a token with one scope gets from a route, 0 for anything that is no refusal.
func refusedToken(r management.RouteInfo, held string) (int, mockbase.Code) {
	switch {
	case r.Access == "anyone" || r.Access == "cookie":
		return 0, ""
	case r.Access == "user" || r.Fresh:
		return http.StatusForbidden, mockbase.CodeSessionRequired
	case r.Access == "admin" && held != "admin", r.Access != "admin" && r.Scope == "admin" && held != "admin":
		return http.StatusForbidden, mockbase.CodeInsufficientScope
	case r.Access == "admin", holds(held, scopesOf()[r.ID]):
		return 0, ""
	default:
		return http.StatusForbidden, mockbase.CodeInsufficientScope
	}
}

// walkTokens asks every route with a token and compares with the table. Of routes that take away what others need, only the
// refusals are asked for.
func walkTokens(t *testing.T, w *world, token, held string) {
	t.Helper()
	for _, r := range management.Routes() {
		status, code := refusedToken(r, held)
		if status == 0 && endsWalk(r) {
			continue
		}
		got := w.sendIn(t, call{method: r.Method, path: at(r.Path, "shop", "hello"), bearer: token})
		switch {
		case status != 0 && (got.status != status || got.problem().Code != code):
			t.Errorf("%s %s %s with %s: %d %s, want %s", r.ID, r.Method, r.Path, held, got.status, got.body, code)
		case status == 0 && r.Access != "cookie" && r.ID != "M-131" && (got.status == 401 || got.status == 403):
			t.Errorf("%s %s %s with %s: refused: %s", r.ID, r.Method, r.Path, held, got.body)
		}
	}
}

func TestM51_every_scope_opens_its_routes_and_no_other(t *testing.T) {
	t.Parallel()
	for _, held := range projectScopes() {
		t.Run(held, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
			walkTokens(t, w, w.addToken("tok_"+held, mockbase.TokenService, owner, held), held)
		})
	}
	t.Run("admin", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
		walkTokens(t, w, w.addToken("tok_admin", mockbase.TokenPersonal, admin, "admin"), "admin")
	})
}

// M-41 and M-52: a personal token does what its scopes and its owner's role allow, both.
func TestM52_a_personal_token_never_does_more_than_its_owner(t *testing.T) {
	t.Parallel()
	for _, name := range []string{viewer, editor, member} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
			token := w.addToken("tok_1", mockbase.TokenPersonal, name, "project:admin")
			for _, r := range management.Routes() {
				want, refused := refusals(r.Access)[name]
				if !refused || r.Access == "admin" {
					continue
				}
				if got := w.sendIn(t, call{method: r.Method, path: at(r.Path, "shop", "hello"), bearer: token}); got.status != want {
					t.Errorf("%s %s: %d %s, want %d", r.Method, r.Path, got.status, got.body, want)
				}
			}
		})
	}
}

func TestM41_a_token_ends_with_the_rights_of_its_owner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addUser("root")
	w.do("PATCH", "/users/root@example.com", admin, `{"role":"admin"}`).want(200)
	all := w.addToken("tok_all", mockbase.TokenPersonal, "root", "admin")
	w.send(call{method: "GET", path: "/api/v1/users", bearer: all}).want(200)
	w.do("PATCH", "/users/root@example.com", admin, `{"role":"member"}`).want(200)
	w.send(call{method: "GET", path: "/api/v1/users", bearer: all}).want(403, mockbase.CodeForbidden)
	w.send(call{method: "GET", path: "/api/v1/projects/shop", bearer: all}).want(404)
	w.do("PATCH", "/users/root@example.com", admin, `{"disabled":true}`).want(200)
	w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: all}).want(401, mockbase.CodeTokenRevoked)
	w.do("PATCH", "/users/root@example.com", admin, `{"disabled":false}`).want(200)
	w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: all}).want(401, mockbase.CodeTokenRevoked)
	// A service token outlives its maker, a personal one does not.
	w.do("PUT", "/projects/shop/members/root@example.com", admin, `{"role":"owner"}`).want(201)
	service := w.addToken("tok_svc", mockbase.TokenService, "root", "mocks:read")
	own := w.addToken("tok_own", mockbase.TokenPersonal, "root", "mocks:read")
	w.do("DELETE", "/users/root@example.com", admin, "").want(204)
	w.send(call{method: "GET", path: mocksPath, bearer: service}).want(200)
	w.send(call{method: "GET", path: mocksPath, bearer: own}).want(401, mockbase.CodeTokenRevoked)
}

func TestM163_the_format_decides_the_scope_of_an_export(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mocks, traffic := w.addToken("tok_m", mockbase.TokenService, owner, "mocks:write"), w.addToken("tok_t", mockbase.TokenService, owner, "traffic:read")
	w.send(call{method: "GET", path: shopPath + "/exports?format=har", bearer: mocks}).want(403, mockbase.CodeInsufficientScope)
	w.send(call{method: "GET", path: shopPath + "/exports?format=har", bearer: traffic}).want(200)
	w.send(call{method: "GET", path: shopPath + "/exports?format=mockbase", bearer: traffic}).want(403, mockbase.CodeInsufficientScope)
}

// M-161 and M-138: what a route does beside its main matter needs a scope of its own.
func TestM51_settings_and_levels_need_scopes_of_their_own(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write, whole := w.addToken("tok_w", mockbase.TokenService, owner, "mocks:write"), w.addToken("tok_p", mockbase.TokenService, owner, "project:admin")
	sessions := w.addToken("tok_s", mockbase.TokenService, owner, "sessions")
	settings := call{method: "PUT", path: definitionPath, body: `{"settings":{"trailingSlash":"ignore"},"mocks":[]}`, bearer: write}
	w.send(settings).want(403, mockbase.CodeForbidden)
	settings.bearer = whole
	w.send(settings).want(200)
	create := call{method: "PUT", path: "/api/v1/projects/fresh/definition?createProject=true", body: `{"mocks":[]}`, bearer: whole}
	w.send(create).want(404, mockbase.CodeNotFound) // what may not be created is not told from what may not be seen (M-14)
	for what, status := range map[string]int{"counters": 204, "journal": 403, "mocks": 403, "all": 403} {
		w.send(call{method: "POST", path: shopPath + "/reset", bearer: sessions, body: `{"what":["` + what + `"]}`}).want(status)
	}
	everywhere := w.addToken("tok_e", mockbase.TokenPersonal, owner, "project:admin")
	w.send(call{method: "POST", path: "/api/v1/projects", bearer: everywhere, body: `{"slug":"new","name":"New"}`}).want(201)
	w.send(call{method: "GET", path: "/api/v1/projects/new", as: owner}).want(200)
}

func TestM115_lists_show_own_tokens_those_of_projects_to_owners_and_all_to_administrators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addToken("tok_editor", mockbase.TokenPersonal, editor, "mocks:read")
	own := w.addToken("tok_owner", mockbase.TokenPersonal, owner, "project:admin")
	service := w.addToken("tok_service", mockbase.TokenService, owner, "mocks:read")
	w.addToken("tok_public", mockbase.TokenPublic, owner)
	for _, c := range []struct {
		name, query, as, bearer string
		status                  int
		want                    string
	}{
		{"an editor's own", "", editor, "", 200, "tok_editor"},
		{"an owner's own", "?sort=name", owner, "", 200, "tok_owner tok_public tok_service"},
		{"of the project", "?project=shop&sort=name", owner, "", 200, "tok_public tok_service"},
		{"of the project, by a token", "?project=shop&sort=name", guest, own, 200, "tok_public tok_service"},
		{"of the project, to an editor", "?project=shop", editor, "", 403, ""},
		{"of the project, to a stranger", "?project=shop", stranger, "", 404, ""},
		{"of no project", "?project=nope", owner, "", 404, ""},
		{"all, to an owner", "?all=true", owner, "", 403, ""},
		{"all, to an administrator", "?all=true&sort=name", admin, "", 200, "tok_editor tok_owner tok_public tok_service"},
		{"a service token sees itself", "", guest, service, 200, "tok_service"},
		{"by name", "?q=EDIT&all=true", admin, "", 200, "tok_editor"},
		{"by expiry", "?sort=expiresAt&limit=1", editor, "", 200, "tok_editor"},
		{"by last use", "?sort=lastUsedAt&limit=1", editor, "", 200, "tok_editor"},
		{"nothing", "", member, "", 200, ""},
	} {
		got := w.send(call{method: "GET", path: "/api/v1/tokens" + c.query, as: c.as, bearer: c.bearer})
		if got.status != c.status || c.status == 200 && strings.Join(got.names("name"), " ") != c.want {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
		if strings.Contains(string(got.body), service) {
			t.Errorf("%s: a secret is shown again", c.name)
		}
	}
}

func TestM117_M118_who_sees_and_deletes_a_token(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, maker, as string
		see, remove           int
	}{
		{"its owner", mockbase.TokenPersonal, editor, editor, 200, 204},
		{"an administrator", mockbase.TokenPersonal, editor, admin, 200, 204},
		{"an owner of the project, of a personal one", mockbase.TokenPersonal, editor, owner, 404, 404},
		{"an owner of the project, of a service token", mockbase.TokenService, admin, owner, 404, 204},
		{"an editor of the project", mockbase.TokenService, owner, editor, 404, 404},
		{"an owner of another project", mockbase.TokenService, owner, stranger, 404, 404},
		{"the maker of a service token", mockbase.TokenService, owner, owner, 200, 204},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			secret := w.addToken("tok_1", c.kind, c.maker, "mocks:read")
			w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: secret}).want(200)
			w.do("GET", "/tokens/tok_1", c.as, "").want(c.see)
			w.do("DELETE", "/tokens/tok_1", c.as, "").want(c.remove)
			after := 200
			if c.remove == 204 {
				after = 401
			}
			w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: secret}).want(after)
		})
	}
}

func TestM118_a_token_deletes_itself_and_no_other(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.addToken("tok_one", mockbase.TokenPersonal, editor, "mocks:read"), w.addToken("tok_two", mockbase.TokenPersonal, editor, "mocks:read")
	w.send(call{method: "GET", path: "/api/v1/tokens/tok_one", bearer: one}).want(200)
	w.send(call{method: "GET", path: "/api/v1/tokens/tok_two", bearer: one}).want(404)
	w.send(call{method: "DELETE", path: "/api/v1/tokens/tok_two", bearer: one}).want(404)
	w.send(call{method: "DELETE", path: "/api/v1/tokens/tok_one", bearer: one}).want(204)
	w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: one}).want(401, mockbase.CodeTokenRevoked)
	w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: two}).want(200)
}

func TestM116_what_is_wrong_with_a_token_is_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name, as, body string
		status         int
		pointer        string
	}{
		{"plain", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"]}`, 201, ""},
		{"seconds", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":60}`, 201, ""},
		{"the longest", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":"366d"}`, 201, ""},
		{"for ever", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":"never"}`, 201, ""},
		{"public", owner, `{"name":"ci","kind":"public","projects":["shop"]}`, 201, ""},
		{"longer", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":"367d"}`, 422, "#/expiresIn"},
		{"no time", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":0}`, 422, "#/expiresIn"},
		{"parts of seconds", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":1.5}`, 422, "#/expiresIn"},
		{"a list as time", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"expiresIn":[]}`, 422, "#/expiresIn"},
		{"no such scope", owner, `{"name":"ci","scopes":["mocks"],"projects":["shop"]}`, 422, "#/scopes"},
		{"any is no scope", owner, `{"name":"ci","scopes":["any"],"projects":["shop"]}`, 422, "#/scopes"},
		{"no scope", owner, `{"name":"ci","scopes":[],"projects":["shop"]}`, 422, "#/scopes"},
		{"a public one with scopes", owner, `{"name":"ci","kind":"public","scopes":["mocks:read"],"projects":["shop"]}`, 422, "#/scopes"},
		{"a service one for all", owner, `{"name":"ci","kind":"service","scopes":["mocks:read"],"projects":["*"]}`, 422, "#/projects"},
		{"a public one for all", owner, `{"name":"ci","kind":"public","projects":["*"]}`, 422, "#/projects"},
		{"a service one for none", owner, `{"name":"ci","kind":"service","scopes":["mocks:read"],"projects":[]}`, 422, "#/projects"},
		{"star and more", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["*","shop"]}`, 422, "#/projects"},
		{"another's project", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["other"]}`, 422, "#/projects/0"},
		{"no such project", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop","nope"]}`, 422, "#/projects/1"},
		{"no address", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"allowedIps":["x"]}`, 422, "#/allowedIps"},
		{"no such kind", owner, `{"name":"ci","kind":"root","scopes":["mocks:read"],"projects":["shop"]}`, 422, "#/kind"},
		{"the scope admin", owner, `{"name":"ci","scopes":["admin"],"projects":["*"]}`, 403, ""},
		{"a service token with admin", admin, `{"name":"ci","kind":"service","scopes":["admin"],"projects":["shop"]}`, 422, "#/scopes"},
		{"more than the role", viewer, `{"name":"ci","scopes":["mocks:write"],"projects":["shop"]}`, 403, ""},
		{"a service token of an editor", editor, `{"name":"ci","kind":"service","scopes":["mocks:read"],"projects":["shop"]}`, 403, ""},
		{"a public token of an editor", editor, `{"name":"ci","kind":"public","projects":["shop"]}`, 403, ""},
	} {
		got := w.do("POST", "/tokens", c.as, c.body)
		if got.status != c.status {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
			continue
		}
		if c.pointer == "" {
			continue
		}
		if e := got.problem().Errors; len(e) != 1 || e[0].Pointer != c.pointer {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// M-238: the quota is the one in force now.
func TestM9_a_user_has_as_many_tokens_as_the_settings_say(t *testing.T) {
	t.Parallel()
	most := 1
	w := newWorld(t, func(o *management.Options) {
		o.Settings = func() mockbase.InstanceSettings { return mockbase.InstanceSettings{MaxTokensPerUser: most} }
	})
	body := `{"name":"ci","scopes":["mocks:read"],"projects":["*"]}`
	w.do("POST", "/tokens", owner, body).want(201)
	p := w.do("POST", "/tokens", owner, body).want(409, mockbase.CodeQuotaReached).problem()
	if p.Quota == nil || p.Quota.Limit != 1 || p.Quota.Name != "maxTokensPerUser" {
		t.Errorf("quota %+v", p.Quota)
	}
	w.do("POST", "/tokens", editor, body).want(201)
	most = 2
	w.do("POST", "/tokens", owner, body).want(201)
}

// from makes the address of a request what a header says.
func from(o *management.Options) {
	o.ClientAddress = func(r *http.Request) netip.Addr {
		address, err := netip.ParseAddr(r.Header.Get("X-Test-From"))
		if err != nil {
			return netip.MustParseAddr("127.0.0.1")
		}
		return address
	}
}

func TestM41_a_token_works_from_its_addresses_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, from)
	var made struct{ Token string }
	w.do("POST", "/tokens", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"],"allowedIps":["192.0.2.77/24","2001:db8::1","::ffff:198.51.100.7"]}`).want(201).into(&made)
	for address, status := range map[string]int{
		"192.0.2.200": 200, "::ffff:192.0.2.1": 200, "2001:db8::1": 200, "198.51.100.7": 200,
		"192.0.3.1": 401, "2001:db8::2": 401, "198.51.100.8": 401, "127.0.0.1": 401, "": 401, "fe80::1%eth0": 401,
	} {
		// What a client says of itself counts for nothing.
		got := w.send(call{method: "GET", path: mocksPath, bearer: made.Token, header: map[string]string{"X-Test-From": address, "X-Forwarded-For": "192.0.2.1"}})
		if got.status != status {
			t.Errorf("from %q: %d, want %d", address, got.status, status)
		}
	}
}

func TestM41_the_last_use_is_kept_to_the_minute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, from)
	token := w.addToken("tok_1", mockbase.TokenPersonal, owner, "mocks:read")
	use := func(address string) (at, ip any) {
		w.send(call{method: "GET", path: mocksPath, bearer: token, header: map[string]string{"X-Test-From": address}}).want(200)
		seen := w.do("GET", "/tokens/tok_1", owner, "").want(200).json()
		return seen["lastUsedAt"], seen["lastUsedIp"]
	}
	if at, ip := use("192.0.2.1"); at != "2026-03-01T12:00:00.000Z" || ip != "192.0.2.1" {
		t.Errorf("used at %v from %v", at, ip)
	}
	w.clock.Advance(30 * time.Second)
	if at, ip := use("192.0.2.2"); at != "2026-03-01T12:00:00.000Z" || ip != "192.0.2.1" {
		t.Errorf("in the same minute: used at %v from %v", at, ip)
	}
	w.clock.Advance(40 * time.Second)
	if at, ip := use("192.0.2.2"); at != "2026-03-01T12:01:00.000Z" || ip != "192.0.2.2" {
		t.Errorf("a minute later: used at %v from %v", at, ip)
	}
}

// M-41: what was never made, changed or is of another kind is no token, and only the first costs a look-up.
func TestM41_strings_that_are_almost_tokens_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.addToken("tok_1", mockbase.TokenPersonal, owner, "mocks:read")
	for name, text := range map[string]string{
		"another kind": "mb_svc_" + strings.TrimPrefix(token, "mb_pat_"), "cut": token[:len(token)-1], "longer": token + "0",
		"small": strings.ToLower(token), "prefix alone": "mb_pat_", "never made": auth.NewAPIToken(mockbase.TokenPersonal).Text,
		"public": w.addToken("tok_2", mockbase.TokenPublic, owner), "twice": token + token,
	} {
		if got := w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: text}); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}
