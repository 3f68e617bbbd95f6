package openapi

import (
	"math/big"

	"github.com/mockbase/mockbase"
)

func (m *merger) numeric(p place) {
	s := &m.shape
	if at := p.find("minimum"); at.is(mockbase.NodeNumber) {
		s.raise(rational(at.node.Text), openIf(p.holds("exclusiveMinimum")))
	}
	if at := p.find("exclusiveMinimum"); at.is(mockbase.NodeNumber) {
		s.raise(rational(at.node.Text), boundOpen)
	}
	if at := p.find("maximum"); at.is(mockbase.NodeNumber) {
		s.lower(rational(at.node.Text), openIf(p.holds("exclusiveMaximum")))
	}
	if at := p.find("exclusiveMaximum"); at.is(mockbase.NodeNumber) {
		s.lower(rational(at.node.Text), boundOpen)
	}
	if at := p.find("multipleOf"); at.is(mockbase.NodeNumber) {
		if step := rational(at.node.Text); step.Sign() > 0 {
			s.multiple = commonMultiple(s.multiple, step)
		}
	}
}

// bound says whether a bound itself is allowed.
type bound uint8

const (
	boundClosed bound = iota
	boundOpen
)

func openIf(open bool) bound { //nolint:revive // it turns a fact of the document into a kind
	if open {
		return boundOpen
	}
	return boundClosed
}

func (s *shape) raise(to *big.Rat, b bound) {
	if s.lowest == nil || to.Cmp(s.lowest) > 0 {
		s.lowest, s.lowestOpen = to, b == boundOpen
	} else if to.Cmp(s.lowest) == 0 {
		s.lowestOpen = s.lowestOpen || b == boundOpen
	}
}

func (s *shape) lower(to *big.Rat, b bound) {
	if s.highest == nil || to.Cmp(s.highest) < 0 {
		s.highest, s.highestOpen = to, b == boundOpen
	} else if to.Cmp(s.highest) == 0 {
		s.highestOpen = s.highestOpen || b == boundOpen
	}
}

// commonMultiple is the least number that is a multiple of both.
func commonMultiple(a, b *big.Rat) *big.Rat {
	if a == nil {
		return b
	}
	// lcm(p/q, r/s) = lcm(p·s, r·q) / (q·s)
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	common := new(big.Int).GCD(nil, nil, x, y)
	product := new(big.Int).Mul(x, y)
	return new(big.Rat).SetFrac(product.Quo(product, common), new(big.Int).Mul(a.Denom(), b.Denom()))
}

func (m *merger) counts(p place) {
	s := &m.shape
	for _, c := range []struct {
		name string
		to   *int
	}{{"minLength", &s.minLength}, {"minItems", &s.minItems}, {"minProperties", &s.least}} {
		if n, ok := countOf(p.find(c.name)); ok {
			*c.to = max(*c.to, n)
		}
	}
	for _, c := range []struct {
		name string
		to   *int
	}{{"maxLength", &s.maxLength}, {"maxItems", &s.maxItems}, {"maxProperties", &s.most}} {
		if n, ok := countOf(p.find(c.name)); ok && (*c.to < 0 || n < *c.to) {
			*c.to = n
		}
	}
	s.unique = s.unique || p.holds("uniqueItems")
}
