package management_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// at fills in the parameters of a route's path.
func at(path, project, mock string) string {
	return strings.NewReplacer("{project}", project, "{mock}", mock, "{id}", "latest", "{code}", "not-found", "{user}", "viewer@example.com",
		"{session}", "default", "{name}", "checkout", "{version}", "1", "{variable}", "greeting", "{collection}", "posts", "{document}", "petstore",
		"{rateLimit}", "partner", "{keyId}", partnerKey).Replace(path)
}

// TestM22_no_route_is_open_but_those_that_the_table_names walks the table without a credential.
func TestM22_no_route_is_open_but_those_that_the_table_names(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range management.Routes() {
		methods := []string{r.Method}
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, method := range methods {
			got := w.send(call{method: method, path: at(r.Path, "shop", "none")})
			open := r.Access == "anyone" || r.Access == "cookie"
			if (got.status == http.StatusUnauthorized) == open && r.Access != "cookie" {
				t.Errorf("%s %s (%s): status %d without a credential", method, r.Path, r.Access, got.status)
			}
			if !open && got.header.Get("WWW-Authenticate") != `Bearer realm="mockbase"` {
				t.Errorf("%s %s: WWW-Authenticate is %q", method, r.Path, got.header.Get("WWW-Authenticate"))
			}
		}
	}
}

// least is what each access asks of a caller of the project shop: the status that the caller may not get, and who gets
// it. What is not listed passes the checks.
func refusals(access string) map[string]int {
	switch access {
	case "viewer":
		return map[string]int{member: 404, stranger: 404}
	case "editor":
		return map[string]int{member: 404, stranger: 404, viewer: 403}
	case "owner":
		return map[string]int{member: 404, stranger: 404, viewer: 403, editor: 403}
	case "admin":
		return map[string]int{member: 403, stranger: 403, viewer: 403, editor: 403, owner: 403}
	default:
		return nil
	}
}

// TestM50_each_route_refuses_who_is_too_little walks the table with every role and compares with the table.
func TestM50_each_route_refuses_who_is_too_little(t *testing.T) {
	t.Parallel()
	for _, caller := range callers() {
		t.Run(caller, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
			for _, r := range management.Routes() {
				if endsWalk(r) {
					continue
				}
				got := w.sendIn(t, call{method: r.Method, path: at(r.Path, "shop", "hello"), as: caller})
				want, refused := refusals(r.Access)[caller]
				switch {
				case refused && got.status != want:
					t.Errorf("%s %s: status %d, want %d", r.Method, r.Path, got.status, want)
				case refused && want == http.StatusForbidden && got.problem().Code != mockbase.CodeForbidden:
					t.Errorf("%s %s: code %s", r.Method, r.Path, got.problem().Code)
				case !refused && r.Access != "cookie" && r.Path != "/api/v1/invitations" && (got.status == 401 || got.status == 403):
					t.Errorf("%s %s (%s): status %d", r.Method, r.Path, r.Access, got.status)
				}
			}
		})
	}
}

// endsWalk tells whether a route takes away what the rest of a walk needs: the sign-in, the project, or a role.
func endsWalk(r management.RouteInfo) bool {
	switch r.Path {
	case "/api/v1/auth/logout", "/api/v1/auth/logout-all":
		return true
	case "/api/v1/projects/{project}", "/api/v1/projects/{project}/members/{user}", "/api/v1/users/{user}":
		return r.Method == http.MethodDelete
	case "/api/v1/users/{user}/sign-out":
		return true
	}
	return false
}

// ringInDir is a key ring whose private key a test can read.
func ringInDir(t *testing.T, w func() time.Time) (*auth.KeyRing, ed25519.PrivateKey) {
	t.Helper()
	dir := t.TempDir()
	ring, err := auth.OpenKeyRing(dir, w)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "keyring.json"))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Keys []struct {
			PEM string `json:"pem"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode([]byte(stored.Keys[0].PEM))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return ring, key.(ed25519.PrivateKey)
}

// TestM32_no_route_takes_a_forged_token walks the table with tokens that are all but right.
func TestM32_no_route_takes_a_forged_token(t *testing.T) {
	t.Parallel()
	var private ed25519.PrivateKey
	var own *auth.KeyRing
	w := newWorld(t, silentProvider, func(o *management.Options) {
		own, private = ringInDir(t, o.Clock)
		o.Keys = own
	})
	w.keys = own
	other, _ := ringInDir(t, w.clock.Now)
	for name, c := range forgeries(t, w, private, other) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range management.Routes() {
				if !strings.HasPrefix(r.Path, "/api/v1") && r.Access != "admin" {
					continue
				}
				got := w.sendIn(t, call{
					method: r.Method, path: at(r.Path, "shop", "hello"), bearer: c.token, header: map[string]string{"Mockbase-Csrf": "1"},
				})
				if got.status != http.StatusUnauthorized || got.problem().Code != c.code {
					t.Errorf("%s %s: status %d: %s", r.Method, r.Path, got.status, got.body)
				}
			}
		})
	}
}

type forgery struct {
	token string
	code  mockbase.Code
}

// forgeries are tokens made with the server's own key, changed in one way each. The unchanged one is tried first.
func forgeries(t *testing.T, w *world, private ed25519.PrivateKey, other *auth.KeyRing) map[string]forgery {
	t.Helper()
	claims := w.claims(admin)
	good := w.sign(private, nil, claims, nil)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", bearer: good}).want(http.StatusOK)
	foreign, err := other.Issue(claims)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	tampered := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(decoded(t, parts[1]), claims.UserID, w.users[owner].ID, 1))) + "." + parts[2]
	none := jwt.New(jwt.SigningMethodNone)
	none.Header["typ"], none.Header["kid"] = "at+jwt", w.keys.JWKS().Keys[0].ID
	none.Claims = wire(w, claims)
	unsigned, err := none.SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	hmac := jwt.NewWithClaims(jwt.SigningMethodHS256, wire(w, claims))
	hmac.Header["typ"], hmac.Header["kid"] = "at+jwt", w.keys.JWKS().Keys[0].ID
	confused, err := hmac.SignedString([]byte(private.Public().(ed25519.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	stranger := ed25519.NewKeyFromSeed(make([]byte, 32))
	never := mockbase.CodeUnauthenticated
	return map[string]forgery{
		"expired":                   {w.sign(private, nil, claims, func(c jwt.MapClaims) { c["exp"] = w.clock.Now().Add(-time.Hour).Unix() }), mockbase.CodeTokenExpired},
		"foreign audience":          {w.sign(private, nil, claims, func(c jwt.MapClaims) { c["aud"] = []string{"mockbase-mocks"} }), never},
		"too early":                 {w.sign(private, nil, claims, func(c jwt.MapClaims) { c["nbf"] = w.clock.Now().Add(time.Hour).Unix() }), never},
		"foreign issuer":            {foreign, never},
		"another issuer, our key":   {w.sign(private, nil, claims, func(c jwt.MapClaims) { c["iss"] = other.InstanceID() }), never},
		"alg none":                  {unsigned, never},
		"tampered":                  {tampered, never},
		"another key":               {w.sign(stranger, nil, claims, nil), never},
		"HS256 with the public key": {confused, never},
		"kid as a path":             {w.sign(private, map[string]any{"kid": "../../../../dev/null"}, claims, nil), never},
		"kid of nothing":            {w.sign(private, map[string]any{"kid": ""}, claims, nil), never},
		"jwk in the header":         {w.sign(private, map[string]any{"jwk": map[string]string{"kty": "OKP"}}, claims, nil), never},
		"unknown user":              {w.sign(private, nil, auth.Claims{UserID: "usr_none", SignInID: claims.SignInID, AuthTime: claims.AuthTime, Epoch: 1}, nil), mockbase.CodeTokenRevoked},
		"sign-in of somebody else":  {w.sign(private, nil, auth.Claims{UserID: w.users[owner].ID, SignInID: claims.SignInID, AuthTime: claims.AuthTime, Epoch: 1}, nil), mockbase.CodeTokenRevoked},
		"unknown sign-in":           {w.sign(private, nil, auth.Claims{UserID: claims.UserID, SignInID: "sgn_none", AuthTime: claims.AuthTime, Epoch: 1}, nil), mockbase.CodeTokenRevoked},
		"old epoch":                 {w.sign(private, nil, auth.Claims{UserID: claims.UserID, SignInID: claims.SignInID, AuthTime: claims.AuthTime}, nil), mockbase.CodeTokenRevoked},
		"too long":                  {w.sign(private, nil, claims, func(c jwt.MapClaims) { c["pad"] = strings.Repeat("x", 5000) }), never},
	}
}

func decoded(t *testing.T, part string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestM30_only_a_bearer_token_authenticates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(admin)
	for name, c := range map[string]call{
		"basic":                    {header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("admin@example.com:"+password))}},
		"another scheme":           {header: map[string]string{"Authorization": "Token " + token}},
		"no scheme":                {header: map[string]string{"Authorization": token}},
		"empty":                    {header: map[string]string{"Authorization": "Bearer "}},
		"two blanks":               {header: map[string]string{"Authorization": "Bearer  " + token}},
		"cookie":                   {cookie: &http.Cookie{Name: "access_token", Value: token}},
		"refresh cookie":           {cookie: &http.Cookie{Name: "mb_rt", Value: token}},
		"query":                    {path: "/api/v1/auth/me?access_token=" + token},
		"header of another plane":  {header: map[string]string{"Mockbase-Token": token}},
		"forwarded by a proxy":     {header: map[string]string{"X-Forwarded-User": "admin@example.com"}},
		"method in another header": {header: map[string]string{"X-Http-Method-Override": "GET"}},
	} {
		c.method = http.MethodGet
		if c.path == "" {
			c.path = "/api/v1/auth/me"
		}
		if got := w.send(c); got.status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", header: map[string]string{"Authorization": scheme + " " + token}}).want(http.StatusOK)
	}
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/status", bearer: "rubbish"}).want(http.StatusUnauthorized, mockbase.CodeUnauthenticated)
	w.send(call{method: http.MethodGet, path: "/version", bearer: "rubbish"}).want(http.StatusOK)
}

// TestM14 compares the answers about a foreign project and one that never was, and the look-ups that they cost.
func TestM14_a_foreign_project_is_one_that_never_was(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{"text":"hi"}}`)
	for _, caller := range []string{member, stranger} {
		for _, r := range management.Routes() {
			if !strings.Contains(r.Path, "{project}") {
				continue
			}
			body := ""
			if r.Method == http.MethodPut || r.Method == http.MethodPost {
				body = `{"request":"GET /x","response":{"text":"x"}}`
			}
			header := map[string]string{"X-Request-Id": "same", "If-Match": `"v1"`}
			before := w.people.countLookups()
			foreign := w.send(call{method: r.Method, path: at(r.Path, "shop", "hello"), as: caller, body: body, header: header})
			first := w.people.countLookups() - before
			absent := w.send(call{method: r.Method, path: at(r.Path, "nope", "hello"), as: caller, body: body, header: header})
			second := w.people.countLookups() - before - first
			if foreign.status != http.StatusNotFound || string(foreign.body) != string(absent.body) || first != second {
				t.Errorf("%s %s as %s: %d and %d, %d and %d look-ups:\n%s%s", r.Method, r.Path, caller, foreign.status, absent.status, first, second, foreign.body, absent.body)
			}
			foreign.header.Del("Date")
			absent.header.Del("Date")
			if fmt.Sprint(foreign.header) != fmt.Sprint(absent.header) {
				t.Errorf("%s %s as %s: headers\n%v\n%v", r.Method, r.Path, caller, foreign.header, absent.header)
			}
			if id := w.send(call{method: r.Method, path: at(r.Path, w.shop.ID, "hello"), as: caller, body: body, header: header}); string(id.body) != string(absent.body) {
				t.Errorf("%s %s as %s, by id: %s", r.Method, r.Path, caller, id.body)
			}
		}
	}
	// Neither does a name of the own project reach a mock of another one.
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/other/mocks/hello", as: stranger}).want(http.StatusNotFound)
}

func TestM31_rights_are_looked_up_at_each_request(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/v1/projects/shop/mocks"
	body := `{"request":"GET /x","response":{"text":"x"}}`
	w.send(call{method: http.MethodPost, path: path, as: viewer, body: body}).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.setRole(w.shop, viewer, mockbase.RoleEditor)
	w.send(call{method: http.MethodPost, path: path, as: viewer, body: body}).want(http.StatusCreated)
	w.setRole(w.shop, viewer, mockbase.RoleNone)
	w.send(call{method: http.MethodPost, path: path, as: viewer, body: body}).want(http.StatusNotFound)
}

func TestM39_a_disabled_user_or_a_raised_epoch_ends_every_token(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mockbase.User){
		"disabled": func(u *mockbase.User) { u.Disabled = true },
		"epoch":    func(u *mockbase.User) { u.Epoch++ },
	} {
		w := newWorld(t)
		w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: editor}).want(http.StatusOK)
		u, err := w.people.UserByID(t.Context(), w.users[editor].ID)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		if err := w.people.UpdateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		got := w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: editor})
		if got.status != http.StatusUnauthorized || got.problem().Code != mockbase.CodeTokenRevoked {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// wire are the claims as they stand in a token.
func wire(w *world, c auth.Claims) jwt.MapClaims {
	now := w.clock.Now()
	return jwt.MapClaims{
		"iss": w.keys.InstanceID(), "aud": []string{auth.Audience}, "sub": c.UserID, "sid": c.SignInID, "jti": "tok_1",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(auth.AccessLife).Unix(), "auth_time": c.AuthTime.Unix(), "epoch": c.Epoch,
	}
}

// sign makes a token with a key; extra header members and a change of the claims come last.
func (w *world) sign(key ed25519.PrivateKey, extra map[string]any, c auth.Claims, change func(jwt.MapClaims)) string {
	w.t.Helper()
	claims := wire(w, c)
	if change != nil {
		change(claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["typ"], token.Header["kid"] = "at+jwt", w.keys.JWKS().Keys[0].ID
	maps.Copy(token.Header, extra)
	text, err := token.SignedString(key)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func TestL21_cors_is_off_and_every_address_needs_a_token(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects"}).want(http.StatusUnauthorized)
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		got := w.send(call{method: method, path: "/api/v1/projects", header: map[string]string{
			"Origin": "http://o.test", "Access-Control-Request-Method": http.MethodGet,
		}})
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%s allows %q", method, allowed)
		}
	}
}
