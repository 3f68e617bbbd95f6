package template

import (
	"iter"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// program is a compiled text or definition.
type program struct {
	name string
	body []statement
	// slots is how many variables are alive at once, with the argument $ as the first; literals is the length of the literal
	// texts of the body.
	slots    int
	literals int
	// calls are the definitions that it renders.
	calls []*program
}

// single gives the expression of a program that prints one value and nothing else.
func (p *program) single() (*show, bool) {
	if len(p.body) != 1 {
		return nil, false
	}
	shown, ok := p.body[0].(*show)
	return shown, ok
}

// flow says how a loop goes on behind a statement.
type flow uint8

const (
	onward flow = iota
	breaking
	continuing
)

// statement is a node of a program.
type statement interface {
	run(r *run) (flow, error)
}

type (
	// literal is text between actions.
	literal struct{ text []byte }
	// show prints a value.
	show struct {
		value expression
		line  int
	}
	// assign gives a variable its value; so does a declaration.
	assign struct{ value expression }
	// jump is break or continue.
	jump struct{ to flow }
	// branch is if.
	branch struct {
		condition       expression
		then, otherwise []statement
	}
	// scoped is with.
	scoped struct {
		value           expression
		then, otherwise []statement
	}
	// loop is range; a slot of -1 is for nobody.
	loop struct {
		over            expression
		key, item       int
		body, otherwise []statement
		line            int
	}
	// invoke renders a definition.
	invoke struct {
		target   *program
		argument expression
		line     int
	}
)

func runAll(r *run, statements []statement) (flow, error) {
	for _, s := range statements {
		if f, err := s.run(r); err != nil || f != onward {
			return f, err
		}
	}
	return onward, nil
}

func (s *literal) run(r *run) (flow, error) { return onward, r.write(s.text) }

func (s *show) run(r *run) (flow, error) {
	if first, ok := s.value.(*firstValue); ok {
		text, _ := first.get(r)
		r.out = append(r.out, text...)
		return onward, r.bounded()
	}
	v, err := s.value.evaluate(r)
	if err != nil {
		return onward, located(err, "", s.line)
	}
	if err := r.print(v); err != nil {
		return onward, located(err, "", s.line)
	}
	return onward, r.operation(0)
}

func (s *assign) run(r *run) (flow, error) {
	_, err := s.value.evaluate(r)
	return onward, err
}

func (s *jump) run(*run) (flow, error) { return s.to, nil }

func (s *branch) run(r *run) (flow, error) {
	v, err := r.test(s.condition)
	if err != nil {
		return onward, err
	}
	if truth(v) {
		return runAll(r, s.then)
	}
	return runAll(r, s.otherwise)
}

func (s *scoped) run(r *run) (flow, error) {
	v, err := r.test(s.value)
	if err != nil {
		return onward, err
	}
	if !truth(v) {
		return runAll(r, s.otherwise)
	}
	outer := r.dot
	r.dot = v
	f, err := runAll(r, s.then)
	r.dot = outer
	return f, err
}

func (s *loop) run(r *run) (flow, error) {
	v, err := s.over.evaluate(r)
	if err != nil {
		return onward, err
	}
	items, err := sequence(v)
	if err != nil {
		return onward, located(err, "range", s.line)
	}
	outer, ran := r.dot, false
	for key, item := range items {
		ran = true
		f, err := s.iterate(r, key, item)
		if err != nil {
			return onward, err
		}
		if f == breaking {
			break
		}
	}
	r.dot = outer
	if !ran {
		return runAll(r, s.otherwise)
	}
	return onward, nil
}

// iterate runs the body once.
func (s *loop) iterate(r *run, key, item any) (flow, error) {
	if err := r.step(); err != nil {
		return onward, located(err, "range", s.line)
	}
	if s.key >= 0 {
		r.variables[s.key] = key
	}
	if s.item >= 0 {
		r.variables[s.item] = item
	}
	r.dot = item
	return runAll(r, s.body)
}

// sequence gives what range goes over: the items of a list by index, the members of an object in their order, the numbers
// below a number, nothing for what is missing.
func sequence(v any) (iter.Seq2[any, any], error) {
	switch v := v.(type) {
	case nil:
		return func(func(any, any) bool) {}, nil
	case list:
		return v.each, nil
	case *jsonvalue.Value:
		if v.Kind() == jsonvalue.Array {
			return itemsOf(v), nil
		}
		return membersOf(v), nil
	case view:
		return viewed(v), nil
	case number:
		if n, err := toInt(v); err == nil {
			return numbersBelow(n), nil
		}
	}
	return nil, failuref("it cannot go over %s", kindOf(v))
}

func (l list) each(yield func(any, any) bool) {
	for i, item := range l {
		if !yield(integer(int64(i)), item) {
			return
		}
	}
}

func itemsOf(v *jsonvalue.Value) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for i := range v.Len() {
			if !yield(integer(int64(i)), fromJSON(v.Item(i))) {
				return
			}
		}
	}
}

func membersOf(v *jsonvalue.Value) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for name, member := range v.Members() {
			if !yield(name, fromJSON(member)) {
				return
			}
		}
	}
}

func viewed(v view) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for _, name := range v.names() {
			item, _ := v.member(name)
			if !yield(name, item) {
				return
			}
		}
	}
}

func numbersBelow(n int64) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for i := range n {
			if !yield(integer(i), integer(i)) {
				return
			}
		}
	}
}

// run renders the definition with variables of its own; those of the caller come back behind it.
func (s *invoke) run(r *run) (flow, error) {
	if err := r.step(); err != nil {
		return onward, located(err, "template", s.line)
	}
	var argument any
	if s.argument != nil {
		v, err := s.argument.evaluate(r)
		if err != nil {
			return onward, err
		}
		argument = v
	}
	dot, variables := r.dot, r.variables
	r.variables = nil
	r.enter(s.target, argument)
	_, err := runAll(r, s.target.body)
	r.dot, r.variables = dot, variables
	return onward, err
}
