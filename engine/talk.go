package engine

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/websocket"
)

// maxHeard is how many messages of a conversation an exchange holds.
const maxHeard = 1000

// conversing answers with a WebSocket conversation (rules U7 to U12).
type conversing struct {
	answer *answer
	script *websocket.Script
	// drawn holds the times that are drawn for each call, rendered the texts that are, by the place of the message.
	drawn    map[*websocket.Message]delays
	rendered map[*websocket.Message]*script
}

var (
	_ reply   = (*conversing)(nil)
	_ sending = (*conversing)(nil)
)

func (w *workbench) compileTalk(source *mockbase.Response) *conversing {
	from := source.WebSocket
	t := &conversing{
		answer: w.bare(source, http.StatusSwitchingProtocols),
		script: &websocket.Script{
			Subprotocols: from.Subprotocols, Strict: from.Otherwise == "close", Unordered: from.Unordered, MaxMessage: from.MaxMessage,
		},
		drawn: map[*websocket.Message]delays{}, rendered: map[*websocket.Message]*script{},
	}
	t.script.OnConnect = t.messages(w, from.OnConnect, "/webSocket/onConnect/")
	for i := range from.OnMessage {
		rule := websocket.Rule{Reply: t.messages(w, from.OnMessage[i].Reply, "/webSocket/onMessage/"+strconv.Itoa(i)+"/reply/")}
		if when := from.OnMessage[i].When; when != nil {
			at := w.at + "/webSocket/onMessage/" + strconv.Itoa(i) + "/when"
			matcher := body.CompileMessage(when, at, w.faults)
			rule.When = func(m *websocket.Received) bool { return matcher.Holds(body.New(m.Data, http.Header{})) }
		}
		t.script.Rules = append(t.script.Rules, rule)
	}
	return t
}

func (t *conversing) messages(w *workbench, from []mockbase.WebSocketMessage, at string) []websocket.Message {
	list := make([]websocket.Message, len(from))
	for i := range from {
		m := &list[i]
		*m = messageOf(&from[i])
		if text := w.messageScript(&from[i], at+strconv.Itoa(i)); text != nil {
			t.rendered[m] = text
		}
		if after, fixed := w.compileAfter(from[i].After, at+strconv.Itoa(i)); !fixed {
			t.drawn[m] = after
		} else if after.fixed > 0 {
			m.After = func() time.Duration { return after.fixed }
		}
	}
	return list
}

// messageScript compiles the template of a message; nil if there is none.
func (w *workbench) messageScript(from *mockbase.WebSocketMessage, at string) *script {
	switch {
	case from.Text != nil:
		return w.script(*from.Text, at+"/text", "message")
	case from.JSON != nil:
		return w.compileScript(scriptKey{source: string(from.JSON), isJSON: true}, at+"/json", "message")
	default:
		return nil
	}
}

func messageOf(from *mockbase.WebSocketMessage) websocket.Message {
	var m websocket.Message
	var data []byte
	switch {
	case from.Text != nil:
		data = []byte(*from.Text)
	case from.JSON != nil:
		data = from.JSON
	case from.HasBase64:
		m.Kind, data = websocket.Binary, from.Base64
	case from.Ping != nil:
		m.Kind, data = websocket.Ping, []byte(*from.Ping)
	case from.Close != nil:
		m.Kind, m.Code, data = websocket.Close, *from.Close, []byte(from.Reason)
	}
	m.Data = func(*websocket.Received) ([]byte, error) { return data, nil }
	return m
}

// bind returns the script with times that are drawn for the call.
func (t *conversing) bind(c *call) *websocket.Script {
	if len(t.drawn)+len(t.rendered) == 0 {
		return t.script
	}
	bound := *t.script
	rendering := &sync.Mutex{}
	bound.OnConnect = t.bindMessages(c, rendering, bound.OnConnect, "")
	bound.Rules = slices.Clone(bound.Rules)
	for i := range bound.Rules {
		bound.Rules[i].Reply = t.bindMessages(c, rendering, bound.Rules[i].Reply, strconv.Itoa(i)+"/")
	}
	return &bound
}

// bindMessages binds messages; those of one conversation may be made at the same time, so that rendering is locked. The
// place tells lists of messages apart.
func (t *conversing) bindMessages(c *call, rendering *sync.Mutex, from []websocket.Message, at string) []websocket.Message {
	list := slices.Clone(from)
	for i := range from {
		if after, drawn := t.drawn[&from[i]]; drawn {
			draw := c.drawAfter(after, "message/"+at+strconv.Itoa(i))
			list[i].After = func() time.Duration {
				rendering.Lock()
				defer rendering.Unlock()
				return draw()
			}
		}
		if text, rendered := t.rendered[&from[i]]; rendered {
			list[i].Data = func(answered *websocket.Received) ([]byte, error) {
				rendering.Lock()
				defer rendering.Unlock()
				return c.renderMessage(text, answered)
			}
		}
	}
	return list
}

// renderMessage renders a message. One that answers another sees that one's text as the body.
func (c *call) renderMessage(text *script, answered *websocket.Received) ([]byte, error) {
	c.nextScope()
	if answered != nil {
		asked := c.message
		defer func() { c.message = asked }()
		c.message = body.New(answered.Data, http.Header{})
	}
	out, failed := text.render(c, nil)
	if failed != nil {
		return nil, errors.New(failed.detail)
	}
	return out, nil
}

// prepare implements reply. A handshake that is none is answered like a failure (rule U8).
func (t *conversing) prepare(c *call) (sending, *failure) {
	if refusal := websocket.Check(c.request); refusal != nil {
		code := mockbase.CodeUpgradeRequired
		if refusal.Status == http.StatusBadRequest {
			code = mockbase.CodeBadRequest
		}
		return nil, &failure{
			status: refusal.Status, code: code, title: "No WebSocket handshake", own: true, detail: refusal.Detail, header: refusal.Header,
		}
	}
	return t, nil
}

// send holds the conversation.
func (t *conversing) send(c *call) {
	h := c.w.Header()
	c.lay(h, t.answer)
	cleanHeader(h)
	c.outcome.plain = !t.answer.secret
	sent := h.Clone()
	closing, done := c.closing()
	defer done()
	talk := &websocket.Talk{Script: t.bind(c), Clock: c.clock(), Closing: closing, Peer: websocket.Peer{
		ID: c.id(), Project: c.program.project.ID, Group: c.streamGroup(), Client: c.engine.options.ClientAddress(c.request),
		Since: c.engine.options.Clock(), Session: c.session.ID(), SessionName: c.session.Name(),
	}}
	if c.recording != nil {
		talk.Heard = c.hear
	}
	outcome, err := c.engine.talks.Serve(c.w, c.request, talk)
	if err != nil {
		if errors.Is(err, websocket.ErrTooMany) {
			c.refuse(tooManyStreams(err))
			return
		}
		c.outcome.failure, c.outcome.cut = err.Error(), true
		return
	}
	c.outcome.status, c.outcome.header, c.outcome.seized = t.answer.status, sent, true
	c.outcome.aborted = outcome.Code == 0
	if outcome.Err != nil {
		c.outcome.failure = outcome.Err.Error()
	}
}

// hear records a message, as long as there is room.
func (c *call) hear(h websocket.Heard) {
	c.outcome.bodySize += int64(len(h.Data))
	room := c.engine.options.RecordCap - c.outcome.heardSize
	if len(c.exchange.Messages) >= maxHeard || room < len(h.Data) {
		c.exchange.MessagesDropped++
		return
	}
	c.outcome.heardSize += len(h.Data)
	c.exchange.Messages = append(c.exchange.Messages, mockbase.RecordedMessage{
		At: h.At, Sent: h.Sent, Kind: kindName(h.Kind), Data: h.Data, Code: h.Code, Ignored: h.Ignored,
	})
}

func kindName(k websocket.Kind) string {
	switch k {
	case websocket.Binary:
		return "binary"
	case websocket.Ping:
		return "ping"
	case websocket.Close:
		return "close"
	default:
		return "text"
	}
}
