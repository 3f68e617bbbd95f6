package operator

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// bound is a limit of a range.
type bound[N any] struct {
	refusal
	value N
	// text is the number as it is written.
	text    string
	isLower bool
	// strict leaves the limit itself out.
	strict bool
}

// span is a range: what is known of both of its limits.
type span[N any] struct {
	bounds  []bound[N]
	compare func(a, b N) int
}

// empty returns a lower and an upper limit between which nothing is, nil if there are none.
func (s *span[N]) empty() (lower, upper *bound[N]) {
	s.bounds = s.bounds[:min(len(s.bounds), compared)]
	for i := range s.bounds {
		for j := range s.bounds {
			l, u := &s.bounds[i], &s.bounds[j]
			if !l.isLower || u.isLower {
				continue
			}
			if c := s.compare(l.value, u.value); c > 0 || c == 0 && (l.strict || u.strict) {
				return l, u
			}
		}
	}
	return nil, nil
}

// contradiction of the limits between which nothing is, nil if there are none.
func (s *span[N]) contradiction() *Contradiction {
	lower, upper := s.empty()
	switch {
	case lower == nil:
		return nil
	case upper.at == "":
		return &Contradiction{At: lower.at, Detail: shown(lower.operator, lower.operand) + " never holds: it is " + upper.operand}
	case lower.at == "":
		return &Contradiction{At: upper.at, Detail: shown(upper.operator, upper.operand) + " never holds: it is " + lower.operand}
	default:
		return excludes(upper.at, upper.operator, upper.operand, lower.operator, lower.operand)
	}
}

// ranges finds bounds between which there is no number, or no instant.
func (v *solver[T]) ranges(same []*claim[T]) *Contradiction {
	numbers := span[jsonvalue.Decimal]{compare: func(a, b jsonvalue.Decimal) int { return a.Compare(&b) }}
	instants := span[time.Time]{compare: time.Time.Compare}
	for _, c := range same {
		numbers.bounds = append(numbers.bounds, c.numberBounds()...)
		instants.bounds = append(instants.bounds, c.instantBounds()...)
	}
	if len(numbers.bounds) > 0 {
		numbers.bounds = append(numbers.bounds, v.deniedBounds()...)
	}
	if v.domain.numbers {
		least := bound[jsonvalue.Decimal]{value: v.leastDecimal(), text: strconv.FormatInt(v.least, 10), isLower: true}
		least.operand = "a whole number of at least " + strconv.FormatInt(v.least, 10)
		numbers.bounds = append(numbers.bounds, least)
	}
	if v.domain.numbers || v.wantsInteger() {
		for i := range numbers.bounds {
			toWhole(&numbers.bounds[i])
		}
	}
	return cmp.Or(numbers.contradiction(), instants.contradiction())
}

func (v *solver[T]) leastDecimal() jsonvalue.Decimal {
	n, _ := jsonvalue.ParseDecimal(strconv.FormatInt(v.least, 10))
	return n
}

func (v *solver[T]) wantsInteger() bool {
	for i := range v.clauses {
		if t := v.clauses[i].Type; t != nil && *t == "integer" {
			return true
		}
	}
	return false
}

// toWhole moves a limit to the nearest whole number inside, where it is of a size that can be counted with.
func toWhole(b *bound[jsonvalue.Decimal]) {
	const digits = 30
	if b.value.Digits() > digits || b.value.Magnitude() > digits || b.value.Magnitude() < -digits {
		return
	}
	exact, ok := new(big.Rat).SetString(b.text)
	if !ok {
		return
	}
	n := new(big.Int).Div(exact.Num(), exact.Denom()) // rounds down, as the denominator is positive
	switch {
	case b.isLower && (b.strict || !exact.IsInt()):
		n.Add(n, big.NewInt(1))
	case !b.isLower && b.strict && exact.IsInt():
		n.Sub(n, big.NewInt(1))
	}
	b.value, _ = jsonvalue.ParseDecimal(n.String())
	b.strict = false
}

// numberBounds are the limits that a clause sets to numbers.
func (c *claim[T]) numberBounds() []bound[jsonvalue.Decimal] {
	var list []bound[jsonvalue.Decimal]
	for _, o := range []struct {
		name            string
		operand         *json.Number
		isLower, strict bool
	}{{"gt", c.GT, true, true}, {"gte", c.GTE, true, false}, {"lt", c.LT, false, true}, {"lte", c.LTE, false, false}} {
		if o.operand == nil {
			continue
		}
		n, _ := jsonvalue.ParseDecimal(o.operand.String())
		list = append(list, bound[jsonvalue.Decimal]{refusal{c.place(o.name), o.name, o.operand.String()}, n, o.operand.String(), o.isLower, o.strict})
	}
	return list
}

// deniedBounds are the limits that negations of one limit set: no value beyond it may be there.
func (v *solver[T]) deniedBounds() []bound[jsonvalue.Decimal] {
	var list []bound[jsonvalue.Decimal]
	for i := range v.clauses {
		c := &v.clauses[i]
		if c.Not == nil {
			continue
		}
		denied := claim[T]{c.Not, compileClause(c.Not, place{c.at, v.faults}, v.domain), c.at}
		bounds := denied.numberBounds()
		if len(bounds) != 1 || len(denied.clause.each)+len(denied.clause.set) != 1 {
			continue
		}
		b := bounds[0]
		b.isLower, b.strict = !b.isLower, !b.strict
		b.refusal = refusal{c.place("not"), "not", b.operator + " " + b.operand}
		list = append(list, b)
	}
	return list
}

// instantBounds are the limits that a clause sets to instants.
func (c *claim[T]) instantBounds() []bound[time.Time] {
	var list []bound[time.Time]
	for _, o := range []struct {
		name    string
		operand *string
		isLower bool
	}{{"after", c.After, true}, {"before", c.Before, false}} {
		if o.operand == nil {
			continue
		}
		at, _ := parseInstant(*o.operand)
		list = append(list, bound[time.Time]{refusal{c.place(o.name), o.name, *o.operand}, at, "", o.isLower, true})
	}
	return list
}
