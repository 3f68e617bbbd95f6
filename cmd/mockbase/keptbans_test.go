package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// guess tries a wrong password for an account that nobody else uses.
func (c *visitor) guess(t *testing.T) int {
	t.Helper()
	return c.status(t, http.MethodPost, "/api/v1/auth/login", `{"email":"eve@example.com","password":"a wrong password"}`)
}

// guessUntilBanned guesses as often as it takes.
func (c *visitor) guessUntilBanned(t *testing.T) {
	t.Helper()
	for range 5 {
		c.guess(t)
	}
	if got := c.guess(t); got != http.StatusTooManyRequests {
		t.Fatalf("the sixth guess: %d", got)
	}
}

// loginBans returns how many bans of one address and account a server lists.
func (c *visitor) loginBans(t *testing.T) int {
	t.Helper()
	return strings.Count(c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans?active=true", "").body, `"rule":"login-ban-1"`)
}

func (c *visitor) liftLoginBans(t *testing.T) {
	t.Helper()
	if got := c.call(t, http.StatusOK, http.MethodDelete, "/api/v1/admin/bans?rule=login-ban-1", "").body; !strings.Contains(got, `"lifted":1`) {
		t.Errorf("lifted: %s", got)
	}
}

// M-37: whoever is banned for guessing stays so when the server is killed and started again, until the ban is lifted.
func TestM37_bans_for_guessing_outlive_the_process(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := administered(t, dir, "--login-limit=disabled")
	c.guessUntilBanned(t)
	_, before := c.banOf(t, "127.0.0.1")
	log := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/audit?action=banByRule", "").body
	if strings.Count(log, `"action":"banByRule"`) != 1 || !strings.Contains(log, `"subject":{"type":"ip","value":"127.0.0.1","account":"`) {
		t.Errorf("M-20: the audit log tells of the ban so: %s", log)
	}
	server.kill(t)

	server, c = administered(t, dir, "--login-limit=disabled")
	if got := c.guess(t); got != http.StatusTooManyRequests {
		t.Errorf("a guess after the start: %d", got)
	}
	if _, after := c.banOf(t, "127.0.0.1"); after == "" || after != before {
		t.Errorf("the ban is %s, it was %s", after, before)
	}
	c.liftLoginBans(t)
	server.kill(t)

	_, c = administered(t, dir, "--login-limit=disabled")
	if got, n := c.guess(t), c.loginBans(t); got != http.StatusUnauthorized || n != 0 {
		t.Errorf("a guess after the ban was lifted: %d, and %d bans", got, n)
	}
}

// A rule that is no more bans nobody.
func TestM37_bans_of_a_rule_that_is_gone_end_with_the_process(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := administered(t, dir, "--login-limit=disabled")
	c.guessUntilBanned(t)
	server.stop(t)
	_, c = administered(t, dir, "--login-limit=disabled", "--login-ban=disabled")
	if got, n := c.guess(t), c.loginBans(t); got != http.StatusUnauthorized || n != 0 {
		t.Errorf("a guess: %d, and %d bans", got, n)
	}
}

// RL100 and RL101: what happens to bans while Redis hangs is not lost with the server, and reaches Redis and the other servers
// when that answers again.
func TestRL101_bans_and_lifts_of_an_outage_outlive_the_process(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	home := t.TempDir()
	open := func(dir string) (*instance, *visitor) {
		return administered(t, dir, "--redis-url="+redis.URL(), "--login-limit=disabled", sharedSecret)
	}
	server, c := open(home)
	_, other := open(t.TempDir())
	redis.Pause()
	c.guessUntilBanned(t)
	server.kill(t)
	server, c = open(home)
	if got := c.guess(t); got != http.StatusTooManyRequests {
		t.Errorf("a guess after the start: %d", got)
	}
	redis.Resume()
	await(t, "the ban at the other server", func() bool { return other.loginBans(t) == 1 })

	redis.Pause()
	c.liftLoginBans(t)
	server.kill(t)
	_, c = open(home)
	if n := c.loginBans(t); n != 0 {
		t.Errorf("%d bans after the lift and a start", n)
	}
	redis.Resume()
	await(t, "the lift at both servers", func() bool { return c.loginBans(t)+other.loginBans(t) == 0 })
	if got := c.guess(t); got != http.StatusUnauthorized {
		t.Errorf("a guess after the lift: %d", got)
	}
}
