package memstore

// The costs and bounds that tests count with.
const (
	EntryBytes = entryBytes
	SweepFull  = sweepFull
)

// ShardCount is shardCount.
func ShardCount(processors, keys int) int { return shardCount(processors, keys) }

// OneShard makes a store whose counters all lie in one shard.
func OneShard(o Options) (*Store, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if o.MaxKeys == 0 {
		o.MaxKeys = DefaultMaxKeys
	}
	s.shards = s.shards[:1]
	s.shards[0].open(o.MaxKeys, o.MaxBytes, &s.evictions)
	return s, nil
}

// OneChain makes a store whose counters all lie in one chain.
func OneChain(o Options) (*Store, error) {
	s, err := OneShard(o)
	if err != nil {
		return nil, err
	}
	s.shards[0].table = s.shards[0].table[:1:1]
	return s, nil
}

// TableSize returns the number of chains of the first shard, and the most that there may be.
func (s *Store) TableSize() (chains, most int) { return len(s.shards[0].table), cap(s.shards[0].table) }
