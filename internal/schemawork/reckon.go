package schemawork

import (
	"math"
	"slices"
)

// value is a part of a document. Those that hold no others are told apart by their type alone.
type value struct {
	number  int
	kind    string
	depth   int
	members map[string]*value
	items   []*value
}

// size is how much there is to look at in a value itself.
func (v *value) size() int { return 1 + len(v.members) + len(v.items) + v.depth/depthsEach }

// reckoning sums up the steps that a validation takes at most.
type reckoning struct {
	rules   []*rule
	scalars map[string]*value
	values  int
	// containers numbers the values that hold others, after the scalars.
	containers int
	budget     int
	// calls are the steps of the reckoning itself, which are never more than those it finds.
	calls int
	known map[pair]int
	// open holds the pairs that are being reckoned, by how far in place they are.
	open map[pair]int
}

// pair is a schema with a value.
type pair struct{ rule, value int }

// affords tells whether a document is validated in a bounded number of steps.
func (s *Schema) affords(document any) bool {
	r := &reckoning{rules: s.rules, scalars: map[string]*value{}, known: map[pair]int{}, open: map[pair]int{}}
	for i, kind := range []string{"null", "boolean", "number", "string"} {
		r.scalars[kind] = &value{number: i, kind: kind}
	}
	r.containers = len(r.scalars)
	root := r.value(document, 0)
	r.budget = mostSteps + stepsEach*r.values
	steps, _ := r.steps(s.root, root, 0)
	return steps <= r.budget
}

func (r *reckoning) value(document any, depth int) *value {
	r.values++
	switch d := document.(type) {
	case map[string]any:
		v := r.container("object", depth)
		v.members = make(map[string]*value, len(d))
		for name, member := range d {
			v.members[name] = r.value(member, depth+1)
		}
		return v
	case []any:
		v := r.container("array", depth)
		v.items = make([]*value, len(d))
		for i, item := range d {
			v.items[i] = r.value(item, depth+1)
		}
		return v
	default:
		return r.scalars[kindOf(document)]
	}
}

func (r *reckoning) container(kind string, depth int) *value {
	v := &value{number: r.containers, kind: kind, depth: depth}
	r.containers++
	return v
}

func kindOf(scalar any) string {
	switch scalar.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	default:
		return "number"
	}
}

// closed tells that no pair depends on one that is still being reckoned.
const closed = math.MaxInt

// steps returns what a schema takes for a value. The validator stops where a schema comes back to itself at the same value,
// so what lies below depends on how it was reached: lowest is the nearest to the start of the pairs that it met again, and
// only what met none outside itself is remembered.
func (r *reckoning) steps(n int, v *value, inPlace int) (sum, lowest int) {
	at := pair{n, v.number}
	if r.calls++; r.calls > r.budget {
		return r.budget + 1, closed
	}
	if sum, ok := r.known[at]; ok {
		return sum, closed
	}
	if level, ok := r.open[at]; ok {
		return 1, level
	}
	own := r.rules[n]
	if !own.allows(v.kind) {
		return 1, closed
	}
	r.open[at] = inPlace
	sum, lowest = r.here(own, v, inPlace)
	r.below(own, v, &sum)
	delete(r.open, at)
	if lowest >= inPlace {
		r.known[at], lowest = sum, closed
	}
	return sum, lowest
}

func (r *rule) allows(kind string) bool {
	return r.types == nil || slices.Contains(r.types, kind) || kind == "number" && slices.Contains(r.types, "integer")
}

// here reckons the schemas that apply to the same value.
func (r *reckoning) here(own *rule, v *value, inPlace int) (sum, lowest int) {
	sum, lowest = v.size(), closed
	for _, n := range own.here {
		more, low := r.steps(n, v, inPlace+1)
		lowest = min(lowest, low)
		if sum += more; sum > r.budget {
			return sum, lowest
		}
	}
	for _, group := range own.eitherHere {
		most := 0
		for _, n := range group {
			more, low := r.steps(n, v, inPlace+1)
			most, lowest = max(most, more), min(lowest, low)
		}
		sum += most
	}
	return sum, lowest
}

// below reckons the schemas that apply to what a value holds, until that is too much.
func (r *reckoning) below(own *rule, v *value, sum *int) {
	for name, member := range v.members {
		if r.member(own, name, member, sum); *sum > r.budget {
			return
		}
	}
	for i, item := range v.items {
		n := own.rest
		if i < len(own.prefix) {
			n = own.prefix[i]
		}
		r.apply(n, item, sum)
		for _, n := range own.items {
			r.apply(n, item, sum)
		}
		if *sum > r.budget {
			return
		}
	}
}

func (r *reckoning) member(own *rule, name string, member *value, sum *int) {
	n, evaluated := own.properties[name]
	if evaluated {
		r.apply(n, member, sum)
	}
	for _, p := range own.patterns {
		if p.pattern.MatchString(name) {
			evaluated = true
			r.apply(p.schema, member, sum)
		}
	}
	if !evaluated {
		r.apply(own.additional, member, sum)
	}
	r.apply(own.names, r.scalars["string"], sum)
	for _, n := range own.members {
		r.apply(n, member, sum)
	}
}

func (r *reckoning) apply(n int, v *value, sum *int) {
	if n != none && *sum <= r.budget {
		more, _ := r.steps(n, v, 0)
		*sum += more
	}
}
