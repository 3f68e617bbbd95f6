package sqlite

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"time"

	"github.com/mockbase/mockbase"
)

// The stored form of an exchange is JSON with short names. The parts have the fields of their twins in the vocabulary, so
// that a conversion stops compiling when a twin gets a field that would not be stored.
type exchangeRecord struct {
	ID            string               `json:"id"`
	ProjectID     string               `json:"project"`
	At            time.Time            `json:"at"`
	SessionAt     time.Time            `json:"sessionAt,omitzero"`
	Session       sessionRecord        `json:"session,omitzero"`
	Seed          string               `json:"seed,omitempty"`
	Call          int64                `json:"call,omitempty"`
	Forced        bool                 `json:"forced,omitempty"`
	Request       requestRecord        `json:"request"`
	Response      responseRecord       `json:"response"`
	AnsweredBy    mockbase.AnsweredBy  `json:"answeredBy"`
	Policy        string               `json:"policy,omitempty"`
	Mock          mockRecord           `json:"mock,omitzero"`
	Limits        []limitRecord        `json:"limits,omitempty"`
	Client        clientRecord         `json:"client"`
	ClientKey     string               `json:"clientKey,omitempty"`
	Duration      time.Duration        `json:"duration"`
	DelayPlanned  time.Duration        `json:"delayPlanned,omitempty"`
	DelaySlept    time.Duration        `json:"delaySlept,omitempty"`
	ClientAborted bool                 `json:"clientAborted,omitempty"`
	Messages      []messageRecord      `json:"messages,omitempty"`
	Unheard       int32                `json:"messagesDropped,omitempty"`
	Webhooks      []webhookRecord      `json:"webhooks,omitempty"`
	Fault         string               `json:"fault,omitempty"`
	NearMisses    []mockbase.NearMiss  `json:"nearMisses,omitempty"`
	Hints         []string             `json:"hints,omitempty"`
	Violations    []mockbase.Violation `json:"violations,omitempty"`
	Warnings      []string             `json:"warnings,omitempty"`
	Error         string               `json:"error,omitempty"`
	Redacted      bool                 `json:"redacted,omitempty"`
	Via           string               `json:"via,omitempty"`
	Revision      int64                `json:"revision,omitempty"`
	Moments       []momentRecord       `json:"moments,omitempty"`
}

type momentRecord struct {
	Mock     string `json:"mock"`
	State    string `json:"state,omitempty"`
	Call     int64  `json:"call,omitempty"`
	Spent    bool   `json:"spent,omitempty"`
	Answered bool   `json:"answered,omitempty"`
}

type requestRecord struct {
	Method    string      `json:"method"`
	Target    string      `json:"target"`
	Path      string      `json:"path"`
	RawQuery  string      `json:"query,omitempty"`
	Proto     string      `json:"proto,omitempty"`
	Host      string      `json:"host,omitempty"`
	Header    http.Header `json:"header,omitempty"`
	Body      []byte      `json:"body,omitempty"`
	BodySize  int64       `json:"bodySize,omitempty"`
	Truncated bool        `json:"truncated,omitempty"`
}

type responseRecord struct {
	Name      string      `json:"name,omitempty"`
	Status    int         `json:"status"`
	Header    http.Header `json:"header,omitempty"`
	Body      []byte      `json:"body,omitempty"`
	BodySize  int64       `json:"bodySize,omitempty"`
	Truncated bool        `json:"truncated,omitempty"`
}

type sessionRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type mockRecord struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

type limitRecord struct {
	Policy     string        `json:"policy"`
	Kind       string        `json:"kind"`
	Key        string        `json:"key"`
	Allowed    bool          `json:"allowed"`
	WouldLimit bool          `json:"wouldLimit,omitempty"`
	Remaining  int64         `json:"remaining"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

type messageRecord struct {
	At      time.Time `json:"at"`
	Sent    bool      `json:"sent,omitempty"`
	Kind    string    `json:"kind"`
	Data    []byte    `json:"data,omitempty"`
	Code    int       `json:"code,omitempty"`
	Ignored bool      `json:"ignored,omitempty"`
}

type webhookRecord struct {
	ID       string                `json:"id"`
	Name     string                `json:"name,omitempty"`
	State    mockbase.WebhookState `json:"state"`
	Method   string                `json:"method,omitempty"`
	URL      string                `json:"url,omitempty"`
	Attempts []attemptRecord       `json:"attempts,omitempty"`
	Error    string                `json:"error,omitempty"`
}

type attemptRecord struct {
	Number   int           `json:"number"`
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration,omitempty"`
	Status   int           `json:"status,omitempty"`
	Body     []byte        `json:"body,omitempty"`
	Error    string        `json:"error,omitempty"`
}

type clientRecord struct {
	IP        netip.Addr `json:"ip"`
	UserAgent string     `json:"userAgent,omitempty"`
}

func encodeExchange(x *mockbase.Exchange) ([]byte, error) {
	r := exchangeRecord{
		ID: x.ID, ProjectID: x.ProjectID, At: x.At, SessionAt: x.SessionAt, Session: sessionRecord(x.Session), Seed: x.Seed, Call: x.Call,
		Forced: x.Forced, AnsweredBy: x.AnsweredBy, Policy: x.Policy, Duration: x.Duration,
		DelayPlanned: x.DelayPlanned, DelaySlept: x.DelaySlept, ClientAborted: x.ClientAborted, Fault: x.Fault, NearMisses: x.NearMisses,
		Hints: x.Hints, Violations: x.Violations, Warnings: x.Warnings, Error: x.Error, Redacted: x.Redacted, Via: x.Via, Revision: x.Revision, Unheard: x.MessagesDropped,
		Request: requestRecord(x.Request), Response: responseRecord(x.Response), Mock: mockRecord(x.Mock), Client: clientRecord(x.Client), ClientKey: x.ClientKey,
	}
	for _, l := range x.Limits {
		r.Limits = append(r.Limits, limitRecord(l))
	}
	for _, m := range x.Moments {
		r.Moments = append(r.Moments, momentRecord(m))
	}
	for _, m := range x.Messages {
		r.Messages = append(r.Messages, messageRecord(m))
	}
	for i := range x.Webhooks {
		r.Webhooks = append(r.Webhooks, recordWebhook(&x.Webhooks[i]))
	}
	return json.Marshal(r) //nolint:gosec // the key of a client holds digests of secrets
}

func decodeExchange(record []byte) (*mockbase.Exchange, error) {
	var r exchangeRecord
	if err := json.Unmarshal(record, &r); err != nil {
		return nil, err
	}
	x := &mockbase.Exchange{
		ID: r.ID, ProjectID: r.ProjectID, At: r.At.UTC(), SessionAt: r.SessionAt.UTC(), Session: mockbase.SessionRef(r.Session),
		Seed: r.Seed, Call: r.Call, Forced: r.Forced, AnsweredBy: r.AnsweredBy, Policy: r.Policy, Duration: r.Duration,
		DelayPlanned: r.DelayPlanned, DelaySlept: r.DelaySlept, ClientAborted: r.ClientAborted, Fault: r.Fault, NearMisses: r.NearMisses,
		Hints: r.Hints, Violations: r.Violations, Warnings: r.Warnings, Error: r.Error, Redacted: r.Redacted, Via: r.Via, Revision: r.Revision, MessagesDropped: r.Unheard,
		Request: mockbase.RecordedRequest(r.Request), Response: mockbase.RecordedResponse(r.Response), Mock: mockbase.MockRef(r.Mock),
		Client: mockbase.Client(r.Client), ClientKey: r.ClientKey,
	}
	for _, l := range r.Limits {
		x.Limits = append(x.Limits, mockbase.LimitOutcome(l))
	}
	for _, m := range r.Moments {
		x.Moments = append(x.Moments, mockbase.Moment(m))
	}
	for _, m := range r.Messages {
		m.At = m.At.UTC()
		x.Messages = append(x.Messages, mockbase.RecordedMessage(m))
	}
	for i := range r.Webhooks {
		x.Webhooks = append(x.Webhooks, r.Webhooks[i].webhook())
	}
	return x, nil
}

func recordWebhook(w *mockbase.RecordedWebhook) webhookRecord {
	r := webhookRecord{ID: w.ID, Name: w.Name, State: w.State, Method: w.Method, URL: w.URL, Error: w.Error}
	for _, a := range w.Attempts {
		r.Attempts = append(r.Attempts, attemptRecord(a))
	}
	return r
}

func (r *webhookRecord) webhook() mockbase.RecordedWebhook {
	w := mockbase.RecordedWebhook{ID: r.ID, Name: r.Name, State: r.State, Method: r.Method, URL: r.URL, Error: r.Error}
	for _, a := range r.Attempts {
		a.At = a.At.UTC()
		w.Attempts = append(w.Attempts, mockbase.RecordedAttempt(a))
	}
	return w
}
