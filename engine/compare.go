package engine

import (
	"context"

	"github.com/mockbase/mockbase"
)

// comparedID is the id of a mock that exists for comparing alone.
const comparedID = "mck_compared"

// Comparer compiles the request of a mock, and returns what compares recorded exchanges with it; nothing is consumed. Checks
// of what was masked or cut when it was recorded have a hint. It fails like Explain, with pointers relative to the mock.
func (e *Engine) Comparer(ctx context.Context, projectID string, m *mockbase.Mock) (func(*mockbase.Exchange) mockbase.Candidate, error) {
	p, err := e.published(projectID)
	if err != nil {
		return nil, err
	}
	alone := *p.project
	alone.Config = mockbase.Config{Settings: p.project.Config.Settings}
	compared := *m
	compared.ID, compared.ProjectID, compared.Version = comparedID, projectID, 1
	if faults := e.CheckMock(&alone.Config, &compared); len(faults) > 0 {
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the request cannot be compared", Fields: faults}
	}
	made, err := e.compile(&mockbase.Snapshot{Project: &alone, Mocks: []*mockbase.Mock{&compared}}, nil)
	if err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the request cannot be compared", Err: err}
	}
	made.sessions = p.sessions
	return func(x *mockbase.Exchange) mockbase.Candidate { return e.compareExchange(ctx, made, x) }, nil
}

// compareExchange compares an exchange with the one mock of a program. What cannot be read as a request matches nothing.
func (e *Engine) compareExchange(ctx context.Context, p *program, x *mockbase.Exchange) mockbase.Candidate {
	unread := mockbase.Candidate{Of: 1, Checks: []mockbase.Check{{Part: partPath, Operator: "readable", Actual: printable(x.Request.Target)}}}
	c, err := e.lookAgain(ctx, p, x)
	if err != nil {
		return unread
	}
	c.session = p.sessions.Default()
	if c.prefer() != nil || c.locate() != nil || c.readBody() != nil {
		return unread
	}
	like := []likeness{c.liken(p.mockOf(comparedID))}
	c.hideFindings(like)
	room := maxDiagnosis
	told := mockbase.Explanation{Candidates: []mockbase.Candidate{c.candidateOf(&like[0], &room)}}
	markDoubtful(&told, x)
	return told.Candidates[0]
}
