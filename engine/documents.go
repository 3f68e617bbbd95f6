package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/chance"
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

// operation is the reply of one operation.
type operation struct {
	*described

	number   int
	name     string
	settings *settings
	compress bool
}

var _ reply = (*operation)(nil)

func (r *operation) prepare(c *call) (sending, *failure) {
	if c.preferred.badWait != nil && !c.preferred.waits {
		return nil, c.preferred.badWait
	}
	decoded, err := c.bodyMessage().Decoded()
	if err != nil {
		return nil, &failure{
			status: http.StatusUnsupportedMediaType, code: mockbase.CodeUnsupportedMediaType, title: "The body cannot be decoded", own: true,
			detail: "The body cannot be decoded: " + err.Error() + ".",
		}
	}
	p := &c.preferred
	q := &mockbase.DocumentRequest{
		Method: c.method.name, Path: c.target.path, URL: asked{c}.URL(), RawQuery: c.rawQuery, Header: c.header, Body: decoded,
		Preferred: mockbase.Preferred{Code: p.code, Example: p.example, Dynamic: p.dynamic, Seed: p.seed},
		Controls:  !c.program.settings.ignorePreferred,
		Rand:      func(response, seed string) *rand.Rand { return c.generation(r.name, response, seed) },
		ID:        c.id,
		Pages:     c.engine.pages(),
	}
	a := r.Answer(r.number, q)
	c.noteViolations(a.Violations)
	c.expectCallbacks(r.Callbacks(r.number, q, a))
	c.applied(a)
	d := draft{
		status: a.Status, kind: mockbase.BodyText, body: a.Body, mediaType: a.MediaType, headers: a.Header, compress: r.compress,
		decision: r.settings.decision(r.name),
	}
	if len(a.Body) == 0 && a.MediaType == "" {
		d.kind = mockbase.BodyNone
	}
	return d.compile(r.settings), nil
}

// applied tells what a document honoured (rule AA26).
func (c *call) applied(a *mockbase.DocumentAnswer) {
	done := preferences{
		code: a.Applied.Code, example: a.Applied.Example, seed: a.Applied.Seed, wait: c.preferred.wait, waits: c.preferred.waits,
	}
	applied := done.applied()
	if a.Applied.Dynamic != "" {
		if applied != "" {
			applied += ", "
		}
		applied += "dynamic=" + a.Applied.Dynamic
	}
	if applied != "" {
		c.forced = true
		c.w.Header()[headerPreferenceApplied] = []string{applied}
	}
}

// generation draws dynamic values (rule W45). With a seed of the request, calls are alike.
func (c *call) generation(name, response, seed string) *rand.Rand {
	key := chance.Key{
		Seed: c.session.Seed(), Session: c.session.Name(), Mock: name, Response: response, Purpose: "generate", Call: c.instant.number,
	}
	if seed != "" {
		key.Seed, key.Call = seed, 0
	}
	return key.Rand()
}

// noteViolations records violations.
func (c *call) noteViolations(list []mockbase.Violation) {
	if c.recording != nil {
		c.exchange.Violations = append(c.exchange.Violations, list...)
	}
}

// operationOf finds the operation of a document for the request's method; HEAD may be answered by GET (rule L1).
func (c *call) operationOf(d *described) (op int, methods []string) {
	op, methods = d.Find(c.method.name, c.target.path, c.rawQuery)
	if op < 0 && c.method.derived && slices.Contains(methods, http.MethodGet) {
		op, _ = d.Find(http.MethodGet, c.target.path, c.rawQuery)
	}
	return op, methods
}

// chooseOperation asks the documents in their order, once no mock and no collection answers (rule W5); nil if none has path
// and method.
func (c *call) chooseOperation() *choice {
	for _, d := range c.program.documents {
		if d.source.ValidateOnly {
			continue
		}
		op, _ := c.operationOf(d)
		if op < 0 {
			continue
		}
		e := &d.operations[op]
		c.route, c.moment = e.route, nil
		c.chosen = choice{entry: e}
		if c.preferred.politely && !c.preferred.waits {
			c.preferred.waits, c.preferred.wait = true, c.preferred.politeWait
		}
		c.countFree(e)
		return &c.chosen
	}
	return nil
}

// describedPresence adds what documents say of the path (rule W4).
func (c *call) describedPresence(to *presence) {
	for _, d := range c.program.documents {
		if d.source.ValidateOnly {
			continue
		}
		op, methods := c.operationOf(d)
		if op < 0 && len(methods) == 0 {
			continue
		}
		to.path, to.accepted = true, to.accepted || op >= 0
		for _, name := range append(methods, c.allMethods(d)...) {
			to.methods.add(name)
		}
	}
}

// allMethods are those of the path if the document has the request's method, as Find does not tell them then.
func (c *call) allMethods(d *described) []string {
	_, methods := d.Find("", c.target.path, c.rawQuery)
	return methods
}

// checkAnswer compares the answer of a mock or a collection with the documents (rule W30). It is called after the answer
// was sent.
func (c *call) checkAnswer() {
	if c.recording == nil || !c.outcome.whole() {
		return
	}
	for _, d := range c.program.documents {
		op := -1
		if d.source.Responses != "disabled" {
			op, _ = c.operationOf(d)
		}
		if op < 0 {
			continue
		}
		list := d.CheckAnswer(op, c.outcome.status, c.outcome.header, c.outcome.body)
		for i := range list {
			if d.source.Responses == "warn" {
				list[i].Severity = mockbase.SeverityWarning
			}
		}
		c.noteViolations(list)
		return
	}
}

// whole tells whether a mock or a collection gave an answer that is known in full.
func (o *outcome) whole() bool {
	by := o.by == mockbase.AnsweredByMock || o.by == mockbase.AnsweredByCollection
	return by && o.route != nil && o.bodySize == 0 && o.fault == ""
}

// checkDocuments lists what of documents this engine cannot act on, or cannot read.
func (e *Engine) checkDocuments(u *refusals, c *mockbase.Config) {
	list := c.Documents
	if e.options.Describe == nil {
		u.refuseIf(len(list) > 0, "#/documents")
		return
	}
	for i := range list {
		at, d := "#/documents/"+strconv.Itoa(i), &list[i]
		u.refuseIf(d.URL != "", at+"/url")
		e.checkDocumentLimits(u, c, i)
		if d.URL != "" || d.File == "" && len(d.Inline) == 0 {
			continue // it is refused above, or could not be read
		}
		if _, err := e.describe(d); err != nil {
			for _, f := range documentFaults(at, d, err) {
				u.faults.Append(f)
			}
		}
	}
}

// checkDocumentLimits notes what is wrong with the limits of a document.
func (e *Engine) checkDocumentLimits(u *refusals, c *mockbase.Config, i int) {
	at, own := "#/documents/"+strconv.Itoa(i), &c.Documents[i]
	limits := append([]mockbase.DocumentOperation{{RateLimit: own.RateLimit}}, own.Operations...)
	s, err := e.compileSettings(c, &mockbase.Faults{})
	for n, l := range limits {
		pointer := at + "/rateLimit"
		if n > 0 {
			pointer = at + "/operations/" + mockbase.PointerToken(l.Name) + "/rateLimit"
		}
		if err == nil {
			u.refuseIf(limited(l.RateLimit) && s.limits == nil, pointer)
			b := &limitsBuilder{config: c, settings: s, owner: "document", name: own.Name, faults: &u.faults}
			b.build(l.RateLimit, pointer)
		}
		if l.RateLimit != nil {
			// Limits are asked before the document sees the request.
			u.refuseIf(slices.ContainsFunc(l.RateLimit.Limits, func(l mockbase.Limit) bool {
				return l.Policy != nil && l.Policy.AfterAuth
			}), pointer+"/after")
		}
	}
}

// documentWarnings lists what is odd about the documents of a configuration.
func (e *Engine) documentWarnings(list []mockbase.Document) []mockbase.FieldError {
	var found []mockbase.FieldError
	if e.options.Describe == nil {
		return nil
	}
	for i := range list {
		at := "#/documents/" + strconv.Itoa(i)
		if list[i].File != "" {
			found = append(found, e.fileWarnings(at, &list[i])...)
			continue
		}
		d, err := e.describe(&list[i])
		if err != nil {
			continue
		}
		found = append(found, unknownOperations(at, &list[i], d)...)
		for _, w := range d.Warnings() {
			w.Pointer, w.Line, w.Column = at+"/inline"+strings.TrimPrefix(w.Pointer, "#"), 0, 0
			found = append(found, w)
		}
	}
	return found
}

// unknownOperations warns of options for operations that a document does not have.
func unknownOperations(at string, source *mockbase.Document, d Description) []mockbase.FieldError {
	if len(source.Operations) == 0 {
		return nil
	}
	names := make([]string, d.Operations())
	for op := range names {
		names[op] = d.Name(op)
	}
	var found []mockbase.FieldError
	for _, own := range source.Operations {
		if slices.Contains(names, own.Name) {
			continue
		}
		f := mockbase.FieldError{
			Pointer: at + "/operations/" + mockbase.PointerToken(own.Name), Code: mockbase.WarningUnused, Suggestion: mockbase.Suggest(own.Name, names),
			Detail: "the document has no operation " + quoted(own.Name) + ": its options have no effect",
		}
		if f.Suggestion != "" {
			f.Detail += ", did you mean " + quoted(f.Suggestion) + "?"
		}
		found = append(found, f)
	}
	return found
}

// fileWarnings lists what is odd about a document below the files root. A reference that leads nowhere is told once.
func (e *Engine) fileWarnings(at string, source *mockbase.Document) []mockbase.FieldError {
	joined, err := e.joinDocument(source.File)
	if err != nil {
		return nil
	}
	d, err := e.describeText(source, joined.Text)
	if err != nil {
		return nil
	}
	found := unknownOperations(at, source, d)
	broken := map[string]bool{}
	for _, w := range joined.Warnings {
		broken[w.Pointer] = broken[w.Pointer] || w.Code == mockbase.FieldReference
		found = append(found, fileFault(at, w.Code, joined.Place(w), w.Detail))
	}
	for _, w := range d.Warnings() {
		if w.Code != mockbase.FieldReference || !broken[w.Pointer] {
			w.Line, w.Column = 0, 0
			found = append(found, fileFault(at, w.Code, joined.Place(w), w.Detail))
		}
	}
	return found
}
