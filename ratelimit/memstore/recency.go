package memstore

import "math"

// useList is a doubly linked list of entries by when they came to its front. A check notes its turn in the entry and leaves
// the list alone, since moving the entry would take longer than all else; who makes room looks at the turns.
type useList struct{ newest, oldest ref }

// touch notes that an entry is used, and moves it to the other list if it belongs there by now.
func (h *shard) touch(r ref, e *entry, remaining int64) {
	h.turn++
	e.last = h.turn
	e.recent = true
	if e.exhausted != (remaining == 0) {
		h.move(r, e)
	}
}

// move moves an entry to the front of the other list.
func (h *shard) move(r ref, e *entry) {
	h.unlink(e)
	e.exhausted = !e.exhausted
	h.link(r, e)
}

func (h *shard) listOf(e *entry) *useList {
	if e.exhausted {
		return &h.exhausted
	}
	return &h.fresh
}

func (h *shard) link(r ref, e *entry) {
	l := h.listOf(e)
	e.newer, e.older, e.recent = 0, l.newest, false
	if l.newest != 0 {
		h.at(l.newest).newer = r
	} else {
		l.oldest = r
	}
	l.newest = r
}

func (h *shard) unlink(e *entry) {
	l := h.listOf(e)
	if e.newer != 0 {
		h.at(e.newer).older = e.older
	} else {
		l.newest = e.older
	}
	if e.older != 0 {
		h.at(e.older).newer = e.newer
	} else {
		l.oldest = e.newer
	}
}

// makeRoom frees an expired entry if the sweep finds one, else the least recently used one, exhausted ones last. It spares
// one entry; there must be another.
func (h *shard) makeRoom(at int64, spared ref) {
	if h.sweep(at, sweepFull) > 0 {
		return
	}
	victim, last := h.oldest(&h.fresh, spared), h.oldest(&h.exhausted, spared)
	if victim == 0 || last != 0 && h.at(last).expires <= at {
		victim = last
	}
	if h.at(victim).expires > at {
		h.evictions.Add(1)
	}
	h.release(victim)
}

// oldest returns the entry of a list that was used least recently, but not the spared one. In a shard of more than
// lookBack entries it is the first that was not used since it came to the front.
func (h *shard) oldest(l *useList, spared ref) ref {
	many := h.keys > lookBack
	if many {
		h.renew(l, lookBack)
	}
	victim, turn := ref(0), uint64(math.MaxUint64)
	for r, looked := l.oldest, 0; r != 0 && looked < lookBack; looked++ {
		e := h.at(r)
		if r != spared && e.last < turn {
			victim, turn = r, e.last
		}
		if many && victim != 0 && !e.recent {
			break
		}
		r = e.newer
	}
	return victim
}

// renew brings entries at the end of a list to its front that were used since they came there, up to so many.
func (h *shard) renew(l *useList, most int) {
	for ; most > 0 && l.oldest != l.newest; most-- {
		r := l.oldest
		e := h.at(r)
		if !e.recent {
			return
		}
		h.unlink(e)
		h.link(r, e)
	}
}

// prepare puts the list in order bit by bit while a shard fills up, so that whoever makes room finds the end of it in
// order.
func (h *shard) prepare(most int) {
	const whole, part = 4, 3
	if h.keys > h.maxKeys/whole*part || h.bytes > h.maxBytes/whole*part {
		h.renew(&h.fresh, most)
	}
}
