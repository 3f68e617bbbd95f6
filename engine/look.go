package engine

import (
	"context"
	"net/http"

	"github.com/mockbase/mockbase"
)

// Explain says what would become of a sample request now (rules AA28 to AA30). It goes the way of a real request, by the
// same program, and consumes nothing. It fails with a [*mockbase.Error]: CodeNotFound for a project that is not published or
// a mock that is not there, CodeValidationFailed for a request that cannot be sent or a document that cannot be served, with
// pointers relative to the question: #/request, #/session, #/document.
func (e *Engine) Explain(ctx context.Context, q *mockbase.Question) (*mockbase.Explanation, error) {
	p, err := e.published(q.ProjectID)
	if err != nil {
		return nil, err
	}
	if q.Mock != "" && p.mockOf(q.Mock) == nil {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "the project has no such mock")
	}
	if q.Document != nil {
		if p, err = e.supposing(p, q); err != nil {
			return nil, err
		}
	}
	r, refused, err := e.describedRequest(ctx, p.project.Slug, &q.Request)
	if err != nil {
		return nil, below("#/request", err)
	}
	if refused != nil {
		return refused.explanation(), nil
	}
	c := e.look(p, r)
	c.veiled = q.Sight == mockbase.SeesNoSecrets
	if q.Session != "" {
		if (c.sessionInHeader || c.sessionInPath) && c.sessionName != q.Session {
			return nil, invalid("the request names another session", mockbase.FieldError{
				Pointer: "#/session", Code: mockbase.FieldConflict, Detail: "the request itself names the session " + quoted(c.sessionName),
			})
		}
		c.sessionName, c.sessionInHeader = q.Session, true
	}
	return c.foretell(q.Mock), nil
}

// look begins a call that only looks.
func (e *Engine) look(p *program, r *http.Request) *call {
	c := &call{engine: e, w: newCapture(e.options.RecordCap), program: p, looking: true}
	c.request = r
	if c.target, _ = parseTarget(r.RequestURI, e.prefix); r.RequestURI == "*" {
		c.program = e.nowhere // it is about the server
	}
	c.dissect()
	return c
}

// supposing is the program that would be if the question's document were saved in the place of its mock. It is published
// nowhere.
func (e *Engine) supposing(p *program, q *mockbase.Question) (*program, error) {
	draft := *q.Document
	if faults := e.CheckMock(&p.project.Config, &draft); len(faults) > 0 {
		return nil, below("#/document", &mockbase.Error{
			Code: mockbase.CodeValidationFailed, Message: "the document cannot be served", Fields: faults,
		})
	}
	next := &mockbase.Snapshot{Project: p.project, Mocks: make([]*mockbase.Mock, len(p.snapshot.Mocks))}
	for i, m := range p.snapshot.Mocks {
		if m.ID == q.Mock {
			draft.ID, draft.ProjectID, draft.Version = m.ID, m.ProjectID, m.Version
			m = &draft
		}
		next.Mocks[i] = m
	}
	made, err := e.compile(next, p)
	if err != nil {
		return nil, below("#/document", &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the document cannot be served", Err: err})
	}
	made.sessions = p.sessions
	return made, nil
}

// below puts the pointers of an error's fields below a place.
func below(at string, err error) error {
	known, ok := err.(*mockbase.Error) //nolint:errorlint // errors of this package's own are not wrapped
	if !ok {
		return err
	}
	moved := *known
	moved.Fields = make([]mockbase.FieldError, len(known.Fields))
	for i, f := range known.Fields {
		f.Pointer = at + f.Pointer[min(1, len(f.Pointer)):]
		moved.Fields[i] = f
	}
	return &moved
}

// mockOf returns the entry of a mock by its id, nil if there is none.
func (p *program) mockOf(id string) *entry {
	for i := range p.entries {
		if p.entries[i].mock.ID == id {
			return &p.entries[i]
		}
	}
	return nil
}

// foretell goes the way of a request up to its answer, and compares the mocks. wanted is the id of a mock that is compared
// in any case.
func (c *call) foretell(wanted string) *mockbase.Explanation {
	x := c.foretellAll(wanted)
	if c.veilUsed {
		x.Hints = append(x.Hints, "secret variables are "+veilMask+" here, as only who may change mocks sees their values")
	}
	return x
}

func (c *call) foretellAll(wanted string) *mockbase.Explanation {
	x := blankExplanation()
	if c.anyServer() {
		c.outcome.by = mockbase.AnsweredByPreflight
		c.concludeOwn(x)
		x.Hints = append(x.Hints, "OPTIONS * asks the server as a whole, and no project")
		return x
	}
	if c.preflight() || !c.sound() {
		c.concludeOwn(x)
		if c.outcome.failure != "" {
			x.Hints = append(x.Hints, c.outcome.failure)
		}
		return x
	}
	won := c.choose()
	if c.effort.Spent() {
		c.refuse(tooCostly(c.engine.options.MatchTime))
		c.concludeOwn(x)
		x.Hints = append(x.Hints, c.outcome.failure)
		return x
	}
	if won == nil {
		won = c.chooseOperation()
	}
	if won != nil {
		// Looking at the other mocks uses the same places.
		kept := *won
		won = &kept
	}
	at := c.instant
	c.lookAround()
	near := c.nearest()
	c.compareAll(x, near, wanted)
	c.instant, c.moment = at, &c.instant
	if won == nil {
		c.foretellMiss(x, near)
		return x
	}
	c.chosen, c.route = *won, won.route
	x.Outcome, x.Mock = won.by, won.ref
	if won.by != mockbase.AnsweredByDocument {
		x.DecidedBy = c.decidedBy(won.entry, near)
	}
	wait, admitted := c.foresee(won.entry, x)
	if admitted {
		c.foretellResponse(x, won)
	} else {
		c.concludeOwn(x)
		x.Response.Error, x.Response.Rendered = c.outcome.failure, x.Response.Status > 0
		if c.outcome.cut {
			x.Hints = append(x.Hints, "the limit of the mock closes the connection without an answer (onExceed: drop)")
		}
	}
	x.Response.Delay += wait
	return x
}

func blankExplanation() *mockbase.Explanation {
	return &mockbase.Explanation{Candidates: []mockbase.Candidate{}, Hints: []string{}, Limits: []mockbase.LimitOutlook{}}
}

// explanation tells of a request that reaches no mock.
func (f *wireRefusal) explanation() *mockbase.Explanation {
	x := blankExplanation()
	x.Outcome = mockbase.AnsweredByError
	x.Hints = append(x.Hints, f.reason())
	x.Response = &mockbase.ResponseOutlook{
		Kind: kindAnswer, Rendered: true, Status: f.status, Header: f.header, Body: f.body, BodySize: int64(len(f.body)),
	}
	return x
}

// concludeOwn tells of an answer that the engine itself gave into the capture.
func (c *call) concludeOwn(x *mockbase.Explanation) {
	x.Outcome = c.outcome.by
	x.Response = &mockbase.ResponseOutlook{Kind: kindAnswer, Rendered: true}
	if c.outcome.response != nil {
		x.Response.Name = c.outcome.response.name
	}
	if c.session != nil {
		x.Response.Seed = c.seed(c.session)
	}
	c.captured(x.Response)
}

// captured takes over what was sent.
func (c *call) captured(to *mockbase.ResponseOutlook) {
	w, _ := c.w.(*capture)
	to.Status, to.Header, to.Body, to.BodySize = w.status, w.header, w.body, w.size
	cleanHeader(to.Header)
}

// foretellMiss says what happens where no mock answers. An upstream is not asked.
func (c *call) foretellMiss(x *mockbase.Explanation, near []likeness) {
	here := c.presence()
	reflexive := c.program.settings.origins.isPreflight(c.request) || c.method.name == http.MethodOptions && here.path
	x.Hints = append(x.Hints, c.hints(near)...)
	switch fallback := c.program.project.Config.Settings.Fallback; {
	case reflexive:
		c.miss()
	case fallback != nil:
		x.Outcome = mockbase.AnsweredByProxy
		x.Response = &mockbase.ResponseOutlook{Kind: kindProxy, Seed: c.seed(c.session)}
		return
	default:
		c.unanswered(here, here.methods.allow(c.program.settings))
	}
	c.concludeOwn(x)
}

// The kinds of responses in an explanation.
const (
	kindAnswer     = "answer"
	kindProxy      = "proxy"
	kindSSE        = "sse"
	kindWebSocket  = "webSocket"
	kindCollection = "collection"
)

// foretellResponse tells of the response that is chosen.
func (c *call) foretellResponse(x *mockbase.Explanation, won *choice) {
	c.outcome.by, c.outcome.route = won.by, won.route
	if won.response < 0 {
		c.refuse(c.preferred.missing(won.route))
		c.concludeOwn(x)
		return
	}
	r := &won.responses[won.response]
	c.outcome.response = r
	to := &mockbase.ResponseOutlook{
		Name: r.name, Kind: kindOf(r), Status: r.status(), Seed: c.seed(c.session), Call: c.instant.number,
	}
	x.Response = to
	if won.by == mockbase.AnsweredByCollection && !safeMethod(c.method.name) {
		// Reading and writing are one, so that a write cannot be tried.
		to.Status = 0
		x.Hints = append(x.Hints, "a write to a collection is not tried: its status and body are known when it is made")
		return
	}
	switch to.Kind {
	case kindAnswer, kindCollection:
		c.render(r, to)
	case kindProxy:
		// That renders the upstream's address, and asks nobody.
		if _, _, failed := c.ready(r); failed != nil {
			to.Error = failed.detail
			c.refuse(failed)
			c.captured(to)
			return
		}
		x.Outcome = mockbase.AnsweredByProxy
	}
}

// kindOf names what a response is.
func kindOf(r *response) string {
	switch source := r.source; {
	case source.Proxy != nil:
		return kindProxy
	case source.SSE != nil:
		return kindSSE
	case source.WebSocket != nil:
		return kindWebSocket
	}
	switch r.reply.(type) {
	case *collected:
		return kindCollection
	default:
		return kindAnswer
	}
}

// safeMethod tells whether a method only reads (RFC 9110, section 9.2.1).
func safeMethod(name string) bool {
	return name == http.MethodGet || name == http.MethodHead
}

// render works the answer out and sends it into the capture. Time does not pass meanwhile, and no fault breaks it.
func (c *call) render(r *response, to *mockbase.ResponseOutlook) {
	ready, delay, failed := c.ready(r)
	if c.preferred.waits {
		delay = c.preferred.wait
	}
	to.Delay = delay
	if applied := c.preferred.applied(); applied != "" && failed == nil && c.outcome.by != mockbase.AnsweredByDocument {
		c.w.Header()[headerPreferenceApplied] = []string{applied}
	}
	if failed != nil {
		to.Error, to.Delay = failed.detail, 0
		c.refuse(failed)
	} else {
		if c.strikes(r.source.Fault) {
			to.Fault = r.source.Fault.Kind
		}
		ready.send(c)
	}
	to.Rendered = true
	c.captured(to)
}
