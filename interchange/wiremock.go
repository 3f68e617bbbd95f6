package interchange

import (
	"path"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// wiremock translates WireMock stub mappings: a single one, a list under mappings, or a folder with mappings and the
// bodies in __files. docs/importing.md has the table.
func wiremock(s *source, out *output) error {
	if len(s.docs) == 0 {
		return s.noDocument()
	}
	read := false
	for _, d := range s.docs {
		if len(s.docs) > 1 && strings.Contains("/"+d.file, "/__files/") {
			continue
		}
		stubs, ok := wiremockStubs(d, out)
		if !ok {
			out.warn(d, mockbase.FieldType, "the file holds neither a stub mapping nor a list of them: it is left out")
			continue
		}
		read = true
		for _, stub := range stubs {
			out.found++
			if out.stopped() {
				return nil
			}
			(&wiremockStub{source: s, out: out}).translate(stub)
		}
	}
	if !read {
		_, err := s.of(out, func(value) bool { return false }, "WireMock stub mapping", "mappings, or an object with request and response")
		return err
	}
	return nil
}

// wiremockStubs returns the stubs of one document.
func wiremockStubs(d value, out *output) ([]value, bool) {
	switch {
	case d.is(mockbase.NodeList):
		return d.items(), true
	case d.member("mappings").is(mockbase.NodeList):
		o := out.object(d)
		o.skip("mappings", "meta")
		if o.has("importOptions") {
			o.skip("importOptions")
			out.lost(d.member("importOptions"), "the options of WireMock's import are left out: onConflict and apply say what becomes of older mocks")
		}
		o.done()
		return d.member("mappings").items(), true
	case d.is(mockbase.NodeObject) && (d.has("request") || d.has("response")):
		return []value{d}, true
	}
	return nil, false
}

// wiremockStub translates one stub.
type wiremockStub struct {
	source *source
	out    *output
	mock   *mock
	// rendered tells that the texts of the response are templates.
	rendered bool
	// ours tells that an export of our own wrote the stub.
	ours bool
	// dialect translates the templates of the stub's response.
	dialect wiremockDialect
}

func (w *wiremockStub) translate(v value) {
	stub, ok := w.out.entry(v)
	if !ok {
		return
	}
	w.mock = w.out.mock(v)
	stub.skip("id", "uuid", "persistent", "insertionIndex")
	w.ours = v.at("metadata", "mockbase").is(mockbase.NodeObject)
	w.mock.named(stub.textOf("name"))
	w.priority(stub)
	w.scenario(stub)
	w.metadata(stub)
	w.request(w.mock.judge(stub, "request", wiremockShape()))
	answer := w.response(stub.objectOf("response"))
	if state := stub.textOf("newScenarioState"); state != "" {
		if w.mock.get("scenario") == nil {
			w.out.lost(stub.get("newScenarioState"), "a new state without scenarioName has no effect")
		} else {
			answer.set("setState", textNode(state))
		}
	}
	w.listeners(stub, answer)
	stub.done()
	if !w.rendered && answer.get("template") != nil {
		keepBraces(answer) // only the webhooks are templates
	}
	w.mock.respond(answer)
	w.out.add(w.mock)
}

// priority turns WireMock's order, in which the smallest number wins and 5 is the default, around.
func (w *wiremockStub) priority(stub *object) {
	const neutral, bound = 5, 1000
	n, ok := stub.integerOf("priority")
	if !ok || n == neutral {
		return
	}
	p := neutral - n
	if p < -bound || n < -bound {
		w.out.lost(stub.get("priority"), "the priority %d is beyond the bounds of %d: the nearest is taken", n, bound)
		p = max(min(p, bound), -bound)
		if n < -bound {
			p = bound
		}
	}
	w.mock.set("priority", numberNode(p))
}

func (w *wiremockStub) scenario(stub *object) {
	name := stub.textOf("scenarioName")
	required := stub.textOf("requiredScenarioState")
	if name != "" {
		w.mock.set("scenario", textNode(w.out.scenario(name)))
	}
	switch {
	case required != "" && name == "":
		w.mock.unmet(stub.get("requiredScenarioState"), "the state %s belongs to no scenario", quoted(required))
	case required != "":
		w.mock.set("state", textNode(required))
	}
}

// metadata keeps what a person wrote about the stub: texts become the description.
func (w *wiremockStub) metadata(stub *object) {
	meta := stub.get("metadata")
	for _, e := range meta.entries() {
		if e.key == "description" && e.is(mockbase.NodeText) {
			w.mock.text("description", e.text())
			continue
		}
		if e.key == "mockbase" && e.is(mockbase.NodeObject) { // what an export of our own has kept
			w.mock.text("folder", e.member("folder").text())
			if tags := e.member("tags"); tags.is(mockbase.NodeList) {
				w.mock.set("tags", tags.node)
			}
			continue
		}
		w.out.lost(e.value, "metadata other than a description has no place in a mock")
	}
	if meta.ok() && !meta.is(mockbase.NodeObject) {
		w.out.warn(meta, mockbase.FieldType, "must be an object: it is left out")
	}
}

// bodyFile returns the text of a file of __files.
func (w *wiremockStub) bodyFile(name string) ([]byte, bool) {
	for _, root := range []string{"__files", ""} {
		if text, ok := w.source.file(path.Join(root, name)); ok && len(w.source.files) > 1 {
			return text, true
		}
	}
	suffix := "/__files/" + strings.TrimPrefix(name, "/")
	for _, f := range w.source.files {
		if strings.HasSuffix("/"+f.Name, suffix) {
			return f.Text, true
		}
	}
	return nil, false
}

// listeners translates what follows an answer, of which webhooks are the only kind that has an equivalent.
func (w *wiremockStub) listeners(stub *object, answer *doc) {
	for _, key := range []string{"postServeActions", "serveEventListeners"} {
		list := stub.get(key)
		if list.is(mockbase.NodeObject) { // an older spelling: the name is the key
			for _, e := range list.entries() {
				w.out.lost(e.value, "the action %s has no equivalent", quoted(e.key))
			}
			continue
		}
		for _, item := range stub.listOf(key) {
			l := w.out.object(item)
			if name := l.textOf("name"); name != "webhook" {
				w.out.lost(item, "the listener %s has no equivalent: only webhooks are translated", quoted(name))
				continue
			}
			w.webhook(l.objectOf("parameters"), answer)
			if phases := l.get("requestPhases"); !phases.silent() && !slices.ContainsFunc(phases.items(), func(p value) bool { return p.text() == "AFTER_COMPLETE" }) {
				w.out.lost(phases, "the call goes out after the answer")
			}
			l.done()
		}
	}
}

// webhook translates one call that follows the answer. Its texts are templates in WireMock, always.
func (w *wiremockStub) webhook(p *object, answer *doc) {
	hook := &doc{}
	dialect := w.dialect
	dialect.webhook = true
	hook.text("url", w.template(p.get("url"), &dialect, answer))
	if method := p.textOf("method"); method != "" {
		if strings.Contains(method, "{{") {
			w.out.lost(p.get("method"), "the method of a webhook cannot be a template: POST is taken")
			method = "POST"
		}
		hook.text("method", method)
	}
	headers := &doc{}
	for _, e := range p.get("headers").entries() {
		headers.set(e.key, textNode(w.template(e.value, &dialect, answer)))
	}
	hook.doc("headers", headers)
	switch {
	case p.has("body"):
		hook.text("text", w.template(p.get("body"), &dialect, answer))
	case p.has("base64Body"):
		hook.text("base64", p.textOf("base64Body"))
	}
	if delay := p.get("delay"); delay.ok() {
		hook.set("after", w.out.wiremockDelay(delay, 0))
	}
	p.done()
	answer.append("webhooks", hook.node())
}

// keepBraces writes the texts of an answer so that rendering leaves them as they are.
func keepBraces(answer *doc) {
	for _, name := range []string{"headers", "text", "json"} {
		if n := answer.get(name); n != nil {
			answer.set(name, withLiteralBraces(n))
		}
	}
}

func withLiteralBraces(n *mockbase.Node) *mockbase.Node {
	kept := *n
	if n.Kind == mockbase.NodeText {
		kept.Text = literalBraces(n.Text)
	}
	kept.Items, kept.Members = nil, nil
	for _, item := range n.Items {
		kept.Items = append(kept.Items, withLiteralBraces(item))
	}
	for _, m := range n.Members {
		m.Value = withLiteralBraces(m.Value)
		kept.Members = append(kept.Members, m)
	}
	return &kept
}

// template translates a text that WireMock renders. What has no equivalent stays as it is, with a warning.
func (w *wiremockStub) template(v value, d *wiremockDialect, answer *doc) string {
	t := translateHandlebars(v.text(), d)
	for _, reason := range t.lost {
		w.out.lost(v, "an expression of the template is left as it is: %s", reason)
	}
	if t.dynamic {
		answer.set("template", trueNode())
	}
	return t.text
}
