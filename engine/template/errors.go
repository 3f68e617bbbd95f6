package template

import (
	"errors"
	"fmt"
)

// SyntaxError says why a source is no template (rule P6).
type SyntaxError struct {
	// Pointer is the JSON Pointer of the text inside the document of [CompileJSON], empty for [Compile].
	Pointer string
	// Line and Column count from 1, the column in characters.
	Line, Column int
	Message      string
}

// Error returns the message with its place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// ExecError says why a rendering ended without a result (rule P7).
type ExecError struct {
	// Pointer is the JSON Pointer of the text inside the document of [CompileJSON], empty for [Compile].
	Pointer string
	// Function is the function or the keyword that failed; empty for what no single one caused.
	Function string
	// Line counts from 1 within the text.
	Line    int
	Message string
}

// Error returns the message with its place.
func (e *ExecError) Error() string {
	if e.Function == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Function, e.Message)
}

// failure is what a function returns that cannot do its work; the caller adds function and line.
type failure string

// Error returns the message.
func (f failure) Error() string { return string(f) }

func failuref(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// located gives an error a function and a line, unless it has some already: the innermost place tells most.
func located(err error, function string, line int) error {
	if _, ok := errors.AsType[*ExecError](err); ok {
		return err
	}
	return &ExecError{Function: function, Line: line, Message: err.Error()}
}
