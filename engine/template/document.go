package template

import "github.com/mockbase/mockbase/engine/jsonvalue"

// document is the request's body in the form that JSONPath reads, made once for a rendering.
type document struct {
	value *jsonvalue.Value
	// root is the value as the library takes it; nodes and depth measure it.
	root         any
	nodes, depth int
}
