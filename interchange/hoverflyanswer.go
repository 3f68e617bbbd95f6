package interchange

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

func (p *hoverflyPair) response(r, request *object) {
	answer := &doc{}
	status, ok := r.integerOf("status")
	if !ok {
		status = 200
	}
	answer.set("status", numberNode(status))
	headers := &doc{}
	for _, e := range r.get("headers").entries() {
		p.out.header(headers, e)
	}
	answer.doc("headers", headers)
	p.transitions(r, answer)
	p.answerBody(r, answer)
	p.delay(r, answer)
	if v := r.get("postServeAction"); !v.silent() {
		p.out.lost(v, "what Hoverfly runs after an answer has no equivalent")
	}
	r.done()
	request.skip("requiresState")
	p.mock.respond(answer)
}

// transitions translates the change of state.
func (p *hoverflyPair) transitions(r *object, answer *doc) {
	for _, e := range r.get("transitionsState").entries() {
		switch {
		case strings.Contains(e.text(), "{{"):
			p.out.lost(e.value, "a state that is made from the request has no equivalent: the state stays")
		case p.scenario != "" && p.scenario != e.key:
			p.out.lost(e.value, "an answer changes one state: %s stays as it is", quoted(e.key))
		default:
			if p.scenario == "" {
				p.bind(e.value, e.key)
			}
			answer.set("setState", textNode(e.text()))
		}
	}
	for _, item := range r.listOf("removesState") {
		if item.text() == p.scenario && answer.get("setState") == nil {
			answer.set("setState", textNode(noState))
			continue
		}
		p.out.lost(item, "the state %s cannot be removed by this mock", quoted(item.text()))
	}
}

// noState is the state of a scenario that nothing has set.
const noState = "Started"

func (p *hoverflyPair) answerBody(r *object, answer *doc) {
	v := r.get("body")
	encoded, rendered := r.get("encodedBody").isTrue(), r.get("templated").isTrue()
	text := v.text()
	if file := r.get("bodyFile"); text == "" && file.text() != "" {
		v = file
		text, encoded = p.bodyFile(file)
	}
	r.skip("bodyFile")
	if text == "" {
		return
	}
	switch {
	case encoded:
		answer.set("base64", textNode(text))
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			sniffInto(answer, raw)
		}
		return
	case rendered:
		t := translateHandlebars(text, &hoverflyDialect{pair: p, from: v})
		for _, reason := range t.lost {
			p.out.lost(v, "an expression of the template is left as it is: %s", reason)
		}
		if t.dynamic {
			answer.set("template", trueNode())
		}
		answer.text("text", t.text)
	default:
		answer.set("text", textNode(text))
	}
	sniffInto(answer, []byte(text))
}

// bodyFile reads a body that lies in a file. Bytes that are no text come as base64.
func (p *hoverflyPair) bodyFile(v value) (text string, encoded bool) {
	content, ok := p.file.file(v.text())
	if !ok {
		p.out.lost(v, "the file %s is not among the files: the body is left out", quoted(v.text()))
		return "", false
	}
	if utf8.Valid(content) {
		return string(content), false
	}
	return base64.StdEncoding.EncodeToString(content), true
}

// sniffInto sets the type that a server finds out from the body where nothing states one. Coded bytes tell none.
func sniffInto(answer *doc, raw []byte) {
	switch {
	case hasContentType(answer):
	case membersOf(answer.get("headers")).get("Content-Encoding") != nil:
		withoutContentType(answer)
	default:
		setContentType(answer, sniffed(raw))
	}
}

func setContentType(answer *doc, text string) {
	headers := &doc{}
	if old := answer.get("headers"); old != nil {
		headers.members = old.Members
	}
	headers.set("Content-Type", textNode(text))
	answer.set("headers", headers.node())
}

func (p *hoverflyPair) delay(r *object, answer *doc) {
	if ms, ok := r.numberOf("fixedDelay"); ok && ms > 0 {
		answer.set("delay", durationNode(millis(ms)))
		r.skip("logNormalDelay")
		return
	}
	if v := r.get("logNormalDelay"); !v.silent() {
		answer.set("delay", p.out.hoverflyLogNormal(v))
		return
	}
	for i := range p.file.delays {
		d := &p.file.delays[i]
		if (d.method == "" || d.method == p.method) && d.pattern.MatchString(p.host+p.path) {
			answer.set("delay", d.delay)
			return
		}
	}
}
