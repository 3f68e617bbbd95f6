package interchange

import (
	"strconv"
	"strings"
)

// wiremockDialect knows the model and the helpers of WireMock's response templates.
type wiremockDialect struct {
	// parameters are the transformerParameters of the stub.
	parameters value
	// webhook tells that the text belongs to a webhook, where the request is called originalRequest.
	webhook bool
}

func (d *wiremockDialect) path(segments []string) (string, bool) {
	switch segments[0] {
	case "request":
		return requestPath(segments[1:])
	case "originalRequest":
		return requestPath(segments[1:])
	case "originalResponse":
		if len(segments) == 2 && segments[1] == "body" {
			return "response.body", true
		}
		if len(segments) == 2 && segments[1] == "status" {
			return "response.status", true
		}
	case "parameters":
		v := d.parameters.at(segments[1:]...)
		if len(segments) > 1 && v.scalar() {
			return strconv.Quote(v.text()), true
		}
	}
	return "", false
}

// requestPath writes what a path below request reaches.
func requestPath(segments []string) (string, bool) {
	if len(segments) == 0 {
		return "", false
	}
	plain := map[string]string{
		"path": "request.path", "method": "request.method", "host": "request.host", "port": "request.port", "scheme": "request.scheme",
		"clientIp": "request.clientIp", "id": "request.id", "body": "bodyText", "bodyAsBase64": "base64 bodyText",
		"url":     `printf "%s%s%s" request.rawPath (ternary "?" "" request.rawQuery) request.rawQuery`,
		"baseUrl": `printf "%s://%s:%s" request.scheme request.host request.port`,
	}
	if len(segments) == 1 {
		text, ok := plain[segments[0]]
		return text, ok
	}
	name := segments[1]
	switch segments[0] {
	case "path", "pathSegments":
		if isDigits(name) {
			return "segment " + name, len(segments) == 2
		}
		return reach("path", "", segments)
	case "query":
		return reach("query", "queryAll", segments)
	case "formData":
		return reach("form", "formAll", segments)
	case "headers":
		if len(segments) == 2 {
			return "header " + strconv.Quote(name), true
		}
		return reach("", "headerAll", segments)
	case "cookies":
		return reach("cookie", "cookieAll", segments)
	}
	return "", false
}

// list writes all values of a parameter, a field, a header or a cookie.
func (*wiremockDialect) list(a hbArg) (string, bool) {
	segments := pathSegments(a.text)
	if a.kind != hbPath || len(segments) == 0 || segments[0] != "request" && segments[0] != "originalRequest" {
		return "", false
	}
	return allValues(segments[1:], map[string]string{"query": "queryAll", "formData": "formAll", "headers": "headerAll", "cookies": "cookieAll"})
}

// allValues writes all values of a name in a part of the request, or all names of a part with their values.
func allValues(segments []string, functions map[string]string) (string, bool) {
	const partAndName = 2
	if len(segments) == 1 {
		whole, ok := map[string]string{"queryAll": "query", "formAll": "form", "cookieAll": "cookie"}[functions[segments[0]]]
		return whole, ok
	}
	if len(segments) != partAndName || functions[segments[0]] == "" {
		return "", false
	}
	return functions[segments[0]] + " " + strconv.Quote(segments[1]), true
}

// reach writes a value by name, or one of several values by number.
func reach(one, many string, segments []string) (string, bool) {
	name := segments[1]
	switch {
	case len(segments) == 2 || len(segments) == 3 && segments[2] == "value":
		if isIdentifier(name) {
			return one + "." + name, one != ""
		}
		return "index " + one + " " + strconv.Quote(name), one != ""
	case len(segments) == 3 && isDigits(segments[2]) && many != "":
		return "index (" + many + " " + strconv.Quote(name) + ") " + segments[2], true
	}
	return "", false
}

// assign translates {{parseJson request.body 'name'}}.
func (d *wiremockDialect) assign(_ *hbWriter, c *hbCall) (name, expression string, ok bool) {
	if c.head.text != "parseJson" || len(c.args) != 2 || c.args[1].kind != hbString {
		return "", "", false
	}
	if !d.isBody(c.args[0]) {
		return "", "", false
	}
	return c.args[1].text, "body", true
}

// isBody tells whether an argument is the body of the request.
func (*wiremockDialect) isBody(a hbArg) bool {
	return a.kind == hbPath && (a.text == "request.body" || a.text == "originalRequest.body")
}

// helper translates WireMock's helpers.
func (d *wiremockDialect) helper(w *hbWriter, c *hbCall) (string, error) {
	switch c.head.text {
	case "jsonPath", "xPath", "soapXPath":
		return d.selection(w, c)
	case "now":
		return nowHelper(c)
	case "randomValue":
		return randomValue(c)
	case "randomInt", "randomDecimal":
		return randomNumber(c)
	case "pickRandom":
		const most = 100
		operands, err := w.operands(c, 1, most)
		return "pick " + strings.Join(operands, " "), err
	case "random":
		return fakerHelper(c)
	case "math":
		return mathHelper(w, c)
	case "val":
		return valHelper(w, c)
	}
	return textHelper(w, c)
}

// selection translates what reads a part of the body.
func (d *wiremockDialect) selection(w *hbWriter, c *hbCall) (string, error) {
	if len(c.args) != 2 || c.args[1].kind != hbString {
		return "", noEquivalent(c.head.text)
	}
	if !d.isBody(c.args[0]) {
		return "", noEquivalent(c.head.text + " of anything but the request's body")
	}
	expression := c.args[1].text
	if c.head.text != "jsonPath" {
		if c.head.text == "soapXPath" {
			expression = "/*[local-name()='Envelope']/*[local-name()='Body']" + expression
		}
		return "xpath " + strconv.Quote(expression), nil
	}
	path, err := standardPath(expression)
	if err != nil {
		return "", noEquivalent("the JSONPath " + expression)
	}
	text := "jsonPath " + strconv.Quote(path)
	if otherwise, ok := c.named("default"); ok {
		operand, err := w.operand(otherwise)
		if err != nil {
			return "", err
		}
		text += " " + operand
	}
	return text, nil
}

// nowHelper translates the present time, moved and written as asked.
func nowHelper(c *hbCall) (string, error) {
	text := "now"
	if offset, ok := c.named("offset"); ok {
		d, ok := javaOffset(offset.text)
		if offset.kind != hbString || !ok {
			return "", noEquivalent("now with the offset " + offset.text)
		}
		text = "now " + strconv.Quote(d)
	}
	layout, zone := "2006-01-02T15:04:05Z07:00", "UTC"
	if a, ok := c.named("timezone"); ok {
		zone = a.text
	}
	if a, ok := c.named("format"); ok {
		switch a.text {
		case "epoch":
			layout = "unixMs"
		case "unix":
			layout = "unix"
		default:
			if layout, ok = goLayout(a.text); !ok {
				return "", noEquivalent("the date format " + a.text)
			}
		}
	}
	return text + " | date " + strconv.Quote(layout) + " " + strconv.Quote(zone), nil
}

// randomValue translates random texts. Their length is kept where the function has one.
func randomValue(c *hbCall) (string, error) {
	kind, _ := c.named("type")
	length, sized := c.named("length")
	const longest = 10_000
	switch n, err := strconv.Atoi(length.text); {
	case kind.text == "UUID":
		return "uuid", nil
	case kind.text == "" || !sized || err != nil || n > longest || n < 1:
		return "", noEquivalent("randomValue type=" + kind.text)
	case kind.text == "ALPHANUMERIC":
		text := "randomString " + length.text
		if upper, ok := c.named("uppercase"); ok && upper.text == "true" {
			return text + " | upper", nil
		}
		return text + " | lower", nil
	case kind.text == "NUMERIC":
		const digits = 15
		if n > digits {
			return "", noEquivalent("randomValue type=NUMERIC length=" + length.text)
		}
		return `printf "%0` + length.text + `d" (randomInt 0 ` + strings.Repeat("9", n) + `)`, nil
	}
	return "", noEquivalent("randomValue type=" + kind.text)
}

func randomNumber(c *hbCall) (string, error) {
	function, lower, upper := "randomInt", "-1000000", "1000000"
	if c.head.text == "randomDecimal" {
		function = "randomFloat"
	}
	if a, ok := c.named("lower"); ok {
		lower = a.text
	}
	if a, ok := c.named("upper"); ok {
		upper = a.text
	}
	for _, n := range []string{lower, upper} {
		if _, err := strconv.ParseFloat(n, 64); err != nil {
			return "", noEquivalent(c.head.text)
		}
	}
	return function + " " + lower + " " + upper, nil
}

// fakerHelper translates names of the Faker extension.
func fakerHelper(c *hbCall) (string, error) {
	if len(c.args) != 1 {
		return "", noEquivalent("random")
	}
	name, ok := fakerName(c.args[0].text)
	if !ok {
		return "", noEquivalent("random " + c.args[0].text)
	}
	return "faker " + strconv.Quote(name), nil
}

// fakerName maps the names of Java's and JavaScript's faker libraries to those of the function faker.
func fakerName(name string) (string, bool) {
	folded := strings.NewReplacer("_", "", ".", " ", "-", "").Replace(strings.ToLower(name))
	_, last, found := strings.Cut(folded, " ")
	if !found {
		last = folded
	}
	names := map[string]string{
		"firstname": "firstName", "lastname": "lastName", "fullname": "name", "name": "name", "namewithmiddle": "name", "username": "username",
		"emailaddress": "email", "email": "email", "phonenumber": "phone", "cellphone": "phone", "phone number": "phone", "streetaddress": "street", "streetname": "streetName",
		"street": "street", "city": "city", "state": "state", "stateabbr": "stateCode", "zipcode": "zip", "zip": "zip", "postcode": "zip", "country": "country",
		"countrycode": "countryCode", "latitude": "latitude", "longitude": "longitude", "title": "jobTitle", "jobtitle": "jobTitle", "profession": "jobTitle",
		"url": "url", "domainname": "domain", "ipv4address": "ipv4", "ipv6address": "ipv6", "ipv4": "ipv4", "ipv6": "ipv6", "macaddress": "mac", "mac": "mac",
		"productname": "product", "color": "color", "sentence": "sentence", "paragraph": "paragraph", "word": "word", "iban": "iban",
		"creditcardnumber": "creditCardNumber", "uuid": "uuid",
	}
	if strings.HasPrefix(folded, "company") && last == "name" {
		return "company", true
	}
	found2, ok := names[last]
	return found2, ok
}

func mathHelper(w *hbWriter, c *hbCall) (string, error) {
	if len(c.args) != 3 {
		return "", noEquivalent("math")
	}
	function, ok := map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}[c.args[1].text]
	if !ok {
		return "", noEquivalent("math " + c.args[1].text)
	}
	left, err := w.operand(c.args[0])
	if err != nil {
		return "", err
	}
	right, err := w.operand(c.args[2])
	return function + " " + left + " " + right, err
}

// valHelper translates {{val x or='default'}}.
func valHelper(w *hbWriter, c *hbCall) (string, error) {
	operands, err := w.operands(c, 1, 1)
	if err != nil {
		return "", err
	}
	otherwise, ok := c.named("or")
	if !ok {
		return operands[0], nil
	}
	fallback, err := w.operand(otherwise)
	return "default " + fallback + " " + operands[0], err
}

// helperForm is a function with the places that a helper's arguments take among its own.
type helperForm struct {
	function string
	order    []int
}

// write writes the call.
func (f helperForm) write(operands []string) string {
	words := []string{f.function}
	for _, i := range f.order {
		words = append(words, operands[i])
	}
	return strings.Join(words, " ")
}

// textForms are helpers on texts and lists, which most libraries of helpers have under the same names.
func textForms() map[string]helperForm {
	one := []int{0}
	return map[string]helperForm{
		"upper": {"upper", one}, "lower": {"lower", one}, "uppercase": {"upper", one}, "lowercase": {"lower", one}, "trim": {"trim", one},
		"size": {"length", one}, "toJson": {"json", one}, "stringify": {"string", one}, "urlEncode": {"urlEncode", one}, "base64": {"base64", one},
		"replace": {"replace", []int{1, 2, 0}}, "split": {"split", []int{1, 0}}, "join": {"join", []int{1, 0}},
		"substring": {"substr", []int{1, 2, 0}}, "defaultIfEmpty": {"default", []int{1, 0}}, "regexExtract": {"regexFind", []int{1, 0}},
	}
}

// textHelper translates a helper on texts and lists.
func textHelper(w *hbWriter, c *hbCall) (string, error) {
	const most = 50
	operands, err := w.operands(c, 0, most)
	if err != nil {
		return "", err
	}
	name := c.head.text
	if name == "array" {
		return strings.TrimSpace("list " + strings.Join(operands, " ")), nil
	}
	form, ok := textForms()[name]
	if !ok || len(operands) != len(form.order) || name == "regexExtract" && checkExpression(c.args[1].text) != nil {
		return "", noEquivalent(name)
	}
	if decode, found := c.named("decode"); found && decode.text == "true" {
		form.function = map[string]string{"urlEncode": "urlDecode", "base64": "base64Decode"}[form.function]
	}
	if form.function == "" {
		return "", noEquivalent(name)
	}
	return form.write(operands), nil
}
