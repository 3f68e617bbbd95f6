package operator

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Texts compiles what the texts of one name must satisfy. Faults have pointers below at.
func Texts(match mockbase.Match, at string, faults *mockbase.Faults) Match[string] {
	return compileMatch(match, place{at, faults}, textDomain(""))
}

// BodyTexts is [Texts] for texts of a body, where the dot of a pattern matches a newline too (rule K3).
func BodyTexts(match mockbase.Match, at string, faults *mockbase.Faults) Match[string] {
	return compileMatch(match, place{at, faults}, textDomain(dotAll))
}

// Nodes compiles what JSON nodes must satisfy. They are equal on the data model of JSON (rules G1 to G5), and no operator
// takes one type for another: text operators hold for strings alone, gt and the like for numbers alone.
func Nodes(match mockbase.Match, at string, faults *mockbase.Faults) Match[*jsonvalue.Value] {
	return compileMatch(match, place{at, faults}, nodeDomain())
}

// Node is [Nodes] for one object of operators.
func Node(o *mockbase.Operators, at string, faults *mockbase.Faults) Clause[*jsonvalue.Value] {
	return compileClause(o, place{at, faults}, nodeDomain())
}

// Number compiles operators about a number that is given as text, such as the number of a call: equals compares by value
// there.
func Number(o *mockbase.Operators, at string, faults *mockbase.Faults) Clause[string] {
	d := textDomain("")
	d.numbers = true
	return compileClause(o, place{at, faults}, d)
}

// dotAll are the flags of patterns about a body.
const dotAll = "s"

// place is where operators stand in a document.
type place struct {
	at     string
	faults *mockbase.Faults
}

func (p place) below(names ...string) place {
	return place{p.at + "/" + strings.Join(names, "/"), p.faults}
}

// domain is what tells values of one type from those of another.
type domain[T any] struct {
	// onText and onNumber turn a test of a text or a number into one of a value.
	onText   func(func(string) bool) func(T) bool
	onNumber func(func(*jsonvalue.Decimal) bool) func(T) bool
	// equals returns the test for equality with an operand, and the operand as it is shown.
	equals func(k *compiler[T], operator string, operand json.RawMessage) (func(T) bool, string)
	// ofType returns the test for a type; nil if the values have none.
	ofType func(name string) func(T) bool
	// flags are those of patterns.
	flags string
	// numbers compares texts that are numbers by their values.
	numbers bool
}

// compiler compiles one object of operators.
type compiler[T any] struct {
	place
	domain[T]
	operators *mockbase.Operators
	clause    Clause[T]
	// folding is ignoreCase (rule K5).
	folding bool
}

func compileMatch[T any](match mockbase.Match, p place, d domain[T]) Match[T] {
	if len(match) == 0 {
		return nil
	}
	compiled := make(Match[T], 0, len(match))
	for i := range match {
		entry := p
		if len(match) > 1 {
			entry = p.below(strconv.Itoa(i))
		}
		compiled = append(compiled, compileClause(&match[i], entry, d))
	}
	return compiled
}

func compileClause[T any](o *mockbase.Operators, p place, d domain[T]) Clause[T] {
	k := compiler[T]{place: p, domain: d, operators: o, folding: o.IgnoreCase != nil && *o.IgnoreCase}
	k.equality()
	k.text("contains", o.Contains, strings.Contains)
	k.text("startsWith", o.StartsWith, strings.HasPrefix)
	k.text("endsWith", o.EndsWith, strings.HasSuffix)
	k.pattern("matches", o.Matches, `\A(?:`, `)\z`)
	k.pattern("search", o.Search, `(?:`, `)`)
	k.number("gt", o.GT, func(c int) bool { return c > 0 })
	k.number("gte", o.GTE, func(c int) bool { return c >= 0 })
	k.number("lt", o.LT, func(c int) bool { return c < 0 })
	k.number("lte", o.LTE, func(c int) bool { return c <= 0 })
	k.instant("before", o.Before, func(c int) bool { return c < 0 })
	k.instant("after", o.After, func(c int) bool { return c > 0 })
	k.mediaType(o.MediaType)
	k.hasItem(o.HasItem)
	k.list("all", o.All, k.all)
	k.list("exactly", o.Exactly, k.exactly)
	k.list("ordered", o.Ordered, k.ordered)
	k.kind(o.Type)
	k.logic()
	return k.clause
}

// one adds an operator about a value.
func (k *compiler[T]) one(operator, operand string, holds func(T) bool) {
	k.clause.each = append(k.clause.each, test[T]{operator: operator, operand: operand, holds: holds})
}

// whole adds an operator about all values.
func (k *compiler[T]) whole(operator, operand string, holds func(*Values[T]) bool) {
	k.clause.set = append(k.clause.set, test[*Values[T]]{operator: operator, operand: operand, holds: holds})
}

func (k *compiler[T]) wrong(operator string, code mockbase.Code, detail string) {
	k.faults.Append(mockbase.FieldError{Pointer: k.below(operator).at, Code: code, Detail: detail})
}

// key is the form in which texts compare.
func (k *compiler[T]) key(s string) string {
	if k.folding {
		return Fold(s)
	}
	return s
}

func (k *compiler[T]) equality() {
	if operand := k.operators.Equals; operand != nil {
		holds, text := k.equals(k, "equals", operand)
		k.one("equals", text, holds)
	}
	if k.operators.In == nil {
		return
	}
	tests, text := k.equalities("in", k.operators.In)
	k.one("in", text, func(value T) bool {
		for _, holds := range tests {
			if holds(value) {
				return true
			}
		}
		return false
	})
}

// equalities returns the tests for equality with each operand, and the operands as they are shown.
func (k *compiler[T]) equalities(operator string, operands []json.RawMessage) (tests []func(T) bool, text string) {
	tests, texts := make([]func(T) bool, len(operands)), make([]string, len(operands))
	for i, operand := range operands {
		tests[i], texts[i] = k.equals(k, operator, operand)
	}
	return tests, strings.Join(texts, ", ")
}

func (k *compiler[T]) text(operator string, operand *string, holds func(value, operand string) bool) {
	if operand == nil {
		return
	}
	want := k.key(*operand)
	if k.folding {
		k.one(operator, *operand, k.onText(func(value string) bool { return holds(Fold(value), want) }))
		return
	}
	k.one(operator, want, k.onText(func(value string) bool { return holds(value, want) }))
}

func (k *compiler[T]) pattern(operator string, operand *string, before, after string) {
	if operand == nil {
		return
	}
	flags := k.flags
	if k.folding {
		flags += "i"
	}
	if flags != "" {
		before = "(?" + flags + ")" + before
	}
	compiled, err := regexp.Compile(before + *operand + after)
	if err != nil {
		k.wrong(operator, mockbase.FieldSyntax, "the pattern does not compile: "+err.Error())
		return
	}
	k.one(operator, *operand, k.onText(newSearch(compiled).match))
}

func (k *compiler[T]) number(operator string, operand *json.Number, holds func(int) bool) {
	if operand == nil {
		return
	}
	bound, ok := jsonvalue.ParseDecimal(operand.String())
	if !ok {
		k.wrong(operator, mockbase.FieldType, operator+" needs a number")
		return
	}
	k.one(operator, operand.String(), k.onNumber(func(n *jsonvalue.Decimal) bool { return holds(n.Compare(&bound)) }))
}

// kind compiles the test for the type of every value (rule H6).
func (k *compiler[T]) kind(name *string) {
	if name == nil {
		return
	}
	holds := k.ofType(*name)
	if holds == nil {
		k.wrong("type", mockbase.FieldType, "a value is always text here; use matches, gt or lt to look into it")
		return
	}
	k.whole("type", *name, func(v *Values[T]) bool {
		for _, value := range v.List {
			if !holds(value) {
				return false
			}
		}
		return v.Sent()
	})
}
