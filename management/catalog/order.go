package catalog

import (
	"sort"

	"github.com/mockbase/mockbase"
)

// arrange puts the mocks of a document into the order of their file, between mocks that it does not hold (mock format,
// section 4). current are the mocks that stay, in creation order, former[i] is what stood for mocks[i] among them, or
// nil. Mocks that are there keep their places as far as the file allows; every other one comes as late as it may, so
// that a mock that is new at the end of the file is newer than everything. It returns all mocks in their new order, and
// those of the document that had to move.
func arrange(current, mocks, former []*mockbase.Mock) (all []*mockbase.Mock, moved map[string]bool) {
	position := make(map[string]int, len(current))
	for i, m := range current {
		position[m.ID] = i
	}
	places := make([]int, len(mocks))
	for i := range mocks {
		places[i] = -1
		if former[i] != nil {
			places[i] = position[former[i].ID]
		}
	}
	staying := longestRise(places)
	moved = map[string]bool{}
	at := make(map[int]int, len(mocks))
	for i, place := range places {
		if place >= 0 {
			at[place] = i
			if !staying[i] {
				moved[mocks[i].ID] = true
			}
		}
	}
	next := 0
	for place, m := range current {
		i, ours := at[place]
		switch {
		case !ours:
			all = append(all, m)
		case staying[i]:
			all = append(all, mocks[next:i+1]...)
			next = i + 1
		}
	}
	return append(all, mocks[next:]...), moved
}

// longestRise marks a longest rising part of a list, leaving out negative numbers.
func longestRise(list []int) []bool {
	var ends []int // ends[k] is the index of the smallest last number of a rise of k+1 numbers
	before := make([]int, len(list))
	for i, n := range list {
		if n < 0 {
			continue
		}
		k := sort.Search(len(ends), func(k int) bool { return list[ends[k]] >= n })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		ends = append(ends[:k], append([]int{i}, ends[min(k+1, len(ends)):]...)...)
	}
	marks := make([]bool, len(list))
	if len(ends) == 0 {
		return marks
	}
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		marks[i] = true
	}
	return marks
}

// number gives the mocks rising order values. A mock that has one keeps it as long as it is larger than the one before;
// those between two others share the room that is there. fresh tells which mocks have no value yet. It returns the
// mocks that got another value than they had, as copies in place of the originals.
func number(all []*mockbase.Mock, fresh func(*mockbase.Mock) bool) (renumbered []*mockbase.Mock) {
	var last int64
	for i := 0; i < len(all); {
		if !fresh(all[i]) && all[i].Order > last {
			last = all[i].Order
			i++
			continue
		}
		end := i + 1
		for end < len(all) && (fresh(all[end]) || all[end].Order <= last) {
			end++
		}
		step := int64(orderStep)
		if end < len(all) {
			step = max(1, (all[end].Order-last)/int64(end-i+1))
		}
		for ; i < end; i++ {
			last += step
			m := all[i].Copy()
			m.Order = last
			all[i] = m
			renumbered = append(renumbered, m)
		}
	}
	return renumbered
}
