package template

import (
	"cmp"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// comparisonFunctions are Go's, over the values of this language: numbers compare exactly (rule P12).
var comparisonFunctions = map[string]*function{
	"not": {least: 1, most: 1, lenient: true, call: func(_ *run, arguments []any) (any, error) { return !truth(arguments[0]), nil }},
	"eq":  {least: 2, most: -1, call: equalsAny},
	"ne": {least: 2, most: 2, call: func(r *run, arguments []any) (any, error) {
		same, err := equal(r, arguments[0], arguments[1])
		return !same, err
	}},
	"lt": ordering(func(c int) bool { return c < 0 }),
	"le": ordering(func(c int) bool { return c <= 0 }),
	"gt": ordering(func(c int) bool { return c > 0 }),
	"ge": ordering(func(c int) bool { return c >= 0 }),
}

// equalsAny tells whether the first argument equals any other.
func equalsAny(r *run, arguments []any) (any, error) {
	for _, other := range arguments[1:] {
		if same, err := equal(r, arguments[0], other); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

// equal compares two values. Numbers, texts and booleans are different things: comparing one with another is an error, as
// in Go. A value that is missing equals only what is missing.
func equal(r *run, a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if isScalar(a) != isScalar(b) {
		return false, nil
	}
	if !isScalar(a) {
		return equalStructures(r, a, b)
	}
	if x, ok := a.(number); ok {
		if y, ok := b.(number); ok {
			return jsonvalue.CompareNumbers(string(x), string(y)) == 0, nil
		}
	}
	if kindOf(a) != kindOf(b) {
		return false, failuref("it cannot compare %s with %s: convert one of them", kindOf(a), kindOf(b))
	}
	if x, ok := a.(instant); ok {
		y, _ := b.(instant)
		return x.time.Equal(y.time), nil
	}
	return a == b, nil
}

func isScalar(v any) bool {
	switch v.(type) {
	case bool, string, number, instant:
		return true
	default:
		return false
	}
}

// equalStructures compares lists item by item and objects member by member. Each counts, as a list may hold one list many
// times.
func equalStructures(r *run, a, b any) (bool, error) {
	if x, ok := a.(*jsonvalue.Value); ok {
		if y, ok := b.(*jsonvalue.Value); ok {
			return jsonvalue.Equal(x, y), nil
		}
	}
	if isList(a) != isList(b) || size(a) != size(b) {
		return false, nil
	}
	if isList(a) {
		return equalLists(r, a, b)
	}
	pairs, err := sequence(a)
	if err != nil {
		return false, err
	}
	for name, value := range pairs {
		other, ok := member(b, textOf(name))
		if same, err := equalPart(r, value, other); err != nil || !same || !ok {
			return false, err
		}
	}
	return true, nil
}

func equalLists(r *run, a, b any) (bool, error) {
	for i := range size(a) {
		x, _ := itemOf(a, i)
		y, _ := itemOf(b, i)
		if same, err := equalPart(r, x, y); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// equalPart compares parts of structures, where different kinds are simply different.
func equalPart(r *run, a, b any) (bool, error) {
	if err := r.operation(0); err != nil {
		return false, err
	}
	if isScalar(a) && isScalar(b) && kindOf(a) != kindOf(b) {
		return false, nil
	}
	return equal(r, a, b)
}

// ordering makes a comparison of two numbers, texts or times.
func ordering(holds func(c int) bool) *function {
	return &function{least: 2, most: 2, call: func(_ *run, arguments []any) (any, error) {
		c, err := compare(arguments[0], arguments[1])
		if err != nil {
			return nil, err
		}
		return holds(c), nil
	}}
}

func compare(a, b any) (int, error) {
	switch x := a.(type) {
	case number:
		if y, ok := b.(number); ok {
			return jsonvalue.CompareNumbers(string(x), string(y)), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y), nil
		}
	case instant:
		if y, ok := b.(instant); ok {
			return x.time.Compare(y.time), nil
		}
	}
	return 0, failuref("it compares two numbers, texts or times, not %s and %s", kindOf(a), kindOf(b))
}
