package redisstore_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// loading is a server that has started and reads what it had saved, for a minute or until it is told to hurry.
func loading() outage {
	return outage{
		name: "loading its data", class: redisstore.ClassUnavailable,
		args: []string{"--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"},
		begin: func(_ *testing.T, r *rig) {
			r.server.Do("EVAL", "for i = 1, 60000 do redis.call('SET', 'filler:' .. i, 1, 'EX', 3600) end", "0")
			r.server.Do("SAVE")
			r.server.Restart()
		},
		end: func(t *testing.T, r *rig) {
			t.Helper()
			r.server.Do("CONFIG", "SET", "key-load-delay", "0")
			testkit.Eventually(t, "the data to be loaded", func() bool {
				return strings.Contains(r.server.Do("INFO", "persistence"), "\nloading:0")
			})
		},
	}
}

// crowded is a server all of whose places are taken by other clients.
func crowded() outage {
	const places = 60
	var others []net.Conn
	return outage{
		// The server says why and hangs up; a client that writes meanwhile never reads it.
		name: "max clients", class: redisstore.ClassUnavailable, or: redisstore.ClassTransport,
		begin: func(t *testing.T, r *rig) {
			t.Helper()
			r.proxy.Refuse()
			r.server.Do("CONFIG", "SET", "maxclients", strconv.Itoa(places))
			testkit.Eventually(t, "every place to be taken", func() bool {
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", r.server.Addr)
				if err != nil {
					return false
				}
				others = append(others, conn)
				_, err = r.server.Try("PING")
				return err != nil
			})
			r.proxy.Pass()
		},
		end: func(_ *testing.T, _ *rig) {
			for _, conn := range others {
				_ = conn.Close()
			}
			others = nil
		},
	}
}

// slotOf is the slot of the key of every outage, and the masters of a cluster that have it and shall get it.
func slotOf(t *testing.T, nodes []*testkit.Redis) (slot string, from, to *testkit.Redis) {
	t.Helper()
	slot = nodes[0].Do("CLUSTER", "KEYSLOT", sharedText)
	for _, node := range nodes {
		if reply, err := node.Try("GET", sharedText); err != nil && strings.HasPrefix(reply+err.Error(), "MOVED") {
			to = node
		} else {
			from = node
		}
	}
	if from == nil || to == nil {
		t.Fatalf("nobody has slot %s", slot)
	}
	return slot, from, to
}

// migrate moves a slot with its one key while checks go on.
func migrate(t *testing.T, nodes []*testkit.Redis, slot string, from, to *testkit.Redis) {
	t.Helper()
	fromID, toID := from.Do("CLUSTER", "MYID"), to.Do("CLUSTER", "MYID")
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	host, port, _ := strings.Cut(to.Addr, ":")
	from.Do("MIGRATE", host, port, sharedText, "0", "5000")
	for _, node := range append([]*testkit.Redis{to, from}, nodes...) {
		node.Do("CLUSTER", "SETSLOT", slot, "NODE", toID)
	}
	// A node that hears of an older owner after the next move would give the slot back, and delete what it has in it.
	epochs := func() (all []string) {
		for _, node := range nodes {
			_, rest, _ := strings.Cut(node.Do("CLUSTER", "INFO"), "cluster_current_epoch:")
			epoch, _, _ := strings.Cut(rest, "\r")
			all = append(all, epoch)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for range 5000 {
		if len(epochs()) == 1 {
			return
		}
		<-pace.C
	}
	t.Errorf("the masters do not agree on an epoch: %v", epochs())
}

func TestRL140_a_slot_moves_while_callers_check(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 3)
	r := &rig{store: open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient}})}
	if err := r.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	slot, from, to := slotOf(t, nodes)
	var moved atomic.Int32
	go func() {
		defer moved.Store(3)
		for range 3 { // There and back and there again.
			migrate(t, nodes, slot, from, to)
			from, to = to, from
		}
	}()
	result := r.run(t, func(n int) bool { return moved.Load() == 3 && n >= 50 })
	cluster, ok := r.store.Client().(*redis.ClusterClient)
	if !ok {
		t.Fatalf("client is a %T", r.store.Client())
	}
	counted, err := cluster.Get(t.Context(), sharedText).Int()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d checks, %d failed %v, longest wait %v", result.checks(), result.failed, result.classes, result.quantile(1))
	// RL50: what was answered is counted, and nothing is counted twice.
	if counted < 1+result.passed || counted > 1+result.checks() {
		t.Errorf("Redis counted %d, want %d answered checks to %d made ones", counted, 1+result.passed, 1+result.checks())
	}
	if result.failed > result.passed/10 {
		t.Errorf("%d of %d checks failed: %v", result.failed, result.checks(), result.classes)
	}
	testkit.Eventually(t, "checks to pass", func() bool { return r.take(t.Context()) == nil })
}

// A script that touches several keys meets TRYAGAIN while they move one by one.
func TestRL140_tagged_keys_move_while_callers_check(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 2)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient}})
	part := tagged(t, s, "shop/session")
	requests := []ratelimit.Request{
		{Key: ratelimit.Key{Namespace: "one", Identifier: "k"}, Policy: policy(), Cost: 1, Now: sharedAt},
		{Key: ratelimit.Key{Namespace: "two", Identifier: "k"}, Policy: policy(), Cost: 1, Now: sharedAt},
	}
	decisions := make([]ratelimit.Decision, len(requests))
	if err := part.TakeAll(t.Context(), requests, decisions); err != nil {
		t.Fatal(err)
	}
	keys := []string{"ratelimit:{shop/session}:one:k:1699999200", "ratelimit:{shop/session}:two:k:1699999200"}
	slot := nodes[0].Do("CLUSTER", "KEYSLOT", keys[0])
	from, to := nodes[0], nodes[1]
	if from.Do("CLUSTER", "COUNTKEYSINSLOT", slot) == "0" {
		from, to = to, from
	}
	fromID, toID := from.Do("CLUSTER", "MYID"), to.Do("CLUSTER", "MYID")
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	host, port, _ := strings.Cut(to.Addr, ":")
	from.Do("MIGRATE", host, port, keys[0], "0", "5000")
	// Half of the keys are there and half are here: nobody can judge them together.
	if err := part.TakeAll(t.Context(), requests, decisions); err == nil {
		t.Errorf("in the midst of it: %+v, want an error", decisions)
	}
	from.Do("MIGRATE", host, port, keys[1], "0", "5000")
	for _, node := range []*testkit.Redis{to, from} {
		node.Do("CLUSTER", "SETSLOT", slot, "NODE", toID)
	}
	testkit.Eventually(t, "the keys to be charged together again", func() bool {
		return part.TakeAll(t.Context(), requests, decisions) == nil
	})
	if want := policy().Limit - 2; decisions[0].Remaining != want || decisions[1].Remaining != want {
		t.Errorf("after it: %+v, want two charged", decisions)
	}
}
