package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/internal/testkit"
)

// RedisBill is what requests cost a Redis.
type RedisBill struct {
	// RoundTrips is how often Redis read from its clients for each request; a pipeline is read at once. Commands names
	// what it ran, Counted is what the counters hold.
	RoundTrips float64
	Commands   string
	Counted    int64
}

// RedisCost runs a load and asks Redis what it cost.
func RedisCost(ctx context.Context, r *testkit.Redis, load Load) (RedisBill, error) {
	warm := load
	warm.Count = int64(load.Clients)
	if _, err := warm.Run(ctx); err != nil {
		return RedisBill{}, err
	}
	r.Do("FLUSHALL")
	r.ResetCommandCalls()
	reads := readsOf(r)
	out, err := load.Run(ctx)
	if err != nil {
		return RedisBill{}, err
	}
	// Asking is itself a round trip, on a connection of its own.
	bill := RedisBill{RoundTrips: float64(readsOf(r)-reads-1) / float64(out.Requests)}
	var all []string
	for name, calls := range r.CommandCalls() {
		if name != "info" && name != "config|resetstat" {
			all = append(all, fmt.Sprintf("%s %d", name, calls))
		}
	}
	slices.Sort(all)
	bill.Commands, bill.Counted = strings.Join(all, ", "), counted(r)
	return bill, nil
}

// readsOf is how often Redis has read from a client.
func readsOf(r *testkit.Redis) int64 {
	for line := range strings.Lines(r.Do("INFO", "stats")) {
		if n, found := strings.CutPrefix(strings.TrimSpace(line), "total_reads_processed:"); found {
			reads, err := strconv.ParseInt(n, 10, 64)
			if err == nil {
				return reads
			}
		}
	}
	return 0
}
