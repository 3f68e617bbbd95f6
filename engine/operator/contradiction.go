package operator

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Stated is a match at its place in a document, a JSON Pointer.
type Stated struct {
	Match mockbase.Match
	At    string
}

// Contradiction tells of operators that can never hold.
type Contradiction struct {
	// At is the JSON Pointer of the operator that excludes another one, or that nothing satisfies.
	At string
	// Detail says what excludes what.
	Detail string
	// Partial tells that only an alternative or a negation is concerned, so that the whole may hold all the same.
	Partial bool
}

// Subject is what operators are about.
type Subject struct {
	// Single tells that there is one value at most, Always that there is one at least.
	Single, Always bool
	// AbsenceVaries tells that one operator may take for missing what another one does not.
	AbsenceVaries bool
	// Joins tells that all values joined are one more value, as with the lines of a header (rule D3).
	Joins bool
	// Impossible says why no value is as an operator wants it, "" if one may be. The operator is equals, startsWith, endsWith
	// or contains.
	Impossible func(operator, text string) string
	// Budget is how many clauses may still be looked at; nil is enough for one match.
	Budget *int
	// least is the smallest whole number, where the values are such.
	least int64
}

// enough is how many clauses are looked at where nobody says otherwise.
const enough = 2_000

// Texts finds what of matches on the texts of one name can never hold together.
func (s Subject) Texts(stated ...Stated) []Contradiction {
	return contradictions(s, textDomain(""), textValue, stated)
}

// Nodes finds what of matches on the nodes of one JSONPath can never hold together.
func (s Subject) Nodes(stated ...Stated) []Contradiction {
	return contradictions(s, nodeDomain(), func(_ *compiler[*jsonvalue.Value], operand json.RawMessage) *jsonvalue.Value {
		// What cannot be read is a fault, which was noted.
		v, _ := jsonvalue.Parse(operand, jsonvalue.Limits{})
		return v
	}, stated)
}

// Numbers finds what of matches on one whole number can never hold together; it is not below a least one.
func (s Subject) Numbers(least int64, stated ...Stated) []Contradiction {
	d := textDomain("")
	d.numbers = true
	s.Single, s.Always, s.least = true, true, least
	return contradictions(s, d, textValue, stated)
}

func textValue(k *compiler[string], operand json.RawMessage) string {
	return operandText(k, "", operand)
}

// solver looks for contradictions among the clauses on one subject.
type solver[T any] struct {
	Subject
	domain  domain[T]
	valueOf func(k *compiler[T], operand json.RawMessage) T
	faults  *mockbase.Faults
	clauses []claim[T]
	// expanded is how many of the clauses were looked into already.
	expanded int
}

// claim is a clause with what it was compiled from.
type claim[T any] struct {
	*mockbase.Operators
	clause Clause[T]
	at     string
}

func contradictions[T any](
	s Subject, d domain[T], valueOf func(k *compiler[T], operand json.RawMessage) T, list []Stated,
) []Contradiction {
	if s.Budget == nil {
		budget := enough
		s.Budget = &budget
	}
	v := &solver[T]{Subject: s, domain: d, valueOf: valueOf, faults: &mockbase.Faults{}}
	for _, one := range list {
		for i := range one.Match {
			at := one.At
			if len(one.Match) > 1 {
				at += "/" + strconv.Itoa(i)
			}
			v.add(&one.Match[i], at)
		}
	}
	if v.faults.Len() > 0 {
		return nil // which is told when the mock is checked
	}
	if c := v.never(); c != nil {
		return []Contradiction{*c}
	}
	return v.partial()
}

// add takes a clause, and what allOf says beside it.
func (v *solver[T]) add(o *mockbase.Operators, at string) {
	if *v.Budget--; *v.Budget < 0 {
		return
	}
	v.clauses = append(v.clauses, claim[T]{o, compileClause(o, place{at, v.faults}, v.domain), at})
	for i := range o.AllOf {
		v.add(&o.AllOf[i], at+"/allOf/"+strconv.Itoa(i))
	}
}

// with is a solver of one more clause.
func (v *solver[T]) with(o *mockbase.Operators, at string) *solver[T] {
	more := *v
	more.clauses, more.expanded = slices.Clip(v.clauses), len(v.clauses)
	*v.Budget -= len(v.clauses)
	more.add(o, at)
	return &more
}

// never returns why the clauses cannot all hold, nil where they may.
func (v *solver[T]) never() *Contradiction {
	for _, look := range []func() *Contradiction{v.absent, v.counted, v.listed, v.valued, v.nested} {
		if *v.Budget < 0 {
			return nil
		}
		if c := look(); c != nil {
			return c
		}
	}
	return nil
}

// partial finds alternatives that never hold, and negations of what never does.
func (v *solver[T]) partial() []Contradiction {
	var found []Contradiction
	note := func(c *Contradiction, says string) {
		if c != nil {
			found = append(found, Contradiction{At: c.At, Detail: c.Detail + says, Partial: true})
		}
	}
	for i := range v.clauses {
		c := &v.clauses[i]
		for j := range c.AnyOf {
			note(v.with(&c.AnyOf[j], c.at+"/anyOf/"+strconv.Itoa(j)).never(), ", so that this alternative never counts")
		}
		if c.Not != nil {
			inner := *v
			inner.clauses = nil
			note(inner.with(c.Not, c.at+"/not").never(), ", so that the negation always holds")
		}
	}
	return found
}

// nested looks into every, and into alternatives of which none may hold.
func (v *solver[T]) nested() *Contradiction {
	for i := v.expanded; i < len(v.clauses); i++ {
		c := &v.clauses[i]
		if c.Every != nil {
			each := *v
			each.clauses, each.Single, each.Always = nil, true, true
			if found := each.with(c.Every, c.at+"/every").never(); found != nil {
				return found
			}
		}
		if found := v.alternatives(c); found != nil {
			return found
		}
	}
	return nil
}

func (v *solver[T]) alternatives(c *claim[T]) *Contradiction {
	var first *Contradiction
	for j := range c.AnyOf {
		found := v.with(&c.AnyOf[j], c.at+"/anyOf/"+strconv.Itoa(j)).never()
		if found == nil {
			return nil
		}
		if first == nil {
			first = found
		}
	}
	if first == nil {
		return nil
	}
	return &Contradiction{At: c.at + "/anyOf", Detail: "no alternative can hold: " + first.Detail}
}

// place is where an operator of a clause stands; one that stands alone may be a scalar in the place of the clause.
func (c *claim[T]) place(operator string) string {
	if operator == "equals" && len(c.clause.each)+len(c.clause.set) == 1 {
		return c.at
	}
	return c.at + "/" + operator
}

// excludes is the contradiction of an operator at a place and another one.
func excludes(at, operator, operand, other, otherOperand string) *Contradiction {
	return &Contradiction{At: at, Detail: shown(operator, operand) + " excludes " + shown(other, otherOperand)}
}

// shown is an operator with its operand, which is cut.
func shown(operator, operand string) string {
	const most = 60
	if runes := []rune(operand); len(runes) > most {
		operand = string(runes[:most]) + "…"
	}
	if operand == "" {
		operand = `""`
	}
	return operator + " " + operand
}
