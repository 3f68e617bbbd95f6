package management_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// loginBan is a real guard whose rules count by the address and the account.
func loginBan(t *testing.T, rules string) func(*management.Options) {
	t.Helper()
	bans, err := guard.ParseBans(rules, "login-ban")
	if err != nil {
		t.Fatal(err)
	}
	for i := range bans {
		bans[i].Status, bans[i].Code = ratelimit.StatusTooMany, string(mockbase.CodeLoginBanned)
	}
	return func(o *management.Options) {
		kept, err := memstore.NewBans(memstore.BanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		judge, err := guard.New(guard.Options{Rules: guard.Rules{Bans: bans}, Bans: kept, Clock: o.Clock})
		if err != nil {
			t.Fatal(err)
		}
		layers, err := httplimit.NewLayers(httplimit.LayerOptions{
			Judge: judge, Clock: o.Clock,
			Part: func(r *http.Request, _ string) (string, bool) {
				account := management.SignInAccount(r.Context())
				return account, account != ""
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { layers.Close(); judge.Close() })
		o.LoginBan = layers.Middleware
	}
}

func signInWith(email, secret string) call {
	return call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"` + email + `","password":"` + secret + `"}`}
}

func TestM37_a_ban_answers_with_its_code_even_to_the_right_password(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loginBan(t, guard.SignInBans))
	for range 5 {
		w.send(signInWith("editor@example.com", "wrong")).want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
	}
	got := w.send(signInWith("Editor@Example.com", password)).want(http.StatusTooManyRequests, mockbase.CodeLoginBanned)
	if strings.Count(string(got.body), `"code"`) != 1 {
		t.Errorf("body %s", got.body)
	}
	if wait, _ := strconv.Atoi(got.header.Get("Retry-After")); wait < 840 || wait > 900 || got.header.Get("Mockbase-Limited-By") != `shield; layer="bans"; policy="login-ban-1"` {
		t.Errorf("header %v", got.header)
	}
	if p := got.problem(); p.Type != httplimit.ProblemQuotaExceeded || len(p.Violated) != 1 {
		t.Errorf("problem %s", got.body)
	}
	// Nobody else is banned, and nothing but the sign-in.
	w.send(signInWith("viewer@example.com", password)).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/login"}).want(http.StatusMethodNotAllowed)
	w.clock.Advance(900e9)
	w.send(signInWith("editor@example.com", password)).want(http.StatusOK)
}

func TestM37_wrong_set_up_codes_ban_too(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, loginBan(t, "2/10m ban=1h"))
	for range 2 {
		w.send(call{
			method: http.MethodPost, path: "/api/v1/auth/setup", body: `{"code":"AAAA-AAAA-AAAA","email":"a@example.com","password":"fifteen characters"}`,
		}).want(http.StatusForbidden, mockbase.CodeSetupCodeInvalid)
	}
	w.send(signInWith("a@example.com", "x")).want(http.StatusTooManyRequests, mockbase.CodeLoginBanned)
}

// A page elsewhere makes its visitor's browser send what it likes. That must not ban the visitor.
func TestM37_what_is_refused_for_its_place_is_no_attempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loginBan(t, "1/10m ban=1h"))
	evil := signInWith("editor@example.com", "wrong")
	evil.header = map[string]string{"Origin": "https://evil.test"}
	for range 3 {
		w.send(evil).want(http.StatusForbidden, mockbase.CodeOriginRefused)
	}
	w.send(signInWith("editor@example.com", password)).want(http.StatusOK)
}

// The account is the one that the handler sees, and the handler sees the whole body.
func TestM37_the_account_is_found_without_taking_the_body_away(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	zip.Write([]byte(`{"email":"editor@example.com","password":"` + password + `"}`))
	zip.Close()
	right := `"password":"` + password + `"`
	for _, c := range []struct {
		name, body, coding string
		status             int
		want               string
	}{
		{"plain", `{"email":"editor@example.com",` + right + `}`, "", 200, "editor@example.com"},
		{"other letters and blanks", `{"email":" Editor@EXAMPLE.com ",` + right + `}`, "", 200, "editor@example.com"},
		{"escapes", `{"e\u006dail":"editor\u0040example.com",` + right + `}`, "", 200, "editor@example.com"},
		{"twice", `{"email":"viewer@example.com","email":"editor@example.com",` + right + `}`, "", 400, ""},
		{"no text", `{"email":["editor@example.com"],` + right + `}`, "", 422, ""},
		{"a list", `[]`, "", 422, ""},
		{"no JSON", `{"email":`, "", 400, ""},
		{"nothing", ``, "", 0, ""},
		{"packed", packed.String(), "gzip", 200, ""},
		{"a little long", `{"email":"editor@example.com",` + right + strings.Repeat(" ", 15<<10) + `}`, "", 200, "editor@example.com"},
		{"longer than a sign-in", `{"email":"editor@example.com",` + right + strings.Repeat(" ", 17<<10) + `}`, "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen := "nobody was asked"
			w := newWorld(t, func(o *management.Options) {
				o.LoginBan = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						seen = management.SignInAccount(r.Context())
						next.ServeHTTP(w, r)
					})
				}
			})
			for _, length := range []string{"known", "unknown"} {
				r := w.request(t, call{method: http.MethodPost, path: "/api/v1/auth/login", body: c.body, header: map[string]string{"Content-Type": "application/json"}})
				if c.coding != "" {
					r.Header.Set("Content-Encoding", c.coding)
				}
				if length == "unknown" {
					r.ContentLength = -1
				}
				got, err := w.server.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				got.Body.Close()
				if seen != c.want || c.status != 0 && got.StatusCode != c.status {
					t.Errorf("length %s: account %q, want %q; status %d, want %d", length, seen, c.want, got.StatusCode, c.status)
				}
			}
		})
	}
}
