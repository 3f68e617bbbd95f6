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
	for policy, now := range s.Policies() {
		gatherPolicy(f, policy, now.PolicyCounts)
	}
	for _, l := range s.Limiters() {
		now := l.Counts()
		for reason, n := range now.Degraded {
			f.count("mockbase_shield_degraded_total", "Checks that the failure mode decided, by the reason.", n, "mode", string(l.Mode()), "reason", reason)
			failed[reason] += n
		}
		jumps = max(jumps, now.ClockJumps) // each sees the same clock
	}
	for reason, n := range failed {
		f.count("mockbase_shield_store_errors_total", "Checks that the store did not decide, by the class of its error.", n, "class", reason)
	}
	f.to <- checkSeconds("shield", s.backend, s.Timing())
	up := 1.0
	if s.Trouble() != nil {
		up = 0
	}
	f.gauge("mockbase_shield_store_up", "1 while the store decides, 0 while checks are decided by the failure mode.", up)
	f.count("mockbase_shield_clock_jumps_total", "Steps back of the clock that were too large to smooth over.", jumps)
	s.gatherGuards(f)
	s.gatherMemory(f)
	if s.redis != nil {
		gatherRedis(f, "shield", s.redis.Health(), s.redis.Stats())
	}
}

// gatherPolicy sends the checks of one policy.
func gatherPolicy(f figures, policy string, now ratelimit.PolicyCounts) {
	for _, o := range []struct {
		outcome string
		n       int64
	}{{"allowed", now.Allowed}, {"denied", now.Denied}, {"skipped", now.Skipped}, {"dry_denied", now.DryDenied}} {
		f.count("mockbase_shield_checks_total", "Checks by their outcome.", o.n, "policy", policy, "outcome", o.outcome)
	}
}

// checkSeconds are the times that the store took for checks.
func checkSeconds(of, store string, took ratelimit.Timing) prometheus.Metric {
	buckets := make(map[float64]uint64, len(took.Bounds))
	var checks int64
	for i, bound := range took.Bounds {
		checks += took.Buckets[i]
		buckets[bound.Seconds()] = uint64(checks) //nolint:gosec // a count is never negative
	}
	return prometheus.MustNewConstHistogram(
		prometheus.NewDesc("mockbase_"+of+"_check_seconds", "Time that the store took for a check; of a store in memory about one check in 64 is timed.", nil,
			prometheus.Labels{"store": store}),
		uint64(took.Count), took.Sum.Seconds(), buckets, //nolint:gosec // a count is never negative
	)
}

// gatherGuards sends what lists, bans, limits and the circuit did (rule RL129). Rules are named by their settings.
func (s *guarded) gatherGuards(f figures) {
	counts := make(map[[3]string]int64)
	for _, g := range s.Guards() {
		for _, c := range g.Counts() {
			counts[[3]string{string(c.Layer), c.Rule, string(c.Mode)}] += c.Count
		}
	}
	for of, n := range counts {
		f.count("mockbase_guard_matches_total", "Requests that a rule matched, by whether it had an effect.", n, "layer", of[0], "rule", of[1], "mode", of[2])
	}
	bans := s.BanStatus()
	for rule, n := range bans.InForce {
		f.gauge("mockbase_guard_bans", "Bans in force, by their rule.", float64(n), "rule", rule)
	}
	for rule, n := range bans.Begun {
		f.count("mockbase_guard_bans_total", "Bans that failures began here, by their rule.", n, "rule", rule)
	}
	circuit, factor := s.Circuit()
	state := map[ratelimit.CircuitState]float64{ratelimit.CircuitHalfOpen: 1, ratelimit.CircuitOpen: 2}[circuit.Record.State]
	f.gauge("mockbase_guard_circuit_state", "0 while the circuit is closed, 1 half-open, 2 open.", state)
	f.count("mockbase_guard_circuit_trips_total", "Times that this process opened the circuit.", circuit.Trips)
	f.gauge("mockbase_guard_offered_rate", "Requests a second that the circuit saw.", circuit.OfferedRate)
	f.gauge("mockbase_guard_adaptive_factor", "Share of the limits that is left while the process is overloaded.", factor)
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

// gatherRedis sends the figures of a store in Redis, of the shield or of simulated limits.
func gatherRedis(f figures, of string, health redisstore.Health, now redisstore.Stats) {
	family := "mockbase_" + of + "_"
	open := 0.0
	if health.Open {
		open = 1
	}
	f.gauge(family+"store_breaker_state", "0 while checks reach Redis, 1 while the breaker is open.", open)
	f.gauge(family+"queue_depth", "Checks that wait for their flight to Redis.", float64(now.QueueDepth))
	f.count(family+"local_denials_total", "Checks that were denied without asking Redis.", now.LocalDenials)
	f.gauge(family+"clock_skew_seconds", "How far the clock of Redis is ahead of this server's.", now.ClockSkew.Seconds())
	f.to <- batchSizes(family+"batch_size", now)
}

// batchSizes are the flights to Redis by the checks that they took along. A check that found Redis idle went alone.
func batchSizes(name string, now redisstore.Stats) prometheus.Metric {
	buckets := make(map[float64]uint64, len(now.BatchSizes))
	flights := now.Alone
	for i, n := range now.BatchSizes {
		flights += n
		buckets[float64(int(1)<<i)] = uint64(flights) //nolint:gosec // a count is never negative
	}
	return prometheus.MustNewConstHistogram(
		prometheus.NewDesc(name, "Checks that went to Redis together.", nil, nil),
		uint64(flights), float64(now.Alone+now.Batched), buckets, //nolint:gosec // a count is never negative
	)
}
