package operator

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// list compiles an operator about the list of values; for headers that is the field lines (rules C8 and D3).
func (k *compiler[T]) list(operator string, operands []json.RawMessage, holds func(want []func(T) bool, got []T) bool) {
	if operands == nil {
		return
	}
	want, text := k.equalities(operator, operands)
	k.whole(operator, text, func(v *Values[T]) bool { return v.Sent() && holds(want, v.List) })
}

// all wants a value of its own for each listed one, in any order. Equality is transitive, so that any value will do.
func (*compiler[T]) all(want []func(T) bool, got []T) bool {
	if len(want) > len(got) {
		return false
	}
	taken := make([]bool, len(got))
	for _, equals := range want {
		found := false
		for i := range got {
			if found = !taken[i] && equals(got[i]); found {
				taken[i] = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// exactly wants the same multiset.
func (k *compiler[T]) exactly(want []func(T) bool, got []T) bool {
	return len(want) == len(got) && k.all(want, got)
}

// ordered wants the same list.
func (*compiler[T]) ordered(want []func(T) bool, got []T) bool {
	return slices.EqualFunc(want, got, func(equals func(T) bool, value T) bool { return equals(value) })
}

// logic compiles the operators that hold others, and exists.
func (k *compiler[T]) logic() {
	o := k.operators
	if o.Exists != nil {
		want := *o.Exists
		k.whole("exists", strconv.FormatBool(want), func(v *Values[T]) bool { return v.Sent() == want })
	}
	if o.Not != nil {
		inner := k.nested(o.Not, "not")
		k.whole("not", inner.String(), func(v *Values[T]) bool { return !inner.Holds(v) })
	}
	if o.Every != nil {
		inner := k.nested(o.Every, "every")
		k.whole("every", inner.String(), inner.everyHolds)
	}
	if o.Count != nil {
		k.count(o.Count)
	}
	if o.AnyOf != nil {
		inner := k.nestedAll(o.AnyOf, "anyOf")
		k.whole("anyOf", describe(inner, " | "), func(v *Values[T]) bool {
			return slices.ContainsFunc(inner, func(c Clause[T]) bool { return c.Holds(v) })
		})
	}
	if o.AllOf != nil {
		inner := k.nestedAll(o.AllOf, "allOf")
		k.whole("allOf", describe(inner, " | "), func(v *Values[T]) bool {
			return !slices.ContainsFunc(inner, func(c Clause[T]) bool { return !c.Holds(v) })
		})
	}
}

// nested compiles the operators below one of this object's keys. ignoreCase does not reach them: it is about the
// operators beside it.
func (k *compiler[T]) nested(o *mockbase.Operators, keys ...string) *Clause[T] {
	compiled := compileClause(o, k.below(keys...), k.domain)
	return &compiled
}

func (k *compiler[T]) nestedAll(list []mockbase.Operators, key string) []Clause[T] {
	compiled := make([]Clause[T], len(list))
	for i := range list {
		compiled[i] = *k.nested(&list[i], key, strconv.Itoa(i))
	}
	return compiled
}

// everyHolds tells whether there is a value and each satisfies the clause by itself.
func (c *Clause[T]) everyHolds(v *Values[T]) bool {
	for i := range v.List {
		if !c.Holds(&Values[T]{List: v.List[i : i+1]}) {
			return false
		}
	}
	return v.Sent()
}

// count compares the number of values.
func (k *compiler[T]) count(o *mockbase.Operators) {
	inner := Number(o, k.below("count").at, k.faults)
	k.whole("count", inner.String(), func(v *Values[T]) bool {
		return v.Sent() && inner.Holds(&Values[string]{List: []string{strconv.Itoa(len(v.List))}})
	})
}
