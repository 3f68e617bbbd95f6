package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// goodbye is how long a client has to answer a close.
const goodbye = time.Second

// Talk describes one conversation.
type Talk struct {
	Script *Script
	Clock  Clock
	// Peer tells who the client is.
	Peer Peer
	// Heard hears of every message, one at a time; nil does not.
	Heard func(Heard)
	// Closing ends the conversation when it is closed; nil never does (rule N13).
	Closing <-chan struct{}
}

// Outcome is how a conversation ended.
type Outcome struct {
	// Code is that of the close, the client's or ours; 0 means that the connection broke off.
	Code int
	// Err says what failed while a message was made; the conversation ended with 1011.
	Err error
}

// Serve upgrades a connection whose handshake is good, and talks until the conversation ends. The error means that nothing
// was written.
func (h *Host) Serve(w http.ResponseWriter, r *http.Request, t *Talk) (Outcome, error) {
	seized := &seizer{ResponseWriter: w, wire: &wire{}}
	talk := &talk{Talk: t, wire: seized.wire, broadcasts: make(chan *Message, waiting), backlog: backlog{left: make(chan struct{}, 1)}}
	if talk.Peer.Since.IsZero() {
		talk.Peer.Since = t.Clock.Now()
	}
	if err := h.add(talk); err != nil {
		return Outcome{}, err
	}
	defer h.remove(talk)
	options := &websocket.AcceptOptions{InsecureSkipVerify: true, OnPingReceived: talk.pinged}
	if chosen := Subprotocol(r.Header, t.Script.Subprotocols); chosen != "" {
		options.Subprotocols = []string{chosen}
	}
	conn, err := websocket.Accept(seized, r, options)
	if err != nil {
		return Outcome{}, fmt.Errorf("upgrade connection: %w", err)
	}
	conn.SetReadLimit(t.Script.MaxMessage)
	talk.conn = conn
	h.enter(talk)
	return talk.hold(), nil
}

// talk is a conversation under way.
type talk struct {
	*Talk
	counts

	conn *websocket.Conn
	wire *wire
	// mute tells that nothing more is said.
	mute    context.CancelFunc
	backlog backlog
	// broadcasts are messages from beside the script.
	broadcasts chan *Message

	// speaking keeps what Heard hears in order.
	speaking sync.Mutex
	outcome  Outcome
}

// hold reads until the conversation ends, and leaves nothing running.
func (t *talk) hold() Outcome {
	saying, mute := context.WithCancel(context.Background())
	defer mute()
	t.mute = mute
	var helpers sync.WaitGroup
	helpers.Go(func() { t.say(saying, t.Script.OnConnect, nil, t.Clock.Now()) })
	replies := make(chan reply, most)
	helpers.Go(func() { t.answer(saying, replies, &helpers) })
	helpers.Go(func() { t.attend(saying) })
	t.read(saying, replies)
	mute()
	_ = t.conn.CloseNow()
	helpers.Wait()
	t.outcome.Code = t.wire.sentClose()
	return t.outcome
}

// attend passes broadcasts on until nothing more is said, and ends the conversation when the server stops.
func (t *talk) attend(saying context.Context) {
	for {
		select {
		case m := <-t.broadcasts:
			t.send(m, nil)
		case <-t.Closing:
			t.wire.hurry()
			t.close(int(websocket.StatusGoingAway), nil)
			return
		case <-saying.Done():
			return
		}
	}
}

// reply is a list of messages that answers one.
type reply struct {
	to       *Received
	messages []Message
	at       time.Time
}

// read reads messages until there are no more. Those that come when nothing more is said are not answered.
func (t *talk) read(saying context.Context, replies chan<- reply) {
	for {
		kind, data, err := t.conn.Read(context.Background())
		if err != nil {
			t.ended(err)
			return
		}
		m := &Received{Binary: kind == websocket.MessageBinary, Data: data}
		if !m.Binary && !utf8.Valid(data) {
			t.close(int(websocket.StatusInvalidFramePayloadData), nil)
			continue
		}
		t.received.Add(1)
		rule := t.Script.rule(m)
		t.note(Heard{Kind: kindOf(m), Data: data, Ignored: rule == nil && !t.Script.Strict})
		switch {
		case rule != nil:
			if at := t.Clock.Now(); t.admit(saying, len(data)) {
				// As many as are admitted have room.
				replies <- reply{m, rule.Reply, at}
			}
		case t.Script.Strict:
			t.close(int(websocket.StatusPolicyViolation), nil)
		}
	}
}

func kindOf(m *Received) Kind {
	if m.Binary {
		return Binary
	}
	return Text
}

// ended notes why there are no more messages. The library has answered what it knows; an unmasked frame it only reports.
func (t *talk) ended(err error) {
	if code := websocket.CloseStatus(err); code >= 0 {
		t.note(Heard{Kind: Close, Code: int(code)})
		return
	}
	if !errors.Is(err, io.EOF) && t.wire.sentClose() == 0 {
		t.wire.close(int(websocket.StatusProtocolError), nil)
	}
}

// answer sends replies, one after the other unless they may overtake.
func (t *talk) answer(saying context.Context, replies <-chan reply, helpers *sync.WaitGroup) {
	for {
		select {
		case r := <-replies:
			answer := func() {
				defer t.backlog.leave(len(r.to.Data))
				t.say(saying, r.messages, r.to, r.at)
			}
			if t.Script.Unordered {
				helpers.Go(answer)
			} else {
				answer()
			}
		case <-saying.Done():
			return
		}
	}
}

// say sends messages. Each waits for its own time after the one before it, the first after what it answers.
func (t *talk) say(saying context.Context, messages []Message, answered *Received, since time.Time) {
	for i := range messages {
		m := &messages[i]
		if m.After != nil {
			due := since.Add(m.After())
			if wait := due.Sub(t.Clock.Now()); wait > 0 && t.Clock.Sleep(saying, wait) != nil {
				return
			}
		}
		if saying.Err() != nil || !t.send(m, answered) {
			return
		}
		since = t.Clock.Now()
	}
}

// send sends one message. It returns false when no other can follow.
func (t *talk) send(m *Message, answered *Received) bool {
	var data []byte
	if m.Data != nil {
		var err error
		if data, err = m.Data(answered); err != nil {
			t.speaking.Lock()
			t.outcome.Err = err
			t.speaking.Unlock()
			t.close(int(websocket.StatusInternalError), nil)
			return false
		}
	}
	if m.Kind == Close {
		t.close(m.Code, data)
		return false
	}
	t.sent.Add(1)
	if err := t.wire.frame(m.Kind.frame(), data); err != nil {
		t.sent.Add(-1)
		if !errors.Is(err, errSaid) {
			t.drop()
		}
		return false
	}
	t.note(Heard{Sent: true, Kind: m.Kind, Data: data})
	return true
}

func (k Kind) frame() byte {
	switch k {
	case Binary:
		return frameBinary
	case Ping:
		return framePing
	default:
		return frameText
	}
}

// close says goodbye. The client has a moment to answer; then the connection ends.
func (t *talk) close(code int, reason []byte) {
	if t.wire.close(code, reason) {
		t.note(Heard{Sent: true, Kind: Close, Code: code, Data: reason})
		_ = t.wire.SetReadDeadline(time.Now().Add(goodbye))
	}
	t.mute()
}

// drop ends a conversation whose client has left: nothing reaches it any more.
func (t *talk) drop() {
	t.mute()
	_ = t.wire.Close()
}

// pinged answers a ping, so that the answer keeps to the order of frames.
func (t *talk) pinged(_ context.Context, payload []byte) bool {
	_ = t.wire.frame(framePong, payload)
	return false
}

func (t *talk) note(h Heard) {
	if t.Heard == nil {
		return
	}
	t.speaking.Lock()
	defer t.speaking.Unlock()
	h.At = t.Clock.Now()
	t.Heard(h)
}
