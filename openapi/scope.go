package openapi

import (
	"maps"

	"github.com/mockbase/mockbase"
)

// The bounds of scopes: how many there may be in one document, of which references that would make more keep the one that they have,
// and how many nodes are looked at to find out which schemas need one. All others are taken for such.
const (
	mostScopes = 256
	mostSought = 2_000_000
)

// scope are the dynamic anchors of the resources that led to a place, of which the outermost of a name counts (JSON Schema 2020-12,
// section 8.2.3.2). A schema that others fill in differently is a different one in each scope.
type scope struct {
	key     string
	anchors map[string]place
}

// scopes are those of a document.
type scopes struct {
	// filled tells that the document has dynamic anchors.
	filled bool
	byKey  map[string]*scope
	// open tells which schemas lead to a $dynamicRef; sought counts the nodes that were looked at to find out.
	open   map[*mockbase.Node]bool
	sought int
}

// dynamic tells whether a reference is a $dynamicRef.
func (p place) dynamic() bool { return p.node != nil && dynamicRef(p.node) }

func dynamicRef(n *mockbase.Node) bool { return n.Find("$ref") == nil && n.Find("$dynamicRef") != nil }

// enter gives what a reference means the scope of what follows. The source is locked.
func (s *source) enter(p place, to *target) {
	inner := s.identities.within(p.scope, p)
	if to.anchor != "" && inner != nil {
		if at, ok := inner.anchors[to.anchor]; ok {
			to.place = at
		}
	}
	if s.leadsOn(to.node) {
		to.scope = s.identities.within(inner, to.place)
	}
}

// within is a scope and the resource of a place in it.
func (i *identities) within(outer *scope, p place) *scope {
	r := i.owners[p.node]
	if r == nil {
		r = i.byURI[documentBase]
	}
	key, anchors := r.root.at, r.dynamic
	if outer != nil {
		key, anchors = outer.key+" "+key, maps.Clone(outer.anchors)
		for name, at := range r.dynamic {
			anchors = withFirst(anchors, name, at)
		}
		if len(anchors) == len(outer.anchors) {
			return outer
		}
	}
	if len(anchors) == 0 {
		return nil
	}
	known := i.byKey[key]
	switch {
	case known != nil:
		return known
	case len(i.byKey) >= mostScopes:
		return outer
	case i.byKey == nil:
		i.byKey = map[string]*scope{}
	}
	i.byKey[key] = &scope{key, anchors}
	return i.byKey[key]
}

// leadsOn tells whether a schema, or one that it leads to, has a $dynamicRef: others are the same in all scopes.
func (s *source) leadsOn(schema *mockbase.Node) bool {
	i := s.identities
	if open, met := i.open[schema]; met {
		return open
	}
	if i.open == nil {
		i.open = map[*mockbase.Node]bool{}
	}
	met := map[*mockbase.Node]bool{}
	for list := []*mockbase.Node{schema}; len(list) > 0; {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		if met[n] || n.Kind != mockbase.NodeObject && n.Kind != mockbase.NodeList {
			continue
		}
		met[n] = true
		if i.sought++; i.sought > mostSought || dynamicRef(n) {
			i.open[schema] = true
			return true
		}
		list = append(append(list, n.Items...), s.ledTo(n)...)
	}
	for n := range met {
		i.open[n] = false
	}
	return false
}

// ledTo are the values of an object, and what it refers to.
func (s *source) ledTo(n *mockbase.Node) []*mockbase.Node {
	list := make([]*mockbase.Node, 0, len(n.Members)+1)
	for i := range n.Members {
		list = append(list, n.Members[i].Value)
	}
	if ref := n.Find("$ref"); ref != nil && ref.Kind == mockbase.NodeText {
		if to := s.known(meant{owner: s.identities.owners[n], ref: ref.Text}); to.node != nil {
			list = append(list, to.node)
		}
	}
	return list
}
