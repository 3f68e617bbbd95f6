package engine

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/mockbase/mockbase"
)

// Description is an OpenAPI document ready to answer (group W). It is immutable and safe for concurrent use; operations are
// numbers from 0.
type Description interface {
	Operations() int
	// Name is unique within the document, Endpoint the operation's method and path template.
	Name(op int) string
	Endpoint(op int) (method, path string)
	// Declares tells whether an operation names a status among its responses.
	Declares(op, status int) bool
	// Find finds the operation of a method and a raw path; without one it returns -1 and the methods of the path.
	Find(method, path, rawQuery string) (op int, methods []string)
	// Elsewhere are the other paths at which an operation answers that Find found at a path.
	Elsewhere(op int, path string) []string
	// PathParameters are the names and decoded values of the parameters in a path.
	PathParameters(op int, path string) [][2]string
	Answer(op int, q *mockbase.DocumentRequest) *mockbase.DocumentAnswer
	// Callbacks are the calls that follow an answer; there are none where the document is not set to make them.
	Callbacks(op int, q *mockbase.DocumentRequest, a *mockbase.DocumentAnswer) []mockbase.DocumentCallback
	// CheckAnswer compares an answer that something else gave with what the document says of it.
	CheckAnswer(op, status int, h http.Header, body []byte) []mockbase.Violation
	// Warnings tell what of the document is odd, with pointers into it.
	Warnings() []mockbase.FieldError
}

// Describe compiles an OpenAPI document, whose text is inline. The error is about a text that is none.
type Describe func(d *mockbase.Document) (Description, error)

// library keeps the documents that were compiled last: each is checked before it is published.
type library struct {
	mu   sync.Mutex
	list []*shelved
}

type shelved struct {
	source      mockbase.Document
	description Description
}

// maxShelved is how many documents are kept beside those that programs hold.
const maxShelved = 8

// describe compiles a document, or finds it among those that were.
func (e *Engine) describe(d *mockbase.Document) (Description, error) {
	if d.File == "" {
		return e.describeText(d, d.Inline)
	}
	joined, err := e.joinDocument(d.File)
	if err != nil {
		return nil, err
	}
	return e.describeText(d, joined.Text)
}

// describeText compiles a document of a text.
func (e *Engine) describeText(d *mockbase.Document, text []byte) (Description, error) {
	source := *d
	source.Inline = text
	// Limits and delays are not the document's own matter.
	source.RateLimit, source.Delay, source.Operations = nil, nil, nil
	e.library.mu.Lock()
	defer e.library.mu.Unlock()
	for _, known := range e.library.list {
		if bytes.Equal(known.source.Inline, source.Inline) && reflect.DeepEqual(known.source, source) {
			return known.description, nil
		}
	}
	description, err := e.options.Describe(&source)
	if err != nil {
		return nil, err
	}
	e.library.list = append(e.library.list, &shelved{source, description})
	if len(e.library.list) > maxShelved {
		e.library.list = slices.Delete(e.library.list, 0, 1)
	}
	return description, nil
}

// described is a document of a program.
type described struct {
	source *mockbase.Document
	Description

	// operations are entries like those of mocks, so that calls of each are counted.
	operations []entry
	// limitDeclared tells that an operation declares a 429.
	limitDeclared bool
}

// describeAll compiles the documents of the project. What former has compiled of the same ones is taken over.
func (p *program) describeAll(e *Engine, former *program) error {
	list := p.project.Config.Documents
	if len(list) == 0 {
		return nil
	}
	var faults mockbase.Faults
	for i := range list {
		d := &described{source: &list[i]}
		if known := former.documentOf(&list[i], p.settings); known != nil {
			d.Description, d.operations, d.limitDeclared = known.Description, slices.Clone(known.operations), known.limitDeclared
		} else if err := d.compile(e, p, i, &faults); err != nil {
			return fmt.Errorf("compile document %q: %w", list[i].Name, err)
		}
		for op := range d.operations {
			d.operations[op].age = len(p.entries) + p.operations
			p.operations++
		}
		p.documents = append(p.documents, d)
	}
	if err := faults.Err(); err != nil {
		return fmt.Errorf("compile documents: %w", err)
	}
	return nil
}

// addDescribed adds the methods of documents to those that are in use.
func (p *program) addDescribed() {
	for _, d := range p.documents {
		for i := range d.operations {
			p.methods.add(d.operations[i].mock.Request.Methods[0])
		}
	}
}

// documentOf finds a compiled document of the same source. A file may have changed, so it is read again.
func (p *program) documentOf(source *mockbase.Document, s *settings) *described {
	if p == nil || p.settings != s || source.File != "" {
		return nil
	}
	for _, d := range p.documents {
		if d.source.Name == source.Name && bytes.Equal(d.source.Inline, source.Inline) && reflect.DeepEqual(d.source, source) {
			return d
		}
	}
	return nil
}

func (d *described) compile(e *Engine, p *program, i int, faults *mockbase.Faults) error {
	if e.options.Describe == nil {
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "this server reads no OpenAPI documents"}
	}
	description, err := e.describe(d.source)
	if err != nil {
		return err
	}
	d.Description = description
	w := &workbench{config: &mockbase.Config{}, settings: p.settings, faults: faults, at: "#/documents/" + strconv.Itoa(i)}
	wait := compileDelays(d.source.Delay, nil, func(text string) *script { return w.script(text, "/delay", "delay") })
	d.operations = make([]entry, description.Operations())
	for op := range d.operations {
		d.limitDeclared = d.limitDeclared || description.Declares(op, http.StatusTooManyRequests)
	}
	for op := range d.operations {
		d.operations[op].route = d.route(op, wait, p, w)
	}
	return nil
}

// route makes the route of one operation. Nothing looks for it by its path; the document does.
func (d *described) route(op int, wait delays, p *program, w *workbench) *route {
	name := "document/" + d.source.Name + "/" + printable(d.Name(op))
	method, _ := d.Endpoint(op)
	answer := &operation{described: d, number: op, name: name, settings: p.settings, compress: p.project.Config.Settings.Compress}
	r := &route{
		mock:   &mockbase.Mock{ID: name, Name: name, Request: mockbase.RequestMatcher{Methods: []string{method}}},
		stated: p.settings.common.methodsOf([]string{method}), selection: p.settings.only,
		ref: mockbase.MockRef{Name: name}, by: mockbase.AnsweredByDocument, readsBody: true,
		responses: []response{{name: d.Name(op), source: &mockbase.Response{Delay: d.source.Delay}, beside: &beside{delay: wait}, reply: answer}},
		names:     func(path string) []pair { return d.parameters(op, path) },
		guards:    p.settings.unguarded,
		terms:     p.settings.unconditional,
	}
	b := &limitsBuilder{
		config: &p.project.Config, settings: p.settings, owner: "document_" + d.source.Name + "_" + strconv.Itoa(op), name: d.source.Name,
		decision: p.settings.decision(name), faults: w.faults,
	}
	if own := b.build(d.limit(op), w.at+"/rateLimit"); own != nil {
		r.terms = &terms{limits: own}
	}
	return r
}

// limit is the limit of an operation: its own, or the document's. Where some operations declare a 429, the latter is theirs alone.
func (d *described) limit(op int) *mockbase.RateLimit {
	own := d.source.LimitOf(d.Name(op))
	if own == nil && (!d.limitDeclared || d.Declares(op, http.StatusTooManyRequests)) {
		return d.source.RateLimit
	}
	return own
}

// parameters are those of the path, as templates and keys of limits read them.
func (d *described) parameters(op int, path string) []pair {
	found := d.PathParameters(op, path)
	list := make([]pair, len(found))
	for i, p := range found {
		list[i] = pair{name: p[0], value: p[1]}
	}
	return list
}
