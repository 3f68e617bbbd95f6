package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// sharedSecret is what servers with the same Redis have in common.
const sharedSecret = "--identity-secret=0123456789abcdef0123456789abcdef"

// on starts a server that counts in a Redis. The budget lets a busy machine answer.
func on(t *testing.T, redis *testkit.Redis, args ...string) *visitor {
	t.Helper()
	server := start(t, append([]string{"--ephemeral", "--redis-url=" + redis.URL(), "--redis-budget=2s", sharedSecret, "--management-limit=disabled"}, args...)...)
	return newClient(t, server.URL)
}

// status sends a request and returns the status of its answer.
func (c *visitor) status(t *testing.T, method, path, body string) int {
	t.Helper()
	answer, err := c.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}

// as sends a request for a mock in the name of another address, which a trusted proxy tells.
func (c *visitor) as(t *testing.T, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/m/demo/hello", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", address)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// RL25 and RL122: the default limit, asked by 32 callers at two processes at one time.
func TestRL25_two_servers_on_one_redis_let_exactly_120_pass(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	limit := "--engine-limit=120/1d" // The window must not end in the middle.
	a := on(t, redis, limit)
	b := on(t, redis, limit)
	var passed, limited atomic.Int64
	var callers sync.WaitGroup
	for i := range 32 {
		c := []*visitor{a, b}[i%2]
		callers.Go(func() {
			for range 10 {
				answer, err := c.try(t.Context(), http.MethodGet, "/m/demo/hello", "")
				switch {
				case err != nil:
					t.Error(err)
				case answer.StatusCode == http.StatusOK:
					passed.Add(1)
				case answer.StatusCode == http.StatusTooManyRequests:
					limited.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if passed.Load() != 120 || limited.Load() != 200 {
		t.Errorf("%d passed and %d were limited, want 120 and 200", passed.Load(), limited.Load())
	}
}

// RL96, RL100 and M-37: what failures earn at one server is in force at the other, and signing in is never open.
func TestRL100_bans_of_sign_in_are_shared_and_go_on_in_memory(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	args := []string{"--admin-email=" + testEmail, "--admin-password=" + testPassword, "--login-limit=disabled", "--login-ban=5/1d ban=1h key=ip+account", "--limit-store-failure=open"}
	a := on(t, redis, args...)
	b := on(t, redis, args...)
	attempt := func(c *visitor, email string) *reply {
		answer, err := c.try(t.Context(), http.MethodPost, "/api/v1/auth/login", fmt.Sprintf(`{"email":%q,"password":"wrong"}`, email))
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	banned := func(c *visitor, email string) bool {
		answer := attempt(c, email)
		return answer.StatusCode == http.StatusTooManyRequests && strings.Contains(answer.body, `"code":"login-banned"`)
	}
	for i := range 5 { // Three failures here and two there make five.
		c := []*visitor{a, b}[i%2]
		if got := attempt(c, "eve@example.com"); got.StatusCode != http.StatusUnauthorized {
			t.Fatalf("attempt %d: %d %s", i, got.StatusCode, got.body)
		}
	}
	for _, c := range []*visitor{a, b} {
		await(t, "the ban", func() bool { return banned(c, "eve@example.com") })
	}
	if keys := redis.Do("KEYS", "*"); strings.Contains(keys, "example.com") || !strings.Contains(keys, "login-ban") {
		t.Errorf("the keys are %s", keys)
	}

	redis.Kill()
	for name, c := range map[string]*visitor{"a": a, "b": b} {
		if !banned(c, "eve@example.com") {
			t.Errorf("%s: a known ban ended with Redis", name)
		}
		tries := 0
		for !banned(c, "bob@example.com") {
			if tries++; tries > 5 {
				t.Fatalf("%s: signing in is open while Redis is away", name)
			}
		}
		if tries != 5 {
			t.Errorf("%s: banned after %d failures, want 5", name, tries)
		}
	}
}

// RL106 and RL107: two servers trip at the threshold, and the circuit stays as it is when Redis goes away.
func TestRL106_the_circuit_is_shared_and_goes_on_in_memory(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	args := []string{
		"--engine-limit=disabled", "--circuit-mode=lockdown", "--circuit-threshold=40/1h", "--circuit-global-limit=1000/1h", "--circuit-recovery=1h",
		"--metrics=public",
	}
	a := on(t, redis, args...)
	b := on(t, redis, args...)
	for range 15 { // 30 are below the threshold, which neither reaches alone.
		for _, c := range []*visitor{a, b} {
			c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
		}
	}
	for range 12 {
		for _, c := range []*visitor{a, b} {
			c.status(t, http.MethodGet, "/m/demo/hello", "")
		}
	}
	open := func(c *visitor) bool {
		return c.status(t, http.MethodGet, "/m/demo/hello", "") == http.StatusServiceUnavailable
	}
	for _, c := range []*visitor{a, b} {
		await(t, "an open circuit", func() bool { return open(c) })
	}
	trips := scrape(t, a)["mockbase_guard_circuit_trips_total"] + scrape(t, b)["mockbase_guard_circuit_trips_total"]
	if trips != 1 {
		t.Errorf("%v servers tripped, want one", trips)
	}
	redis.Kill()
	for range 20 {
		if !open(a) || !open(b) {
			t.Fatal("the circuit closed when Redis went away")
		}
	}
}

func TestRL81_servers_that_share_redis_are_told_to_share_a_secret(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	const warning = "there is no secret that servers with the same Redis share"
	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"Redis and no secret": {[]string{"--redis-url=" + redis.URL()}, 1},
		"Redis and a secret":  {[]string{"--redis-url=" + redis.URL(), sharedSecret}, 0},
		"no Redis":            {nil, 0},
	} {
		server := start(t, append([]string{"--ephemeral"}, test.args...)...)
		if n := strings.Count(server.said.String(), warning); n != test.want {
			t.Errorf("%s: %d warnings, want %d", name, n, test.want)
		}
	}
}

// RL62: four limits are judged in one round trip, and each has a count of its own.
func TestRL62_limits_of_one_request_share_a_round_trip_and_no_count(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	c := on(t, redis, "--metrics=public", "--engine-limit=3/1d", "--shield-tier-user=50/1d", "--shield-tier-endpoint=100/1d", "--shield-tier-global=1000/1d")
	c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "") // The script is known from here on.
	least := int64(math.MaxInt64)
	for range 2 { // Once a second the server looks for changed settings besides, which may fall in with one of the two.
		redis.ResetCommandCalls()
		c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
		calls := redis.CommandCalls()
		least = min(least, calls["evalsha"]+calls["eval"]+calls["exec"])
	}
	if least != 1 {
		t.Errorf("%d round trips", least)
	}
	for range 2 { // The user's limit is asked first and counts; what comes after the one that denies does not.
		c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/demo/hello", "")
	}
	got := scrape(t, c)
	got.expect(t, map[string]float64{
		"mockbase_shield_checks_total outcome=allowed policy=user":       5,
		"mockbase_shield_checks_total outcome=allowed policy=engine":     3,
		"mockbase_shield_checks_total outcome=denied policy=engine":      2,
		"mockbase_shield_checks_total outcome=allowed policy=endpoint":   3,
		"mockbase_shield_checks_total outcome=allowed policy=global":     3,
		"mockbase_shield_checks_total outcome=allowed policy=management": -1,
		"mockbase_guard_matches_total layer=tiers mode=live rule=engine": 2,
	})
	if skew := got["mockbase_shield_clock_skew_seconds"]; skew < -5 || skew > 5 {
		t.Errorf("the clock of this machine's Redis differs by %v s", skew)
	}
}

// RL92, RL128 and RL129: what a dry run would refuse is counted, and the keys that were refused most are told.
func TestRL129_would_be_refusals_and_the_most_refused_are_told(t *testing.T) {
	t.Parallel()
	_, dry := administered(t, t.TempDir(), "--metrics=public", "--shield-dry-run", "--engine-limit=2/1d")
	for range 5 {
		dry.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	}
	scrape(t, dry).expect(t, map[string]float64{
		"mockbase_shield_checks_total outcome=allowed policy=engine":    2,
		"mockbase_shield_checks_total outcome=denied policy=engine":     0,
		"mockbase_shield_checks_total outcome=dry_denied policy=engine": 3,
		"mockbase_guard_matches_total layer=tiers mode=dry rule=engine": 3,
	})
	if got := dry.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/shield/status", "").body; !strings.Contains(got, `{"name":"engine","allowed":5,"limited":0,"wouldLimit":3,"failedOpen":0}`) {
		t.Errorf("status %s", got)
	}

	_, live := administered(t, t.TempDir(), "--engine-limit=2/1d")
	for range 5 {
		live.status(t, http.MethodGet, "/m/demo/hello", "")
	}
	got := live.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/shield/status", "").body
	if _, top, ok := strings.Cut(got, `"topDenied":`); !ok || !strings.Contains(top, `"rule":"engine"`) || !strings.Contains(top, `"count":3`) || strings.Contains(top, "127.0.0.1") {
		t.Errorf("status %s", got)
	}
}

// contents are all keys and values of a Redis as text.
func contents(redis *testkit.Redis) string {
	var all strings.Builder
	for key := range strings.FieldsSeq(redis.Do("KEYS", "*")) {
		read := map[string][]string{
			"string": {"GET", key}, "hash": {"HGETALL", key}, "zset": {"ZRANGE", key, "0", "-1"}, "set": {"SMEMBERS", key}, "list": {"LRANGE", key, "0", "-1"},
		}[redis.Do("TYPE", key)]
		all.WriteString(key + "\n")
		if read != nil {
			all.WriteString(redis.Do(read...) + "\n")
		}
	}
	return all.String()
}

// RL133: where addresses are hashed, Redis holds none, not even of those that an administrator banned.
func TestRL133_banned_addresses_are_hashed_too(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	dir := t.TempDir()
	args := []string{"--redis-url=" + redis.URL(), "--redis-budget=2s", "--trusted-proxies=127.0.0.1", sharedSecret}
	server, c := administered(t, dir, append(args, "--shield-hash-addresses")...)
	const four, six = "203.0.113.9", "2001:db8:7::1"
	for _, address := range []string{four, six} {
		if got := c.as(t, address); got != http.StatusOK {
			t.Fatalf("%s: %d before the ban", address, got)
		}
		c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"ip","value":"`+address+`"},"duration":"1h","reason":"scraping"}`)
	}
	expect := func(c *visitor) {
		t.Helper()
		for address, want := range map[string]int{four: 403, six: 403, "203.0.113.10": 200, "2001:db8:8::1": 200} {
			if got := c.as(t, address); got != want {
				t.Errorf("%s: %d, want %d", address, got, want)
			}
		}
	}
	expect(c)
	if held := contents(redis); strings.Contains(held, "203.0.113") || strings.Contains(held, "2001:db8") || !strings.Contains(held, "manual") {
		t.Errorf("Redis holds\n%s", held)
	}
	server.stop(t)

	// Whoever hashes no more finds the same bans in force, and lifts them.
	_, c = administered(t, dir, args...)
	expect(c)
	list := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans", "").body
	if !strings.Contains(list, four) || !strings.Contains(list, six) {
		t.Errorf("bans %s", list)
	}
	if got := c.call(t, http.StatusOK, http.MethodDelete, "/api/v1/admin/bans?id="+strings.Join(banIDs(t, list), ","), ""); !strings.Contains(got.body, `"lifted":2`) {
		t.Errorf("lifted %s", got.body)
	}
	if held := contents(redis); strings.Contains(held, "scraping") {
		t.Errorf("Redis holds\n%s", held)
	}
}

// banIDs are the ids in a list of bans.
func banIDs(t *testing.T, list string) []string {
	t.Helper()
	var page struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(list), &page); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 0, len(page.Items))
	for _, b := range page.Items {
		ids = append(ids, b.ID)
	}
	return ids
}

// RL81: without a secret of its own a server keeps one, so that what it stored as digests is known after a restart.
func TestRL81_bans_of_accounts_outlive_a_restart_without_a_configured_secret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := administered(t, dir)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"account","value":"eve@example.com"},"duration":"1h","reason":"guessing"}`)
	server.stop(t)
	for _, args := range [][]string{nil, {sharedSecret}} { // The account is known, so that even another secret finds the ban.
		server, c = administered(t, dir, args...)
		if got := c.status(t, http.MethodPost, "/api/v1/auth/login", `{"email":"Eve@example.com","password":"wrong"}`); got != http.StatusTooManyRequests {
			t.Errorf("%v: %d", args, got)
		}
		server.stop(t)
	}
}

// RL104: an order to the circuit holds whatever its state is, though it is disabled, and after a restart.
func TestRL104_administrators_order_a_lockdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--trusted-proxies=127.0.0.1"}
	server, c := administered(t, dir, args...)
	lock := func(s *mockbase.ShieldSettings) { s.Circuit.Force = "lockdown" }
	if got := c.changeShield(t, lock); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, `"code":"would-lock-out"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for name, change := range map[string]func(*mockbase.ShieldSettings){
		"an unknown order": func(s *mockbase.ShieldSettings) { s.Circuit.Force = "open" },
		"an order that is over": func(s *mockbase.ShieldSettings) {
			lock(s)
			s.Circuit.ForceUntil = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		},
		"an end of no order": func(s *mockbase.ShieldSettings) { s.Circuit.ForceUntil = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		if got := c.changeShield(t, change); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, "#/circuit/force") {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	got := c.changeShield(t, func(s *mockbase.ShieldSettings) {
		lock(s)
		s.Circuit.ForceUntil, s.Safelist = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), []string{"127.0.0.1"}
	})
	if got.StatusCode != http.StatusOK || !strings.Contains(got.body, `"force":"lockdown","forceUntil":"2099-01-01T00:00:00Z"`) {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	server.until(t, "the circuit changed")
	if got := c.as(t, "203.0.113.9"); got != http.StatusServiceUnavailable {
		t.Errorf("under a lockdown: %d", got)
	}
	server.stop(t)

	_, c = administered(t, dir, args...)
	if got := c.as(t, "203.0.113.9"); got != http.StatusServiceUnavailable {
		t.Errorf("after the restart: %d", got)
	}
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.Circuit.Force, s.Circuit.ForceUntil = "", time.Time{} }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := c.as(t, "203.0.113.9"); got != http.StatusOK {
		t.Errorf("after the order was taken back: %d", got)
	}
}
