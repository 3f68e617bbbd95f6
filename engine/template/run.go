package template

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// run is one execution of a template.
type run struct {
	context context.Context //nolint:containedctx // a run lives no longer than the call that brings the context
	scope   *Scope
	cache   *cache
	// out is the output, which begins at start.
	out   []byte
	start int
	// dot and variables belong to the definition that runs; stack holds the arguments of calls under way.
	dot       any
	variables []any
	stack     []any
	// lenient counts the expressions under way that can do without a value, so that a missing one is nothing to tell of.
	lenient int
}

// largeStack is how many values a run may hold on to while it waits for its next use.
const largeStack = 64

// release lets go of everything that belongs to the caller.
func (r *run) release() {
	clear(r.stack[:cap(r.stack)])
	clear(r.variables[:cap(r.variables)])
	kept := run{stack: r.stack[:0], variables: r.variables[:0]}
	if cap(kept.stack) > largeStack || cap(kept.variables) > largeStack {
		kept = run{}
	}
	*r = kept
}

// render renders the parts of a template one after the other.
func (r *run) render(parts []part) error {
	for i := range parts {
		if err := r.part(&parts[i]); err != nil {
			failed, ok := errors.AsType[*ExecError](err)
			if !ok {
				failed = &ExecError{Line: max(parts[i].line, 1), Message: err.Error()}
			}
			failed.Pointer = parts[i].pointer
			return failed
		}
	}
	return nil
}

func (r *run) part(p *part) error {
	switch {
	case p.literal != nil:
		return r.write(p.literal)
	case p.whole != nil:
		return r.whole(p.whole)
	case p.quoted:
		return r.quoted(p.main)
	default:
		return r.main(p.main)
	}
}

// whole writes a value as JSON.
func (r *run) whole(e expression) error {
	if first, ok := e.(*firstValue); ok {
		if text, found := first.get(r); found {
			r.out = appendQuoted(r.out, text)
			return r.bounded()
		}
	}
	v, err := e.evaluate(r)
	if err != nil {
		return err
	}
	r.out = appendJSON(r.out, v)
	return r.bounded()
}

// quoted writes the output of a program as a JSON string. It is quoted in place, as few outputs need more than that.
func (r *run) quoted(main *program) error {
	r.out = append(r.out, '"')
	begin := len(r.out)
	if err := r.main(main); err != nil {
		return err
	}
	for _, c := range r.out[begin:] {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			text := string(r.out[begin:])
			r.out = jsonvalue.NewString(text).Append(r.out[:begin-1])
			return r.bounded()
		}
	}
	r.out = append(r.out, '"')
	return r.bounded()
}

// main runs the program of a whole text.
func (r *run) main(p *program) error {
	r.enter(p, nil)
	_, err := runAll(r, p.body)
	return err
}

// enter makes room for the variables of a program; the first of them is its argument.
func (r *run) enter(p *program, argument any) {
	if cap(r.variables) < p.slots {
		r.variables = make([]any, p.slots)
	}
	r.variables = r.variables[:p.slots]
	clear(r.variables)
	r.dot = argument
	if p.slots > 0 {
		r.variables[0] = argument
	}
}

func (r *run) write(text []byte) error {
	r.out = append(r.out, text...)
	return r.bounded()
}

// print writes a value as text.
func (r *run) print(v any) error {
	r.out = appendText(r.out, v)
	return r.bounded()
}

// bounded refuses an output that is too large (rule P9).
func (r *run) bounded() error {
	if len(r.out)-r.start > MaxOutput {
		return failuref("too much output: a rendering has at most %d bytes", MaxOutput)
	}
	return nil
}

// note tells of a missing value, unless something stands in for it.
func (r *run) note(expression string) {
	if r.lenient == 0 {
		r.scope.note(expression)
	}
}

// test evaluates a condition, which may well be missing.
func (r *run) test(e expression) (any, error) {
	r.lenient++
	v, err := e.evaluate(r)
	r.lenient--
	return v, err
}

func (r *run) step() error { return r.scope.budget.step(r.context) }

func (r *run) operation(size int) error { return r.scope.budget.operation(r.context, size) }

func (r *run) produce(size int) error { return r.scope.budget.produce(size) }

func (r *run) produceList(length int) error { return r.scope.budget.produceList(length) }
