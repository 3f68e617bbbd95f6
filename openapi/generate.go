package openapi

import (
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
	// mannerExamples takes the examples of schemas, mannerSchemas only what schemas say, mannerShort the least of it.
	mannerExamples manner = iota
	mannerSchemas
	mannerShort
	// mannerCut leaves objects and lists empty once there are enough values, whatever schemas require.
	mannerCut
)

// generator makes values of schemas.
type generator struct {
	schemas *schemas
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
}

// generate makes a value that a schema allows (rules W40 to W44). random is nil for the static value.
func (s *schema) generate(random func() *rand.Rand) (*mockbase.Node, error) {
	manners := []manner{mannerExamples, mannerSchemas, mannerShort}
	if random != nil {
		manners = manners[1:]
	}
	if s.vast.Load() {
		return s.cut()
	}
	spent := false
	for _, m := range manners {
		g := &generator{schemas: s.owner, manner: m, entered: map[*mockbase.Node]int{}}
		if random != nil {
			g.random = random()
		}
		v, err := g.value([]place{s.place}, nil)
		s.owner.steps.Add(int64(g.made))
		if err == nil && s.valid(toClient, plain(v)) {
			return v, nil
		}
		spent = spent || g.spent
	}
	if spent {
		s.vast.Store(true)
		return s.cut()
	}
	return nil, errUnmet
}

// cut makes the beginning of a value that would be too large as a whole.
func (s *schema) cut() (*mockbase.Node, error) {
	g := &generator{schemas: s.owner, manner: mannerCut, entered: map[*mockbase.Node]int{}}
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
	s := g.schemas.merge(all, taken)
	if s.never || !g.enter(s) {
		return nil, errUnmet
	}
	defer g.leave(s)
	if v := g.stated(s); v != nil {
		return v, nil
	}
	if len(s.groups) > 0 {
		return g.branch(all, taken, &s.groups[0])
	}
	return g.byType(s)
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
func (g *generator) stated(s *shape) *mockbase.Node {
	usual := g.random == nil && g.variant == 0
	switch {
	case usual && g.manner == mannerExamples && s.example != nil:
		return s.example
	case s.constant != nil:
		return s.constant
	case usual && g.manner < mannerShort && s.byDefault != nil:
		return s.byDefault
	default:
		return g.enumerated(s)
	}
}

// enumerated is a value of the enum, nil without one.
func (g *generator) enumerated(s *shape) *mockbase.Node {
	switch {
	case len(s.enum) > 0 && g.random != nil:
		return s.enum[g.random.IntN(len(s.enum))]
	case len(s.enum) > 0:
		return s.enum[g.variant%len(s.enum)]
	default:
		return nil
	}
}

// branch takes the first branch that can be met, from a drawn one on for dynamic values.
func (g *generator) branch(all []place, taken choice, own *group) (*mockbase.Node, error) {
	first := 0
	if g.random != nil {
		first = g.random.IntN(len(own.branches))
	}
	var spare *mockbase.Node
	for i := range own.branches {
		at := (first + i) % len(own.branches)
		v, err := g.value(all, taken.with(own, at))
		if err != nil {
			continue
		}
		// A value of one branch of anyOf is valid, as far as can be told here; of oneOf it may be valid for two.
		if own.keyword == "anyOf" || len(own.branches) == 1 || g.schemas.of(own.owner).valid(toClient, plain(v)) {
			return v, nil
		}
		if spare == nil {
			spare = v
		}
	}
	if spare == nil {
		return nil, errUnmet
	}
	// What is wrong may lie elsewhere; the whole value is checked at the end.
	return spare, nil
}

func (g *generator) byType(s *shape) (*mockbase.Node, error) {
	if g.random != nil && (s.nullable || s.kinds.has("null")) && g.random.Float64() < nullChance {
		return &mockbase.Node{Kind: mockbase.NodeNull}, nil
	}
	switch kind := g.kind(s); kind {
	case "object", "array":
		return g.container(s, kind)
	case "integer", "number":
		return g.number(s)
	case "boolean":
		return boolNode(g.random == nil || g.random.IntN(2) == 0), nil
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
		return list[0]
	case len(s.kinds) > 0:
		return "null"
	case len(s.properties)+len(s.required)+len(s.additional)+s.least > 0 || s.closed:
		return "object"
	case len(s.items)+len(s.prefix)+len(s.contains)+s.minItems > 0:
		return "array"
	case s.lowest != nil || s.highest != nil || s.multiple != nil:
		return "number"
	default:
		return "string"
	}
}

// object makes all properties, or the required ones where it is to be short.
func (g *generator) object(s *shape) (*mockbase.Node, error) {
	out := &mockbase.Node{Kind: mockbase.NodeObject}
	short := g.short(s)
	for i := range s.properties {
		p := &s.properties[i]
		needed := slices.Contains(s.required, p.name)
		if g.hidden(p) || !needed && (short || s.most >= 0 && len(out.Members)+s.open(i) >= s.most) {
			continue
		}
		v, err := g.property(s, p)
		switch {
		case err == nil:
			out.Members = append(out.Members, mockbase.Member{Key: p.name, Value: v})
		case needed:
			return nil, err
		}
	}
	for _, name := range s.required {
		if err := g.additional(s, out, name); err != nil {
			return nil, err
		}
	}
	return out, g.fill(s, out)
}

// open counts the required properties behind a place.
func (s *shape) open(after int) int {
	count := 0
	for i := after + 1; i < len(s.properties); i++ {
		if slices.Contains(s.required, s.properties[i].name) {
			count++
		}
	}
	return count
}

// hidden tells whether a property never appears in answers (rule W18).
func (g *generator) hidden(p *property) bool {
	t := &translator{schemas: g.schemas, direction: toClient}
	return slices.ContainsFunc(p.schemas, t.hidden)
}

func (g *generator) property(s *shape, p *property) (*mockbase.Node, error) {
	if value, ok := s.forced[p.name]; ok {
		v := textNode(value)
		if !slices.ContainsFunc(p.schemas, func(at place) bool { return !g.schemas.of(at).valid(toClient, value) }) {
			return v, nil
		}
	}
	outer := g.variant
	defer func() { g.variant = outer }()
	return g.value(p.schemas, nil)
}

// additional adds a required property that is not declared.
func (g *generator) additional(s *shape, out *mockbase.Node, name string) error {
	if out.Find(name) != nil || slices.ContainsFunc(s.properties, func(p property) bool { return p.name == name && g.hidden(&p) }) {
		return nil
	}
	v := textNode("string")
	if len(s.additional) > 0 {
		made, err := g.value(s.additional, nil)
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
		if s.closed {
			return errUnmet
		}
		if err := g.additional(s, out, "property"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

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
	for i := range count {
		if s.unique {
			g.variant = i
		}
		v, err := g.item(s, i)
		if err != nil {
			if i >= least {
				break
			}
			return nil, err
		}
		if s.unique && double(met, v) {
			continue
		}
		out.Items = append(out.Items, v)
	}
	if len(out.Items) < least {
		return nil, errUnmet
	}
	return out, nil
}

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
		return count, s.minItems, nil
	}
	if g.spent = true; g.manner != mannerCut {
		return 0, 0, errUnmet
	}
	return cutAfter, 0, nil
}

func (g *generator) count(s *shape) int {
	count := max(s.minItems, len(s.contains))
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
	if i < len(s.contains) {
		all = append(slices.Clone(all), s.contains[i])
	}
	return g.value(all, nil)
}
