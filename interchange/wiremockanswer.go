package interchange

import (
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// response translates the answer of a stub.
func (w *wiremockStub) response(r *object) *doc {
	answer := &doc{}
	w.dialect.parameters = r.get("transformerParameters")
	for _, item := range r.listOf("transformers") {
		if item.text() == "response-template" {
			w.rendered = true
			continue
		}
		w.out.lost(item, "the transformer %s runs code of an extension: the answer is sent without it", quoted(item.text()))
	}
	text := func(v value) string { return v.text() }
	if w.rendered {
		text = func(v value) string { return w.template(v, &w.dialect, answer) }
	}
	r.skip("fromConfiguredStub")
	switch {
	case r.has("fault"):
		w.fault(r, answer)
	case r.has("proxyBaseUrl"):
		w.proxy(r, answer, text)
	default:
		w.status(r, answer)
	}
	w.headers(r, answer, text)
	if !r.has("fault") && !r.has("proxyBaseUrl") {
		w.answerBody(r, answer, text)
	}
	w.delay(r, answer)
	if d := r.get("chunkedDribbleDelay"); d.ok() {
		w.dribble(d, answer)
	}
	if message := r.textOf("statusMessage"); message != "" {
		w.out.lost(r.get("statusMessage"), "the reason phrase %s is left out: HTTP/2 has none and clients ignore it", quoted(message))
	}
	r.done()
	return answer
}

func (w *wiremockStub) status(r *object, answer *doc) {
	n, ok := r.integerOf("status")
	const least = 200
	switch {
	case !ok:
		answer.set("status", numberNode(least))
	case n < least:
		w.out.lost(r.get("status"), "%d is no final status: 200 is taken", n)
		answer.set("status", numberNode(least))
	default:
		answer.set("status", numberNode(n))
	}
}

// fault translates a broken answer. WireMock sends nothing else then.
func (w *wiremockStub) fault(r *object, answer *doc) {
	kinds := map[string]string{
		"EMPTY_RESPONSE": "empty", "MALFORMED_RESPONSE_CHUNK": "malformed_chunk", "RANDOM_DATA_THEN_CLOSE": "garbage", "CONNECTION_RESET_BY_PEER": "reset",
	}
	name := r.textOf("fault")
	kind, ok := kinds[name]
	if !ok {
		w.out.lost(r.get("fault"), "the fault %s has no equivalent: the connection is reset", quoted(name))
		kind = "reset"
	}
	answer.set("fault", textNode(kind))
	r.skip("headers", "statusMessage")
	r.contradicts("fault", "body", "jsonBody", "base64Body", "bodyFileName", "status")
}

func (w *wiremockStub) proxy(r *object, answer *doc, text func(value) string) {
	p := &doc{}
	p.text("to", text(r.get("proxyBaseUrl")))
	if prefix := r.textOf("proxyUrlPrefixToRemove"); prefix != "" {
		p.set("stripPrefix", textNode(w.out.prefix+prefix))
	} else if w.out.prefix != "" {
		p.set("stripPrefix", textNode(w.out.prefix))
	}
	headers := &doc{}
	for _, e := range r.get("additionalProxyRequestHeaders").entries() {
		if e.scalar() {
			headers.set(e.key, textNode(text(e.value)))
			continue
		}
		w.out.lost(e.value, "several values of one added header: the first is taken")
		if items := e.items(); len(items) > 0 {
			headers.set(e.key, textNode(text(items[0])))
		}
	}
	p.doc("setHeaders", headers)
	var removed []*mockbase.Node
	for _, item := range r.listOf("removeProxyRequestHeaders") {
		removed = append(removed, textNode(item.text()))
	}
	p.list("removeHeaders", removed)
	answer.set("proxy", p.node())
	r.skip("status", "body")
}

func (w *wiremockStub) headers(r *object, answer *doc, text func(value) string) {
	headers := &doc{}
	for _, e := range r.get("headers").entries() {
		switch {
		case framingHeader(e.key):
			w.out.lost(e.value, "the header %s belongs to the connection and is set by the server", quoted(e.key))
		case e.is(mockbase.NodeList):
			var list []*mockbase.Node
			for _, item := range e.items() {
				list = append(list, textNode(text(item)))
			}
			headers.list(e.key, list)
		case e.is(mockbase.NodeObject):
			w.out.wrong(e.value, mockbase.FieldType, "must be a text or a list of texts, found an object: the header is left out")
		default:
			headers.set(e.key, textNode(text(e.value)))
		}
	}
	answer.doc("headers", headers)
}

// framingHeader tells whether a header describes how the answer is sent, which the server knows better.
func framingHeader(name string) bool {
	switch strings.ToLower(name) {
	case "transfer-encoding", "connection", "keep-alive", "content-length", "upgrade", "trailer", "te", "proxy-connection":
		return true
	}
	return false
}

// hasContentType tells whether an answer sets its content type.
func hasContentType(answer *doc) bool {
	headers := answer.get("headers")
	if headers == nil {
		return false
	}
	for _, m := range headers.Members {
		if strings.EqualFold(m.Key, "Content-Type") {
			return true
		}
	}
	return false
}

// withoutContentType takes the content type away that the server would add by itself.
func withoutContentType(answer *doc) {
	headers := &doc{}
	if old := answer.get("headers"); old != nil {
		headers.members = old.Members
	}
	headers.set("Content-Type", nullNode())
	answer.set("headers", headers.node())
}

// answerBody sets the body, and takes the content type away that WireMock would not send.
func (w *wiremockStub) answerBody(r *object, answer *doc, text func(value) string) {
	r.onlyFirst("jsonBody", "body", "base64Body", "bodyFileName")
	switch {
	case r.has("jsonBody"):
		v := r.get("jsonBody")
		if w.rendered && strings.Contains(string(v.node.JSON()), "{{") {
			v.node = textNode(string(v.node.JSON())) // rendered as one text, as WireMock does
			answer.text("text", text(v))
		} else {
			answer.set("json", v.node)
		}
	case r.has("body"):
		answer.text("text", text(r.get("body")))
	case r.has("base64Body"):
		answer.text("base64", r.textOf("base64Body"))
	case r.has("bodyFileName"):
		w.bodyOfFile(r.get("bodyFileName"), answer, text)
	}
	r.skip("body", "base64Body", "bodyFileName")
	for _, kind := range []string{"text", "json", "base64"} {
		if answer.get(kind) != nil && !hasContentType(answer) {
			withoutContentType(answer)
		}
	}
}

func (w *wiremockStub) bodyOfFile(v value, answer *doc, text func(value) string) {
	name := v.text()
	content, ok := w.bodyFile(name)
	switch {
	case strings.Contains(name, "{{"):
		w.out.lost(v, "the name of the body's file is a template, and files cannot be chosen when a mock is called: the body is left out")
	case !ok:
		w.out.lost(v, "the file %s is not among the files: import the folder or archive that holds mappings and __files; the body is left out", quoted(name))
	case utf8.Valid(content):
		answer.text("text", text(value{textNode(string(content)), v.pointer, v.file}))
	default:
		answer.bytesBody(content)
	}
}

// delay translates the fixed delay and the random one, which WireMock adds up.
func (w *wiremockStub) delay(r *object, answer *doc) {
	fixed, _ := r.numberOf("fixedDelayMilliseconds")
	v := r.get("delayDistribution")
	if !v.ok() {
		if fixed > 0 {
			answer.set("delay", durationNode(millis(fixed)))
		}
		return
	}
	answer.set("delay", w.out.wiremockDelay(v, fixed))
}

// wiremockDelay translates a distribution of delays, with a fixed one added.
func (o *output) wiremockDelay(v value, fixed float64) *mockbase.Node {
	d := o.object(v)
	number := func(name string) float64 {
		n, _ := d.numberOf(name)
		return n
	}
	delay := &doc{}
	switch kind := d.textOf("type"); kind {
	case "fixed":
		total := number("milliseconds") + fixed
		d.done()
		return durationNode(millis(total))
	case "uniform":
		delay.set("min", durationNode(millis(number("lower")+fixed)))
		delay.set("max", durationNode(millis(number("upper")+fixed)))
	case "lognormal":
		inner := with("median", durationNode(millis(number("median"))))
		inner.set("sigma", floatNode(number("sigma")))
		if d.has("maxValue") {
			inner.set("max", durationNode(millis(number("maxValue"))))
		}
		delay.set("lognormal", inner.node())
		if fixed > 0 {
			o.lost(v, "the fixed delay beside a log-normal one is left out")
		}
	default:
		o.lost(v, "the delay %s has no equivalent", quoted(kind))
		return nil
	}
	d.done()
	return delay.node()
}

func (w *wiremockStub) dribble(v value, answer *doc) {
	d := w.out.object(v)
	chunks, _ := d.integerOf("numberOfChunks")
	total, _ := d.numberOf("totalDuration")
	if chunks < 1 {
		w.out.lost(v, "an answer cannot be sent in %d chunks: it is sent in one", chunks)
	}
	d.done()
	const most = 1000
	if answer.get("text") == nil && answer.get("json") == nil && answer.get("base64") == nil {
		w.out.lost(v, "there is no body to be sent in chunks")
		return
	}
	stream := with("chunks", numberNode(max(min(chunks, most), 1)))
	stream.set("over", durationNode(millis(total)))
	answer.doc("stream", stream)
}
