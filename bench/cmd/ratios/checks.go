package main

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// delay is the round trip to a Redis that is not on this machine.
const delay = 2 * time.Millisecond

// duel is a comparison of the store with one transaction a check (rule RL135).
type duel struct {
	where, addr string
	callers     int
	target      float64
	// far says that the round trip outweighs everything else: then the median check may take 1.2 of it.
	far bool
}

// redisChecks asks a Redis nearby and one that is far away.
func redisChecks(ctx context.Context, s settings, t *table) error {
	var failed error
	err := bench.OutsideTests(ctx, func(tb testing.TB) {
		tb.Helper()
		redis := testkit.StartRedis(tb)
		proxy := testkit.StartFaultProxy(tb, redis.Addr)
		proxy.Delay(delay)
		for _, d := range []duel{
			{where: "loopback", addr: redis.Addr, callers: 1, target: 0.90},
			{where: "loopback", addr: redis.Addr, callers: 64, target: 3},
			{where: "loopback", addr: redis.Addr, callers: 256, target: 3.5},
			{where: "2 ms away", addr: proxy.Addr, callers: 256, target: 7, far: true},
		} {
			if failed = d.fight(tb, s, t, redis); failed != nil {
				return
			}
		}
		if failed = localDenials(ctx, t, redis); failed == nil {
			failed = openBreaker(tb, t)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// fight lets the two take turns.
func (d duel) fight(tb testing.TB, s settings, t *table, redis *testkit.Redis) error {
	tb.Helper()
	store, naive, err := bench.RedisChecks(tb, redis, d.addr, d.callers)
	if err != nil {
		return err
	}
	scores, err := bench.Compare(tb.Context(), s.rounds, store, naive)
	if err != nil {
		return err
	}
	t.throughputs(scores)
	t.ratio(fmt.Sprintf("%d callers, %s", d.callers, d.where), scores[0], scores[1], d.target)
	if !d.far {
		return nil
	}
	// What a round trip takes here is what one caller of the naive way waits for.
	alone := bench.Checks{Callers: 1, Check: naive.Checks.Check}
	trip, err := alone.Run(tb.Context(), s.rounds.Length)
	if err != nil {
		return err
	}
	inTrips := func(wait time.Duration) float64 { return float64(wait) / float64(trip.Median) }
	t.atMost("  the median check in round trips", inTrips(scores[0].LeastMedian()), 1.2)
	floor := time.Duration(math.MaxInt64)
	for range s.rounds.Number {
		median, err := bench.Pipelines(tb, d.addr, redisstore.DefaultBatchFlights, d.callers/redisstore.DefaultBatchFlights, s.rounds.Length)
		if err != nil {
			return err
		}
		floor = min(floor, median)
	}
	t.note("  as many checks in plain pipelines", fmt.Sprintf("%.2f round trips", inTrips(floor)))
	return nil
}

// localDenials measures what needs no round trip (rule RL61).
func localDenials(ctx context.Context, t *table, redis *testkit.Redis) error {
	took, err := bench.LocalDenial(ctx, redis, 100_000)
	if err != nil {
		return err
	}
	t.within("a key that is known to be exhausted", took, time.Microsecond)
	return nil
}

// openBreaker measures what a check costs while Redis is away (rule RL51).
func openBreaker(tb testing.TB, t *table) error {
	tb.Helper()
	p99, err := bench.OpenBreaker(tb, 100_000)
	if err != nil {
		return err
	}
	t.within("a check with the breaker open, 99th percentile", p99, 50*time.Microsecond)
	return nil
}
