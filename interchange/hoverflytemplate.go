package interchange

import (
	"math"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// sigmaOf is the spread of a log-normal distribution with this mean and median, within what a delay allows.
func sigmaOf(mean, median float64) float64 {
	const least, most, exact = 0.01, 5, 1000
	if !(mean > median) || !(median > 0) {
		return least
	}
	sigma := math.Sqrt(2 * math.Log(mean/median))
	return math.Round(min(max(sigma, least), most)*exact) / exact
}

// hoverflyDialect knows the model and the helpers of Hoverfly's templates.
type hoverflyDialect struct {
	pair *hoverflyPair
	from value
}

func (d *hoverflyDialect) path(segments []string) (string, bool) {
	switch segments[0] {
	case "Request":
		return d.request(segments[1:])
	case "State":
		return d.state(segments[1:])
	case "Literals":
		if len(segments) == 2 {
			text, ok := d.pair.file.texts[segments[1]]
			return strconv.Quote(text), ok
		}
	case "Vars":
		if len(segments) == 2 {
			return d.variable(segments[1])
		}
	}
	text, ok := hoverflyRandom(segments[0])
	return text, ok && len(segments) == 1
}

// variable writes the call that a variable of the simulation stands for. An argument that begins with Request. is a value of
// the request.
func (d *hoverflyDialect) variable(name string) (string, bool) {
	v, ok := d.pair.file.variables[name]
	function := v.member("function").text()
	if !ok || function == "" || v.has("templated") {
		return "", false
	}
	if function == "requestBody" {
		function = "Request.Body"
	}
	c := &hbCall{head: hbArg{kind: hbPath, text: function}}
	for _, item := range v.member("arguments").items() {
		a := hbArg{kind: hbString, text: item.text()}
		switch {
		case item.is(mockbase.NodeNumber):
			a.kind = hbNumber
		case item.is(mockbase.NodeBool):
			a.kind = hbBool
		case strings.HasPrefix(a.text, "Request."):
			a.kind = hbPath
		}
		c.args = append(c.args, a)
	}
	text, err := (&hbWriter{dialect: d, assigned: map[string]bool{}}).call(c)
	return text, err == nil
}

func (*hoverflyDialect) request(segments []string) (string, bool) {
	if len(segments) == 0 {
		return "", false
	}
	plain := map[string]string{
		"Scheme": "request.scheme", "Method": "request.method", "Host": "request.host", "Body": "bodyText", "Path": `replace "/" "" request.path`,
	}
	if len(segments) == 1 {
		text, ok := plain[segments[0]]
		return text, ok
	}
	switch segments[0] {
	case "Path":
		return "segment " + segments[1], len(segments) == 2 && isDigits(segments[1])
	case "QueryParam":
		return reach("query", "queryAll", segments)
	case "FormData":
		return reach("form", "formAll", segments)
	case "Header":
		if len(segments) == 2 {
			return "header " + strconv.Quote(segments[1]), true
		}
		return reach("", "headerAll", segments)
	}
	return "", false
}

// list writes all values of a parameter, a field or a header.
func (*hoverflyDialect) list(a hbArg) (string, bool) {
	segments := pathSegments(a.text)
	if a.kind != hbPath || len(segments) == 0 || segments[0] != "Request" {
		return "", false
	}
	return allValues(segments[1:], map[string]string{"QueryParam": "queryAll", "FormData": "formAll", "Header": "headerAll"})
}

// state reads the state of the mock's scenario. A mock that only reads one becomes part of it.
func (d *hoverflyDialect) state(segments []string) (string, bool) {
	if len(segments) != 1 {
		return "", false
	}
	if d.pair.scenario == "" {
		d.pair.bind(d.from, segments[0])
	}
	if d.pair.scenario != segments[0] {
		return "", false
	}
	return `ternary state "" (ne state ` + strconv.Quote(noState) + `)`, true
}

// hoverflyRandom translates helpers without arguments.
func hoverflyRandom(name string) (string, bool) {
	const length = "10"
	names := map[string]string{
		"randomString": "randomString " + length, "randomBoolean": "pick true false", "randomInteger": "randomInt 0 1000000000", "randomFloat": "randomFloat 0 1",
		"randomEmail": `faker "email"`, "randomIPv4": `faker "ipv4"`, "randomIPv6": `faker "ipv6"`, "randomUuid": "uuid", "now": "now",
	}
	text, ok := names[name]
	return text, ok
}

func (*hoverflyDialect) helper(w *hbWriter, c *hbCall) (string, error) {
	const most = 5
	operands, err := w.operands(c, 0, most)
	if err != nil {
		return "", err
	}
	forms := map[string]helperForm{
		"randomStringLength": {"randomString", []int{0}}, "randomIntegerRange": {"randomInt", []int{0, 1}}, "randomFloatRange": {"randomFloat", []int{0, 1}},
		"replace": {"replace", []int{1, 2, 0}}, "split": {"split", []int{1, 0}},
	}
	if form, ok := forms[c.head.text]; ok && len(operands) == len(form.order) {
		return form.write(operands), nil
	}
	switch name, n := c.head.text, len(operands); {
	case name == "Request.Body" && n == 2:
		return hoverflyBody(c)
	case name == "concat" && n >= 1:
		return "print " + strings.Join(operands, " "), nil
	case name == "faker" && n == 1:
		return fakerHelper(c)
	case name == "now" && n == 2:
		return hoverflyNow(c.args[0].text, c.args[1].text)
	}
	return "", noEquivalent(c.head.text)
}

func hoverflyBody(c *hbCall) (string, error) {
	kind, expression := strings.ToLower(c.args[0].text), c.args[1].text
	if kind == "xpath" {
		return "xpath " + strconv.Quote(expression), nil
	}
	path, err := standardPath(expression)
	if kind != "jsonpath" || err != nil {
		return "", noEquivalent("Request.Body " + kind)
	}
	return "jsonPath " + strconv.Quote(path), nil
}

// hoverflyNow translates the time with an offset such as -1d and a layout, which is Go's or a word.
func hoverflyNow(offset, layout string) (string, error) {
	text := "now"
	if offset != "" {
		if !strings.HasPrefix(offset, "-") {
			offset = "+" + strings.TrimPrefix(offset, "+")
		}
		text = "now " + strconv.Quote(offset)
	}
	switch layout {
	case "":
		layout = "rfc3339"
	case "unix":
	case "epoch":
		layout = "unixMs"
	}
	return text + " | date " + strconv.Quote(layout) + ` "UTC"`, nil
}
