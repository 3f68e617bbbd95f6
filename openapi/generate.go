package openapi

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// The bounds of generated values. Recursion stops at depth 3 with the shortest legal value (rule W44); what cannot be
// short is given up later.
const (
	shortDepth  = 3
	lastDepth   = 8
	deepest     = 100
	shortAfter  = 400
	mostValues  = 20_000
	cutAfter    = 1_000
	mostItems   = 10_000
	mostText    = 100_000
	nullChance  = 0.1
	mostDynamic = 3
)

// errUnmet tells that no value was found that a schema allows.
var errUnmet = errors.New("no value was found that the schema allows")

// manner is how values are made.
type manner uint8

const (
	// mannerExamples takes the examples of schemas, mannerFitting those of them that their schemas allow, mannerSchemas only what
	// schemas say, mannerShort the least of it.
	mannerExamples manner = iota
	mannerFitting
	mannerSchemas
	mannerShort
	// mannerCut leaves objects and lists empty once there are enough values, whatever schemas require.
	mannerCut
)

// generator makes values of schemas.
type generator struct {
	schemas   *schemas
	direction direction
	// random is nil for static values.
	random *rand.Rand
	manner manner
	// entered counts the schemas that are under work, for seeing recursion.
	entered map[*mockbase.Node]int
	depth   int
	made    int
	// spent tells that there would be more values than are made.
	spent bool
	// variant makes the items of a list without doubles differ.
	variant int
	// between asks for numbers between whole ones, which tell branches apart.
	between bool
	// joined counts the texts that were put together of a pattern and a format.
	joined int
	// searched counts the values that searches have tried.
	searched int
}

// generate makes a value that a schema allows in answers (rules W40 to W44). random is nil for the static value.
func (s *schema) generate(random func() *rand.Rand) (*mockbase.Node, error) {
	return s.generateFor(toClient, random)
}

// generateFor makes a value for messages of a direction.
func (s *schema) generateFor(d direction, random func() *rand.Rand) (*mockbase.Node, error) {
	manners := []manner{mannerExamples, mannerFitting, mannerSchemas, mannerShort}
	if random != nil {
		manners = manners[2:]
	}
	if s.vast.Load() {
		return s.cut(d)
	}
	spent := false
	for _, m := range manners {
		g := &generator{schemas: s.owner, direction: d, manner: m, entered: map[*mockbase.Node]int{}}
		if random != nil {
			g.random = random()
		}
		v, err := g.value([]place{s.place}, nil)
		s.owner.steps.Add(int64(g.made))
		if err == nil && s.valid(d, plain(v)) {
			return v, nil
		}
		spent = spent || g.spent
	}
	if random != nil {
		// Chance found none: the static value is better than no answer.
		return s.generateFor(d, nil)
	}
	g := &generator{schemas: s.owner, direction: d}
	if v := g.search([]place{s.place}); v != nil {
		return v, nil
	}
	if spent {
		s.vast.Store(true)
		return s.cut(d)
	}
	return nil, errUnmet
}

// cut makes the beginning of a value that would be too large as a whole.
func (s *schema) cut(d direction) (*mockbase.Node, error) {
	g := &generator{schemas: s.owner, direction: d, manner: mannerCut, entered: map[*mockbase.Node]int{}}
	v, err := g.value([]place{s.place}, nil)
	if err == nil {
		s.owner.source.notes.add(s.place, mockbase.FieldLimit, "the schema requires more values than are made, so that its answers are cut: what lies deep in them is empty")
	}
	return v, err
}

// static is the static value of the schema. References to one schema share it.
func (s *schema) static() (*mockbase.Node, error) {
	own := s
	if s.reference() != "" && (s.owner.source.dialect != dialect31 || len(s.node.Members) == 1) {
		if at, ok := s.owner.source.follow(s.place); ok {
			own = s.owner.of(at)
		}
	}
	own.once.Do(func() { own.fixed, own.fixedError = s.generate(nil) })
	return own.fixed, own.fixedError
}

// value makes a value that all schemas allow.
func (g *generator) value(all []place, taken choice) (*mockbase.Node, error) {
	if g.made++; g.made > mostValues || g.depth > deepest {
		g.spent = true
		return nil, errUnmet
	}
	s := g.schemas.merge(all, taken, g.manner)
	if s.never || !g.enter(s) {
		return nil, errUnmet
	}
	defer g.leave(s)
	if v := g.stated(s, all); v != nil {
		if s.tested && !g.fits(all, v) {
			v = cmp.Or(g.search(all), v)
		}
		return v, nil
	}
	if len(s.groups) > 0 {
		return g.branch(all, taken, &s.groups[0])
	}
	if s.tested {
		return g.tried(s, all)
	}
	return g.byType(s)
}

// mostTested is how many values are tried where a schema says what is not allowed.
const mostTested = 24

// tried makes values until the schemas allow one: others of the type, and then of other types where none is stated.
func (g *generator) tried(s *shape, all []place) (*mockbase.Node, error) {
	outer := g.variant
	defer func() { g.variant = outer }()
	for try := range mostTested {
		g.variant, s.turn = outer+try, try
		v, err := g.byType(s)
		if err != nil {
			continue
		}
		if g.fits(all, v) {
			return v, nil
		}
		if other := g.firstFitting(all, moved(v)); other != nil {
			return other, nil
		}
	}
	if v := g.search(all); v != nil {
		return v, nil
	}
	return nil, errUnmet
}

// enter notes the schemas under work. It reports false where they go round without an end.
func (g *generator) enter(s *shape) bool {
	g.depth++
	fine := true
	for _, n := range s.visited {
		g.entered[n]++
		fine = fine && g.entered[n] <= lastDepth
	}
	if !fine {
		g.leave(s)
	}
	return fine
}

func (g *generator) leave(s *shape) {
	g.depth--
	for _, n := range s.visited {
		g.entered[n]--
	}
}

// short tells whether the shortest legal value is wanted.
func (g *generator) short(s *shape) bool {
	return g.manner >= mannerShort || g.made > shortAfter ||
		slices.ContainsFunc(s.visited, func(n *mockbase.Node) bool { return g.entered[n] >= shortDepth })
}

// stated is a value that the schema states itself, nil without one (rule W40).
func (g *generator) stated(s *shape, all []place) *mockbase.Node {
	usual := g.random == nil && g.variant == 0
	switch {
	case usual && g.manner <= mannerFitting && s.example.node != nil && g.suits(s, all):
		return s.example.node
	case s.constant != nil:
		return s.constant
	case usual && g.manner < mannerShort && s.byDefault != nil && s.admits(s.byDefault):
		return s.byDefault
	default:
		return g.enumerated(s)
	}
}

// suits tells whether the example of a schema is taken. One that the schema refuses is told, and passed over (rule W42).
func (g *generator) suits(s *shape, all []place) bool {
	own := s.example.node
	if s.admits(own) && (g.manner == mannerExamples || g.fits(all, own)) {
		return true
	}
	for _, p := range all {
		if list := g.schemas.of(p).check(g.direction, plain(own), "example"); len(list) > 0 {
			g.schemas.source.notes.add(s.example, mockbase.FieldConflict,
				"the example does not fit its schema ("+list[0].Location+": "+list[0].Message+"); another value stands in its place")
			break
		}
	}
	return false
}

// enumerated is a value of the enum, nil without one. Those that other keywords refuse are passed over.
func (g *generator) enumerated(s *shape) *mockbase.Node {
	if len(s.enum) == 0 {
		return nil
	}
	list := s.admitted()
	switch {
	case len(list) == 0:
		return s.enum[0]
	case g.random != nil:
		return list[g.random.IntN(len(list))]
	default:
		return list[g.variant%len(list)]
	}
}

// branch takes the first branch that can be met, from a drawn one on for dynamic values.
func (g *generator) branch(all []place, taken choice, own *group) (*mockbase.Node, error) {
	var spare *mockbase.Node
	outer, list := g.variant, g.order(own)
	defer func() { g.variant = outer }()
	if own.keyword != keywordIf {
		// The branch takes its part of the number.
		g.variant /= len(list)
	}
	for _, at := range list {
		v, fine, err := g.chosen(all, taken.with(own, at), own)
		if err != nil {
			continue
		}
		if fine {
			return v, nil
		}
		if told := g.apart(own, at, v); told != nil {
			return told, nil
		}
		if spare == nil {
			spare = v
		}
	}
	if v := g.halved(all, taken, own); v != nil {
		return v, nil
	}
	if len(taken) == 0 {
		spare = cmp.Or(g.search(all), spare)
	}
	if spare == nil {
		return nil, errUnmet
	}
	// What is wrong may lie elsewhere; the whole value is checked at the end.
	return spare, nil
}

// halved looks for a value of oneOf with numbers between whole ones, nil if there is none.
func (g *generator) halved(all []place, taken choice, own *group) *mockbase.Node {
	if own.keyword != "oneOf" || g.between {
		return nil
	}
	g.between = true
	defer func() { g.between = false }()
	for at := range own.branches {
		if v, fine, err := g.chosen(all, taken.with(own, at), own); err == nil && fine {
			return v
		}
	}
	return nil
}

// order is in which branches are tried: from the first on, or from a drawn one. What allows null alone comes last or, with the
// chance of null, first (rules W43 and W44).
func (g *generator) order(own *group) []int {
	first := 0
	switch {
	case g.random != nil:
		first = g.random.IntN(len(own.branches))
	case g.variant > 0 && own.keyword != keywordIf:
		first = g.variant % len(own.branches)
	}
	var list, nulls []int
	for i := range own.branches {
		at := (first + i) % len(own.branches)
		if own.keyword != keywordIf && g.schemas.kinds(own.branches[at]).only("null") {
			nulls = append(nulls, at)
		} else {
			list = append(list, at)
		}
	}
	if g.random != nil && len(nulls) > 0 && g.random.Float64() < nullChance {
		return append(nulls, list...)
	}
	return append(list, nulls...)
}

// mostChosen is how many values of a branch are tried before another is taken.
const mostChosen = 6

// chosen makes a value of a branch. A value of anyOf is valid, as far as can be told here; of oneOf it may be valid for two,
// so that others are tried.
func (g *generator) chosen(all []place, taken choice, own *group) (v *mockbase.Node, fine bool, err error) {
	outer := g.variant
	defer func() { g.variant = outer }()
	for try := range mostChosen {
		g.variant = outer + try
		next, failed := g.value(all, taken)
		if failed != nil {
			return v, false, failed
		}
		if v == nil {
			v = next
		}
		if own.keyword == "anyOf" || len(own.branches) == 1 || g.schemas.of(own.owner).valid(g.direction, plain(next)) {
			return next, true, nil
		}
	}
	return v, false, nil
}

func (g *generator) byType(s *shape) (*mockbase.Node, error) {
	if g.random != nil && (s.nullable || s.kinds.has("null")) && len(s.forced) == 0 && g.random.Float64() < nullChance {
		return &mockbase.Node{Kind: mockbase.NodeNull}, nil
	}
	switch kind := g.kind(s); kind {
	case "object", "array":
		return g.container(s, kind)
	case "integer", "number":
		return g.number(s)
	case "boolean":
		if g.random != nil {
			return boolNode(g.random.IntN(2) == 0), nil
		}
		return boolNode(g.variant%2 == 0), nil
	case "null":
		return &mockbase.Node{Kind: mockbase.NodeNull}, nil
	default:
		return g.text(s)
	}
}

// container makes an object or a list, an empty one where the value is to be cut.
func (g *generator) container(s *shape, kind string) (*mockbase.Node, error) {
	full := g.manner == mannerCut && (g.made > cutAfter || g.depth > deepest/2)
	switch {
	case full && kind == "object":
		return &mockbase.Node{Kind: mockbase.NodeObject}, nil
	case full:
		return &mockbase.Node{Kind: mockbase.NodeList}, nil
	case kind == "object":
		return g.object(s)
	default:
		return g.list(s)
	}
}

func boolNode(value bool) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeBool, Text: strconv.FormatBool(value)}
}

func textNode(text string) *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeText, Text: text} }

// kind is the type to make: the first that is not null, or the one that the other keywords speak of.
func (g *generator) kind(s *shape) string {
	list := slices.DeleteFunc(slices.Clone(s.kinds), func(k string) bool { return k == "null" })
	switch {
	case len(list) > 0 && g.random != nil:
		return list[g.random.IntN(len(list))]
	case len(list) > 0:
		return list[s.turn%len(list)]
	case len(s.kinds) > 0:
		return "null"
	case len(s.properties)+len(s.required)+len(s.additional)+s.least > 0 || s.closed:
		return "object"
	case len(s.items)+len(s.prefix)+len(s.contains)+s.minItems > 0:
		return "array"
	case s.lowest != nil || s.highest != nil || s.multiple != nil:
		return "number"
	default:
		all := []string{"string", "integer", "boolean", "object", "array", "null"}
		return all[s.turn%len(all)]
	}
}
