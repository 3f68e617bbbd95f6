package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// manyKeysTurn is how many checks one turn over many keys makes.
const manyKeysTurn = 2_000

// ManyKeysCost is what a check in memory takes where there are many keys.
type ManyKeysCost struct {
	// Best and Median are the nanoseconds of one check in the best and in the median turn.
	Best, Median float64
	// Bytes is the memory of the counters, Evictions how many counters made room for others.
	Bytes, Evictions int64
}

// ManyKeys asks a store in memory that holds at most so many counters for so many keys, each in its turn, once to make them
// known and once more to measure (rule RL135). With more keys than counters every check makes room for its own.
func ManyKeys(ctx context.Context, keys, counters int) (ManyKeysCost, error) {
	store, err := memstore.New(memstore.Options{MaxKeys: counters, MaxBytes: 1 << 30})
	if err != nil {
		return ManyKeysCost{}, fmt.Errorf("make store: %w", err)
	}
	names := make([]string, keys)
	for i := range names {
		names[i] = "2001:db8:" + strconv.Itoa(i/1000) + "::" + strconv.Itoa(i%1000)
	}
	policy := &ratelimit.Policy{Name: "engine", Limit: peerLimit, Window: peerWindow}
	ask := func(from, to int) error {
		for i := from; i < to; i++ {
			r := ratelimit.Request{Key: ratelimit.Key{Namespace: policy.Name, Identifier: names[i]}, Policy: policy, Cost: 1}
			if _, err := store.Take(ctx, r); err != nil {
				return fmt.Errorf("check %d: %w", i, err)
			}
		}
		return nil
	}
	if err := ask(0, keys); err != nil {
		return ManyKeysCost{}, err
	}
	var turns []float64
	for from := 0; from < keys; from += manyKeysTurn {
		to := min(from+manyKeysTurn, keys)
		began := time.Now()
		if err := ask(from, to); err != nil {
			return ManyKeysCost{}, err
		}
		turns = append(turns, float64(time.Since(began).Nanoseconds())/float64(to-from))
	}
	slices.Sort(turns)
	return ManyKeysCost{turns[0], turns[len(turns)/2], store.Bytes(), store.Evictions()}, nil
}
