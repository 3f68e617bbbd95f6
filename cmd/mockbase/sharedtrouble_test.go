package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// sharedKey is where servers share the settings of the shield.
const sharedKey = "ratelimit:document:shield"

// share writes a document as another server would.
func share(redis *testkit.Redis, version int, text string) {
	redis.Do("HSET", sharedKey, "version", strconv.Itoa(version), "at", "1760000000000000", "by", "Eve", "text", text)
}

// RL130: a document that makes no sense changes nothing, here or in what is stored for the next start, and the next change
// of an administrator replaces it.
func TestRL130_settings_that_make_no_sense_are_left_out(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	dir := t.TempDir()
	server, c := sharing(t, redis, dir, "--ipv6-prefix=56")
	if got := c.changeShield(t, block("203.0.113.9")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	good, _ := c.shieldOf(t)
	wrong := func(change func(*mockbase.ShieldSettings)) string {
		settings := good
		settings.Policies = slices.Clone(good.Policies)
		change(&settings)
		text, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	version := 7
	for _, text := range []string{
		"", "null", "{}", "[]", "\x00\xff", `{"blocklist":7}`,
		wrong(func(s *mockbase.ShieldSettings) { policy(s, "global").Limit = -1 }),
		wrong(func(s *mockbase.ShieldSettings) { policy(s, "global").Algorithm = "of a newer version" }),
		wrong(func(s *mockbase.ShieldSettings) { policy(s, "login").OnStoreFailure = "open" }),
		wrong(func(s *mockbase.ShieldSettings) { s.ClientHeader = "\n" }),
		wrong(func(s *mockbase.ShieldSettings) { s.Blocklist = []string{"nobody"} }),
		wrong(func(s *mockbase.ShieldSettings) { s.Circuit.Force = "open" }),
	} {
		version++
		share(redis, version, text)
		await(t, "the look at "+text, func() bool {
			_, tag := c.shieldOf(t)
			return tag == strconv.Quote("v"+strconv.Itoa(version+1))
		})
		if got := c.as(t, "203.0.113.9"); got != http.StatusForbidden {
			t.Errorf("%q: %d", text, got)
		}
		if settings, _ := c.shieldOf(t); !slices.Equal(settings.Blocklist, good.Blocklist) || settings.Circuit != good.Circuit || settings.IPv6Prefix != 56 {
			t.Errorf("%q: %+v", text, settings)
		}
	}
	if n := strings.Count(server.said.String(), "are left out"); n != version-7 {
		t.Errorf("told %d times, want %d", n, version-7)
	}
	server.stop(t)
	server, c = administered(t, dir, "--trusted-proxies=127.0.0.1")
	if settings, tag := c.shieldOf(t); !slices.Equal(settings.Blocklist, good.Blocklist) || tag != `"v2"` {
		t.Errorf("stored are %s %+v", tag, settings)
	}
	server.stop(t)

	_, c = sharing(t, redis, dir, "--ipv6-prefix=56")
	if got := c.changeShield(t, block("203.0.113.10")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	_, other := sharing(t, redis, t.TempDir())
	if settings, tag := other.shieldOf(t); !blocks("203.0.113.9")(&settings) || !blocks("203.0.113.10")(&settings) || tag != `"v`+strconv.Itoa(version+2)+`"` {
		t.Errorf("a new server has %s %+v", tag, settings)
	}
}

// RL130: somebody else's value in the place of the settings is told once and overwritten by nobody; what was lost, or
// restored from an older copy, is handed out again.
func TestRL130_settings_that_redis_lost_come_back(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	server, a := sharing(t, redis, t.TempDir())
	_, b := sharing(t, redis, t.TempDir())
	_, apart := sharing(t, redis, t.TempDir(), "--shield-key-prefix=apart")
	for i, address := range []string{"203.0.113.1", "203.0.113.2"} {
		if got := a.changeShield(t, block(address)); got.StatusCode != http.StatusOK {
			t.Fatalf("%d: %d %s", i, got.StatusCode, got.body)
		}
	}
	b.inForce(t, "the change", blocks("203.0.113.2"))

	for range 2 {
		redis.Do("DEL", sharedKey)
		redis.Do("SET", sharedKey, "not ours")
		server.until(t, "is somebody else's")
		if got := a.changeShield(t, block("203.0.113.3")); got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got.body, sharedKey) {
			t.Errorf("a change: %d %s", got.StatusCode, got.body)
		}
		if got := redis.Do("GET", sharedKey); got != "not ours" {
			t.Errorf("there is %q now", got)
		}
		redis.Do("DEL", sharedKey)
		await(t, "the settings to be handed out", func() bool { return redis.Do("HGET", sharedKey, "version") == "2" })
	}
	await(t, "the end of it to be told", func() bool { return strings.Contains(server.said.String(), "share the settings of the shield again") })
	if n := strings.Count(server.said.String(), "is somebody else's"); n > 2 {
		t.Errorf("told %d times", n)
	}

	old := redis.Do("HGET", sharedKey, "text")
	if got := b.changeShield(t, block("203.0.113.4")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	a.inForce(t, "the change", blocks("203.0.113.4"))
	redis.Do("FLUSHALL")
	share(redis, 2, old) // A copy of yesterday.
	await(t, "the newest settings to be handed out", func() bool { return redis.Do("HGET", sharedKey, "version") == "3" })
	for name, c := range map[string]*visitor{"a": a, "b": b} {
		if settings, tag := c.shieldOf(t); !blocks("203.0.113.4")(&settings) || tag != `"v4"` {
			t.Errorf("%s has %s %+v", name, tag, settings.Blocklist)
		}
	}
	if settings, tag := apart.shieldOf(t); len(settings.Blocklist) > 0 || tag != `"v1"` {
		t.Errorf("with another prefix: %s %+v", tag, settings.Blocklist)
	}
}

// RL130: of changes that know nothing of each other all servers choose the same one, whatever their clocks say.
func TestRL130_servers_agree_after_changes_at_the_same_instant(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	if got := a.changeShield(t, block("203.0.113.5")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	mine := redis.Do("HGET", sharedKey, "text")
	for _, address := range []string{"203.0.113.1", "203.0.113.8"} { // One is before it in the order of texts, one after it.
		redis.Do("HSET", sharedKey, "text", strings.Replace(mine, "203.0.113.5", address, 1))
		await(t, "one text at both", func() bool {
			settings, tag := a.shieldOf(t)
			text, version := redis.Do("HGET", sharedKey, "text"), redis.Do("HGET", sharedKey, "version")
			return len(settings.Blocklist) == 1 && strings.Contains(text, settings.Blocklist[0]) && tag == nextTag(t, version)
		})
		mine = redis.Do("HGET", sharedKey, "text")
	}
}

// nextTag is the ETag of settings whose shared document has a version.
func nextTag(t *testing.T, version string) string {
	t.Helper()
	n, err := strconv.Atoi(version)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Quote("v" + strconv.Itoa(n+1))
}

// RL130: what a newer version of the program wrote is taken as far as it is known here, and its policies outlive a change.
func TestRL130_policies_of_a_newer_version_outlive_a_change(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	if got := a.changeShield(t, block("203.0.113.9")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	text := redis.Do("HGET", sharedKey, "text")
	text = strings.Replace(text, `{"policies":[`, `{"novelty":{"deep":[1]},"policies":[{"name":"webhooks","limit":3,"window":"60s","algorithm":"fixed_window","key":"ip","mode":"enforce","onStoreFailure":"open"},`, 1)
	if !strings.Contains(text, "webhooks") {
		t.Fatalf("the document is %s", text)
	}
	share(redis, 2, strings.Replace(text, "203.0.113.9", "203.0.113.10", 1))
	a.inForce(t, "the newer settings", blocks("203.0.113.10"))
	if got := a.changeShield(t, block("203.0.113.11")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if text := redis.Do("HGET", sharedKey, "text"); !strings.Contains(text, "webhooks") || !strings.Contains(text, "203.0.113.11") {
		t.Errorf("the document is %s", text)
	}
}

// RL100 and RL104: a ban and an order to the circuit by an administrator outlive a Redis that comes back empty.
func TestRL100_bans_and_orders_of_administrators_come_back_with_an_empty_redis(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	server, a := sharing(t, redis, t.TempDir())
	_, b := sharing(t, redis, t.TempDir())
	const banned, anybody = "198.51.100.7", "198.51.100.8"
	a.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"ip","value":"`+banned+`"},"duration":"1d","reason":"scraping"}`)
	if got := a.changeShield(t, func(s *mockbase.ShieldSettings) {
		s.Safelist, s.Circuit.Force = []string{"127.0.0.1"}, "lockdown"
	}); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	refused := func(c *visitor) bool {
		return c.as(t, banned) == http.StatusForbidden && c.as(t, anybody) == http.StatusServiceUnavailable
	}
	for range 2 {
		for _, c := range []*visitor{a, b} {
			await(t, "ban and order", func() bool { return refused(c) })
		}
		redis.Do("FLUSHALL")
		await(t, "ban and order in Redis", func() bool {
			held := contents(redis)
			return strings.Contains(held, banned) && strings.Contains(held, "lockdown\n")
		})
	}

	// While Redis takes nothing a new ban holds here, and is given to the others afterwards.
	redis.Do("CONFIG", "SET", "maxmemory", "1")
	const later = "198.51.100.9"
	if got := a.status(t, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"ip","value":"`+later+`"},"duration":"1d","reason":"scraping"}`); got != http.StatusServiceUnavailable {
		t.Errorf("a ban that Redis does not take: %d", got)
	}
	if got := a.as(t, later); got != http.StatusForbidden {
		t.Errorf("meanwhile here: %d", got)
	}
	redis.Do("CONFIG", "SET", "maxmemory", "0")
	await(t, "the ban at the other server", func() bool { return b.as(t, later) == http.StatusForbidden })
	server.until(t, "the register has taken the bans")
	if n := strings.Count(server.said.String(), "in force in this process alone"); n != 1 {
		t.Errorf("told %d times", n)
	}
}
