package openapi

import (
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// maxNested is how deep the values of a document may lie in one another: a definition holds a document at its fourth level and
// may be 100 levels deep itself (rule M-9). deepBody is that of a body that a mock holds as JSON.
const (
	maxNested = 96
	deepBody  = 90
)

// cutDeep empties what lies deeper than a document may be: what is around it is served. Each cut is a warning.
func (s *source) cutDeep() {
	if deeper(s.root, maxNested) {
		s.root = s.cut(place{node: s.root, at: "#"}, maxNested)
		s.resolved, s.identities = nil, nil
	}
}

// deeper tells whether a value has more than so many levels of objects and lists.
func deeper(n *mockbase.Node, levels int) bool {
	if n.Kind != mockbase.NodeObject && n.Kind != mockbase.NodeList {
		return false
	}
	if levels == 0 {
		return true
	}
	return slices.ContainsFunc(n.Items, func(item *mockbase.Node) bool { return deeper(item, levels-1) }) ||
		slices.ContainsFunc(n.Members, func(m mockbase.Member) bool { return deeper(m.Value, levels-1) })
}

// cut returns a value of so many levels. Nodes may be shared, so that they are not changed.
func (s *source) cut(p place, levels int) *mockbase.Node {
	if !deeper(p.node, levels) {
		return p.node
	}
	own := *p.node
	if levels == 0 {
		s.notes.add(p, mockbase.FieldLimit, "the document is nested deeper than "+strconv.Itoa(maxNested)+" levels: what lies deeper is left out")
		own.Members, own.Items = nil, nil
		return &own
	}
	own.Items, own.Members = slices.Clone(own.Items), slices.Clone(own.Members)
	for i, item := range p.items() {
		own.Items[i] = s.cut(item, levels-1)
	}
	for i, m := range p.members() {
		own.Members[i].Value = s.cut(m.place, levels-1)
	}
	return &own
}
