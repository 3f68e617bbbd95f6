package management

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/verdict"
)

// backoffQuestion is what is asked of clients that were refused.
type backoffQuestion struct {
	// all are thresholds for the clients of every mock; own asks for those that mocks state themselves.
	all *mockbase.ExpectBackoff
	own bool
	// mock is the name or id of the one mock that is asked about, "" for all.
	mock     string
	question verdict.BackoffQuestion
}

func (b *backoffQuestion) asked() bool { return b.all != nil || len(b.question.Mocks) > 0 }

// backoffMembers are the members of expect.backoff that a query may have, with those that are numbers.
func backoffMembers() (all, numbers []string) {
	numbers = []string{"maxEarly", "minGrowth", "minJitter", "maxAttempts", "maxHerd", "maxUnsafe", "minRejections"}
	return append([]string{"key", "tolerance", "giveUpAfter"}, numbers...), numbers
}

// backoffQuery lists the parameters of M-181.
func backoffQuery() []string {
	members, _ := backoffMembers()
	return append([]string{"session", "since", "mock", "policy"}, members...)
}

// backoff judges how clients behaved that were refused (M-181, rules AA32 to AA39).
func (s *Server) backoff(c *call) error {
	p := c.params()
	v := &verification{filter: mockbase.TrafficFilter{Session: p.text("session"), Since: p.moment("since"), Mock: p.text("mock")}}
	v.backoff = backoffQuestion{all: p.backoff(), own: true, mock: v.filter.Mock, question: verdict.BackoffQuestion{Policy: p.text("policy")}}
	if err := p.err(); err != nil {
		return err
	}
	if err := s.rangeOf(c, v); err != nil {
		return err
	}
	if err := s.askBackoff(c, v, queryPointer("key")); err != nil {
		if mockbase.ErrorCode(err) == mockbase.CodeValidationFailed {
			p.fault("key", mockbase.FieldSyntax, "%s", refusal(err).Message)
			return p.err()
		}
		return err
	}
	if err := s.neverSeen(c, v); err != nil {
		return err
	}
	all, complete := s.recorded(c, v)
	if v.backoff.mock != "" && len(v.backoff.question.Mocks) == 0 && len(all) == 0 {
		p.faults.Append(mockbase.FieldError{
			Pointer: queryPointer("mock"), Code: mockbase.FieldReference, Detail: "the project has no mock " + shown(v.backoff.mock),
			Suggestion: mockbase.Suggest(v.backoff.mock, mockNames(c.project)),
		})
		return p.err()
	}
	return c.json(http.StatusOK, verdict.JudgeBackoff(&v.backoff.question, all, complete))
}

func mockNames(p *mockbase.Snapshot) []string {
	names := make([]string, len(p.Mocks))
	for i, m := range p.Mocks {
		names[i] = m.Name
	}
	return names
}

// backoff reads the members of expect.backoff. A key of several parts has commas between them.
func (p *params) backoff() *mockbase.ExpectBackoff {
	members, numbers := backoffMembers()
	given := map[string]any{}
	for _, name := range members {
		text := p.text(name)
		switch {
		case !p.values.Has(name):
		case slices.Contains(numbers, name) && json.Valid([]byte(text)):
			given[name] = json.RawMessage(text)
		case name == "key" && strings.Contains(text, ",") && !strings.HasPrefix(text, "template:"):
			given[name] = strings.Split(text, ",")
		default:
			given[name] = text
		}
	}
	document, err := json.Marshal(given)
	if err == nil {
		var stated *mockbase.ExpectBackoff
		if stated, err = mockbase.DecodeBackoff(document); err == nil {
			return stated
		}
	}
	for _, fault := range refusal(err).Fields {
		// Of a key with several parts the parameter is to be mended.
		name, _, _ := strings.Cut(strings.TrimPrefix(fault.Pointer, "#/"), "/")
		p.fault(name, fault.Code, "%s", name+" "+fault.Detail)
	}
	return &mockbase.ExpectBackoff{}
}

// askBackoff prepares the question; at is where its key was stated.
func (s *Server) askBackoff(c *call, v *verification, at string) error {
	b := &v.backoff
	key, err := s.clientKeys(c, b.all, at)
	if err != nil {
		return err
	}
	stated := map[string]*mockbase.ExpectBackoff{}
	for _, m := range c.project.Mocks {
		if m.Expect != nil && m.Expect.Backoff != nil && !m.Disabled {
			stated[m.ID] = m.Expect.Backoff
		}
		if b.isAbout(m, stated[m.ID] != nil) {
			b.question.Mocks = append(b.question.Mocks, mockbase.MockRef{ID: m.ID, Name: m.Name, Version: m.Version})
		}
	}
	b.question.Terms = func(ref mockbase.MockRef) *verdict.Terms {
		if b.all == nil && stated[ref.ID] == nil {
			return nil
		}
		terms := verdict.TermsOf(b.all, stated[ref.ID])
		terms.Key = key
		return &terms
	}
	return nil
}

// isAbout tells whether a mock is judged even where it refused nobody.
func (b *backoffQuestion) isAbout(m *mockbase.Mock, states bool) bool {
	if b.mock != "" {
		return m.Name == b.mock || m.ID == b.mock
	}
	return b.own && states
}

// clientKeys compiles the key that goes before those of the mocks; nil is none.
func (s *Server) clientKeys(c *call, stated *mockbase.ExpectBackoff, at string) (func(*mockbase.Exchange) (string, bool), error) {
	if stated == nil || len(stated.Keys) == 0 {
		return nil, nil //nolint:nilnil // no key is no error
	}
	key, err := s.Mocks.ClientKeys(c.ctx(), c.project.Project.ID, stated.Keys)
	if mockbase.ErrorCode(err) == mockbase.CodeValidationFailed {
		return nil, invalidAt(at, "the key is no template that can be read")
	}
	return key, err
}
