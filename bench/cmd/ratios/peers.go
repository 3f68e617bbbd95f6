package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

// memoryChecks is how many checks in memory are one turn.
const memoryChecks = 500_000

// peers puts other limiters for Go beside ours, on both stores (rule RL135).
func peers(ctx context.Context, s settings, t *table) error {
	var failed error
	err := bench.OutsideTests(ctx, func(tb testing.TB) {
		tb.Helper()
		if failed = memoryPeers(tb, s, t); failed == nil {
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
	costs, err := bench.MemoryCosts(tb.Context(), contenders, s.rounds.Number, max(checks, 1000))
	if err != nil {
		return err
	}
	for _, c := range costs {
		t.note("  "+c.Name, fmt.Sprintf("%d ns a check  %.2f allocations", c.Check.Nanoseconds(), c.Allocs))
	}
	own := costs[0]
	t.within("a check in memory, 1,000 keys", own.Check, 150*time.Nanosecond)
	t.atMost("  its allocations", own.Allocs, 0.005)
	for _, c := range costs[1:] {
		t.atMost("  its time against "+c.Name, float64(own.Check)/float64(c.Check), 1)
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
