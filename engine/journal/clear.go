package journal

import (
	"slices"

	"github.com/mockbase/mockbase"
)

// ClearSelected forgets the exchanges of a project that a filter selects, saved ones included, and returns how many they
// were (rules M-179 and R7). Of what was saved only that stays which is in memory too.
func (j *Journal) ClearSelected(projectID string, f mockbase.TrafficFilter) int {
	r := (*j.rings.Load())[projectID]
	if r == nil {
		return 0
	}
	wanted := newFilter(f, r.oldest(j.clock()))
	n, kept := r.remove(wanted.selects)
	if n == 0 || j.saver == nil {
		return n
	}
	if !j.persist(projectID) {
		kept = nil
	}
	j.saver.rewrite(projectID, kept)
	return n
}

// held is an exchange in a ring, with the size that it counts for.
type held struct {
	exchange *mockbase.Exchange
	size     int64
	// place is its place in the order of recording, which it keeps.
	place int64
}

// remove takes out what is selected, and returns its number and what stays, oldest first.
func (r *ring) remove(selects func(*mockbase.Exchange) bool) (n int, kept []held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept = make([]held, 0, r.n)
	for i := range r.n {
		at := (r.head + i) % len(r.slots)
		if selects(r.slots[at]) {
			n++
			continue
		}
		kept = append(kept, held{r.slots[at], r.facts[at].size, r.facts[at].place})
	}
	if n == 0 {
		return 0, nil
	}
	r.slots, r.facts, r.head, r.n, r.bytes = nil, nil, 0, 0, 0
	newest := r.placed
	for _, h := range kept {
		r.placed = h.place - 1
		r.push(h.exchange, h.size)
	}
	r.placed = newest
	return n, kept
}

// rewrite has what is saved of a project replaced. What is kept is queued whatever the bounds of the queue say: the ring
// bounds it.
func (s *saver) rewrite(projectID string, kept []held) {
	s.mu.Lock()
	s.waiting = slices.DeleteFunc(s.waiting, func(x *mockbase.Exchange) bool { return x.ProjectID == projectID })
	s.erase[projectID] = struct{}{}
	if !s.closed {
		for _, h := range kept {
			s.waiting = append(s.waiting, h.exchange)
			s.bytes += h.size
		}
	}
	s.mu.Unlock()
	s.signal()
}
