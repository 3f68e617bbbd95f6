package interchange

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

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
