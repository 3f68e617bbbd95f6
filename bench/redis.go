package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// RedisBill is what requests cost a Redis.
type RedisBill struct {
	// RoundTrips is how often Redis read from its clients for each request; a pipeline is read at once, and greetings of
	// new connections are left out. Commands names what it ran, Counted is what the counters hold.
	RoundTrips float64
	Commands   string
	Counted    int64
}

// RedisCost runs a load and asks Redis what it cost.
func RedisCost(ctx context.Context, r *testkit.Redis, load Load) (RedisBill, error) {
	if err := warmUp(ctx, r, load); err != nil {
		return RedisBill{}, err
	}
	r.Do("FLUSHALL")
	r.ResetCommandCalls()
	reads := readsOf(r)
	out, err := load.Run(ctx)
	if err != nil {
		return RedisBill{}, err
	}
	calls := r.CommandCalls()
	// Asking is itself a round trip, on a connection of its own.
	trips := readsOf(r) - reads - 2 - calls["hello"]
	bill := RedisBill{RoundTrips: float64(trips) / float64(out.Requests)}
	var all []string
	for name, n := range calls {
		if name != "info" && name != "config|resetstat" {
			all = append(all, fmt.Sprintf("%s %d", name, n))
		}
	}
	slices.Sort(all)
	bill.Commands, bill.Counted = strings.Join(all, ", "), counted(r)
	return bill, nil
}

// warmUp lets every client connect, and then waits until requests are counted one by one: on a busy machine the first
// connections may take longer than a check is given.
func warmUp(ctx context.Context, r *testkit.Redis, load Load) error {
	load.Count = int64(load.Clients)
	if _, err := load.Run(ctx); err != nil {
		return err
	}
	load.Clients, load.Count = 1, 1
	good := 0
	for range 1000 {
		before := counted(r)
		if _, err := load.Run(ctx); err != nil {
			return err
		}
		if good++; counted(r) != before+1 {
			good = 0
			pause(ctx, 5*time.Millisecond)
		}
		if good == 3 {
			return nil
		}
	}
	return errors.New("requests are not counted in Redis")
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
