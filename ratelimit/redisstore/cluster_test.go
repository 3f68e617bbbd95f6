package redisstore_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

// addresses returns where the servers are.
func addresses(servers []*testkit.Redis) []string {
	addrs := make([]string, 0, len(servers))
	for _, s := range servers {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// apart is a store of a cluster without what it can only do for keys in one slot.
type apart struct{ ratelimit.SessionStore }

// freshCluster starts a cluster and returns a function that empties it and opens a store.
func freshCluster(t *testing.T) func(t *testing.T) *redisstore.Store {
	t.Helper()
	nodes := testkit.StartRedisCluster(t, 3)
	return func(t *testing.T) *redisstore.Store {
		t.Helper()
		for _, node := range nodes {
			node.Do("FLUSHALL")
		}
		t.Cleanup(func() {
			for _, node := range nodes {
				everyKeyEnds(t, node)
			}
		})
		return open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient}})
	}
}

func TestRL137_the_redis_store_keeps_the_contract_in_a_cluster(t *testing.T) {
	t.Parallel()
	fresh := freshCluster(t)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return apart{fresh(t)}
	}, storetest.Algorithms()...)
}

func TestRL143_a_tagged_store_keeps_the_contract_in_a_cluster(t *testing.T) {
	t.Parallel()
	fresh := freshCluster(t)
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return tagged(t, fresh(t), "shop/session")
	}, storetest.Algorithms()...)
}

// spread asks for many keys and returns how many failed, by the address of the master that holds the key.
func spread(t *testing.T, s *redisstore.Store) map[string]int {
	t.Helper()
	cluster, ok := s.Client().(*redis.ClusterClient)
	if !ok {
		t.Fatalf("client is a %T", s.Client())
	}
	failed := map[string]int{}
	for i := range 60 {
		key := ratelimit.Key{Namespace: "engine", Identifier: fmt.Sprintf("client-%d", i)}
		_, err := s.Take(t.Context(), ratelimit.Request{Key: key, Policy: policy(), Cost: 1, Now: sharedAt})
		master, unknown := cluster.MasterForKey(t.Context(), "ratelimit:engine:"+key.Identifier+":1699999200")
		if unknown != nil {
			t.Fatalf("master of a key: %v", unknown)
		}
		addr := master.Options().Addr
		failed[addr] += 0
		if err != nil {
			failed[addr]++
		}
	}
	return failed
}

func TestRL51_a_dead_master_degrades_its_own_keys_only(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 3)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: 500 * time.Millisecond}})
	failing := func(address string) func() bool {
		return func() bool {
			for addr, failed := range spread(t, s) {
				if (failed > 0) != (addr == address) {
					t.Logf("%d checks of %s failed", failed, addr)
					return false
				}
			}
			return true
		}
	}
	testkit.Eventually(t, "every check to pass", failing("none"))
	dead := nodes[1]
	dead.Pause()
	testkit.Eventually(t, "the breaker of the dead master to open", func() bool {
		spread(t, s)
		return s.Available() != nil
	})
	started := time.Now()
	testkit.Eventually(t, "the checks of "+dead.Addr+" alone to fail", failing(dead.Addr))
	t.Logf("60 checks with one of three masters dead: %v", time.Since(started))
	if h := s.Health(); !h.Open || h.LastErrorClass != redisstore.ClassTransport {
		t.Errorf("health = %+v", h)
	}
	dead.Resume()
	testkit.Eventually(t, "the breaker to close", func() bool { return s.Available() == nil })
	testkit.Eventually(t, "every master to serve", failing("none"))
}

func TestRL51_a_cluster_that_nobody_can_find_is_one_breaker(t *testing.T) {
	t.Parallel()
	hole := testkit.OpenSYNBlackHole(t, "")
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{hole.Addr}, Cluster: true}})
	for range 20 {
		if _, err := s.Take(t.Context(), ratelimit.Request{Key: shared, Policy: policy(), Cost: 1}); !errors.Is(err, ratelimit.ErrUnavailable) {
			t.Fatalf("take: %v, want ErrUnavailable", err)
		}
	}
	if h := s.Health(); !h.Open || h.Target != "cluster "+hole.Addr {
		t.Errorf("health = %+v", h)
	}
}

func TestRL52_a_cluster_that_was_configured_as_one_server_is_named(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 3)
	for _, node := range nodes { // Wherever the probe's own key lies, checks of other slots fail.
		log := &logBook{}
		s := open(t, redisstore.Options{
			Config: redisstore.Config{Addrs: []string{node.Addr}, Budget: redisstore.Patient}, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
		for i := range 100 {
			key := ratelimit.Key{Namespace: "engine", Identifier: fmt.Sprintf("client-%d", i)}
			_, err := s.Take(t.Context(), ratelimit.Request{Key: key, Policy: policy(), Cost: 1})
			if err != nil && !strings.Contains(err.Error(), "this is a cluster: configure it as one") {
				t.Errorf("take: %v, want the way out", err)
			}
		}
		if h := s.Health(); !h.Open || h.LastErrorClass != redisstore.ClassConfig {
			t.Errorf("health = %+v, want it open for a configuration", h)
		}
		if lines := log.lines(); len(lines) != 1 || !strings.Contains(lines[0], "level=ERROR") || !strings.Contains(lines[0], "this is a cluster") {
			t.Errorf("log = %s, want one line that says so", log)
		}
	}
}

func TestRL47_a_master_is_found_through_sentinels_and_followed(t *testing.T) {
	t.Parallel()
	master := testkit.StartRedis(t)
	replica := testkit.StartRedisReplica(t, master)
	sentinel := testkit.StartRedisSentinel(t, "counters", master, 1)
	r := &rig{server: replica}
	r.store = open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{sentinel.Addr}, Master: "counters", Budget: redisstore.Patient}})
	for range 3 {
		if err := r.take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := master.Do("GET", sharedText); got != "3" {
		t.Errorf("the master counted %s, want 3", got)
	}
	testkit.Eventually(t, "the replica to follow", func() bool { return r.count(t) == 3 })
	killed := time.Now()
	master.Kill()
	testkit.HurrySentinel(t, sentinel, "counters")
	testkit.Eventually(t, "the failover", func() bool {
		now := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "counters")
		return strings.ReplaceAll(now, "\n", ":") == replica.Addr
	})
	promoted := time.Now()
	testkit.Eventually(t, "the store to follow", func() bool { return r.take(t.Context()) == nil })
	t.Logf("failover after %v, first check %v later", promoted.Sub(killed), time.Since(promoted))
	if got := r.count(t); got != 4 {
		t.Errorf("the new master counts %d, want 4", got)
	}
}

func TestProbeKey_lies_in_the_slot_of_the_key_that_failed(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"":                         "ratelimit:probe",
		"ratelimit:engine:a:1":     "ratelimit:probe:{ratelimit:engine:a:1}",
		"simlimit:{p/s}:bucket:ff": "ratelimit:probe:{p/s}",
	} {
		if got := redisstore.ProbeKey("ratelimit", key); got != want {
			t.Errorf("probe of %q = %q, want %q", key, got, want)
		}
	}
}
