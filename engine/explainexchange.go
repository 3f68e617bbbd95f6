package engine

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxMoments is how many mocks are recorded that the session remembered something of.
const maxMoments = maxCandidates

// recordMoments notes what the choice depended on beside the request, so that it can be explained later (rule AA31).
func (c *call) recordMoments(x *mockbase.Exchange) {
	x.Revision = c.program.project.Revision
	for i := range c.refusals[:min(len(c.refusals), maxMoments)] {
		r := &c.refusals[i]
		x.Moments = append(x.Moments, mockbase.Moment{Mock: r.mock.ID, State: r.state, Call: r.number, Spent: r.spent})
	}
	if e := c.chosen.entry; e != nil && e.route == c.outcome.route && e.selection.remembers {
		x.Moments = append(x.Moments, mockbase.Moment{
			Mock: e.mock.ID, State: c.instant.state, Call: c.instant.number, Answered: true,
		})
	}
}

// ExplainExchange explains a recorded exchange by the mocks of its time, and in Current by those of now (rule AA31). What
// was masked or cut when it was recorded cannot be compared again; such checks say so. It fails with CodeNotFound for a
// project that is not published.
func (e *Engine) ExplainExchange(ctx context.Context, x *mockbase.Exchange, sight mockbase.Sight) (*mockbase.Explanation, error) {
	p, err := e.published(x.ProjectID)
	if err != nil {
		return nil, err
	}
	then := e.explainThen(ctx, p, x)
	if bodyWasRefused(x) {
		then.Hints = append(then.Hints, "the request cannot be asked again: its body was too large to be read, and was not kept")
		return then, nil
	}
	now, err := e.lookAgain(ctx, p, x)
	if err != nil {
		then.Hints = append(then.Hints, "the request cannot be asked again: "+err.Error())
		return then, nil //nolint:nilerr // that is told
	}
	if !now.sessionInHeader && !now.sessionInPath && x.Session.Name != "" {
		now.sessionName, now.sessionInHeader = x.Session.Name, true
	}
	now.veiled = sight == mockbase.SeesNoSecrets
	then.Current = now.foretell("")
	markDoubtful(then.Current, x)
	then.Changed = differences(then, then.Current, x)
	return then, nil
}

// bodyWasRefused tells whether a body was too large to be read to its end. One that was refused for what it holds, or for
// the time that it takes to test, was read.
func bodyWasRefused(x *mockbase.Exchange) bool {
	return x.AnsweredBy == mockbase.AnsweredByError && x.Response.Status == http.StatusRequestEntityTooLarge &&
		strings.HasPrefix(x.Error, bodyIsLonger)
}

// lookAgain begins a call that only looks, with the request of an exchange.
func (e *Engine) lookAgain(ctx context.Context, p *program, x *mockbase.Exchange) (*call, error) {
	r, err := e.recordedRequest(ctx, p.project.Slug, sampleOfExchange(x))
	if err != nil {
		return nil, err
	}
	return e.look(p, r), nil
}

// sampleOfExchange is the request of an exchange, as far as it was recorded.
func sampleOfExchange(x *mockbase.Exchange) *mockbase.SampleRequest {
	r := &x.Request
	s := &mockbase.SampleRequest{Method: r.Method, Target: originForm(r.Target), Body: r.Body}
	if x.Client.IP.IsValid() {
		s.Client = x.Client.IP.String()
	}
	if r.Host != "" {
		s.Headers = append(s.Headers, [2]string{"Host", r.Host})
	}
	for name, lines := range r.Header {
		for _, line := range lines {
			s.Headers = append(s.Headers, [2]string{name, line})
		}
	}
	return s
}

// explainThen says what was, from what was recorded.
func (e *Engine) explainThen(ctx context.Context, p *program, x *mockbase.Exchange) *mockbase.Explanation {
	then := &mockbase.Explanation{
		Outcome: x.AnsweredBy, Mock: x.Mock, Candidates: []mockbase.Candidate{}, Limits: outlooks(x.Limits),
		Hints: append([]string{}, x.Hints...), Response: recordedOutlook(x),
	}
	switch x.AnsweredBy { //nolint:exhaustive // all others have asked the mocks
	case mockbase.AnsweredByShield:
		then.Hints = append(then.Hints, "the shield refused the request before any mock was asked")
		return then
	case mockbase.AnsweredByError, mockbase.AnsweredByPreflight:
		if x.Error != "" {
			then.Hints = append(then.Hints, x.Error)
		}
		return then
	}
	old := e.programAt(p, x.Revision)
	if old == nil || x.Revision == 0 {
		then.Candidates = recordedCandidates(x)
		then.Hints = append(then.Hints, "the mocks of that time are no longer kept: this is what was recorded with the exchange")
		return then
	}
	if c, err := e.lookAgain(ctx, old, x); err == nil {
		c.recall(then, x)
	}
	return then
}

// recall compares the mocks of then with the request, at the moments that were recorded. That the mock which answered did
// match is a fact, whatever cannot be compared again.
func (c *call) recall(then *mockbase.Explanation, x *mockbase.Exchange) {
	c.session = c.program.sessions.Default()
	if c.prefer() != nil || c.locate() != nil || c.readBody() != nil {
		return
	}
	for _, m := range x.Moments {
		if e := c.program.mockOf(m.Mock); e != nil {
			r := refusal{entry: e, instant: instant{state: m.State, number: m.Call}, spent: m.Spent}
			if m.Answered {
				c.held = append(c.held, r)
			} else {
				c.refusals = append(c.refusals, r)
			}
		}
	}
	c.recalling = true
	near := c.nearest()
	won := slices.IndexFunc(near, func(l likeness) bool { return x.Mock.Name != "" && l.ref == x.Mock })
	if won > 0 {
		best := near[won]
		near = slices.Insert(slices.Delete(near, won, won+1), 0, best)
	}
	c.compareAll(then, near, "")
	markDoubtful(then, x)
	if won < 0 {
		return
	}
	best := &then.Candidates[0]
	best.Matched, best.Score = true, best.Of
	for i := range best.Checks {
		best.Checks[i].OK = true
	}
	then.DecidedBy = c.decidedBy(near[0].entry, near)
}

// notRecorded stands for what a session remembered of a mock behind the one that answered: a request looks no further.
const (
	notRecorded      = "(not recorded)"
	notRecordedDoubt = "what the session remembered of a mock behind the one that answered is not recorded"
)

// forgotten is what became of the state and the uses of a mock that fits, where nothing of them was recorded.
func (c *call) forgotten(e *entry) []finding {
	s := e.selection
	if !c.recalling || len(s.states) == 0 && s.times == 0 && !s.momentary || c.lookedAt(e) != nil || !c.fits(e) {
		return nil
	}
	part, operator, expected := partState, "in", strings.Join(s.states, ", ")
	switch {
	case len(s.states) > 0:
	case s.times > 0:
		part, operator, expected = partTimes, "times", strconv.FormatInt(s.times, 10)
	default:
		operator, expected = "holds", "the conditions on the state"
	}
	return []finding{{part: part, name: e.mock.Scenario, describe: func() (string, string, string) { return operator, expected, notRecorded }}}
}

// doubt is the hint of a check whose value is not what was sent.
const doubt = "the value was masked or cut when it was recorded, so this may have been otherwise"

// markDoubtful marks checks of what was not recorded as it was sent.
func markDoubtful(x *mockbase.Explanation, of *mockbase.Exchange) {
	for i := range x.Candidates {
		for j := range x.Candidates[i].Checks {
			switch k := &x.Candidates[i].Checks[j]; {
			case k.OK || k.Hint != "":
			case k.Actual == notRecorded && (k.Part == partState || k.Part == partTimes):
				k.Hint, k.Doubtful = notRecordedDoubt, true
			case isDoubtful(k, of):
				k.Hint, k.Doubtful = doubt, true
			}
		}
	}
}

// isDoubtful tells whether a check looked at what was masked or cut.
func isDoubtful(k *mockbase.Check, of *mockbase.Exchange) bool {
	switch k.Part {
	case partBody:
		return of.Request.Truncated
	case partAuth, partCookies:
		return of.Redacted
	case partHeaders:
		return of.Redacted && isMasked(of, k.Name)
	case partQuery:
		return of.Redacted && mockbase.IsSecretName(k.Name)
	default:
		return false
	}
}

// isMasked tells whether the values of a header were masked before they were kept.
func isMasked(x *mockbase.Exchange, name string) bool {
	for recorded, lines := range x.Request.Header {
		if strings.EqualFold(recorded, name) {
			return slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, mask) })
		}
	}
	return false
}

// recordedCandidates are what the exchange itself tells of mocks.
func recordedCandidates(x *mockbase.Exchange) []mockbase.Candidate {
	list := []mockbase.Candidate{}
	if x.Mock.Name != "" {
		list = append(list, mockbase.Candidate{Mock: x.Mock, Matched: true, Checks: []mockbase.Check{}})
	}
	for i := range x.NearMisses {
		near := &x.NearMisses[i]
		own := mockbase.Candidate{
			Mock: mockbase.MockRef{Name: near.Mock}, Checks: []mockbase.Check{}, Score: len(near.Passed), Of: len(near.Passed) + len(near.Failed),
		}
		for _, f := range near.Failed {
			own.Checks = append(own.Checks, mockbase.Check{Part: f.Part, Name: f.Name, Operator: f.Operator, Expected: f.Expected, Actual: f.Actual})
		}
		for _, text := range near.Passed {
			part, name, _ := strings.Cut(text, " ")
			own.Checks = append(own.Checks, mockbase.Check{Part: part, Name: name, Operator: "holds", OK: true})
		}
		list = append(list, own)
	}
	return list
}

// outlooks shows recorded decisions.
func outlooks(limits []mockbase.LimitOutcome) []mockbase.LimitOutlook {
	list := []mockbase.LimitOutlook{}
	for _, l := range limits {
		list = append(list, mockbase.LimitOutlook{
			Policy: l.Policy, Kind: l.Kind, Key: l.Key, Remaining: l.Remaining, RetryAfter: l.RetryAfter, Allowed: l.Allowed, WouldLimit: l.WouldLimit,
		})
	}
	return list
}

// recordedOutlook is the answer that was given.
func recordedOutlook(x *mockbase.Exchange) *mockbase.ResponseOutlook {
	return &mockbase.ResponseOutlook{
		Name: x.Response.Name, Kind: kindAnswer, Rendered: true, Status: x.Response.Status, Header: x.Response.Header,
		Body: x.Response.Body, BodySize: x.Response.BodySize, Delay: x.DelayPlanned, Fault: x.Fault, Seed: x.Seed, Call: x.Call, Error: x.Error,
	}
}

// differences lists what is another now than it was then.
func differences(then, now *mockbase.Explanation, x *mockbase.Exchange) []mockbase.Difference {
	list := []mockbase.Difference{}
	note := func(what, from, to string) {
		if from != to {
			list = append(list, mockbase.Difference{What: what, From: from, To: to})
		}
	}
	note("outcome", string(then.Outcome), string(now.Outcome))
	note("mock", then.Mock.Name, now.Mock.Name)
	if then.Mock.ID != "" && then.Mock.ID == now.Mock.ID {
		note("version", strconv.FormatInt(then.Mock.Version, 10), strconv.FormatInt(now.Mock.Version, 10))
	}
	for _, m := range x.Moments {
		note("state", stateIn(then, m.Mock), stateIn(now, m.Mock))
	}
	if now.Response != nil {
		note("response", then.Response.Name, now.Response.Name)
	}
	for _, l := range then.Limits {
		if i := slices.IndexFunc(now.Limits, func(n mockbase.LimitOutlook) bool { return n.Policy == l.Policy && n.Kind == l.Kind }); i >= 0 {
			note("limit", admission(&l), admission(&now.Limits[i]))
		}
	}
	return slices.Compact(list)
}

// stateIn is the state that a mock's condition found, "" if it has none.
func stateIn(x *mockbase.Explanation, id string) string {
	for i := range x.Candidates {
		if x.Candidates[i].Mock.ID != id {
			continue
		}
		for _, k := range x.Candidates[i].Checks {
			if k.Part == partState {
				return k.Actual
			}
		}
	}
	return ""
}

func admission(l *mockbase.LimitOutlook) string {
	if l.Allowed {
		return l.Policy + " admits"
	}
	return l.Policy + " refuses"
}
