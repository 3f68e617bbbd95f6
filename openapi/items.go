package openapi

import (
	"slices"

	"github.com/mockbase/mockbase"
)

// list makes as many items as needed, at least one if that is allowed.
func (g *generator) list(s *shape) (*mockbase.Node, error) {
	count, least, err := g.span(s)
	if err != nil {
		return nil, err
	}
	out := &mockbase.Node{Kind: mockbase.NodeList}
	met := map[string]bool{}
	outer := g.variant
	defer func() { g.variant = outer }()
	for try := 0; len(out.Items) < count; try++ {
		if s.unique {
			g.variant = outer + try
		}
		v, err := g.item(s, len(out.Items))
		if err != nil || try > 2*count+mostTries {
			break
		}
		switch {
		case !s.unique:
			g.variant /= g.choices(s.items, 0)
			out.Items = append(out.Items, v)
		case !double(met, v):
			out.Items = append(out.Items, v)
		}
	}
	if len(out.Items) == least-1 && s.unique && slices.ContainsFunc(s.items, g.nullable) {
		// Null is an item of its own where others run out.
		out.Items = append(out.Items, &mockbase.Node{Kind: mockbase.NodeNull})
	}
	if len(out.Items) < least {
		return nil, errUnmet
	}
	return out, nil
}

func (g *generator) nullable(p place) bool { return g.schemas.kinds(p).has("null") }

// double tells whether a value was met before, and notes it.
func double(met map[string]bool, v *mockbase.Node) bool {
	key := string(v.JSON())
	before := met[key]
	met[key] = true
	return before
}

// span is how many items a list gets, and how few of them are enough: those of a list that is longer than any are cut.
func (g *generator) span(s *shape) (count, least int, err error) {
	count = g.count(s)
	if count <= mostItems {
		return count, max(s.minItems, s.contained()), nil
	}
	if g.spent = true; g.manner != mannerCut {
		return 0, 0, errUnmet
	}
	return cutAfter, 0, nil
}

// contained is how many items must meet a schema of their own, with the fixed ones before them where there are any.
func (s *shape) contained() int {
	count := 0
	for _, own := range s.contains {
		count += own.least
	}
	if count > 0 {
		count += s.fixed()
	}
	return count
}

// fixed is how many items stand at fixed places before those that must meet a schema of their own.
func (s *shape) fixed() int {
	if s.noItems {
		return 0
	}
	return len(s.prefix)
}

func (g *generator) count(s *shape) int {
	count := max(s.minItems, s.contained())
	switch {
	case g.short(s):
		return count
	case s.noItems:
		return max(count, len(s.prefix))
	case g.random != nil:
		count = max(count, 1+g.random.IntN(mostDynamic), len(s.prefix))
	default:
		count = max(count, 1, len(s.prefix))
	}
	if s.maxItems >= 0 {
		count = min(count, max(s.maxItems, s.minItems))
	}
	return count
}

func (g *generator) item(s *shape, i int) (*mockbase.Node, error) {
	all := s.items
	if i < len(s.prefix) {
		all = s.prefix[i : i+1]
	}
	at := i - s.fixed()
	for _, own := range s.contains {
		if 0 <= at && at < own.least {
			all = append(slices.Clone(all), own.schema)
		}
		at -= own.least
	}
	return g.value(all, nil)
}
