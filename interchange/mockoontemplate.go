package interchange

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rawData is an expression in three braces that puts data in.
var rawData = regexp.MustCompile(`\{\{\{\s*((?:data|dataRaw)\b[^{}]*)\}\}\}`)

// mockoonText translates the texts of one answer.
type mockoonText struct {
	environment *mockoonEnvironment
	answer      *doc
	// plain tells that the texts are none to be rendered.
	plain bool
}

// translate translates a text that came from a place of the source. Buckets of data that it names are put in.
func (t *mockoonText) translate(from value, text string) string {
	if t.plain || !strings.Contains(text, "{{") {
		return text
	}
	const depth = 5
	dialect := &mockoonDialect{}
	made := translateHandlebars(t.withData(text, depth), dialect)
	for _, name := range dialect.variables {
		t.environment.out.lost(from, "the environment variable %s is read from the variables of the project: set it there", quoted(name))
	}
	for _, reason := range made.lost {
		t.environment.out.lost(from, "an expression of the template is left as it is: %s", reason)
	}
	t.answer.set("template", trueNode())
	return made.text
}

// withData puts the content of buckets in, whose texts may name others.
func (t *mockoonText) withData(text string, depth int) string {
	const mostPutIn = 10_000
	if t.environment.putIn++; depth == 0 || t.environment.putIn > mostPutIn {
		return text
	}
	// Three braces mean a value without encoding, as two do here.
	text = rawData.ReplaceAllString(text, "{{$1}}")
	return replaceTags(text, func(tag string) (string, bool) {
		c, err := parseCall(tag)
		if err == nil && c.head.text == "concat" {
			return t.joinedData(c, depth)
		}
		if err != nil || c.head.text != "data" && c.head.text != "dataRaw" || len(c.args) == 0 || len(c.args) > 2 {
			return "", false
		}
		content := t.environment.buckets[c.args[0].text].member("value")
		if len(c.args) == 1 && content.ok() {
			return t.withData(content.text(), depth-1), true
		}
		return partOf(content.text(), c.args[len(c.args)-1].text)
	})
}

// joinedData puts texts and whole buckets together that an expression joins.
func (t *mockoonText) joinedData(c *hbCall, depth int) (string, bool) {
	var b strings.Builder
	buckets := 0
	for _, a := range c.args {
		switch {
		case a.kind == hbString && !strings.Contains(a.text, "{{"):
			b.WriteString(a.text)
		case a.kind == hbSub && (a.sub.head.text == "data" || a.sub.head.text == "dataRaw") && len(a.sub.args) == 1:
			content := t.environment.buckets[a.sub.args[0].text].member("value")
			if !content.ok() {
				return "", false
			}
			b.WriteString(t.withData(content.text(), depth-1))
			buckets++
		default:
			return "", false
		}
	}
	return b.String(), buckets > 0
}

// mockoonDialect knows the helpers of Mockoon.
type mockoonDialect struct {
	// variables are the names of environment variables that the text reads.
	variables []string
	// asks tells that the text reads the request.
	asks bool
}

// path knows no values: Mockoon reads everything with helpers, and variables by a name behind an at sign.
func (d *mockoonDialect) path(segments []string) (string, bool) {
	if len(segments) != 1 {
		return "", false
	}
	plain := map[string]string{
		"body": "bodyText", "bodyRaw": "bodyText", "method": "request.method", "hostname": "request.host", "ip": "request.clientIp", "uuid": "uuid",
		"now": "now", "baseUrl": `printf "%s://%s:%s" request.scheme request.host request.port`, "guid": "uuid",
	}
	text, ok := plain[segments[0]]
	d.asks = d.asks || ok && !slices.Contains([]string{"uuid", "guid", "now"}, segments[0])
	return text, ok
}

// assign translates {{setVar 'name' value}}.
func (*mockoonDialect) assign(w *hbWriter, c *hbCall) (name, expression string, ok bool) {
	if c.head.text != "setVar" || len(c.args) != 2 || c.args[0].kind != hbString {
		return "", "", false
	}
	expression, err := w.operand(c.args[1])
	return c.args[0].text, expression, err == nil
}

func (d *mockoonDialect) helper(w *hbWriter, c *hbCall) (string, error) {
	if text, ok := requestHelper(c); ok {
		d.asks = true
		return text, nil
	}
	switch c.head.text {
	case "getVar":
		if len(c.args) == 1 && w.assigned[c.args[0].text] {
			return "$" + c.args[0].text, nil
		}
		return "", noEquivalent("getVar")
	case "getEnvVar":
		return d.environment(c)
	case "now":
		return mockoonNow(c)
	case "faker":
		return mockoonFaker(c)
	case "int", "float", "boolean", "oneOf":
		return mockoonRandom(w, c)
	case "concat":
		const most = 20
		operands, err := w.operands(c, 1, most)
		return "printf " + strconv.Quote(strings.Repeat("%v", len(operands))) + " " + strings.Join(operands, " "), err
	}
	return mockoonForm(w, c)
}

// environment reads a variable of the project instead of one of the environment, which mocks never see.
func (d *mockoonDialect) environment(c *hbCall) (string, error) {
	if len(c.args) == 0 || len(c.args) > 2 || c.args[0].kind != hbString {
		return "", noEquivalent("getEnvVar")
	}
	d.variables = append(d.variables, c.args[0].text)
	text := "index var " + strconv.Quote(c.args[0].text)
	if len(c.args) == 2 {
		text = "default " + strconv.Quote(c.args[1].text) + " (" + text + ")"
	}
	return text, nil
}

// mockoonRandom translates the helpers that draw a value.
func mockoonRandom(w *hbWriter, c *hbCall) (string, error) {
	name := c.head.text
	switch {
	case name == "boolean":
		return `pick "true" "false"`, nil
	case name == "oneOf" && len(c.args) == 1 && c.args[0].kind == hbSub && c.args[0].sub.head.text == "array":
		const most = 100
		operands, err := w.operands(c.args[0].sub, 1, most)
		return "pick " + strings.Join(operands, " "), err
	case name != "oneOf" && len(c.args) == 2:
		return map[string]string{"int": "randomInt ", "float": "randomFloat "}[name] + c.args[0].text + " " + c.args[1].text, nil
	}
	return "", noEquivalent(name)
}

// mockoonForm translates helpers that are a function with its arguments in another order.
func mockoonForm(w *hbWriter, c *hbCall) (string, error) {
	forms := map[string]helperForm{
		"add": {"add", []int{0, 1}}, "subtract": {"sub", []int{0, 1}}, "multiply": {"mul", []int{0, 1}}, "divide": {"div", []int{0, 1}},
		"modulo": {"mod", []int{0, 1}}, "round": {"round 0", []int{0}}, "toFixed": {"round", []int{1, 0}}, "len": {"length", []int{0}},
		"lowercase": {"lower", []int{0}}, "uppercase": {"upper", []int{0}}, "stringify": {"json", []int{0}}, "parseInt": {"int", []int{0}},
		"base64Decode": {"base64Decode", []int{0}}, "string": {"string", []int{0}},
	}
	form, ok := forms[c.head.text]
	if !ok {
		return textHelper(w, c)
	}
	operands, err := w.operands(c, len(form.order), len(form.order))
	if err != nil {
		return "", err
	}
	return form.write(operands), nil
}

// requestHelper translates the helpers that read the request, with a value for when there is none.
func requestHelper(c *hbCall) (string, bool) {
	if len(c.args) == 0 || len(c.args) > 2 || len(c.hash) > 0 || c.args[0].kind != hbString {
		return "", false
	}
	text, ok := requestValue(c.head.text, c.args[0].text)
	if !ok || len(c.args) == 1 {
		return text, ok
	}
	fallback := c.args[1]
	if fallback.kind == hbString {
		fallback.text = strconv.Quote(fallback.text)
	}
	return "default " + fallback.text + " (" + text + ")", fallback.kind == hbString || fallback.kind == hbNumber || fallback.kind == hbBool
}

// list writes all values of a parameter or a header.
func (*mockoonDialect) list(a hbArg) (string, bool) {
	if a.kind != hbSub || len(a.sub.args) != 1 || len(a.sub.hash) > 0 || a.sub.args[0].kind != hbString {
		return "", false
	}
	function, ok := map[string]string{"queryParam": "queryAll ", "queryParamRaw": "queryAll ", "header": "headerAll "}[a.sub.head.text]
	return function + strconv.Quote(a.sub.args[0].text), ok
}

// requestValue writes a named value of the request.
func requestValue(helper, name string) (string, bool) {
	if helper == "body" || helper == "bodyRaw" {
		path, err := standardPath(scriptPath(name))
		return "jsonPath " + strconv.Quote(path), err == nil
	}
	function, ok := map[string]string{
		"queryParam": "index query ", "queryParamRaw": "index query ", "urlParam": "index path ", "cookie": "index cookie ", "header": "header ",
	}[helper]
	return function + strconv.Quote(name), ok
}

func mockoonNow(c *hbCall) (string, error) {
	if len(c.args) == 0 {
		return "now", nil
	}
	if c.args[0].text == "" {
		return "now", nil
	}
	layout, ok := map[string]string{"T": "unixMs", "t": "unix"}[c.args[0].text]
	if !ok {
		layout, ok = goLayout(c.args[0].text)
	}
	if !ok || c.args[0].kind != hbString {
		return "", noEquivalent("now " + c.args[0].text)
	}
	return "now | date " + strconv.Quote(layout) + ` "UTC"`, nil
}

// mockoonFaker translates a name of Faker.js, with the bounds of numbers.
func mockoonFaker(c *hbCall) (string, error) {
	if len(c.args) == 0 || c.args[0].kind != hbString {
		return "", noEquivalent("faker")
	}
	bound := func(name, otherwise string) string {
		if a, ok := c.named(name); ok && a.kind == hbNumber {
			return a.text
		}
		return otherwise
	}
	name := c.args[0].text
	switch name {
	case "number.int", "datatype.number", "random.number":
		return "randomInt " + bound("min", "0") + " " + bound("max", "99999"), nil
	case "number.float", "datatype.float":
		return "randomFloat " + bound("min", "0") + " " + bound("max", "1"), nil
	case "datatype.boolean":
		return `pick "true" "false"`, nil
	case "string.uuid", "datatype.uuid":
		return "uuid", nil
	case "date.recent", "date.past", "date.soon", "date.future":
		return fakerDate(c, name)
	}
	if function, ok := fakerName(name); ok && len(c.args) == 1 {
		return "faker " + strconv.Quote(function), nil
	}
	return "", noEquivalent("faker " + name)
}

// fakerDate writes a moment within some days of now.
func fakerDate(c *hbCall, name string) (string, error) {
	days := map[string]int{"date.recent": 1, "date.soon": 1}[name]
	const year, day, most = 365, 24 * 60, 36_500
	if days == 0 {
		days = year
	}
	if len(c.args) == 2 {
		n, err := strconv.Atoi(c.args[1].text)
		if err != nil || n < 1 || n > most {
			return "", noEquivalent(name + " " + c.args[1].text)
		}
		days = n
		if name == "date.past" || name == "date.future" {
			days = min(n*year, most)
		}
	}
	sign := "-"
	if name == "date.soon" || name == "date.future" {
		sign = "+"
	}
	return "now (printf " + strconv.Quote(sign+"%vm") + " (randomInt 1 " + strconv.Itoa(days*day) + "))", nil
}

// block writes the blocks that Mockoon adds: repeat, and switch with its cases.
func (*mockoonDialect) block(w *hbWriter, n hbNode) (bool, error) {
	switch n.blockName {
	case "repeat":
		return true, repeatBlock(w, n)
	case "switch":
		return true, switchBlock(w, n)
	}
	return false, nil
}

func repeatBlock(w *hbWriter, n hbNode) error {
	operands, err := w.operands(&hbCall{head: n.call.head, args: n.call.args}, 1, 2)
	if err != nil {
		return err
	}
	times := operands[0]
	if len(operands) == 2 {
		times = "(randomInt " + operands[0] + " " + operands[1] + ")"
	}
	if strings.HasPrefix(times, "(default") || strings.HasPrefix(times, "(index") || strings.HasPrefix(times, "(jsonPath") {
		times = "(int " + times + ")"
	}
	w.names++
	index := "$index" + strconv.Itoa(w.names)
	w.action("range " + index + " := until " + times)
	if comma, ok := n.call.named("comma"); !ok || comma.text != "false" {
		w.action("if " + index)
		w.b.WriteString(",\n")
		w.action("end")
	}
	outer := w.scopes
	w.scopes = append(append([]hbScope{}, outer...), hbScope{this: index, index: index})
	err = w.all(n.inner)
	w.scopes = outer
	w.action("end")
	return err
}

func switchBlock(w *hbWriter, n hbNode) error {
	operands, err := w.operands(n.call, 1, 1)
	if err != nil {
		return err
	}
	open := 0
	for _, inner := range n.inner {
		if !inner.block && inner.call == nil && strings.TrimSpace(inner.text) == "" {
			continue
		}
		isCase, err := caseHead(w, inner, operands[0])
		if err != nil {
			return err
		}
		if err := w.all(inner.inner); err != nil {
			return err
		}
		if isCase {
			w.action("else")
			open++
		}
	}
	for range open {
		w.action("end")
	}
	return nil
}

// caseHead writes how a case begins, and tells whether it is one and not the default.
func caseHead(w *hbWriter, n hbNode, subject string) (bool, error) {
	switch {
	case n.block && n.blockName == "default":
		return false, nil
	case !n.block || n.blockName != "case" || len(n.call.args) != 1:
		return false, noEquivalent("#switch with something between its cases")
	}
	text, err := w.operand(n.call.args[0])
	if err != nil {
		return false, err
	}
	w.action("if eq (string " + subject + ") (string " + text + ")")
	return true, nil
}
