// Package template renders the texts of answers: Go's text/template language over a function set of its own that reaches
// neither files, environment nor network.
//
// # Language
//
// Sources are parsed by text/template/parse, so pipelines, variables, if, range, with, define, block, comments and trim
// markers are Go's own. The parse tree is compiled into a program of this package, because Go's executor counts no steps,
// knows no context, prints "<no value>" for what is missing, orders members by name and turns numbers into float64. Here a
// missing value of any depth is empty (rule P5), objects keep the order of the document and numbers keep their text
// (rules P8 and P12).
//
// # Bounds
//
// A source is measured before it is parsed, since Go's parser recurses as deep as the source says. A rendering ends after
// [MaxSteps] steps, [MaxTime] or [MaxOutput] bytes (rule P9). The budget belongs to the [Scope]: all texts of one answer
// share it.
//
// # Concurrency
//
// A [Template] is immutable and may be executed by many goroutines at once, each with a Scope of its own.
package template
