package jsonvalue

import (
	"slices"
	"strconv"
)

// Options change how an expected document compares. The zero value ignores extra object members at every depth and
// nothing else (rule G7).
type Options struct {
	// Exact refuses object members that are not expected.
	Exact bool
	// IgnoreOrder compares arrays as multisets (rules G8 and G9).
	IgnoreOrder bool
	// IgnoreExtraItems allows more array items than expected: those expected must be there in their order, or in any order
	// with IgnoreOrder (rule G7).
	IgnoreExtraItems bool
	// NumbersAsStrings takes a string that spells a number for that number (rule G5).
	NumbersAsStrings bool
	// Strict refuses a document that gives a name twice (rule G11).
	Strict bool
}

// Test is what may stand in an expected document in place of a value: operators (rule G16).
type Test interface {
	// Holds tells whether a value passes; nil stands for a member that is missing.
	Holds(v *Value) bool
	// Failing names the operator that a value does not pass, with its operand.
	Failing(v *Value) (operator, operand string)
}

// Pattern is an expected document, compiled. It is immutable and safe for concurrent use.
type Pattern struct {
	value *Value
	// number is the value of a number.
	number  Decimal
	items   []Pattern
	members []memberPattern
	test    Test
	options *Options
	// parts is how many values a whole pattern holds.
	parts int
}

type memberPattern struct {
	name string
	Pattern
}

// The keys of an object that holds one member and stands for something else (rule G16).
const (
	matchKey   = "$match"
	literalKey = "$literal"
)

// Compile makes the pattern of an expected document. Where an object has the only key $match, compileTest, unless it is
// nil, makes the test of its value; path is where that value stands. An object whose only key is $literal stands for its
// value, as it is. Without compileTest neither key means anything.
func Compile(expected *Value, o Options, compileTest func(operators *Value, path []string) Test) *Pattern {
	c := compiler{options: &o, test: compileTest}
	p := c.pattern(expected, nil)
	p.parts = c.parts
	return &p
}

type compiler struct {
	options *Options
	parts   int
	test    func(operators *Value, path []string) Test
}

func (c *compiler) pattern(v *Value, path []string) Pattern {
	c.parts++
	p := Pattern{value: v, options: c.options}
	switch v.kind {
	case Number:
		p.number = decimal(v.text)
	case Array:
		p.items = make([]Pattern, v.Len())
		for i, item := range v.Items() {
			p.items[i] = c.pattern(item, append(path, strconv.Itoa(i)))
		}
	case Object:
		return c.object(v, path)
	default:
	}
	return p
}

func (c *compiler) object(v *Value, path []string) Pattern {
	if c.test != nil && v.Len() == 1 {
		if operators, ok := v.Member(matchKey); ok {
			return Pattern{value: v, options: c.options, test: c.test(operators, slices.Concat(path, []string{matchKey}))}
		}
		if literal, ok := v.Member(literalKey); ok {
			plain := compiler{options: c.options}
			pattern := plain.pattern(literal, nil)
			c.parts += plain.parts
			return pattern
		}
	}
	p := Pattern{value: v, options: c.options, members: make([]memberPattern, 0, v.Len())}
	for name, value := range v.Members() {
		p.members = append(p.members, memberPattern{name: name, Pattern: c.pattern(value, append(path, name))})
	}
	return p
}

// Compare compares a document with what is expected of it; nil means that it matches (rules G6 to G10).
func Compare(expected, actual *Value, o Options) *Difference {
	return Compile(expected, o, nil).Difference(actual)
}

// Matches tells whether a document is as expected.
func (p *Pattern) Matches(actual *Value) bool {
	c := comparison{options: p.options, steps: mostSteps + 2*p.parts}
	return c.start(p, actual)
}

// Difference returns the first place at which a document is not as expected, nil if it is.
func (p *Pattern) Difference(actual *Value) *Difference {
	c := comparison{options: p.options, steps: mostSteps + 2*p.parts, explain: true}
	if c.start(p, actual) {
		return nil
	}
	if c.steps < 0 {
		return &Difference{Operator: "equals", Expected: p.value.Preview(previewLength), Actual: tooLarge}
	}
	return c.found
}

// Difference is the first place at which a document is not as expected.
type Difference struct {
	// Path is the place in the document, a JSON Pointer (RFC 6901).
	Path string
	// Operator is what failed there: equals, type, length, exists, ignoreOrder, strict, or an operator in place of a
	// value.
	Operator string
	// Expected and Actual are bounded in length.
	Expected, Actual string
}

const (
	// previewLength bounds the values in a Difference.
	previewLength = 200
	// tooLarge is the reason for not comparing (rule G9).
	tooLarge = "too large"
	// missing stands for the value of a member that is not there.
	missing = "(missing)"
)
