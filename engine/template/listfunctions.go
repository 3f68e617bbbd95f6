package template

import "unicode/utf8"

// listFunctions choose values and make lists and objects.
var listFunctions = map[string]*function{
	"default": {least: 2, most: 2, call: defaultTo, lenient: true},
	"ternary": {least: 3, most: 3, call: ternary, lenient: true},
	"first":   {least: 1, most: 1, call: first},
	"last":    {least: 1, most: 1, call: last},
	"length":  {least: 1, most: 1, call: length},
	"list":    {most: -1, call: makeList},
	"dict":    {most: -1, call: dict},
	"until":   {least: 1, most: 1, call: until},
	"index":   {least: 1, most: -1, call: indexed},
	"len":     {least: 1, most: 1, call: measured},
	"slice":   {least: 1, most: 3, call: sliced},
}

// maxUntil is the longest list that until makes.
const maxUntil = 10_000

// defaultTo replaces missing, null and empty text, and nothing else (rule P5).
func defaultTo(_ *run, arguments []any) (any, error) {
	if arguments[1] == nil || arguments[1] == "" {
		return arguments[0], nil
	}
	return arguments[1], nil
}

func ternary(_ *run, arguments []any) (any, error) {
	if truth(arguments[2]) {
		return arguments[0], nil
	}
	return arguments[1], nil
}

func first(_ *run, arguments []any) (any, error) { return itemAt(arguments[0], 0) }

func last(_ *run, arguments []any) (any, error) { return itemAt(arguments[0], size(arguments[0])-1) }

// itemAt gives an item of a list; nothing where there is none.
func itemAt(v any, i int) (any, error) {
	if v != nil && !isList(v) {
		return nil, failuref("it needs a list, not %s", kindOf(v))
	}
	item, _ := itemOf(v, i)
	return item, nil
}

// length counts items, members, or the characters of a text.
func length(_ *run, arguments []any) (any, error) {
	switch v := arguments[0].(type) {
	case string:
		return integer(int64(utf8.RuneCountInString(v))), nil
	case number, bool, instant:
		return nil, failuref("%s has no length", kindOf(v))
	default:
		return integer(int64(size(v))), nil
	}
}

// measured is Go's len: as length, but of a text the bytes.
func measured(r *run, arguments []any) (any, error) {
	if text, ok := arguments[0].(string); ok {
		return integer(int64(len(text))), nil
	}
	return length(r, arguments)
}

func makeList(_ *run, arguments []any) (any, error) {
	return append(make(list, 0, len(arguments)), arguments...), nil
}

// dict makes an object of names and values in turn.
func dict(r *run, arguments []any) (any, error) {
	if len(arguments)%2 != 0 {
		return nil, failure("it needs a value for each name")
	}
	if err := r.produceList(len(arguments)); err != nil {
		return nil, err
	}
	made := &record{values: make(map[string]any, len(arguments)/2)}
	for i := 0; i < len(arguments); i += 2 {
		name, ok := arguments[i].(string)
		if !ok {
			return nil, failuref("a name is a text, not %s", kindOf(arguments[i]))
		}
		made.set(name, arguments[i+1])
	}
	return made, nil
}

func until(r *run, arguments []any) (any, error) {
	n, err := toInt(arguments[0])
	if err != nil {
		return nil, err
	}
	if n > maxUntil {
		return nil, failuref("it counts to %d at most, not %d", maxUntil, n)
	}
	if err := r.produceList(int(max(n, 0))); err != nil {
		return nil, err
	}
	counted := make(list, max(n, 0))
	for i := range counted {
		counted[i] = integer(int64(i))
	}
	return counted, nil
}

// indexed looks up one name or position after the other. What is not there is missing (rule P5).
func indexed(r *run, arguments []any) (any, error) {
	v := arguments[0]
	for _, at := range arguments[1:] {
		var ok bool
		if v, ok = index(v, at); !ok {
			r.note("index " + string(appendJSON(nil, at)))
			return nil, nil
		}
	}
	return v, nil
}

// sliced is Go's slice: a part of a text, in bytes, or of a list.
func sliced(_ *run, arguments []any) (any, error) {
	v := arguments[0]
	items, err := listOf(v)
	text, isText := v.(string)
	if err != nil && !isText {
		return nil, failuref("it needs a list or a text, not %s", kindOf(v))
	}
	bounds := [2]int{0, size(v)}
	for i, argument := range arguments[1:] {
		at, err := toInt(argument)
		if err != nil {
			return nil, err
		}
		if at < 0 || at > int64(size(v)) {
			return nil, failuref("index %d is out of range: the length is %d", at, size(v))
		}
		bounds[i] = int(at)
	}
	switch {
	case bounds[0] > bounds[1]:
		return nil, failuref("the first index %d is behind the second, %d", bounds[0], bounds[1])
	case isText:
		return text[bounds[0]:bounds[1]], nil
	default:
		return items[bounds[0]:bounds[1]], nil
	}
}
