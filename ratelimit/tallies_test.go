package ratelimit_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
)

// RL62 and RL128: policies that share a limiter, and with it round trips, are counted apart.
func TestRL128_each_policy_of_a_limiter_has_its_own_counts(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	policies := []*ratelimit.Policy{{Name: "user", Limit: 2, Window: time.Hour}, {Name: "global", Limit: 1, Window: time.Hour}, {Name: "none"}}
	requests := make([]ratelimit.Request, len(policies))
	for i, p := range policies {
		requests[i] = ratelimit.Request{Key: ratelimit.Key{Namespace: p.Name, Identifier: "k"}, Policy: p, Cost: 1, DryRun: p.Name == "global"}
	}
	decisions := make([]ratelimit.Decision, len(requests))
	for range 2 {
		if _, err := b.CheckInOrder(t.Context(), requests, decisions); err != nil {
			t.Fatal(err)
		}
	}
	b.store.err = errRefused
	b.check(t, policies[0], 1)
	want := map[string]ratelimit.PolicyCounts{
		"user": {Allowed: 3, Degraded: 1}, "global": {Allowed: 1, DryDenied: 1}, "none": {Skipped: 1},
	}
	if diff := cmp.Diff(want, b.Policies()); diff != "" {
		t.Error(diff)
	}
	if got := b.Counts(); got.Allowed != 4 || got.DryDenied != 1 || got.Skipped != 1 || got.Denied != 0 || got.Degraded["unavailable"] != 1 {
		t.Errorf("together %+v", got)
	}
}

func TestRL128_names_of_policies_are_bounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, ratelimit.FailOpen, nil)
	const names = 3000
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < names; i += 4 {
				p := &ratelimit.Policy{Name: "p" + strconv.Itoa(i), Limit: 1, Window: time.Hour}
				if _, err := b.Check(t.Context(), ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: p.Name}, Policy: p, Cost: 2}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	counts := b.Policies()
	if len(counts) > 1025 || counts[""].Denied < names-1025 || b.Counts().Denied != names {
		t.Errorf("%d names, %d checks beyond them, %d in all", len(counts), counts[""].Denied, b.Counts().Denied)
	}
}

func TestRL128_percentiles_of_the_store_are_upper_bounds(t *testing.T) {
	t.Parallel()
	var none ratelimit.Timing
	if got := none.Percentile(0.5); got != 0 {
		t.Errorf("without a check: %v", got)
	}
	var all ratelimit.Timing
	fresh := newBench(t, ratelimit.FailOpen, nil).Timing()
	all.Add(fresh)
	last := len(all.Bounds)
	all.Buckets[2], all.Buckets[5], all.Buckets[last], all.Count = 90, 9, 1, 100
	all.Add(fresh)
	for share, want := range map[float64]time.Duration{0: all.Bounds[2], 0.5: all.Bounds[2], 0.9: all.Bounds[2], 0.99: all.Bounds[5], 1: all.Bounds[last-1]} {
		if got := all.Percentile(share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}
