package mockbase

import (
	"encoding/json"
	"time"
)

// Response is one answer of a mock. At most one body is set, and at most one of Proxy, SSE and WebSocket; those, and the
// webhooks, hold the format's defaults where their author said nothing.
type Response struct {
	// Name is r1, r2 and so on by its place when its author gave none.
	Name string
	When *Condition
	// Weight is the number text of the share in a weighted choice; "" is 1.
	Weight json.Number
	// Times is how many calls the response stays in a sequence; 0 is 1.
	Times int
	// Status is 0 when not stated: 200, or 204 without a body. StatusTemplate is set instead for a templated one.
	Status         int
	StatusTemplate string
	Headers        []Header
	Trailers       []Header
	EarlyHints     []Header
	Body           Body
	// Template is nil for the project's default.
	Template    *bool
	Delay       *Delay
	Stream      *Stream
	Encode      string
	AutoETag    bool
	Conditional *bool
	Range       *bool
	Fault       *Fault
	Proxy       *Proxy
	SSE         *SSE
	WebSocket   *WebSocket
	SetState    string
	Webhooks    []Webhook
}

// Header is a header field in the spelling of its author. Values holds one text for each field line; Remove drops a
// default header (rule O10).
type Header struct {
	Name   string
	Values []string
	Remove bool
}

// BodyKind tells which body key a response states.
type BodyKind string

// The kinds of body. The zero value is BodyNone.
const (
	BodyNone   BodyKind = ""
	BodyJSON   BodyKind = "json"
	BodyText   BodyKind = "text"
	BodyBase64 BodyKind = "base64"
	BodyFile   BodyKind = "file"
)

// Body is a response's body. For BodyJSON the bytes are compact JSON with the author's member order and number text
// (rule O16), for BodyText the text, for BodyBase64 the decoded bytes, for BodyFile the file's name.
type Body struct {
	Kind  BodyKind
	Bytes []byte
}

// PlainResponse is an answer without choices: status, headers and one body.
type PlainResponse struct {
	Status         int
	StatusTemplate string
	Headers        []Header
	Body           Body
	Template       *bool
	Delay          *Delay
}

// DelayKind tells how a delay is drawn.
type DelayKind string

// The kinds of delay (rule Q1).
const (
	DelayFixed     DelayKind = "fixed"
	DelayUniform   DelayKind = "uniform"
	DelayNormal    DelayKind = "normal"
	DelayLognormal DelayKind = "lognormal"
	DelayTemplate  DelayKind = "template"
)

// Delay is the time before the first byte of an answer.
type Delay struct {
	Kind DelayKind
	// Fixed and Jitter belong to DelayFixed, Min and Max to DelayUniform, Mean, StdDev and Max to DelayNormal, Median,
	// Sigma and Max to DelayLognormal, Template to DelayTemplate. HasMax tells a stated Max from none.
	Fixed, Jitter, Min, Max, Mean, StdDev, Median time.Duration
	Sigma                                         float64
	HasMax                                        bool
	Template                                      string
	// AddDefault adds the delay to the project's default instead of replacing it (rule Q2).
	AddDefault bool
}

// Stream is how a body is written over time (rules Q6 and Q7).
type Stream struct {
	Chunks         int
	Over           time.Duration
	BytesPerSecond int64
	SlowHeaders    time.Duration
	Chunked        bool
}

// Fault is a failure on the wire instead of an answer (rule Q8).
type Fault struct {
	Kind        string
	AfterBytes  *int64
	Probability *float64
	For         time.Duration
	Raw         []byte
}

// Proxy passes a request on to an upstream (group T).
type Proxy struct {
	To              string
	StripPrefix     string
	PreserveHost    bool
	HostText        string
	SetHeaders      []Header
	RemoveHeaders   []string
	Timeout         time.Duration
	InsecureTLS     bool
	Forwarded       bool
	Via             bool
	RewriteLocation bool
	Upgrade         bool
	Record          string
	RecordHeaders   []string
}

// SSE is a script of server-sent events (group U).
type SSE struct {
	Events    []SSEEvent
	Loop      int
	Resume    bool
	Heartbeat time.Duration
	End       string
}

// SSEEvent is one event, comment or end of a stream. A nil member is not stated.
type SSEEvent struct {
	Event, ID, Data, Comment *string
	JSON                     json.RawMessage
	Retry                    *int
	After                    *Delay
	Close, Reset             bool
}

// WebSocket is a script of WebSocket messages (group U).
type WebSocket struct {
	Subprotocols []string
	OnConnect    []WebSocketMessage
	OnMessage    []WebSocketRule
	Otherwise    string
	Unordered    bool
	MaxMessage   int64
}

// WebSocketMessage is a message, a close or a ping. A nil member is not stated.
type WebSocketMessage struct {
	Text, Ping *string
	JSON       json.RawMessage
	Base64     []byte
	HasBase64  bool
	Close      *int
	Reason     string
	After      *Delay
}

// WebSocketRule answers a received message.
type WebSocketRule struct {
	When  *WebSocketWhen
	Reply []WebSocketMessage
}

// WebSocketWhen is a match on a received message.
type WebSocketWhen struct {
	Text      Match
	JSON      json.RawMessage
	JSONPath  []NamedMatch
	Base64    []byte
	HasBase64 bool
}

// Webhook is a call that follows an answer (group S).
type Webhook struct {
	Name    string
	URL     string
	Method  string
	Headers []Header
	Body    Body
	After   *Delay
	Timeout time.Duration
	Retries Retries
	Always  bool
	Sign    *Sign
}

// Retries is how a webhook is tried again.
type Retries struct {
	Max                 int
	Backoff, MaxBackoff time.Duration
	Jitter              float64
}

// Sign is how a webhook is signed.
type Sign struct {
	Header, Secret, Algorithm string
}
