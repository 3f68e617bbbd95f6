package engine

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/sse"
)

// bare compiles the header of an answer whose body has no length: a script writes it.
func (w *workbench) bare(source *mockbase.Response, status int, byDefault ...mockbase.Header) *answer {
	d := draft{
		status: status, headers: mergeHeaders(byDefault, mergeHeaders(w.config.Defaults.Headers, source.Headers)), decision: w.decision,
	}
	a := d.compile(w.settings)
	a.length = nil
	return a
}

// scripted answers with a script of server-sent events (rules U1 to U6).
type scripted struct {
	answer *answer
	script *sse.Script
	// drawn are the steps whose time is drawn for each call, rendered those whose texts are.
	drawn    map[int]delays
	rendered map[int]*renderedEvent
}

var (
	_ reply   = (*scripted)(nil)
	_ sending = (*scripted)(nil)
)

func (w *workbench) compileEvents(source *mockbase.Response) *scripted {
	from := source.SSE
	s := &scripted{
		answer: w.bare(source, orDefault(source.Status, http.StatusOK),
			mockbase.Header{Name: headerContentType, Values: []string{"text/event-stream"}},
			mockbase.Header{Name: "Cache-Control", Values: []string{"no-store"}}),
		script: &sse.Script{Loop: from.Loop, Resume: from.Resume, Heartbeat: from.Heartbeat, End: endOf(from.End)},
		drawn:  map[int]delays{}, rendered: map[int]*renderedEvent{},
	}
	for i := range from.Events {
		e := &from.Events[i]
		step := sse.Step{ID: e.ID, Ends: e.Close || e.Reset, Event: textOf(e)}
		if e.Reset {
			step.End = sse.EndReset
		}
		if after, fixed := w.compileAfter(e.After, "/sse/events/"+strconv.Itoa(i)); !fixed {
			s.drawn[i] = after
		} else if after.fixed > 0 {
			step.After = func() time.Duration { return after.fixed }
		}
		if rendered := w.compileEvent(e, "/sse/events/"+strconv.Itoa(i)); rendered != nil {
			s.rendered[i] = rendered
		}
		s.script.Steps = append(s.script.Steps, step)
	}
	return s
}

// compileAfter compiles the time before an event, a message or a webhook; it tells whether it is always the same.
func (w *workbench) compileAfter(after *mockbase.Delay, at string) (delays, bool) {
	d := compileDelays(after, nil, func(text string) *script { return w.script(text, at+"/after", "time") })
	return d, d.constant()
}

func endOf(name string) sse.End {
	switch name {
	case "keep_open":
		return sse.EndKeepOpen
	case "reset":
		return sse.EndReset
	default:
		return sse.EndClose
	}
}

// textOf writes an event; a step that only waits or ends writes nothing.
func textOf(from *mockbase.SSEEvent) []byte {
	e := eventOf(from)
	if *e == (sse.Event{}) {
		return nil
	}
	return e.Append(nil)
}

func eventOf(from *mockbase.SSEEvent) *sse.Event {
	e := &sse.Event{Name: from.Event, ID: from.ID, Retry: from.Retry, Data: from.Data, Comment: from.Comment}
	if from.JSON != nil {
		e.Data = new(string(from.JSON))
	}
	return e
}

// renderedEvent is an event with templates, by their place.
type renderedEvent struct {
	from                           *mockbase.SSEEvent
	name, id, data, comment, value *script
}

// compileEvent compiles the templates of an event; nil if there are none.
func (w *workbench) compileEvent(from *mockbase.SSEEvent, at string) *renderedEvent {
	r := &renderedEvent{
		from: from, name: w.optionalScript(from.Event, at+"/event"), id: w.optionalScript(from.ID, at+"/id"),
		data: w.optionalScript(from.Data, at+"/data"), comment: w.optionalScript(from.Comment, at+"/comment"),
	}
	if from.JSON != nil {
		r.value = w.compileScript(scriptKey{source: string(from.JSON), isJSON: true}, at+"/json", "event")
	}
	if r.name == nil && r.id == nil && r.data == nil && r.comment == nil && r.value == nil {
		return nil
	}
	return r
}

func (w *workbench) optionalScript(text *string, at string) *script {
	if text == nil {
		return nil
	}
	return w.script(*text, at, "event")
}

// render renders an event. One that cannot be rendered ends the stream, and the exchange says why.
func (r *renderedEvent) render(c *call) ([]byte, bool) {
	c.nextScope()
	e := eventOf(r.from)
	for _, part := range [...]struct {
		script *script
		to     **string
	}{{r.name, &e.Name}, {r.id, &e.ID}, {r.data, &e.Data}, {r.value, &e.Data}, {r.comment, &e.Comment}} {
		if part.script == nil {
			continue
		}
		text, failed := part.script.text(c)
		if failed != nil {
			c.outcome.failure = failed.detail
			return nil, false
		}
		*part.to = &text
	}
	for _, line := range [...]**string{&e.Name, &e.ID} {
		if *line != nil {
			// A line break would begin a field of its own (rule U3).
			*line = new(strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(**line))
		}
	}
	return e.Append(nil), true
}

// prepare implements reply.
func (s *scripted) prepare(*call) (sending, *failure) { return s, nil }

// send plays the script.
func (s *scripted) send(c *call) {
	if c.method.name == http.MethodHead {
		s.begin(c)
		return
	}
	play := &sse.Play{
		Script: s.bind(c), LastID: c.header.Get("Last-Event-ID"), Clock: c.clock(),
		Stream: sse.Stream{
			ID: c.id(), Project: c.program.project.ID, Group: c.streamGroup(), Mock: c.outcome.route.mock.Name,
			Client: c.engine.options.ClientAddress(c.request), Since: c.engine.options.Clock(), Session: c.session.ID(), SessionName: c.session.Name(),
		},
		Written: c.noteWritten,
	}
	closing, done := c.closing()
	defer done()
	outcome, err := c.engine.streams.Play(c.request.Context(), c.w, play, func() { s.begin(c) }, closing)
	if err != nil {
		c.refuse(tooManyStreams(err))
		return
	}
	c.outcome.aborted = outcome.Aborted
	if outcome.Reset {
		c.breakOff()
	}
}

// closing is closed when the session of the call ends or the server stops (rules AA11 and N13). Done frees what that takes.
func (c *call) closing() (closing <-chan struct{}, done func()) {
	both, cancel := context.WithCancel(c.engine.ended)
	ended := c.session.Done() // the call may be another one's by the time the goroutine runs
	go func() {
		select {
		case <-ended:
			cancel()
		case <-both.Done():
		}
	}()
	return both.Done(), cancel
}

// streamGroup is what a broadcast to the mock of the call reaches.
func (c *call) streamGroup() string { return streamGroup(c.program.project.ID, c.outcome.route.mock) }

// streamGroup tells the mocks of a project apart. Those without an id, which no definition states, are known by their names.
func streamGroup(projectID string, m *mockbase.Mock) string {
	return projectID + "/" + cmp.Or(m.ID, m.Name)
}

// bind returns the script with times that are drawn for the call.
func (s *scripted) bind(c *call) *sse.Script {
	if len(s.drawn)+len(s.rendered) == 0 {
		return s.script
	}
	bound := *s.script
	bound.Steps = slices.Clone(bound.Steps)
	for i, after := range s.drawn {
		bound.Steps[i].After = c.drawAfter(after, "event/"+strconv.Itoa(i))
	}
	for i, event := range s.rendered {
		bound.Steps[i].Make = func() ([]byte, bool) { return event.render(c) }
	}
	return &bound
}

// drawAfter returns a function that draws a time, another one each time; one that cannot be worked out is none, and the
// exchange says why.
func (c *call) drawAfter(after delays, purpose string) func() time.Duration {
	var drawn atomic.Int64
	return func() time.Duration {
		d, failed := after.planFor(c, purpose+"/"+strconv.FormatInt(drawn.Add(1), 10))
		if failed != nil {
			c.note(failed.detail)
			return 0
		}
		return d
	}
}

func (s *scripted) begin(c *call) { c.beginBare(s.answer) }

// beginBare sends status and header of an answer without a length.
func (c *call) beginBare(a *answer) {
	h := c.w.Header()
	c.lay(h, a)
	c.outcome.plain = !a.secret
	c.begin(h, a)
	c.w.WriteHeader(a.status)
	c.outcome.status, c.outcome.header = a.status, maps.Clone(h)
	cleanHeader(c.outcome.header)
}

// noteWritten keeps the first bytes of a body that is written piece by piece.
func (c *call) noteWritten(piece []byte) {
	c.outcome.bodySize += int64(len(piece))
	if room := c.engine.options.RecordCap - len(c.outcome.body); room > 0 && c.recording != nil {
		c.outcome.body = append(c.outcome.body, piece[:min(len(piece), room)]...)
	}
}

// breakOff ends the connection with a reset where that can be done, and without an end of the body elsewhere.
func (c *call) breakOff() {
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		c.outcome.cut = true
		return
	}
	c.outcome.seized = true
	raw := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		raw = secure.NetConn()
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		// Without lingering, closing sends a reset.
		_ = tcp.SetLinger(0)
	}
	_ = raw.Close()
}

func tooManyStreams(err error) *failure {
	return &failure{
		status: http.StatusServiceUnavailable, code: mockbase.CodeBusy, title: "Too many streams", own: true,
		detail: strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + ".",
	}
}
