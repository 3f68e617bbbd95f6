package management

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
)

// MockPlane is what this plane asks of the one that serves mocks.
type MockPlane interface {
	// Explain says what would become of a request, and consumes nothing. It fails with CodeNotFound and
	// CodeValidationFailed, whose pointers are relative to the body of M-150: #/request, #/session, #/document.
	Explain(ctx context.Context, q *mockbase.Question) (*mockbase.Explanation, error)
	// ExplainExchange explains a recorded exchange by the mocks of its time and of now.
	ExplainExchange(ctx context.Context, x *mockbase.Exchange, sight mockbase.Sight) (*mockbase.Explanation, error)
	// Comparer compiles the request of a mock, and returns what compares recorded exchanges with it. It fails like Explain, with
	// pointers relative to the mock.
	Comparer(ctx context.Context, projectID string, m *mockbase.Mock) (func(*mockbase.Exchange) mockbase.Candidate, error)
	// ClientKeys compiles the key of expect.backoff, and returns what finds its value for a recorded exchange; false is that it
	// was masked.
	ClientKeys(ctx context.Context, projectID string, keys []string) (func(*mockbase.Exchange) (string, bool), error)
	// Send makes a request as a client would, past the shield. It fails like Explain.
	Send(ctx context.Context, of *mockbase.Errand) (*mockbase.Sent, error)
}

// The bounds of a request that a body holds.
const (
	maxSampleHeaders = 200
	longestSession   = 64
)

// readSample reads the request of try and send (rule M-82).
func readSample(f *mockbase.Fields, to *mockbase.SampleRequest) {
	r := f.Object("request")
	f.Required("request")
	if r == nil {
		return
	}
	if r.Text("method", &to.Method) && to.Method == "" {
		r.Fault("method", mockbase.FieldRequired, "is empty, and a request has a method like GET")
	}
	r.Text("target", &to.Target)
	r.Required("method", "target")
	readHeaderLines(r, to)
	var text, coded string
	r.Text("body", &text)
	to.Body = []byte(text)
	if r.Text("bodyBase64", &coded) {
		decoded, err := base64.StdEncoding.DecodeString(coded)
		switch {
		case err != nil:
			r.Fault("bodyBase64", mockbase.FieldPattern, "must be base64")
		case text != "":
			r.Fault("bodyBase64", mockbase.FieldConflict, "a request has body or bodyBase64, not both")
		default:
			to.Body = decoded
		}
	}
	r.Done()
}

// readHeaderLines reads [[name, value], …].
func readHeaderLines(f *mockbase.Fields, to *mockbase.SampleRequest) {
	list := f.Node("headers")
	if list == nil {
		return
	}
	if list.Kind != mockbase.NodeList || len(list.Items) > maxSampleHeaders {
		f.Fault("headers", mockbase.FieldType, "must be at most %d pairs of a name and a value: [[name, value], …]", maxSampleHeaders)
		return
	}
	for i, item := range list.Items {
		if item.Kind != mockbase.NodeList || len(item.Items) != 2 || item.Items[0].Kind != mockbase.NodeText || item.Items[1].Kind != mockbase.NodeText {
			f.Fault("headers", mockbase.FieldType, "item %d must be a pair of texts: [name, value]", i)
			continue
		}
		to.Headers = append(to.Headers, [2]string{item.Items[0].Text, item.Items[1].Text})
	}
}

// readSession reads the name of a session.
func readSession(f *mockbase.Fields, to *string) {
	if f.Text("session", to) && (*to == "" || len(*to) > longestSession) {
		f.Fault("session", mockbase.FieldPattern, "must be the name of a session")
	}
}

// try explains a sample request by all mocks (M-151).
func (s *Server) try(c *call) error {
	q := &mockbase.Question{ProjectID: c.project.Project.ID}
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		readSample(f, &q.Request)
		readSession(f, &q.Session)
	})
	if err != nil {
		return err
	}
	return s.answerExplanation(c, q)
}

// tryMock explains a sample request with an eye on one mock, or on a document in its place that is not saved (M-150).
func (s *Server) tryMock(c *call) error {
	q := &mockbase.Question{ProjectID: c.project.Project.ID, Mock: c.mock.ID}
	var document *mockbase.Node
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		readSample(f, &q.Request)
		readSession(f, &q.Session)
		document = f.Node("document")
	})
	if err != nil {
		return err
	}
	if document != nil {
		if q.Document, err = mockbase.DecodeMock(document.JSON(), mockbase.FormatJSON); err != nil {
			return inDocument(mockbase.MoreFaults(err, s.Catalog.MockFaults(c.project.Project, q.Document)))
		}
	}
	return s.answerExplanation(c, q)
}

// inDocument puts the faults of a mock's document at their places in the body.
func inDocument(err error) error {
	known := refusal(err)
	moved := *known
	moved.Fields = make([]mockbase.FieldError, len(known.Fields))
	for i, f := range known.Fields {
		f.Pointer, f.Line, f.Column = "#/document"+strings.TrimPrefix(f.Pointer, "#"), 0, 0
		moved.Fields[i] = f
	}
	return &moved
}

func (s *Server) answerExplanation(c *call, q *mockbase.Question) error {
	q.Request.Client, q.Sight = s.addressOf(c), c.sight()
	told, err := s.Mocks.Explain(c.ctx(), q)
	if err != nil {
		return err
	}
	return c.explained(told)
}

// explained answers with an explanation, without the values of secret variables that the caller may not see.
func (c *call) explained(told *mockbase.Explanation) error {
	if c.seesSecrets() {
		return c.json(http.StatusOK, explanationOf(told))
	}
	shown := *told
	if told.Response != nil {
		response := *told.Response
		if body := c.hiding().Bytes(response.Body); !bytes.Equal(body, response.Body) {
			response.Body, response.BodySize = body, int64(len(body))
		}
		shown.Response = &response
	}
	c.bytes(http.StatusOK, typeJSON, c.hiding().JSON(encode(explanationOf(&shown))))
	return nil
}

// addressOf is the caller's address, "" if it is unknown.
func (s *Server) addressOf(c *call) string {
	if at := s.ClientAddress(c.Request()); at.IsValid() {
		return at.String()
	}
	return ""
}

// explainExchange explains a recorded exchange (M-177).
func (s *Server) explainExchange(c *call) error {
	x, err := s.exchange(c)
	if err != nil {
		return err
	}
	told, err := s.Mocks.ExplainExchange(c.ctx(), x, c.sight())
	if err != nil {
		return err
	}
	return c.explained(told)
}

// explanationView is an explanation as the API shows one (rule M-64).
type explanationView struct {
	Outcome    mockbase.AnsweredBy   `json:"outcome"`
	Mock       *mockRef              `json:"mock,omitempty"`
	DecidedBy  string                `json:"decidedBy,omitempty"`
	Candidates []candidateView       `json:"candidates"`
	Hints      []string              `json:"hints"`
	Limits     []outlookView         `json:"limits"`
	Response   *answerView           `json:"response,omitempty"`
	Changed    []mockbase.Difference `json:"changed,omitempty"`
	Current    *explanationView      `json:"current,omitempty"`
}

type candidateView struct {
	Mock    mockRef          `json:"mock"`
	Matched bool             `json:"matched"`
	Score   int              `json:"score"`
	Of      int              `json:"of"`
	Checks  []mockbase.Check `json:"checks"`
}

// outlookView is what a limit decides, or would.
type outlookView struct {
	limitView

	Limit   int64   `json:"limit,omitempty"`
	ResetAt *string `json:"resetAt,omitempty"`
}

// answerView is the response that is chosen. Without rendered its status is the one that it states.
type answerView struct {
	Name     string      `json:"name,omitempty"`
	Kind     string      `json:"kind"`
	Rendered bool        `json:"rendered"`
	Status   int         `json:"status,omitempty"`
	Headers  [][2]string `json:"headers,omitempty"`
	BodySize int64       `json:"bodySize"`
	bodyView
	DelayMs float64 `json:"delayMs"`
	Fault   string  `json:"fault,omitempty"`
	Seed    string  `json:"seed,omitempty"`
	Call    int64   `json:"call,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func explanationOf(x *mockbase.Explanation) *explanationView {
	if x == nil {
		return nil
	}
	v := &explanationView{
		Outcome: x.Outcome, DecidedBy: x.DecidedBy, Candidates: []candidateView{}, Hints: x.Hints, Limits: []outlookView{},
		Changed: x.Changed, Current: explanationOf(x.Current), Response: answerOf(x.Response),
	}
	if x.Mock.Name != "" {
		v.Mock = &mockRef{ID: x.Mock.ID, Name: x.Mock.Name, Version: x.Mock.Version}
	}
	for i := range x.Candidates {
		own := &x.Candidates[i]
		v.Candidates = append(v.Candidates, candidateView{
			Mock:    mockRef{ID: own.Mock.ID, Name: own.Mock.Name, Version: own.Mock.Version},
			Matched: own.Matched, Score: own.Score, Of: own.Of, Checks: own.Checks,
		})
	}
	for _, l := range x.Limits {
		v.Limits = append(v.Limits, outlookView{
			limitView: limitView{
				Policy: l.Policy, Kind: l.Kind, Key: l.Key, Allowed: l.Allowed, WouldLimit: l.WouldLimit, Remaining: l.Remaining,
				RetryAfterMs: waitMs(l.RetryAfter),
			},
			Limit: l.Limit, ResetAt: maybeTime(l.Reset),
		})
	}
	return v
}

func answerOf(r *mockbase.ResponseOutlook) *answerView {
	if r == nil {
		return nil
	}
	v := &answerView{
		Name: r.Name, Kind: r.Kind, Rendered: r.Rendered, Status: r.Status, BodySize: r.BodySize, DelayMs: milliseconds(r.Delay),
		Fault: r.Fault, Seed: r.Seed, Call: r.Call, Error: r.Error,
	}
	if r.Rendered {
		v.Headers, v.bodyView = headerPairs(r.Header), showBody(r.Body, r.BodySize)
	}
	return v
}

// exchange finds the exchange that the path names, as the caller may see it.
func (s *Server) exchange(c *call) (*mockbase.Exchange, error) {
	id, err := pathParam(c, "id")
	if err != nil {
		return nil, err
	}
	x, ok := s.Traffic.Exchange(c.project.Project.ID, id)
	if !ok {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "the project has no recorded exchange %s; old ones make room for new ones", shown(id))
	}
	return c.seen(x), nil
}
