package engine

import "hash/maphash"

// fanout finds nodes by their labels. It does what a map does, with fewer places in memory to look at: the label is with the
// node, which is looked at anyway.
type fanout struct {
	seed  maphash.Seed
	slots []fanoutSlot
	// mask turns a hash into a place: the number of slots is a power of two.
	mask  uint64
	count int
}

// fanoutSlot is empty without a node.
type fanoutSlot struct {
	hash uint64
	node *node
}

const firstFanout = 4

// find returns the node of a label, nil if there is none.
func (f *fanout) find(label string) *node {
	if f.count == 0 {
		return nil
	}
	hash := maphash.String(f.seed, label)
	for i := hash; ; i++ {
		slot := &f.slots[i&f.mask]
		if slot.node == nil || slot.hash == hash && slot.node.label == label {
			return slot.node
		}
	}
}

// insert adds a node whose label is not there yet.
func (f *fanout) insert(n *node) {
	// A third of the slots stay free, so that a search ends soon.
	if 3*(f.count+1) > 2*len(f.slots) {
		f.grow()
	}
	f.count++
	f.place(fanoutSlot{hash: maphash.String(f.seed, n.label), node: n})
}

func (f *fanout) grow() {
	if f.slots == nil {
		f.seed = maphash.MakeSeed()
	}
	old := f.slots
	f.slots = make([]fanoutSlot, max(firstFanout, 2*len(old)))
	f.mask = max(firstFanout-1, 2*f.mask+1)
	for _, slot := range old {
		if slot.node != nil {
			f.place(slot)
		}
	}
}

// place puts a slot where it is found.
func (f *fanout) place(slot fanoutSlot) {
	i := slot.hash
	for f.slots[i&f.mask].node != nil {
		i++
	}
	f.slots[i&f.mask] = slot
}
