package bench_test

import (
	"testing"

	"github.com/mockbase/mockbase/bench"
)

func TestRL135_many_keys_are_asked_for_within_their_bounds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys, counters int
		evictions      bool
	}{"room for all": {50_000, 80_000, false}, "room for half": {50_000, 25_000, true}} {
		cost, err := bench.ManyKeys(t.Context(), test.keys, test.counters)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if cost.Best <= 0 || cost.Median < cost.Best || cost.Bytes <= 0 || (cost.Evictions > 0) != test.evictions {
			t.Errorf("%s: %+v", name, cost)
		}
	}
}
