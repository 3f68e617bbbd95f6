package interchange

import (
	"regexp"
	"slices"
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

// smockerShape is the request of a mock.
func smockerShape() conditionShape {
	return conditionShape{
		places: []string{"path"},
		members: map[string]kinds{
			"method": aText | anObject, "path": aText | anObject, "query_params": anObject, "headers": anObject, "body": aText | anObject,
		},
	}
}

func (t *smockerMock) request(r *object) {
	t.method(r.get("method"))
	t.path(r.get("path"))
	t.mock.request.doc("query", t.several(r.get("query_params")))
	t.mock.request.doc("headers", t.several(r.get("headers")))
	if body := r.get("body"); body.ok() {
		t.body(body)
	}
	r.done()
}

// matcher takes a condition apart; a scalar means equality.
func matcher(v value) (name string, operand value) {
	if !v.is(mockbase.NodeObject) {
		return "ShouldEqual", v
	}
	return v.member("matcher").text(), v.member("value")
}

func (t *smockerMock) method(v value) {
	name, operand := matcher(v)
	switch {
	case !v.ok():
		t.mock.request.set("method", textNode("GET"))
	case !operand.scalar():
		t.mock.request.set("method", textNode("ANY"))
		t.mock.unmet(v, "the condition on the method has no value")
	case name == "ShouldEqual":
		t.mock.request.set("method", textNode(strings.ToUpper(operand.text())))
	default:
		t.mock.methodPattern(v, name == "ShouldMatch", operand.text())
	}
}

// methodPattern translates a regular expression for methods: those that it names, or any.
func (m *mock) methodPattern(v value, known bool, pattern string) { //nolint:revive // the caller knows whether it is an expression at all
	m.request.set("method", textNode("ANY"))
	if known && (pattern == ".*" || pattern == ".+" || pattern == "*") {
		return
	}
	re, err := regexp.Compile(pattern)
	if !known || err != nil {
		m.unmet(v, "the condition on the method has no equivalent")
		return
	}
	var list []*mockbase.Node
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		if re.MatchString(method) {
			list = append(list, textNode(method))
		}
	}
	if len(list) == 0 {
		m.unmet(v, "no common method fits %s", quoted(pattern))
		return
	}
	m.request.list("method", list)
}

func (t *smockerMock) path(v value) {
	name, operand := matcher(v)
	text := operand.text()
	switch {
	case !v.ok():
		t.mock.place("path", "/**")
	case !operand.scalar():
		t.mock.place("path", "/**")
		t.mock.unmet(v, "the condition on the path has no value")
	case name == "ShouldEqual":
		t.mock.literalPath(text)
	case name == "ShouldMatch":
		t.mock.searchPath(v, text)
	case name == "ShouldStartWith":
		t.mock.place("pathMatches", regexp.QuoteMeta(text)+".*")
	case name == "ShouldEndWith":
		t.mock.place("pathMatches", ".*"+regexp.QuoteMeta(text))
	case name == "ShouldContainSubstring":
		t.mock.place("pathMatches", ".*"+regexp.QuoteMeta(text)+".*")
	default:
		t.mock.place("path", "/**")
		t.mock.unmet(v, "the condition %s cannot be put on a path", quoted(name))
	}
}

// searchPath makes the mock answer where a part of the path fits an expression.
func (m *mock) searchPath(v value, pattern string) {
	switch {
	case pattern == ".*" || pattern == "/.*" || pattern == "^/.*$":
		m.place("path", "/**")
	case !m.expression(v, pattern):
		m.place("path", "/**")
	default:
		m.place("pathMatches", ".*(?:"+pattern+").*")
	}
}

// several translates conditions by name. A list under one name means that each must hold.
func (t *smockerMock) several(v value) *doc {
	d := &doc{}
	for _, e := range t.out.object(v).entries() {
		items := e.items()
		if items == nil {
			items = []value{e.value}
		}
		var list []*mockbase.Node
		for _, item := range items {
			if n := t.condition(item); n != nil {
				list = append(list, n)
			}
		}
		if len(list) == 1 {
			d.set(e.key, list[0])
		} else {
			d.list(e.key, list)
		}
	}
	return d
}

// hasOperand checks that a matcher has the value that it compares with.
func (t *smockerMock) hasOperand(v value, positive string) bool {
	if _, operand := matcher(v); operand.scalar() || positive == "ShouldBeEmpty" || positive == "ShouldBeBlank" {
		return true
	}
	t.mock.unmet(v, "the condition %s has no value that is a text", quoted(positive))
	return false
}

// condition translates one matcher on a text, nil when it has no equivalent.
func (t *smockerMock) condition(v value) *mockbase.Node {
	name, operand := matcher(v)
	positive := strings.Replace(name, "ShouldNot", "Should", 1)
	if !t.hasOperand(v, positive) {
		return nil
	}
	var d *doc
	switch positive {
	case "ShouldEqual", "ShouldResemble":
		d = with("equals", textNode(operand.text()))
	case "ShouldEqualTrimSpace":
		d = with("matches", textNode(`\s*`+regexp.QuoteMeta(operand.text())+`\s*`))
	case "ShouldMatch":
		if !t.mock.expression(v, operand.text()) {
			return nil
		}
		d = with("search", textNode(operand.text()))
	case "ShouldContainSubstring":
		d = with("contains", textNode(operand.text()))
	case "ShouldStartWith":
		d = with("startsWith", textNode(operand.text()))
	case "ShouldEndWith":
		d = with("endsWith", textNode(operand.text()))
	case "ShouldBeEmpty", "ShouldBeBlank":
		d = with("equals", textNode(""))
	default:
		t.mock.unmet(v, "the condition %s has no equivalent", quoted(name))
		return nil
	}
	if positive != name {
		d = with("not", d.node())
		d.set("exists", trueNode())
	}
	return d.node()
}

// body translates a condition on the whole body, or one for each path into a JSON body.
func (t *smockerMock) body(v value) {
	if !v.is(mockbase.NodeObject) || v.has("matcher") {
		t.wholeBody(v)
		return
	}
	if t.formed() {
		t.mock.body(with("form", t.several(v).node()))
		return
	}
	paths := &doc{}
	for _, e := range v.entries() {
		n := t.node(e.value)
		if n != nil {
			paths.set(objectPath(e.key), n)
		}
	}
	t.mock.body(with("jsonPath", paths.node()))
}

// formed tells whether the conditions on headers say that the body is a form, whose fields are then looked at.
func (t *smockerMock) formed() bool {
	headers := t.mock.request.get("headers")
	if headers == nil {
		return false
	}
	return slices.ContainsFunc(headers.Members, func(m mockbase.Member) bool {
		return strings.EqualFold(m.Key, "Content-Type") && strings.Contains(string(m.Value.JSON()), "x-www-form-urlencoded")
	})
}

func (t *smockerMock) wholeBody(v value) {
	name, operand := matcher(v)
	if name == "ShouldEqualJSON" {
		n, err := mockbase.ParseNode([]byte(operand.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil {
			t.mock.unmet(v, "the expected body is not JSON")
			return
		}
		t.mock.body(with("jsonExact", literalMatch(n)))
		return
	}
	if name == "ShouldBeEmpty" || name == "ShouldNotBeEmpty" {
		empty := trueNode()
		if name == "ShouldNotBeEmpty" {
			empty = falseNode()
		}
		t.mock.body(with("empty", empty))
		return
	}
	if n := t.condition(v); n != nil {
		t.mock.body(with("text", n))
	}
}

// node translates a condition on a node of a JSON body. Equality compares as text.
func (t *smockerMock) node(v value) *mockbase.Node {
	if name, operand := matcher(v); name == "ShouldEqual" && operand.scalar() {
		d := &doc{}
		textOrValue(operand.text(), d)
		return d.node()
	}
	return t.condition(v)
}

// objectPath turns a path such as user.items[0] into JSONPath.
func objectPath(key string) string {
	if strings.HasPrefix(key, "[") {
		return "$" + key
	}
	return "$." + key
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
func (*smockerMock) delay(v value) *mockbase.Node {
	if v.silent() {
		return nil
	}
	if v.is(mockbase.NodeObject) {
		d := &doc{}
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
