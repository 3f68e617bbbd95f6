package engine

import (
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/chance"
)

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
