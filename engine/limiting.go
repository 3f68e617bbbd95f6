package engine

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

const (
	// longestAdmission is how long a limit makes a request wait whose author states no bound (mock format, section 6).
	longestAdmission = time.Minute
	// placePace is how often a request looks for a free place of a limit of concurrency: nobody knows when one is given back.
	placePace = 50 * time.Millisecond
)

// limiting is what limits said of a request.
type limiting struct {
	rulings []ruled
	// told is the ruling that the answer is about, and fields are the names of the headers that tell of it.
	told   *simlimit.Ruling
	fields []string
}

// ruled is what the limits of a mock said of the request.
type ruled struct {
	route  *route
	ruling *simlimit.Ruling
}

// heard returns what limits said so far, to be added to.
func (c *call) heard() *limiting {
	if c.limiting == nil {
		c.limiting = new(limiting)
	}
	return c.limiting
}

// limitsKey is what sessions keep their buckets under.
type limitsKey struct{}

// sessionLimits are the buckets of one session; nil ones where the store could not be made.
type sessionLimits struct{ *simlimit.Space }

var _ session.Attachment = sessionLimits{}

// Reset empties the buckets if limits are among the levels (rules R7 and X7).
func (l sessionLimits) Reset(what session.Levels) {
	if what&session.Limits != 0 && l.Space != nil {
		l.Space.Reset()
	}
}

// End lets go of the buckets.
func (l sessionLimits) End() {
	if l.Space != nil {
		l.Space.End()
	}
}

// spaceOf returns the buckets of a session. Ids name them, so that the name of a session can be used again; the default
// session is the same for all processes that share a store (rule RL121).
func (e *Engine) spaceOf(projectID string, s *session.Session) *simlimit.Space {
	attached := s.Attached(limitsKey{}, func() session.Attachment {
		tag := projectID + "/" + s.ID()
		if s.IsDefault() {
			tag = projectID + "/" + session.DefaultName
		}
		space, err := e.options.Limits.Space(tag, s.TTL())
		if err != nil {
			e.options.Logger.Error("simulated limits of a session cannot be kept", "reason", err.Error())
			return sessionLimits{}
		}
		return sessionLimits{space}
	})
	own, _ := attached.(sessionLimits)
	return own.Space
}

// admit implements limiter.
func (l *limits) admit(c *call, r *route) bool {
	space := c.engine.spaceOf(c.program.project.ID, c.session)
	if space == nil {
		return true
	}
	asks, failed := l.asks(c)
	if failed != nil {
		c.outcome.by, c.outcome.route = r.by, r
		c.refuse(failed)
		return false
	}
	ruling := l.rule(c, space, asks)
	heard := c.heard()
	heard.rulings = append(heard.rulings, ruled{r, ruling})
	if c.request.Context().Err() != nil && !ruling.Admitted {
		c.outcome.by, c.outcome.route, c.outcome.aborted = mockbase.AnsweredBySimulatedLimit, r, true
		return false
	}
	ruling.Settle()
	c.noteLimits(ruling)
	if !ruling.Admitted {
		c.outcome.by, c.outcome.route = mockbase.AnsweredBySimulatedLimit, r
		l.refuse(c, ruling)
	}
	return ruling.Admitted
}

var _ foreseer = (*limits)(nil)

// foresee implements foreseer. Nothing is charged, and a session that has not begun has full buckets.
func (l *limits) foresee(c *call, r *route, x *mockbase.Explanation) (wait time.Duration, admitted bool) {
	asks, failed := l.asks(c)
	if failed != nil {
		c.outcome.by, c.outcome.route = r.by, r
		c.refuse(failed)
		return 0, false
	}
	space, done := l.glimpse(c)
	defer done()
	if space == nil {
		return 0, true
	}
	now := c.now()
	var ruling *simlimit.Ruling
	for {
		foreseen, alone := space.Foresee(now.Add(wait), asks)
		if ruling = foreseen; wait == 0 {
			x.Limits = append(x.Limits, outlooksOf(ruling, alone)...)
		}
		d := ruling.Decided()
		if d == nil {
			break
		}
		rest := admissionWait(d, wait)
		if rest > 0 && d.By.InFlight() && !d.Banned {
			// Nobody knows when a place is given back.
			return wait, true
		}
		if rest == 0 {
			c.outcome.by, c.outcome.route = mockbase.AnsweredBySimulatedLimit, r
			l.refuse(c, ruling)
			return wait, false
		}
		wait += rest
	}
	c.tell(ruling)
	return wait, true
}

// glimpse returns the buckets of the session for a call that only looks; done lets go of them.
func (l *limits) glimpse(c *call) (space *simlimit.Space, done func()) {
	if _, lives := c.program.sessions.Find(c.session.ID()); lives {
		return c.engine.spaceOf(c.program.project.ID, c.session), func() {}
	}
	fresh, err := l.keeper.Space(c.program.project.ID+"/"+c.session.ID(), 0)
	if err != nil {
		return nil, func() {}
	}
	return fresh, fresh.End
}

// outlooksOf tells of each limit what it decides by itself.
func outlooksOf(ruling *simlimit.Ruling, alone []ratelimit.Decision) []mockbase.LimitOutlook {
	views := make([]mockbase.LimitOutlook, len(alone))
	for i := range alone {
		o, d := &ruling.Outcomes[i], &alone[i]
		views[i] = mockbase.LimitOutlook{
			Policy: o.By.Bucket(), Kind: "simulated", Key: keyLabel(o), Limit: o.By.Capacity(), Remaining: d.Remaining,
			Reset: ruling.Now.Add(d.Reset), RetryAfter: d.RetryAfter, Allowed: d.Allowed,
		}
		if !d.Allowed {
			views[i].WouldLimit = o.By.DryRun()
			// What waits for its limit is admitted in the end.
			views[i].Allowed = views[i].WouldLimit || admissionWait(o, 0) > 0
		}
	}
	return views
}

// keyLabel is the key for people.
func keyLabel(o *simlimit.Outcome) string {
	if o.Label == "" {
		return "global"
	}
	return o.Label
}

// rule asks the limits, again and again as long as they make the request wait (rule X11).
func (*limits) rule(c *call, space *simlimit.Space, asks []simlimit.Ask) *simlimit.Ruling {
	wall := c.engine.options.Clock
	began, waited := wall(), time.Duration(0)
	for {
		ruling := space.Ask(c.now(), asks)
		rest := time.Duration(0)
		if d := ruling.Decided(); d != nil && c.engine.ended.Err() == nil && c.request.Context().Err() == nil {
			rest = admissionWait(d, waited)
		}
		if rest > 0 {
			c.pause(c.request.Context(), rest)
			waited += rest
			continue
		}
		if waited > 0 {
			ruling.Delayed = true
			c.outcome.planned += waited
			c.outcome.slept += wall().Sub(began)
		}
		return ruling
	}
}

// admissionWait is how long a refused request waits before it asks again; 0 is that it does not.
func admissionWait(d *simlimit.Outcome, waited time.Duration) time.Duration {
	exceed := d.By.Source.OnExceed
	if exceed == nil || exceed.Action != "delay" || d.RetryAfter == ratelimit.Never {
		return 0
	}
	most := exceed.MaxDelay
	if most == 0 {
		most = longestAdmission
	}
	rest := d.RetryAfter
	if d.By.InFlight() && !d.Banned {
		rest = min(placePace, max(0, most-waited))
	}
	if waited+rest > most {
		return 0
	}
	return rest
}

// refuse answers a limited request, as the strictest of its limits says (rules X3 and X8).
func (l *limits) refuse(c *call, ruling *simlimit.Ruling) {
	d := ruling.Decided()
	if c.recording != nil {
		c.exchange.Policy = d.By.Bucket()
	}
	if exceed := d.By.Source.OnExceed; exceed != nil && exceed.Action == "drop" {
		c.outcome.cut = true
		return
	}
	c.tell(ruling)
	h := c.w.Header()
	ruling.RetryAfter(h, c.wallAt(ruling.Now))
	c.limiting.fields = append(c.limiting.fields, "Retry-After")
	if !d.By.Source.HideLimited {
		h[dialect.LimitedBy] = []string{`simulated; policy="` + d.By.Bucket() + `"`}
	}
	for i := range l.list {
		if own := &l.list[i]; own.Limit == d.By && own.response != nil {
			c.giveLimited(own.response)
			return
		}
	}
	c.reply(http.StatusTooManyRequests, http.Header{}, encodeLimit(ruling))
}

func encodeLimit(ruling *simlimit.Ruling) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(ruling.Problem(http.StatusTooManyRequests)); err != nil {
		// Only texts and a number are encoded, so this is not reached.
		return []byte("{}\n")
	}
	return b.Bytes()
}

// giveLimited answers with the author's own response. A preferred wait is for what mocks answer.
func (c *call) giveLimited(r *response) {
	c.outcome.response = r
	ready, delay, failed := c.ready(r)
	if failed != nil {
		c.refuse(failed)
		return
	}
	if delay > 0 && !c.looking && !c.wait(delay) {
		return
	}
	ready.send(c)
}

// tellLimits tells the client of the limits that admitted the request for the mock which answers, if it has some (rule X5).
func (c *call) tellLimits(chosen *choice) {
	if chosen == nil || c.limiting == nil {
		return
	}
	for _, said := range c.limiting.rulings {
		if said.route == chosen.route {
			c.tell(said.ruling)
		}
	}
}

// tell puts the limit fields in the header, from where every kind of answer takes them along. They take the place of what
// the shield has left there: to this client the limit is the mock's.
func (c *call) tell(ruling *simlimit.Ruling) {
	heard := c.heard()
	heard.told = ruling
	fields := http.Header{}
	ruling.Fields(fields, c.wallAt(ruling.Now))
	h := c.w.Header()
	for name, lines := range fields {
		dropHeader(h, name)
		h[name] = lines
		heard.fields = append(heard.fields, name)
	}
}

// yieldFields makes room for the limit fields that the author states (rule RL120).
func (c *call) yieldFields(h http.Header, a *answer) {
	if c.limiting == nil {
		return
	}
	for _, name := range c.limiting.fields {
		if a.states(name) {
			delete(h, name)
		}
	}
}

// keepFields keeps the limit fields through a change of the header: those of an upstream are about another client.
func (c *call) keepFields(h http.Header, change func()) {
	if c.limiting == nil {
		change()
		return
	}
	names := c.limiting.fields
	own := make([][]string, len(names))
	for i, name := range names {
		own[i] = h[name]
	}
	change()
	for i, name := range names {
		dropHeader(h, name)
		h[name] = own[i]
	}
}

// noteLimits records what each limit decided.
func (c *call) noteLimits(ruling *simlimit.Ruling) {
	if c.recording == nil {
		return
	}
	for i := range ruling.Outcomes {
		o := &ruling.Outcomes[i]
		if o.Skipped {
			continue
		}
		noted := mockbase.LimitOutcome{
			Policy: o.By.Bucket(), Kind: "simulated", Key: keyLabel(o), Allowed: o.Allowed, Remaining: o.Remaining,
			RetryAfter: o.RetryAfter,
		}
		if o.By.DryRun() && !o.Allowed {
			noted.Allowed, noted.WouldLimit = true, true
		}
		c.exchange.Limits = append(slices.Clip(c.exchange.Limits), noted)
	}
}

// limitView is what templates see of the limit that decided.
func (c *call) limitView() *template.Limit {
	if c.limiting == nil || c.limiting.told == nil {
		return nil
	}
	told := c.limiting.told
	o := told.Told()
	if o == nil {
		return nil
	}
	view := &template.Limit{Limit: o.Limit, Remaining: o.Remaining, Policy: o.By.Bucket()}
	view.Reset, _ = ratelimit.RetryAfterSeconds(told.Reset(o))
	if d := told.Decided(); d != nil {
		view.RetryAfter, _ = ratelimit.RetryAfterSeconds(d.RetryAfter)
	}
	return view
}

// releaseLimits gives back the places that the request held until its answer was written.
func (c *call) releaseLimits() {
	if c.limiting == nil {
		return
	}
	for _, said := range c.limiting.rulings {
		said.ruling.Release()
	}
}
