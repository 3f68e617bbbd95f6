package management

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// exchangeSummary is an exchange in a list: without headers and bodies (rule M-63).
type exchangeSummary struct {
	ID            string               `json:"id"`
	At            string               `json:"at"`
	SessionAt     string               `json:"sessionAt,omitempty"`
	Session       string               `json:"session,omitempty"`
	SessionID     string               `json:"sessionId,omitempty"`
	Seed          string               `json:"seed,omitempty"`
	Call          int64                `json:"call,omitempty"`
	Request       requestSummary       `json:"request"`
	Response      responseSummary      `json:"response"`
	AnsweredBy    mockbase.AnsweredBy  `json:"answeredBy"`
	Policy        string               `json:"policy,omitempty"`
	Mock          *mockRef             `json:"mock,omitempty"`
	Client        clientView           `json:"client"`
	DurationMs    float64              `json:"durationMs"`
	Delay         *delayView           `json:"delay,omitempty"`
	Fault         string               `json:"fault,omitempty"`
	Forced        bool                 `json:"forced"`
	ClientAborted bool                 `json:"clientAborted"`
	Violations    []mockbase.Violation `json:"violations,omitempty"`
	Warnings      []string             `json:"warnings,omitempty"`
	Error         string               `json:"error,omitempty"`
	Redacted      bool                 `json:"redacted"`
	Via           string               `json:"via,omitempty"`
}

type requestSummary struct {
	Method      string `json:"method"`
	Target      string `json:"target"`
	Path        string `json:"path"`
	Query       string `json:"query"`
	HTTPVersion string `json:"httpVersion"`
	Host        string `json:"host"`
	BodySize    int64  `json:"bodySize"`
}

type responseSummary struct {
	Name     string `json:"name,omitempty"`
	Status   int    `json:"status"`
	BodySize int64  `json:"bodySize"`
}

type mockRef struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

type clientView struct {
	IP        string `json:"ip"`
	UserAgent string `json:"userAgent"`
}

// delayView is a delay that was asked for and one that took place, in milliseconds (rule AA17).
type delayView struct {
	Planned float64 `json:"planned"`
	Slept   float64 `json:"slept"`
}

// exchangeView is an exchange with everything that was recorded (rule M-63).
type exchangeView struct {
	exchangeSummary

	Request    requestView         `json:"request"`
	Response   responseView        `json:"response"`
	Limits     []limitView         `json:"limits"`
	NearMisses []mockbase.NearMiss `json:"nearMisses,omitempty"`
	Hints      []string            `json:"hints,omitempty"`
	// Messages and Webhooks have no part in summaries, as they hold bodies.
	Messages        []messageView `json:"messages,omitempty"`
	MessagesDropped int           `json:"messagesDropped,omitempty"`
	Webhooks        []webhookView `json:"webhooks,omitempty"`
}

type requestView struct {
	requestSummary

	Headers [][2]string `json:"headers"`
	bodyView
}

type responseView struct {
	responseSummary

	Headers [][2]string `json:"headers"`
	bodyView
}

// bodyView is a body as text where it is text, else in base64.
type bodyView struct {
	Body         *string `json:"body,omitempty"`
	BodyEncoding string  `json:"bodyEncoding,omitempty"`
	Truncated    bool    `json:"truncated"`
}

type limitView struct {
	Policy       string   `json:"policy"`
	Kind         string   `json:"kind"`
	Key          string   `json:"key"`
	Allowed      bool     `json:"allowed"`
	WouldLimit   bool     `json:"wouldLimit"`
	Remaining    int64    `json:"remaining"`
	RetryAfterMs *float64 `json:"retryAfterMs"`
}

func summarize(x *mockbase.Exchange) exchangeSummary {
	v := exchangeSummary{
		ID: x.ID, At: timeText(x.At), Session: x.Session.Name, SessionID: x.Session.ID, Seed: x.Seed, Call: x.Call, Forced: x.Forced,
		Request: summarizeRequest(&x.Request), Response: summarizeResponse(&x.Response),
		AnsweredBy: x.AnsweredBy, Policy: x.Policy, Client: clientView{UserAgent: x.Client.UserAgent},
		DurationMs: milliseconds(x.Duration), ClientAborted: x.ClientAborted, Fault: x.Fault, Violations: x.Violations, Warnings: x.Warnings, Error: x.Error, Redacted: x.Redacted, Via: x.Via,
	}
	if x.Client.IP.IsValid() {
		v.Client.IP = x.Client.IP.String()
	}
	if !x.SessionAt.IsZero() {
		v.SessionAt = timeText(x.SessionAt)
	}
	if x.Mock.ID != "" {
		v.Mock = &mockRef{ID: x.Mock.ID, Name: x.Mock.Name, Version: x.Mock.Version}
	}
	if x.DelayPlanned != 0 || x.DelaySlept != 0 {
		v.Delay = &delayView{Planned: milliseconds(x.DelayPlanned), Slept: milliseconds(x.DelaySlept)}
	}
	return v
}

func summarizeRequest(r *mockbase.RecordedRequest) requestSummary {
	return requestSummary{
		Method: r.Method, Target: r.Target, Path: mockbase.Printable(r.Path), Query: r.RawQuery, HTTPVersion: r.Proto, Host: r.Host, BodySize: r.BodySize,
	}
}

func summarizeResponse(r *mockbase.RecordedResponse) responseSummary {
	return responseSummary{Name: r.Name, Status: r.Status, BodySize: r.BodySize}
}

func exchangeDetail(x *mockbase.Exchange) exchangeView {
	v := exchangeView{
		exchangeSummary: summarize(x),
		Request:         requestView{summarizeRequest(&x.Request), headerPairs(x.Request.Header), showRequestBody(&x.Request)},
		Response:        responseView{summarizeResponse(&x.Response), headerPairs(x.Response.Header), showResponseBody(&x.Response)},
		Limits:          []limitView{}, NearMisses: x.NearMisses, Hints: x.Hints, MessagesDropped: int(x.MessagesDropped),
	}
	for i := range x.Messages {
		v.Messages = append(v.Messages, showMessage(&x.Messages[i]))
	}
	for i := range x.Webhooks {
		v.Webhooks = append(v.Webhooks, showWebhook(&x.Webhooks[i]))
	}
	for _, l := range x.Limits {
		v.Limits = append(v.Limits, limitView{
			Policy: l.Policy, Kind: l.Kind, Key: l.Key, Allowed: l.Allowed, WouldLimit: l.WouldLimit, Remaining: l.Remaining,
			RetryAfterMs: waitMs(l.RetryAfter),
		})
	}
	return v
}

// waitMs is a wait in milliseconds; nil when no wait helps.
func waitMs(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	ms := milliseconds(d)
	return &ms
}

// headerPairs lists header fields by name, one pair for each line.
func headerPairs(h http.Header) [][2]string {
	pairs := [][2]string{}
	for _, name := range sortedKeys(url.Values(h)) {
		for _, value := range h[name] {
			pairs = append(pairs, [2]string{name, mockbase.Printable(value)})
		}
	}
	return pairs
}

// showBody shows a body as far as it was kept. One that was cut may end in half a character, which makes it no less text.
func showBody(body []byte, size int64) bodyView {
	v := bodyView{Truncated: int64(len(body)) < size}
	if len(body) == 0 {
		return v
	}
	text := body
	if v.Truncated {
		text = wholeCharacters(body)
	}
	shownAs, encoding := string(text), "utf-8"
	if !utf8.Valid(text) || slices.Contains(text, 0) {
		shownAs, encoding = base64.StdEncoding.EncodeToString(body), "base64"
	}
	v.Body, v.BodyEncoding = &shownAs, encoding
	return v
}

// showRequestBody shows the body of a request, whose length masking may have changed.
func showRequestBody(r *mockbase.RecordedRequest) bodyView {
	size := int64(len(r.Body))
	if r.Truncated {
		size++
	}
	return showBody(r.Body, size)
}

// showResponseBody does the same for an answer.
func showResponseBody(r *mockbase.RecordedResponse) bodyView {
	size := r.BodySize
	if !r.Truncated && len(r.Body) > 0 {
		size = int64(len(r.Body))
	}
	return showBody(r.Body, size)
}

// wholeCharacters drops at most three bytes of a character that was cut.
func wholeCharacters(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if at := len(b) - i; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return b[:at]
			}
			break
		}
	}
	return b
}
