// Package regex compiles regular expressions that come from outside and bounds what they cost. RE2 takes time with the
// product of text and pattern (rule K2), so that product is what is bounded.
package regex

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// MaxLength bounds the text of a pattern in bytes.
	MaxLength = 1000
	// MaxWork bounds the bytes of one text times the instructions of a pattern.
	MaxWork = 20_000_000
	// maxInstructions bounds the program of a pattern: a{1000} is short to write.
	maxInstructions = 5000
)

// ErrTooLong tells that a text is too long for a pattern.
var ErrTooLong = errors.New("the text is too long for this pattern")

// Pattern is a compiled regular expression that knows the length of its program. It is immutable and safe for concurrent
// use.
type Pattern struct {
	expression   *regexp.Regexp
	instructions int
}

// Compile compiles a pattern. The error tells what is wrong with it, or that it is too large.
func Compile(text string) (*Pattern, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", MaxLength)
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern does not compile: %w", err)
	}
	p := Measure(expression)
	if p.instructions > maxInstructions {
		return nil, fmt.Errorf("the pattern is too large: it has %d instructions, at most %d are allowed", p.instructions, maxInstructions)
	}
	return p, nil
}

// Measure takes an expression that is compiled already, however large it is.
func Measure(expression *regexp.Regexp) *Pattern {
	p := &Pattern{expression: expression}
	tree, err := syntax.Parse(expression.String(), syntax.Perl)
	if err == nil {
		if machine, compileErr := syntax.Compile(tree.Simplify()); compileErr == nil {
			p.instructions = len(machine.Inst)
		}
	}
	return p
}

// Instructions is the length of the pattern's program.
func (p *Pattern) Instructions() int { return p.instructions }

// Work is what matching a text of a length costs at most.
func (p *Pattern) Work(length int) int { return length * p.instructions }

// Match tells whether a part of a text matches. The error is [ErrTooLong].
func (p *Pattern) Match(text string) (bool, error) {
	if p.Work(len(text)) > MaxWork {
		return false, ErrTooLong
	}
	return p.expression.MatchString(text), nil
}

// Find returns where the first match begins and ends, nil where there is none. The error is [ErrTooLong].
func (p *Pattern) Find(text string) ([]int, error) {
	if p.Work(len(text)) > MaxWork {
		return nil, ErrTooLong
	}
	return p.expression.FindStringIndex(text), nil
}
