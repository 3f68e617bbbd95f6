package mockbase

import (
	"net/http"
	"net/netip"
	"time"
)

// AnsweredBy says who answered a request; the list is closed (rule AA5).
type AnsweredBy string

// Everything that can answer a request on the mock plane.
const (
	AnsweredByMock           AnsweredBy = "mock"
	AnsweredByCollection     AnsweredBy = "collection"
	AnsweredByDocument       AnsweredBy = "document"
	AnsweredByProxy          AnsweredBy = "proxy"
	AnsweredBySimulatedLimit AnsweredBy = "simulated-limit"
	AnsweredByShield         AnsweredBy = "shield"
	AnsweredByPreflight      AnsweredBy = "preflight"
	AnsweredByOverlay        AnsweredBy = "overlay"
	AnsweredByUnmatched      AnsweredBy = "unmatched"
	AnsweredByError          AnsweredBy = "error"
)

// Exchange is one recorded request and its answer. It is immutable once recorded.
type Exchange struct {
	ID        string
	ProjectID string
	At        time.Time
	// SessionAt is the time of arrival on the clock of the session (rule AA18); zero where the request has no session.
	SessionAt time.Time
	Session   SessionRef
	// Seed is what random decisions depended on, Call the number of the mock's call in the session, from 1; 0 where no mock
	// answered (rule AA21).
	Seed string
	Call int64
	// Forced tells that a preference of the request was honoured (rule AA26), Redacted that values of secrets were masked
	// before the exchange was kept (rule M-81).
	Forced, Redacted, ClientAborted bool
	// MessagesDropped counts messages of a WebSocket conversation that had no room in Messages.
	MessagesDropped int32

	Request    RecordedRequest
	Response   RecordedResponse
	AnsweredBy AnsweredBy
	// Policy is the limit that decided, when one did.
	Policy string
	// Mock is the mock that answered; its zero value means none did.
	Mock   MockRef
	Limits []LimitOutcome
	Client Client
	// ClientKey tells the mock's clients apart whose back-off is judged: the value of the mock's expect.backoff.key, else that of
	// its limits' key; "" where the address does (rule AA32). Secrets in it are digests.
	ClientKey string
	// Duration is the time from the request's arrival to the end of the answer.
	Duration time.Duration
	// DelayPlanned and DelaySlept are the delay the mock asked for and the one that took place (rule AA17).
	DelayPlanned, DelaySlept time.Duration
	// Messages are the first messages of a WebSocket conversation.
	Messages []RecordedMessage
	// Webhooks are the calls that follow the answer. They go on after the exchange is recorded: a journal replaces the
	// exchange then (rule M-63).
	Webhooks []RecordedWebhook
	// Fault is the kind of the fault that broke the answer on the wire, "" for none (rule Q13).
	Fault string
	// NearMisses say why no mock answered; only when AnsweredBy is AnsweredByUnmatched.
	NearMisses []NearMiss
	Hints      []string
	// Violations are the differences from the project's OpenAPI document (rule W30).
	Violations []Violation
	// Warnings say what was odd about the exchange without keeping it from going on, such as values that a template missed.
	Warnings []string
	// Error says what failed, when something did.
	Error string
	// Via is ViaManagement for a request that the management plane made (rule M-79), "" for one that was received.
	Via string
	// Revision is the project's at the time, so that the exchange can be explained by the mocks of then (rule AA31); Moments
	// is what the session remembered then of the mocks that fitted, as far as the choice depended on it.
	Revision int64
	Moments  []Moment
}

// ClientOfAll is the client key of a mock whose author wants no clients told apart.
const ClientOfAll = "global"

// ViaManagement marks exchanges of requests that were sent by the management plane (rule M-79).
const ViaManagement = "management"

// SessionRef names a session. The name alone does not tell two sessions apart that follow each other (rule AA11).
type SessionRef struct {
	ID, Name string
}

// RecordedRequest is a request as it was received.
type RecordedRequest struct {
	Method string
	// Target is the request target byte for byte; Path is the path the mocks saw, without the project's base path.
	Target, Path, RawQuery string
	Proto                  string
	Host                   string
	Header                 http.Header
	// Body holds the first bytes of the body, BodySize its length, Truncated that bytes are missing from Body.
	Body      []byte
	BodySize  int64
	Truncated bool
}

// RecordedResponse is an answer as it was sent.
type RecordedResponse struct {
	// Name is the name of the mock's response that was chosen.
	Name      string
	Status    int
	Header    http.Header
	Body      []byte
	BodySize  int64
	Truncated bool
}

// RecordedMessage is one message of a WebSocket conversation.
type RecordedMessage struct {
	At time.Time
	// Sent tells that the mock sent the message; otherwise the client did.
	Sent bool
	// Kind is "text", "binary", "ping" or "close".
	Kind string
	Data []byte
	// Code is that of a close, Ignored that no rule was for the message.
	Code    int
	Ignored bool
}

// WebhookState tells how far a webhook is; the list is closed.
type WebhookState string

// A webhook waits for its first or next attempt until one of the others is true of it.
const (
	WebhookWaiting   WebhookState = "waiting"
	WebhookDelivered WebhookState = "delivered"
	WebhookFailed    WebhookState = "failed"
	// WebhookBlocked was refused by the policy of outgoing calls, WebhookLoop follows from too many calls (rules S6 and S7).
	WebhookBlocked WebhookState = "blocked"
	WebhookLoop    WebhookState = "loop"
	// WebhookDropped found the queue full or the server stopping, WebhookCancelled was taken back by a reset (rule S9).
	WebhookDropped   WebhookState = "dropped"
	WebhookCancelled WebhookState = "cancelled"
)

// RecordedWebhook is a call that follows an answer, and how its attempts went (group S).
type RecordedWebhook struct {
	// ID is the Webhook-Id that all attempts carry.
	ID, Name string
	State    WebhookState
	// Method and URL are those of the last attempt.
	Method, URL string
	Attempts    []RecordedAttempt
	// Error says why the webhook ended without an attempt.
	Error string
}

// RecordedAttempt is one attempt of a webhook.
type RecordedAttempt struct {
	// Number counts from 1.
	Number int
	// At is on the clock of the session.
	At       time.Time
	Duration time.Duration
	// Status is 0 where nothing answered; Error says why.
	Status int
	// Body holds the first bytes of what was answered.
	Body  []byte
	Error string
}

// MockRef names a mock at the version that answered.
type MockRef struct {
	ID, Name string
	Version  int64
}

// LimitOutcome is what a limiter decided about a request.
type LimitOutcome struct {
	Policy string
	// Kind is "shield" or "simulated".
	Kind       string
	Key        string
	Allowed    bool
	WouldLimit bool
	Remaining  int64
	RetryAfter time.Duration
}

// Client is who sent a request.
type Client struct {
	IP        netip.Addr
	UserAgent string
}

// NearMiss says why a mock did not match (rules M2 and M4).
type NearMiss struct {
	Mock string `json:"mock"`
	// Distance is between 0 and 1; 0 would be a match.
	Distance float64      `json:"distance"`
	Failed   []MissedPart `json:"failed"`
	Passed   []string     `json:"passed"`
}

// MissedPart is one condition that failed. Part is one of method, host, path, query, headers, cookies, auth, client,
// body, state, times and enabled.
type MissedPart struct {
	Part     string `json:"part"`
	Name     string `json:"name,omitempty"`
	Operator string `json:"operator"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// TrafficFilter selects recorded exchanges; a zero member selects all.
type TrafficFilter struct {
	Since, Until time.Time
	Method       string
	// PathPrefix selects paths that begin with it.
	PathPrefix string
	// StatusMin and StatusMax bound the status, both inclusive.
	StatusMin, StatusMax int
	AnsweredBy           []AnsweredBy
	// Matched selects the exchanges for which something of the project was chosen, a mock for one, or those that met nothing:
	// AnsweredByUnmatched. Nil selects both.
	Matched *bool
	// Session is a session's name or id.
	Session string
	// Mock is a mock's name or id.
	Mock        string
	Policy      string
	ClientIP    string
	MinDuration time.Duration
	// Text selects exchanges whose target or bodies hold it. With Masked, they are searched without
	// their secrets.
	Text   string
	Masked bool
	// Hiding masks secret variables in what Text is searched in; nil masks none.
	Hiding *Hiding
}

// TrafficPage is a part of the journal, newest first.
type TrafficPage struct {
	Items []*Exchange
	// Total counts all exchanges that the filter selects.
	Total int
	// Dropped counts exchanges that were lost on their way into the journal, Evicted those that left it because it is
	// bounded.
	Dropped, Evicted int64
	// LostUntil is when the latest exchange arrived that is not there because of the bounds; the zero time is none. What
	// arrived later is there in full.
	LostUntil time.Time
	// More tells that older exchanges follow; the next page is asked for with Before set to the last item's id.
	More bool
}

// TrafficNews is what was recorded since somebody looked last, oldest first.
type TrafficNews struct {
	Items []*Exchange
	// Place is where the next look begins.
	Place int64
	// Lost counts exchanges that made room for others before they were looked at.
	Lost int64
}
