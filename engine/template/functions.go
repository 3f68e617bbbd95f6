package template

import (
	"maps"
	"slices"
	"strconv"
)

// function is one function of the language.
type function struct {
	// least and most say how many arguments it takes, a piped one included; most is -1 for any number.
	least, most int
	uses        Uses
	// call computes the value. It keeps neither the list of arguments nor changes it.
	call func(r *run, arguments []any) (any, error)
	// verify checks a literal first argument when the template is compiled.
	verify func(c *cache, text string) error
	// lenient says that it has a value for what is missing.
	lenient bool
	// holds says that the value is the view on a place of the request, in.
	holds bool
	in    place
}

func (f *function) takes() string {
	switch {
	case f.most < 0:
		return "at least " + counted(f.least)
	case f.least == f.most:
		return counted(f.least)
	default:
		return strconv.Itoa(f.least) + " to " + counted(f.most)
	}
}

func counted(n int) string {
	switch n {
	case 0:
		return "no argument"
	case 1:
		return "1 argument"
	default:
		return strconv.Itoa(n) + " arguments"
	}
}

// functions holds the functions of the language by name; "and" and "or" are not among them, as they leave arguments out.
var functions = together(
	requestFunctions, documentFunctions, timeFunctions, randomFunctions, conversionFunctions, encodingFunctions,
	textFunctions, numberFunctions, listFunctions, comparisonFunctions, printFunctions,
)

func together(groups ...map[string]*function) map[string]*function {
	all := make(map[string]*function)
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}

// functionNames lists all names that can be called.
func functionNames() []string {
	return slices.Sorted(maps.Keys(functions))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// value0 makes a function of no argument that cannot fail.
func value0(uses Uses, get func(r *run) any) *function {
	return &function{uses: uses, call: func(r *run, _ []any) (any, error) { return get(r), nil }}
}

// ofText makes a function of one text. What is missing stays missing.
func ofText(convert func(text string) (string, error)) *function {
	return &function{least: 1, most: 1, call: func(r *run, arguments []any) (any, error) {
		if arguments[0] == nil {
			return nil, nil
		}
		text := textOf(arguments[0])
		if err := r.produce(len(text)); err != nil {
			return nil, err
		}
		return textOrError(convert(text))
	}}
}

// textOrError keeps an empty text out of the value of a failed function.
func textOrError(text string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return text, nil
}

// surely makes a conversion of one that cannot fail.
func surely(convert func(string) string) func(string) (string, error) {
	return func(text string) (string, error) { return convert(text), nil }
}
