package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM105_M124_every_sign_in_ends_at_once(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, in signedIn){
		"M-105 by the user": func(w *world, in signedIn) {
			w.send(call{method: "POST", path: "/api/v1/auth/logout-all", bearer: in.AccessToken}).want(204)
		},
		"M-124 by an administrator": func(w *world, _ signedIn) { w.do("POST", "/users/editor@example.com/sign-out", admin, "").want(204) },
	} {
		w := newWorld(t)
		one, cookie := w.login()
		two, _ := w.login()
		token := w.addToken("tok_1", mockbase.TokenPersonal, editor, "mocks:read")
		end(w, one)
		for _, in := range []signedIn{one, two} {
			if got := w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: in.AccessToken}); got.status != 401 || got.problem().Code != mockbase.CodeTokenRevoked {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
		w.refreshWith(cookie).want(401)
		w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: token}).want(200)
		w.login()
	}
}

func TestM108_a_user_changes_their_name_and_address_and_nothing_else(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.do("PATCH", "/auth/me", editor, `{"name":"Ed","email":"Ed@Example.com","role":"admin","disabled":true,"id":"`+w.users[editor].ID+`"}`).want(200).json()
	if got["name"] != "Ed" || got["email"] != "ed@example.com" || got["role"] != "member" || got["disabled"] != false || got["id"] != w.users[editor].ID {
		t.Errorf("user %v", got)
	}
	w.do("PATCH", "/auth/me", editor, `{"email":"owner@example.com"}`).want(409, mockbase.CodeNameTaken)
	w.do("PATCH", "/auth/me", editor, `{"email":"no address"}`).want(422)
	w.do("PATCH", "/auth/me", editor, `{"passwordHash":"x"}`).want(422)
	w.do("PATCH", "/auth/me", editor, `{"epoch":9}`).want(422)
}

func TestM111_M112_sign_ins_are_listed_and_ended_by_their_user_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, _ := w.login()
	list := call{method: "GET", path: "/api/v1/auth/sessions", bearer: in.AccessToken}
	ids := w.send(list).want(200).names("id")
	if len(ids) != 1 || !strings.Contains(string(w.send(list).body), `"current":true`) {
		t.Fatalf("sign-ins %v", ids)
	}
	w.do("DELETE", "/auth/sessions/"+ids[0], owner, "").want(404)
	w.do("DELETE", "/auth/sessions/"+ids[0], admin, "").want(404)
	w.do("DELETE", "/auth/sessions/sgn_none", owner, "").want(404)
	w.send(list).want(200)
	w.send(call{method: "DELETE", path: "/api/v1/auth/sessions/" + ids[0], bearer: in.AccessToken}).want(204)
	w.send(list).want(401, mockbase.CodeTokenRevoked)
}

func TestM113_M114_an_invitation_says_what_it_is_to_and_grants_that_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made struct{ URL string }
	w.do("POST", "/invitations", owner, `{"email":"new@example.com","role":"member","projects":[{"project":"shop","role":"editor"}]}`).want(201).into(&made)
	token := linkToken(t, made.URL)
	shown := w.do("POST", "/auth/invitations/inspect", guest, `{"token":"`+token+`"}`).want(200).json()
	if shown["email"] != "new@example.com" || shown["role"] != "member" || shown["expiresAt"] != "2026-03-04T12:00:00.000Z" || shown["url"] != nil {
		t.Errorf("shown %v", shown)
	}
	accept := func(rest string) *reply {
		return w.do("POST", "/auth/invitations/accept", guest, `{"token":"`+token+`",`+rest+`}`)
	}
	accept(`"name":"N","password":"short"`).want(422, mockbase.CodeWeakPassword)
	accept(`"name":"N","password":"` + newPassword + `","role":"admin"`).want(422)
	accept(`"name":"N","password":"` + newPassword + `","email":"eve@example.com"`).want(422)
	got := accept(`"name":"N","password":"` + newPassword + `"`).want(201)
	var in signedIn
	got.into(&in)
	if got.refreshCookie() == nil || in.User["role"] != "member" {
		t.Errorf("answer %s", got.body)
	}
	me := string(w.send(call{method: "GET", path: "/api/v1/auth/me", bearer: in.AccessToken}).want(200).body)
	if strings.Count(me, `"slug"`) != 1 || !strings.Contains(me, `"role":"editor"`) {
		t.Errorf("me %s", me)
	}
	for _, bad := range []string{"", "x", token + "x", strings.ToUpper(token)} {
		w.do("POST", "/auth/invitations/inspect", guest, `{"token":"`+bad+`"}`).want(401, mockbase.CodeInvalidCredentials)
	}
}

func TestM119_M120_M121_administrators_see_and_make_users(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("PATCH", "/users/member@example.com", admin, `{"disabled":true}`).want(200)
	for query, want := range map[string]int{"": 6, "?role=admin": 1, "?role=member": 5, "?disabled=true": 1, "?disabled=false": 5, "?q=EDIT": 1, "?role=member&disabled=true": 1} {
		if got := w.do("GET", "/users"+query, admin, "").want(200).names("email"); len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	w.do("GET", "/users?role=root", admin, "").want(400)
	body := `{"email":"New@example.com","name":"New","role":"member","password":"` + newPassword + `"}`
	made := w.do("POST", "/users", admin, body).want(201)
	if strings.Contains(string(made.body), "assword") || made.json()["email"] != "new@example.com" {
		t.Errorf("made %s", made.body)
	}
	w.do("POST", "/users", admin, body).want(409, mockbase.CodeNameTaken)
	w.do("POST", "/users", admin, strings.Replace(body, newPassword, "new@example.com", 1)).want(422, mockbase.CodeWeakPassword)
	w.do("POST", "/users", admin, strings.Replace(body, "member", "owner", 1)).want(422)
	w.do("POST", "/auth/login", guest, `{"email":"new@example.com","password":"`+newPassword+`"}`).want(200)
	seen := w.do("GET", "/users/editor@example.com", admin, "").want(200).json()
	if len(seen["projects"].([]any)) != 1 || seen["signIns"] == nil || seen["passwordHash"] != nil {
		t.Errorf("user %v", seen)
	}
	w.do("GET", "/users/"+w.users[editor].ID, admin, "").want(200)
	w.do("GET", "/users/usr_none", admin, "").want(404)
}

func TestM123_a_deleted_user_is_gone_and_what_they_made_stays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("POST", "/projects/shop/mocks", editor, `{"name":"kept","request":"GET /x","response":{}}`).want(201)
	w.do("DELETE", "/users/editor@example.com", admin, "").want(204)
	w.do("DELETE", "/users/editor@example.com", admin, "").want(404)
	w.do("GET", "/auth/me", editor, "").want(401, mockbase.CodeTokenRevoked)
	w.do("GET", "/projects/shop/mocks/kept", owner, "").want(200)
	w.do("DELETE", "/users/owner@example.com", admin, "").want(409, mockbase.CodeLastOwner)
	w.do("PATCH", "/users/owner@example.com", admin, `{"disabled":true}`).want(200) // M-122: nobody owns themselves undisablable
	w.do("PATCH", "/users/owner@example.com", admin, `{"disabled":false}`).want(200)
	w.do("DELETE", "/users/admin@example.com", admin, "").want(409, mockbase.CodeLastAdmin)
}

func TestM125_the_last_reset_link_counts_and_is_for_one_user(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var first, second struct{ URL string }
	w.do("POST", "/users/editor@example.com/password-reset", admin, "").want(201).into(&first)
	w.do("POST", "/users/editor@example.com/password-reset", admin, "").want(201).into(&second)
	use := func(url string) *reply {
		return w.do("POST", "/auth/password-reset", guest, `{"token":"`+linkToken(t, url)+`","newPassword":"`+newPassword+`"}`)
	}
	use(first.URL).want(401)
	use(second.URL).want(204)
	w.do("POST", "/auth/login", guest, `{"email":"owner@example.com","password":"`+newPassword+`"}`).want(401)
	w.do("POST", "/users/nobody@example.com/password-reset", admin, "").want(404)
}

func TestM126_M128_invitations_are_their_makers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made struct{ ID string }
	w.do("POST", "/invitations", owner, `{"email":"a@example.com","role":"member","projects":[{"project":"shop","role":"viewer"}]}`).want(201).into(&made)
	w.do("POST", "/invitations", admin, `{"email":"b@example.com","role":"admin"}`).want(201)
	for name, want := range map[string]string{owner: "a@example.com", admin: "a@example.com b@example.com", stranger: "", viewer: ""} {
		got := w.do("GET", "/invitations?sort=email", name, "").want(200)
		if strings.Join(got.names("email"), " ") != want || strings.Contains(string(got.body), `"url"`) {
			t.Errorf("%s sees %s", name, got.body)
		}
	}
	w.do("DELETE", "/invitations/"+made.ID, stranger, "").want(404)
	w.do("DELETE", "/invitations/"+made.ID, admin, "").want(204)
	w.do("DELETE", "/invitations/"+made.ID, admin, "").want(404)
}

func TestM135_M137_members_see_each_other_and_leave_by_themselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.do("GET", "/projects/shop/members?sort=role", viewer, "").want(200)
	if strings.Count(string(got.body), `"role"`) != 3 || strings.Contains(string(got.body), "assword") {
		t.Errorf("members %s", got.body)
	}
	w.do("DELETE", "/projects/shop/members/editor@example.com", viewer, "").want(403, mockbase.CodeForbidden)
	w.do("DELETE", "/projects/shop/members/nobody@example.com", viewer, "").want(403, mockbase.CodeForbidden)
	w.do("DELETE", "/projects/shop/members/viewer@example.com", viewer, "").want(204)
	w.do("GET", "/projects/shop", viewer, "").want(404)
	w.do("DELETE", "/projects/shop/members/stranger@example.com", owner, "").want(404)
	w.do("DELETE", "/projects/other/members/stranger@example.com", owner, "").want(404)
	w.do("DELETE", "/projects/shop/members/owner@example.com", owner, "").want(409, mockbase.CodeLastOwner)
}

func TestM229_keys_are_shown_without_their_private_halves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.do("GET", "/admin/keys", admin, "").want(200)
	if states := list.names("state"); len(states) != 2 || strings.Contains(string(list.body), "PRIVATE") || strings.Contains(string(list.body), "pem") {
		t.Errorf("keys %s", list.body)
	}
	w.do("POST", "/admin/keys/rotate", admin, "").want(200)
	w.do("GET", "/auth/me", editor, "").want(200)
	w.do("POST", "/admin/keys/rotate", admin, `{"revokeNow":true}`).want(200)
	w.do("GET", "/auth/me", editor, "").want(401)
}

func TestM231_the_log_is_filtered_paged_and_tells_what_was_sent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("POST", "/projects/shop/send", editor, `{"request":{"method":"GET","target":"/x"}}`).want(200)
	w.send(call{method: "GET", path: "/api/v1/admin/backups/latest/content", as: admin}).want(200)
	w.do("POST", "/projects/shop/mocks", viewer, `{"request":"GET /y","response":{}}`).want(403)
	for query, want := range map[string]string{
		"action=send": "send", "action=getBackupContent": "getBackupContent", "outcome=denied": "createMock", "actor=viewer@example.com": "createMock",
		"action=send&outcome=denied": "", "since=2027-01-01T00:00:00Z": "", "until=2020-01-01T00:00:00Z": "", "ip=192.0.2.1": "", "requestId=none": "",
		"target=shop&action=send": "send", "limit=1&outcome=success": "getBackupContent", "actor=" + w.users[editor].ID: "send", "actor=' OR 1=1 --": "",
	} {
		got := w.do("GET", "/admin/audit?"+strings.ReplaceAll(query, " ", "%20"), admin, "").want(200).names("action")
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	first := w.do("GET", "/admin/audit?limit=2", admin, "").want(200)
	rest := w.do("GET", "/admin/audit?cursor="+first.json()["nextCursor"].(string), admin, "").want(200)
	if all := len(first.names("id")) + len(rest.names("id")); all != 3 {
		t.Errorf("%d entries on two pages", all)
	}
	counted := w.do("GET", "/admin/audit?count=true&limit=2", admin, "").want(200).json()
	if counted["total"] != float64(3) || w.do("GET", "/admin/audit?count=true&cursor="+counted["nextCursor"].(string), admin, "").want(200).json()["total"] != float64(3) {
		t.Errorf("counted %v", counted)
	}
	if got := w.do("GET", "/admin/audit?count=true&outcome=denied", admin, "").want(200).json()["total"]; got != float64(1) {
		t.Errorf("%v denials", got)
	}
	w.do("GET", "/admin/audit?cursor=x", admin, "").want(400, mockbase.CodeInvalidCursor)
	// It is never changed.
	for _, method := range []string{http.MethodDelete, http.MethodPut, http.MethodPost} {
		w.do(method, "/admin/audit", admin, "").want(405)
	}
}

func TestM12_a_kept_answer_outlives_a_restart_and_holds_no_secret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := worldIn(t, dir)
	w.addUser(admin)
	create := call{method: "POST", path: "/api/v1/tokens", as: admin, body: `{"name":"ci","scopes":["admin"],"projects":["*"]}`, header: map[string]string{"Idempotency-Key": "k"}}
	invite := call{method: "POST", path: "/api/v1/invitations", as: admin, body: `{"email":"a@example.com","role":"member"}`, header: map[string]string{"Idempotency-Key": "k"}}
	first, link := w.send(create).want(201).json(), w.send(invite).want(201).json()
	bearer := w.token(admin)
	w.stop()
	again := worldIn(t, dir)
	for c, before := range map[*call]map[string]any{&create: first, &invite: link} {
		c.as, c.bearer = guest, bearer
		r := again.request(t, *c)
		got, err := again.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		repeated, err := again.people.Replay(t.Context(), &mockbase.Replay{Caller: w.users[admin].ID, Method: "POST", Path: c.path, Key: "k"}, again.clock.Now().AddDate(0, 0, -1))
		if err != nil || got.StatusCode != http.StatusCreated || got.Header.Get("Idempotency-Replayed") != "true" {
			t.Fatalf("%s: %v %d %v", c.path, err, got.StatusCode, got.Header)
		}
		for _, member := range []string{`"token":`, `"url":`} {
			if strings.Contains(string(repeated.Body), member) {
				t.Errorf("kept %s", repeated.Body)
			}
		}
		if !strings.Contains(string(repeated.Body), before["id"].(string)) {
			t.Errorf("kept %s, first %v", repeated.Body, before)
		}
	}
}

// What a client may not set is refused or passed over on every way to make or change people and tokens.
func TestM8_nobody_assigns_what_is_not_theirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ method, path, as, body string }{
		{"POST", "/tokens", owner, `{"name":"x","scopes":["mocks:read"],"projects":["shop"],"hash":"x"}`},
		{"POST", "/tokens", owner, `{"name":"x","scopes":["mocks:read"],"projects":["shop"],"token":"mb_pat_x"}`},
		{"POST", "/users", admin, `{"email":"n@example.com","name":"N","role":"member","password":"` + newPassword + `","epoch":7}`},
		{"POST", "/users", admin, `{"email":"n@example.com","name":"N","role":"member","password":"` + newPassword + `","passwordHash":"x"}`},
		{"PATCH", "/users/editor@example.com", admin, `{"password":"` + newPassword + `"}`},
		{"PUT", "/projects/shop/members/viewer@example.com", owner, `{"role":"viewer","project":"other"}`},
		{"PUT", "/projects/shop/members/viewer@example.com", owner, `{"role":"admin"}`},
		{"POST", "/invitations", owner, `{"email":"n@example.com","role":"member","projects":[{"project":"shop","role":"viewer","hash":"x"}]}`},
		{"POST", "/invitations", owner, `{"email":"n@example.com","role":"member","createdBy":"usr_x","projects":[{"project":"shop","role":"viewer"}]}`},
		{"POST", "/auth/reauthenticate", owner, `{"password":"` + password + `","authTime":"2030-01-01T00:00:00Z"}`},
	} {
		if got := w.do(c.method, c.path, c.as, c.body); got.status != 422 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
	}
	made := w.do("POST", "/tokens", owner, `{"name":"x","scopes":["mocks:read"],"projects":["shop"],"createdBy":"usr_x","id":"tok_x","prefix":"p","expiresAt":"2099-01-01T00:00:00.000Z"}`).want(201).json()
	if made["createdBy"] != w.users[owner].ID || made["id"] == "tok_x" || made["prefix"] == "p" || made["expiresAt"] != "2026-05-30T12:00:00.000Z" {
		t.Errorf("token %v", made)
	}
}
