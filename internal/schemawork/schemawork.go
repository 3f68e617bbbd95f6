// Package schemawork validates documents against JSON Schemas within a bound of work.
//
// # Why
//
// The validator tries every branch of anyOf, allOf and oneOf by itself. Where branches lead back to the schema, a small
// document that is deep takes time and memory that double with each level. So the work is reckoned beforehand, each part
// of the document with each schema once, and a document that would take too much is refused.
package schemawork

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// mostSteps is the work that is done for any document; each of its values allows stepsEach more.
	mostSteps = 250_000
	stepsEach = 8
	// fewWays is how often the schemas that do not lead back to themselves may look at one value without being reckoned.
	fewWays = 64
	// depthsEach is how many levels of a document cost a step: every finding names the way to its place.
	depthsEach = 16
)

// ErrTooLarge tells that a document would take too much work to be validated.
var ErrTooLarge = errors.New("too large: the schema has too many ways to go through the document")

// Schema is a compiled JSON Schema that validates within bounds. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	rules    []*rule
	// root is the number of the rule to begin with.
	root int
	// linear tells that the work never grows faster than the document.
	linear bool
}

// Of returns a schema that validates within bounds. The anchored schemas are those that a dynamic reference may mean
// beside the ones that the schema leads to.
func Of(compiled *jsonschema.Schema, anchored ...*jsonschema.Schema) *Schema {
	p := &planner{numbers: map[*jsonschema.Schema]int{}}
	p.number(compiled)
	for _, one := range anchored {
		p.number(one)
	}
	for len(p.rules) < len(p.schemas) {
		p.rules = append(p.rules, p.rule(p.schemas[len(p.rules)]))
	}
	p.resolve()
	return &Schema{compiled: compiled, rules: p.rules, linear: p.linear(0)}
}

// Family are schemas that lead to one another, as those of one API do. What they share is looked at once. It is not safe
// for concurrent use; the schemas that it returns are.
type Family struct {
	planner planner
	// dynamic tells that a reference was met whose target depends on where one comes from. What follows is looked at apart.
	dynamic bool
}

// Of is [Of] for a schema of the family. work is how many schemas were looked at for it.
func (f *Family) Of(compiled *jsonschema.Schema) (s *Schema, work int) {
	p := &f.planner
	if p.numbers == nil {
		p.numbers = map[*jsonschema.Schema]int{}
	}
	if !f.dynamic {
		before, root := len(p.rules), p.number(compiled)
		for len(p.rules) < len(p.schemas) {
			next := p.schemas[len(p.rules)]
			f.dynamic = f.dynamic || next.RecursiveRef != nil || next.DynamicRef != nil
			p.rules = append(p.rules, p.rule(next))
		}
		if !f.dynamic {
			return &Schema{compiled: compiled, rules: p.rules, root: root, linear: p.linear(root)}, len(p.rules) - before
		}
	}
	s = Of(compiled)
	return s, len(s.rules)
}

// Validate returns nil for a valid document as [jsonschema.Schema.Validate] takes it, a [*jsonschema.ValidationError] for
// an invalid one, and [ErrTooLarge] for one that would take too much work.
func (s *Schema) Validate(document any) error {
	if !s.linear && !s.affords(document) {
		return ErrTooLarge
	}
	return s.compiled.Validate(document)
}
