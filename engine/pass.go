package engine

import (
	"errors"
	"maps"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/proxy"
)

// passing answers with what an upstream answers (rules T1 to T13).
type passing struct {
	route *proxy.Route
	// to renders the upstream's URL; nil is a fixed one.
	to *script
	// headers override those of the upstream.
	headers []mockbase.Header
	// record says what becomes a mock; nil is nothing.
	record *recordRules
}

var (
	_ reply   = (*passing)(nil)
	_ sending = (*passing)(nil)
)

// compilePass compiles a proxy, whose place is the pointer; it returns nil when its upstream can never be called.
func (w *workbench) compilePass(from *mockbase.Proxy, headers []mockbase.Header) *passing {
	p := &passing{headers: headers, record: compileRecord(from), to: w.script(from.To, "/proxy/to", "upstream's URL")}
	kind := proxy.FixedUpstream
	if p.to != nil {
		kind = proxy.TemplatedUpstream
	}
	route, err := proxy.Compile(from, kind)
	if err != nil {
		w.faults.Append(mockbase.FieldError{Pointer: w.at + "/proxy/to", Code: mockbase.FieldPattern, Detail: err.Error()})
		return nil
	}
	p.route = route
	return p
}

// prepare implements reply.
func (p *passing) prepare(c *call) (sending, *failure) {
	if p.to == nil {
		return p, nil
	}
	to, failed := p.to.text(c)
	if failed != nil {
		return nil, failed
	}
	route, err := p.route.To(to)
	if err != nil {
		return nil, p.failed(c, proxy.ErrorOf(err))
	}
	bound := *p
	bound.route = route
	return &bound, nil
}

// send passes the request on and the answer back.
func (p *passing) send(c *call) {
	in := &proxy.Request{
		In: c.request, Header: c.header, Target: c.target.path, Body: c.outcome.received,
		Peer: peerAddress(c.request), OwnBase: c.ownBase(), Keep: c.keepFor(p),
	}
	if c.asked {
		in.Target += "?" + c.rawQuery
	}
	unread := c.steadyBody()
	if unread != nil {
		in.Unread = unread
	}
	var upstream http.Header
	in.Lay = func(to, answer http.Header, status int) {
		upstream = maps.Clone(answer)
		p.lay(c, to, answer)
		c.outcome.status, c.outcome.header = status, maps.Clone(to)
		cleanHeader(c.outcome.header)
	}
	result, err := c.program.reach.forwarder.Forward(c.w, p.route, in)
	if late := unread.end(); late && err != nil {
		// Nothing more is waited for.
		c.outcome.unread = false
		c.refuse(slowBody())
		return
	}
	if failed, ok := errors.AsType[*proxy.UpstreamError](err); ok {
		p.fail(c, failed)
		return
	}
	c.outcome.by = mockbase.AnsweredByProxy
	c.takeRecording(p, upstream, result)
	c.outcome.body, c.outcome.bodySize, c.outcome.aborted = firstBytes(result.Body, c.engine.options.RecordCap), result.BodySize, result.Aborted
	if result.Tunnelled {
		c.outcome.status, c.outcome.header, c.outcome.seized = result.Status, result.Header, true
	}
	if result.Broken != nil {
		c.outcome.failure, c.outcome.cut = result.Broken.Error(), true
	}
}

// fail answers for an upstream that did not (rules T10 and T13).
func (p *passing) fail(c *call, failed *proxy.UpstreamError) {
	if failed.Aborted {
		c.outcome.by, c.outcome.aborted = mockbase.AnsweredByProxy, true
		return
	}
	c.refuse(p.failed(c, failed))
	c.outcome.by = mockbase.AnsweredByProxy
}

// failed tells of an upstream that did not answer. The cause may name its address, which may hold a secret.
func (p *passing) failed(c *call, why *proxy.UpstreamError) *failure {
	told := *why
	if p.to != nil && p.to.secretive(c) {
		told.Cause = errVeiled
	}
	return upstreamFailed(&told)
}

func upstreamFailed(failed *proxy.UpstreamError) *failure {
	title := map[int]string{
		http.StatusBadGateway: "The upstream failed", http.StatusGatewayTimeout: "The upstream is silent", http.StatusLoopDetected: "The upstream is this server",
	}[failed.Status]
	return &failure{
		status: failed.Status, code: mockbase.CodeUpstreamFailed, title: title, own: true,
		detail: "The request could not be passed on: " + failed.Cause.Error() + ".",
	}
}

// lay puts the upstream's header in place, with what the author states over it and what browsers of other origins need
// (rule L18).
func (p *passing) lay(c *call, to, answer http.Header) {
	s := c.program.settings
	c.keepFields(to, func() { maps.Copy(to, answer) })
	if !s.origins.off {
		for _, name := range [...]string{headerAllowOrigin, headerAllowCredentials, headerExpose} {
			delete(to, name)
		}
	}
	for i := range p.headers {
		override(to, &p.headers[i])
	}
	s.origins.decorate(to, c.allowed)
	c.protectBrowser(to)
	c.stamp(to)
}

// override puts an author's header over the upstream's.
func override(to http.Header, own *mockbase.Header) {
	canonical := textproto.CanonicalMIMEHeaderKey(own.Name)
	switch canonical {
	case headerContentLength, headerDecision, headerConnection, "Transfer-Encoding":
		return
	}
	for name := range to {
		if strings.EqualFold(name, own.Name) {
			delete(to, name)
		}
	}
	if own.Remove {
		to[canonical] = nil
		return
	}
	to[own.Name] = own.Values
	if own.Name != canonical && (canonical == headerDate || canonical == headerContentType) {
		// net/http looks for these two in canonical spelling, and adds them otherwise.
		to[canonical] = nil
	}
}

// fallBack lets the project's upstream answer what nothing else does (rules L6 and T14).
func (c *call) fallBack() {
	ready, failed := c.program.settings.fallback.prepare(c)
	if failed != nil {
		c.refuse(failed)
	} else {
		ready.send(c)
	}
	c.outcome.by = mockbase.AnsweredByProxy
}
