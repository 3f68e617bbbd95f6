package interchange

import (
	"strings"

	"github.com/mockbase/mockbase"
)

// smocker translates Smocker mocks: a list of them, one alone, or a file of acceptance tests whose steps register some.
// Both tools let the newest of equal mocks win, so that their order stays.
func smocker(s *source, out *output) error {
	docs, err := s.of(out, func(d value) bool {
		return d.is(mockbase.NodeList) || d.member("testcases").is(mockbase.NodeList) || d.has("request")
	},
		"Smocker mock", "objects with request and response")
	if err != nil {
		return err
	}
	for _, d := range docs {
		switch {
		case d.is(mockbase.NodeList):
			smockerMocks(d.items(), out)
		case d.member("testcases").is(mockbase.NodeList):
			smockerTests(d, out)
		default:
			smockerMocks([]value{d}, out)
		}
	}
	return nil
}

func smockerMocks(list []value, out *output) {
	for _, v := range list {
		out.found++
		if out.stopped() {
			return
		}
		o, ok := out.entry(v)
		if !ok {
			continue
		}
		t := &smockerMock{out: out, mock: out.mock(v)}
		o.skip("state")
		t.request(t.mock.judge(o, "request", smockerShape()))
		t.answer(o)
		if times, ok := o.objectOf("context").integerOf("times"); ok && times > 0 {
			t.mock.set("times", numberNode(times))
		}
		o.done()
		out.add(t.mock)
	}
}

// smockerTests looks for the mocks that steps of acceptance tests send to the server.
func smockerTests(d value, out *output) {
	for _, test := range d.member("testcases").items() {
		for _, step := range test.member("steps").items() {
			body := step.member("body")
			switch {
			case !strings.Contains(step.member("url").text(), "/mocks"):
			case step.has("bodyFile"):
				out.lost(step.member("bodyFile"), "the mocks of the file %s are not here: import that file itself", quoted(step.member("bodyFile").text()))
			case body.is(mockbase.NodeText):
				smockerStep(body, out)
			}
		}
	}
	if out.found == 0 && len(out.warnings) == 0 {
		out.lost(d, "no step of these tests registers a mock")
	}
}

func smockerStep(body value, out *output) {
	format := mockbase.FormatYAML
	if looksLikeJSON([]byte(body.text())) {
		format = mockbase.FormatJSON
	}
	n, err := mockbase.ParseNode([]byte(body.text()), format, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil || n.Kind != mockbase.NodeList {
		out.warn(body, mockbase.FieldSyntax, "the body of the step is no list of mocks: it is left out")
		return
	}
	smockerMocks(placedAt(n, body).items(), out)
}

// placedAt gives everything inside a text the place of the text.
func placedAt(n *mockbase.Node, at value) value {
	moved := *n
	moved.Line, moved.Column = at.node.Line, at.node.Column
	moved.Items = nil
	for _, item := range n.Items {
		moved.Items = append(moved.Items, placedAt(item, at).node)
	}
	moved.Members = nil
	for _, m := range n.Members {
		m.Value = placedAt(m.Value, at).node
		moved.Members = append(moved.Members, m)
	}
	return value{&moved, at.pointer, at.file}
}

// smockerMock translates one mock.
type smockerMock struct {
	out  *output
	mock *mock
}

// answer translates the three ways to answer.
func (t *smockerMock) answer(o *object) {
	switch {
	case o.has("proxy"):
		t.proxy(o.objectOf("proxy"))
	case o.has("dynamic_response"):
		v := o.get("dynamic_response")
		t.mock.unanswerable(v, "the script of a dynamic response cannot be translated")
	default:
		t.response(o.objectOf("response"))
	}
}

// unanswerable imports a mock disabled whose answer cannot be built.
func (m *mock) unanswerable(v value, reason string) {
	m.out.lost(v, "%s: the mock is imported disabled, with an answer to be replaced", reason)
	m.unmetOnes = append(m.unmetOnes, reason)
	const notImplemented = 501
	r := with("status", numberNode(notImplemented))
	r.set("text", textNode("This answer could not be imported: "+reason+".\n"))
	m.respond(r)
}

func (t *smockerMock) response(r *object) {
	answer := &doc{}
	if status, ok := r.integerOf("status"); ok && status > 0 {
		answer.set("status", numberNode(status))
	} else {
		const found = 200
		answer.set("status", numberNode(found))
	}
	headers := &doc{}
	for _, e := range r.get("headers").entries() {
		t.out.header(headers, e)
	}
	answer.doc("headers", headers)
	if body := r.textOf("body"); body != "" {
		answer.set("text", textNode(body))
		if !hasContentType(answer) {
			setContentType(answer, sniffed([]byte(body)))
		}
	}
	if n := t.delay(r.get("delay")); n != nil {
		answer.set("delay", n)
	}
	r.done()
	t.mock.respond(answer)
}

// header adds a header of an answer: a text, or a list of texts.
func (o *output) header(headers *doc, e entry) {
	switch {
	case framingHeader(e.key):
		o.lost(e.value, "the header %s belongs to the connection and is set by the server", quoted(e.key))
	case e.is(mockbase.NodeList):
		var list []*mockbase.Node
		for _, item := range e.items() {
			list = append(list, textNode(item.text()))
		}
		if len(list) == 1 {
			headers.set(e.key, list[0])
		} else {
			headers.list(e.key, list)
		}
	default:
		headers.set(e.key, textNode(e.text()))
	}
}

// delay translates a duration of Go, or a range of two.
func (t *smockerMock) delay(v value) *mockbase.Node {
	if v.silent() {
		return nil
	}
	if v.is(mockbase.NodeObject) {
		d := &doc{}
		t.out.known(v, "min", "max")
		for _, name := range []string{"min", "max"} {
			text := v.member(name).text()
			if text == "" || text == "0" {
				text = "0s"
			}
			d.set(name, textNode(text))
		}
		return d.node()
	}
	if n, ok := v.integer(); ok {
		const perMilli = 1_000_000
		return durationNode(millis(float64(n) / perMilli))
	}
	return textNode(v.text())
}

func (t *smockerMock) proxy(p *object) {
	proxy := with("to", textNode(p.textOf("host")))
	if t.out.prefix != "" {
		proxy.set("stripPrefix", textNode(t.out.prefix))
	}
	if p.get("keep_host").isTrue() {
		proxy.set("preserveHost", trueNode())
	}
	if p.get("skip_verify_tls").isTrue() {
		proxy.set("insecureTLS", trueNode())
	}
	if v := p.get("follow_redirect"); v.isTrue() {
		t.out.lost(v, "redirects of the upstream are passed on, not followed")
	}
	headers := &doc{}
	for _, e := range p.get("headers").entries() {
		items := e.items()
		if len(items) > 1 {
			t.out.lost(e.value, "several values of one added header: the first is taken")
		}
		if len(items) > 0 {
			headers.set(e.key, textNode(items[0].text()))
		} else {
			headers.set(e.key, textNode(e.text()))
		}
	}
	proxy.doc("setHeaders", headers)
	answer := with("proxy", proxy.node())
	if n := t.delay(p.get("delay")); n != nil {
		answer.set("delay", n)
	}
	p.done()
	t.mock.respond(answer)
}
