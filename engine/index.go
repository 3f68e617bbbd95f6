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
	chunk  []node
	leaves []*leaf
	// texts holds each literal once: mocks repeat them, and what is compared often is at hand.
	texts map[string]string
}

// node is a place in the tree, reached by some segments.
type node struct {
	// text and child are the first literal child; most nodes have no other. The rest are in children.
	text     string
	child    *node
	children map[string]*node
	shaped   []shapedChild
	// any is reached by every segment that is not empty: {name} and *.
	any   *node
	rests []restChild
	leaf  *leaf
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
	entries []*entry
	// heads is the order for HEAD requests.
	heads []*entry
	// reads tells that one of the mocks looks at the body, parts that one looks at its parts or fields.
	reads, parts bool
	// room is for the only entry that most leaves have.
	room [1]*entry
}

const nodeChunk = 128

func (x *index) newNode() *node {
	if len(x.chunk) == 0 {
		x.chunk = make([]node, nodeChunk)
	}
	n := &x.chunk[0]
	x.chunk = x.chunk[1:]
	return n
}

// insert adds an entry at every leaf that its pattern ends at.
func (x *index) insert(e *entry) {
	x.leafOf(x.follow(&x.root, e.pattern, 0)).add(e)
	if e.pattern.slash {
		x.leafOf(x.literal(x.follow(&x.root, e.pattern, 1), "")).add(e)
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
				n.any = x.newNode()
			}
			n = n.any
		}
	}
	return n
}

func (x *index) literal(n *node, text string) *node {
	if n.child == nil {
		n.text, n.child = x.shared(text), x.newNode()
		return n.child
	}
	child := n.literal(text)
	if child == nil {
		if n.children == nil {
			n.children = make(map[string]*node)
		}
		child = x.newNode()
		n.children[text] = child
	}
	return child
}

// shared returns a text that is equal, and the same piece of memory for all that are.
func (x *index) shared(text string) string {
	if known, found := x.texts[text]; found {
		return known
	}
	if x.texts == nil {
		x.texts = make(map[string]string)
	}
	x.texts[text] = text
	return text
}

func (x *index) restOf(n *node, wanted restChild) *node {
	for _, r := range n.rests {
		if r.least == wanted.least && r.tail == wanted.tail {
			return r.node
		}
	}
	wanted.node = x.newNode()
	n.rests = append(n.rests, wanted)
	return wanted.node
}

func (x *index) shapedOf(n *node, s *shape) *node {
	for _, c := range n.shaped {
		if c.shape.spelling == s.spelling {
			return c.node
		}
	}
	c := shapedChild{shape: s, node: x.newNode()}
	n.shaped = append(n.shaped, c)
	return c.node
}

func (x *index) leafOf(n *node) *leaf {
	if n.leaf == nil {
		n.leaf = &leaf{}
		x.leaves = append(x.leaves, n.leaf)
	}
	return n.leaf
}

func (l *leaf) add(e *entry) {
	l.reads, l.parts = l.reads || e.readsBody, l.parts || e.readsParts
	if l.entries == nil {
		l.entries = l.room[:0]
	}
	l.entries = append(l.entries, e)
}

// finish puts the entries of every leaf in their order.
func (x *index) finish() {
	for _, l := range x.leaves {
		l.finish()
	}
	x.leaves, x.chunk, x.texts = nil, nil, nil
}

// finish puts the entries in their order.
func (l *leaf) finish() {
	l.heads = l.entries
	if len(l.entries) <= 1 {
		return
	}
	slices.SortFunc(l.entries, compare)
	l.heads = slices.Clone(l.entries)
	slices.SortFunc(l.heads, compareHead)
}

// inOrder returns the entries in the order for a request method.
func (l *leaf) inOrder(name string) []*entry {
	if name == http.MethodHead {
		return l.heads
	}
	return l.entries
}

// literal returns the child for a literal segment, or nil.
func (n *node) literal(text string) *node {
	if n.child != nil && n.text == text {
		return n.child
	}
	return n.children[text]
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
		for _, r := range n.rests {
			if next := len(s.path.keys) - r.tail; next >= at+r.least {
				s.walk(r.node, next)
			}
		}
		if at == len(s.path.keys) {
			if n.leaf != nil {
				s.leaves = append(s.leaves, n.leaf)
			}
			return
		}
		if s.path.segments[at] != "" {
			s.walkBeside(n, at)
		}
		n = n.literal(s.path.keys[at])
		at++
	}
}

// walkBeside follows the children that are not literal.
func (s *search) walkBeside(n *node, at int) {
	for _, c := range n.shaped {
		if c.shape.match(s.path.segments[at]) {
			s.walk(c.node, at+1)
		}
	}
	if n.any != nil {
		s.walk(n.any, at+1)
	}
}
