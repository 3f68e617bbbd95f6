package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// M-37 and RL96: failures ban an address from an account, and the right password does not help then.
func TestM37_failed_sign_ins_ban(t *testing.T) {
	t.Parallel()
	attempt := func(email, password string) string {
		return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
	}
	wrong, right := attempt(testEmail, "wrong"), attempt(testEmail, testPassword)
	tests := []struct {
		name string
		ban  string
		// bodies are sent one after the other; the last answer is looked at.
		bodies []string
		status int
		wait   int
	}{
		{"by default", "", []string{wrong, wrong, wrong, wrong, wrong, right}, 429, 900},
		{"not before", "", []string{wrong, wrong, wrong, wrong, right}, 200, 0},
		{"a success forgives", "", []string{wrong, wrong, wrong, wrong, right, wrong, right}, 200, 0},
		{"the account however it is written", "2/1d ban=1h key=ip+account", []string{wrong, attempt(" ADA@Example.com ", "wrong"), right}, 429, 3600},
		{"not another account", "2/1d ban=1h key=ip+account", []string{attempt("eve@example.com", "x"), attempt("eve@example.com", "x"), right}, 200, 0},
		{"the address", "2/1d ban=1h", []string{attempt("a@example.com", "x"), attempt("b@example.com", "x"), right}, 429, 3600},
		{"a set-up that comes too late is no attempt", "2/1d ban=1h", []string{"setup", "setup", right}, 200, 0},
		{"what is no attempt does not count", "1/1d ban=1h", []string{"{", `{"email":1}`, right}, 200, 0},
		{"disabled", "disabled", []string{wrong, wrong, wrong, wrong, wrong, right}, 200, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"--data-dir=" + dir, "--login-limit=disabled"}
			if test.ban != "" {
				args = append(args, "--login-ban="+test.ban)
			}
			server := start(t, args...)
			api := newClient(t, server.URL)
			api.setUp(t, setupCodeIn(t, dir))
			var answer *reply
			for _, body := range test.bodies {
				path := "/api/v1/auth/login"
				if body == "setup" {
					path, body = "/api/v1/auth/setup", `{"code":"AAAA-AAAA-AAAA","email":"eve@example.com","password":"fifteen characters"}`
				}
				var err error
				if answer, err = api.try(t.Context(), http.MethodPost, path, body); err != nil {
					t.Fatal(err)
				}
			}
			if answer.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", answer.StatusCode, test.status, answer.body)
			}
			if wait, _ := strconv.Atoi(answer.Header.Get("Retry-After")); wait > test.wait || wait < test.wait-60 {
				t.Errorf("Retry-After %q, want about %d", answer.Header.Get("Retry-After"), test.wait)
			}
			if banned := strings.Contains(answer.body, `"code":"login-banned"`); banned != (test.status == 429) {
				t.Errorf("body %s", answer.body)
			}
			for _, account := range []string{"ada@", "eve@"} {
				if strings.Contains(strings.ToLower(server.said.String()), account) {
					t.Errorf("the log names %s", account)
				}
			}
		})
	}
}

// M-225: a ban that keeps an address from one account says which one that is.
func TestM225_bans_name_the_account_that_an_address_is_kept_from(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, ban, email, account string }{
		{"an account of this server", "1/1d ban=1h key=ip+account", testEmail, testEmail},
		{"the order of the key", "1/1d ban=1h key=account+ip", testEmail, testEmail},
		{"what no account has", "1/1d ban=1h key=ip+account", "nobody@example.com", "a digest"},
		{"the address alone", "1/1d ban=1h", testEmail, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server := start(t, "--data-dir="+dir, "--login-limit=disabled", "--login-ban="+test.ban)
			api := newClient(t, server.URL)
			api.setUp(t, setupCodeIn(t, dir))
			api.logIn(t)
			if _, err := newClient(t, server.URL).try(t.Context(), http.MethodPost, "/api/v1/auth/login", fmt.Sprintf(`{"email":%q,"password":"wrong"}`, test.email)); err != nil {
				t.Fatal(err)
			}
			var list struct {
				Items []struct {
					Subject struct{ Type, Value, Account string }
					Reason  string
				}
			}
			if err := json.Unmarshal([]byte(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans", "").body), &list); err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 1 {
				t.Fatalf("bans %+v", list.Items)
			}
			subject := list.Items[0].Subject
			if test.account == "a digest" && subject.Account != "" && !strings.Contains(subject.Account, "@") {
				subject.Account = test.account
			}
			if subject.Type != "ip" || subject.Value != "127.0.0.1" || subject.Account != test.account {
				t.Errorf("subject %+v", subject)
			}
			if strings.Contains(list.Items[0].Reason, "to one account") != (test.account != "") {
				t.Errorf("reason %q", list.Items[0].Reason)
			}
			if test.account == "" {
				return
			}
			found := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans?q="+list.Items[0].Subject.Account, "").body
			if !strings.Contains(found, `"account"`) {
				t.Errorf("the list finds no ban by its account: %s", found)
			}
		})
	}
}
