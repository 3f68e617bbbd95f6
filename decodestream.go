package mockbase

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

const (
	maxEvents = 10_000
	// The bounds of a close frame and a ping (RFC 6455, section 5.5).
	maxCloseReason = 123
	minCloseCode   = 1000
	maxCloseCode   = 4999
	maxPing        = 125
	defaultMessage = 1 << 20
)

// decodeSSE reads a script of server-sent events.
func decodeSSE(at place) *SSE {
	f := at.fields()
	s := &SSE{Loop: 1, End: "close"}
	for _, event := range f.list("events", 1, maxEvents) {
		s.Events = append(s.Events, decodeEvent(event))
	}
	f.Int("loop", &s.Loop, 0, math.MaxInt)
	f.Bool("resume", &s.Resume)
	f.Duration("heartbeat", &s.Heartbeat)
	oneOf(f, "end", &s.End, "close", "keep_open", "reset")
	f.Required("events")
	f.Done()
	return s
}

// DecodeSSEEvent reads an event at a place of a document, as a broadcast takes it (rule M-158): what is about its place in a
// script is a fault. What is wrong is appended to the faults.
func DecodeSSEEvent(n *Node, pointer string, faults *Faults) *SSEEvent {
	e := decodeEvent(place{n, pointer, faults})
	for _, name := range []string{"after", "close", "reset"} {
		if at := n.Find(name); at != nil {
			faults.Add(at, childPointer(pointer, name), FieldConflict, "cannot be broadcast: it belongs to a script")
		}
	}
	return &e
}

// DecodeWebSocketMessage reads a message at a place of a document, as a broadcast takes it (rule M-158): a time before it is a
// fault. What is wrong is appended to the faults.
func DecodeWebSocketMessage(n *Node, pointer string, faults *Faults) *WebSocketMessage {
	m := decodeMessage(place{n, pointer, faults})
	if at := n.Find("after"); at != nil {
		faults.Add(at, childPointer(pointer, "after"), FieldConflict, "cannot be broadcast: it belongs to a script")
	}
	return &m
}

func decodeEvent(at place) SSEEvent {
	f := at.fields()
	var e SSEEvent
	e.Event = optional(f, (*Fields).line, "event")
	e.ID = decodeEventID(f)
	e.Retry = f.optionalInt("retry", 0, math.MaxInt)
	e.Data = optional(f, (*Fields).Text, "data")
	f.Raw("json", &e.JSON)
	e.Comment = optional(f, (*Fields).Text, "comment")
	e.After = decodeMember(f, "after", decodeAfter)
	f.onlyTrue("close", &e.Close)
	f.onlyTrue("reset", &e.Reset)
	f.Done()
	f.needsAny("member")
	f.atMostOne("data", "json")
	return e
}

// decodeEventID reads a number or a text without line breaks and NUL (rule U3).
func decodeEventID(f *Fields) *string {
	n := f.node.Find("id")
	if n == nil || n.Kind == NodeText {
		id := optional(f, (*Fields).line, "id")
		if id != nil && strings.Contains(*id, "\x00") {
			f.Fault("id", FieldPattern, "holds NUL")
		}
		return id
	}
	var text json.Number
	if !f.Number("id", &text) {
		return nil
	}
	if _, isWhole, _ := wholeNumber(string(text)); !isWhole {
		f.Fault("id", FieldType, "must be a whole number or a text, found %s", text)
	}
	id := string(text)
	return &id
}

// line reads a text without line breaks.
func (f *Fields) line(name string, to *string) bool {
	if !f.Text(name, to) {
		return false
	}
	if strings.ContainsAny(*to, "\r\n") {
		f.Fault(name, FieldPattern, "must be one line, found %s", quote(*to))
		return false
	}
	return true
}

// onlyTrue reads a boolean that means nothing when false.
func (f *Fields) onlyTrue(name string, to *bool) {
	if f.Bool(name, to) && !*to {
		f.Fault(name, FieldEnum, "must be true: leave it out otherwise")
	}
}

// decodeWebSocket reads a script of messages.
func decodeWebSocket(at place) *WebSocket {
	f := at.fields()
	w := &WebSocket{Otherwise: "ignore", MaxMessage: defaultMessage}
	if f.Texts("subprotocols", &w.Subprotocols) {
		f.tokens("subprotocols")
	}
	w.OnConnect = decodeMessages(f, "onConnect")
	for _, rule := range f.list("onMessage", 0, maxEvents) {
		w.OnMessage = append(w.OnMessage, decodeMessageRule(rule))
	}
	oneOf(f, "otherwise", &w.Otherwise, "ignore", "close")
	f.negated("ordered", &w.Unordered)
	f.Int64("maxMessage", &w.MaxMessage, 1, math.MaxInt64)
	f.Done()
	return w
}

// tokens notes texts of a list that are no tokens.
func (f *Fields) tokens(name string) {
	for _, at := range f.list(name, 0, math.MaxInt) {
		if !validToken(at.Text) {
			at.fault(FieldPattern, "must be a token such as chat, without blanks and commas, found %s", quote(at.Text))
		}
	}
}

func decodeMessageRule(at place) WebSocketRule {
	f := at.fields()
	rule := WebSocketRule{
		When:  decodeMember(f, "when", decodeMessageMatch),
		Reply: decodeMessages(f, "reply"),
	}
	f.Required("reply")
	f.Done()
	return rule
}

func decodeMessageMatch(at place) *WebSocketWhen {
	f := at.fields()
	w := &WebSocketWhen{}
	if text, ok := f.at("text"); ok {
		w.Text = decodeMatch(text)
	}
	if expected, ok := f.at("json"); ok {
		checkMatchers(expected)
		w.JSON = expected.JSON()
	}
	w.JSONPath = decodeJSONPaths(f)
	w.HasBase64 = f.base64("base64", &w.Base64)
	f.Done()
	f.needsAny("condition")
	return w
}

func decodeMessages(f *Fields, name string) []WebSocketMessage {
	list := f.list(name, 0, maxEvents)
	if list == nil {
		return nil
	}
	messages := make([]WebSocketMessage, len(list))
	for i, at := range list {
		messages[i] = decodeMessage(at)
	}
	return messages
}

func decodeMessage(at place) WebSocketMessage {
	f := at.fields()
	var m WebSocketMessage
	m.Text = optional(f, (*Fields).Text, "text")
	f.Raw("json", &m.JSON)
	m.HasBase64 = f.base64("base64", &m.Base64)
	m.Close = f.optionalInt("close", minCloseCode, maxCloseCode)
	if m.Close != nil && slices.Contains([]int{1004, 1005, 1006, 1015}, *m.Close) {
		f.Fault("close", FieldRange, "%d is reserved and never sent (RFC 6455, section 7.4.1); 1000 is a normal end, 4000 to 4999 are free", *m.Close)
	}
	if f.short("reason", &m.Reason, maxCloseReason) {
		f.needs("reason", "close")
		f.tooLong("reason", m.Reason, maxCloseReason)
	}
	if m.Ping = optional(f, (*Fields).Text, "ping"); m.Ping != nil {
		f.tooLong("ping", *m.Ping, maxPing)
	}
	m.After = decodeMember(f, "after", decodeAfter)
	f.exactlyOne("text", "json", "base64", "close", "ping")
	f.Done()
	return m
}

// tooLong notes a text that has more bytes than a frame can hold.
func (f *Fields) tooLong(name, text string, most int) {
	if len(text) > most {
		f.Fault(name, FieldLimit, "has %d bytes, at most %d are allowed", len(text), most)
	}
}
