package engine

import (
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
)

// index is a tree over decoded path segments. Each node knows its children by literal text; the few that are not
// literal are tried one by one. Mocks whose paths have the same structure share a leaf.
type index struct {
	root node
	// chunk holds nodes that are not used yet; one allocation makes many.
	chunk []node
	// crowded are the crowds of leaves with more than one entry.
	crowded []*crowd
	// labels holds each literal once: mocks repeat them, and what is compared often is at hand. So does tails, by the texts
	// of its segments.
	labels map[string]string
	tails  map[string]*branches
}

// node is a place in the tree, reached by some segments. It is as large as a line of the processor's cache: among many
// mocks, what is looked at on the way to one of them is what the processor waits for.
type node struct {
	// label is the literal that leads here; "" where something else does.
	label string
	// child is the first literal child; most nodes have no other.
	child *node
	// any is reached by every segment that is not empty: {name} and *.
	any *node
	// more are the other ways on, nil if there is none.
	more *branches
	leaf leaf
}

// branches are the ways on from a node that few nodes have, or that many have alike.
type branches struct {
	// tail are the literals that follow in the one way on from the node, which is to its own leaf; nil where there are nodes
	// for them. Most paths end so, and nodes of equal tails share them.
	tail []string
	// literals are the literal children beside the first.
	literals fanout
	shaped   []shapedChild
	rests    []restChild
}

// shapedChild is reached by segments of one shape.
type shapedChild struct {
	shape *shape
	node  *node
}

// restChild is reached by least segments or more, if exactly tail segments are left behind them.
type restChild struct {
	least, tail int
	node        *node
}

// leaf holds the mocks whose paths end at one node, best first.
type leaf struct {
	// only is the one entry that most leaves have, nil in one without.
	only [1]*entry
	// crowd are all entries where there are several.
	crowd *crowd
	// reads tells that one of the mocks looks at the body, parts that one looks at its parts or fields.
	reads, parts bool
}

// crowd are the entries of a leaf in two orders: heads is the one for HEAD requests.
type crowd struct{ entries, heads []*entry }

const nodeChunk = 128

func (x *index) newNode(label string) *node {
	if len(x.chunk) == 0 {
		x.chunk = make([]node, nodeChunk)
	}
	n := &x.chunk[0]
	x.chunk = x.chunk[1:]
	n.label = label
	return n
}

// insert adds an entry at every leaf that its pattern ends at.
func (x *index) insert(e *entry) {
	p := e.pattern
	x.add(x.follow(p.segments, p.restMin), e)
	if p.slash {
		x.add(x.follow(append(slices.Clip(p.segments), segment{kind: mockbase.SegmentLiteral}), p.restMin), e)
	}
}

func (x *index) add(n *node, e *entry) {
	n.leaf.add(e)
	if c := n.leaf.crowd; c != nil && len(c.entries) == 2 {
		x.crowded = append(x.crowded, c)
	}
}

// follow returns the node that segments end at, made where it is missing.
func (x *index) follow(segments []segment, restMin int) *node {
	n := &x.root
	for rest := segments; len(rest) > 0; rest = rest[1:] {
		if spell(rest, n.tail()) {
			return n
		}
		x.unfold(n)
		known := true
		switch s := &rest[0]; {
		case s.kind == mockbase.SegmentLiteral:
			n, known = x.literal(n, s.literal)
		case s.kind == mockbase.SegmentRest:
			n = x.restOf(n, restChild{least: restMin, tail: len(rest) - 1})
		case s.shape != nil:
			n = x.shapedOf(n, s.shape)
		default:
			n = x.anyOf(n)
		}
		if !known && x.fold(n, rest[1:]) {
			return n
		}
	}
	x.unfold(n)
	return n
}

func (x *index) anyOf(n *node) *node {
	if n.any == nil {
		n.any = x.newNode("")
	}
	return n.any
}

// literal returns the child for a literal segment, and whether it was there before.
func (x *index) literal(n *node, text string) (child *node, known bool) {
	if n.child == nil {
		n.child = x.newNode(x.shared(text))
		return n.child, false
	}
	if child = n.literal(text); child != nil {
		return child, true
	}
	child = x.newNode(text)
	n.branch().literals.insert(child)
	return child, false
}

// tail are the literals from the node to its own leaf, nil where there are nodes for them.
func (n *node) tail() []string {
	if n.more == nil {
		return nil
	}
	return n.more.tail
}

// spell tells whether segments are these literals.
func spell(segments []segment, literals []string) bool {
	return slices.EqualFunc(segments, literals, func(s segment, text string) bool {
		return s.kind == mockbase.SegmentLiteral && s.literal == text
	})
}

// fold makes the segments behind a new node its tail. It returns false where they are not all literals, or none.
func (x *index) fold(n *node, segments []segment) bool {
	tail := make([]string, 0, len(segments))
	for i := range segments {
		if segments[i].kind != mockbase.SegmentLiteral {
			return false
		}
		tail = append(tail, segments[i].literal)
	}
	x.endWith(n, tail)
	return len(tail) > 0
}

// endWith gives a node its tail, the same as other nodes have that is equal.
func (x *index) endWith(n *node, tail []string) {
	if len(tail) == 0 {
		return
	}
	var key []byte
	for _, literal := range tail {
		key = appendCounted(key, literal)
	}
	known := x.tails[string(key)]
	if known == nil {
		if x.tails == nil {
			x.tails = make(map[string]*branches)
		}
		known = &branches{tail: tail}
		x.tails[string(key)] = known
	}
	n.more = known
}

// unfold makes a node for the first literal of a node's tail, if it has one.
func (x *index) unfold(n *node) {
	tail := n.tail()
	if tail == nil {
		return
	}
	child := x.newNode(x.shared(tail[0]))
	x.endWith(child, tail[1:])
	child.leaf, n.leaf = n.leaf, leaf{}
	n.child, n.more = child, nil
}

// branch returns the rarer ways on from a node, made if there are none yet.
func (n *node) branch() *branches {
	if n.more == nil {
		n.more = &branches{}
	}
	return n.more
}

// shared returns a text that is equal, and the same piece of memory for all that are.
func (x *index) shared(text string) string {
	if known, found := x.labels[text]; found {
		return known
	}
	if x.labels == nil {
		x.labels = make(map[string]string)
	}
	x.labels[text] = text
	return text
}

func (x *index) restOf(n *node, wanted restChild) *node {
	more := n.branch()
	for _, r := range more.rests {
		if r.least == wanted.least && r.tail == wanted.tail {
			return r.node
		}
	}
	wanted.node = x.newNode("")
	more.rests = append(more.rests, wanted)
	return wanted.node
}

func (x *index) shapedOf(n *node, s *shape) *node {
	more := n.branch()
	for _, c := range more.shaped {
		if c.shape.spelling == s.spelling {
			return c.node
		}
	}
	c := shapedChild{shape: s, node: x.newNode("")}
	more.shaped = append(more.shaped, c)
	return c.node
}

func (l *leaf) add(e *entry) {
	l.reads, l.parts = l.reads || e.readsBody, l.parts || e.readsParts
	switch {
	case l.crowd != nil:
		l.crowd.entries = append(l.crowd.entries, e)
	case l.only[0] != nil:
		l.crowd = &crowd{entries: []*entry{l.only[0], e}}
	default:
		l.only[0] = e
	}
}

// empty tells whether no path ends here.
func (l *leaf) empty() bool { return l.only[0] == nil }

// finish puts the entries of every leaf in their order.
func (x *index) finish() {
	for _, c := range x.crowded {
		c.finish()
	}
	x.crowded, x.chunk, x.labels, x.tails = nil, nil, nil, nil
}

// finish puts the entries in their order.
func (l *leaf) finish() {
	if l.crowd != nil {
		l.crowd.finish()
	}
}

func (c *crowd) finish() {
	slices.SortFunc(c.entries, compare)
	c.heads = slices.Clone(c.entries)
	slices.SortFunc(c.heads, compareHead)
}

// all returns the entries, the best first.
func (l *leaf) all() []*entry {
	switch {
	case l.crowd != nil:
		return l.crowd.entries
	case l.empty():
		return nil
	default:
		return l.only[:]
	}
}

// inOrder returns the entries in the order for a request method.
func (l *leaf) inOrder(name string) []*entry {
	if name == http.MethodHead && l.crowd != nil {
		return l.crowd.heads
	}
	return l.all()
}

// literal returns the child for a literal segment, or nil.
func (n *node) literal(text string) *node {
	if n.child != nil && n.child.label == text {
		return n.child
	}
	if n.more == nil {
		return nil
	}
	return n.more.literals.find(text)
}

// search collects the leaves whose patterns match a path.
type search struct {
	path   *requestPath
	leaves []*leaf
}

// find appends to buf the leaves that match path, in no particular order.
func (x *index) find(path *requestPath, buf []*leaf) []*leaf {
	s := search{path: path, leaves: buf}
	s.walk(&x.root, 0)
	return s.leaves
}

// walk goes on from a node that was reached by the segments before at.
func (s *search) walk(n *node, at int) {
	for n != nil {
		if n.more != nil {
			s.walkRests(n.more, at)
		}
		tail := n.tail()
		if slices.Equal(s.path.keys[at:], tail) && !n.leaf.empty() {
			s.leaves = append(s.leaves, &n.leaf)
		}
		if tail != nil || at == len(s.path.keys) {
			return
		}
		if s.path.segments[at] != "" && (n.any != nil || n.more != nil) {
			s.walkBeside(n, at)
		}
		n = n.literal(s.path.keys[at])
		at++
	}
}

func (s *search) walkRests(more *branches, at int) {
	for _, r := range more.rests {
		if next := len(s.path.keys) - r.tail; next >= at+r.least {
			s.walk(r.node, next)
		}
	}
}

// walkBeside follows the children that are not literal.
func (s *search) walkBeside(n *node, at int) {
	if n.more != nil {
		for _, c := range n.more.shaped {
			if c.shape.match(s.path.segments[at]) {
				s.walk(c.node, at+1)
			}
		}
	}
	if n.any != nil {
		s.walk(n.any, at+1)
	}
}
