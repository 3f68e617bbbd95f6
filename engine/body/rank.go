package body

import (
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// The library's filters compare numbers as binary fractions. Up to 15 digits that is exact. Where an expression or a
// document has longer numbers, all of them are replaced by their ranks: whole numbers that compare as the numbers do
// (rules G3 and G4).

// rankStep is the distance between the ranks of two literals; the ranks of a document's numbers lie between.
const rankStep = 1 << 32

// ranking is an expression whose literals are replaced by their ranks.
type ranking struct {
	query *spec.PathQuery
	// literals are the numbers in filters, in their order, each once.
	literals []jsonvalue.Decimal
	// needed tells that a literal is longer than what a binary fraction holds.
	needed bool
}

// span is a part of a text.
type span struct{ from, to int }

// rank makes the ranking of an expression; nil if it has none: functions that count give numbers that have no rank.
func rank(text string) *ranking {
	spans, counts := literals(text)
	if counts {
		return nil
	}
	r := &ranking{}
	numbers := make([]jsonvalue.Decimal, len(spans))
	for i, s := range spans {
		n, ok := jsonvalue.ParseDecimal(text[s.from:s.to])
		if !ok {
			return nil
		}
		numbers[i] = n
		r.needed = r.needed || !short(&n)
	}
	r.literals = distinct(slices.Clone(numbers))
	var b strings.Builder
	at := 0
	for i, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(strconv.FormatInt(int64(r.of(&numbers[i])), 10))
		at = s.to
	}
	b.WriteString(text[at:])
	parsed, err := jsonpath.Parse(b.String())
	if err != nil {
		return nil
	}
	r.query = parsed.Query()
	return r
}

// literals returns the numbers that filters compare with. It tells whether a function counts.
func literals(text string) (spans []span, counts bool) {
	s := surveyor{}
	var before byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'' || c == '"':
			i = closing(text, i)
		case s.inner() && s.compares(before) && numeric(c):
			spans = append(spans, numberAt(text, i))
			i = spans[len(spans)-1].to - 1
		default:
			counts = counts || c == '(' && countingCall(text[:i])
			s.note(c)
		}
		if strings.IndexByte(" \t\r\n", c) < 0 {
			before = c
		}
	}
	return spans, counts
}

// numberAt returns the number that begins at i.
func numberAt(text string, i int) span {
	found := span{i, i + 1}
	for found.to < len(text) && (numeric(text[found.to]) || strings.IndexByte(".eE+", text[found.to]) >= 0) {
		found.to++
	}
	return found
}

// numeric tells whether a character can begin a number.
func numeric(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

func countingCall(before string) bool {
	return strings.HasSuffix(before, "length") || strings.HasSuffix(before, "count")
}

// compares tells whether a number that follows a character is compared, and no index or part of a name.
func (s *surveyor) compares(before byte) bool {
	return strings.IndexByte("=<>?(&|", before) >= 0 || before == ',' && s.within('(')
}

// short tells whether a binary fraction holds a number well enough to compare it with others like it.
func short(n *jsonvalue.Decimal) bool {
	const digits, magnitude = 15, 300
	return n.Digits() <= digits && -magnitude < n.Magnitude() && n.Magnitude() < magnitude
}

func distinct(numbers []jsonvalue.Decimal) []jsonvalue.Decimal {
	order := func(a, b jsonvalue.Decimal) int { return a.Compare(&b) }
	slices.SortFunc(numbers, order)
	return slices.CompactFunc(numbers, func(a, b jsonvalue.Decimal) bool { return a.Compare(&b) == 0 })
}

// of returns the rank of a literal, or else the rank of the gap between literals in which a number lies.
func (r *ranking) of(n *jsonvalue.Decimal) float64 {
	i, found := search(r.literals, n)
	if found {
		return float64(i+1) * rankStep
	}
	return float64(i)*rankStep + 1
}

func search(numbers []jsonvalue.Decimal, n *jsonvalue.Decimal) (int, bool) {
	return slices.BinarySearchFunc(numbers, n, func(a jsonvalue.Decimal, b *jsonvalue.Decimal) int { return a.Compare(b) })
}

// ranked makes the form of a document that the ranking's filters take.
func (r *ranking) ranked(v *jsonvalue.Value) any {
	numbers := distinct(numbersIn(nil, v))
	return plain(v, func(text string) float64 {
		n, _ := jsonvalue.ParseDecimal(text)
		if _, literal := search(r.literals, &n); literal {
			return r.of(&n)
		}
		// Among the numbers in one gap, the place in the order of all of them decides.
		i, _ := search(numbers, &n)
		return r.of(&n) + float64(i)
	})
}

func numbersIn(to []jsonvalue.Decimal, v *jsonvalue.Value) []jsonvalue.Decimal {
	if v.Kind() == jsonvalue.Number {
		n, _ := jsonvalue.ParseDecimal(v.Text())
		return append(to, n)
	}
	for _, item := range v.Items() {
		to = numbersIn(to, item)
	}
	for _, member := range v.Members() {
		to = numbersIn(to, member)
	}
	return to
}

// long tells whether a document has a number that a binary fraction does not hold.
func long(v *jsonvalue.Value) bool {
	if v.Kind() == jsonvalue.Number {
		n, _ := jsonvalue.ParseDecimal(v.Text())
		return !short(&n)
	}
	for _, item := range v.Items() {
		if long(item) {
			return true
		}
	}
	for _, member := range v.Members() {
		if long(member) {
			return true
		}
	}
	return false
}

// nearest is the binary fraction nearest to a number; out of range it is infinite.
func nearest(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64)
	return f
}
