package engine_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/mockbase/mockbase/engine"
)

// Rule B1: each literal child is found by its own text, however many there are, and nothing else is.
func TestB1_each_of_many_literals_is_found(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, 2, 3, 4, 5, 100, 5000} {
		var labels, others []string
		for i := range count {
			labels, others = append(labels, strconv.Itoa(i)), append(others, "-"+strconv.Itoa(i))
		}
		if found := engine.FindLabels(labels, labels); !slices.Equal(found, labels) {
			t.Errorf("of %d labels %d are found", count, len(found))
		}
		if found := engine.FindLabels(labels, append(others, "")); len(found) > 0 {
			t.Errorf("among %d labels %v are found", count, found)
		}
	}
}
