package mockbase

import (
	"net/http"
	"time"
)

// SampleRequest is a request that somebody makes up, to be explained or sent (rule M-82).
type SampleRequest struct {
	Method string
	// Target is the request target as a client of the project writes it: a path below the project's base path, or the whole
	// target with it.
	Target string
	// Headers are field lines in their order.
	Headers [][2]string
	Body    []byte
	// Client is the address that the request seems to come from, "" for this machine.
	Client string
}

// Question asks what would become of a sample request (rule AA28).
type Question struct {
	ProjectID string
	Request   SampleRequest
	// Session is a session's name; "" is the one that the request names itself, or the default one.
	Session string
	// Mock is the id of a mock that is compared whether or not it comes near; "" is none.
	Mock string
	// Document stands in the place of that mock, as if it were saved; nil is the stored one.
	Document *Mock
	// Sight is what the one who asks may see.
	Sight Sight
}

// Sight is what an explanation may show.
type Sight uint8

// SeesAll is for who may change mocks, and so can have everything that templates read. To others the values of secret
// variables are masks, from before they are rendered.
const (
	SeesAll Sight = iota
	SeesNoSecrets
)

// The steps of rule A2, as DecidedBy names them.
const (
	DecidedByPriority    = "priority"
	DecidedBySpecificity = "specificity"
	DecidedByMethod      = "method"
	DecidedByGuards      = "guards"
	DecidedByNewest      = "newest"
)

// Explanation says what becomes of a request, and why (rule M-64).
type Explanation struct {
	// Outcome is who answers.
	Outcome AnsweredBy
	// Mock is the mock that answers, or whose limit does; its zero value means none.
	Mock MockRef
	// DecidedBy is the step of rule A2 that put the mock before the others which match; "" where no other one does.
	DecidedBy string
	// Candidates come best first.
	Candidates []Candidate
	Hints      []string
	Limits     []LimitOutlook
	// Response is what is answered; nil where that is not known.
	Response *ResponseOutlook
	// Current is the same request against the mocks and the state of now, and Changed what differs; both only of a recorded
	// exchange (rule AA31).
	Current *Explanation
	Changed []Difference
}

// Candidate is a mock that was compared with a request.
type Candidate struct {
	Mock    MockRef
	Matched bool
	// Score counts the checks that hold, of all.
	Score, Of int
	Checks    []Check
}

// Check is one condition of a mock and what became of it. Part is as in [MissedPart].
type Check struct {
	Part     string `json:"part"`
	Name     string `json:"name,omitempty"`
	Operator string `json:"operator"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	OK       bool   `json:"ok"`
	Hint     string `json:"hint,omitempty"`
	// Doubtful tells that the value was masked or cut when it was recorded, so that the check may have held.
	Doubtful bool `json:"-"`
}

// LimitOutlook is what a limit decides about a request, or would decide: nothing is consumed by looking.
type LimitOutlook struct {
	Policy string
	// Kind is "shield" or "simulated".
	Kind string
	Key  string
	// Limit and Remaining are what the policy allows and what of it is left.
	Limit, Remaining int64
	// Reset is when all of it is there again, on the session's clock; the zero time is unknown.
	Reset time.Time
	// RetryAfter is how long a refused request would have to wait; below 0 no wait helps.
	RetryAfter time.Duration
	// Allowed tells that the request is admitted, WouldLimit that a limit without force would have refused it.
	Allowed, WouldLimit bool
}

// ResponseOutlook is the response that is chosen, and its rendered form where rendering has no effect (rule AA28).
type ResponseOutlook struct {
	// Name is that of the mock's response, "" for an answer of the server's own.
	Name string
	// Kind says what the response is: "answer", or what is not tried out: "proxy", "sse", "webSocket", "collection".
	Kind string
	// Rendered tells that status, header and body are those of the answer. Without it, Status is what the response states,
	// 0 if it states none.
	Rendered bool
	Status   int
	Header   http.Header
	// Body holds the first bytes of the body.
	Body     []byte
	BodySize int64
	Delay    time.Duration
	// Fault is the kind of the fault that breaks the answer, "" for none.
	Fault string
	// Seed and Call are what random decisions depend on (rule AA19); Call is 0 for an answer of the server's own.
	Seed string
	Call int64
	// Error says why the answer cannot be made.
	Error string
}

// Difference is something that is another now than it was when an exchange was recorded. What is one of outcome, mock,
// version, state, response and limit.
type Difference struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Moment is what a session remembered of a mock that fitted a request, at the moment of the choice.
type Moment struct {
	// Mock is the mock's id.
	Mock  string
	State string
	Call  int64
	// Spent tells that the mock was used up, Answered that it was the one chosen.
	Spent, Answered bool
}

// Errand is a request that is really sent through the mock plane (rule M-79).
type Errand struct {
	ProjectID string
	Request   SampleRequest
	// Session is a session's name; "" is the one that the request names itself, or the default one.
	Session string
	// Key is what limits by client address see in the place of the address, "" for the address.
	Key string
	// MaxBody is how many bytes of the answer's body are wanted.
	MaxBody int
}

// Sent is what an errand brought back.
type Sent struct {
	// Exchange is the id of the recorded exchange, "" where nothing is recorded.
	Exchange string
	Status   int
	Header   http.Header
	// Body holds the first bytes of the body.
	Body     []byte
	BodySize int64
	Duration time.Duration
	// Broken tells that the answer was broken off, as a client would have seen it.
	Broken bool
}
