package interchange

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxFolders is how deep folders may lie in one another, in the source and in a mock (mock format, section 6).
const (
	maxFolders     = 6
	maxItemDepth   = 50
	longestFolder  = 200
	longestSummary = 4000
)

// postman translates collections of Postman, versions 2.0 and 2.1: one mock for each request, and a sequence of its saved
// answers in their order.
func postman(s *source, out *output) error {
	for _, d := range s.docs {
		if inner := d.member("collection"); inner.is(mockbase.NodeObject) {
			d = inner
		}
		if !d.member("item").is(mockbase.NodeList) {
			return malformed("the file holds no Postman collection: it has a list called item, exported as version 2.0 or 2.1")
		}
		o := out.object(d)
		p := &postmanFile{out: out, set: newSavedSet(out), variables: map[string]string{}}
		p.about(o)
		p.items(o.listOf("item"), nil)
		p.set.finish()
		o.done()
	}
	return nil
}

// postmanFile translates one collection.
type postmanFile struct {
	out       *output
	set       *savedSet
	variables map[string]string
}

// about reads what stands around the requests.
func (p *postmanFile) about(o *object) {
	info := o.objectOf("info")
	p.out.title = info.textOf("name")
	for _, v := range o.listOf("variable") {
		name := v.member("key").text()
		if name == "" {
			name = v.member("id").text()
		}
		if !v.member("disabled").isTrue() {
			p.variables[name] = p.base(v.member("value"), name)
		}
	}
	p.around(o)
	o.skip("protocolProfileBehavior")
}

// base is the value of a variable. That of the base address names no path if it is that of a project's mocks.
func (p *postmanFile) base(v value, name string) string {
	const scheme = "://"
	text := v.text()
	base := pathOf(text)
	if name != "baseUrl" || !strings.Contains(text, scheme) || !mockbase.IsMockBase(base) {
		return text
	}
	p.out.lost(v, "the base address is that of a project's mocks: %s is left out of the paths", base)
	return strings.TrimSuffix(text, base)
}

// around warns of what a collection, a folder and a request have that does nothing in a mock.
func (p *postmanFile) around(o *object) {
	if auth := o.get("auth"); auth.is(mockbase.NodeObject) && auth.member("type").text() != "noauth" {
		p.out.lost(auth, "the credentials are no condition: the mock answers with and without them")
	}
	for _, event := range o.listOf("event") {
		lines := event.at("script", "exec")
		written := strings.TrimSpace(lines.text()) != "" ||
			slices.ContainsFunc(lines.items(), func(line value) bool { return strings.TrimSpace(line.text()) != "" })
		if written {
			p.out.lost(event, "scripts are not run")
		}
	}
}

// items walks through requests and folders.
func (p *postmanFile) items(list []value, folders []string) {
	for _, v := range list {
		if p.out.stopped() {
			return
		}
		o, ok := p.out.entry(v)
		if !ok {
			continue
		}
		o.skip("id", "_postman_id", "uid", "protocolProfileBehavior", "variable", "_postman_isSubFolder", "auth", "event")
		p.around(o)
		name := o.textOf("name")
		if !o.has("item") {
			p.out.found++
			p.request(o, name, folders)
			o.done()
			continue
		}
		if len(folders) >= maxItemDepth {
			p.out.lost(v, "folders lie deeper in one another than %d: this one is left out", maxItemDepth)
			continue
		}
		o.skip("description")
		p.items(o.listOf("item"), append(slices.Clip(folders), name))
		o.done()
	}
}

// request translates one request with its saved answers.
func (p *postmanFile) request(o *object, name string, folders []string) {
	v := o.get("request")
	base := saved{from: o.value, name: name, folder: folderName(folders), description: summary(textOrContent(o.get("description")))}
	if base.description == "" {
		base.description = summary(textOrContent(v.member("description")))
	}
	if !p.target(v, &base) {
		return
	}
	answers := o.listOf("response")
	if len(answers) == 0 {
		p.out.lost(o.value, "no answer is saved: the mock answers 200 without a body")
		const found = 200
		base.answer = with("status", numberNode(found))
		p.set.add(&base)
		return
	}
	kept := 0
	for _, answer := range answers {
		a := p.out.object(answer)
		one := base
		if original := a.get("originalRequest"); original.ok() {
			p.original(original, &one)
		}
		one.step = a.textOf("name")
		one.answer = p.answer(a)
		a.done()
		if one.answer == nil {
			continue
		}
		kept++
		p.set.add(&one)
	}
	if kept == 0 {
		p.out.lost(o.value, "no saved answer can be given: the mock answers 200 without a body")
		const found = 200
		base.answer = with("status", numberNode(found))
		p.set.add(&base)
	}
}

// original reads the request of a saved answer, where it differs from the request that it is saved with. Its body is an
// example, as is that of the request.
func (p *postmanFile) original(v value, one *saved) {
	body := one.body
	other := *one
	other.from = v
	if !p.target(v, &other) {
		return
	}
	if body.condition != nil && other.body.condition != nil {
		body.condition = other.body.condition
	}
	other.body, other.from = body, one.from
	*one = other
}

// legible checks the kind of a part of a request that says where the mock answers.
func (p *postmanFile) legible(v value, allowed kinds) bool {
	if !v.ok() || allowed.has(v) {
		return true
	}
	p.out.warn(v, mockbase.FieldType, "must be %s, found %s: the request is left out", allowed, v.node.Kind)
	return false
}

// target reads method, address and body of a request, which may be an address alone.
func (p *postmanFile) target(v value, x *saved) bool {
	x.method = "GET"
	address := v
	if v.is(mockbase.NodeObject) {
		o := p.out.object(v)
		if method := strings.TrimSpace(o.textOf("method")); method != "" {
			x.method = strings.ToUpper(p.resolved(method))
		}
		address = o.get("url")
		x.body = p.body(o.get("body"))
		// Headers of a saved request are what somebody happened to send, and no conditions.
		o.skip("header", "description", "auth", "proxy", "certificate")
		if auth := v.member("auth"); auth.is(mockbase.NodeObject) && auth.member("type").text() != "noauth" && x.from.pointer != v.pointer {
			p.out.lost(auth, "the credentials are no condition: the mock answers with and without them")
		}
		o.done()
	}
	if !p.legible(v.member("method"), aText) || !p.legible(address, aText|anObject) {
		return false
	}
	raw, query, ok := p.address(address)
	if !ok {
		if !address.ok() {
			address = v
		}
		p.out.lost(address, "the request has no address: it is left out")
		return false
	}
	x.path, x.query = p.pattern(raw), query
	return true
}

// address reads an address: a text, or an object with its parts. The path is as it was written.
func (p *postmanFile) address(v value) (raw string, query []pair, ok bool) {
	text := v.text()
	if v.is(mockbase.NodeObject) {
		if text = v.member("raw").text(); text == "" {
			text = joined(v.member("host"), ".") + "/" + joined(v.member("path"), "/")
		}
		if text == "/" {
			text = ""
		}
	}
	text = strings.TrimSpace(p.resolved(text))
	if text == "" {
		return "", nil, false
	}
	text, _, _ = strings.Cut(text, "#")
	text, queryText, _ := strings.Cut(text, "?")
	if list := v.member("query"); list.is(mockbase.NodeList) {
		for _, q := range list.items() {
			if !q.member("disabled").isTrue() && q.member("key").text() != "" {
				query = append(query, pair{p.resolved(q.member("key").text()), p.resolved(q.member("value").text())})
			}
		}
	} else {
		query = queryPairs(queryText)
	}
	return pathOf(text), query, true
}

// joined is a text, or the texts of a list put together. Postman writes parts as texts or as objects with a value.
func joined(v value, separator string) string {
	if v.scalar() {
		return v.text()
	}
	parts := make([]string, 0, len(v.items()))
	for _, item := range v.items() {
		text := item.text()
		if item.is(mockbase.NodeObject) {
			text = item.member("value").text()
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, separator)
}

// pathOf takes scheme and host from an address, whose host may be a variable or missing.
func pathOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	} else if strings.HasPrefix(address, "/") {
		return address
	}
	if _, rest, ok := strings.Cut(address, "/"); ok {
		return "/" + rest
	}
	return "/"
}

// queryPairs takes a query apart as it was written; what cannot be decoded stays as it is.
func queryPairs(text string) []pair {
	var pairs []pair
	for part := range strings.SplitSeq(text, "&") {
		if name, rest, _ := strings.Cut(part, "="); name != "" {
			pairs = append(pairs, pair{unescaped(name), unescaped(rest)})
		}
	}
	return pairs
}

// pattern makes a path pattern: parts that begin with a colon and variables without a value become parameters.
func (*postmanFile) pattern(raw string) string {
	taken := map[string]bool{}
	segments := strings.Split(path.Clean("/"+raw), "/")
	for i, segment := range segments {
		switch name, isName := strings.CutPrefix(segment, ":"); {
		case isName && name != "":
			segments[i] = parameter(name, taken)
		case strings.Contains(segment, "{{"):
			segments[i] = openSegment(segment, taken)
		default:
			segments[i] = wholeSegment(segment, taken)
		}
	}
	text := strings.Join(segments, "/")
	if strings.HasSuffix(raw, "/") && text != "/" {
		text += "/"
	}
	return text
}

// openSegment writes a segment with variables in it. Two of them without anything between become one.
func openSegment(segment string, taken map[string]bool) string {
	before, rest, _ := strings.Cut(segment, "{{")
	name, after, closed := strings.Cut(rest, "}}")
	if !closed || strings.Contains(after, "{{") {
		return parameter("value", taken)
	}
	return literalSegment(before) + parameter(name, taken) + literalSegment(after)
}

// wholeSegment writes a segment in which nothing is a pattern. What has a meaning in patterns becomes an expression.
func wholeSegment(segment string, taken map[string]bool) string {
	decoded := unescaped(strings.ReplaceAll(segment, "+", "%2B"))
	if !strings.ContainsAny(decoded, "*?#/") {
		return literalSegment(segment)
	}
	name := strings.Trim(parameter("literal", taken), "{}")
	return "{" + name + ":" + regexp.QuoteMeta(decoded) + "}"
}

// literalSegment writes a part of a segment in which nothing is a pattern.
func literalSegment(segment string) string {
	decoded := unescaped(strings.ReplaceAll(segment, "+", "%2B"))
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(decoded)
}

// parameter makes a path parameter of any name.
func parameter(name string, taken map[string]bool) string {
	b := []byte(strings.TrimPrefix(strings.TrimSpace(name), "$"))
	for i := range b {
		if !wordChar(b[i]) {
			b[i] = '_'
		}
	}
	clean := strings.Trim(string(b), "_")
	if clean == "" || isDigits(clean[:1]) {
		clean = "p" + clean
	}
	const longest = 60
	clean = mockbase.UniqueName(clean[:min(len(clean), longest)], func(s string) bool { return taken[s] })
	clean = strings.ReplaceAll(clean, "-", "_")
	taken[clean] = true
	return "{" + clean + "}"
}

// resolved puts the variables of the collection in, whose values may name others.
func (p *postmanFile) resolved(text string) string {
	const rounds = 5
	for range rounds {
		if !strings.Contains(text, "{{") {
			return text
		}
		before := text
		text = replaceTags(text, func(tag string) (string, bool) {
			known, ok := p.variables[tag]
			return known, ok
		})
		if text == before || len(text) > MaxBytes {
			break
		}
	}
	return text
}

// replaceTags replaces what stands in double braces, where replace knows it.
func replaceTags(text string, replace func(tag string) (string, bool)) string {
	const growth = 1 << 20
	longest := len(text) + growth
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case b.Len() > longest:
			// What grows beyond all bounds stays as it is from here on.
			b.WriteString("{{" + rest)
			return b.String()
		}
		tag, after, closed := strings.Cut(rest, "}}")
		if !closed {
			b.WriteString("{{" + rest)
			return b.String()
		}
		if known, ok := replace(strings.TrimSpace(tag)); ok {
			b.WriteString(known)
		} else {
			b.WriteString("{{" + tag + "}}")
		}
		text = after
	}
}

// body reads the body of a request. It is a condition only where requests differ in nothing else, but for GraphQL, whose
// requests all go to one address.
func (p *postmanFile) body(v value) savedBody {
	if v.member("disabled").isTrue() {
		return savedBody{}
	}
	switch mode := v.member("mode").text(); mode {
	case "raw":
		kinds := map[string]string{"json": "application/json", "xml": "application/xml"}
		return savedBody{text: p.resolved(v.member(mode).text()), kind: kinds[v.at("options", "raw", "language").text()]}
	case "urlencoded":
		return savedBody{text: p.fields(v.member(mode)), kind: "application/x-www-form-urlencoded"}
	case "formdata":
		return savedBody{text: p.fields(v.member(mode)), kind: "multipart/form-data"}
	case "graphql":
		return savedBody{condition: graphqlCondition(v.member(mode))}
	case "", "none":
	case "file":
		p.out.lost(v, "the file is not in the collection: the body is no condition")
	default:
		p.out.lost(v.member("mode"), "the mode %s of bodies is not known: the body is no condition", quoted(mode))
	}
	return savedBody{}
}

// fields writes the fields of a form like a query. A file is no condition.
func (p *postmanFile) fields(list value) string {
	var parts []string
	for _, field := range list.items() {
		switch {
		case field.member("disabled").isTrue():
		case field.member("type").text() == "file":
			p.out.lost(field, "the file of the field %s is not in the collection: the field is no condition", quoted(field.member("key").text()))
		default:
			parts = append(parts, formEscape(p.resolved(field.member("key").text()))+"="+formEscape(p.resolved(field.member("value").text())))
		}
	}
	return strings.Join(parts, "&")
}

// graphqlCondition tells requests to one GraphQL address apart, by operation or by query.
func graphqlCondition(v value) *doc {
	if name := v.member("operationName").text(); name != "" {
		return with("jsonPath", with("$.operationName", textNode(name)).node())
	}
	if query := v.member("query").text(); query != "" {
		return with("jsonPath", with("$.query", textNode(query)).node())
	}
	return nil
}

// answer translates a saved answer, nil where its status is none.
func (p *postmanFile) answer(a *object) *doc {
	const found, first, last = 200, 100, 999
	status, ok := a.integerOf("code")
	if !ok {
		status = found
	}
	if status < first || status > last {
		p.out.lost(a.get("code"), "%d is no status: the saved answer is left out", status)
	}
	a.skip("id", "_postman_id", "uid", "status", "responseTime", "cookie", "timings", "responseSize", "_postman_previewtype", "type")
	language := a.textOf("_postman_previewlanguage")
	t := &postmanTemplate{file: p}
	headers := t.headers(a.get("header"))
	body := t.text(a.get("body"), a.textOf("body"))
	if body != "" && !slices.ContainsFunc(headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") }) {
		if kind := previewType(language); kind != "" {
			headers = append(headers, pair{"Content-Type", kind})
		}
	}
	if status < first || status > last {
		return nil
	}
	d := savedAnswer(status, headers, []byte(body))
	if t.dynamic {
		d.set("template", trueNode())
	}
	return d
}

// previewType is the media type of a language in which Postman shows a body.
func previewType(language string) string {
	switch strings.ToLower(language) {
	case "json":
		return "application/json"
	case "xml":
		return "application/xml"
	case "html":
		return "text/html; charset=utf-8"
	}
	return ""
}

// folderName writes folders as the format has them.
func folderName(folders []string) string {
	names := make([]string, 0, maxFolders)
	for _, name := range folders[:min(len(folders), maxFolders)] {
		if name = strings.TrimSpace(strings.ReplaceAll(name, "/", "-")); name != "" {
			names = append(names, name)
		}
	}
	return shortened(strings.Join(names, "/"), longestFolder)
}

func summary(text string) string { return shortened(text, longestSummary) }

func shortened(text string, longest int) string {
	if r := []rune(text); len(r) > longest {
		return strings.Trim(string(r[:longest]), "/")
	}
	return text
}

// textOrContent is a text, or the content of an object that has one.
func textOrContent(v value) string {
	if v.is(mockbase.NodeObject) {
		return v.member("content").text()
	}
	return v.text()
}
