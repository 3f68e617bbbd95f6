package main

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// sharing runs a server that shares its Redis with others and has an administrator.
func sharing(t *testing.T, redis *testkit.Redis, dir string, args ...string) (*instance, *visitor) {
	t.Helper()
	return administered(t, dir, append([]string{
		"--redis-url=" + redis.URL(), "--redis-budget=2s", "--trusted-proxies=127.0.0.1", "--engine-limit=100/1d", sharedSecret,
	}, args...)...)
}

// inForce waits until a server has settings for which something holds.
func (c *visitor) inForce(t *testing.T, what string, holds func(*mockbase.ShieldSettings) bool) {
	t.Helper()
	await(t, what, func() bool {
		settings, _ := c.shieldOf(t)
		return holds(&settings)
	})
}

// blocks says whether settings have an address on the blocklist.
func blocks(address string) func(*mockbase.ShieldSettings) bool {
	return func(s *mockbase.ShieldSettings) bool { return slices.Contains(s.Blocklist, address) }
}

// block puts an address on the blocklist.
func block(address string) func(*mockbase.ShieldSettings) {
	return func(s *mockbase.ShieldSettings) { s.Blocklist = append(s.Blocklist, address) }
}

// RL130: a change of every kind reaches the other server, in force and without lost counts.
func TestRL130_changed_settings_reach_the_other_server(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	_, b := sharing(t, redis, t.TempDir())
	const client = "198.51.100.7"
	for range 3 {
		if got := b.as(t, client); got != http.StatusOK {
			t.Fatalf("before the change: %d", got)
		}
	}
	answer := a.changeShield(t, func(s *mockbase.ShieldSettings) {
		policy(s, "global").Limit, policy(s, "global").Window = 5, "1d"
		policy(s, "management").Mode = mockbase.ShieldDryRun
		s.Blocklist, s.Safelist = []string{"203.0.113.9", "/m/demo/closed/*"}, []string{"192.0.2.0/24"}
		s.IPv6Prefix, s.ExposeHeaders, s.Circuit.Mode, s.Circuit.Threshold = 48, true, "adaptive", "9000/60s"
	})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, answer.body)
	}
	b.inForce(t, "the change", blocks("203.0.113.9"))
	mine, tag := a.shieldOf(t)
	other, otherTag := b.shieldOf(t)
	if tag != otherTag || len(mine.Policies) != len(other.Policies) || *policy(&other, "global") != *policy(&mine, "global") ||
		policy(&other, "management").Mode != mockbase.ShieldDryRun || other.IPv6Prefix != 48 || !other.ExposeHeaders || other.Circuit != mine.Circuit {
		t.Errorf("%s %+v, want %s %+v", otherTag, other, tag, mine)
	}
	for address, want := range map[string]int{"203.0.113.9": http.StatusForbidden, client: http.StatusOK} {
		if got := b.as(t, address); got != want {
			t.Errorf("%s at the other server: %d, want %d", address, got, want)
		}
	}
	got := b.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/shield/status", "")
	if !strings.Contains(got.body, `{"name":"engine","allowed":4,`) {
		t.Errorf("the counts are %s", got.body)
	}
}

// RL130: of two administrators who change the same version at two servers at one time, one is told.
func TestRL130_two_administrators_do_not_lose_each_others_change(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	_, b := sharing(t, redis, t.TempDir())
	servers, addresses := []*visitor{a, b}, []string{"203.0.113.1", "203.0.113.2"}
	var done, told atomic.Int64
	var admins sync.WaitGroup
	for i, c := range servers {
		admins.Go(func() {
			for tries := 0; ; tries++ {
				switch got := c.changeShield(t, block(addresses[i])); {
				case got.StatusCode == http.StatusOK:
					done.Add(1)
					return
				case got.StatusCode != http.StatusPreconditionFailed || tries > 10:
					t.Errorf("%d %s", got.StatusCode, got.body)
					return
				default:
					told.Add(1) // Read again, and repeat the change.
				}
			}
		})
	}
	admins.Wait()
	for _, c := range servers {
		c.inForce(t, "both changes", func(s *mockbase.ShieldSettings) bool { return blocks(addresses[0])(s) && blocks(addresses[1])(s) })
	}
	if done.Load() != 2 {
		t.Errorf("%d changes were made, and %d refused", done.Load(), told.Load())
	}

	// Who has not seen the other's change yet is refused and then sees it, without waiting for the next look.
	if got := a.changeShield(t, block("203.0.113.3")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := b.changeShield(t, block("203.0.113.4")); got.StatusCode == http.StatusPreconditionFailed {
		if settings, _ := b.shieldOf(t); !blocks("203.0.113.3")(&settings) {
			t.Errorf("refused for settings that it does not have: %+v", settings.Blocklist)
		}
	} else if settings, _ := b.shieldOf(t); got.StatusCode != http.StatusOK || !blocks("203.0.113.3")(&settings) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// RL130: an outage keeps the last known settings; a change is refused meanwhile unless it is meant for this server alone,
// and handed to the others when Redis is back. Redis comes back empty.
func TestRL130_settings_outlive_an_outage_of_redis(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, a := sharing(t, redis, t.TempDir())
	server, b := sharing(t, redis, t.TempDir())
	if got := a.changeShield(t, block("203.0.113.9")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	b.inForce(t, "the change", blocks("203.0.113.9"))
	redis.Kill()
	if got := a.changeShield(t, block("203.0.113.10")); got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got.body, "force=true") {
		t.Errorf("a change during the outage: %d %s", got.StatusCode, got.body)
	}
	for _, c := range []*visitor{a, b} {
		if got := c.as(t, "203.0.113.9"); got != http.StatusForbidden {
			t.Errorf("during the outage: %d", got)
		}
		if got := c.as(t, "203.0.113.10"); got != http.StatusOK {
			t.Errorf("after a refused change: %d", got)
		}
	}
	if got := a.changeShieldBy(t, "?force=true", block("203.0.113.11")); got.StatusCode != http.StatusOK {
		t.Errorf("a change of this server alone: %d %s", got.StatusCode, got.body)
	}
	if got := a.as(t, "203.0.113.11"); got != http.StatusForbidden {
		t.Errorf("after it: %d", got)
	}
	redis.Restart()
	b.inForce(t, "the change made during the outage", blocks("203.0.113.11"))
	server.until(t, "changed at another server")
}

// RL130: whoever starts takes the newer of what it stored and what is shared, and hands out what is newer here.
func TestRL130_a_start_takes_the_newer_settings(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	dir := t.TempDir()
	server, a := sharing(t, redis, dir)
	_, b := sharing(t, redis, t.TempDir())
	if got := a.changeShield(t, block("203.0.113.1")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	b.inForce(t, "the first change", blocks("203.0.113.1"))
	server.stop(t)
	for _, address := range []string{"203.0.113.2", "203.0.113.3"} {
		if got := b.changeShield(t, block(address)); got.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
	}
	server, a = sharing(t, redis, dir)
	if settings, tag := a.shieldOf(t); !blocks("203.0.113.3")(&settings) || tag != `"v4"` { // At once, not after a look.
		t.Errorf("after a start: %s %+v", tag, settings.Blocklist)
	}
	server.stop(t)

	// What came from the others is stored here, too.
	redis.Do("FLUSHALL")
	_, alone := administered(t, dir, "--trusted-proxies=127.0.0.1")
	if settings, _ := alone.shieldOf(t); !blocks("203.0.113.3")(&settings) {
		t.Errorf("without Redis: %+v", settings.Blocklist)
	}
	if got := alone.changeShield(t, block("203.0.113.4")); got.StatusCode != http.StatusOK {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// RL130: what a server's configuration states stays there, and the others keep what they were given for it.
func TestRL130_what_is_pinned_here_stays_here_alone(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	_, pinned := sharing(t, redis, t.TempDir(), "--shield-blocklist=192.0.2.1")
	_, free := sharing(t, redis, t.TempDir())
	if got := free.changeShield(t, block("203.0.113.9")); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	pinned.inForce(t, "the version", func(s *mockbase.ShieldSettings) bool {
		_, tag := pinned.shieldOf(t)
		return tag == `"v2"` && slices.Equal(s.Blocklist, []string{"192.0.2.1"})
	})
	if got := pinned.changeShield(t, func(s *mockbase.ShieldSettings) { policy(s, "endpoint").Limit = 77 }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	free.inForce(t, "the limit", func(s *mockbase.ShieldSettings) bool {
		return policy(s, "endpoint").Limit == 77 && slices.Equal(s.Blocklist, []string{"203.0.113.9"})
	})
}
