package openapi

import (
	"math/big"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of a search: how many values one search tries, how many of them all searches of a value, and how long the lists are
// whose items change places.
const (
	mostSearched = 128
	mostSearches = 2_000
	mostMoved    = 5
)

// fits tells whether schemas that hold together allow a value.
func (g *generator) fits(all []place, v *mockbase.Node) bool {
	return !slices.ContainsFunc(all, func(p place) bool { return !g.schemas.of(p).valid(g.direction, plain(v)) })
}

// search looks for a value among those that schemas name, where none was made by their shape: their constants and enums, and the
// numbers at their bounds. It returns nil where no one is allowed.
func (g *generator) search(all []place) *mockbase.Node {
	c := &candidates{schemas: g.schemas}
	for _, p := range all {
		c.collect(p, 0)
	}
	list := slices.Concat(c.list, []*mockbase.Node{
		textNode("string"),
		{Kind: mockbase.NodeNumber, Text: "0"},
		boolNode(true),
		boolNode(false),
		{Kind: mockbase.NodeObject},
		{Kind: mockbase.NodeList},
		textNode(""),
		{Kind: mockbase.NodeNumber, Text: "0.5"},
		{Kind: mockbase.NodeNull},
	})
	first := 0
	if g.random != nil && len(c.list) > 0 {
		first = g.random.IntN(len(c.list))
	}
	return g.firstFitting(all, slices.Concat(list[first:], list[:first]))
}

// firstFitting is the first of some values that the schemas allow, nil without one.
func (g *generator) firstFitting(all []place, list []*mockbase.Node) *mockbase.Node {
	for _, v := range list {
		if g.searched++; g.searched > mostSearches {
			return nil
		}
		if g.fits(all, v) {
			return v
		}
	}
	return nil
}

// moved are the lists that have the items of a short one in other orders.
func moved(v *mockbase.Node) []*mockbase.Node {
	if v.Kind != mockbase.NodeList || len(v.Items) < 2 || len(v.Items) > mostMoved {
		return nil
	}
	var list []*mockbase.Node
	var arrange func(done, left []*mockbase.Node)
	arrange = func(done, left []*mockbase.Node) {
		if len(left) == 0 {
			list = append(list, &mockbase.Node{Kind: mockbase.NodeList, Items: done})
			return
		}
		for i := range left {
			arrange(append(slices.Clone(done), left[i]), slices.Concat(left[:i], left[i+1:]))
		}
	}
	arrange(nil, v.Items)
	return list[1:]
}

// candidates are the values that schemas name.
type candidates struct {
	schemas *schemas
	list    []*mockbase.Node
	seen    []*mockbase.Node
}

// collect adds what a schema and those it consists of name.
func (c *candidates) collect(p place, depth int) {
	if p.node == nil || depth > maxJoined || len(c.list) >= mostSearched || slices.Contains(c.seen, p.node) {
		return
	}
	c.seen = append(c.seen, p.node)
	if at, ok := c.schemas.source.follow(p); ok && at.node != p.node {
		c.collect(at, depth+1)
	}
	c.add(presentMember(p, "const").node)
	for _, item := range p.find("enum").items() {
		c.add(item.node)
	}
	c.bounds(p)
	c.parts(p, depth)
}

// bounds adds what lies at the bounds of a schema, and beyond them.
func (c *candidates) bounds(p place) {
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if at := p.find(keyword); at.is(mockbase.NodeNumber) {
			c.around(rational(at.node.Text))
		}
	}
	if p.text("format") == "int32" {
		c.around(new(big.Rat).SetInt64(1 << 31))
	}
	for _, keyword := range []string{"minLength", "maxLength"} {
		if n, ok := countOf(p.find(keyword)); ok && n < mostItems {
			c.add(textNode(strings.Repeat("a", max(n-1, 0))))
			c.add(textNode(strings.Repeat("a", n+1)))
		}
	}
}

// parts adds what the schemas name that a schema consists of.
func (c *candidates) parts(p place, depth int) {
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		for _, branch := range p.find(keyword).items() {
			c.collect(branch, depth+1)
		}
	}
	for _, keyword := range []string{"if", "then", "else", "not"} {
		c.collect(p.find(keyword), depth+1)
	}
}

func (c *candidates) add(n *mockbase.Node) {
	if n != nil && len(c.list) < mostSearched {
		c.list = append(c.list, n)
	}
}

// around adds a number, its neighbours, and those between.
func (c *candidates) around(bound *big.Rat) {
	for _, by := range []*big.Rat{new(big.Rat), big.NewRat(1, 1), big.NewRat(-1, 1), big.NewRat(1, 2), big.NewRat(-1, 2)} {
		c.add(&mockbase.Node{Kind: mockbase.NodeNumber, Text: numberText(new(big.Rat).Add(bound, by))})
	}
}
