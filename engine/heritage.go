package engine

import (
	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// heritage finds what a program takes over from the one before. A change leaves nearly all mocks where they are, at the
// beginning or at the end of the list: those are found by their places, and only what is between by name.
type heritage struct {
	// former is nil where there is nothing to take over.
	former *program
	// The mocks before head have the places that they had; those from tail on, up to size, had places that are shift further.
	head, tail, size, shift int
}

// inherit compares the mocks of a program with those of the one before.
func inherit(former *program, mocks []*mockbase.Mock) heritage {
	h := heritage{former: former, tail: len(mocks), size: len(mocks)}
	if former == nil {
		return h
	}
	old := former.entries[:len(former.snapshot.Mocks)]
	h.shift = len(old) - len(mocks)
	for h.head < min(len(old), len(mocks)) && old[h.head].mock == mocks[h.head] {
		h.head++
	}
	for h.tail > h.head && h.tail+h.shift > h.head && old[h.tail+h.shift-1].mock == mocks[h.tail-1] {
		h.tail--
	}
	return h
}

// place is the place that a mock had among the entries of the former program, if it is one of those that kept theirs.
func (h heritage) place(i int) (at int, ok bool) {
	switch {
	case h.former == nil:
		return 0, false
	case i < h.head:
		return i, true
	case i >= h.tail && i < h.size:
		return i + h.shift, true
	}
	return 0, false
}

// longer tells that every mock of the former program has its place, and that those that are new follow them.
func (h heritage) longer() bool {
	return h.former != nil && h.head == len(h.former.snapshot.Mocks)
}

// serial names the memory that a mock had, 0 if it begins a new one; known are those that have no place.
func (h heritage) serial(i int, m *mockbase.Mock, known map[string]memoryOf) session.Serial {
	if at, ok := h.place(i); ok && m.ID != "" {
		return h.former.layout.Mocks[at].Serial
	}
	if was, ok := known[m.ID]; ok && sameMemory(was.mock, m) {
		return was.serial
	}
	return 0
}

// routes are those of the former program that have no place.
func (h heritage) routes() map[*mockbase.Mock]*route {
	if h.former == nil {
		return nil
	}
	between := h.former.entries[h.head : h.tail+h.shift]
	known := make(map[*mockbase.Mock]*route, len(between))
	for i := range between {
		known[between[i].mock] = between[i].route
	}
	return known
}

// memories are those of the former program that have no place, by the ids of the mocks.
func (h heritage) memories() map[string]memoryOf {
	if h.former == nil {
		return nil
	}
	p := h.former
	known := make(map[string]memoryOf)
	for i := range p.entries {
		if i < h.head || i >= h.tail+h.shift && i < h.size+h.shift {
			continue
		}
		m := p.entries[i].mock
		if m.ID == "" {
			// What was never stored has no identity to keep.
			continue
		}
		known[m.ID] = memoryOf{mock: m, serial: p.layout.Mocks[i].Serial}
	}
	for _, d := range p.documents {
		for i := range d.operations {
			own := &d.operations[i]
			known[own.mock.ID] = memoryOf{mock: own.mock, serial: p.layout.Mocks[own.age].Serial}
		}
	}
	return known
}
