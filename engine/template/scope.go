package template

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Request is what templates see of the request that is answered. Texts are decoded; lists hold values in the order they
// came in; a name that is absent has no values. An implementation may parse lazily, as all calls for one Scope come from
// one goroutine.
type Request interface {
	// Method is the request's method, upper case or not, as it was sent.
	Method() string
	// Path is the decoded path below the project, and RawPath the same as it was sent.
	Path() string
	RawPath() string
	// RawQuery is what follows the question mark, as it was sent.
	RawQuery() string
	// URL is the whole URL: scheme, host, raw path and raw query.
	URL() string
	// Host has no port; Port is empty where none was named.
	Host() string
	Port() string
	Scheme() string
	ClientIP() string
	// ID is the id of the exchange.
	ID() string

	// PathParam gives the value of a path parameter; Segment the decoded segment number i, from 0; Matrix a matrix
	// parameter of any segment.
	PathParam(name string) (string, bool)
	Segment(i int) (string, bool)
	Matrix(name string) (string, bool)
	// PathParamNames lists the parameters in the order of the path.
	PathParamNames() []string

	// Query, Form, Cookie, Header and Trailer list the values of a name. Header and trailer names match in any case. The
	// caller does not change the lists.
	Query(name string) []string
	Form(name string) []string
	Cookie(name string) []string
	Header(name string) []string
	Trailer(name string) []string
	// The names, each once, in the order they came in.
	QueryNames() []string
	FormNames() []string
	CookieNames() []string
	TrailerNames() []string

	// Body is the body as JSON; false where it is none. BodyText is the decoded body as text.
	Body() (*jsonvalue.Value, bool)
	BodyText() string
	// XPath gives the texts of the nodes that an XPath 1.0 expression selects in an XML body, in document order; none where
	// the body is no XML. An expression that gives a number, text or boolean has one text. It bounds its own work.
	XPath(expression string) ([]string, error)
	// Part gives the first part of that name of a multipart body.
	Part(name string) (*Part, bool)
}

// Part is one part of a multipart body.
type Part struct {
	Name, Filename, ContentType string
	// Text is the part's content, and Size its length in bytes.
	Text string
	Size int64
}

// Limit is the state of the limit that decided about the request.
type Limit struct {
	Limit, Remaining int64
	// Reset and RetryAfter are seconds from now, rounded up.
	Reset, RetryAfter int64
	// Policy is the policy's name.
	Policy string
}

// Response is the answer that a webhook speaks of, as it was sent.
type Response struct {
	Status int
	// Headers holds the values of each name; names match in any case.
	Headers map[string][]string
	Body    []byte
}

// Scope is everything that one rendering can see, with the budget of the rendering (rule P9). All texts of one answer share
// one Scope, so that their random values are drawn from one stream (rule P13); it must not be used by two goroutines at
// once. Fields that do not apply are left zero: their values are missing.
type Scope struct {
	Request Request
	// Variables are the project's and session's variables, each a JSON text.
	Variables map[string]json.RawMessage
	// State is the state of the mock's scenario, Call the number of the mock's call from 1, Session the session's id, Seed the
	// seed in force.
	State   string
	Call    int64
	Session string
	Seed    string
	// Now is the session's time; one rendering has one now (rule P13).
	Now time.Time
	// Rand makes the generator that random functions draw from; it is called once, by the first of them (rule AA19). Without
	// it they fail.
	Rand func() *rand.Rand
	// Limit is nil where no limit took part; Response and Attempt belong to webhooks.
	Limit    *Limit
	Response *Response
	Attempt  int
	// Notes is told of each missing value once, such as "body.a is missing"; nil for nobody.
	Notes func(note string)

	generator *rand.Rand
	noted     map[string]struct{}
	variables map[string]any
	document  *document
	// parsed is the answer whose body parsedBody is.
	parsed     *Response
	parsedBody any
	budget     budget
}

// Renew starts a new rendering: the budget is full again, while random values go on where they were. A webhook calls it
// before each attempt.
func (s *Scope) Renew() { s.budget = budget{} }

// Again is a scope for rendering the same once more with other variables: with a budget of its own, the same random values
// and nobody who is told of what is missing.
func (s *Scope) Again(variables map[string]json.RawMessage) *Scope {
	return &Scope{
		Request: s.Request, Variables: variables, State: s.State, Call: s.Call, Session: s.Session, Seed: s.Seed, Now: s.Now,
		Rand: s.Rand, Limit: s.Limit, Response: s.Response, Attempt: s.Attempt,
	}
}

// maxNotes bounds what one rendering tells about missing values.
const maxNotes = 20

// note tells once that a value is missing.
func (s *Scope) note(expression string) {
	if s.Notes == nil || len(s.noted) >= maxNotes {
		return
	}
	if _, known := s.noted[expression]; known {
		return
	}
	if s.noted == nil {
		s.noted = make(map[string]struct{})
	}
	s.noted[expression] = struct{}{}
	s.Notes(expression + " is missing")
}

// random is the stream of random values of the rendering.
func (s *Scope) random() (*rand.Rand, error) {
	if s.generator == nil {
		if s.Rand == nil {
			return nil, failure("there is nothing to draw random values from here")
		}
		s.generator = s.Rand()
	}
	return s.generator, nil
}

// variable gives a variable's value, parsed once.
func (s *Scope) variable(name string) (any, bool) {
	if v, ok := s.variables[name]; ok {
		return v, true
	}
	source, ok := s.Variables[name]
	if !ok {
		return nil, false
	}
	v := parseLoosely(source)
	if s.variables == nil {
		s.variables = make(map[string]any)
	}
	s.variables[name] = v
	return v, true
}

// parseLoosely gives JSON as a value, and what is no JSON as text.
func parseLoosely(source []byte) any {
	v, err := jsonvalue.Parse(source, jsonvalue.Limits{})
	if err != nil {
		return string(source)
	}
	return fromJSON(v)
}

// alive says whether a rendering may go on at all.
func alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return failure("the request ended: " + err.Error())
	}
	return nil
}
