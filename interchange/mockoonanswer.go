package interchange

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// mockoonRoute translates the answers of one route.
type mockoonRoute struct {
	environment *mockoonEnvironment
	mock        *mock
	names       map[string]bool
	made        int
}

// responses translates the answers and the way in which one of them is chosen.
func (r *mockoonRoute) responses(v value) {
	r.names = map[string]bool{}
	list := v.member("responses").items()
	mode := v.member("responseMode").text()
	switch mode {
	case "SEQUENTIAL":
		r.mock.set("select", textNode("sequence"))
		r.mock.set("onEnd", textNode("loop"))
	case "RANDOM":
		r.mock.set("select", textNode("weighted"))
	case "", "RULES", "DISABLE_RULES", "FALLBACK":
	default:
		r.environment.out.lost(v.member("responseMode"), "the mode %s is not known: rules choose the answer", quoted(mode))
	}
	for _, x := range list {
		if r.made >= maxSteps {
			r.environment.out.lost(x, "a mock has at most %d answers: this one and those after it are left out", maxSteps)
			break
		}
		r.response(x, mode)
	}
	if r.made == 0 {
		r.mock.unanswerable(v, "the route has no answer that could be translated")
	}
	if len(r.mock.responses) == 1 && (mode == "SEQUENTIAL" || mode == "RANDOM") {
		r.mock.remove("select")
		r.mock.remove("onEnd")
	}
}

// response translates one answer with the rules that choose it.
func (r *mockoonRoute) response(v value, mode string) {
	answer := &doc{}
	if mode != "SEQUENTIAL" && mode != "RANDOM" {
		answer.doc("when", r.when(v, mode))
	}
	if !r.answer(v, answer) {
		return
	}
	unnamed := ""
	if when := answer.get("when"); when != nil && when.Find("call") != nil {
		unnamed = "answer" // so that it can be asked for
	}
	if name := slugOr(v.member("label").text(), unnamed); name != "" {
		const longest = 40
		name = strings.Trim(name[:min(len(name), longest)], "-")
		name = mockbase.UniqueName(name, func(s string) bool { return r.names[s] })
		r.names[name] = true
		answer.set("name", textNode(name))
	}
	r.made++
	r.mock.respond(answer)
}

// when makes the condition of an answer. The default has none; what no rule ever chooses stays as an answer that a request
// can ask for by name.
func (r *mockoonRoute) when(v value, mode string) *doc {
	rules := v.member("rules").items()
	never := with("call", with("lt", numberNode(1)).node())
	isDefault := v.member("default").isTrue()
	switch {
	case isDefault && mode != "FALLBACK":
		return nil
	case mode == "DISABLE_RULES", len(rules) == 0:
		return never
	}
	one := !strings.EqualFold(v.member("rulesOperator").text(), "AND")
	var conditions []*mockbase.Node
	for _, rule := range rules {
		r.environment.out.known(rule, "target", "modifier", "value", "invert", "operator")
		condition, reason := mockoonCondition(rule)
		if reason == "" {
			conditions = append(conditions, condition.node())
			continue
		}
		if !one {
			r.environment.out.lost(rule, "%s: the answer, which needs it, comes only to those who ask for it by name", reason)
			return never
		}
		r.environment.out.lost(rule, "%s: it chooses the answer no more", reason)
	}
	switch {
	case len(conditions) == 0:
		return never
	case len(conditions) == 1:
		return &doc{members: conditions[0].Members}
	case one:
		return with("anyOf", listNode(conditions...))
	default:
		return with("allOf", listNode(conditions...))
	}
}

// answer translates status, headers and body.
func (r *mockoonRoute) answer(v value, answer *doc) bool {
	e := r.environment
	o := e.out.object(v)
	o.skip("uuid", "label", "rules", "rulesOperator", "default", "databucketID", "bodyType", "crudKey", "sendFileAsBody", "latency", "headers",
		"callbacks", "filePath", "body", "disableTemplating")
	r.knownOperator(v.member("rulesOperator"))
	if fallback := o.get("fallbackTo404"); fallback.isTrue() {
		e.out.lost(fallback, "a file that is missing at run time cannot become a 404")
	}
	const found = 200
	status, ok := o.integerOf("statusCode")
	if !ok {
		status = found
	}
	o.done()
	answer.set("status", numberNode(status))
	t := &mockoonText{environment: e, answer: answer, plain: v.member("disableTemplating").isTrue()}
	body, ok := r.body(v, t)
	if !ok {
		return false
	}
	headers := r.headers(v, t, body)
	if download(v) {
		headers.join("Content-Disposition", textNode(`attachment; filename="`+path.Base(v.member("filePath").text())+`"`))
	}
	answer.doc("headers", headers)
	const noContent, notModified = 204, 304
	if body != "" && status != noContent && status != notModified {
		answer.bytesBody([]byte(body))
	}
	if answer.get("template") == nil && strings.Contains(string(answer.node().JSON()), "{{") {
		answer.set("template", falseNode())
	}
	if delay := e.delay(v); delay != nil {
		answer.set("delay", delay)
	}
	r.webhooks(v, answer)
	return true
}

// download tells whether an answer is a file that a browser stores.
func download(v value) bool {
	sent := v.member("sendFileAsBody")
	return sendsFile(v) && sent.is(mockbase.NodeBool) && !sent.isTrue()
}

// sendsFile tells whether the body of an answer is a file.
func sendsFile(v value) bool {
	kind, file := v.member("bodyType").text(), v.member("filePath").text()
	return file != "" && (kind == "FILE" || kind == "" && v.member("body").text() == "")
}

// headers puts those of the answer before those of the environment. Without a type, what is sent is taken for HTML.
func (r *mockoonRoute) headers(v value, t *mockoonText, body string) *doc {
	headers, own := &doc{}, map[string]bool{}
	add := func(list []entry, skip map[string]bool) {
		for _, h := range list {
			switch {
			case skip[strings.ToLower(h.key)]:
			case framingHeader(h.key):
				r.environment.out.lost(h.value, "the header %s belongs to the connection and is set by the server", quoted(h.key))
			default:
				headers.join(h.key, textNode(t.translate(h.value, h.text())))
			}
		}
	}
	list := keyed(v.member("headers"))
	for _, h := range list {
		own[strings.ToLower(h.key)] = true
	}
	add(list, nil)
	add(r.environment.headers, own)
	typed := slices.ContainsFunc(headers.members, func(m mockbase.Member) bool { return strings.EqualFold(m.Key, "Content-Type") })
	if kind := mockbase.MediaTypeOf(v.member("filePath").text()); sendsFile(v) && !typed && kind != "" {
		headers.set("Content-Type", textNode(kind))
		typed = true
	}
	if body != "" && !typed {
		headers.set("Content-Type", textNode("text/html; charset=utf-8"))
	}
	return headers
}

// body reads the body: what is written there, a bucket of data, or a file that came with the environment.
func (r *mockoonRoute) body(v value, t *mockoonText) (string, bool) {
	e := r.environment
	kind := v.member("bodyType").text()
	file := v.member("filePath").text()
	switch {
	case kind == "DATABUCKET":
		bucket, ok := e.buckets[v.member("databucketID").text()]
		if !ok {
			e.out.lost(v.member("databucketID"), "there is no data bucket %s: the answer is left out", quoted(v.member("databucketID").text()))
			return "", false
		}
		return t.translate(bucket.member("value"), bucket.member("value").text()), true
	case sendsFile(v):
		text, ok := e.source.file(file)
		if !ok {
			e.out.lost(v.member("filePath"), "the file %s did not come with the environment: the answer is left out", quoted(file))
			return "", false
		}
		if !utf8.Valid(text) {
			return string(text), true
		}
		return t.translate(v.member("filePath"), string(text)), true
	}
	return t.translate(v.member("body"), v.member("body").text()), true
}

// webhooks translates the calls that follow an answer.
func (r *mockoonRoute) webhooks(v value, answer *doc) {
	e := r.environment
	for _, ref := range v.member("callbacks").items() {
		e.out.known(ref, "uuid", "latency")
		c, ok := e.callbacks[ref.member("uuid").text()]
		if !ok {
			e.out.lost(ref, "the callback is not in the environment")
			continue
		}
		hook := e.webhook(c, &mockoonText{environment: e, answer: answer})
		if latency, ok := ref.member("latency").integer(); ok && latency > 0 {
			hook.set("after", durationNode(millis(float64(latency))))
		}
		answer.append("webhooks", hook.node())
	}
}

// webhook translates one call.
func (e *mockoonEnvironment) webhook(c value, t *mockoonText) *doc {
	hook := with("url", textNode(t.translate(c.member("uri"), c.member("uri").text())))
	if method := c.member("method").text(); method != "" {
		hook.set("method", textNode(strings.ToUpper(method)))
	}
	headers := &doc{}
	for _, h := range keyed(c.member("headers")) {
		if !framingHeader(h.key) {
			headers.set(h.key, textNode(t.translate(h.value, h.text())))
		}
	}
	hook.doc("headers", headers)
	body := c.member("body")
	if bucket, ok := e.buckets[c.member("databucketID").text()]; ok && c.member("bodyType").text() == "DATABUCKET" {
		body = bucket.member("value")
	} else if c.member("bodyType").text() == "FILE" {
		e.out.lost(c, "a callback cannot send a file: it goes out without a body")
		body = value{}
	}
	hook.text("text", t.translate(body, body.text()))
	return hook
}

// socket translates a WebSocket route: each answer replies to the messages that its rules choose.
func (r *mockoonRoute) socket(v value) {
	if mode := v.member("streamingMode"); mode.text() != "" {
		r.mock.unanswerable(mode, "a WebSocket that sends by itself over and over has no equivalent")
		return
	}
	socket := &doc{}
	for _, x := range v.member("responses").items() {
		when, ok := r.messageRule(x)
		if !ok {
			continue
		}
		t := &mockoonText{environment: r.environment, answer: &doc{}, plain: x.member("disableTemplating").isTrue()}
		text, ok := r.body(x, t)
		if !ok {
			continue
		}
		if t.answer.get("template") != nil {
			r.environment.out.lost(x.member("body"), "templates of messages are not translated: the text is sent as it is")
			text = x.member("body").text()
		}
		rule := &doc{}
		rule.doc("when", when)
		rule.list("reply", []*mockbase.Node{with("text", textNode(text)).node()})
		socket.append("onMessage", rule.node())
	}
	if socket.empty() {
		r.mock.unanswerable(v, "no answer of the WebSocket could be translated")
		return
	}
	r.mock.respond(with("webSocket", socket.node()))
}

// messageRule makes the condition under which a message gets an answer.
func (r *mockoonRoute) messageRule(x value) (*doc, bool) {
	rules := x.member("rules").items()
	if x.member("default").isTrue() || len(rules) == 0 {
		return nil, x.member("default").isTrue()
	}
	rule := rules[0]
	if rule.member("target").text() != "body" || rule.member("modifier").text() == "" || rule.member("invert").isTrue() || len(rules) > 1 {
		r.environment.out.lost(rule, "a message is chosen by one part of its JSON alone: the answer is left out")
		return nil, false
	}
	node, reason := mockoonNode(rule, rule.member("modifier").text())
	if reason != "" {
		r.environment.out.lost(rule, "%s: the answer is left out", reason)
		return nil, false
	}
	return with("jsonPath", node), true
}

// knownOperator warns of a way to join rules that there is not.
func (r *mockoonRoute) knownOperator(v value) {
	if v.ok() && !strings.EqualFold(v.text(), "AND") && !strings.EqualFold(v.text(), "OR") {
		r.environment.out.lost(v, "the operator %s is not known: one rule that holds is enough", quoted(v.text()))
	}
}
