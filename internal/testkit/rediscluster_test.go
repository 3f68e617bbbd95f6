package testkit_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

func TestRedisCluster_serves_every_slot(t *testing.T) {
	t.Parallel()
	nodes := testkit.StartRedisCluster(t, 3)
	for _, node := range nodes {
		// Nodes that were heard of twice are listed twice for a moment.
		testkit.Eventually(t, "the nodes to know each other", func() bool {
			return strings.Count(node.Do("CLUSTER", "NODES"), " connected") == len(nodes)
		})
	}
}

func TestRedisSentinel_makes_a_replica_the_master(t *testing.T) {
	t.Parallel()
	master := testkit.StartRedis(t)
	replica := testkit.StartRedisReplica(t, master)
	sentinel := testkit.StartRedisSentinel(t, "counters", master, 1)
	if got := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "counters"); strings.ReplaceAll(got, "\n", ":") != master.Addr {
		t.Errorf("master = %q, want %s", got, master.Addr)
	}
	master.Kill()
	testkit.HurrySentinel(t, sentinel, "counters")
	testkit.Eventually(t, "the failover", func() bool {
		state, err := replica.Try("INFO", "replication")
		return err == nil && strings.Contains(state, "role:master")
	})
}
