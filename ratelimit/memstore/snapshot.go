package memstore

import "github.com/mockbase/mockbase/ratelimit"

// Snapshot is a copy of the counters of one namespace.
type Snapshot struct {
	namespace string
	counters  []counter
}

// counter is one counter outside its shard.
type counter struct {
	hash      uint64
	names     names
	state     ratelimit.State
	expires   int64
	kind      kind
	exhausted bool
}

func (c *counter) key() key { return key{c.names, c.kind} }

// Snapshot copies the counters of a namespace, for example to look ahead without consuming (rule RL46).
func (s *Store) Snapshot(namespace string) *Snapshot {
	snapshot := &Snapshot{namespace: namespace}
	for i := range s.shards {
		snapshot.counters = s.shards[i].copyTo(snapshot.counters, namespace)
	}
	return snapshot
}

// Restore puts the counters of the snapshot's namespace back to what they were; those that came since are forgotten. A
// snapshot belongs to the store that made it.
func (s *Store) Restore(snapshot *Snapshot) {
	for i := range s.shards {
		s.shards[i].removeWhere(func(k key) bool { return k.namespace == snapshot.namespace })
	}
	for i := range snapshot.counters {
		c := &snapshot.counters[i]
		s.shardOf(c.hash).put(c)
	}
}
