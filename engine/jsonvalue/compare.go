package jsonvalue

import (
	"strconv"
	"strings"
)

const (
	// mostSteps bounds the steps that one comparison takes to pair items, beside one for each part of the pattern. Only
	// hundreds of items that hold hundreds come near it; they would take minutes.
	mostSteps = 1_000_000
	// lookupsEach is how many items or members are passed over in one step.
	lookupsEach = 64
)

// comparison compares one document with a pattern.
type comparison struct {
	options *Options
	// steps are left; below zero the comparison is given up. They are counted while pairing is not zero: in the order of the
	// document each part is compared once.
	steps   int
	pairing int
	// explain asks for the place of the first difference; path is the current place then.
	explain bool
	path    []string
	found   *Difference
}

func (c *comparison) start(p *Pattern, actual *Value) bool {
	if c.options.Strict {
		if name := actual.Duplicate(); name != "" {
			return c.differ("strict", "every name once", "the name "+cutText(name)+" twice")
		}
	}
	return c.same(p, actual)
}

func (c *comparison) differ(operator, expected, actual string) bool {
	if c.explain && c.found == nil {
		c.found = &Difference{Path: Pointer(c.path...), Operator: operator, Expected: expected, Actual: actual}
	}
	return false
}

// differs notes that a value is another than expected.
func (c *comparison) differs(p *Pattern, actual *Value) bool {
	if !c.explain {
		return false
	}
	if p.value.kind != actual.kind {
		return c.differ("type", typed(p.value), typed(actual))
	}
	return c.differ("equals", p.value.Preview(previewLength), actual.Preview(previewLength))
}

// typed shows a value with its type.
func typed(v *Value) string {
	if v.kind == Null {
		return "null"
	}
	return v.kind.String() + " " + v.Preview(previewLength)
}

// affords takes a step, and more for what is passed over in it. It tells whether there was one left.
func (c *comparison) affords(passed int) bool {
	if c.pairing > 0 {
		c.steps -= 1 + passed/lookupsEach
	}
	return c.steps >= 0
}

func (c *comparison) same(p *Pattern, actual *Value) bool {
	if !c.affords(actual.Len()) {
		return false
	}
	if p.test != nil {
		return p.test.Holds(actual) || c.fails(p, actual)
	}
	if p.value.kind != actual.kind {
		return c.options.NumbersAsStrings && sameNumberText(p.value, actual) || c.differs(p, actual)
	}
	switch actual.kind {
	case Array:
		return c.items(p, actual)
	case Object:
		return c.members(p, actual)
	default:
		return p.equals(actual) || c.differs(p, actual)
	}
}

// equals compares scalars of one kind.
func (p *Pattern) equals(actual *Value) bool {
	if p.value.text == actual.text || actual.kind != Number {
		return p.value.text == actual.text
	}
	n := decimal(actual.text)
	return p.number.Compare(&n) == 0
}

// sameNumberText tells whether one of two values is a number and the other a string that spells it.
func sameNumberText(a, b *Value) bool {
	if a.kind == Number && b.kind == String || a.kind == String && b.kind == Number {
		x, xOK := ParseDecimal(a.text)
		y, yOK := ParseDecimal(b.text)
		return xOK && yOK && x.Compare(&y) == 0
	}
	return false
}

func (c *comparison) fails(p *Pattern, actual *Value) bool {
	if !c.explain {
		return false
	}
	operator, operand := p.test.Failing(actual)
	shown := missing
	if actual != nil {
		shown = actual.Preview(previewLength)
	}
	return c.differ(operator, cutText(operand), shown)
}

// within compares a part; name is its place.
func (c *comparison) within(name string, p *Pattern, actual *Value) bool {
	if !c.explain {
		return c.same(p, actual)
	}
	c.path = append(c.path, name)
	same := c.same(p, actual)
	c.path = c.path[:len(c.path)-1]
	return same
}

func (c *comparison) members(p *Pattern, actual *Value) bool {
	find := actual.Member
	if len(p.members) > 1 {
		find = actual.finder(len(p.members))
	}
	found := 0
	for i := range p.members {
		m := &p.members[i]
		value, ok := find(m.name)
		if !ok {
			if m.test == nil || !m.test.Holds(nil) {
				return c.lacks(m)
			}
			continue
		}
		found++
		if !c.within(m.name, &m.Pattern, value) {
			return false
		}
	}
	return !c.options.Exact || found == actual.Len() || c.unexpected(p, actual)
}

func (c *comparison) lacks(m *memberPattern) bool {
	if !c.explain {
		return false
	}
	c.path = append(c.path, m.name)
	if m.test != nil {
		c.fails(&m.Pattern, nil)
	} else {
		c.differ("equals", m.value.Preview(previewLength), missing)
	}
	c.path = c.path[:len(c.path)-1]
	return false
}

// unexpected notes the first member that is not expected.
func (c *comparison) unexpected(p *Pattern, actual *Value) bool {
	if !c.explain {
		return false
	}
	known := make(map[string]bool, len(p.members))
	for i := range p.members {
		known[p.members[i].name] = true
	}
	for name, value := range actual.Members() {
		if !known[name] {
			c.path = append(c.path, name)
			return c.differ("exists", missing, value.Preview(previewLength))
		}
	}
	return false
}

func (c *comparison) items(p *Pattern, actual *Value) bool {
	want, have := len(p.items), actual.Len()
	if want > have || want < have && !c.options.IgnoreExtraItems {
		return c.differ("length", strconv.Itoa(want), strconv.Itoa(have))
	}
	switch {
	case c.options.IgnoreOrder:
		return c.anyOrder(p, actual)
	case want < have:
		return c.inOrder(p, actual)
	}
	for i := range p.items {
		if !c.item(i, &p.items[i], actual.Item(i)) {
			return false
		}
	}
	return true
}

func (c *comparison) item(i int, p *Pattern, actual *Value) bool {
	if !c.explain {
		return c.same(p, actual)
	}
	return c.within(strconv.Itoa(i), p, actual)
}

// quietly compares without noting a difference, for one of several ways to match.
func (c *comparison) quietly(p *Pattern, actual *Value) bool {
	explain := c.explain
	c.explain = false
	same := c.same(p, actual)
	c.explain = explain
	return same
}

// inOrder looks for the expected items one after the other; taking the first that fits never takes one away from a later
// item.
func (c *comparison) inOrder(p *Pattern, actual *Value) bool {
	at := 0
	for i := range p.items {
		for at < actual.Len() && !c.quietly(&p.items[i], actual.Item(at)) {
			at++
		}
		if at == actual.Len() {
			return c.unmatched(p, i, "no such item after those before it")
		}
		at++
	}
	return true
}

func (c *comparison) unmatched(p *Pattern, i int, actual string) bool {
	if !c.explain {
		return false
	}
	operator := "equals"
	if c.options.IgnoreOrder {
		operator = "ignoreOrder"
	}
	return c.differ(operator, "item "+strconv.Itoa(i)+": "+p.items[i].value.Preview(previewLength), actual)
}

// cutText bounds a text for a Difference.
func cutText(text string) string {
	if len(text) <= previewLength {
		return text
	}
	return strings.ToValidUTF8(text[:previewLength], "") + "…"
}
