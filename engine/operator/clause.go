package operator

import (
	"slices"
	"strings"
)

// Values are what was sent under one name, or what an expression selects.
type Values[T any] struct {
	List []T
	// Joined is all field lines of a header as one value; Several tells that there is more than one line (rule D3).
	Joined  T
	Several bool
	// Distinct is each value of List once, where somebody found them; nil otherwise.
	Distinct []T
}

// Sent tells whether the name was there at all, be it with an empty value (rules D5 and K6).
func (v *Values[T]) Sent() bool { return len(v.List) > 0 }

// some tells whether any value satisfies holds: a line, or all lines joined.
func (v *Values[T]) some(holds func(T) bool) bool {
	list := v.List
	if v.Distinct != nil {
		list = v.Distinct
	}
	return slices.ContainsFunc(list, holds) || v.Several && holds(v.Joined)
}

// Match is what values must satisfy: every clause (rule K9). It is immutable and safe for concurrent use.
type Match[T any] []Clause[T]

// Holds tells whether the values satisfy every clause.
func (m Match[T]) Holds(v *Values[T]) bool { return m.Failing(v) == nil }

// Failing returns the first clause that does not hold, nil if all do.
func (m Match[T]) Failing(v *Values[T]) *Clause[T] {
	for i := range m {
		if !m[i].Holds(v) {
			return &m[i]
		}
	}
	return nil
}

// Single returns the operator of a match that has only one, with its operand.
func (m Match[T]) Single() (operator, operand string, ok bool) {
	if len(m) != 1 {
		return "", "", false
	}
	return m[0].Single()
}

// String describes the match.
func (m Match[T]) String() string { return describe(m, "; ") }

func describe[T any](clauses []Clause[T], separator string) string {
	texts := make([]string, len(clauses))
	for i := range clauses {
		texts[i] = clauses[i].String()
	}
	return strings.Join(texts, separator)
}

// Clause is a compiled object of operators.
type Clause[T any] struct {
	// each must all hold for one and the same value, set for the values as a whole.
	each []test[T]
	set  []test[*Values[T]]
}

// test is one operator with its operand, about a value or about all of them.
type test[T any] struct {
	operator, operand string
	holds             func(T) bool
}

// Holds tells whether the values satisfy the clause.
func (c *Clause[T]) Holds(v *Values[T]) bool {
	for i := range c.set {
		if !c.set[i].holds(v) {
			return false
		}
	}
	return len(c.each) == 0 || v.some(c.satisfied)
}

func (c *Clause[T]) satisfied(value T) bool {
	for i := range c.each {
		if !c.each[i].holds(value) {
			return false
		}
	}
	return true
}

// Failing returns the operator to name when the clause does not hold, with its operand.
func (c *Clause[T]) Failing(v *Values[T]) (operator, operand string) {
	for i := range c.set {
		if t := &c.set[i]; !t.holds(v) {
			return t.operator, t.operand
		}
	}
	for i := range c.each {
		if t := &c.each[i]; i == len(c.each)-1 || !v.some(t.holds) {
			return t.operator, t.operand
		}
	}
	return "", ""
}

// Single returns the operator of a clause that has only one, with its operand.
func (c *Clause[T]) Single() (operator, operand string, ok bool) {
	switch {
	case len(c.each) == 1 && len(c.set) == 0:
		return c.each[0].operator, c.each[0].operand, true
	case len(c.set) == 1 && len(c.each) == 0:
		return c.set[0].operator, c.set[0].operand, true
	default:
		return "", "", false
	}
}

// String describes the clause: contains a, endsWith b.
func (c *Clause[T]) String() string {
	parts := make([]string, 0, len(c.each)+len(c.set))
	for i := range c.each {
		parts = append(parts, c.each[i].operator+" "+c.each[i].operand)
	}
	for i := range c.set {
		parts = append(parts, c.set[i].operator+" "+c.set[i].operand)
	}
	return strings.Join(parts, ", ")
}
