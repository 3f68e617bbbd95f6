package interchange

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// webhooks writes the calls that follow an answer.
func (w *wiremockWriter) webhooks(r *exportedResponse) []*mockbase.Node {
	var list []*mockbase.Node
	items := r.doc.get("webhooks").items()
	for i := range r.Webhooks {
		list = append(list, w.webhook(r, &r.Webhooks[i], items[i]))
	}
	return list
}

// webhook writes one call.
func (w *wiremockWriter) webhook(r *exportedResponse, h *mockbase.Webhook, at value) *mockbase.Node {
	o := w.out.object(at)
	o.skip("name", "url", "method", "headers", "json", "text", "base64", "after")
	t := w.goTemplate(r)
	t.request = "originalRequest"
	text := r.writer(t)
	p := with("method", textNode(h.Method))
	p.set("url", text(h.URL))
	headers := &doc{}
	for _, header := range h.Headers {
		if len(header.Values) > 0 {
			headers.set(header.Name, text(header.Values[0]))
		}
		if len(header.Values) > 1 {
			w.lostOnce(at.at("headers", header.Name), "a call has one value of a header: the first is sent")
		}
	}
	w.webhookBody(h, p, headers, t, r)
	p.doc("headers", headers)
	if h.After != nil && (h.After.Kind != mockbase.DelayFixed || h.After.Fixed > 0) {
		w.hookDelay(at.member("after"), h.After, p)
	}
	listener := with("name", textNode("webhook"))
	listener.set("parameters", p.node())
	if key := "webhook " + r.mock.Name + at.pointer; !w.told[key] {
		w.told[key] = true
		for _, reason := range t.lost {
			w.lost(at, "an expression of the template is shown as it is written: %s", reason)
		}
		o.done()
	}
	return listener.node()
}

// hookDelay writes how long a call waits.
func (w *wiremockWriter) hookDelay(at value, delay *mockbase.Delay, p *doc) {
	d := &doc{}
	before := len(w.out.warnings)
	w.delay(at, delay, d)
	if w.told["after "+at.file+at.pointer] {
		w.out.warnings = w.out.warnings[:before] // the same answer is written for several stubs
	}
	w.told["after "+at.file+at.pointer] = true
	if fixed := d.get("fixedDelayMilliseconds"); fixed != nil {
		d = with("type", textNode("fixed"))
		d.set("milliseconds", fixed)
		p.set("delay", d.node())
		return
	}
	p.set("delay", d.get("delayDistribution"))
}

// lostOnce tells of a loss once, however many stubs have it.
func (w *wiremockWriter) lostOnce(at value, format string, args ...any) {
	if key := "lost " + at.file + at.pointer; !w.told[key] {
		w.told[key] = true
		w.lost(at, format, args...)
	}
}

func (*wiremockWriter) webhookBody(h *mockbase.Webhook, p, headers *doc, t *goTemplate, r *exportedResponse) {
	body := string(h.Body.Bytes)
	switch {
	case h.Body.Kind == mockbase.BodyNone:
		return
	case h.Body.Kind == mockbase.BodyJSON && r.rendered && strings.Contains(body, "{{"):
		body = t.jsonText(parsedOr(h.Body.Bytes))
	case h.Body.Kind == mockbase.BodyText && r.rendered:
		body = t.text(body)
	case !utf8.ValidString(body):
		p.set("base64Body", textNode(base64.StdEncoding.EncodeToString(h.Body.Bytes)))
		return
	}
	p.set("body", textNode(body))
	if h.Body.Kind == mockbase.BodyJSON && headers.get("Content-Type") == nil {
		headers.set("Content-Type", textNode("application/json"))
	}
}
