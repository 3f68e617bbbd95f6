package template

import (
	"maps"
	"slices"
)

// FunctionNames lists the functions that can be called, "and" and "or" included.
func FunctionNames() []string { return append(functionNames(), "and", "or") }

// FakerKinds lists the kinds of data of faker, in order.
func FakerKinds() []string { return slices.Sorted(maps.Keys(fakers)) }
