package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// hostile are identifiers that a client might send to run into another one's counter, or out of its own.
func hostile() []string {
	long := strings.Repeat("x", 1<<20)
	return []string{
		"", "a", "A", "a:b", "a::b", "a:b:1699999200", "{a}", "a{b}c", "a\nb", "a\r\nDEL x\r\n", "a\x00", "a\x00b", "\xff\xfe", "\xff", "a b", " a", "a ",
		long, long + "x", long[1:], "h_" + strings.Repeat("0", 32), "ratelimit:engine:a", "*", "a*", "ä", "a\u0308",
	}
}

func TestRL132_identifiers_can_neither_collide_nor_inject(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	memory, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]ratelimit.Store{
		"memory": memory,
		"redis":  open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}}),
	} {
		for _, p := range []*ratelimit.Policy{{Name: "clock", Limit: 1, Window: time.Hour}, {Name: "log", Algorithm: ratelimit.SlidingLog, Limit: 1, Window: time.Hour}} {
			for i, identifier := range hostile() {
				r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: identifier}, Policy: p, Cost: 1, Now: sharedAt}
				first, err := store.Take(t.Context(), r)
				if err != nil || !first.Allowed {
					t.Errorf("%s, %s: identifier %d shares a counter with one before it: %+v, %v", name, p.Name, i, first, err)
				}
				if second, err := store.Take(t.Context(), r); err != nil || second.Allowed {
					t.Errorf("%s, %s: identifier %d has no counter: %+v, %v", name, p.Name, i, second, err)
				}
			}
		}
	}
	keys := strings.Fields(server.Do("KEYS", "ratelimit:engine:*"))
	if want := 2 * len(hostile()); len(keys) != want {
		t.Errorf("%d keys, want %d", len(keys), want)
	}
	for _, key := range keys {
		if len(key) > 200 || strings.ContainsAny(key, "{}*\"\\") {
			t.Errorf("key %.60q of %d bytes is not as keys are written", key, len(key))
		}
	}
}

// A session's clock is in the requests: advancing it frees a window at once, whatever the stores' own clocks say.
func TestRL125_a_simulated_limit_lives_on_the_clock_of_its_session(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	memory, err := memstore.New(memstore.Options{Lasting: true})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}, Prefix: "simlimit"})
	session, err := s.Tagged("prj_1/ses_1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]ratelimit.Store{"memory": memory, "redis": session} {
		for _, algorithm := range []ratelimit.Algorithm{
			ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.SlidingLog, ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA,
		} {
			p := &ratelimit.Policy{Name: "bucket", Algorithm: algorithm, Limit: 5, Window: time.Minute}
			if algorithm == ratelimit.FixedWindow {
				p.Align = ratelimit.AlignFirstRequest
			}
			now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
			r := ratelimit.Request{Key: ratelimit.Key{Namespace: string(algorithm), Identifier: "global"}, Policy: p, Cost: 5, Now: now}
			for _, step := range []struct {
				advance time.Duration
				cost    int64
				allowed bool
			}{{0, 5, true}, {0, 1, false}, {2*time.Minute + time.Microsecond, 5, true}, {0, 1, false}} {
				r.Now, r.Cost = r.Now.Add(step.advance), step.cost
				if d, err := store.Take(t.Context(), r); err != nil || d.Allowed != step.allowed {
					t.Errorf("%s, %s at %s, cost %d: %+v, %v", name, algorithm, r.Now, r.Cost, d, err)
				}
			}
		}
	}
	if got := server.Do("KEYS", "ratelimit:*"); strings.Contains(got, "engine") {
		t.Errorf("RL121: the shield's keys are %q", got)
	}
}
