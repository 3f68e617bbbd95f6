package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// The way of a new user: set up by code, sign in, make a project and a mock, call it, meet the limit, restart, and find
// everything still there. It is the same with the limiter's counts in memory and in Redis.
func TestJourney_from_the_setup_code_to_the_121st_call_and_over_a_restart(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"memory", "Redis"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			args, window := []string{"--data-dir=" + t.TempDir(), "--management-limit=disabled"}, time.Minute
			if where == "Redis" {
				// The window must not end before the restart has.
				args, window = append(args, "--redis-url="+testkit.StartRedis(t).URL(), "--redis-budget=2s", "--engine-limit=120/1h"), time.Hour
			}
			server := start(t, args...)
			c := newClient(t, server.URL)
			c.setUp(t, setupCodeIn(t, strings.TrimPrefix(args[0], "--data-dir=")))
			c.logIn(t)
			c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
			c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"name":"get-user","request":"GET /users/{id}","response":{"json":{"id":7,"price":2.50}}}`)
			meetTheLimit(t, newClient(t, server.URL), window)
			made := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks/get-user", "").body
			server.stop(t)

			server = start(t, args...)
			c = newClient(t, server.URL)
			c.logIn(t)
			if again := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks/get-user", "").body; withoutURLs(t, again) != withoutURLs(t, made) {
				t.Errorf("after the restart the mock is\n%s\nand was\n%s", again, made)
			}
			if strings.Contains(server.said.String(), "No administrator") {
				t.Error("after the restart the administrator is gone")
			}
			if where == "Redis" { // the counts outlive the server
				c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/shop/users/7", "")
				return
			}
			if answer := c.call(t, http.StatusOK, http.MethodGet, "/m/shop/users/7", ""); answer.body != `{"id":7,"price":2.50}` {
				t.Errorf("after the restart the mock answers %s", answer.body)
			}
		})
	}
}

// withoutURLs drops what depends on the server's port.
func withoutURLs(t *testing.T, document string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "urls")
	delete(members, "stats")
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// meetTheLimit calls a mock 121 times within one window: the last is answered by the shield, which says so (rule AA3).
func meetTheLimit(t *testing.T, c *visitor, window time.Duration) {
	t.Helper()
	if left := window - time.Duration(time.Now().UnixNano()%int64(window)); left < 30*time.Second {
		<-time.After(left + 10*time.Millisecond) // the calls must not straddle two windows
	}
	for n := range 120 {
		if answer := c.call(t, http.StatusOK, http.MethodGet, "/m/shop/users/7", ""); answer.body != `{"id":7,"price":2.50}` {
			t.Fatalf("call %d is answered %s", n+1, answer.body)
		}
	}
	before := time.Now()
	answer := c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/shop/users/7", "")
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if rest := window - time.Duration(before.UnixNano()%int64(window)); err != nil || wait < 1 || time.Duration(wait)*time.Second > rest+time.Second {
		t.Errorf("Retry-After %q, with %s of the window left", answer.Header.Get("Retry-After"), rest)
	}
	for name, want := range map[string]string{
		"Mockbase-Limited-By": `shield; policy="engine"`, "Content-Type": "application/problem+json", "Cache-Control": "no-store",
		"RateLimit-Policy": fmt.Sprintf(`"engine";q=120;w=%.0f`, window.Seconds()), "RateLimit": fmt.Sprintf(`"engine";r=0;t=%d`, wait),
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, member := range []string{
		`"type":"https://iana.org/assignments/http-problem-types#quota-exceeded"`, `"status":429`, `"violated-policies":["engine"]`,
	} {
		if !strings.Contains(answer.body, member) {
			t.Errorf("the refusal %s lacks %s", answer.body, member)
		}
	}
}

// RL63 to RL67: while Redis is away every request passes, and limits hold again when it returns, without a restart.
func TestRL64_every_call_passes_while_Redis_is_away(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	server := start(t, "--ephemeral", "--redis-url="+redis.URL(), "--redis-budget=2s", "--engine-limit=3/1d")
	c := newClient(t, server.URL)
	for range 3 {
		c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	}
	c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/demo/hello", "")

	redis.Kill()
	// A denial that is remembered outlives Redis by a probe interval at most (rule RL61).
	await(t, "a call that passes", func() bool {
		answer, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
		return err == nil && answer.StatusCode == http.StatusOK
	})
	for range 50 {
		answer := c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
		if answer.Header.Get("Retry-After") != "" {
			t.Fatal("an answer that passed says Retry-After")
		}
	}
	if ready := c.call(t, http.StatusOK, http.MethodGet, "/readyz", "").body; !strings.Contains(ready, `"status":"degraded"`) {
		t.Errorf("readyz says %s", ready)
	}

	redis.Restart() // empty: the day begins anew
	await(t, "a call that is limited again", func() bool {
		answer, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
		return err == nil && answer.StatusCode == http.StatusTooManyRequests
	})
}

// C-80: a Redis that comes later is noticed, with one line.
func TestC80_a_redis_that_comes_after_the_start_is_noticed(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	redis.Kill()
	server := start(t, "--ephemeral", "--redis-url="+redis.URL(), "--redis-budget=2s", "--engine-limit=2/1d")
	server.until(t, "limits are not enforced until it returns (failing open)")
	redis.Restart()
	server.until(t, "Redis answers: limits are enforced")
	c := newClient(t, server.URL)
	await(t, "a limited call", func() bool {
		answer, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
		return err == nil && answer.StatusCode == http.StatusTooManyRequests
	})
	server.stop(t)
	if n := strings.Count(server.said.String(), "Redis answers"); n != 1 {
		t.Errorf("the return is told %d times", n)
	}
}

// M-16, M-37: the planes never share a count, and sign-in has one more of its own.
func TestRL122_planes_never_share_a_count(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, "--data-dir="+dir, "--engine-limit=3/1d", "--management-limit=8/1d", "--login-limit=4/1d")
	c := newClient(t, server.URL)
	c.setUp(t, setupCodeIn(t, dir))
	for range 4 {
		answer, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
		if err != nil {
			t.Fatal(err)
		}
		if answer.Header.Get("RateLimit-Policy") != "" && answer.StatusCode == http.StatusOK {
			t.Error("a mock's own answer tells of the shield")
		}
	}
	c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/demo/hello", "")
	statuses := make([]int, 0, 8)
	for range 5 {
		answer, err := c.try(t.Context(), http.MethodPost, "/api/v1/auth/login", `{"email":"ada@example.com","password":"wrong, and long enough"}`)
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, answer.StatusCode)
		if got := answer.Header.Get("RateLimit-Policy"); got != `"management";q=8;w=86400` {
			t.Errorf("RateLimit-Policy %q", got)
		}
	}
	if want := []int{401, 401, 401, 429, 429}; !slices.Equal(statuses, want) {
		t.Errorf("attempts are answered %v, want %v", statuses, want)
	}
	c.call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/status", "")
	c.call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/status", "")
	limited := c.call(t, http.StatusTooManyRequests, http.MethodGet, "/api/v1/auth/status", "")
	if got := limited.Header.Get("Mockbase-Limited-By"); got != `shield; policy="management"` {
		t.Errorf("Mockbase-Limited-By %q", got)
	}
	c.call(t, http.StatusOK, http.MethodGet, "/readyz", "")
}
