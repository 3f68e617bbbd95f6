package interchange

import (
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// response writes an answer; nil for one that has no equivalent at all.
func (w *wiremockWriter) response(r *exportedResponse) *doc {
	d := &doc{}
	if r.WebSocket != nil {
		w.lost(r.doc.get("webSocket"), "conversations over WebSocket have no equivalent: the answer is left out")
		return nil
	}
	t := w.goTemplate(r)
	text := r.writer(t)
	switch {
	case r.Fault != nil:
		w.fault(r, d)
	case r.Proxy != nil:
		r.doc.skip("proxy")
		proxyTo(r.Proxy, d, text)
		w.proxyLosses(r)
	default:
		d.set("status", numberNode(int64(r.status())))
	}
	if r.Fault == nil || d.get("fault") == nil {
		w.responseHeaders(r, d, text)
		w.responseBody(r, d, t)
	}
	w.responseDelay(r, d)
	if t.dynamic {
		d.set("transformers", listNode(textNode("response-template")))
	}
	for _, reason := range t.lost {
		w.lost(r.doc.value, "an expression of the template is shown as it is written: %s", reason)
	}
	return d
}

// goTemplate reads the templates of an answer.
func (w *wiremockWriter) goTemplate(r *exportedResponse) *goTemplate {
	return &goTemplate{
		config: w.config, request: "request", parameters: r.mock.named(), literal: asIs, variables: map[string]string{},
		secret: func(name string) bool { return w.project.NoteOf(name).Secret },
	}
}

// writer is how the texts of an answer are written: as templates, or as they are.
func (r *exportedResponse) writer(t *goTemplate) func(string) *mockbase.Node {
	if !r.rendered {
		return textNode
	}
	return func(s string) *mockbase.Node { return textNode(t.text(s)) }
}

// fault writes a broken answer.
func (w *wiremockWriter) fault(r *exportedResponse, d *doc) {
	kinds := map[string]string{
		"reset": "CONNECTION_RESET_BY_PEER", "reset_connection": "CONNECTION_RESET_BY_PEER", "empty": "EMPTY_RESPONSE",
		"garbage": "RANDOM_DATA_THEN_CLOSE", "malformed_chunk": "MALFORMED_RESPONSE_CHUNK",
	}
	v := r.doc.get("fault")
	f := r.Fault
	if f.Probability != nil && *f.Probability < 1 {
		w.lost(v, "a fault by chance has no equivalent: the answer is sent whole")
		d.set("status", numberNode(int64(r.status())))
		return
	}
	kind, ok := kinds[f.Kind]
	if !ok {
		w.lost(v, "the fault %s has no equivalent: the connection is reset instead", quoted(f.Kind))
		kind = "CONNECTION_RESET_BY_PEER"
	}
	if f.AfterBytes != nil && ok {
		w.lost(v, "a fault after some bytes has no equivalent: it comes at once")
	}
	r.doc.skip("status", "headers", "json", "text", "base64", "file")
	d.set("fault", textNode(kind))
}

// proxyTo writes a proxy.
func proxyTo(p *mockbase.Proxy, d *doc, text func(string) *mockbase.Node) {
	d.set("proxyBaseUrl", text(strings.TrimSuffix(p.To, "/")))
	d.text("proxyUrlPrefixToRemove", p.StripPrefix)
	headers := &doc{}
	for _, h := range p.SetHeaders {
		if len(h.Values) > 0 {
			headers.set(h.Name, text(h.Values[0]))
		}
	}
	d.doc("additionalProxyRequestHeaders", headers)
	var removed []*mockbase.Node
	for _, name := range p.RemoveHeaders {
		removed = append(removed, textNode(name))
	}
	d.list("removeProxyRequestHeaders", removed)
}

// proxyLosses tells of the settings of a proxy that stay behind.
func (w *wiremockWriter) proxyLosses(r *exportedResponse) {
	p := w.out.object(r.doc.get("proxy"))
	for _, h := range r.Proxy.SetHeaders {
		if len(h.Values) > 1 {
			w.lost(p.member("setHeaders").member(h.Name), "an added header has one value: the first is sent")
		}
	}
	p.skip("to", "stripPrefix", "setHeaders", "removeHeaders")
	p.done()
}

func (*wiremockWriter) responseHeaders(r *exportedResponse, d *doc, text func(string) *mockbase.Node) {
	headers := &doc{}
	list := r.headers()
	if r.Proxy != nil {
		list = r.Headers
	}
	for _, h := range list {
		var values []*mockbase.Node
		for _, v := range h.Values {
			values = append(values, text(v))
		}
		switch len(values) {
		case 0:
		case 1:
			headers.set(h.Name, values[0])
		default:
			headers.set(h.Name, listNode(values...))
		}
	}
	d.doc("headers", headers)
}

// responseBody writes the body. JSON with expressions in it becomes a text, in which values keep their types.
func (w *wiremockWriter) responseBody(r *exportedResponse, d *doc, t *goTemplate) {
	if r.SSE != nil {
		w.events(r, d)
		return
	}
	n := r.bodyNode()
	switch {
	case n == nil:
	case r.Body.Kind == mockbase.BodyBase64:
		d.set("base64Body", n)
	case r.Body.Kind == mockbase.BodyJSON && r.dynamic():
		d.set("body", textNode(t.jsonText(n)))
	case r.Body.Kind == mockbase.BodyJSON && n.Kind == mockbase.NodeNull:
		d.set("body", textNode("null")) // null is no body there
	case r.Body.Kind == mockbase.BodyJSON:
		// As text, because a number or the order of members is kept there as it was written.
		d.set("jsonBody", n)
	case r.rendered:
		d.set("body", textNode(t.text(n.Text)))
	default:
		d.set("body", n)
	}
}

// events writes a stream of events as one text.
func (w *wiremockWriter) events(r *exportedResponse, d *doc) {
	w.lost(r.doc.get("sse"), "a stream of events is sent as one text, without waits, repeats or resumption")
	d.set("body", textNode(eventsText(r.SSE)))
}

// eventsText is a stream of events as one text.
func eventsText(s *mockbase.SSE) string {
	var b strings.Builder
	line := func(name string, text *string) {
		if text == nil {
			return
		}
		for part := range strings.SplitSeq(*text, "\n") {
			b.WriteString(name + ": " + part + "\n")
		}
	}
	for _, e := range s.Events {
		line("", e.Comment)
		line("event", e.Event)
		line("id", e.ID)
		line("data", e.Data)
		if len(e.JSON) > 0 {
			data := string(e.JSON)
			line("data", &data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// responseDelay writes the delay, and how a body is sent over time.
func (w *wiremockWriter) responseDelay(r *exportedResponse, d *doc) {
	if delay := r.wait(); delay != nil {
		w.delay(r.doc.get("delay"), delay, d)
	}
	v := r.doc.get("stream")
	s := r.Stream
	switch {
	case s == nil:
		return
	case s.Chunks > 0 && s.Over > 0:
		dribble := with("numberOfChunks", numberNode(int64(s.Chunks)))
		dribble.set("totalDuration", numberNode(s.Over.Milliseconds()))
		d.set("chunkedDribbleDelay", dribble.node())
	case s.BytesPerSecond > 0:
		total := time.Duration(float64(len(r.Body.Bytes)) / float64(s.BytesPerSecond) * float64(time.Second))
		dribble := with("numberOfChunks", numberNode(min(max(total.Milliseconds()/100, 1), 1000)))
		dribble.set("totalDuration", numberNode(total.Milliseconds()))
		d.set("chunkedDribbleDelay", dribble.node())
	default:
		w.lost(v, "this way to send a body over time has no equivalent")
	}
	o := w.out.object(v)
	o.skip("chunks", "over", "bytesPerSecond")
	if v.is(mockbase.NodeObject) {
		o.done()
	}
}

// delay writes a delay.
func (w *wiremockWriter) delay(v value, delay *mockbase.Delay, d *doc) {
	ms := func(t time.Duration) *mockbase.Node { return numberNode(t.Milliseconds()) }
	spread := &doc{}
	switch delay.Kind {
	case mockbase.DelayFixed:
		if delay.Jitter == 0 {
			d.set("fixedDelayMilliseconds", ms(delay.Fixed))
			return
		}
		spread.set("type", textNode("uniform"))
		spread.set("lower", ms(max(delay.Fixed-delay.Jitter, 0)))
		spread.set("upper", ms(delay.Fixed+delay.Jitter))
	case mockbase.DelayUniform:
		spread.set("type", textNode("uniform"))
		spread.set("lower", ms(delay.Min))
		spread.set("upper", ms(delay.Max))
	case mockbase.DelayLognormal:
		spread.set("type", textNode("lognormal"))
		spread.set("median", ms(delay.Median))
		spread.set("sigma", floatNode(delay.Sigma))
		if delay.HasMax {
			spread.set("maxValue", ms(delay.Max))
		}
	case mockbase.DelayNormal:
		w.lost(v, "a normal distribution has no equivalent: the mean is waited for")
		d.set("fixedDelayMilliseconds", ms(delay.Mean))
		return
	case mockbase.DelayTemplate:
		w.lost(v, "a delay that is a template has no equivalent: it is left out")
		return
	}
	d.set("delayDistribution", spread.node())
}
