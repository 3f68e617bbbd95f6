package openapi

import (
	"math/big"
	"slices"

	"github.com/mockbase/mockbase"
)

// mostChoices is how many values of a schema are counted.
const mostChoices = 1_000

// choices counts the values that variants of some schemas have, 1 where they are not counted. What lies side by side takes the number
// of a variant apart by these counts, so that a list without doubles gets all combinations of small ones.
func (g *generator) choices(all []place, depth int) int {
	if g.variant == 0 || g.random != nil || depth > shortDepth {
		return 1
	}
	s := g.schemas.merge(all, nil, g.manner)
	switch {
	case s.constant != nil || s.never || len(s.groups) > 0:
		return 1
	case len(s.enum) > 0:
		return max(1, len(s.admitted()))
	}
	switch g.kind(s) {
	case "boolean":
		return 2 //nolint:mnd // true and false
	case "integer":
		return s.wholes()
	case "object":
		return g.combinations(s, depth)
	default:
		return 1
	}
}

// combinations counts the objects that the values of their properties make.
func (g *generator) combinations(s *shape, depth int) int {
	count := 1
	for i := range s.properties {
		if p := &s.properties[i]; !g.hidden(p) && count < mostChoices {
			count *= g.choices(p.schemas, depth+1)
		}
	}
	return count
}

// wholes counts the whole numbers between two bounds.
func (s *shape) wholes() int {
	if s.lowest == nil || s.highest == nil || s.highest.Cmp(s.lowest) < 0 {
		return 1
	}
	step := commonMultiple(s.multiple, big.NewRat(1, 1))
	count, _ := s.steps(step, s.smallest(step)).Float64()
	return max(1, int(min(count, mostChoices)))
}

// admitted are the values of the enum that other keywords allow.
func (s *shape) admitted() []*mockbase.Node {
	return slices.DeleteFunc(slices.Clone(s.enum), func(n *mockbase.Node) bool { return !s.admits(n) })
}
