package openapi

import (
	"maps"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// object makes all properties, or the required ones where it is to be short.
func (g *generator) object(s *shape) (*mockbase.Node, error) {
	out := &mockbase.Node{Kind: mockbase.NodeObject}
	needed := s.needed(g.short(s))
	outer := g.variant
	defer func() { g.variant = outer }()
	for i := range s.properties {
		p := &s.properties[i]
		if g.hidden(p) || !needed[p.name] && (g.short(s) || s.most >= 0 && len(out.Members)+s.open(i, needed) >= s.most) {
			continue
		}
		v, err := g.property(s, p)
		g.variant /= g.choices(p.schemas, 0)
		switch {
		case err == nil:
			out.Members = append(out.Members, mockbase.Member{Key: p.name, Value: v})
		case needed[p.name]:
			return nil, err
		}
	}
	g.variant = outer
	for _, name := range slices.Concat(s.required, s.telling(), slices.Sorted(maps.Keys(needed))) {
		if !needed[name] {
			continue
		}
		if err := g.additional(s, out, name); err != nil {
			return nil, err
		}
	}
	return out, g.fill(s, out)
}

// needed are the properties that must be there: those that are required, those that tell schemas apart, and those that
// must come with another that is made.
func (s *shape) needed(short bool) map[string]bool {
	all := map[string]bool{}
	for _, name := range slices.Concat(s.required, s.telling()) {
		all[name] = true
	}
	for _, p := range s.properties {
		if _, forced := s.forced[p.name]; forced {
			all[p.name] = true
		}
	}
	for range len(s.follows) {
		for _, name := range slices.Sorted(maps.Keys(s.follows)) {
			made := all[name] || !short && s.most < 0 && s.declares(name)
			for _, other := range s.follows[name] {
				all[other] = all[other] || made
			}
		}
	}
	return all
}

func (s *shape) declares(name string) bool {
	return slices.ContainsFunc(s.properties, func(p property) bool { return p.name == name })
}

// telling are the properties by which discriminators tell schemas apart, as far as there is room for them.
func (s *shape) telling() []string {
	if s.closed || s.most >= 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(s.forced))
}

// open counts the needed properties behind a place.
func (s *shape) open(after int, needed map[string]bool) int {
	count := 0
	for i := after + 1; i < len(s.properties); i++ {
		if needed[s.properties[i].name] {
			count++
		}
	}
	return count
}

// hidden tells whether a property never appears in messages of the direction (rules W17 and W18).
func (g *generator) hidden(p *property) bool {
	t := &translator{schemas: g.schemas, direction: g.direction}
	return slices.ContainsFunc(p.schemas, t.hidden)
}

func (g *generator) property(s *shape, p *property) (*mockbase.Node, error) {
	if value, ok := s.forced[p.name]; ok {
		v := textNode(value)
		if !slices.ContainsFunc(p.schemas, func(at place) bool { return !g.schemas.of(at).valid(g.direction, value) }) {
			return v, nil
		}
	}
	outer := g.variant
	defer func() { g.variant = outer }()
	return g.value(slices.Concat(p.schemas, s.byPattern(p.name)), nil)
}

// byPattern are the schemas of a property by the pattern of its name.
func (s *shape) byPattern(name string) []place {
	var list []place
	for _, own := range s.patterned {
		if re, err := s.source.pattern(own.pattern); err == nil && re.MatchString(name) {
			list = append(list, own.schema)
		}
	}
	return list
}

// additional adds a needed property that is not declared.
func (g *generator) additional(s *shape, out *mockbase.Node, name string) error {
	if out.Find(name) != nil || slices.ContainsFunc(s.properties, func(p property) bool { return p.name == name && g.hidden(&p) }) {
		return nil
	}
	all := s.byPattern(name)
	if len(all) == 0 {
		all = s.additional
	}
	v := textNode("string")
	if len(all) > 0 {
		made, err := g.value(all, nil)
		if err != nil {
			return err
		}
		v = made
	}
	if value, ok := s.forced[name]; ok {
		v = textNode(value)
	}
	out.Members = append(out.Members, mockbase.Member{Key: name, Value: v})
	return nil
}

// fill adds properties up to the least number.
func (g *generator) fill(s *shape, out *mockbase.Node) error {
	if s.least > mostItems {
		return errUnmet
	}
	for i := range s.properties {
		p := &s.properties[i]
		if len(out.Members) >= s.least {
			return nil
		}
		if out.Find(p.name) != nil || g.hidden(p) {
			continue
		}
		if v, err := g.property(s, p); err == nil {
			out.Members = append(out.Members, mockbase.Member{Key: p.name, Value: v})
		}
	}
	for i := 1; len(out.Members) < s.least; i++ {
		name, err := g.freeName(s, i)
		if err != nil || i > s.least+mostTries {
			return errUnmet
		}
		if err := g.additional(s, out, name); err != nil {
			return err
		}
	}
	return nil
}

// freeName is the name of a property that is not declared: one that the schema of names allows, one that matches a pattern
// where there are no others, or any.
func (g *generator) freeName(s *shape, i int) (string, error) {
	outer := g.variant
	defer func() { g.variant = outer }()
	g.variant = i - 1
	switch {
	case len(s.names) > 0:
		v, err := g.value(append(slices.Clone(s.names), textType()), nil)
		if err != nil {
			return "", err
		}
		return v.Text, nil
	case s.closed && len(s.patterned) > 0:
		v, err := g.patterned(&shape{source: g.schemas.source, patterns: []string{s.patterned[(i-1)%len(s.patterned)].pattern}, maxLength: -1})
		if err != nil {
			return "", err
		}
		return v.Text, nil
	case s.closed:
		return "", errUnmet
	default:
		return "property" + strconv.Itoa(i), nil
	}
}

// textType is a schema of texts.
func textType() place {
	return place{node: &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: "type", Value: textNode("string")}}}}
}
