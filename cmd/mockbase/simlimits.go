package main

import (
	"fmt"
	"time"

	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

const (
	// simulatedPrefix begins the keys of simulated limits in Redis, and no others (rule RL121).
	simulatedPrefix = "simlimit"
	// sessionKeys bounds the counters of one session in memory, so that no session can take those of others.
	sessionKeys = 10_000
)

// simulated are the simulated limits of all mocks, with the store behind them.
type simulated struct {
	*simlimit.Keeper

	// redis is nil where the counts are in this process's memory.
	redis *redisstore.Store
}

// newSessionMemory makes what stores of one session's counters are made with.
func newSessionMemory(clock func() time.Time) func() (ratelimit.Store, error) {
	return func() (ratelimit.Store, error) {
		return memstore.New(memstore.Options{MaxKeys: sessionKeys, Clock: clock})
	}
}

// openSimulatedLimits makes the place of simulated limits: Redis where one is named, with a store of its own, else this
// process's memory.
func (s *server) openSimulatedLimits() error {
	s.limits = &simulated{}
	o := simlimit.Options{
		Memory: newSessionMemory(s.clock), Clock: s.clock, Logger: s.log.Logger, ProbeInterval: s.settings.RedisProbeInterval.Span(),
	}
	if place, named := s.redisPlace(); named {
		// A reset at another server holds at once (rule X7), so that nothing is known without asking.
		store, err := s.openRedis(redisstore.Options{Config: place, Prefix: simulatedPrefix, WithoutLocalDenials: true})
		if err != nil {
			return err
		}
		s.limits.redis, o.Where, o.Available = store, "redis", store.Available
		o.Shared = func(tag string, life time.Duration) (simlimit.Shared, error) { return store.Tagged(tag, life) }
	}
	var err error
	if s.limits.Keeper, err = simlimit.New(o); err != nil {
		return fmt.Errorf("open simulated limits: %w", err)
	}
	return nil
}

// gather sends the figures of simulated limits (rule RL128). Labels are names that authors of mocks gave, as many as a
// keeper tells apart.
func (s *simulated) gather(f figures) {
	now, health := s.Figures(), s.Health()
	for policy, n := range now.Checks {
		for _, o := range []struct {
			outcome string
			n       int64
		}{{"allowed", n.Allowed}, {"denied", n.Denied}, {"dry_denied", n.DryDenied}} {
			f.count("mockbase_simlimit_checks_total", "Checks of simulated limits by their outcome.", o.n, "policy", policy, "outcome", o.outcome)
		}
	}
	for reason, n := range now.Limiter.Degraded {
		f.count("mockbase_simlimit_degraded_total", "Checks that process memory decided in place of the store, by the reason.", n,
			"mode", string(health.Mode), "reason", reason)
		f.count("mockbase_simlimit_store_errors_total", "Checks that the store did not decide, by the class of its error.", n, "class", reason)
	}
	up := 1.0
	if health.Degraded {
		up = 0
	}
	f.gauge("mockbase_simlimit_store_up", "1 while the store decides, 0 while simulated limits go on in process memory.", up)
	f.count("mockbase_simlimit_clock_jumps_total", "Steps back of the clock that were too large to smooth over.", now.Limiter.ClockJumps)
	f.gauge("mockbase_simlimit_keys", "Counters in this process's memory.", float64(now.Keys))
	f.gauge("mockbase_simlimit_bytes", "Bytes that counters in this process's memory take, estimated.", float64(now.Bytes))
	f.count("mockbase_simlimit_evictions_total", "Counters in this process's memory that made room for others before they expired.", now.Evictions)
	f.to <- checkSeconds("simlimit", s.Where(), now.Timing)
	if s.redis != nil {
		gatherRedis(f, "simlimit", s.redis.Health(), s.redis.Stats())
	}
}
