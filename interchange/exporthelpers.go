package interchange

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// quotedHelper marks an expression that stands in quotes where it is printed.
const quotedHelper = "\x00"

// hbCalled writes a call.
func hbCalled(name string, kind hbType, arguments ...hbExpression) hbExpression {
	words := []string{name}
	for _, a := range arguments {
		words = append(words, a.operand())
	}
	return hbExpression{text: strings.Join(words, " "), call: true, kind: kind}
}

// named adds a named argument to a call.
func (x hbExpression) named(name, text string) hbExpression {
	x.text += " " + name + "=" + text
	return x
}

// chain translates a value with fields behind it, such as path.id and body.a.b.
func (t *goTemplate) chain(n *parse.ChainNode) (hbExpression, error) {
	base, ok := n.Node.(*parse.IdentifierNode)
	if !ok {
		return hbExpression{}, errNoHandlebars
	}
	name := n.Field[0]
	switch base.Ident {
	case "body":
		return t.json(jsonPathOf(n.Field))
	case "var":
		return t.variable(name)
	case "request":
		return t.requestField(name)
	case "response":
		return t.responseField(n.Field)
	case "path", "query", "cookie":
		if len(n.Field) > 1 || base.Ident == "path" && !t.parameters {
			return hbExpression{}, errNoHandlebars
		}
		return t.of(map[string]string{"path": "path", "query": "query", "cookie": "cookies"}[base.Ident], name), nil
	}
	return hbExpression{}, errNoHandlebars
}

// of is a value of the request by name.
func (t *goTemplate) of(group, name string) hbExpression {
	if !isIdentifier(name) {
		name = "[" + name + "]"
	}
	return hbExpression{text: t.request + "." + group + "." + name}
}

// jsonPathOf writes fields as a path.
func jsonPathOf(fields []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, name := range fields {
		b.WriteString("." + name)
	}
	return b.String()
}

// json is a value of the body of the request.
func (t *goTemplate) json(path string) (hbExpression, error) {
	x, err := hbText(path)
	return hbCalled("jsonPath", hbGivesJSON, hbExpression{text: t.request + ".body"}, x), err
}

// requestField is a property of the request.
func (t *goTemplate) requestField(name string) (hbExpression, error) {
	known := map[string]string{
		"method": "method", "path": "path", "rawPath": "path", "host": "host", "port": "port", "scheme": "scheme", "clientIp": "clientIp", "id": "id",
	}
	field, ok := known[name]
	switch {
	case name == "url":
		return hbExpression{}, fmt.Errorf("%w: it is the whole address, of which the other tool knows the path with its query", errNoHandlebars)
	case !ok:
		return hbExpression{}, errNoHandlebars
	}
	return hbExpression{text: t.request + "." + field}, nil
}

// responseField is a property of the answer that a webhook follows.
func (t *goTemplate) responseField(fields []string) (hbExpression, error) {
	switch {
	case t.request == "request":
	case fields[0] == "status" && len(fields) == 1:
		return hbExpression{text: "originalResponse.status", kind: hbGivesNumber}, nil
	case fields[0] == "body" && len(fields) == 1:
		return hbExpression{text: "originalResponse.body", kind: hbGivesJSON}, nil
	case fields[0] == "body":
		x, err := hbText(jsonPathOf(fields[1:]))
		return hbCalled("jsonPath", hbGivesJSON, hbExpression{text: "originalResponse.body"}, x), err
	}
	return hbExpression{}, errNoHandlebars
}

// helperOf is what a function is called in Handlebars, with the places that its arguments take there.
type helperOf struct {
	name  string
	kind  hbType
	order []int
}

// helpersOf are the functions that a helper says with the same arguments.
func helpersOf() map[string]helperOf {
	one, two := []int{0}, []int{0, 1}
	return map[string]helperOf{
		"upper": {"upper", hbGivesText, one}, "lower": {"lower", hbGivesText, one}, "trim": {"trim", hbGivesText, one}, "length": {"size", hbGivesNumber, one},
		"urlEncode": {"urlEncode", hbGivesText, one}, "base64": {"base64", hbGivesText, one}, "replace": {"replace", hbGivesText, []int{2, 0, 1}},
		"split": {"split", hbGivesJSON, []int{1, 0}}, "join": {"join", hbGivesText, []int{1, 0}}, "substr": {"substring", hbGivesText, []int{2, 0, 1}},
		"eq": {"eq", hbGivesNumber, two}, "ne": {"neq", hbGivesNumber, two}, "gt": {"gt", hbGivesNumber, two}, "ge": {"gte", hbGivesNumber, two},
		"lt": {"lt", hbGivesNumber, two}, "le": {"lte", hbGivesNumber, two}, "and": {"and", hbGivesNumber, two}, "or": {"or", hbGivesNumber, two}, "not": {"not", hbGivesNumber, one},
	}
}

// calculated is an expression whose value is a number, and no text that reads like one.
func (x hbExpression) calculated() hbExpression {
	if !x.converted {
		return x
	}
	x.converted = false
	return hbCalled("math", hbGivesNumber, x, hbExpression{text: "'+'"}, hbExpression{text: "0"})
}

// function translates a call.
func (t *goTemplate) function(name string, a []hbExpression) (hbExpression, error) {
	if h, ok := helpersOf()[name]; ok && len(a) == len(h.order) {
		ordered := make([]hbExpression, len(a))
		for i, place := range h.order {
			ordered[i] = a[place]
			if slices.Contains([]string{"eq", "ne", "gt", "ge", "lt", "le"}, name) {
				ordered[i] = a[place].calculated()
			}
		}
		x := hbCalled(h.name, h.kind, ordered...)
		x.choice = name == "and" || name == "or"
		return x, nil
	}
	if operator, ok := map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}[name]; ok && len(a) == 2 {
		return hbCalled("math", hbGivesNumber, a[0], hbExpression{text: "'" + operator + "'"}, a[1]), nil
	}
	if x, ok, err := t.requestFunction(name, a); ok || err != nil {
		return x, err
	}
	if name == "list" && len(a) > 0 {
		return hbCalled("array", hbGivesJSON, a...), nil
	}
	return valueFunction(name, a)
}

// requestFunction translates what reads the request.
func (t *goTemplate) requestFunction(name string, a []hbExpression) (x hbExpression, ok bool, err error) {
	switch {
	case len(a) == 0:
		return t.wholeFunction(name)
	case name == "index":
		if len(a) == 2 && isLiteral(a[1]) && isPlace(a[0].text) {
			return t.of(strings.TrimPrefix(a[0].text, quotedHelper), unquoted(a[1])), true, nil
		}
		return x, false, nil
	case len(a) == 1:
		if x, ok = t.partFunction(name, a[0]); ok {
			return x, true, nil
		}
	}
	if name != "jsonPath" || !isLiteral(a[0]) {
		return x, false, nil
	}
	if x, err = t.json(unquoted(a[0])); len(a) > 1 {
		x = x.named("default", a[1].operand())
	}
	return x, err == nil, err
}

// partFunction translates what reads a part of the request by its name.
func (t *goTemplate) partFunction(name string, a hbExpression) (hbExpression, bool) {
	switch {
	case name == "segment" && isDigits(a.text):
		return hbExpression{text: t.request + ".pathSegments.[" + a.text + "]"}, true
	case name == "header" && isLiteral(a):
		return t.of("headers", unquoted(a)), true
	case name == "queryAll" && isLiteral(a), name == "headerAll" && isLiteral(a):
		// What stands for all values there gives the first where it is printed.
		x := t.of(map[string]string{"queryAll": "query", "headerAll": "headers"}[name], unquoted(a))
		x.several = true
		return x, true
	case name == "xpath" && isLiteral(a):
		return hbCalled("xPath", hbGivesText, hbExpression{text: t.request + ".body"}, a), true
	}
	return hbExpression{}, false
}

// wholeFunction translates what reads the request without being asked for a part of it.
func (t *goTemplate) wholeFunction(name string) (x hbExpression, ok bool, err error) {
	switch name {
	case "bodyText":
		return hbExpression{text: t.request + ".body"}, true, nil
	case "body":
		x, err = t.json("$")
		return x, err == nil, err
	case "query":
		return hbExpression{text: quotedHelper + "query"}, true, nil
	case "cookie":
		return hbExpression{text: quotedHelper + "cookies"}, true, nil
	}
	return x, false, nil
}

// isPlace tells whether an expression stands for all values of one kind, which only index can read.
func isPlace(text string) bool {
	return slices.Contains([]string{quotedHelper + "query", quotedHelper + "cookies"}, text)
}

func isLiteral(x hbExpression) bool {
	return len(x.text) > 1 && (x.text[0] == '\'' || x.text[0] == '"') && !x.call
}

func unquoted(x hbExpression) string { return x.text[1 : len(x.text)-1] }

// valueFunction translates what makes or converts values.
func valueFunction(name string, a []hbExpression) (hbExpression, error) {
	switch {
	case name == "now":
		return nowExpression(a)
	case name == "date":
		return dateExpression(a)
	case name == "uuid" && len(a) == 0:
		return hbCalled("randomValue", hbGivesText).named("type", "'UUID'"), nil
	case name == "pick" && len(a) > 0:
		return hbCalled("pickRandom", a[0].kind, a...), nil
	case len(a) == 1:
		return converted(name, a[0])
	case len(a) == 2:
		return ofTwo(name, a[0], a[1])
	}
	return hbExpression{}, errNoHandlebars
}

// ofTwo translates a function of two arguments.
func ofTwo(name string, first, second hbExpression) (hbExpression, error) {
	switch name {
	case "randomInt":
		return hbCalled("randomInt", hbGivesNumber).named("lower", first.operand()).named("upper", second.operand()), nil
	case "randomFloat":
		return hbCalled("randomDecimal", hbGivesNumber).named("lower", first.operand()).named("upper", second.operand()), nil
	case "default":
		return hbCalled("val", first.kind, second).named("or", first.operand()), nil
	}
	return hbExpression{}, errNoHandlebars
}

// converted translates a function of one argument.
func converted(name string, x hbExpression) (hbExpression, error) {
	switch name {
	case "randomString":
		if x.kind != hbGivesNumber {
			break
		}
		return hbCalled("randomValue", hbGivesText).named("length", x.operand()).named("type", "'ALPHANUMERIC'"), nil
	case "int", "number", "bool":
		x.converted = x.kind == hbGivesText && name != "bool"
		x.kind = hbGivesNumber
		return x, nil
	case "string":
		x.kind = hbGivesText
		return x, nil
	case "urlDecode":
		return hbCalled("urlEncode", hbGivesText, x).named("decode", "true"), nil
	case "base64Decode":
		return hbCalled("base64", hbGivesText, x).named("decode", "true"), nil
	case "first":
		if x.several {
			x.several = false
			return x, nil
		}
	case "json":
		if x.kind == hbGivesText {
			return hbExpression{text: quotedHelper + x.text, call: x.call}, nil
		}
		return hbCalled("toJson", hbGivesText, x), nil
	}
	return hbExpression{}, errNoHandlebars
}
