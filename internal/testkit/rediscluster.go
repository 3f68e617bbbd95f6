//go:build unix

package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// slots is the number of hash slots of a Redis Cluster.
const slots = 16_384

// StartRedisCluster starts a cluster of masters without replicas, with the slots shared out evenly in order, and waits
// until every node serves. Its nodes end with the test.
func StartRedisCluster(tb testing.TB, masters int) []*Redis {
	tb.Helper()
	nodes := make([]*Redis, masters)
	for i := range nodes {
		nodes[i] = StartRedis(tb, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
			"--cluster-require-full-coverage", "no")
	}
	for i, node := range nodes {
		command := []string{"CLUSTER", "ADDSLOTS"}
		for slot := i * slots / masters; slot < (i+1)*slots/masters; slot++ {
			command = append(command, strconv.Itoa(slot))
		}
		node.Do(command...)
		node.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		host, port, _ := strings.Cut(nodes[0].Addr, ":")
		if i > 0 {
			node.Do("CLUSTER", "MEET", host, port)
		}
	}
	for _, node := range nodes {
		Eventually(tb, "the cluster to serve", func() bool {
			info := node.Do("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r\n", slots)) &&
				strings.Contains(info, fmt.Sprintf("cluster_size:%d\r\n", masters))
		})
	}
	return nodes
}

// StartRedisReplica starts a replica of a master and waits until the two are connected.
func StartRedisReplica(tb testing.TB, master *Redis) *Redis {
	tb.Helper()
	host, port, _ := strings.Cut(master.Addr, ":")
	// A master waits for more replicas, five seconds unless told otherwise.
	master.Do("CONFIG", "SET", "repl-diskless-sync-delay", "0")
	replica := StartRedis(tb, "--replicaof", host+" "+port)
	Eventually(tb, "the replica to follow", func() bool {
		return strings.Contains(replica.Do("INFO", "replication"), "master_link_status:up")
	})
	return replica
}

// StartRedisSentinel starts one sentinel that watches a master by a name and decides alone, and waits until it knows the
// master's replicas. It has more patience with a master than a busy machine needs; see HurrySentinel.
func StartRedisSentinel(tb testing.TB, name string, master *Redis, replicas int) *Redis {
	tb.Helper()
	host, port, _ := strings.Cut(master.Addr, ":")
	sentinel := launch(tb, func(dir, own string) []string {
		file := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s %s %s 1\n"+
			"sentinel down-after-milliseconds %s 60000\nsentinel failover-timeout %s 2000\n", own, dir, name, host, port, name, name)
		// The sentinel writes what it learns into its file.
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatalf("write the sentinel's configuration: %v", err)
		}
		return []string{file, "--sentinel"}
	})
	Eventually(tb, "the sentinel to find the replicas", func() bool {
		return strings.Contains(sentinel.Do("INFO", "sentinel"), fmt.Sprintf("slaves=%d,", replicas))
	})
	return sentinel
}

// HurrySentinel lets a sentinel give up a master after 100 ms without an answer, for one that was killed.
func HurrySentinel(tb testing.TB, sentinel *Redis, name string) {
	tb.Helper()
	sentinel.Do("SENTINEL", "SET", name, "down-after-milliseconds", "100")
}
