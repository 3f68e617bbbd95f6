package schemawork

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// none stands for a schema that is not there.
const none = -1

// rule is what of one schema leads to other ones, by their numbers.
type rule struct {
	// types are the ones that the schema allows, nil for all. Others are refused at once.
	types []string
	// here apply to the same value; of each group of eitherHere one does.
	here       []int
	eitherHere [][]int
	properties map[string]int
	patterns   []patternRule
	additional int
	// names apply to the name of each member.
	names int
	// members and items apply to each member and item, beside what else applies to it.
	members, items []int
	prefix         []int
	rest           int
}

type patternRule struct {
	pattern jsonschema.Regexp
	schema  int
}

// planner numbers the schemas that can be reached.
type planner struct {
	numbers map[*jsonschema.Schema]int
	schemas []*jsonschema.Schema
	// rules are pointers, so that a list that grew costs little while schemas still hold it.
	rules []*rule
	// ways are those of count, 0 for what was not counted yet.
	ways []int
}

func (p *planner) number(s *jsonschema.Schema) int {
	if s == nil {
		return none
	}
	n, known := p.numbers[s]
	if !known {
		n = len(p.schemas)
		p.numbers[s] = n
		p.schemas = append(p.schemas, s)
	}
	return n
}

// list numbers those schemas that are there.
func (p *planner) list(schemas ...*jsonschema.Schema) []int {
	var list []int
	for _, s := range schemas {
		if s != nil {
			list = append(list, p.number(s))
		}
	}
	return list
}

// optional numbers what may be a schema, a boolean or nothing.
func (p *planner) optional(keyword any) int {
	s, _ := keyword.(*jsonschema.Schema)
	return p.number(s)
}

func (p *planner) rule(s *jsonschema.Schema) *rule {
	r := &rule{additional: p.optional(s.AdditionalProperties), names: p.number(s.PropertyNames), rest: none}
	if s.Types != nil && !s.Types.IsEmpty() {
		r.types = s.Types.ToStrings()
	}
	r.here = slices.Concat(
		p.list(s.Ref, s.Not, s.If), p.list(s.AllOf...), p.list(s.AnyOf...), p.list(s.OneOf...), p.dependent(s),
	)
	if either := p.list(s.Then, s.Else); len(either) > 0 {
		r.eitherHere = [][]int{either}
	}
	p.firstTarget(r, s)
	if len(s.Properties) > 0 {
		r.properties = make(map[string]int, len(s.Properties))
	}
	for name, property := range s.Properties {
		r.properties[name] = p.number(property)
	}
	for pattern, property := range s.PatternProperties {
		r.patterns = append(r.patterns, patternRule{pattern, p.number(property)})
	}
	r.members = p.list(s.UnevaluatedProperties)
	p.array(r, s)
	return r
}

func (p *planner) dependent(s *jsonschema.Schema) []int {
	var list []int
	for _, schema := range s.DependentSchemas {
		list = append(list, p.number(schema))
	}
	for _, dependency := range s.Dependencies {
		if n := p.optional(dependency); n != none {
			list = append(list, n)
		}
	}
	return list
}

// array takes what applies to items, as the drafts spell it.
func (p *planner) array(r *rule, s *jsonschema.Schema) {
	r.items = p.list(s.Contains, s.UnevaluatedItems)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		r.rest = p.number(items)
	case []*jsonschema.Schema:
		r.prefix, r.rest = p.list(items...), p.optional(s.AdditionalItems)
	default:
		r.prefix, r.rest = p.list(s.PrefixItems...), p.number(s.Items2020)
		if r.rest == none {
			r.rest = p.optional(s.AdditionalItems)
		}
	}
}

// firstTarget notes dynamic references whose target is certain, and finds the first targets of the others.
func (p *planner) firstTarget(r *rule, s *jsonschema.Schema) {
	if first := p.number(s.RecursiveRef); first != none && !s.RecursiveRef.RecursiveAnchor {
		r.here = append(r.here, first)
	}
	if s.DynamicRef == nil {
		return
	}
	if first := p.number(s.DynamicRef.Ref); s.DynamicRef.Anchor == "" || s.DynamicRef.Ref.DynamicAnchor != s.DynamicRef.Anchor {
		r.here = append(r.here, first)
	}
}

// resolve adds what dynamic references may mean, once all schemas are known.
func (p *planner) resolve() {
	for at, s := range p.schemas {
		var means []int
		if s.RecursiveRef != nil && s.RecursiveRef.RecursiveAnchor {
			means = p.list(s.RecursiveRef, p.schemas[0])
		}
		if s.DynamicRef != nil && s.DynamicRef.Anchor != "" && s.DynamicRef.Ref.DynamicAnchor == s.DynamicRef.Anchor {
			means = append(means, p.anchored(s.DynamicRef.Anchor)...)
		}
		if len(means) > 0 {
			p.rules[at].eitherHere = append(p.rules[at].eitherHere, means)
		}
	}
}

func (p *planner) anchored(name string) []int {
	var list []int
	for n, s := range p.schemas {
		if s.DynamicAnchor == name {
			list = append(list, n)
		}
	}
	return list
}

// leads returns every schema that a rule leads to.
func (r *rule) leads() []int {
	list := slices.Concat(r.here, slices.Concat(r.eitherHere...), r.members, r.items, r.prefix, []int{r.additional, r.names, r.rest})
	for _, n := range r.properties {
		list = append(list, n)
	}
	for _, p := range r.patterns {
		list = append(list, p.schema)
	}
	return slices.DeleteFunc(list, func(n int) bool { return n == none })
}

// linear tells whether no schema leads back to itself and few ways lead from the one at a number to the others.
func (p *planner) linear(root int) bool {
	p.ways = append(p.ways, make([]int, len(p.rules)-len(p.ways))...)
	return p.count(root) <= fewWays
}

// count is how many ways lead on from a schema, as far as they are few.
func (p *planner) count(n int) int {
	if p.ways[n] != 0 {
		return p.ways[n]
	}
	// Whoever comes back here before it is known finds too many ways.
	p.ways[n] = fewWays + 1
	sum := 1
	for _, next := range p.rules[n].leads() {
		sum = min(sum+p.count(next), fewWays+1)
	}
	p.ways[n] = sum
	return sum
}
