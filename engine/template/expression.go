package template

import "github.com/mockbase/mockbase/engine/jsonvalue"

// expression is what has a value.
type expression interface {
	evaluate(r *run) (any, error)
}

type (
	// constant is a literal.
	constant struct{ value any }
	// dot is the value that range, with and template set.
	dot struct{}
	// variable is read from its slot.
	variable struct{ slot int }
	// declared stores its value in slots as well.
	declared struct {
		value expression
		slot  int
	}
	// chain looks names up one after the other; text is how it is written.
	chain struct {
		base  expression
		names []string
		text  string
	}
	// junction is "and", which ends at the first value that is false, or "or", which ends at the first that is true.
	junction struct {
		arguments []expression
		endsAt    bool
		piped     expression
	}
	// call calls a function. The value of a pipeline comes last among the arguments but is found first.
	call struct {
		function  *function
		name      string
		arguments []expression
		piped     expression
		line      int
	}
)

func (e *constant) evaluate(*run) (any, error) { return e.value, nil }

func (dot) evaluate(r *run) (any, error) { return r.dot, nil }

func (e *variable) evaluate(r *run) (any, error) { return r.variables[e.slot], nil }

func (e *declared) evaluate(r *run) (any, error) {
	v, err := e.value.evaluate(r)
	r.variables[e.slot] = v
	return v, err
}

func (e *chain) evaluate(r *run) (any, error) {
	v, err := e.base.evaluate(r)
	if err != nil {
		return nil, err
	}
	if document, ok := v.(*jsonvalue.Value); ok {
		return e.descend(r, document)
	}
	for _, name := range e.names {
		var ok bool
		if v, ok = member(v, name); !ok {
			r.note(e.text)
			return nil, nil
		}
	}
	return v, nil
}

// descend is the way through a document, without a value for each step.
func (e *chain) descend(r *run, v *jsonvalue.Value) (any, error) {
	for _, name := range e.names {
		if err := r.operation(v.Len()); err != nil {
			return nil, err
		}
		var ok bool
		if v, ok = v.Member(name); !ok {
			r.note(e.text)
			return nil, nil
		}
	}
	return fromJSON(v), nil
}

func (e *junction) evaluate(r *run) (any, error) {
	var last any
	if e.piped != nil {
		v, err := r.test(e.piped)
		if err != nil {
			return nil, err
		}
		last = v
	}
	var v any
	for _, argument := range e.arguments {
		var err error
		if v, err = r.test(argument); err != nil {
			return nil, err
		}
		if truth(v) == e.endsAt {
			return v, nil
		}
	}
	if e.piped != nil {
		return last, nil
	}
	return v, nil
}

func (e *call) evaluate(r *run) (any, error) {
	base := len(r.stack)
	if e.function.lenient {
		r.lenient++
	}
	err := e.push(r, base)
	if e.function.lenient {
		r.lenient--
	}
	if err != nil {
		return nil, err
	}
	arguments := r.stack[base:]
	if err := r.operation(reading(arguments)); err != nil {
		return nil, located(err, e.name, e.line)
	}
	v, err := e.function.call(r, arguments)
	if err == nil {
		err = r.weigh(v)
	}
	clear(r.stack[base:])
	r.stack = r.stack[:base]
	if err != nil {
		return nil, located(err, e.name, e.line)
	}
	return v, nil
}

// reading reckons how many bytes a function reads: those of texts, and of structures, whose size nobody knows, so many that
// the clock is looked at soon.
func reading(arguments []any) int {
	read := 0
	for _, argument := range arguments {
		switch v := argument.(type) {
		case nil, bool, number, instant:
		case string:
			read += len(v)
		default:
			read += glanceWork / 4
		}
	}
	return read
}

// push puts the arguments on the stack, which nested calls use above them.
func (e *call) push(r *run, base int) error {
	var last any
	if e.piped != nil {
		v, err := e.piped.evaluate(r)
		if err != nil {
			return err
		}
		last = v
	}
	for i, argument := range e.arguments {
		v, err := argument.evaluate(r)
		if err != nil {
			r.stack = r.stack[:base]
			return err
		}
		r.stack = append(r.stack[:base+i], v)
	}
	if e.piped != nil {
		r.stack = append(r.stack, last)
	}
	return nil
}

// weigh counts what a function made.
func (r *run) weigh(v any) error {
	switch v := v.(type) {
	case string:
		return r.produce(len(v))
	case number:
		return r.produce(len(v))
	case list:
		return r.produceList(len(v))
	default:
		return nil
	}
}

// firstValue is the first value of a name among the texts of the request, the most frequent of all expressions: it needs
// neither a call nor a value in between.
type firstValue struct {
	in   place
	name string
	text string
}

// place is where a request holds named texts.
type place uint8

const (
	inPath place = iota
	inQuery
	inForm
	inCookie
	inHeader
	inTrailer
	inMatrix
)

func (e *firstValue) evaluate(r *run) (any, error) {
	if text, ok := e.get(r); ok {
		return text, nil
	}
	return nil, nil
}

// get gives the text, and notes a missing one.
func (e *firstValue) get(r *run) (string, bool) {
	text, ok := r.first(e.in, e.name)
	if !ok {
		r.note(e.text)
	}
	return text, ok
}
