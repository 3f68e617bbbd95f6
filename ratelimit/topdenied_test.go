package ratelimit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
)

func TestRL129_the_keys_that_are_denied_most_are_known(t *testing.T) {
	t.Parallel()
	var top ratelimit.TopDenied
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 3000 {
				top.Count("engine", fmt.Sprintf("once-%d", i)) // Far more keys than are remembered.
				if i%3 == 0 {
					top.Count("engine", "203.0.113.9")
				}
				if i%6 == 0 {
					top.Count("login", "203.0.113.9")
				}
			}
		})
	}
	group.Wait()
	got := top.Top(2)
	if len(got) != 2 || got[0].Rule != "engine" || got[1].Rule != "login" || got[0].Digest != got[1].Digest {
		t.Fatalf("%+v, want the address under both rules", got)
	}
	for i, count := range []int64{4000, 2000} {
		if got[i].Count < count || got[i].Count-got[i].Error > count {
			t.Errorf("%+v, want %d within its error", got[i], count)
		}
	}
	if len(got[0].Digest) != 16 || strings.Contains(fmt.Sprint(got), "203.0") {
		t.Errorf("RL133: %+v names the key", got[0])
	}
	if all := top.Top(1 << 20); len(all) != 256 {
		t.Errorf("%d keys are remembered, want 256", len(all))
	}
	if none := top.Top(-1); len(none) != 0 {
		t.Errorf("-1 keys: %v", none)
	}
	var empty ratelimit.TopDenied
	if none := empty.Top(5); len(none) != 0 {
		t.Errorf("nothing was denied: %v", none)
	}
}
