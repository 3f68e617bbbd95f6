package redisstore

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// batchSizes is the number of size classes of Stats.BatchSizes.
const batchSizes = 9

// Stats are what a store did since it was made.
type Stats struct {
	// Alone counts the checks that found Redis idle and went at once, by themselves.
	Alone int64
	// Batches counts the flights with waiting checks, Batched the checks that they took along.
	Batches, Batched int64
	// BatchSizes counts flights by size: the one at index i took at most 1<<i checks, and more than the one before.
	BatchSizes [batchSizes]int64
	// QueueDepth is the number of checks that wait at the moment.
	QueueDepth int
	// QueueFull counts the checks that were not sent because too many waited, Dropped those whose time was over before
	// their flight.
	QueueFull, Dropped int64
	// LocalDenials counts the checks that were denied without Redis, Exhausted is the number of keys known to be over
	// their limit.
	LocalDenials, Exhausted int64
	// ClockSkew is how far Redis's clock is ahead of the store's, by the newest comparison; of a cluster that of the
	// master which differs most. Replicas whose skews differ disagree about windows on the clock (rule RL56).
	ClockSkew time.Duration
}

// counters count what Stats reports.
type counters struct {
	alone, batched, full, dropped atomic.Int64
	sizes                         [batchSizes]atomic.Int64
}

func (c *counters) carried(checks int) {
	c.batched.Add(int64(checks))
	c.sizes[bits.Len(uint(checks-1))].Add(1)
}

// Stats returns what the store did so far. It asks nobody.
func (s *Store) Stats() Stats {
	stats := Stats{
		Alone: s.counts.alone.Load(), Batched: s.counts.batched.Load(),
		QueueFull: s.counts.full.Load(), Dropped: s.counts.dropped.Load(), ClockSkew: time.Duration(s.skew.known.Load()),
	}
	for i := range s.counts.sizes {
		n := s.counts.sizes[i].Load()
		stats.BatchSizes[i] = n
		stats.Batches += n
	}
	for _, sh := range s.shards.all() {
		stats.QueueDepth += sh.queue.depth()
	}
	if s.denials != nil {
		stats.LocalDenials, stats.Exhausted = s.denials.repeated.Load(), s.denials.held.Load()
	}
	return stats
}
