package openapi

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/schemawork"
)

// direction says which way a message goes: readOnly and writeOnly depend on it (rules W17 and W18).
type direction uint8

const (
	toServer direction = iota
	// toStrictServer refuses members that are readOnly.
	toStrictServer
	toClient
)

// schemas compiles the schemas of a document when they are first needed, each once.
type schemas struct {
	source *source

	mu      sync.Mutex
	family  schemawork.Family
	byPlace map[schemaKey]*schema
	// list holds the schemas by number, which is how addresses name them; scoped counts the values in those that have a scope.
	list   []*schema
	scoped int
	// texts counts what was compiled, longest are the schemas in the longest of them.
	texts, longest int
	// formats are schemas of formats alone, by their names.
	formats sync.Map
	// steps counts the schemas that were compiled with each other, and the values that were made.
	steps atomic.Int64
}

// mostScoped bounds the values in schemas that differ from others by their scope alone.
const mostScoped = 100_000

// schemaKey is a schema as it is where certain dynamic anchors count.
type schemaKey struct {
	node  *mockbase.Node
	scope *scope
}

// schema is one schema of a document.
type schema struct {
	place
	owner  *schemas
	number int
	// compiled are the forms for each direction.
	compiled [3]*schemawork.Schema
	failed   [3]error
	// text are the texts that they were compiled of, tied to one another.
	text [3]*jsonschema.Schema
	// fixed is the static value, made once.
	once       sync.Once
	fixed      *mockbase.Node
	fixedError error
	// vast tells that a value of the schema was too large to be made whole: nobody tries again.
	vast atomic.Bool
}

func newSchemas(s *source) *schemas {
	return &schemas{source: s, byPlace: map[schemaKey]*schema{}}
}

// of returns the schema at a place, nil if there is none.
func (s *schemas) of(p place) *schema {
	if p.node == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.number(p)
}

// number returns the schema at a place. The schemas must be locked.
func (s *schemas) number(p place) *schema {
	key := schemaKey{p.node, p.scope}
	if own := s.byPlace[key]; own != nil {
		return own
	}
	if p.scope != nil {
		if s.scoped >= mostScoped {
			s.source.notes.add(p, mockbase.FieldLimit, "the document fills in its schemas in more ways than are told apart: the dynamic references of this one mean what stands with them")
			p.scope = nil
			return s.number(p)
		}
		s.scoped += valuesIn(p.node)
	}
	own := &schema{place: p, owner: s, number: len(s.list)}
	s.byPlace[key] = own
	s.list = append(s.list, own)
	return own
}

// check validates a value. A schema that cannot be compiled allows everything.
func (s *schema) check(d direction, value any, location string) []mockbase.Violation {
	return s.checkAt(d, value, spotOf(location))
}

// checkAt validates a value that is a part of a message.
func (s *schema) checkAt(d direction, value any, at spot) []mockbase.Violation {
	compiled, err := s.validator(d)
	if err != nil {
		return nil
	}
	err = compiled.Validate(value)
	if errors.Is(err, schemawork.ErrTooLarge) {
		return at.violation(codeTooLarge, err.Error())
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil
	}
	r := &reporter{schemas: s.owner, root: s.place, value: value, spot: at}
	return r.report(invalid)
}

// valid tells whether a value is valid.
func (s *schema) valid(d direction, value any) bool { return len(s.check(d, value, "")) == 0 }

// is tells whether the schema allows one type alone, beside null.
func (s *schema) is(kind string) bool {
	list := slices.DeleteFunc(slices.Clone(s.owner.kinds(s.place)), func(k string) bool { return k == "null" })
	return len(list) == 1 && list[0] == kind
}

// kinds returns the types that a schema allows, by its own keywords and those of the schemas it refers to.
func (s *schemas) kinds(p place) kinds { return s.kindsAt(p, 0) }

// maxJoined bounds how deep schemas are joined to see their types and properties.
const maxJoined = 12

func (s *schemas) kindsAt(p place, depth int) kinds {
	if p.node == nil || depth > maxJoined {
		return nil
	}
	at, ok := s.source.follow(p)
	if !ok {
		return nil
	}
	own := typesOf(at)
	for _, branch := range at.find("allOf").items() {
		own = joined(own, s.kindsAt(branch, depth+1))
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if union := s.union(at.find(keyword).items(), depth); len(union) > 0 {
			own = joined(own, union)
		}
	}
	if len(own) == 0 {
		return implied(at)
	}
	if nullable(at) && !own.has("null") {
		own = append(slices.Clone(own), "null")
	}
	return own
}

// union joins the types of branches; a branch that allows all makes all allowed.
func (s *schemas) union(branches []place, depth int) kinds {
	var all kinds
	for _, branch := range branches {
		own := s.kindsAt(branch, depth+1)
		if len(own) == 0 {
			return nil
		}
		for _, kind := range own {
			if !all.has(kind) {
				all = append(all, kind)
			}
		}
	}
	return all
}

// joined are the types that two lists allow together.
func joined(a, b kinds) kinds {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	var both kinds
	for _, kind := range a {
		switch {
		case b.has(kind):
			both = append(both, kind)
		case kind == "number" && b.has("integer"):
			both = append(both, "integer")
		case kind == "integer" && b.has("number"):
			both = append(both, "integer")
		}
	}
	return both
}

// implied guesses the type of a schema that states none from its keywords.
func implied(p place) kinds {
	for _, guess := range []struct{ keyword, kind string }{
		{"properties", "object"}, {"additionalProperties", "object"}, {"items", "array"}, {"prefixItems", "array"},
	} {
		if p.find(guess.keyword).node != nil {
			return kinds{guess.kind}
		}
	}
	return enumerated(p)
}

// enumerated are the types of the values that a schema lists.
func enumerated(p place) kinds {
	var list kinds
	values := p.find("enum").items()
	if own := presentMember(p, "const"); own.node != nil {
		values = []place{own}
	}
	for _, value := range values {
		if kind := kindOf(value.node); !list.has(kind) {
			list = append(list, kind)
		}
	}
	return list
}

// kindOf is the type of a value, as JSON Schema names it.
func kindOf(n *mockbase.Node) string {
	switch n.Kind {
	case mockbase.NodeObject:
		return "object"
	case mockbase.NodeList:
		return "array"
	case mockbase.NodeNumber:
		return "number"
	case mockbase.NodeBool:
		return "boolean"
	case mockbase.NodeNull:
		return "null"
	default:
		return "string"
	}
}

// nullable tells whether null is allowed in the ways of 2.0 and 3.0.
func nullable(p place) bool { return p.holds("nullable") || p.holds("x-nullable") }

// properties are all that a schema and those it joins declare, by name.
func (s *schemas) properties(p place) map[string]place {
	c := &declarations{schemas: s, known: map[string]place{}}
	c.collect(p, 0)
	return c.known
}

// propertyList are the same in the order of the document.
func (s *schemas) propertyList(p place) []member {
	c := &declarations{schemas: s, known: map[string]place{}}
	c.collect(p, 0)
	return c.list
}

// declarations collect properties; the first one of a name counts.
type declarations struct {
	schemas *schemas
	known   map[string]place
	list    []member
}

func (c *declarations) collect(p place, depth int) {
	if p.node == nil || depth > maxJoined {
		return
	}
	at, ok := c.schemas.source.follow(p)
	if !ok {
		return
	}
	for _, m := range at.find("properties").members() {
		if c.known[m.name].node == nil {
			c.known[m.name] = m.place
			c.list = append(c.list, m)
		}
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		for _, branch := range at.find(keyword).items() {
			c.collect(branch, depth+1)
		}
	}
}

// tellsOfOthers tells whether a schema, or one that it is joined from, says what members may have that it does not name.
func (s *schemas) tellsOfOthers(p place, depth int) bool {
	at, ok := s.source.follow(p)
	if !ok || depth > maxJoined {
		return true
	}
	for _, keyword := range []string{"additionalProperties", "patternProperties", "unevaluatedProperties", "if", "dependentSchemas"} {
		if at.find(keyword).node != nil {
			return true
		}
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		for _, branch := range at.find(keyword).items() {
			if s.tellsOfOthers(branch, depth+1) {
				return true
			}
		}
	}
	return false
}

// item is the schema of the item at a place of a list; its node is nil where there is none.
func (s *schemas) item(p place, i int) place {
	at, ok := s.source.follow(p)
	if !ok {
		return place{}
	}
	if prefix := at.find("prefixItems").items(); i < len(prefix) {
		return prefix[i]
	}
	if items := at.find("items"); items.node != nil {
		return items
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		for _, branch := range at.find(keyword).items() {
			if own, found := s.source.follow(branch); found && own.find("items").node != nil {
				return own.find("items")
			}
		}
	}
	return place{}
}
