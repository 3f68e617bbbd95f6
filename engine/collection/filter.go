package collection

import (
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/regex"
)

// maxMatching bounds the bytes of all texts that a list compares with an expression times its instructions.
const maxMatching = 10 * regex.MaxWork

// filter is one condition on a field of an item.
type filter struct {
	path     []string
	operands []operand
	// test compares a field's value with an operand. negated turns the filter around: it holds when no operand does, for a
	// missing field too. every demands all operands, where otherwise one will do.
	test           func(value *jsonvalue.Value, o *operand) bool
	negated, every bool
}

// operand is a value of a filter.
type operand struct {
	text    string
	number  bool
	pattern *regex.Pattern
	// work is what all patterns of the list have cost.
	work *int
}

// suffixes are the operators of filters (rules V8 and V9).
func suffixes() map[string]filter {
	return map[string]filter{
		"_ne":    {test: equal, negated: true},
		"_gt":    {test: ordered(func(c int) bool { return c > 0 }), every: true},
		"_gte":   {test: ordered(func(c int) bool { return c >= 0 }), every: true},
		"_lt":    {test: ordered(func(c int) bool { return c < 0 }), every: true},
		"_lte":   {test: ordered(func(c int) bool { return c <= 0 }), every: true},
		"_in":    {test: equal},
		"_like":  {test: contains},
		"_match": {test: matches},
	}
}

// newFilter makes the filter that a parameter's name asks for, with its values. Patterns count what they cost in work.
func newFilter(name string, values []string, work *int) (*filter, error) {
	f := filter{test: equal}
	field := name
	for suffix, kind := range suffixes() {
		if rest, ok := strings.CutSuffix(name, suffix); ok && rest != "" {
			f, field = kind, rest
			if suffix == "_in" {
				values = strings.Split(strings.Join(values, ","), ",")
			}
			if suffix == "_match" {
				return matchFilter(field, values, work)
			}
			break
		}
	}
	f.path = strings.Split(field, ".")
	for _, text := range values {
		_, isNumber := jsonvalue.ParseDecimal(text)
		f.operands = append(f.operands, operand{text: text, number: isNumber})
	}
	return &f, nil
}

func matchFilter(field string, values []string, work *int) (*filter, error) {
	f := &filter{path: strings.Split(field, "."), test: matches}
	for _, text := range values {
		pattern, err := regex.Compile(text)
		if err != nil {
			return nil, badParameter(field+"_match", text, err.Error())
		}
		f.operands = append(f.operands, operand{text: text, pattern: pattern, work: work})
	}
	return f, nil
}

func badParameter(name, value, fix string) error {
	return problem(mockbase.CodeInvalidParameter, "the parameter %s cannot be %q: %s", name, shown(value), fix)
}

// holds tells whether an item passes.
func (f *filter) holds(it *jsonvalue.Value) bool {
	value := fieldOf(it, f.path)
	if value == nil {
		return f.negated
	}
	for i := range f.operands {
		if f.test(value, &f.operands[i]) != f.every {
			return !f.negated && !f.every
		}
	}
	return f.negated || f.every
}

// fieldOf follows a dotted name into an item, through list indexes too; nil is a missing field.
func fieldOf(value *jsonvalue.Value, path []string) *jsonvalue.Value {
	for _, name := range path {
		if value.Kind() == jsonvalue.Array {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= value.Len() {
				return nil
			}
			value = value.Item(i)
			continue
		}
		next, ok := value.Member(name)
		if !ok {
			return nil
		}
		value = next
	}
	return value
}

// textOf is how a scalar is written in a query; false for lists and objects.
func textOf(value *jsonvalue.Value) (string, bool) {
	switch value.Kind() {
	case jsonvalue.String, jsonvalue.Number:
		return value.Text(), true
	case jsonvalue.Bool, jsonvalue.Null:
		return value.String(), true
	default:
		return "", false
	}
}

// equal compares numbers as numbers and everything else as text (rule V8).
func equal(value *jsonvalue.Value, o *operand) bool {
	if value.Kind() == jsonvalue.Number {
		return o.number && jsonvalue.CompareNumbers(value.Text(), o.text) == 0
	}
	text, ok := textOf(value)
	return ok && text == o.text
}

// ordered compares numbers with numbers and texts with texts; between kinds nothing holds.
func ordered(holds func(c int) bool) func(value *jsonvalue.Value, o *operand) bool {
	return func(value *jsonvalue.Value, o *operand) bool {
		switch value.Kind() {
		case jsonvalue.Number:
			return o.number && holds(jsonvalue.CompareNumbers(value.Text(), o.text))
		case jsonvalue.String:
			return holds(strings.Compare(value.Text(), o.text))
		default:
			return false
		}
	}
}

func contains(value *jsonvalue.Value, o *operand) bool {
	text, ok := textOf(value)
	return ok && strings.Contains(text, o.text)
}

func matches(value *jsonvalue.Value, o *operand) bool {
	text, ok := textOf(value)
	if !ok || *o.work > maxMatching {
		return false
	}
	holds, err := o.pattern.Match(text)
	if *o.work += o.pattern.Work(len(text)); err != nil {
		*o.work = maxMatching + 1
	}
	return holds
}

// errTooMuch says that the values are too long for the expressions of a list.
func (f *filter) errTooMuch() error {
	return badParameter(strings.Join(f.path, ".")+"_match", f.operands[0].text, "the values are too long for so large an expression")
}

// mentions tells whether any scalar of an item holds a text, in any case (rule V9). The text is in lower case.
func mentions(value *jsonvalue.Value, text string) bool {
	switch value.Kind() {
	case jsonvalue.Object:
		for _, member := range value.Members() {
			if mentions(member, text) {
				return true
			}
		}
		return false
	case jsonvalue.Array:
		for _, item := range value.Items() {
			if mentions(item, text) {
				return true
			}
		}
		return false
	default:
		own, _ := textOf(value)
		return strings.Contains(strings.ToLower(own), text)
	}
}
