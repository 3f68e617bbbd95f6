package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// mockoon translates environments of Mockoon: each route becomes a mock. The first route wins there and the last mock here,
// so that the order is turned round.
func mockoon(s *source, out *output) error {
	known := false
	for _, d := range s.docs {
		if !d.member("routes").is(mockbase.NodeList) {
			if len(s.docs) == 1 {
				return malformed("the file holds no Mockoon environment: looked for a list called routes, found " + foundIn(d))
			}
			continue
		}
		known = true
		e := &mockoonEnvironment{out: out, source: s, doc: d, buckets: map[string]value{}}
		e.about()
		e.routes()
		e.passOn()
	}
	if !known {
		return malformed("no file holds a Mockoon environment: looked for a list called routes")
	}
	return nil
}

// mockoonEnvironment translates one environment.
type mockoonEnvironment struct {
	out    *output
	source *source
	doc    value
	object *object
	// prefix is put before each path; headers are those of every answer, latency the delay of each in milliseconds.
	prefix    string
	headers   []entry
	latency   int64
	buckets   map[string]value
	callbacks map[string]value
	// inFolder holds the folders of routes, by the place of the route in the source.
	inFolder map[string]string
	// putIn counts how often the content of a bucket was looked through, which buckets that name each other multiply.
	putIn int
}

// about reads what holds for all routes.
func (e *mockoonEnvironment) about() {
	o := e.out.object(e.doc)
	e.object = o
	o.skip("uuid", "lastMigration", "port", "hostname", "cors", "tlsOptions", "routes", "folders", "rootChildren", "proxyMode", "proxyHost",
		"proxyRemovePrefix", "proxyReqHeaders", "proxyResHeaders", "source", "documentation")
	e.out.title = o.textOf("name")
	if prefix := strings.Trim(o.textOf("endpointPrefix"), "/ "); prefix != "" {
		e.prefix = "/" + prefix
	}
	e.latency, _ = o.integerOf("latency")
	e.headers = keyed(o.get("headers"))
	for _, b := range o.listOf("data") {
		e.out.known(b, "uuid", "id", "name", "documentation", "value")
		for _, name := range []string{"name", "id", "uuid"} {
			if key := b.member(name).text(); key != "" {
				e.buckets[key] = b
			}
		}
	}
	e.callbacks = map[string]value{}
	for _, c := range o.listOf("callbacks") {
		e.out.known(c, "uuid", "id", "name", "documentation", "method", "uri", "headers", "bodyType", "body", "databucketID", "filePath", "sendFileAsBody")
		e.callbacks[c.member("uuid").text()] = c
	}
	o.done()
}

// keyed reads a list of objects with key and value. Names may come twice.
func keyed(v value) []entry {
	var list []entry
	for _, item := range v.items() {
		if key := strings.TrimSpace(item.member("key").text()); key != "" {
			list = append(list, entry{key, item.member("value")})
		}
	}
	return list
}

// routes translates the routes, the last first.
func (e *mockoonEnvironment) routes() {
	for _, v := range slices.Backward(e.ordered()) {
		e.out.found++
		if e.out.stopped() {
			return
		}
		e.route(v)
	}
}

// ordered returns the routes in the order in which they are tried: that of the folders, and after them the routes that
// stand in none.
func (e *mockoonEnvironment) ordered() []value {
	byID, folders := map[string]value{}, map[string]value{}
	e.inFolder = map[string]string{}
	for _, r := range e.doc.member("routes").items() {
		byID[r.member("uuid").text()] = r
	}
	for _, f := range e.doc.member("folders").items() {
		folders[f.member("uuid").text()] = f
		e.out.known(f, "uuid", "name", "children")
	}
	var list []value
	taken := map[string]bool{}
	var walk func(children value, names []string)
	walk = func(children value, names []string) {
		for _, c := range children.items() {
			id := c.member("uuid").text()
			switch r, isRoute := byID[id]; {
			case taken[id]:
			case isRoute:
				taken[id] = true
				list = append(list, r)
				e.inFolder[r.pointer] = folderName(names)
			case len(names) < maxFolders*2:
				taken[id] = true
				walk(folders[id].member("children"), append(slices.Clip(names), folders[id].member("name").text()))
			}
		}
	}
	walk(e.doc.member("rootChildren"), nil)
	for _, r := range e.doc.member("routes").items() {
		if id := r.member("uuid").text(); id == "" || !taken[id] {
			list = append(list, r)
		}
	}
	return list
}

func routeMethod(v value) string {
	switch method := strings.ToUpper(v.member("method").text()); method {
	case "", "ALL":
		return "ANY"
	default:
		return method
	}
}

// routeShape is what a route says about where it answers.
func routeShape() conditionShape {
	return conditionShape{places: []string{"endpoint"}, members: map[string]kinds{"endpoint": aText, "method": aText}}
}

// route translates one route.
func (e *mockoonEnvironment) route(v value) {
	o, ok := e.out.entry(v)
	if !ok {
		return
	}
	o.skip("uuid", "method", "endpoint", "documentation", "enabled", "responses", "responseMode", "type", "streamingMode", "streamingInterval")
	o.done()
	if v.member("type").text() == "crud" {
		e.collection(v)
		return
	}
	m := e.out.mock(v)
	m.stated(o, routeShape())
	m.text("description", summary(v.member("documentation").text()))
	m.text("folder", e.inFolder[v.pointer])
	if v.member("enabled").ok() && !v.member("enabled").isTrue() {
		m.set("enabled", falseNode())
	}
	m.request.set("method", textNode(routeMethod(v)))
	e.endpoint(m, v.member("endpoint"))
	r := &mockoonRoute{environment: e, mock: m}
	if v.member("type").text() == "ws" {
		r.socket(v)
	} else {
		r.responses(v)
	}
	e.out.add(m)
}

// endpoint sets the path: parameters begin with a colon, and a star takes anything.
func (e *mockoonEnvironment) endpoint(m *mock, v value) {
	text := e.prefix + "/" + strings.TrimPrefix(v.text(), "/")
	if strings.ContainsAny(text, "(?+[") {
		pattern := endpointExpression(text)
		if !m.expression(v, pattern) {
			pattern = ".*"
		}
		m.place("pathMatches", pattern)
		return
	}
	segments, taken := strings.Split(text, "/"), map[string]bool{}
	stars := 0
	for i, segment := range segments {
		switch name, isName := strings.CutPrefix(segment, ":"); {
		case isName && name != "" && strings.Trim(name, wordLetters) == "":
			segments[i] = parameter(name, taken)
		case strings.Contains(segment, "*"), strings.Contains(segment, ":"):
			stars++
			segments[i] = "**"
			if segment != "*" || stars > 1 {
				m.place("pathMatches", endpointExpression(text))
				return
			}
		default:
			segments[i] = literalSegment(segment)
		}
	}
	m.place("path", strings.Join(segments, "/"))
}

// wordLetters are those of names of parameters.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// endpointExpression writes an endpoint as a regular expression. What stands in parentheses is one already.
func endpointExpression(text string) string {
	var b strings.Builder
	for text != "" {
		c := text[0]
		text = text[1:]
		switch c {
		case ':':
			group, rest := endpointParameter(text)
			if after, optional := strings.CutPrefix(rest, "?"); optional {
				// The slash before an optional parameter is optional with it.
				before := strings.TrimSuffix(b.String(), "/")
				b.Reset()
				b.WriteString(before)
				group, rest = "(?:/"+group+")?", after
			}
			b.WriteString(group)
			text = rest
		case '*':
			b.WriteString(".*")
		case '.':
			b.WriteString(`\.`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// endpointParameter writes a parameter as a named group, and returns what stands behind it.
func endpointParameter(text string) (group, rest string) {
	rest = strings.TrimLeft(text, wordLetters)
	name := text[:len(text)-len(rest)]
	if name == "" || isDigits(name[:1]) {
		name = "p" + name
	}
	inner := "[^/]+"
	if end := strings.IndexByte(rest, ')'); end > 0 && rest[0] == '(' {
		inner, rest = rest[1:end], rest[end+1:]
	}
	return "(?P<" + name + ">" + inner + ")", rest
}

// delay is the latency of an environment and of an answer.
func (e *mockoonEnvironment) delay(response value) *mockbase.Node {
	own, ok := response.member("latency").integer()
	if v := response.member("latency"); v.ok() && !ok {
		e.out.wrong(v, mockbase.FieldType, "must be a whole number: the answer is not delayed")
	}
	if total := own + e.latency; total > 0 {
		return durationNode(millis(float64(total)))
	}
	return nil
}

// passOn makes the mock that passes on what no route answers.
func (e *mockoonEnvironment) passOn() {
	host := e.doc.member("proxyHost")
	if !e.doc.member("proxyMode").isTrue() || host.text() == "" {
		return
	}
	m := e.out.mock(host)
	m.named("proxy")
	const lowest = -1000
	m.set("priority", numberNode(lowest))
	m.request.set("method", textNode("ANY"))
	m.place("path", "/**")
	proxy := with("to", textNode(host.text()))
	strip := e.out.prefix
	if e.doc.member("proxyRemovePrefix").isTrue() {
		strip += e.prefix
	}
	proxy.text("stripPrefix", strip)
	set := &doc{}
	for _, h := range keyed(e.doc.member("proxyReqHeaders")) {
		set.set(h.key, textNode(h.text()))
	}
	proxy.doc("setHeaders", set)
	answer := with("proxy", proxy.node())
	headers := &doc{}
	for _, h := range keyed(e.doc.member("proxyResHeaders")) {
		headers.join(h.key, textNode(h.text()))
	}
	answer.doc("headers", headers)
	m.respond(answer)
	e.out.add(m)
}
