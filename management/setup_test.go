package management_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// freshWorld is a world without users that waits for its first administrator.
func freshWorld(t *testing.T) (*world, *auth.SetupCode) {
	t.Helper()
	code := auth.NewSetupCode()
	return emptyWorld(t, func(o *management.Options) { o.SetupCode = code }), code
}

func setUp(code, email, chosen string) call {
	return call{method: http.MethodPost, path: "/api/v1/auth/setup", body: `{"code":"` + code + `","email":"` + email + `","password":"` + chosen + `","name":"Ada"}`}
}

// Before and after, M-100 says whether a set-up is due.
func TestM101_the_code_makes_the_first_administrator(t *testing.T) {
	t.Parallel()
	w, code := freshWorld(t)
	status := w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK).json()
	if status["setupRequired"] != true || status["passwordSignIn"] != true || status["oidc"] != false {
		t.Errorf("status %v", status)
	}
	var in signedIn
	got := w.send(setUp(strings.ToLower(code.String()), "Ada@Example.com", password))
	got.want(http.StatusCreated).into(&in)
	if got.refreshCookie() == nil || in.User["role"] != "admin" || in.User["email"] != "ada@example.com" || in.User["name"] != "Ada" {
		t.Errorf("answer %s", got.body)
	}
	select {
	case <-code.Spent():
	default:
		t.Error("the code is not used up")
	}
	status = w.send(call{method: http.MethodGet, path: "/api/v1/auth/status"}).want(http.StatusOK).json()
	if status["setupRequired"] != false {
		t.Errorf("status %v", status)
	}
	w.send(setUp(code.String(), "b@example.com", password)).want(http.StatusConflict, mockbase.CodeAlreadySetUp)
	w.send(setUp("0000-0000-0000", "b@example.com", password)).want(http.StatusConflict, mockbase.CodeAlreadySetUp)
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"ada@example.com","password":"` + password + `"}`}).want(http.StatusOK)
	if log := w.log.String(); strings.Contains(log, code.String()) || strings.Contains(log, password) || strings.Contains(log, in.AccessToken) {
		t.Error("a secret is in the log")
	}
}

func TestM101_what_is_wrong_is_told_and_uses_nothing_up(t *testing.T) {
	t.Parallel()
	w, code := freshWorld(t)
	for name, c := range map[string]struct {
		call   call
		status int
		code   mockbase.Code
	}{
		"wrong code":     {setUp("0000-0000-0000", "ada@example.com", password), 403, mockbase.CodeSetupCodeInvalid},
		"no code":        {setUp("", "ada@example.com", password), 403, mockbase.CodeSetupCodeInvalid},
		"short password": {setUp(code.String(), "ada@example.com", "too short"), 422, mockbase.CodeWeakPassword},
		"common":         {setUp(code.String(), "ada@example.com", "passwordpassword"), 422, mockbase.CodeWeakPassword},
		"the address":    {setUp(code.String(), "ada.lovelace@example.com", "Ada.Lovelace@example.com"), 422, mockbase.CodeWeakPassword},
		"no address":     {setUp(code.String(), "ada", password), 422, mockbase.CodeValidationFailed},
		"display name":   {setUp(code.String(), "Ada <ada@example.com>", password), 422, mockbase.CodeValidationFailed},
		"long name":      {call{method: "POST", path: "/api/v1/auth/setup", body: `{"code":"x","email":"a@b.test","password":"x","name":"` + strings.Repeat("n", 201) + `"}`}, 422, mockbase.CodeValidationFailed},
	} {
		got := w.send(c.call)
		if got.status != c.status || got.problem().Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if weak := w.send(setUp(code.String(), "ada@example.com", "too short")).problem(); len(weak.Errors) != 1 || weak.Errors[0].Pointer != "#/password" || weak.Errors[0].Line != 1 {
		t.Errorf("errors %+v", weak.Errors)
	}
	w.send(setUp(code.String(), "ada@example.com", password)).want(http.StatusCreated)
}

func TestM38_of_two_parallel_set_ups_one_wins(t *testing.T) {
	t.Parallel()
	w, code := freshWorld(t)
	statuses := make([]int, 6)
	var group sync.WaitGroup
	for i := range statuses {
		group.Go(func() {
			statuses[i] = w.send(setUp(code.String(), "ada"+string(rune('a'+i))+"@example.com", password)).status
		})
	}
	group.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[http.StatusCreated] != 1 || count[http.StatusConflict] != len(statuses)-1 {
		t.Errorf("statuses %v", statuses)
	}
}

func TestM38_without_a_code_nobody_gets_in(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.send(setUp("", "ada@example.com", password)).want(http.StatusForbidden, mockbase.CodeSetupCodeInvalid)
	w.send(call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"a@b.test","password":"x"}`}).want(http.StatusConflict, mockbase.CodeSetupRequired)
}
