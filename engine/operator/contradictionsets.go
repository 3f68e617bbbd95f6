package operator

import (
	"encoding/json"
	"slices"

	"github.com/mockbase/mockbase"
)

// forbids returns the operator by which a clause wants that nothing was sent.
func (c *claim[T]) forbids() (operator string, forbids bool) {
	switch {
	case c.Exists != nil && !*c.Exists:
		return "exists", true
	case c.Not != nil && c.Not.Exists != nil && *c.Not.Exists && len(c.clause.set) == 1:
		return "not", true
	default:
		return "", false
	}
}

// absent finds what asks for a value beside what asks for none.
func (v *solver[T]) absent() *Contradiction {
	if v.AbsenceVaries {
		return nil
	}
	for i := range v.clauses {
		c := &v.clauses[i]
		operator, forbids := c.forbids()
		switch {
		case !forbids:
			continue
		case v.Always:
			return &Contradiction{At: c.place(operator), Detail: "there always is a value here, be it an empty one"}
		}
		for j := range v.clauses {
			other := &v.clauses[j]
			if none := (&Values[T]{}); !other.clause.Holds(none) {
				name, operand := other.clause.Failing(none)
				if name == "allOf" {
					continue // Its parts are clauses as well.
				}
				return excludes(other.place(name), name, operand, "exists", "false")
			}
		}
	}
	return nil
}

// counted finds numbers of values that there never are.
func (v *solver[T]) counted() *Contradiction {
	for i := range v.clauses {
		c := &v.clauses[i]
		if c.Count == nil {
			continue
		}
		stated := Stated{mockbase.Match{*c.Count}, c.at + "/count"}
		numbers := Subject{Budget: v.Budget}
		if found := whole(numbers.Numbers(0, stated)); found != nil {
			return found
		}
		count := Number(c.Count, stated.At, v.faults)
		says := shown("count", count.String())
		switch {
		case whole(numbers.Numbers(1, stated)) != nil:
			return &Contradiction{At: stated.At, Detail: says + " never holds for what was not sent; write exists: false for that"}
		case v.Single && !count.Holds(&Values[string]{List: []string{"1"}}):
			return &Contradiction{At: stated.At, Detail: says + " never holds, as there is one value at most"}
		}
	}
	return nil
}

// whole returns the first contradiction that is not about a part.
func whole(list []Contradiction) *Contradiction {
	for i := range list {
		if !list[i].Partial {
			return &list[i]
		}
	}
	return nil
}

// wanted is a list of values that a clause wants: all values there are, where they are complete.
type wanted[T any] struct {
	operator string
	values   []T
	complete bool
}

func (v *solver[T]) wanted(c *claim[T]) []wanted[T] {
	var lists []wanted[T]
	for _, l := range []struct {
		operator string
		operands []json.RawMessage
		complete bool
	}{{"exactly", c.Exactly, true}, {"ordered", c.Ordered, true}, {"all", c.All, false}} {
		if len(l.operands) == 0 {
			continue
		}
		w := wanted[T]{l.operator, make([]T, len(l.operands)), l.complete}
		for i, operand := range l.operands {
			w.values[i] = v.value(c, operand)
		}
		lists = append(lists, w)
	}
	return lists
}

// value is the value that equals an operand.
func (v *solver[T]) value(c *claim[T], operand json.RawMessage) T {
	return v.valueOf(&compiler[T]{place: place{c.at, v.faults}, domain: v.domain, operators: c.Operators}, operand)
}

// listed finds lists of values that something else about the values excludes.
func (v *solver[T]) listed() *Contradiction {
	for i := range v.clauses {
		c := &v.clauses[i]
		for _, w := range v.wanted(c) {
			if *v.Budget -= len(w.values); *v.Budget < 0 {
				return nil
			}
			if found := v.against(c, &w); found != nil {
				return found
			}
		}
	}
	return nil
}

// against finds what excludes a list of values.
func (v *solver[T]) against(c *claim[T], w *wanted[T]) *Contradiction {
	at, operand := c.at+"/"+w.operator, c.operand(w.operator)
	if v.Single && len(w.values) > 1 {
		return &Contradiction{At: at, Detail: shown(w.operator, operand) + " never holds, as there is one value at most"}
	}
	for i := range w.values {
		if r := v.refusal(c, nil, w.values[i]); r != nil {
			return excludes(r.at, r.operator, r.operand, w.operator, operand)
		}
	}
	for i := range v.clauses {
		other := &v.clauses[i]
		if c.folds() && other != c {
			continue
		}
		if name := v.unlisted(other, w); name != "" {
			return excludes(other.place(name), name, other.operand(name), w.operator, operand)
		}
	}
	return nil
}

// unlisted returns the operator of a clause that does not hold for the values of a list, "" if none is known not to.
func (v *solver[T]) unlisted(c *claim[T], w *wanted[T]) string {
	if !w.complete {
		return v.tooFew(c, len(w.values))
	}
	values := &Values[T]{List: w.values}
	for i := range c.clause.set {
		if t := &c.clause.set[i]; w.decides(t.operator) && !t.holds(values) {
			return t.operator
		}
	}
	if len(c.clause.each) == 0 || v.Joins || values.some(c.clause.satisfied) {
		return ""
	}
	operator, _ := c.clause.Failing(values)
	return operator
}

// decides tells whether an operator holds for all lists of values that are wanted, or for none.
func (w *wanted[T]) decides(operator string) bool {
	switch operator {
	case "count", "exactly", "all":
		return true
	case "ordered":
		return w.operator == "ordered"
	default:
		return false
	}
}

// tooFew returns count where it never holds for so many values, "" else.
func (v *solver[T]) tooFew(c *claim[T], values int) string {
	if c.Count == nil {
		return ""
	}
	stated := Stated{mockbase.Match{*c.Count}, c.at}
	if whole(Subject{Budget: v.Budget}.Numbers(int64(values), stated)) == nil {
		return ""
	}
	return "count"
}

// operand is that of an operator of the clause, as it is shown.
func (c *claim[T]) operand(operator string) string {
	for i := range c.clause.each {
		if c.clause.each[i].operator == operator {
			return c.clause.each[i].operand
		}
	}
	for i := range c.clause.set {
		if c.clause.set[i].operator == operator {
			return c.clause.set[i].operand
		}
	}
	return ""
}

// folds tells whether the operators of the clause ignore letter case.
func (c *claim[T]) folds() bool { return c.IgnoreCase != nil && *c.IgnoreCase }

// refusal is an operator that a value does not satisfy.
type refusal struct{ at, operator, operand string }

// refusal returns what refuses a value that a clause wants: an operator of those that must hold for the same value, or what
// is said of every value. It returns nil if nothing is known to.
func (v *solver[T]) refusal(own *claim[T], same []*claim[T], value T) *refusal {
	for _, c := range same {
		if own.folds() && !c.folds() {
			continue
		}
		if at := slices.IndexFunc(c.clause.each, func(t test[T]) bool { return !t.holds(value) }); at >= 0 {
			t := &c.clause.each[at]
			return &refusal{c.place(t.operator), t.operator, t.operand}
		}
	}
	alone := &Values[T]{List: []T{value}}
	for i := range v.clauses {
		c := &v.clauses[i]
		for j := range c.clause.set {
			if t := &c.clause.set[j]; v.concerns(own, c, t.operator) && !t.holds(alone) {
				return &refusal{c.place(t.operator), t.operator, t.operand}
			}
		}
	}
	return nil
}

// concerns tells whether what an operator about all values says of one value alone, it says of that value among others.
func (v *solver[T]) concerns(own, c *claim[T], operator string) bool {
	switch {
	case operator == "type":
		return true
	case operator == "allOf":
		return false // Its parts are clauses as well.
	case operator == "not" && own.folds():
		return c.Not.IgnoreCase != nil && *c.Not.IgnoreCase && plain(c.Not)
	case own.folds():
		return false
	case v.Single:
		return !v.AbsenceVaries
	case operator == "not":
		return plain(c.Not)
	default:
		return operator == "every" && !v.Joins
	}
}

// plain tells whether operators are about each value by itself, all of them.
func plain(o *mockbase.Operators) bool {
	return o.Not == nil && o.Exists == nil && o.Type == nil && o.Every == nil && o.All == nil && o.Exactly == nil &&
		o.Ordered == nil && o.Count == nil && o.AnyOf == nil && o.AllOf == nil
}
