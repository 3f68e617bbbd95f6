package redisstore_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func TestMain(m *testing.M) {
	redisstore.RedirectClientLog(nil)
	m.Run()
}

// open makes a store that has met its server, and closes it with the test.
func open(tb testing.TB, o redisstore.Options) *redisstore.Store {
	tb.Helper()
	newStore := redisstore.New
	if o.Config.Budget == redisstore.Patient {
		newStore = redisstore.NewPatient
	}
	s, err := newStore(o)
	if err != nil {
		tb.Fatalf("new store: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	<-s.Greeted()
	return s
}

func TestRL137_the_redis_store_keeps_the_contract(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		server.Do("FLUSHALL")
		t.Cleanup(func() { everyKeyEnds(t, server) })
		return open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	}, storetest.Algorithms()...)
}

func TestRL137_the_redis_store_keeps_the_contract_behind_sentinels(t *testing.T) {
	t.Parallel()
	master := testkit.StartRedis(t)
	testkit.StartRedisReplica(t, master)
	sentinel := testkit.StartRedisSentinel(t, "counters", master, 1)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		master.Do("FLUSHALL")
		t.Cleanup(func() { everyKeyEnds(t, master) })
		config := redisstore.Config{Addrs: []string{sentinel.Addr}, Master: "counters", Budget: redisstore.Patient}
		return open(t, redisstore.Options{Config: config})
	}, storetest.Algorithms()...)
}

// tagged returns the part of a store whose keys lie in one slot.
func tagged(tb testing.TB, s *redisstore.Store, tag string) *redisstore.Tagged {
	tb.Helper()
	part, err := s.Tagged(tag, 0)
	if err != nil {
		tb.Fatalf("tag keys: %v", err)
	}
	return part
}

// everyKeyEnds fails the test for each key that would stay for ever (rule RL60).
func everyKeyEnds(t *testing.T, server *testkit.Redis) {
	t.Helper()
	for key := range strings.Lines(server.Do("KEYS", "*")) {
		key = strings.TrimSuffix(key, "\n")
		if server.Do("TTL", key) == "-1" {
			t.Errorf("RL60: %q never expires", key)
		}
	}
}

// FuzzRL139_decisions_equal_those_of_Step (rule RL139) sends a sequence of checks through Redis and through Step. Three bytes are one
// check: how far the clock moves, back for a negative one, the cost, and now and then another limit.
func FuzzRL139_decisions_equal_those_of_Step(f *testing.F) {
	server := testkit.StartRedis(f)
	s := open(f, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	f.Add([]byte{1, 1, 0, 1, 3, 0, 130, 1, 0, 127, 8, 0, 1, 0, 200}, true)
	f.Add([]byte{0, 7, 0, 0, 1, 0, 100, 1, 0, 156, 1, 0, 0, 1, 3}, false)
	run := time.Now().UnixNano()
	f.Fuzz(func(t *testing.T, moves []byte, first bool) {
		run++
		p := ratelimit.Policy{Limit: 7, Window: 10 * time.Second}
		if first {
			p.Align = ratelimit.AlignFirstRequest
		}
		key := ratelimit.Key{Namespace: "fuzz", Identifier: strconv.FormatInt(run, 10)}
		var state ratelimit.State
		now := time.Unix(1_700_000_000, 0)
		newest := now
		for ; len(moves) >= 3; moves = moves[3:] {
			now = now.Add(time.Duration(int8(moves[0])) * time.Second / 16)
			if now.After(newest) {
				newest = now
			}
			if oldest := newest.Add(-p.Window); !first && now.Before(oldest) {
				now = oldest // Redis remembers more windows on the clock than Step, which keeps two.
			}
			if moves[2] > 0 {
				p.Limit = int64(moves[2])
			}
			judged := p
			r := ratelimit.Request{Key: key, Policy: &judged, Cost: int64(moves[1] % 16), Now: now}
			var want ratelimit.Decision
			state, want = ratelimit.Step(&judged, state, r.Now, r.Cost)
			got, err := s.Take(t.Context(), r)
			if err != nil || got != want {
				t.Fatalf("%d at %v:\n got %+v, %v\nwant %+v", r.Cost, r.Now, got, err, want)
			}
		}
	})
}
