package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// limitedFolder makes a folder of one project, shop, whose mocks have limits.
func limitedFolder(t *testing.T, mocks string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte("version: 1\nproject: shop\nmocks:\n"+mocks), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// statuses calls a mock several times.
func (c *visitor) statuses(t *testing.T, n int, path string) string {
	t.Helper()
	var got []string
	for range n {
		got = append(got, strconv.Itoa(c.status(t, http.MethodGet, "/m/shop"+path, "")))
	}
	return strings.Join(got, " ")
}

// simulatedKeys are the keys of simulated limits in a Redis. Each must lie below its session's tag, and end by itself.
func simulatedKeys(t *testing.T, redis *testkit.Redis) []string {
	t.Helper()
	named := regexp.MustCompile(`^simlimit:(probe(:\{prj_\w+/(default|ses_\w+)\})?$|\{prj_\w+/(default|ses_\w+)\}:[a-z0-9_-]+:[A-Za-z0-9._~:/-]+$)`)
	var keys []string
	for key := range strings.FieldsSeq(redis.Do("KEYS", "*")) {
		if strings.HasPrefix(key, "ratelimit:") {
			continue
		}
		if !named.MatchString(key) {
			t.Errorf("there is a key %s", key)
		}
		if left, err := strconv.Atoi(redis.Do("PTTL", key)); err != nil || left <= 0 {
			t.Errorf("%s has the life %d: %v", key, left, err)
		}
		if !strings.HasPrefix(key, "simlimit:probe") {
			keys = append(keys, key)
		}
	}
	return keys
}

// X12 and RL121: every algorithm in Redis, under names of its own and never for ever.
func TestRL121_simulated_limits_have_keys_of_their_own_that_end(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	var mocks strings.Builder
	names := []string{"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra"}
	for _, name := range names {
		fmt.Fprintf(&mocks, "  - { request: GET /%s, response: { text: a }, rateLimit: { algorithm: %[1]s, limit: 2, window: 1h } }\n", name)
	}
	mocks.WriteString("  - { request: GET /clock, response: { text: a }, rateLimit: { limit: 2, window: 30d, align: clock } }\n" +
		"  - { request: GET /list, response: { text: a }, rateLimit: [{ limit: 2, window: 1h, key: ip }, { limit: 9, window: 1h, bucket: own }] }\n" +
		"  - { request: GET /flight, response: { text: a }, rateLimit: { algorithm: concurrency, limit: 1 } }\n")
	c := on(t, redis, limitedFolder(t, mocks.String()), "--engine-limit=1000/1d")
	for _, name := range append(names, "clock", "list") {
		if got := c.statuses(t, 3, "/"+name); got != "200 200 429" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := c.statuses(t, 3, "/flight"); got != "200 200 200" {
		t.Errorf("concurrency: %s", got)
	}
	if got := c.statuses(t, 3, "/~one/list"); got != "200 200 429" {
		t.Errorf("in a session: %s", got)
	}
	keys := strings.Join(simulatedKeys(t, redis), "\n") + "\n"
	for _, want := range []string{"/default}:mck_", "/default}:own:global:", "}:mck_", "/ses_"} {
		if !strings.Contains(keys, want) {
			t.Errorf("%s is not among\n%s", want, keys)
		}
	}
	if n := strings.Count(keys, "\n"); n < 11 {
		t.Errorf("%d keys:\n%s", n, keys)
	}
}

// X12 and RL127: when Redis goes away, limits go on in memory, which is counted, logged and shown, and it is used again once
// it is back.
func TestX12_simulated_limits_go_on_in_memory(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	dir := limitedFolder(t, `
  - { name: get-a, request: GET /a, response: { text: a }, rateLimit: 5/1h }
  - { name: get-b, request: GET /b, response: { text: b }, rateLimit: 5/1h }
  - { name: get-c, request: GET /c, response: { text: c }, rateLimit: [2/1h, { limit: 9, window: 1h, algorithm: gcra }] }
`)
	server := start(t, dir, "--redis-url="+redis.URL(), "--redis-budget=2s", sharedSecret, "--metrics=public", "--no-shield-enabled", "--redis-probe-interval=100ms")
	c := newClient(t, server.URL)
	if got := c.statuses(t, 6, "/a"); got != "200 200 200 200 200 429" {
		t.Fatalf("in Redis: %s", got)
	}
	scrape(t, c).expect(t, map[string]float64{
		"mockbase_simlimit_checks_total outcome=allowed policy=get-a": 5,
		"mockbase_simlimit_checks_total outcome=denied policy=get-a":  1,
		"mockbase_simlimit_store_up":                                  1,
		"mockbase_simlimit_store_breaker_state":                       0,
		"mockbase_simlimit_keys":                                      0,
	})

	redis.Kill()
	if got := c.statuses(t, 6, "/b"); got != "200 200 200 200 200 429" {
		t.Errorf("after kill -9: %s", got)
	}
	if got := c.statuses(t, 3, "/c"); got != "200 200 429" {
		t.Errorf("a list after kill -9: %s", got)
	}
	got := scrape(t, c)
	got.expect(t, map[string]float64{
		"mockbase_simlimit_checks_total outcome=allowed policy=get-b": 5,
		"mockbase_simlimit_checks_total outcome=denied policy=get-b":  1,
		"mockbase_simlimit_store_up":                                  0,
	})
	degraded := got.total(t, "mockbase_simlimit_degraded_total", "mode=memory reason=")
	if failed := got.total(t, "mockbase_simlimit_store_errors_total", "class="); degraded < 7 || degraded != failed || got["mockbase_simlimit_keys"] < 2 {
		t.Errorf("%v checks were decided in memory, the store failed %v times, %v keys", degraded, failed, got["mockbase_simlimit_keys"])
	}
	got.checkLabels(t)
	server.until(t, "limiter=simulated mode=memory")

	redis.Restart()
	await(t, "Redis in use", func() bool {
		c.statuses(t, 1, "/a")
		return scrape(t, c)["mockbase_simlimit_store_up"] == 1
	})
	c.statuses(t, 1, "/a")
	if keys := simulatedKeys(t, redis); len(keys) == 0 {
		t.Error("nothing is counted in Redis again")
	}
	await(t, "an empty memory", func() bool { return scrape(t, c)["mockbase_simlimit_keys"] == 0 })
}

// RL121 and M-213: servers with the same projects share buckets by the ids of these, and a reset at one empties the bucket
// of both.
func TestRL121_two_servers_share_a_bucket(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	first, second := t.TempDir(), t.TempDir()
	server, c := administered(t, first)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"name":"Shop","slug":"shop"}`)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"name":"a","request":"GET /a","response":{"text":"a"},"rateLimit":{"limit":4,"window":"1h"}}`)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks",
		`{"name":"l","request":"GET /l","response":{"text":"l"},"rateLimit":[{"limit":3,"window":"1h"},{"algorithm":"token_bucket","limit":9,"window":"1h"}]}`)
	server.stop(t)
	if err := os.CopyFS(second, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	args := []string{"--redis-url=" + redis.URL(), "--redis-budget=2s", sharedSecret, "--no-shield-enabled"}
	_, a := administered(t, first, args...)
	_, b := administered(t, second, args...)
	for path, want := range map[string]string{"/a": "200 200 200 200 429 429", "/l": "200 200 200 429 429 429"} {
		got := a.statuses(t, 2, path) + " " + b.statuses(t, 3, path) + " " + a.statuses(t, 1, path)
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	b.call(t, http.StatusNoContent, http.MethodPost, "/api/v1/projects/shop/sessions/default/reset", `{"what":["limits"]}`)
	if keys := simulatedKeys(t, redis); len(keys) > 0 {
		t.Errorf("after the reset there are %v", keys)
	}
	if got := a.statuses(t, 2, "/a") + " " + b.statuses(t, 3, "/a"); got != "200 200 200 200 429" {
		t.Errorf("after the reset: %s", got)
	}
}

// AA1 to AA4 and RL123: the shield and the limits of mocks, both in one server and on one Redis.
func TestAA2_the_shield_and_the_limit_of_a_mock_count_apart(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	dir := limitedFolder(t, `
  - { name: get-a, request: GET /a, response: { text: a }, rateLimit: 1/1h }
  - { name: get-d, request: GET /d, response: { text: d }, rateLimit: { limit: 1, window: 1h, mode: dry_run } }
`)
	for where, more := range map[string][]string{"memory": nil, "redis": {"--redis-url=" + redis.URL(), "--redis-budget=2s", sharedSecret}} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			server := start(t, append([]string{dir, "--metrics=public", "--engine-limit=2/1d", "--management-limit=disabled"}, more...)...)
			c := newClient(t, server.URL)
			for i, want := range []struct {
				status    int
				limitedBy string
			}{{http.StatusOK, ""}, {http.StatusTooManyRequests, `simulated; policy="get-a"`}, {http.StatusTooManyRequests, `shield; policy="engine"`}} {
				answer := c.call(t, want.status, http.MethodGet, "/m/shop/a", "")
				if got := answer.Header.Get("Mockbase-Limited-By"); got != want.limitedBy {
					t.Errorf("call %d is limited by %s", i+1, got)
				}
				// AA4: the mock's own answers carry no fields of the shield, and those of the shield none of the mock.
				shielded, mocked := answer.Header["Ratelimit"] != nil, answer.Header.Get("X-RateLimit-Limit") != ""
				if shielded != (i == 2) || mocked != (i < 2) {
					t.Errorf("call %d: %v", i+1, answer.Header)
				}
			}
			got := scrape(t, c)
			got.expect(t, map[string]float64{
				"mockbase_shield_checks_total outcome=allowed policy=engine":     2,
				"mockbase_shield_checks_total outcome=denied policy=engine":      1,
				"mockbase_shield_checks_total outcome=denied policy=get-a":       -1,
				"mockbase_simlimit_checks_total outcome=allowed policy=get-a":    1,
				"mockbase_simlimit_checks_total outcome=denied policy=get-a":     1,
				"mockbase_simlimit_checks_total outcome=dry_denied policy=get-a": 0,
				"mockbase_simlimit_checks_total outcome=allowed policy=engine":   -1,
				"mockbase_simlimit_checks_total outcome=allowed policy=get-d":    -1,
				"mockbase_simlimit_store_up":                                     1,
				"mockbase_simlimit_evictions_total":                              0,
				"mockbase_simlimit_clock_jumps_total":                            0,
			})
			got.checkLabels(t)
		})
	}
}

// RL128: what a dry run would limit is counted as such, and memory is shown.
func TestRL128_dry_runs_of_simulated_limits_are_counted(t *testing.T) {
	t.Parallel()
	dir := limitedFolder(t, "  - { name: get-d, request: GET /d, response: { text: d }, rateLimit: { limit: 1, window: 1h, mode: dry_run } }\n")
	c := newClient(t, start(t, dir, "--metrics=public", "--no-shield-enabled").URL)
	if got := c.statuses(t, 3, "/d"); got != "200 200 200" {
		t.Errorf("answered %s", got)
	}
	got := scrape(t, c)
	got.expect(t, map[string]float64{
		"mockbase_simlimit_checks_total outcome=allowed policy=get-d":    1,
		"mockbase_simlimit_checks_total outcome=denied policy=get-d":     0,
		"mockbase_simlimit_checks_total outcome=dry_denied policy=get-d": 2,
		"mockbase_simlimit_keys":                1,
		"mockbase_simlimit_store_breaker_state": -1,
	})
	if got["mockbase_simlimit_bytes"] <= 0 {
		t.Errorf("its memory is %v bytes", got["mockbase_simlimit_bytes"])
	}
}

// AA16: the clock of a session is none of the shield's, though it is that of the limits of its mocks.
func TestAA16_an_advance_does_not_move_the_shield(t *testing.T) {
	t.Parallel()
	dir := limitedFolder(t, "  - { name: get-a, request: GET /a, response: { text: a }, rateLimit: 1/1h }\n")
	c := newClient(t, start(t, dir, "--engine-limit=3/30d", "--management-limit=disabled", "--admin-email="+testEmail, "--admin-password="+testPassword).URL)
	c.logIn(t)
	advance := func() {
		c.call(t, http.StatusOK, http.MethodPost, "/api/v1/projects/shop/sessions/default/clock", `{"advance":"1h"}`)
	}
	if got := c.statuses(t, 2, "/a"); got != "200 429" {
		t.Errorf("answered %s", got)
	}
	advance()
	if got := c.statuses(t, 2, "/a"); got != "200 429" {
		t.Errorf("after an hour: %s", got)
	}
	advance()
	answer := c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/shop/a", "")
	if got := answer.Header.Get("Mockbase-Limited-By"); got != `shield; policy="engine"` {
		t.Errorf("after another hour limited by %s", got)
	}
}
