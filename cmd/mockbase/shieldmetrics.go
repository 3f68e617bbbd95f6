package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// gather sends the shield's figures (rule RL128). Labels are names that this program or its settings hold, never one of a
// client.
func (s *guarded) gather(f figures) {
	if s.where == whereOff {
		return
	}
	failed := map[string]int64{}
	var jumps int64
	for _, l := range s.Limiters() {
		now := l.Counts()
		gatherLimiter(f, l.Health(), now)
		for reason, n := range now.Degraded {
			failed[reason] += n
		}
		jumps = max(jumps, now.ClockJumps) // each sees the same clock
	}
	for reason, n := range failed {
		f.count("mockbase_shield_store_errors_total", "Checks that the store did not decide, by the class of its error.", n, "class", reason)
	}
	up := 1.0
	if s.trouble() != nil {
		up = 0
	}
	f.gauge("mockbase_shield_store_up", "1 while the store decides, 0 while checks are decided by the failure mode.", up)
	f.count("mockbase_shield_clock_jumps_total", "Steps back of the clock that were too large to smooth over.", jumps)
	s.gatherMemory(f)
	if s.redis != nil {
		gatherRedis(f, s.redis.Health(), s.redis.Stats())
	}
}

// gatherLimiter sends the checks of one place that is guarded.
func gatherLimiter(f figures, health ratelimit.Health, now ratelimit.Counts) {
	for _, o := range []struct {
		outcome string
		n       int64
	}{{"allowed", now.Allowed}, {"denied", now.Denied}, {"skipped", now.Skipped}} {
		f.count("mockbase_shield_checks_total", "Checks by their outcome.", o.n, "policy", health.Name, "outcome", o.outcome)
	}
	for reason, n := range now.Degraded {
		f.count("mockbase_shield_degraded_total", "Checks that the failure mode decided, by the reason.", n,
			"policy", health.Name, "mode", string(health.Mode), "reason", reason)
	}
}

// gatherMemory sums up what this process's memory holds: all counters, or those that stand in for Redis.
func (s *guarded) gatherMemory(f figures) {
	if len(s.memories) == 0 {
		return
	}
	var keys int
	var size, evictions int64
	for _, m := range s.memories {
		keys += m.Len()
		size += m.Bytes()
		evictions += m.Evictions()
	}
	f.gauge("mockbase_shield_keys", "Counters in this process's memory.", float64(keys))
	f.gauge("mockbase_shield_bytes", "Bytes that counters in this process's memory take, estimated.", float64(size))
	f.count("mockbase_shield_evictions_total", "Counters in this process's memory that made room for others before they expired.", evictions)
}

func gatherRedis(f figures, health redisstore.Health, now redisstore.Stats) {
	open := 0.0
	if health.Open {
		open = 1
	}
	f.gauge("mockbase_shield_store_breaker_state", "0 while checks reach Redis, 1 while the breaker is open.", open)
	f.gauge("mockbase_shield_queue_depth", "Checks that wait for their flight to Redis.", float64(now.QueueDepth))
	f.count("mockbase_shield_local_denials_total", "Checks that were denied without asking Redis.", now.LocalDenials)
	f.to <- batchSizes(now)
}

// batchSizes are the flights to Redis by the checks that they took along. A check that found Redis idle went alone.
func batchSizes(now redisstore.Stats) prometheus.Metric {
	buckets := make(map[float64]uint64, len(now.BatchSizes))
	flights := now.Alone
	for i, n := range now.BatchSizes {
		flights += n
		buckets[float64(int(1)<<i)] = uint64(flights) //nolint:gosec // a count is never negative
	}
	return prometheus.MustNewConstHistogram(
		prometheus.NewDesc("mockbase_shield_batch_size", "Checks that went to Redis together.", nil, nil),
		uint64(flights), float64(now.Alone+now.Batched), buckets, //nolint:gosec // a count is never negative
	)
}
