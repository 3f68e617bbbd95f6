package engine

import (
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/tape"
	"github.com/mockbase/mockbase/engine/template"
)

// ServeHTTP answers a request whose target lies below the base path, and OPTIONS *. It reads the raw target of the
// request line; a router in front must not have cleaned or redirected it. It panics with [http.ErrAbortHandler] when the
// request's context ends before there is an answer.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.serve(w, r, origin{}) }

// origin is where a request came from.
type origin struct {
	// errand is nil for a request that came over a connection.
	errand *errand
	// own is the project whose own port or host it came to, "" for the shared address.
	own string
}

// serve answers a request.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request, from origin) {
	c := e.newCall(w, r, from.own)
	c.errand = from.errand
	defer e.done(c)
	c.boundBody()
	if c.anyServer() || c.preflight() {
		return
	}
	if c.admitted() && c.sound() {
		c.keepUnread()
		c.respond()
		if c.parked != nil {
			// It goes on when the delay is over; net/http must let go of the connection.
			panic(http.ErrAbortHandler)
		}
		c.passUnread()
	}
	c.finish()
}

// finish notes what became of a request and starts what follows its answer.
func (c *call) finish() {
	c.announceHooks()
	c.record()
	c.handRecording()
	c.startHooks()
	if c.outcome.cut || c.outcome.aborted && c.outcome.status == 0 && !c.outcome.seized {
		// Returning would send an empty 200 to whoever is still there, or end what a fault breaks off.
		panic(http.ErrAbortHandler)
	}
}

// Serves tells whether the engine is the one to answer a request: its raw target lies below the base path, or it asks
// the server as a whole (OPTIONS *).
func (e *Engine) Serves(r *http.Request) bool {
	raw := originForm(rawTarget(r))
	return raw == "*" || strings.HasPrefix(raw, e.prefix)
}

// call is one request on its way through the engine. Calls are used again, so nothing may hold on to one.
type call struct {
	engine  *Engine
	w       http.ResponseWriter
	program *program
	target  target
	inquiry

	// own tells that the request came to the project's own port or host.
	own bool
	// located tells that leaves holds the mocks of this path structure.
	located bool
	leaves  []*leaf
	// allowed is the value that allows the request's origin, nil if it is not.
	allowed []string
	outcome outcome
	// bodyUntil is until when the body may take; zero is for ever.
	bodyUntil time.Time
	// rendering is what the templates of the answer share, nil until one is rendered.
	rendering *template.Scope
	// pieces counts the events or messages that were rendered.
	pieces int
	// sessionName is what the request says of its session, in the header, the path, or both; a clash is two names.
	sessionName                                  string
	sessionInPath, sessionInHeader, sessionClash bool
	// session is the one that the request belongs to; nil as long as it has not joined it.
	session   *session.Session
	preferred preferences
	// chosen is the mock that answers with its response, instant the moment at which it was chosen.
	chosen  choice
	instant instant
	// refusals are mocks that fit and did not answer, charged those whose limits have admitted the request.
	refusals []refusal
	charged  []*route
	// limiting is what limits said so far; nil if none was asked. Most calls meet none, and many wait for long.
	limiting *limiting
	// forced tells that a preference was honoured (rule AA26).
	forced bool
	// taped is what is to become a mock, nil for nothing.
	taped *tape.Take
	// pending are the webhooks that follow the answer.
	pending pendingHooks
	// guarded is what the shield writes to. It is a part of the call, so that it costs no memory of its own.
	guarded shieldWriter
	// judged tells that the shield knows of the call, ticket is what it wants back with its end.
	judged bool
	ticket any
	*recording
	// parked is the rest of a call whose connection went back to the lot for a delay, nil for none.
	parked *parked

	// errand is nil for a request that came over a connection.
	errand *errand
	// looking tells that the call only looks ahead: nothing is counted, moved, waited for or recorded (rule AA29). held are
	// the mocks then that may answer at this moment, as far as that depends on what the session remembers.
	looking bool
	held    []refusal
	// recalling tells that a call looks back at a moment, of which held and refusals are what was recorded.
	recalling bool
	// veiled tells that templates see masks in the place of secrets, veilUsed that some did.
	veiled, veilUsed bool

	// The first segments and leaves need no memory of their own.
	segmentRoom   [16]string
	leafRoom      [4]*leaf
	candidateRoom [4]candidate
}

// newCall finds the project and takes the request apart as far as every answer needs it.
func (e *Engine) newCall(w http.ResponseWriter, r *http.Request, own string) *call {
	c, used := e.calls.Get().(*call)
	if !used {
		c = new(call)
	}
	c.engine, c.w, c.request, c.program = e, w, r, e.nowhere
	c.own = own != ""
	if t, ok := e.located(r, own); ok {
		c.target = t
		if p := c.engine.programs.Load().bySlug[t.slug]; p != nil {
			c.program = p
		}
	}
	c.dissect()
	c.startRecording()
	return c
}

// dissect takes the request apart by the settings of the program.
func (c *call) dissect() {
	s, r := c.program.settings, c.request
	c.header = withoutSignIn(r.Header)
	c.method = s.method(r.Method)
	c.rawQuery, c.asked = c.target.query, c.target.asked
	c.effort = operator.NewEffort(c.engine.options.MatchTime)
	c.nameSession()
	if !s.origins.open {
		c.allowed = s.origins.allow(r.Header[headerOrigin])
	}
}

// done clears a call for the next request, unless it goes on later.
func (e *Engine) done(c *call) {
	if p := c.parked; p != nil {
		p.handler.Unlock()
		return
	}
	c.releaseLimits()
	c.dismiss()
	*c = call{}
	e.calls.Put(c)
}

// rawTarget is the request target as it was sent. Requests that were made in the process have none.
func rawTarget(r *http.Request) string {
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// known tells whether the project exists.
func (c *call) known() bool { return c.program != c.engine.nowhere }

// locate finds the mocks of this path structure.
func (c *call) locate() error {
	if c.located {
		return nil
	}
	c.rules = c.program.settings.pathRules
	path, err := c.rules.split(c.target.path, c.segmentRoom[:0])
	if err != nil {
		return err
	}
	c.path, c.located = path, true
	c.leaves = c.program.index.find(&c.path, c.leafRoom[:0])
	return c.locateMatrix()
}

// sound refuses what cannot be asked of any mock, and reads the body. It answers and returns false then.
func (c *call) sound() bool {
	f := c.unfit()
	if f == nil {
		f = c.readBody()
	}
	if f != nil {
		c.refuse(f)
	}
	return f == nil
}

// unfit checks everything but the body, in the order of work.
func (c *call) unfit() *failure {
	switch {
	case int64(len(rawTarget(c.request))) > c.engine.options.MaxTarget:
		return targetTooLong(c.engine.options.MaxTarget)
	case !c.known():
		return noProject(c.target.slug)
	case c.program.project.Access == mockbase.AccessToken && !c.engine.admits(c.request, c.program.project.ID):
		return tokenNeeded()
	case c.program.settings.sandbox && !c.own && c.header.Get("Service-Worker") == "script" && isBrowser(c.header):
		return noServiceWorker()
	}
	if f := c.join(); f != nil {
		return f
	}
	if f := c.prefer(); f != nil {
		return f
	}
	if err := c.locate(); err != nil {
		return brokenPath(err)
	}
	return nil
}

// respond lets the first mock whose conditions hold answer, if its limits admit the request.
func (c *call) respond() {
	chosen, admitted := c.admittedChoice()
	switch {
	case !admitted:
		return
	case c.effort.Spent():
		c.refuse(tooCostly(c.engine.options.MatchTime))
		return
	case chosen == nil:
		c.session.CountUnmatched()
		c.miss()
		return
	}
	c.route = chosen.route
	c.outcome.by, c.outcome.route = chosen.by, chosen.route
	if chosen.response < 0 {
		c.refuse(c.preferred.missing(chosen.route))
		return
	}
	if applied := c.preferred.applied(); applied != "" && chosen.by != mockbase.AnsweredByDocument {
		c.forced = true
		c.w.Header()[headerPreferenceApplied] = []string{applied}
	}
	c.give(&chosen.responses[chosen.response])
}
