package interchange

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// response translates an answer; also holds members that the expectation adds to it.
func (e *mockserverMock) response(r *object, also *doc) {
	answer := &doc{}
	if also != nil {
		answer.members = also.members
	}
	status, ok := r.integerOf("statusCode")
	if !ok {
		status = 200
	}
	answer.set("status", numberNode(status))
	headers := &doc{}
	for _, member := range pairsOf(r.get("headers")) {
		e.out.header(headers, member)
	}
	var cookies []*mockbase.Node
	for _, member := range pairsOf(r.get("cookies")) {
		cookies = append(cookies, textNode(member.key+"="+member.text()))
	}
	headers.list("Set-Cookie", cookies)
	answer.doc("headers", headers)
	if body := r.get("body"); body.ok() {
		e.answerBody(body, answer)
	}
	answer.set("delay", e.delay(r.get("delay")))
	if reason := r.get("reasonPhrase"); reason.ok() {
		e.out.lost(reason, "the reason phrase is left out: HTTP/2 has none and clients ignore it")
	}
	if v := r.get("connectionOptions"); !v.silent() {
		e.out.lost(v, "options of the connection are left out")
	}
	answer.text("setState", e.state)
	answer.list("webhooks", e.after)
	r.done()
	e.mock.respond(answer)
}

// pairsOf reads names with values, which come as an object or as a list.
func pairsOf(v value) []entry {
	if !v.is(mockbase.NodeList) {
		return v.entries()
	}
	var list []entry
	for _, item := range v.items() {
		values := item.member("values")
		if !values.ok() {
			values = item.member("value")
		}
		name := item.member("name").text()
		if name == "" {
			values = item // for a warning at its place: a condition without a name cannot be read
		}
		list = append(list, entry{name, values})
	}
	return list
}

// answerBody translates a body: a text, a JSON value, or an object that says what it is.
func (e *mockserverMock) answerBody(v value, answer *doc) {
	kind := e.typeOf(v, "contentType", "string", "xml", "base64Bytes", "json", "rawBytes", "charset", "matchType", "not")
	contentType := v.member("contentType").text()
	switch {
	case v.scalar():
		answer.text("text", v.text())
	case kind == "STRING":
		answer.text("text", v.member("string").text())
	case kind == "XML":
		answer.text("text", v.member("xml").text())
		contentType = firstText(contentType, "application/xml")
	case kind == "BINARY":
		answer.text("base64", v.member("base64Bytes").text())
	case kind == "JSON":
		contentType = firstText(contentType, "application/json")
		if json := v.member("json"); json.is(mockbase.NodeText) {
			answer.text("text", json.text())
		} else {
			answer.set("json", json.node)
		}
	case kind == "":
		contentType = "application/json"
		answer.set("json", v.node)
	default:
		e.out.lost(v, "a body of the type %s cannot be sent", quoted(kind))
		return
	}
	switch {
	case hasContentType(answer):
	case contentType != "":
		setContentType(answer, contentType)
	default:
		withoutContentType(answer)
	}
	e.encode(v, answer)
}

// typeOf is the type that a body states, "" for one that is JSON itself. It tells of the members that are not known.
func (e *mockserverMock) typeOf(v value, known ...string) string {
	kind := strings.ToUpper(v.member("type").text())
	if kind != "" {
		e.out.known(v, append(known, "type")...)
	}
	return kind
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func (e *mockserverMock) delay(v value) *mockbase.Node {
	if !v.ok() {
		return nil
	}
	o := e.out.object(v)
	units := map[string]time.Duration{
		"NANOSECONDS": time.Nanosecond, "MICROSECONDS": time.Microsecond, "MILLISECONDS": time.Millisecond, "SECONDS": time.Second,
		"MINUTES": time.Minute, "HOURS": time.Hour, "DAYS": 24 * time.Hour,
	}
	unit, ok := units[strings.ToUpper(o.textOf("timeUnit"))]
	if !ok {
		unit = time.Millisecond
		if given := o.get("timeUnit"); given.ok() {
			e.out.lost(given, "the unit %s is not known: milliseconds are taken", quoted(given.text()))
		}
	}
	n, _ := o.numberOf("value")
	o.done()
	d := millis(n * float64(unit) / float64(time.Millisecond))
	const longest = 5 * time.Minute
	if d > longest {
		e.out.lost(v, "the delay is longer than five minutes, which are taken")
		d = longest
	}
	return durationNode(d)
}

func (e *mockserverMock) forward(f *object) {
	scheme, host := strings.ToLower(f.textOf("scheme")), f.textOf("host")
	if scheme == "" {
		scheme = "http"
	}
	to := scheme + "://" + host
	if port, ok := f.integerOf("port"); ok && (scheme != "http" || port != 80) && (scheme != "https" || port != 443) {
		to += ":" + strconv.FormatInt(port, 10)
	}
	proxy := with("to", textNode(to))
	if e.out.prefix != "" {
		proxy.set("stripPrefix", textNode(e.out.prefix))
	}
	answer := with("proxy", proxy.node())
	answer.set("delay", e.delay(f.get("delay")))
	f.done()
	e.mock.respond(answer)
}

// override translates a request that is passed on with changes, as far as it names its address and headers.
func (e *mockserverMock) override(v value) {
	request := v.member("requestOverride")
	if !request.ok() {
		request = v.member("httpRequest")
	}
	o := e.out.object(request)
	e.out.known(v, "requestOverride", "httpRequest", "responseOverride", "httpResponse", "responseModifier", "requestModifier", "delay")
	address := o.get("socketAddress")
	e.out.known(address, "host", "port", "scheme")
	host := address.member("host").text()
	for _, member := range pairsOf(o.get("headers")) {
		if strings.EqualFold(member.key, "host") && host == "" {
			host = firstItem(member.value)
		}
	}
	if host == "" {
		e.mock.unanswerable(v, "the request is passed on to an address that is not said")
		return
	}
	to := firstText(strings.ToLower(address.member("scheme").text()), "http") + "://" + host
	if port := address.member("port").text(); port != "" {
		to += ":" + port
	}
	proxy := with("to", textNode(to))
	set := &doc{}
	for _, member := range pairsOf(o.get("headers")) {
		if !strings.EqualFold(member.key, "host") {
			set.set(member.key, textNode(firstItem(member.value)))
		}
	}
	proxy.doc("setHeaders", set)
	o.done()
	for _, name := range []string{"responseOverride", "httpResponse", "responseModifier", "requestModifier"} {
		if change := v.member(name); change.ok() {
			e.out.lost(change, "%s is left out: the upstream's answer is passed on", name)
		}
	}
	answer := with("proxy", proxy.node())
	answer.set("delay", e.delay(v.member("delay")))
	e.mock.respond(answer)
}

func firstItem(v value) string {
	if items := v.items(); len(items) > 0 {
		return items[0].text()
	}
	return v.text()
}

// failure translates a broken connection.
func (e *mockserverMock) failure(f *object) {
	answer := &doc{}
	raw := f.textOf("responseBytes")
	switch _, err := base64.StdEncoding.DecodeString(raw); {
	case raw != "" && err == nil:
		fault := with("kind", textNode("raw"))
		fault.set("raw", textNode(raw))
		answer.set("fault", fault.node())
	default:
		answer.set("fault", textNode("empty"))
	}
	f.skip("dropConnection")
	answer.set("delay", e.delay(f.get("delay")))
	f.done()
	e.mock.respond(answer)
}

// body translates a condition on the body.
func (e *mockserverMock) body(v value) {
	body := e.bodyOf(v)
	switch {
	case body.empty():
	case v.member("not").isTrue():
		e.mock.needs(with("not", with("body", body.node()).node()).node())
	case v.member("optional").isTrue():
		either := listNode(with("body", with("empty", trueNode()).node()).node(), with("body", body.node()).node())
		e.mock.needs(with("anyOf", either).node())
	default:
		e.mock.body(body)
	}
}

func (e *mockserverMock) bodyOf(v value) *doc {
	if v.scalar() {
		return with("text", with("equals", textNode(v.text())).node())
	}
	switch kind := e.typeOf(v, "not", "optional", "contentType", "charset", "rawBytes", "string", "subString", "regex", "parameters", "base64Bytes", "json", "matchType",
		"jsonSchema", "jsonPath", "xpath", "namespacePrefixes", "xml"); kind {
	case "STRING":
		operator := "equals"
		if v.member("subString").isTrue() {
			operator = "contains"
		}
		return with("text", with(operator, textNode(v.member("string").text())).node())
	case "REGEX":
		if !e.mock.expression(v, v.member("regex").text()) {
			return nil
		}
		return with("text", with("matches", textNode(v.member("regex").text())).node())
	case "PARAMETERS":
		return with("form", e.named(v.member("parameters")).node())
	case "BINARY":
		return with("base64", textNode(v.member("base64Bytes").text()))
	case "":
		return e.json(v, false)
	default:
		return e.structured(v, kind)
	}
}

// structured translates a condition on what a body says rather than on its bytes.
func (e *mockserverMock) structured(v value, kind string) *doc {
	switch kind {
	case "JSON":
		return e.json(v.member("json"), strings.EqualFold(v.member("matchType").text(), "STRICT"))
	case "JSON_SCHEMA":
		return e.jsonSchema(v.member("jsonSchema"))
	case "JSON_PATH":
		path, err := standardPath(v.member("jsonPath").text())
		if err != nil {
			e.mock.unmet(v, "the JSONPath %s: %v", quoted(v.member("jsonPath").text()), err)
			return nil
		}
		return with("jsonPath", with(path, with("exists", trueNode()).node()).node())
	case "XPATH":
		body := with("xpath", with(v.member("xpath").text(), with("exists", trueNode()).node()).node())
		if spaces := v.member("namespacePrefixes"); !spaces.silent() {
			body.set("namespaces", spaces.node)
		}
		return body
	case "XML":
		body := with("xml", textNode(v.member("xml").text()))
		body.set("xmlOptions", with("trimText", trueNode()).node())
		return body
	default:
		e.mock.unmet(v, "a condition of the type %s on the body has no equivalent", quoted(kind))
		return nil
	}
}

// json translates an expected JSON value. Unless it is strict, members may be added and items come in any order.
func (e *mockserverMock) json(v value, strict bool) *doc {
	expected := v.node
	if v.is(mockbase.NodeText) {
		n, err := mockbase.ParseNode([]byte(v.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil {
			e.mock.unmet(v, "the expected body is not JSON")
			return nil
		}
		expected = n
	}
	if expected == nil {
		return nil
	}
	expected, known := (&wiremockStub{out: e.out, mock: e.mock}).placeholders(v, expected)
	switch {
	case !known:
		return nil
	case strict:
		return with("jsonExact", expected)
	}
	body := with("json", expected)
	body.set("jsonOptions", with("ignoreOrder", trueNode()).node())
	return body
}

func (e *mockserverMock) jsonSchema(v value) *doc {
	schema := v.node
	if v.is(mockbase.NodeText) {
		n, err := mockbase.ParseNode([]byte(v.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil {
			e.mock.unmet(v, "the schema is not JSON")
			return nil
		}
		schema = n
	}
	if schema == nil {
		return nil
	}
	return with("schema", schema)
}
