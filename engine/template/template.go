package template

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Template is a compiled text or JSON document. It is immutable and may be executed by many goroutines at once.
type Template struct {
	parts    []part
	constant []byte
	uses     Uses
	hint     int
	cache    *cache
	pool     sync.Pool
}

// part is a piece of the output: literal bytes, or one text, or one JSON value.
type part struct {
	literal []byte
	// main is the program of a text; in a document its output is quoted.
	main   *program
	quoted bool
	// whole is the expression whose value stands for the text, type and all (rule P2).
	whole   expression
	line    int
	pointer string
}

// Uses says what a template reads of its [Scope], so that the engine can leave out what nobody asks for.
type Uses uint32

// The things a template can read. [UsesBody] stands for the request's body in any form.
const (
	UsesBody Uses = 1 << iota
	UsesVariables
	UsesState
	UsesCall
	UsesSession
	UsesSeed
	UsesTime
	UsesRandom
	UsesLimit
	UsesResponse
	UsesAttempt
)

// Has tells whether any of some things is used.
func (u Uses) Has(things Uses) bool { return u&things != 0 }

// Compile compiles a text. The error is a [*SyntaxError] (rules P6 and P9). A text without actions is a constant.
func Compile(text string) (*Template, error) {
	t := &Template{cache: newCache()}
	if !strings.Contains(text, leftDelimiter) {
		t.constant = []byte(text)
		return t, nil
	}
	main, err := t.compile(text)
	if err != nil {
		return nil, err
	}
	t.parts = []part{{main: main}}
	t.hint = main.literals
	t.finish()
	return t, nil
}

// CompileJSON compiles the texts of a JSON document, each on its own; names of members stay as they are. A text that is one
// single action keeps the JSON type of its result (rule P2). The error is a [*SyntaxError] with the pointer of the text, or
// says why the document is no JSON.
func CompileJSON(doc json.RawMessage) (*Template, error) {
	root, err := jsonvalue.Parse(doc, jsonvalue.Limits{})
	if err != nil {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: err.Error()}
	}
	c := documentCompiler{template: &Template{cache: newCache()}}
	if err := c.value(root, ""); err != nil {
		return nil, err
	}
	c.flush()
	c.template.finish()
	return c.template, nil
}

// documentCompiler gathers the parts of a document.
type documentCompiler struct {
	template *Template
	literal  []byte
}

func (c *documentCompiler) value(v *jsonvalue.Value, pointer string) error {
	switch v.Kind() {
	case jsonvalue.String:
		return c.text(v, pointer)
	case jsonvalue.Array:
		c.literal = append(c.literal, '[')
		for i := range v.Len() {
			if i > 0 {
				c.literal = append(c.literal, ',')
			}
			if err := c.value(v.Item(i), pointer+"/"+textOf(integer(int64(i)))); err != nil {
				return err
			}
		}
		c.literal = append(c.literal, ']')
	case jsonvalue.Object:
		return c.object(v, pointer)
	default:
		c.literal = v.Append(c.literal)
	}
	return nil
}

func (c *documentCompiler) object(v *jsonvalue.Value, pointer string) error {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	separator := byte('{')
	for name, member := range v.Members() {
		c.literal = append(appendQuoted(append(c.literal, separator), name), ':')
		separator = ','
		if err := c.value(member, pointer+"/"+escape.Replace(name)); err != nil {
			return err
		}
	}
	if separator == '{' {
		c.literal = append(c.literal, separator)
	}
	c.literal = append(c.literal, '}')
	return nil
}

// text compiles one text of a document.
func (c *documentCompiler) text(v *jsonvalue.Value, pointer string) error {
	if !strings.Contains(v.Text(), leftDelimiter) {
		c.literal = v.Append(c.literal)
		return nil
	}
	main, err := c.template.compile(v.Text())
	if err != nil {
		if fault, ok := errors.AsType[*SyntaxError](err); ok {
			fault.Pointer = pointer
		}
		return err
	}
	c.flush()
	p := part{main: main, quoted: true, pointer: pointer}
	if shown, ok := main.single(); ok {
		p = part{whole: shown.value, line: shown.line, pointer: pointer}
	}
	c.template.parts = append(c.template.parts, p)
	c.template.hint += main.literals
	return nil
}

// flush makes a part of the literal bytes so far.
func (c *documentCompiler) flush() {
	if len(c.literal) > 0 {
		c.template.parts = append(c.template.parts, part{literal: c.literal})
		c.template.hint += len(c.literal)
		c.literal = nil
	}
}

// compile compiles one text for the template and notes what it uses.
func (t *Template) compile(text string) (*program, error) {
	main, uses, err := compileText(text, t.cache)
	t.uses |= uses
	return main, err
}

// finish prepares the template for execution.
func (t *Template) finish() {
	if len(t.parts) == 1 && t.parts[0].literal != nil {
		t.constant, t.parts = t.parts[0].literal, nil
	}
	t.pool.New = func() any { return new(run) }
}

// Constant returns the output of a template that has no actions. The caller does not change it.
func (t *Template) Constant() ([]byte, bool) { return t.constant, t.parts == nil }

// Uses returns what the template reads of its scope.
func (t *Template) Uses() Uses { return t.uses }

// room is what the values of a template are expected to need besides its literals.
const room = 64

// Execute renders the template. The error is a [*ExecError]; there is no output then (rule P7).
func (t *Template) Execute(ctx context.Context, s *Scope) ([]byte, error) {
	return t.Append(ctx, make([]byte, 0, len(t.constant)+t.hint+room), s)
}

// Append renders the template behind dst, as [Template.Execute] does. With an error it returns dst as it was.
func (t *Template) Append(ctx context.Context, dst []byte, s *Scope) ([]byte, error) {
	if t.parts == nil {
		return append(dst, t.constant...), nil
	}
	r, ok := t.pool.Get().(*run)
	if !ok {
		r = new(run)
	}
	r.context, r.scope, r.cache, r.out, r.start = ctx, s, t.cache, dst, len(dst)
	err := r.render(t.parts)
	out := r.out
	r.release()
	t.pool.Put(r)
	if err != nil {
		return dst, err
	}
	return out, nil
}
