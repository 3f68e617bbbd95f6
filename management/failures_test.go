package management_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
)

// TestM15_a_failing_store_is_told_and_changes_nothing makes each look-up and each write of an endpoint fail in turn. The
// answer is a problem without the cause, whether the store said what is wrong or not, and no cookie or token is given.
func TestM15_a_failing_store_is_told_and_changes_nothing(t *testing.T) {
	t.Parallel()
	login := call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`}
	unknown := call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"nobody@example.com","password":"` + password + `"}`}
	me := call{method: http.MethodGet, path: "/api/v1/auth/me", as: editor}
	refresh := call{method: http.MethodPost, path: "/api/v1/auth/refresh", header: csrf()}
	logout := call{method: http.MethodPost, path: "/api/v1/auth/logout", header: csrf()}
	for _, c := range []struct {
		method string
		call   call
		// signed sends the cookie of a sign-in.
		signed bool
	}{
		{method: "UserCount", call: call{method: http.MethodGet, path: "/api/v1/auth/status"}},
		{method: "UserByEmail", call: login},
		{method: "UserCount", call: unknown},
		{method: "CreateSignIn", call: login},
		{method: "SignedIn", call: me},
		{method: "Memberships", call: me},
		{method: "SignInByRefreshHash", call: refresh, signed: true},
		{method: "RotateSignIn", call: refresh, signed: true},
		{method: "UserByID", call: refresh, signed: true},
		{method: "RevokeSignIn", call: logout, signed: true},
		{method: "Memberships", call: call{method: http.MethodGet, path: "/api/v1/projects", as: editor}},
		{method: "ProjectRole", call: call{method: http.MethodGet, path: "/api/v1/projects/shop", as: editor}},
		{method: "ProjectRole", call: call{method: http.MethodGet, path: "/api/v1/projects/nope", as: editor}},
		{method: "ProjectRole", call: post(`{"request":"GET /x","response":{}}`)},
		{method: "UserCount", call: setUp("x", "a@example.com", password)},
	} {
		for want, failure := range map[int]error{
			http.StatusInternalServerError: errors.New("SELECT * FROM secrets"),
			http.StatusServiceUnavailable:  &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the store does not answer", Err: errors.New("SELECT * FROM secrets")},
		} {
			t.Run(fmt.Sprintf("%s in %s %s gives %d", c.method, c.call.method, c.call.path, want), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				asked := c.call
				if c.signed {
					_, asked.cookie = w.login()
				}
				w.people.failWith(c.method, failure)
				got := w.sendIn(t, asked).want(want)
				if strings.Contains(string(got.body), "SELECT") {
					t.Errorf("the cause is told: %s", got.body)
				}
				if set := got.refreshCookie(); set != nil && set.Value != "" {
					t.Errorf("a cookie is set: %v", set)
				}
				if !strings.Contains(w.log.String(), "SELECT") {
					t.Error("the cause is not in the log")
				}
				w.people.failWith(c.method, nil)
				if again := w.sendIn(t, asked); again.status >= http.StatusInternalServerError {
					t.Errorf("the store works again, and the answer is %d", again.status)
				}
			})
		}
	}
}

// TestM38 shows that a set-up that fails half-way can be done again with the same code.
func TestM38_a_set_up_that_failed_can_be_repeated(t *testing.T) {
	t.Parallel()
	w, code := freshWorld(t)
	w.people.failWith("CreateFirstAdmin", &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the store does not answer"})
	w.send(setUp(code.String(), "ada@example.com", password)).want(http.StatusServiceUnavailable, mockbase.CodeUnavailable)
	w.people.failWith("CreateFirstAdmin", nil)
	w.send(setUp(code.String(), "ada@example.com", password)).want(http.StatusCreated)
}

// A refresh whose answer is lost because the store failed behind it is repeated within the grace.
func TestM34_a_refresh_that_failed_half_way_can_be_repeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, cookie := w.login()
	w.people.failWith("UserByID", errors.New("gone"))
	w.refreshWith(cookie).want(http.StatusInternalServerError)
	w.people.failWith("UserByID", nil)
	next := w.refreshWith(cookie).want(http.StatusOK).refreshCookie()
	w.refreshWith(next).want(http.StatusOK)
}

// TestM36: renewing a weak hash is no reason to refuse a change that was made meanwhile.
func TestM36_renewing_a_hash_undoes_nothing(t *testing.T) {
	t.Parallel()
	strong := auth.NewHasher(auth.HasherOptions{Parameters: auth.Parameters{Memory: 128, Passes: 1, Lanes: 1}})
	w := newWorld(t, func(o *management.Options) { o.Hasher = strong })
	login := call{method: http.MethodPost, path: "/api/v1/auth/login", body: `{"email":"editor@example.com","password":"` + password + `"}`}
	w.people.failWith("UpdateUser", &mockbase.Error{Code: mockbase.CodeBusy, Message: "busy"})
	w.send(login).want(http.StatusServiceUnavailable, mockbase.CodeBusy)
	w.people.failWith("UpdateUser", nil)
	// Somebody disables the user between the look-up and the renewal.
	w.people.beforeUserByID = func() {
		u, err := w.people.DB.UserByID(t.Context(), w.users[editor].ID)
		if err != nil {
			t.Error(err)
			return
		}
		u.Disabled = true
		if err := w.people.DB.UpdateUser(t.Context(), u); err != nil {
			t.Error(err)
		}
	}
	w.send(login).want(http.StatusUnauthorized, mockbase.CodeInvalidCredentials)
	if u, err := w.people.DB.UserByID(t.Context(), w.users[editor].ID); err != nil || !u.Disabled {
		t.Errorf("the user is enabled again (%v)", err)
	}
}

// The failures of a time-out are those of a busy server, and a client that went away is none.
func TestM9_time_outs_are_503(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people.failWith("SignedIn", fmt.Errorf("read user: %w", context.DeadlineExceeded))
	got := w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: editor}).want(http.StatusServiceUnavailable, mockbase.CodeUnavailable)
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	w.people.failWith("SignedIn", fmt.Errorf("read user: %w", context.Canceled))
	w.send(call{method: http.MethodGet, path: "/api/v1/auth/me", as: editor}).want(http.StatusServiceUnavailable)
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, "context canceled") && !strings.Contains(line, "level=DEBUG") {
			t.Errorf("a client that went away is logged as %s", line)
		}
	}
}
