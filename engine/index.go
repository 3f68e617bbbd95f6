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
	// crowded are the leaves with more than one entry.
	crowded []*leaf
	// labels holds each literal once: mocks repeat them, and what is compared often is at hand.
	labels map[string]string
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

// branches are the ways on from a node that few nodes have.
type branches struct {
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
	x.add(x.follow(&x.root, e.pattern, 0), e)
	if e.pattern.slash {
		x.add(x.literal(x.follow(&x.root, e.pattern, 1), ""), e)
	}
}

func (x *index) add(n *node, e *entry) {
	n.leaf.add(e)
	if c := n.leaf.crowd; c != nil && len(c.entries) == 2 {
		x.crowded = append(x.crowded, &n.leaf)
	}
}

// follow returns the node that a pattern ends at, made where it is missing. extra segments are to follow behind it.
func (x *index) follow(n *node, p *pattern, extra int) *node {
	for i := range p.segments {
		s := &p.segments[i]
		switch {
		case s.kind == mockbase.SegmentLiteral:
			n = x.literal(n, s.literal)
		case s.kind == mockbase.SegmentRest:
			n = x.restOf(n, restChild{least: p.restMin, tail: len(p.segments) - 1 - i + extra})
		case s.shape != nil:
			n = x.shapedOf(n, s.shape)
		default:
			if n.any == nil {
				n.any = x.newNode("")
			}
			n = n.any
		}
	}
	return n
}

func (x *index) literal(n *node, text string) *node {
	if n.child == nil {
		n.child = x.newNode(x.shared(text))
		return n.child
	}
	child := n.literal(text)
	if child == nil {
		child = x.newNode(text)
		n.branch().literals.insert(child)
	}
	return child
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
	for _, l := range x.crowded {
		l.finish()
	}
	x.crowded, x.chunk, x.labels = nil, nil, nil
}

// finish puts the entries in their order.
func (l *leaf) finish() {
	if l.crowd == nil {
		return
	}
	slices.SortFunc(l.crowd.entries, compare)
	l.crowd.heads = slices.Clone(l.crowd.entries)
	slices.SortFunc(l.crowd.heads, compareHead)
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
		if at == len(s.path.keys) {
			if !n.leaf.empty() {
				s.leaves = append(s.leaves, &n.leaf)
			}
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
