package body

import (
	"errors"
	"fmt"

	"github.com/theory/jsonpath/spec"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

const (
	// maxSteps bounds the nodes that one selection looks at.
	maxSteps = 1_000_000
	// patternCost is how many nodes a pattern counts for.
	patternCost = 10
)

// errTooMuch tells that a selection was given up.
var errTooMuch = errors.New("too large: the JSONPath would look at more nodes than allowed")

// node is a value, and the same value in the form that filters take where the expression has some.
type node struct {
	value *jsonvalue.Value
	plain any
}

// selection is one evaluation of a path.
type selection struct {
	path *Path
	root node
	// rootWeight is what a filter that starts at the root costs, once that is known.
	rootWeight int
	// steps are left; below zero the selection is given up.
	steps int
}

// Select returns the nodes of a message's body. The error says that the body is not JSON (rule H11), or that the
// expression looks at too many nodes of it.
func (p *Path) Select(m *Message) ([]*jsonvalue.Value, error) {
	value, err := m.JSON()
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if len(m.raw) < Large {
		return p.selectIn(m, value)
	}
	// Many mocks may ask the same.
	known, ok := m.selected[p.text]
	if !ok {
		known.nodes, known.err = p.selectIn(m, value)
		if m.selected == nil {
			m.selected = make(map[string]selected)
		}
		m.selected[p.text] = known
	}
	return known.nodes, known.err
}

func (p *Path) selectIn(m *Message, value *jsonvalue.Value) ([]*jsonvalue.Value, error) {
	if !p.filters {
		return p.selectFrom(p.query, node{value: value})
	}
	// Most documents have no long numbers, and filters of all expressions take the same form of them.
	tree, _ := m.tree.get(func() (filterable, error) { return newFilterable(value), nil })
	return p.filter(value, tree)
}

// SelectValue is [Path.Select] for a value.
func (p *Path) SelectValue(v *jsonvalue.Value) ([]*jsonvalue.Value, error) {
	if !p.filters {
		return p.selectFrom(p.query, node{value: v})
	}
	return p.filter(v, newFilterable(v))
}

// filterable is a document in the form that filters take.
type filterable struct {
	plain any
	// long tells that it has long numbers.
	long bool
}

func newFilterable(v *jsonvalue.Value) filterable {
	return filterable{plain: plain(v, nearest), long: long(v)}
}

// filter selects by the ranks of numbers where that is needed.
func (p *Path) filter(v *jsonvalue.Value, tree filterable) ([]*jsonvalue.Value, error) {
	if p.ranking != nil && (p.ranking.needed || tree.long) {
		return p.selectFrom(p.ranking.query, node{value: v, plain: p.ranking.ranked(v)})
	}
	return p.selectFrom(p.query, node{value: v, plain: tree.plain})
}

func (p *Path) selectFrom(query *spec.PathQuery, root node) ([]*jsonvalue.Value, error) {
	s := selection{path: p, root: root, steps: maxSteps}
	nodes := []node{root}
	for _, segment := range query.Segments() {
		if segment.IsDescendant() {
			nodes = s.descend(nodes)
		}
		var next []node
		for _, n := range nodes {
			for _, selector := range segment.Selectors() {
				next = s.apply(next, n, selector)
			}
		}
		if nodes = next; s.steps < 0 {
			return nil, errTooMuch
		}
	}
	values := make([]*jsonvalue.Value, len(nodes))
	for i := range nodes {
		values[i] = nodes[i].value
	}
	return values, nil
}

// descend returns every node with all that is below it, each before what is below.
func (s *selection) descend(nodes []node) []node {
	var all []node
	var visit func(n node)
	visit = func(n node) {
		if s.steps--; s.steps < 0 {
			return
		}
		all = append(all, n)
		n.children(visit)
	}
	for _, n := range nodes {
		visit(n)
	}
	return all
}

// children calls visit with each child in the order of the document.
func (n node) children(visit func(node)) {
	list, _ := n.plain.([]any)
	for i, item := range n.value.Items() {
		child := node{value: item}
		if list != nil {
			child.plain = list[i]
		}
		visit(child)
	}
	members, _ := n.plain.(map[string]any)
	for name, value := range n.value.Members() {
		visit(node{value: value, plain: members[name]})
	}
}

// apply appends what a selector selects of a node.
func (s *selection) apply(to []node, n node, selector spec.Selector) []node {
	if s.steps--; s.steps < 0 {
		return to
	}
	switch selector := selector.(type) {
	case spec.Name:
		if value, ok := n.value.Member(string(selector)); ok {
			members, _ := n.plain.(map[string]any)
			to = append(to, node{value: value, plain: members[string(selector)]})
		}
	case spec.Index:
		to = n.appendItem(to, position(int(selector), n.length()))
	case spec.SliceSelector:
		to = s.slice(to, n, selector)
	case spec.WildcardSelector:
		n.children(func(child node) {
			s.steps--
			to = append(to, child)
		})
	case *spec.FilterSelector:
		n.children(func(child node) {
			if s.steps -= s.cost(child); s.steps >= 0 && selector.Eval(child.plain, s.root.plain) {
				to = append(to, child)
			}
		})
	}
	return to
}

// length is that of an array, 0 for other values.
func (n node) length() int {
	if n.value.Kind() != jsonvalue.Array {
		return 0
	}
	return n.value.Len()
}

// position counts a negative index from the end.
func position(i, length int) int {
	if i < 0 {
		return i + length
	}
	return i
}

func (n node) appendItem(to []node, i int) []node {
	if i < 0 || i >= n.length() {
		return to
	}
	item := node{value: n.value.Item(i)}
	if list, ok := n.plain.([]any); ok {
		item.plain = list[i]
	}
	return append(to, item)
}

func (s *selection) slice(to []node, n node, slice spec.SliceSelector) []node {
	lower, upper := slice.Bounds(n.length())
	step := slice.Step()
	switch {
	case step > 0:
		for i := lower; i < upper; i += step {
			s.steps--
			to = n.appendItem(to, i)
		}
	case step < 0:
		for i := upper; lower < i; i += step {
			s.steps--
			to = n.appendItem(to, i)
		}
	}
	return to
}

// cost is how many nodes a filter may look at to test one.
func (s *selection) cost(n node) int {
	cost := 1
	if s.path.patterns {
		// The library compiles the pattern each time.
		cost = patternCost
	}
	if !s.path.heavy {
		return cost
	}
	cost += s.weight(n.value)
	if s.path.rooted {
		if s.rootWeight == 0 {
			s.rootWeight = s.weight(s.root.value)
		}
		cost += s.rootWeight
	}
	return cost
}

// weight is the number of nodes in a value; where a filter descends, times their depth, as the library copies the list
// of what it finds once a level.
func (s *selection) weight(v *jsonvalue.Value) int {
	nodes, height := weigh(v, maxSteps)
	if s.path.descends {
		return nodes * height
	}
	return nodes
}

// weigh counts the nodes in a value, up to a little more than most, and its levels.
func weigh(v *jsonvalue.Value, most int) (nodes, height int) {
	nodes = 1
	below := 0
	add := func(child *jsonvalue.Value) bool {
		n, h := weigh(child, most-nodes)
		nodes, below = nodes+n, max(below, h)
		return nodes <= most
	}
	for _, item := range v.Items() {
		if !add(item) {
			break
		}
	}
	for _, member := range v.Members() {
		if !add(member) {
			break
		}
	}
	return nodes, below + 1
}

// plain makes the form that filters take, with number as what stands for a number.
func plain(v *jsonvalue.Value, number func(text string) float64) any {
	switch v.Kind() {
	case jsonvalue.Number:
		return number(v.Text())
	case jsonvalue.Array:
		list := make([]any, v.Len())
		for i, item := range v.Items() {
			list[i] = plain(item, number)
		}
		return list
	case jsonvalue.Object:
		members := make(map[string]any, v.Len())
		for name, value := range v.Members() {
			members[name] = plain(value, number)
		}
		return members
	default:
		return v.Any()
	}
}
