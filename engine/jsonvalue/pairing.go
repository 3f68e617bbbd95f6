package jsonvalue

// mostPaired is the most items a side that compare in any order (rule G9).
const mostPaired = 500

// pairing finds a partner for every expected item: a maximum matching of a bipartite graph, built up by augmenting paths.
// Taking the first item that fits would take it away from another one that fits nothing else.
type pairing struct {
	*comparison
	pattern *Pattern
	actual  *Value
	// owner is the expected item that an actual item belongs to, -1 for none.
	owner []int
	// edges say whether two items are the same, once that is known.
	edges []edge
	// tried marks the actual items that the current search has asked.
	tried []bool
}

type edge uint8

const (
	unknown edge = iota
	fits
	fitsNot
)

// anyOrder compares arrays as multisets (rules G8 and G9).
func (c *comparison) anyOrder(p *Pattern, actual *Value) bool {
	have := actual.Len()
	if max(len(p.items), have) > mostPaired {
		return c.differ("ignoreOrder", "at most 500 items", tooLarge)
	}
	m := pairing{
		comparison: c, pattern: p, actual: actual,
		owner: make([]int, have), edges: make([]edge, len(p.items)*have), tried: make([]bool, have),
	}
	for j := range m.owner {
		m.owner[j] = -1
	}
	c.pairing++
	defer func() { c.pairing-- }()
	for i := range p.items {
		clear(m.tried)
		if !m.place(i) {
			return c.unmatched(p, i, "no item left that equals it")
		}
	}
	return true
}

// place gives an expected item a partner, moving others on where needed. It asks the item at the same index first: arrays
// in the same order take no more comparisons than positional ones.
func (m *pairing) place(i int) bool {
	have := len(m.owner)
	if !m.affords(have) {
		return false
	}
	for k := range have {
		j := (i + k) % have
		if m.tried[j] || !m.same(i, j) {
			continue
		}
		m.tried[j] = true
		if m.owner[j] < 0 || m.place(m.owner[j]) {
			m.owner[j] = i
			return true
		}
	}
	return false
}

func (m *pairing) same(i, j int) bool {
	known := &m.edges[i*len(m.owner)+j]
	if *known == unknown {
		*known = fitsNot
		if m.quietly(&m.pattern.items[i], m.actual.Item(j)) {
			*known = fits
		}
	}
	return *known == fits
}
