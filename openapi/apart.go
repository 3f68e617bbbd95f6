package openapi

import (
	"slices"

	"github.com/mockbase/mockbase"
)

// apart makes an object of one branch of oneOf that all others refuse, by members that they describe and it does not: many
// documents tell branches apart by a discriminator alone, which each of them leaves open, so that an object is valid for several
// of them and therefore for oneOf not at all (rule W21). It returns nil where there is no such object.
func (g *generator) apart(own *group, at int, v *mockbase.Node) *mockbase.Node {
	if own.keyword != "oneOf" || v.Kind != mockbase.NodeObject || !g.allows(own.branches[at], v) {
		return nil
	}
	out := &mockbase.Node{Kind: mockbase.NodeObject, Members: slices.Clone(v.Members)}
	for i, other := range own.branches {
		if i != at && g.allows(other, out) && !g.refused(out, own.branches[at], other) {
			return nil
		}
	}
	if !g.allows(own.owner, out) {
		return nil
	}
	g.schemas.source.notes.add(own.owner, mockbase.FieldConflict, "objects are valid for more than one branch of this oneOf, which refuses them therefore, also those of requests: "+
		"an answer gets a member that all branches but one refuse. Give what tells the branches apart an enum of its own in each of them")
	return out
}

// refused adds a member to an object of one branch that makes another one refuse it.
func (g *generator) refused(out *mockbase.Node, own, other place) bool {
	declared := g.schemas.properties(own)
	for _, p := range g.schemas.propertyList(other) {
		if out.Find(p.name) != nil || declared[p.name].node != nil {
			continue
		}
		for _, value := range []*mockbase.Node{textNode("string"), {Kind: mockbase.NodeNumber, Text: "0"}, boolNode(true), {Kind: mockbase.NodeObject}} {
			if g.searched++; g.searched > mostSearches {
				return false
			}
			next := &mockbase.Node{Kind: mockbase.NodeObject, Members: append(slices.Clone(out.Members), mockbase.Member{Key: p.name, Value: value})}
			if !g.allows(other, next) && g.allows(own, next) {
				out.Members = next.Members
				return true
			}
		}
	}
	return false
}

// allows tells whether a schema allows a value.
func (g *generator) allows(p place, v *mockbase.Node) bool {
	return g.schemas.of(p).valid(g.direction, plain(v))
}
