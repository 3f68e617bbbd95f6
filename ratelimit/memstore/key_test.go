package memstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// RL45 and RL122: more namespaces than have their hashes kept share nothing, and cost no allocation.
func TestRL45_many_namespaces_cost_no_allocation(t *testing.T) { //nolint:paralleltest // It counts allocations.
	s := newStore(t, memstore.Options{})
	p := policy(1_000_000, time.Hour)
	keys := make([]ratelimit.Key, 500)
	for i := range keys {
		keys[i] = ratelimit.Key{Namespace: fmt.Sprintf("n%d", i), Identifier: "203.0.113.9"}
		take(t, s, keys[i], p, int64(i))
	}
	for i, k := range keys {
		if d := take(t, s, k, p, 0); d.Remaining != p.Limit-int64(i) {
			t.Fatalf("%s has %d left, want %d", k.Namespace, d.Remaining, p.Limit-int64(i))
		}
	}
	ctx, i := t.Context(), 0
	if n := testing.AllocsPerRun(2000, func() {
		i++
		_, _ = s.Take(ctx, ratelimit.Request{Key: keys[i%len(keys)], Policy: p, Cost: 1})
	}); n >= 1 {
		t.Errorf("%v allocations a check", n)
	}
}
