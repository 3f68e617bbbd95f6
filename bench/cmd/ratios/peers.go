package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

// A turn in memory is short and there are many, so that the best one of each contender ran without interruption, whatever
// else the machine does.
const (
	memoryChecks = 20_000
	memoryTurns  = 60
)

// peers puts other limiters for Go beside ours, on both stores (rule RL135).
func peers(ctx context.Context, s settings, t *table) error {
	var failed error
	err := bench.OutsideTests(ctx, func(tb testing.TB) {
		tb.Helper()
		if failed = memoryPeers(tb, s, t); failed != nil {
			return
		}
		if failed = manyKeys(ctx, s, t); failed == nil {
			failed = redisPeers(tb, s, t)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

func memoryPeers(tb testing.TB, s settings, t *table) error {
	tb.Helper()
	contenders, err := bench.MemoryPeers(tb)
	if err != nil {
		return err
	}
	// A turn that is shorter than the others' is for looking whether all of this works.
	checks := int(min(memoryChecks, memoryChecks*s.rounds.Length/(100*time.Millisecond)))
	costs, err := bench.MemoryCosts(tb.Context(), contenders, memoryTurns*s.rounds.Number, max(checks, 1000))
	if err != nil {
		return err
	}
	for _, c := range costs {
		t.note("  "+c.Name, fmt.Sprintf("%.1f ns a check  %.2f allocations", c.Nanoseconds, c.Allocs))
	}
	own := costs[0]
	t.within("a check in memory, 1,000 keys", time.Duration(own.Nanoseconds), 150*time.Nanosecond)
	t.atMost("  its allocations", own.Allocs, 0.005)
	for _, c := range costs[1:] {
		t.atMost("  its time against "+c.Name, own.Nanoseconds/c.Nanoseconds, 1)
	}
	return nil
}

// aMillion is the keys of the measure of many keys, where turns are not cut short to look whether all of this works.
const aMillion = 1_000_000

// manyKeys measures a check where there are many keys, and where there are twice as many as the store may hold.
func manyKeys(ctx context.Context, s settings, t *table) error {
	keys := int(min(aMillion, aMillion*s.rounds.Length/(100*time.Millisecond)))
	for _, c := range []struct {
		what           string
		keys, counters int
	}{{"a check among 1 M keys", keys, keys / 10 * 11}, {"a check among 2 M keys with a cap of 1 M", 2 * keys, keys}} {
		cost, err := bench.ManyKeys(ctx, c.keys, c.counters)
		if err != nil {
			return err
		}
		t.note("  "+c.what, fmt.Sprintf("best %.0f, median %.0f ns; %d MB, %d evictions", cost.Best, cost.Median, cost.Bytes>>20, cost.Evictions))
		t.within(c.what, time.Duration(cost.Best), 1300*time.Nanosecond)
	}
	return nil
}

func redisPeers(tb testing.TB, s settings, t *table) error {
	tb.Helper()
	redis := testkit.StartRedis(tb)
	contenders, err := bench.RedisPeers(tb, redis)
	if err != nil {
		return err
	}
	for _, callers := range []int{1, 64} {
		scores, err := bench.Compare(tb.Context(), s.rounds, bench.Contend(contenders, redis, callers)...)
		if err != nil {
			return err
		}
		t.note(fmt.Sprintf("%d callers", callers), "")
		t.throughputs(scores)
		for _, other := range scores[1:] {
			t.ratio("  against "+other.Name, scores[0], other, 1)
		}
	}
	return nil
}
