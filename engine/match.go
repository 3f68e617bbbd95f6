package engine

// choose returns the first candidate, in the order of rule A2, whose conditions all hold; nil if there is none.
func (c *call) choose() *entry {
	if len(c.leaves) == 1 && len(c.program.expressions.entries) == 0 {
		for _, e := range c.leaves[0].inOrder(c.method.name) {
			if c.admits(e) {
				return e
			}
		}
		return nil
	}
	m := newMerge(c.candidates(), c.method.name)
	for e := m.next(); e != nil; e = m.next() {
		if c.admits(e) {
			return e
		}
	}
	return nil
}

// admits tells whether everything that a mock states holds.
func (c *call) admits(e *entry) bool {
	c.route = e.route
	return e.accepts(&c.method) && e.host.match(c.request.Host) && e.here(&c.inquiry) &&
		(!e.guarded || e.guards.hold(&c.inquiry))
}

// merge walks the entries of several leaves in one order.
type merge struct {
	lists   [][]*entry
	compare func(a, b *entry) int
}

func newMerge(leaves []*leaf, name string) *merge {
	m := &merge{compare: comparison(name), lists: make([][]*entry, 0, len(leaves))}
	for _, l := range leaves {
		m.lists = append(m.lists, l.inOrder(name))
	}
	return m
}

// next returns the entry that comes next, nil at the end.
func (m *merge) next() *entry {
	best := -1
	for i, list := range m.lists {
		if len(list) > 0 && (best < 0 || m.compare(list[0], m.lists[best][0]) < 0) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	e := m.lists[best][0]
	m.lists[best] = m.lists[best][1:]
	return e
}
