package openapi

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// ordering puts what lies within a value in the order of its schema (rule W30): properties as they are declared and the others
// behind them, items by their number.
type ordering struct {
	schemas *schemas
	root    place
	// ranks are the places of properties among those of their schema, which is looked at once.
	ranks map[*mockbase.Node]map[string]int
}

// compare orders two lists of names that lead into the value.
func (o *ordering) compare(a, b []string) int {
	at := o.root
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return o.step(at, a[i], b[i])
		}
		at = o.below(at, a[i])
	}
	return cmp.Compare(len(a), len(b))
}

// step orders two names of one value.
func (o *ordering) step(at place, a, b string) int {
	ranks := o.rank(at)
	first, declared := ranks[a]
	second, both := ranks[b]
	switch {
	case declared && both:
		return cmp.Compare(first, second)
	case declared:
		return -1
	case both:
		return 1
	}
	x, failed := strconv.Atoi(a)
	y, also := strconv.Atoi(b)
	if failed == nil && also == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func (o *ordering) rank(at place) map[string]int {
	if at.node == nil {
		return nil
	}
	own, known := o.ranks[at.node]
	if known {
		return own
	}
	own = map[string]int{}
	for i, m := range o.schemas.propertyList(at) {
		own[m.name] = i
	}
	if o.ranks == nil {
		o.ranks = map[*mockbase.Node]map[string]int{}
	}
	o.ranks[at.node] = own
	return own
}

// below is the schema of what lies one name deeper.
func (o *ordering) below(at place, name string) place {
	if at.node == nil {
		return place{}
	}
	list := o.schemas.propertyList(at)
	if i := slices.IndexFunc(list, func(m member) bool { return m.name == name }); i >= 0 {
		return list[i].place
	}
	if i, err := strconv.Atoi(name); err == nil {
		return o.schemas.item(at, i)
	}
	return place{}
}
