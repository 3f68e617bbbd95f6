package memstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// RL44: the table of a shard grows by a few chains with each new counter, never all at once, and every counter is found in
// each of its sizes.
func TestRL44_the_table_grows_bit_by_bit_and_loses_nothing(t *testing.T) {
	t.Parallel()
	const counters = 3000
	s, _ := oneShard(t, memstore.Options{MaxKeys: counters})
	p := policy(10, time.Hour)
	before, most := s.TableSize()
	for i := range counters {
		take(t, s, client(strconv.Itoa(i)), p, 1)
		chains, _ := s.TableSize()
		if chains > before+4 {
			t.Fatalf("counter %d made the table grow from %d chains to %d", i, before, chains)
		}
		before = chains
		if i%97 == 0 {
			for j := 0; j <= i; j += 31 {
				if got := left(t, s, strconv.Itoa(j), p); got != 9 {
					t.Fatalf("with %d chains counter %d has %d left, want 9", chains, j, got)
				}
			}
			before, _ = s.TableSize()
		}
	}
	if before != most || s.Len() != counters {
		t.Errorf("%d counters lie in %d of %d chains", s.Len(), before, most)
	}
	for i := range counters {
		if err := s.Reset(t.Context(), client(strconv.Itoa(i)), p); err != nil {
			t.Fatal(err)
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d counters are left of none", s.Len())
	}
}

// RL44: checks of known counters end what new ones began, so that the number of chains is a power of two in the end.
func TestRL44_a_table_that_no_counter_joins_any_more_is_completed(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxKeys: 1 << 16})
	p := policy(1_000_000, time.Hour)
	for i := range 1030 { // A few more than a power of two.
		take(t, s, client(strconv.Itoa(i)), p, 1)
	}
	for i := range 10_000 {
		take(t, s, client(strconv.Itoa(i%1030)), p, 1)
	}
	if chains, _ := s.TableSize(); chains != 2048 {
		t.Errorf("the table has %d chains, want 2048", chains)
	}
}
