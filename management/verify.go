package management

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/verdict"
)

// The bounds of a verification (rule M-72).
const (
	longestVerify   = time.Minute
	maxExpectations = 1000
	// verifyPace is how often a verification that waits looks whether something came.
	verifyPace = 50 * time.Millisecond
)

// verification is what a caller asks to be judged.
type verification struct {
	filter mockbase.TrafficFilter
	wait   time.Duration
	// began is when the session began, whose exchanges can't be older.
	began time.Time
	// unknown is the refusal of a session that is not there now; it may have ended, or begin during the wait.
	unknown  error
	question verdict.Question
	backoff  backoffQuestion
}

// expected is one expectation as it was sent.
type expected struct {
	name, mock string
	request    *mockbase.Node
	answeredBy mockbase.AnsweredBy
	times      *mockbase.Range
	inOrder    bool
	// at is its pointer in the body, "" for one that a mock states.
	at string
}

// verify judges what was recorded by expectations, or by those of the mocks themselves, and waits for a while until they are
// met (M-180, rule M-72).
func (s *Server) verify(c *call) error {
	v, list := &verification{}, []expected(nil)
	stated := false
	err := c.maybeObject(func(f *mockbase.Fields) {
		v.read(f)
		stated = f.Has("expectations")
		list = readExpectations(f)
	})
	if err != nil {
		return err
	}
	if !stated {
		list = ownExpectations(c.project)
	}
	if err := s.rangeOf(c, v); err != nil {
		return err
	}
	for i := range list {
		e, err := s.expectation(c, &list[i])
		if err != nil {
			return err
		}
		v.question.Expectations = append(v.question.Expectations, e)
	}
	v.backoff.own = !stated
	if err := s.askBackoff(c, v, "#/backoff/key"); err != nil {
		return err
	}
	for _, m := range c.project.Mocks {
		if !m.Disabled {
			v.question.Mocks = append(v.question.Mocks, m.Name)
		}
	}
	judged := s.await(c, v)
	if err := s.neverSeen(c, v); err != nil {
		return err
	}
	return c.json(http.StatusOK, judged)
}

// neverSeen refuses a session that is not there and that left no traffic: its name is misspelt more likely than not. What
// was dropped or evicted may have been of it.
func (s *Server) neverSeen(c *call, v *verification) error {
	if v.unknown == nil {
		return nil
	}
	if _, err := s.State.Session(c.project.Project.ID, v.filter.Session); err == nil {
		return nil
	}
	page := s.Traffic.Traffic(c.project.Project.ID, mockbase.TrafficFilter{Session: v.filter.Session, Masked: true}, "", 1)
	if len(page.Items) > 0 || !page.LostUntil.IsZero() {
		return nil
	}
	return v.unknown
}

// read reads everything but the expectations.
func (v *verification) read(f *mockbase.Fields) {
	readSession(f, &v.filter.Session)
	var since string
	if f.Text("since", &since) {
		at, err := time.Parse(time.RFC3339Nano, since)
		if err != nil {
			f.Fault("since", mockbase.FieldPattern, "must be a time like 2026-03-01T12:00:00.000Z, not %s", shown(since))
		}
		v.filter.Since = at
	}
	if f.Duration("wait", &v.wait) && (v.wait < 0 || v.wait > longestVerify) {
		f.Fault("wait", mockbase.FieldRange, "must be at most %s", durationText(longestVerify))
	}
	v.question.Unmatched, v.question.Unused = readLevel(f, "unmatched", verdict.LevelWarn), readLevel(f, "unused", verdict.LevelIgnore)
	v.backoff.all = f.Backoff("backoff")
}

// readLevel reads how much something weighs.
func readLevel(f *mockbase.Fields, name string, otherwise verdict.Level) verdict.Level {
	text := string(otherwise)
	f.Text(name, &text)
	level := verdict.Level(text)
	if level != verdict.LevelFail && level != verdict.LevelWarn && level != verdict.LevelIgnore {
		f.Fault(name, mockbase.FieldEnum, "must be fail, warn or ignore, not %s", shown(text))
	}
	return level
}

// readExpectations reads the list of a body.
func readExpectations(f *mockbase.Fields) []expected {
	objects := f.Objects("expectations")
	if len(objects) > maxExpectations {
		f.Fault("expectations", mockbase.FieldLimit, "must have at most %d items", maxExpectations)
		return nil
	}
	list := make([]expected, 0, len(objects))
	for i, o := range objects {
		e := expected{at: "#/expectations/" + strconv.Itoa(i), request: o.Node("request")}
		o.Text("name", &e.name)
		o.Text("mock", &e.mock)
		if (e.mock == "") == (e.request == nil) {
			o.Fault("mock", mockbase.FieldConflict, "an expectation has either mock or request")
		}
		var by string
		if o.Text("answeredBy", &by) && !slices.Contains(answeredBy(), by) {
			o.Fault("answeredBy", mockbase.FieldEnum, "must be one of %s", strings.Join(answeredBy(), ", "))
		}
		e.answeredBy = mockbase.AnsweredBy(by)
		e.times = o.Range("times")
		o.Bool("inOrder", &e.inOrder)
		o.Required("times")
		o.Done()
		list = append(list, e)
	}
	return list
}

// ownExpectations are what the mocks themselves state.
func ownExpectations(p *mockbase.Snapshot) []expected {
	var list []expected
	for _, m := range p.Mocks {
		if m.Expect != nil && m.Expect.Calls != nil {
			list = append(list, expected{mock: m.Name, times: m.Expect.Calls})
		}
	}
	return list
}

// rangeOf finds out when the session began that is asked about. One that has ended may have left exchanges behind.
func (s *Server) rangeOf(c *call, v *verification) error {
	c.mask(&v.filter)
	if v.filter.Session == "" || s.State == nil {
		return nil
	}
	session, err := s.State.Session(c.project.Project.ID, v.filter.Session)
	switch {
	case err == nil:
		// Another session of that name may have been there before (rule AA11).
		v.began, v.filter.Session = session.StartedAt, session.ID
		return nil
	case mockbase.ErrorCode(err) == mockbase.CodeNotFound:
		v.unknown = err
		return nil
	default:
		return err
	}
}

// expectation prepares one expectation.
func (s *Server) expectation(c *call, from *expected) (verdict.Expectation, error) {
	e := verdict.Expectation{Name: from.name, Times: *from.times, InOrder: from.inOrder}
	request, mock := from.request, (*mockbase.Mock)(nil)
	if from.mock != "" {
		at := slices.IndexFunc(c.project.Mocks, func(m *mockbase.Mock) bool { return m.Name == from.mock || m.ID == from.mock })
		if at < 0 {
			return e, invalidAt(from.at+"/mock", "the project has no mock "+shown(from.mock))
		}
		mock = c.project.Mocks[at]
		document, err := mockbase.ParseNode(mock.Document, mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			return e, fmt.Errorf("read mock: %w", err)
		}
		request = document.Find("request")
	}
	compare, err := s.comparer(c, request, from.at)
	if err != nil {
		return e, err
	}
	e.Likens = func(x *mockbase.Exchange) verdict.Likeness { return likenessOf(compare(x)) }
	if mock != nil {
		e.Fits = func(x *mockbase.Exchange) verdict.Fit { return from.called(mock, x) }
		e.Name = orNamed(e.Name, mock.Name)
		return e, nil
	}
	e.Name = orNamed(e.Name, "expectation "+from.at[strings.LastIndexByte(from.at, '/')+1:])
	e.Fits = func(x *mockbase.Exchange) verdict.Fit {
		if from.answeredBy != "" && x.AnsweredBy != from.answeredBy {
			return verdict.FitNo
		}
		return fitOf(compare(x))
	}
	return e, nil
}

// orNamed is a name, or another one where there is none.
func orNamed(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// called tells whether an exchange is a call of a mock: one that the mock answered, unless another answerer is asked for.
func (e *expected) called(m *mockbase.Mock, x *mockbase.Exchange) verdict.Fit {
	if x.Mock.ID != m.ID {
		return verdict.FitNo
	}
	fits := x.AnsweredBy != mockbase.AnsweredBySimulatedLimit
	if e.answeredBy != "" {
		fits = x.AnsweredBy == e.answeredBy
	}
	if fits {
		return verdict.FitYes
	}
	return verdict.FitNo
}

// comparer compiles a request, and remembers what it compared: a verification that waits looks again and again.
func (s *Server) comparer(c *call, request *mockbase.Node, at string) (func(*mockbase.Exchange) mockbase.Candidate, error) {
	document := slices.Concat([]byte(`{"request":`), request.JSON(), []byte(`,"response":{"status":200}}`))
	m, err := mockbase.DecodeMock(document, mockbase.FormatJSON)
	if err != nil {
		return nil, inExpectation(mockbase.MoreFaults(err, s.Catalog.MockFaults(c.project.Project, m)), at)
	}
	compare, err := s.Mocks.Comparer(c.ctx(), c.project.Project.ID, m)
	if err != nil {
		return nil, inExpectation(err, at)
	}
	known := map[*mockbase.Exchange]mockbase.Candidate{}
	return func(x *mockbase.Exchange) mockbase.Candidate {
		found, ok := known[x]
		if !ok {
			found = compare(x)
			known[x] = found
		}
		return found
	}, nil
}

// inExpectation puts the faults of a request at their places in the body.
func inExpectation(err error, at string) error {
	fault := *refusal(err)
	fault.Fields = slices.Clone(fault.Fields)
	for i := range fault.Fields {
		f := &fault.Fields[i]
		f.Pointer, f.Line, f.Column = at+strings.TrimPrefix(f.Pointer, "#"), 0, 0
	}
	return &fault
}

func invalidAt(pointer, detail string) error {
	return &mockbase.Error{
		Code: mockbase.CodeValidationFailed, Message: detail, Fields: []mockbase.FieldError{{Pointer: pointer, Code: mockbase.FieldReference, Detail: detail}},
	}
}

// fitOf is unclear where nothing fails but what was not kept as it was sent.
func fitOf(found mockbase.Candidate) verdict.Fit {
	if found.Matched {
		return verdict.FitYes
	}
	for i := range found.Checks {
		if k := &found.Checks[i]; !k.OK && !k.Doubtful {
			return verdict.FitNo
		}
	}
	return verdict.FitUnclear
}

func likenessOf(found mockbase.Candidate) verdict.Likeness {
	l := verdict.Likeness{Score: found.Score, Of: found.Of}
	if at := slices.IndexFunc(found.Checks, func(k mockbase.Check) bool { return !k.OK }); at >= 0 {
		l.Failed = found.Checks[at]
	}
	return l
}

// await judges until the verdict is a pass, or the time to wait is over.
func (s *Server) await(c *call, v *verification) *verdict.Verdict {
	ctx, cancel := context.WithTimeout(c.ctx(), v.wait)
	defer cancel()
	tick := time.NewTicker(verifyPace)
	defer tick.Stop()
	place := int64(-1)
	var judged *verdict.Verdict
	for {
		if now, _ := s.Traffic.Position(c.project.Project.ID, ""); judged == nil || now != place {
			place = now
			judged = s.judge(c, v)
		}
		if v.wait == 0 || judged.Verdict == verdict.Pass {
			return judged
		}
		select {
		case <-ctx.Done():
			return s.judge(c, v)
		case <-s.streams.ended.Done():
			return judged
		case <-tick.C:
		}
	}
}

// judge judges what is recorded now.
func (s *Server) judge(c *call, v *verification) *verdict.Verdict {
	oldestFirst, complete := s.recorded(c, v)
	judged := verdict.Judge(&v.question, oldestFirst, complete)
	if v.backoff.asked() {
		judged.Add(verdict.JudgeBackoff(&v.backoff.question, oldestFirst, complete))
	}
	return judged
}

// recorded are the exchanges of a verification's range, oldest first, and whether none is missing.
func (s *Server) recorded(c *call, v *verification) (oldestFirst []*mockbase.Exchange, complete bool) {
	page := s.Traffic.Traffic(c.project.Project.ID, v.filter, "", math.MaxInt)
	oldestFirst = slices.Clone(page.Items)
	slices.Reverse(oldestFirst)
	since := v.filter.Since
	if v.began.After(since) {
		since = v.began
	}
	return oldestFirst, page.LostUntil.IsZero() || page.LostUntil.Before(since)
}
