package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// Whatever a change does to the list of mocks, exactly those that are in both lists are not compiled again.
func TestY6_mocks_that_stay_are_taken_over_wherever_they_stand(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	all := manyMocks(60)
	fresh := func(n int) *mockbase.Mock { m := *all[n]; return &m }
	edits := map[string]func(list []*mockbase.Mock) []*mockbase.Mock{
		"nothing":         func(list []*mockbase.Mock) []*mockbase.Mock { return list },
		"at the end":      func(list []*mockbase.Mock) []*mockbase.Mock { return append(list, all[50], all[51]) },
		"at the front":    func(list []*mockbase.Mock) []*mockbase.Mock { return slices.Insert(list, 0, all[50]) },
		"between":         func(list []*mockbase.Mock) []*mockbase.Mock { return slices.Insert(list, 7, all[50], all[51]) },
		"another version": func(list []*mockbase.Mock) []*mockbase.Mock { list[9] = fresh(9); return list },
		"the last one":    func(list []*mockbase.Mock) []*mockbase.Mock { return list[:len(list)-1] },
		"the first one":   func(list []*mockbase.Mock) []*mockbase.Mock { return list[1:] },
		"all but one":     func(list []*mockbase.Mock) []*mockbase.Mock { return list[4:5] },
		"all":             func([]*mockbase.Mock) []*mockbase.Mock { return nil },
		"backwards":       func(list []*mockbase.Mock) []*mockbase.Mock { slices.Reverse(list); return list },
		"two versions":    func(list []*mockbase.Mock) []*mockbase.Mock { list[2], list[17] = fresh(2), fresh(17); return list },
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		edits[fmt.Sprintf("at random %d", n)] = func(list []*mockbase.Mock) []*mockbase.Mock {
			for range 3 {
				at := random.IntN(len(list))
				list = slices.Delete(list, at, min(len(list), at+random.IntN(4)))
				list = slices.Insert(list, random.IntN(len(list)+1), all[40+random.IntN(4)])
			}
			random.Shuffle(random.IntN(3), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return slices.Compact(list)
		}
	}
	revision := int64(1)
	for name, edit := range edits {
		first := slices.Clone(all[:20])
		second := edit(slices.Clone(first))
		want := 0
		for _, m := range second {
			if slices.Contains(first, m) {
				want++
			}
		}
		got, err := e.SharedRoutes(snapshot(revision, mockbase.Config{}, first), snapshot(revision+1, mockbase.Config{}, second))
		if err != nil || got != want {
			t.Errorf("%s: %d are taken over, want %d (%v)", name, got, want, err)
		}
		revision += 2
	}
}
