package redisstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

func TestRL53_RL137_callers_at_one_time_admit_exactly_the_limit_and_count_once(t *testing.T) {
	t.Parallel()
	const rounds, limit = 40, 100
	for _, c := range []struct {
		name  string
		start func(t *testing.T) ([]*testkit.Redis, redisstore.Config)
	}{
		{"one server", func(t *testing.T) ([]*testkit.Redis, redisstore.Config) {
			t.Helper()
			server := testkit.StartRedis(t)
			return []*testkit.Redis{server}, redisstore.Config{Addrs: []string{server.Addr}}
		}},
		{"one connection", func(t *testing.T) ([]*testkit.Redis, redisstore.Config) {
			t.Helper()
			server := testkit.StartRedis(t)
			return []*testkit.Redis{server}, redisstore.Config{Addrs: []string{server.Addr}, PoolSize: 1}
		}},
		{"a cluster", func(t *testing.T) ([]*testkit.Redis, redisstore.Config) {
			t.Helper()
			nodes := testkit.StartRedisCluster(t, 3)
			return nodes, redisstore.Config{Addrs: addresses(nodes)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			servers, config := c.start(t)
			config.Budget = redisstore.Patient
			s := open(t, redisstore.Options{Config: config, WithoutLocalDenials: true})
			for _, server := range servers {
				server.ResetCommandCalls()
			}
			allowed := admitted(t, s, rounds, limit)
			if len(allowed) != 2 || allowed["a"] != limit || allowed["b"] != limit {
				t.Errorf("admitted %v, want %d of each key", allowed, limit)
			}
			var counted int64
			for _, server := range servers {
				calls := server.CommandCalls()
				counted += calls["incr"] + calls["incrby"]
			}
			if want := int64(2 * callers * rounds); counted != want {
				t.Errorf("Redis counted %d of %d checks", counted, want)
			}
			if stats := s.Stats(); stats.Alone+stats.Batched != int64(2*callers*rounds) || stats.Batched <= stats.Batches {
				t.Errorf("stats = %+v, want checks that met", stats)
			}
		})
	}
}

// admitted makes every caller check two keys, and returns how many of each were allowed.
func admitted(t *testing.T, s *redisstore.Store, rounds int, limit int64) map[string]int64 {
	t.Helper()
	p := &ratelimit.Policy{Name: "engine", Limit: limit, Window: time.Hour}
	var mu sync.Mutex
	allowed := map[string]int64{}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for n := range 2 * rounds {
				r := one(string("ab"[n%2]), 1)
				r.Policy = p
				d, err := s.Take(t.Context(), r)
				if err != nil {
					t.Errorf("take: %v", err)
					return
				}
				if d.Allowed {
					mu.Lock()
					allowed[r.Key.Identifier]++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return allowed
}

func TestRL50_a_batch_whose_answer_is_lost_was_counted_once(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"single", "cluster"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := &rig{}
			proxied := func(upstream string) *testkit.FaultProxy { return testkit.StartFaultProxy(t, upstream) }
			if kind == "single" {
				r.server = testkit.StartRedis(t)
				r.proxy = proxied(r.server.Addr)
			} else {
				r.server, r.proxy = announced(t, proxied)
			}
			r.store = open(t, redisstore.Options{Config: redisstore.Config{
				Addrs: []string{r.proxy.Addr}, Cluster: kind == "cluster", Budget: redisstore.Patient,
			}})
			loseBatch(t, r)
		})
	}
}

// loseBatch cuts the connections after Redis has counted a batch and before its answer is through.
func loseBatch(t *testing.T, r *rig) {
	t.Helper()
	const together = 20
	var node *redis.Client
	if cluster, ok := r.store.Client().(*redis.ClusterClient); ok {
		var err error
		if node, err = cluster.MasterForKey(t.Context(), sharedText); err != nil {
			t.Fatal(err)
		}
	}
	keys := make([]string, together)
	for i := range keys {
		keys[i] = sharedText
	}
	counted := func() int64 {
		calls := r.server.CommandCalls()
		return calls["incr"] + calls["incrby"]
	}
	r.server.ResetCommandCalls()
	r.proxy.Delay(time.Minute)
	carried := make(chan []error, 1)
	go func() {
		carried <- r.store.CarryTogether(t.Context(), node, time.Now().Add(redisstore.Patient), keys...)
	}()
	testkit.Eventually(t, "Redis to count", func() bool { return counted() == together })
	r.proxy.Pass() // A second try would be answered.
	r.proxy.Cut()
	for i, err := range <-carried {
		if !errors.Is(err, ratelimit.ErrUnavailable) {
			t.Errorf("check %d: %v, want ErrUnavailable", i, err)
		}
	}
	if got := counted(); got != together || r.count(t) != together {
		t.Errorf("Redis counted %d checks as %d", together, got)
	}
}

func TestRL54_a_batch_in_a_cluster_is_scripts_by_node(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 3)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient}})
	cluster, ok := s.Client().(*redis.ClusterClient)
	if !ok {
		t.Fatalf("client is a %T", s.Client())
	}
	byNode := map[string][]string{}
	clients := map[string]*redis.Client{}
	for i := range 60 {
		key := fmt.Sprintf("ratelimit:engine:client-%d:1", i)
		master, err := cluster.MasterForKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		addr := master.Options().Addr
		byNode[addr], clients[addr] = append(byNode[addr], key), master
	}
	soon := func() time.Time { return time.Now().Add(redisstore.Patient) }
	all := func(what string, errs []error) {
		for i, err := range errs {
			if err != nil {
				t.Errorf("%s: check %d: %v", what, i, err)
			}
		}
	}
	for _, node := range nodes {
		node.ResetCommandCalls()
		keys := byNode[node.Addr]
		all("scripts", s.CarryTogether(t.Context(), clients[node.Addr], soon(), keys...))
		if calls := node.CommandCalls(); calls["evalsha"] != int64(len(keys)) || calls["incrby"] != int64(len(keys)) || calls["multi"] != 0 {
			t.Errorf("%d checks: commands = %v", len(keys), calls)
		}
		node.Do("SCRIPT", "FLUSH")
		all("after a flush of scripts", s.CarryTogether(t.Context(), clients[node.Addr], soon(), keys...))
		node.ResetCommandCalls()
		all("loaded again", s.CarryTogether(t.Context(), clients[node.Addr], soon(), keys...))
		if calls := node.CommandCalls(); calls["evalsha"] != int64(len(keys)) || calls["multi"] != 0 {
			t.Errorf("%d checks after the script was loaded: commands = %v", len(keys), calls)
		}
		// A batch that meets a node which no longer holds the keys.
		other := nodes[0].Addr
		if other == node.Addr {
			other = nodes[1].Addr
		}
		all("moved", s.CarryTogether(t.Context(), clients[other], soon(), keys...))
		for _, key := range keys {
			if got := node.Do("GET", key); got != "4" {
				t.Errorf("%s counted %s, want 4: each check once", key, got)
			}
		}
		everyKeyEnds(t, node)
	}
}

func TestRL52_a_batch_in_a_cluster_has_an_error_for_each_check(t *testing.T) {
	t.Parallel()
	node := testkit.StartRedisCluster(t, 1)[0]
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{node.Addr}, Cluster: true, Budget: redisstore.Patient}})
	cluster, ok := s.Client().(*redis.ClusterClient)
	if !ok {
		t.Fatalf("client is a %T", s.Client())
	}
	master, err := cluster.MasterForKey(t.Context(), "list")
	if err != nil {
		t.Fatal(err)
	}
	node.Do("RPUSH", "list", "x")
	node.Do("SET", "text", "x")
	node.Do("SET", "full", "9223372036854775807")
	node.Do("SET", "high", "9223372036854775000")
	errs := s.CarryTogether(t.Context(), master, time.Now().Add(redisstore.Patient), "good", "list", "text", "full", "high", "good")
	for i, data := range []bool{false, true, true, false, false, false} {
		if errors.Is(errs[i], ratelimit.ErrStoreData) != data || !data && errs[i] != nil {
			t.Errorf("check %d: %v", i, errs[i])
		}
	}
	if got := node.Do("GET", "good"); got != "2" {
		t.Errorf("the good key counted %s, want 2", got)
	}
}
