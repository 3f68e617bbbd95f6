package openapi

import (
	"maps"
	"math/big"

	"github.com/mockbase/mockbase"
)

// shape is what schemas that hold together say of a value: references followed and allOf merged (rule W44).
type shape struct {
	source *source
	// never tells that no value is allowed.
	never bool
	kinds kinds
	// typed tells that kinds is stated, so that none left means that no type is allowed.
	typed    bool
	nullable bool
	// example, constant and byDefault are the first that a schema states; enum is what all lists have in common.
	example             place
	constant, byDefault *mockbase.Node
	enum                []*mockbase.Node
	listed              bool

	format   string
	patterns []string
	// lowest and highest are nil without a bound; they are excluded where open is set.
	lowest, highest            *big.Rat
	lowestOpen, highestOpen    bool
	multiple                   *big.Rat
	minLength, minItems, least int
	// maxLength, maxItems and most are -1 without a bound.
	maxLength, maxItems, most int
	unique                    bool

	properties []property
	required   []string
	prefix     []place
	items      []place
	noItems    bool
	contains   []containing
	additional []place
	closed     bool
	// patterned are the properties by patterns of their names; names are the schemas of names.
	patterned []patternProperty
	names     []place
	// follows are the properties that must come with another.
	follows map[string][]string
	// tested tells that keywords speak against values, so that each one is tried on the schema itself.
	tested bool
	// turn counts the values that were tried.
	turn int
	// groups are the lists of which a branch must be chosen.
	groups []group
	// forced are the values of discriminators.
	forced map[string]string
	// visited are the schemas that were merged, for seeing recursion; name is that of the outermost one with a name.
	visited []*mockbase.Node
	name    string
}

// admits tells whether a value has an allowed type and, if it is a text or a number, meets the bounds and patterns.
func (s *shape) admits(n *mockbase.Node) bool {
	switch n.Kind {
	case mockbase.NodeNull:
		return s.nullable || s.takes("null")
	case mockbase.NodeNumber:
		return s.admitsNumber(rational(n.Text))
	case mockbase.NodeText:
		return s.takes("string") && s.fits(n.Text) && s.matches(n.Text)
	case mockbase.NodeBool:
		return s.takes("boolean")
	case mockbase.NodeList:
		return s.takes("array")
	default:
		return s.takes("object")
	}
}

func (s *shape) admitsNumber(value *big.Rat) bool {
	typed := s.takes("number") || s.takes("integer") && value.IsInt()
	return typed && s.allows(value) && (s.multiple == nil || new(big.Rat).Quo(value, s.multiple).IsInt())
}

// takes tells whether a type is allowed.
func (s *shape) takes(kind string) bool {
	return !s.typed || s.kinds.has(kind)
}

// property is a property with all schemas that speak of it.
type property struct {
	name    string
	schemas []place
}

// patternProperty is a schema for the properties whose names match a pattern.
type patternProperty struct {
	pattern string
	schema  place
}

// containing is a schema that some items of a list must meet.
type containing struct {
	schema place
	least  int
}

// group is a oneOf or anyOf, or a condition: its branches are then if and else.
type group struct {
	owner    place
	keyword  string
	branches []place
}

// choice says which branch of a list was taken, by the owner of the list and the keyword.
type choice map[choiceKey]int

type choiceKey struct {
	owner   *mockbase.Node
	keyword string
}

func (c choice) with(g *group, branch int) choice {
	next := make(choice, len(c)+1)
	maps.Copy(next, c)
	next[choiceKey{g.owner.node, g.keyword}] = branch
	return next
}
