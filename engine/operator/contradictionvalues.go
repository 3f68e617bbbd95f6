package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// valued looks for operators that no value satisfies together.
func (v *solver[T]) valued() *Contradiction {
	every := v.everies()
	if v.Joins {
		// What is said of every line does not concern all lines joined.
		every = nil
	}
	var all []*claim[T]
	for i := range v.clauses {
		c := &v.clauses[i]
		all = append(all, c)
		if len(c.clause.each) == 0 || v.Single {
			continue
		}
		if found := v.together(append([]*claim[T]{c}, every...)); found != nil {
			return found
		}
	}
	if v.Single {
		return v.together(append(all, every...))
	}
	return cmp.Or(v.together(every), v.kinds(nil))
}

// everies are the clauses that every value satisfies.
func (v *solver[T]) everies() []*claim[T] {
	var list []*claim[T]
	for i := range v.clauses {
		if c := &v.clauses[i]; c.Every != nil {
			at := c.at + "/every"
			list = append(list, &claim[T]{c.Every, compileClause(c.Every, place{at, v.faults}, v.domain), at})
		}
	}
	return list
}

// together looks for a contradiction among clauses that hold for one and the same value.
func (v *solver[T]) together(same []*claim[T]) *Contradiction {
	if *v.Budget -= len(same); len(same) == 0 || *v.Budget < 0 {
		return nil
	}
	for _, look := range []func([]*claim[T]) *Contradiction{v.impossible, v.candidates, v.kinds, v.ranges, v.literals, v.negated} {
		if found := look(same); found != nil {
			return found
		}
	}
	return nil
}

// impossible finds texts that no value has.
func (v *solver[T]) impossible(same []*claim[T]) *Contradiction {
	for _, c := range same {
		for _, a := range c.atoms() {
			if reason, text := v.reason(&a); reason != "" {
				return &Contradiction{At: c.place(a.operator), Detail: shown(a.operator, text) + " never holds: " + reason}
			}
		}
	}
	return nil
}

// reason says why no value is as an operator wants it, with the text that is meant.
func (v *solver[T]) reason(a *atom) (reason, text string) {
	text, isText := a.literal()
	switch item, rest := cutItem(text); {
	case !isText:
		return "", ""
	case a.operator != "hasItem" && v.Impossible == nil:
		return "", ""
	case a.operator != "hasItem":
		return v.Impossible(a.operator, text), text
	case item != text || rest != "":
		return "an item has no comma outside of quotes, and no blank at its ends", text
	default:
		return "", text
	}
}

// compared is how many operators on one value are compared with each other.
const compared = 100

// most is how many bytes of a value are tested.
const most = 4_096

// finite are the values that a clause allows, by the operator that says so.
func (c *claim[T]) finite() map[string][]json.RawMessage {
	found := map[string][]json.RawMessage{}
	if c.Equals != nil {
		found["equals"] = []json.RawMessage{c.Equals}
	}
	if c.In != nil {
		found["in"] = c.In
	}
	if c.Matches != nil && !c.folds() {
		if text, complete := beginning(*c.Matches); complete {
			found["matches"] = []json.RawMessage{jsonvalue.NewString(text).Append(nil)}
		}
	}
	return found
}

// candidates finds values of which none satisfies the other operators.
func (v *solver[T]) candidates(same []*claim[T]) *Contradiction {
	for _, c := range same {
		finite := c.finite()
		for _, operator := range []string{"equals", "in", "matches"} {
			if found := v.candidatesOf(c, same, operator, finite[operator]); found != nil {
				return found
			}
		}
	}
	return nil
}

func (v *solver[T]) candidatesOf(c *claim[T], same []*claim[T], operator string, operands []json.RawMessage) *Contradiction {
	*v.Budget -= len(operands)
	var first *refusal
	for _, operand := range operands {
		if *v.Budget < 0 || len(operand) > most {
			return nil
		}
		value := v.value(c, operand)
		if reason := v.unfit(operand); reason != "" {
			if len(operands) == 1 {
				return &Contradiction{At: c.place(operator), Detail: shown(operator, c.operand(operator)) + " never holds: " + reason}
			}
			continue
		}
		r := v.refusal(c, same, value)
		if r == nil {
			return nil
		}
		if first == nil {
			first = r
		}
	}
	if first == nil {
		return nil
	}
	return excludes(first.at, first.operator, first.operand, operator, c.operand(operator))
}

// unfit says why a whole number is never equal to an operand.
func (v *solver[T]) unfit(operand json.RawMessage) string {
	if !v.domain.numbers {
		return ""
	}
	n, ok := jsonvalue.ParseDecimal(string(operand))
	least := v.leastDecimal()
	if !ok || !n.Integer() && n.Sign() != 0 || n.Compare(&least) < 0 {
		return fmt.Sprintf("it is a whole number of at least %d", v.least)
	}
	return ""
}

// atom is one operator about a value.
type atom struct {
	operator, operand string
	// raw is the operand of equals.
	raw   json.RawMessage
	folds bool
}

// literal returns the text that the value has, or has a part of.
func (a *atom) literal() (string, bool) {
	switch a.operator {
	case "contains", "startsWith", "endsWith", "hasItem":
		return a.operand, true
	case "equals":
		v, err := jsonvalue.Parse(a.raw, jsonvalue.Limits{})
		if err != nil || v.Kind() != jsonvalue.String {
			return "", false
		}
		return v.Text(), true
	default:
		return "", false
	}
}

// atoms are the operators of the clause about each value.
func (c *claim[T]) atoms() []atom {
	list := make([]atom, 0, len(c.clause.each))
	for i := range c.clause.each {
		a := atom{operator: c.clause.each[i].operator, operand: c.clause.each[i].operand, folds: c.folds()}
		if a.operator == "equals" {
			a.raw = c.Equals
		}
		list = append(list, a)
	}
	return list
}

// literals finds beginnings and ends that exclude each other.
func (*solver[T]) literals(same []*claim[T]) *Contradiction {
	type edge struct {
		refusal
		text    string
		folds   bool
		isStart bool
	}
	var edges []edge
	for _, c := range same {
		for _, a := range c.atoms() {
			e := edge{refusal{c.place(a.operator), a.operator, a.operand}, a.operand, a.folds, a.operator != "endsWith"}
			switch a.operator {
			case "startsWith", "endsWith":
			case "matches":
				e.text, _ = beginning(a.operand)
			default:
				continue
			}
			edges = append(edges, e)
		}
	}
	for i := range edges[:min(len(edges), compared)] {
		for j := range i {
			a, b := &edges[j], &edges[i]
			if a.isStart == b.isStart && !overlap(a.text, b.text, a.isStart, a.folds || b.folds) {
				return excludes(b.at, b.operator, b.operand, a.operator, a.operand)
			}
		}
	}
	return nil
}

// overlap tells whether one text can begin, or end, with both of two.
func overlap(a, b string, isStart, folds bool) bool { //nolint:revive // folds and isStart are what is asked
	if folds {
		a, b = Fold(a), Fold(b)
	}
	if isStart {
		return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
	}
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

// beginning is what every text begins with that matches a pattern; complete tells that it is the only such text.
func beginning(pattern string) (text string, complete bool) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	return compiled.LiteralPrefix()
}

// negated finds negations of what is wanted.
func (v *solver[T]) negated(same []*claim[T]) *Contradiction {
	for i := range v.clauses {
		c := &v.clauses[i]
		if c.Not == nil || !plain(c.Not) {
			continue
		}
		denied := claim[T]{c.Not, compileClause(c.Not, place{c.at + "/not", v.faults}, v.domain), c.at + "/not"}
		atoms := denied.atoms()
		var because *atom
		for j := range atoms {
			if because = impliedBy(same, &atoms[j]); because == nil {
				break
			}
		}
		if because != nil {
			return excludes(c.place("not"), "not", c.operand("not"), because.operator, because.operand)
		}
	}
	return nil
}

// impliedBy returns an operator of clauses on one value that is satisfied only if another one is, nil if there is none.
func impliedBy[T any](same []*claim[T], denied *atom) *atom {
	for _, c := range same {
		atoms := c.atoms()
		for i := range atoms {
			if atoms[i].implies(denied) {
				return &atoms[i]
			}
		}
	}
	return nil
}

// implies tells whether every value that satisfies a satisfies b, as far as that shows in their texts.
func (a *atom) implies(b *atom) bool {
	if a.folds && !b.folds {
		return false
	}
	x, y := a.operand, b.operand
	if a.operator == b.operator && x == y {
		return true
	}
	if b.folds {
		x, y = Fold(x), Fold(y)
	}
	return a.operator == "matches" && b.operator == "search" && x == y || contained(a.operator, b.operator, x, y)
}

// contained tells whether every text that has x where a literal operator says has y where another one does.
func contained(operator, other, x, y string) bool {
	isText := operator == "startsWith" || operator == "endsWith" || operator == "contains"
	switch {
	case !isText:
		return false
	case other == "contains":
		return strings.Contains(x, y)
	case operator != other:
		return false
	case operator == "startsWith":
		return strings.HasPrefix(x, y)
	default:
		return strings.HasSuffix(x, y)
	}
}
