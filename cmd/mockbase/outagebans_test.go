package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// RL100, M-218 and M-228: bans that failed sign-ins bring while Redis hangs are listed and lifted then and after its return.
func TestM228_bans_are_listed_and_lifted_while_redis_hangs(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, c := administered(t, t.TempDir(), "--redis-url="+redis.URL(), "--login-limit=disabled", "--management-limit=disabled")
	guess := func() int {
		return c.status(t, http.MethodPost, "/api/v1/auth/login", `{"email":"eve@example.com","password":"a wrong password"}`)
	}
	banned := func() {
		t.Helper()
		for range 5 {
			guess()
		}
		if got := guess(); got != http.StatusTooManyRequests {
			t.Fatalf("the sixth guess: %d", got)
		}
		if list := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans?active=true", "").body; strings.Count(list, `"rule":"login-ban-1"`) != 1 {
			t.Fatalf("listed are %s", list)
		}
	}
	lifted := func() {
		t.Helper()
		if got := c.call(t, http.StatusOK, http.MethodDelete, "/api/v1/admin/bans?rule=login-ban-1", "").body; !strings.Contains(got, `"lifted":1`) {
			t.Errorf("lifted: %s", got)
		}
		if got := guess(); got != http.StatusUnauthorized {
			t.Errorf("a guess after it: %d", got)
		}
	}
	redis.Pause()
	banned()
	lifted()
	banned()
	redis.Resume()
	await(t, "the return of Redis", func() bool {
		return !strings.Contains(c.call(t, http.StatusOK, http.MethodGet, "/readyz", "").body, partDegraded)
	})
	lifted()
}
