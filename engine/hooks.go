package engine

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/engine/webhook"
)

// The values that hold where the author of a webhook says nothing of them.
const (
	hookBackoff    = time.Second
	hookMaxBackoff = time.Minute
)

const (
	// prefixWebhook begins the Webhook-Id, as receivers know it from other senders.
	prefixWebhook = "msg_"
	// hookTime bounds the rendering of all webhooks of an answer.
	hookTime = 2 * time.Second
	// closingTime is how long the server waits for webhooks under way when it stops (rule S9).
	closingTime = 2 * time.Second
)

// hook is a compiled webhook (group S).
type hook struct {
	source    *mockbase.Webhook
	after     delays
	url, body *script
	headers   []mockbase.Header
	lines     []renderedLine
	// varies tells that attempts differ (rule S2).
	varies bool
}

// compileHooks compiles the webhooks of a response.
func (w *workbench) compileHooks(source *mockbase.Response) []hook {
	list := make([]hook, len(source.Webhooks))
	uses := w.uses
	for i := range source.Webhooks {
		w.uses = 0
		from, at := &source.Webhooks[i], "/webhooks/"+strconv.Itoa(i)
		h := hook{source: from, headers: from.Headers, url: w.script(from.URL, at+"/url", "webhook's URL")}
		h.after, _ = w.compileAfter(from.After, at)
		h.lines = w.lines(from.Headers, strings.TrimPrefix(at, "/")+"/headers", "webhook's header")
		switch from.Body.Kind {
		case mockbase.BodyJSON:
			h.body = w.compileScript(scriptKey{source: string(from.Body.Bytes), isJSON: true}, at+"/json", "webhook's body")
		case mockbase.BodyText:
			h.body = w.script(string(from.Body.Bytes), at+"/text", "webhook's body")
		case mockbase.BodyNone, mockbase.BodyBase64, mockbase.BodyFile:
		}
		h.varies = w.uses.Has(template.UsesAttempt)
		uses |= w.uses
		list[i] = h
	}
	w.uses = uses
	return list
}

// madeRequest is an attempt that is rendered, or why it cannot be.
type madeRequest struct {
	webhook.Request

	err error
}

// render renders an attempt; what is drawn at random is the same in each (rule S2).
func (h *hook) render(c *call, place, attempt int, answer *template.Response) madeRequest {
	shared := c.scope()
	defer func() { c.rendering = shared }()
	own := template.Scope{
		Request: shared.Request, Variables: shared.Variables, State: shared.State, Call: shared.Call, Session: shared.Session, Seed: shared.Seed,
		Now: shared.Now, Limit: shared.Limit, Response: answer, Attempt: attempt,
		Rand: func() *rand.Rand { return c.chance("webhook/" + strconv.Itoa(place)) },
	}
	c.rendering = &own
	made := madeRequest{Request: webhook.Request{Method: h.source.Method, URL: h.source.URL, Header: http.Header{}, Body: h.source.Body.Bytes}}
	var failed *failure
	if h.url != nil {
		made.URL, failed = h.url.text(c)
		if failed == nil {
			made.Shown = h.url.shown(c, made.URL)
		}
	}
	headers := h.headers
	if failed == nil {
		headers, failed = renderLines(c, headers, h.lines)
	}
	if failed == nil && h.body != nil {
		made.Body, failed = h.body.render(c, nil)
	}
	if failed != nil {
		made.err = errors.New(failed.detail)
		return made
	}
	h.fill(made.Header, headers)
	return made
}

// fill sets the header of an attempt.
func (h *hook) fill(to http.Header, headers []mockbase.Header) {
	to[headerUserAgent] = []string{"MockBase"}
	switch h.source.Body.Kind {
	case mockbase.BodyJSON:
		to[headerContentType] = []string{"application/json"}
	case mockbase.BodyText:
		to[headerContentType] = []string{"text/plain; charset=utf-8"}
	case mockbase.BodyBase64:
		to[headerContentType] = []string{"application/octet-stream"}
	case mockbase.BodyNone, mockbase.BodyFile:
	}
	for i := range headers {
		own := &headers[i]
		delete(to, textproto.CanonicalMIMEHeaderKey(own.Name))
		if !own.Remove {
			to[own.Name] = own.Values
		}
	}
}

// hooksOf cancels the webhooks of a session that is reset or ends (rule S9).
type hooksOf struct {
	queue            *webhook.Queue
	project, session string
}

var _ session.Attachment = (*hooksOf)(nil)

// hooksKey finds the hooksOf among the attachments of a session.
type hooksKey struct{}

// Reset implements session.Attachment.
func (h *hooksOf) Reset(what session.Levels) {
	if what&session.Counters != 0 {
		h.queue.Cancel(h.project, h.session)
	}
}

// End implements session.Attachment.
func (h *hooksOf) End() { h.queue.Cancel(h.project, h.session) }

// pendingHooks are the webhooks that follow an answer.
type pendingHooks struct {
	// hooks are those of the response and the callbacks of a document.
	hooks []hook
	// advanced is how far the clock of the session had been advanced when the answer began.
	advanced time.Duration
	calls    []*webhook.Call
	places   []int
}

// expectHooks notes that an answer begins whose webhooks are to follow.
func (c *call) expectHooks(r *response) {
	if c.pending.hooks = append(slices.Clip(r.hooks), c.pending.hooks...); len(c.pending.hooks) > 0 {
		c.pending.advanced = c.session.Timeline().Advanced()
	}
}

// callbackTimeout bounds a callback, as it does a webhook that states no time-out.
const callbackTimeout = 10 * time.Second

// expectCallbacks notes the callbacks of a document, which are made like webhooks (rule S8).
func (c *call) expectCallbacks(list []mockbase.DocumentCallback) {
	for i := range list {
		from := &list[i]
		if from.Missed != "" {
			c.note(from.Missed)
			continue
		}
		made := hook{source: &mockbase.Webhook{Name: from.Name, URL: from.URL, Method: from.Method, Timeout: callbackTimeout}}
		if from.MediaType != "" {
			made.source.Body = mockbase.Body{Kind: mockbase.BodyBase64, Bytes: from.Body}
			made.headers = []mockbase.Header{{Name: headerContentType, Values: []string{from.MediaType}}}
		}
		c.pending.hooks = append(c.pending.hooks, made)
	}
}

// announceHooks makes the calls that will follow and shows them in the exchange (rules S1 and S9).
func (c *call) announceHooks() {
	p := &c.pending
	if len(p.hooks) == 0 {
		return
	}
	c.session.Attached(hooksKey{}, func() session.Attachment {
		return &hooksOf{queue: c.engine.hooks, project: c.program.project.ID, session: c.session.ID()}
	})
	now := c.clock().Now()
	for i := range p.hooks {
		h := &p.hooks[i]
		if c.outcome.aborted && !h.source.Always {
			continue
		}
		made := c.newHook(h, i)
		made.ID = mockbase.NewID(prefixWebhook, now)
		p.calls, p.places = append(p.calls, made), append(p.places, i)
		if c.recording != nil {
			c.exchange.Webhooks = append(c.exchange.Webhooks, mockbase.RecordedWebhook{
				ID: made.ID, Name: h.source.Name, State: mockbase.WebhookWaiting, Method: h.source.Method, URL: h.source.URL,
			})
		}
	}
}

// newHook makes the call of a webhook, but for what it sends.
func (c *call) newHook(h *hook, place int) *webhook.Call {
	from := h.source
	made := &webhook.Call{
		Project: c.program.project.ID, Session: c.session.ID(), Name: from.Name, Exchange: c.id(), Clock: c.clock(),
		Timeout: from.Timeout, Received: c.request.Header, Transport: c.program.reach.hooks,
		Retries: webhook.Retries{
			Max: from.Retries.Max, Backoff: orLonger(from.Retries.Backoff, hookBackoff), MaxBackoff: orLonger(from.Retries.MaxBackoff, hookMaxBackoff),
			Jitter: from.Retries.Jitter,
		},
		Random: c.chance("webhook/" + strconv.Itoa(place) + "/backoff").Float64,
	}
	if made.After = h.after.fixed; !h.after.constant() {
		made.After = c.drawAfter(h.after, "webhook/"+strconv.Itoa(place)+"/after")()
	}
	if sign := from.Sign; sign != nil {
		made.Sign = &webhook.Sign{Header: sign.Header, Secret: sign.Secret, SHA512: sign.Algorithm == "hmac-sha512"}
	}
	return made
}

func orLonger(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return d
}

// startHooks renders the webhooks and lets them wait for their time. The client has its answer by then.
func (c *call) startHooks() {
	p := &c.pending
	if len(p.calls) == 0 {
		return
	}
	if c.outcome.status != 0 && !c.outcome.seized && !c.outcome.cut && !c.outcome.aborted {
		// The error is that the client has left; the webhooks follow all the same.
		_ = http.NewResponseController(c.w).Flush()
	}
	answered := c.request.Context()
	// Rendering goes on when the client has what it wanted and leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(answered), hookTime)
	defer cancel()
	c.request = c.request.WithContext(ctx)
	answer := &template.Response{Status: c.outcome.status, Headers: maps.Clone(c.outcome.header), Body: slices.Clone(c.outcome.body)}
	for i, made := range p.calls {
		p.hooks[p.places[i]].attempts(c, p.places[i], answer, made)
	}
	queue, clock, calls, advanced := c.engine.hooks, c.session.Timeline(), p.calls, p.advanced
	start := func() {
		for _, made := range calls {
			// What was advanced while the answer went out counts for the time after it (rule AA15).
			made.After = max(0, made.After-(clock.Advanced()-advanced))
			// That it was dropped is reported like an attempt.
			_ = queue.Add(made)
		}
	}
	if c.endsWithHandler() {
		context.AfterFunc(answered, start)
		return
	}
	start()
}

// endsWithHandler tells whether the client sees the end of the answer only when the handler has returned, as with one
// without a length. Then the server cancels the request's context.
func (c *call) endsWithHandler() bool {
	if c.outcome.seized || c.outcome.cut || c.outcome.status == 0 || c.request.Context().Value(http.ServerContextKey) == nil {
		return false
	}
	return len(c.outcome.header[headerContentLength]) == 0 && !bodyless(c.outcome.status)
}

// attempts renders the attempts of a call: one, or as many as there may be where they differ.
func (h *hook) attempts(c *call, place int, answer *template.Response, to *webhook.Call) {
	count := 1
	if h.varies {
		count += h.source.Retries.Max
	}
	list := make([]madeRequest, count)
	for i := range list {
		list[i] = h.render(c, place, i+1, answer)
		to.Size += int64(len(list[i].URL) + len(list[i].Body))
	}
	to.Make = func(attempt int) (webhook.Request, error) {
		made := list[min(attempt, count)-1]
		return made.Request, made.err
	}
}

// Amender is a recorder whose exchanges may change after they were recorded. The attempts of webhooks are shown in
// exchanges by one that is an Amender.
type Amender interface {
	// Amend replaces an exchange with a copy that change has changed; it must not touch what both share. It returns false
	// when the exchange is no longer kept.
	Amend(projectID, id string, change func(x *mockbase.Exchange)) bool
}

// reportHook shows an attempt in its exchange (rules S3, S4 and S6).
func (e *Engine) reportHook(a webhook.Attempt) {
	amender, ok := e.options.Journal.(Amender)
	if !ok {
		return
	}
	most := e.options.RecordCap
	amender.Amend(a.Call.Project, a.Call.Exchange, func(x *mockbase.Exchange) {
		x.Webhooks = slices.Clone(x.Webhooks)
		for i := range x.Webhooks {
			if w := &x.Webhooks[i]; w.ID == a.Call.ID {
				w.Attempts = slices.Clip(w.Attempts)
				noteAttempt(w, &a, most)
			}
		}
	})
}

func noteAttempt(w *mockbase.RecordedWebhook, a *webhook.Attempt, most int) {
	if a.Last {
		w.State = hookState(a)
	}
	if a.Number == 0 {
		w.Error = a.Err.Error()
		return
	}
	if a.URL != "" {
		w.Method, w.URL = a.Method, a.URL
	}
	made := mockbase.RecordedAttempt{Number: a.Number, At: a.At, Duration: a.Duration, Status: a.Status, Body: firstBytes(a.Body, most)}
	if a.Err != nil {
		made.Error = a.Err.Error()
		if a.Veiled {
			made.Error = "the call failed; " + errVeiled.Error()
		}
	}
	w.Attempts = append(w.Attempts, made)
}

// hookState says how a webhook ended.
func hookState(a *webhook.Attempt) mockbase.WebhookState {
	blocked, isBlocked := errors.AsType[*outbound.BlockedError](a.Err)
	switch {
	case isBlocked && blocked.Reason == outbound.ReasonLoop:
		return mockbase.WebhookLoop
	case isBlocked:
		return mockbase.WebhookBlocked
	case errors.Is(a.Err, webhook.ErrCancelled):
		return mockbase.WebhookCancelled
	case errors.Is(a.Err, webhook.ErrFull), errors.Is(a.Err, webhook.ErrClosed):
		return mockbase.WebhookDropped
	case a.Err != nil, a.Status >= http.StatusBadRequest:
		return mockbase.WebhookFailed
	default:
		return mockbase.WebhookDelivered
	}
}

// WaitingWebhooks counts the webhooks of a project that are not done (rule S9).
func (e *Engine) WaitingWebhooks(projectID string) int { return len(e.hooks.Waiting(projectID)) }
