package engine

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// response is one compiled response of a mock. It is immutable.
type response struct {
	source *mockbase.Response
	// uses is what the templates of the response read.
	uses template.Uses
	// What is looked at for every request comes last and lies next to the answer of a plot.
	//
	// name is that of the author, or r1, r2 and so on.
	name string
	*beside
	reply reply
}

// beside is what a response does beside what it sends. Those that do nothing share it.
type beside struct {
	hooks []hook
	delay delays
	// fault is that of the source.
	fault *mockbase.Fault
}

// reply is how a response becomes bytes: fixed bytes, rendered ones, a script of events, an upstream's answer.
type reply interface {
	// prepare works out what will be sent, once for each call and before its delay. A failure is answered instead, without
	// a delay.
	prepare(c *call) (sending, *failure)
}

// sending is an answer that only has to be written. It notes in the call's outcome what was sent: status, header, body,
// and whether the client left.
type sending interface {
	send(c *call)
}

// workbench is what the responses of a mock are compiled with.
type workbench struct {
	config   *mockbase.Config
	settings *settings
	// decision is the value of the decision header, "" for none.
	decision string
	faults   *mockbase.Faults
	// room is for the first answer that needs no work for each call; nil once it is used, or where there is none.
	room *answer
	// at is the pointer of the response under work, renders tells that its texts are templates (rule P1).
	at      string
	renders bool
	// uses is what the templates so far read.
	uses template.Uses
}

// compileResponses compiles every response of a mock, into what its plot has room for. Pointers are relative to the mock.
func compileResponses(c *mockbase.Config, s *settings, m *mockbase.Mock, p *plot, faults *mockbase.Faults) []response {
	list := slices.Grow(p.response[:0], len(m.Responses))[:len(m.Responses)]
	room := &p.answer
	for i := range m.Responses {
		w := &workbench{config: c, settings: s, decision: s.decision(m.Name), faults: faults, at: m.ResponsePointer(i), room: room}
		w.compile(&list[i], &m.Responses[i])
		room = w.room
		if list[i].name == "" {
			list[i].name = numberedName(i)
		}
	}
	return list
}

// numberedName is the name of a response whose author gives none.
func numberedName(i int) string {
	if i == 0 {
		return "r1" // which most have, and need no memory for
	}
	return "r" + strconv.Itoa(i+1)
}

func (w *workbench) compile(r *response, source *mockbase.Response) {
	r.source, r.name = source, source.Name
	w.renders = source.Template != nil && *source.Template || source.Template == nil && w.config.Defaults.Template
	own := beside{fault: source.Fault}
	own.delay = compileDelays(source.Delay, w.config.Defaults.Delay, func(text string) *script { return w.script(text, "/delay", "delay") })
	r.reply = w.reply(source)
	own.hooks = w.compileHooks(source)
	r.uses, r.beside = w.uses, w.settings.bare
	if own.fault != nil || own.delay != (delays{}) || len(own.hooks) > 0 {
		r.beside = &own
	}
}

// reply finds the kind of a response.
func (w *workbench) reply(source *mockbase.Response) reply {
	switch {
	case source.Proxy != nil:
		if p := w.compilePass(source.Proxy, mergeHeaders(w.config.Defaults.Headers, source.Headers)); p != nil {
			return p
		}
	case source.SSE != nil:
		return w.compileEvents(source)
	case source.WebSocket != nil:
		return w.compileTalk(source)
	}
	d := w.draft(source)
	if r := w.rendered(source, &d); r != nil {
		w.needFiles(&d)
		return r
	}
	if d.kind == mockbase.BodyFile {
		w.needFiles(&d)
		return &filed{draft: d, settings: w.settings}
	}
	own := w.room
	if w.room = nil; own == nil {
		own = new(answer)
	}
	return d.compileInto(own, w.settings)
}

// needFiles refuses a file without a template that can never be read (rule O17).
func (w *workbench) needFiles(d *draft) {
	templated := w.renders && bytes.Contains(d.body, []byte("{{"))
	if d.kind != mockbase.BodyFile || templated {
		return
	}
	if !insideRoot(string(d.body)) {
		w.faults.Append(mockbase.FieldError{
			Pointer: w.at + "/file", Code: mockbase.FieldPattern,
			Detail: "must be the path of a file below the files root, such as bodies/user.json; " + quoted(string(d.body)) + " leads out of it",
		})
	}
	if w.settings.files == nil {
		w.faults.Append(mockbase.FieldError{
			Pointer: w.at + "/file", Code: mockbase.FieldReference,
			Detail: "this server has no files root: its operator names one with --files-root",
		})
	}
}

// draft takes over what the author says.
func (w *workbench) draft(source *mockbase.Response) draft {
	d := draft{
		status: source.Status, kind: source.Body.Kind, body: source.Body.Bytes,
		headers: mergeHeaders(w.config.Defaults.Headers, source.Headers), hints: source.EarlyHints, trailers: source.Trailers,
		coding: source.Encode, autoTag: source.AutoETag, stream: source.Stream,
		conditional: source.AutoETag || source.Conditional != nil && *source.Conditional,
		ranges:      source.Range != nil && *source.Range || source.Range == nil && source.Body.Kind == mockbase.BodyFile,
		compress:    w.config.Settings.Compress,
		decision:    w.decision,
	}
	if d.stream != nil {
		d.chunked = d.stream.Chunked
		if d.stream.Chunks == 0 && d.stream.BytesPerSecond == 0 && d.stream.SlowHeaders == 0 {
			d.stream = nil
		}
	}
	return d
}

// give answers with a response: it works the answer out, waits, and sends it, or breaks it (rules Q2 and Q11).
func (c *call) give(r *response) {
	c.outcome.response = r
	ready, delay, failed := c.ready(r)
	if failed != nil {
		c.refuse(failed)
		return
	}
	if c.preferred.waits && c.outcome.route != nil {
		// A stated wait replaces the delay of the response, like any stated delay (rules AA24 and Q2).
		delay = c.preferred.wait
	}
	if delay > 0 && c.park(r, ready, delay) {
		return
	}
	if delay > 0 && !c.wait(delay) {
		c.expectHooks(r)
		return
	}
	c.complete(r, ready)
}

// complete sends what a response has ready, or breaks it.
func (c *call) complete(r *response, ready sending) {
	c.expectHooks(r)
	if whole, ok := ready.(*answer); ok && c.strikes(r.fault) {
		c.fail(r.fault, whole)
		return
	}
	ready.send(c)
}

// ready works out what a response sends, and after which delay.
func (c *call) ready(r *response) (sending, time.Duration, *failure) {
	ready, failed := r.reply.prepare(c)
	if failed != nil || r.delay.constant() {
		return ready, r.delay.fixed, failed
	}
	delay, failed := r.delay.plan(c)
	return ready, delay, failed
}

// badValue is a rendered value that cannot be used (rule O1).
func badValue(what string, err error) *failure {
	return &failure{
		status: http.StatusInternalServerError, code: mockbase.CodeAnswerFailed, title: "The answer cannot be made", own: true,
		detail: "The template of the " + what + " gives no usable value: " + err.Error() + ".",
	}
}
