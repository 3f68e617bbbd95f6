package interchange

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// postmanWriter writes a project as a collection of Postman: a request for each mock, its answers as saved examples.
type postmanWriter struct {
	*exporter

	root *postmanFolder
}

// postmanFolder is a folder with its requests and the folders in it.
type postmanFolder struct {
	name    string
	folders []*postmanFolder
	items   []*mockbase.Node
}

// postman writes the project as a collection of the version 2.1.
func (e *exporter) postman() (*mockbase.Node, error) {
	w := &postmanWriter{exporter: e, root: &postmanFolder{}}
	for _, m := range e.mocks {
		if err := e.stopped(); err != nil {
			return nil, err
		}
		x, err := e.mock(m)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		x.doc.skip("description", "folder", "tags", "priority", "onEnd", "draw", "headCounts", "readBody", "expect")
		x.request.skip("trailingSlash")
		w.mock(x)
		w.unsaid(x)
		x.done()
	}
	for i, d := range e.config.Documents {
		e.lostSection("documents/"+strconv.Itoa(i), "the operations of the document %s are no requests: import the document itself", quoted(d.Name))
	}
	for _, c := range e.config.Collections {
		e.lostSection("collections/"+c.Name, "the collection is left out: it is no mock with a saved answer")
	}
	info := with("name", textNode(cmp.Or(e.project.Name, e.project.Slug, "MockBase")))
	info.text("description", e.project.Description)
	info.set("schema", textNode("https://schema.getpostman.com/json/collection/v2.1.0/collection.json"))
	root := with("info", info.node())
	root.set("item", listNode(w.root.nodes()...))
	base := with("key", textNode("baseUrl"))
	base.set("value", textNode(cmp.Or(e.options.BaseURL, "http://localhost:8080")))
	root.set("variable", listNode(base.node()))
	return root.node(), nil
}

// nodes are the folders and requests of a folder.
func (f *postmanFolder) nodes() []*mockbase.Node {
	var list []*mockbase.Node
	for _, inner := range f.folders {
		d := with("name", textNode(inner.name))
		d.set("item", listNode(inner.nodes()...))
		list = append(list, d.node())
	}
	return append(list, f.items...)
}

// in finds a folder, or makes it.
func (f *postmanFolder) in(path string) *postmanFolder {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(f.folders, func(inner *postmanFolder) bool { return inner.name == name })
		if i < 0 {
			f.folders = append(f.folders, &postmanFolder{name: name})
			i = len(f.folders) - 1
		}
		f = f.folders[i]
	}
	return f
}

// mock writes one request with its answers.
func (w *postmanWriter) mock(x *exportedMock) {
	if x.Request.PathMatches != "" {
		if _, ok := sampleOfExpression(x.Request.PathMatches); !ok {
			w.lost(x.request.get("pathMatches"), "no path is known that the expression takes: the mock is left out")
			return
		}
	}
	w.pathLosses(x)
	item := with("name", textNode(x.Name))
	item.text("description", x.Description)
	var answers []*mockbase.Node
	for _, method := range x.methods() {
		if method == mockbase.MethodAny {
			method = "GET"
			w.lost(x.doc.get("request"), "a request has one method: GET stands for every one")
		}
		for _, r := range x.responses {
			request := w.request(x, r, method)
			if item.get("request") == nil {
				item.set("request", request)
			}
			if answer := w.answer(r, request); answer != nil {
				answers = append(answers, answer)
			}
		}
	}
	item.set("response", listNode(answers...))
	folder := w.root.in(x.Folder)
	folder.items = append(folder.items, item.node())
}

// pathLosses tells of paths that stand for more than a request can hold.
func (w *postmanWriter) pathLosses(x *exportedMock) {
	if v := x.request.get("pathMatches"); v.ok() {
		w.lost(v, "a request has one path: it is an example of what the expression takes")
	}
	at := x.doc.get("request")
	for _, s := range x.pattern.Segments {
		switch s.Kind {
		case mockbase.SegmentMixed:
			w.lost(at, "a variable is a whole segment of the path: the segment with several parts is an example")
		case mockbase.SegmentRest:
			w.lost(at, "a variable is one segment of the path, and the mock takes any number of them")
		case mockbase.SegmentAny:
			w.lost(at, "any segment is written as an example")
		case mockbase.SegmentLiteral, mockbase.SegmentConstrained, mockbase.SegmentParameter:
		}
	}
}

// unsaid tells of what decides whether and how a mock answers, and is no part of a request.
func (w *postmanWriter) unsaid(x *exportedMock) {
	tell := func(o *object, name, why string) {
		if v := o.get(name); v.ok() && !v.silent() {
			w.lost(v, "%s", why)
		}
	}
	const states = "a collection knows no states: the request is the same in each"
	tell(x.doc, "scenario", states)
	tell(x.doc, "state", states)
	tell(x.doc, "times", "how often the mock answers cannot be said: it answers without end")
	tell(x.request, "host", "requests go to baseUrl: the host is no condition")
	tell(x.request, "strictQuery", "a query that may hold nothing else cannot be said")
	x.doc.skip("select")
	if x.Select == mockbase.SelectWeighted {
		tell(x.doc, "select", "a choice by weight cannot be said: the answers are saved in their order")
	}
	for _, r := range x.responses {
		r.doc.skip("weight")
		tell(r.doc, "setState", states)
		tell(r.doc, "times", "how often the answer comes cannot be said: it is saved once")
	}
}

// conditions tells of those that the request is an example of, and says no more.
func (w *postmanWriter) conditions(list []branch) {
	if len(list) > 1 {
		w.alternatives(list)
		for _, a := range slices.Concat(list[1:]...) {
			w.negation(a)
		}
	}
	if len(list) == 0 {
		return
	}
	for _, a := range list[0] {
		w.negation(a)
		if !a.not && isLoose(a) {
			w.lost(a.at, "a request holds one value: it is an example of what the condition takes")
		}
	}
}

// isLoose tells whether a condition takes more than the value that stands for it.
func isLoose(a atom) bool {
	switch a.place {
	case "auth":
		return hasConditions(a.at)
	case "body/json", "body/jsonExact":
		return hasOperators(a.at.node)
	case "path", "query", "headers", "cookies", "body/form", "body/text":
		_, known := sampleOf(a.at)
		exact := len(a.at.entries()) == 1 && (a.at.has("equals") || a.at.has("exactly") || a.at.has("exists"))
		return known && a.at.is(mockbase.NodeObject) && !exact
	}
	return false
}

// alternatives tells that a request meets the first of several, unless what the others ask for is told of by itself.
func (w *postmanWriter) alternatives(list []branch) {
	for _, a := range slices.Concat(list[1:]...) {
		shared := slices.ContainsFunc(list[0], func(first atom) bool { return first.at.pointer == a.at.pointer })
		if !shared && !a.not && !absent(a.at) {
			w.lost(a.at, "a request meets one of several alternatives: the first stands for all")
			return
		}
	}
}

// absent tells whether a condition is that something is not there.
func absent(v value) bool { return v.has("exists") && !v.member("exists").isTrue() }

// hasConditions tells whether credentials are asked for by more than their values.
func hasConditions(v value) bool {
	return slices.ContainsFunc(v.entries(), func(kind entry) bool {
		return kind.is(mockbase.NodeObject) && (kind.key != "basic" || slices.ContainsFunc(kind.entries(), func(e entry) bool { return !e.scalar() }))
	})
}

// negation tells of a condition that must not hold.
func (w *postmanWriter) negation(a atom) {
	switch {
	case a.place == "state" || a.place == "call":
		w.lost(a.at, "a collection knows no states and counts no calls: the request is the same in each")
	case a.not, absent(a.at):
		w.lost(a.at, "what a request must not hold cannot be said")
	}
}

// request writes what is sent to get an answer.
func (w *postmanWriter) request(x *exportedMock, r *exportedResponse, method string) *mockbase.Node {
	r.doc.skip("when")
	s := &samples{}
	list := x.branches(r)
	if len(list) > 0 {
		s = samplesOf(list[0])
	}
	w.conditions(list)
	for _, a := range s.unknown {
		w.lost(a.at, "no example of what the condition takes is known: the request is sent without it")
	}
	d := with("method", textNode(method))
	var headers []*mockbase.Node
	for _, h := range s.headers {
		headers = append(headers, keyValue(h.name, h.text))
	}
	var cookies []string
	for _, c := range s.cookies {
		cookies = append(cookies, c.name+"="+c.text)
	}
	if len(cookies) > 0 {
		headers = append(headers, keyValue("Cookie", strings.Join(cookies, "; ")))
	}
	typed := slices.ContainsFunc(s.headers, func(h sampled) bool { return strings.EqualFold(h.name, "Content-Type") })
	if s.body != nil && !typed {
		headers = append(headers, keyValue("Content-Type", s.bodyType))
	}
	d.set("header", listNode(headers...))
	d.set("url", w.url(x, s))
	d.doc("body", postmanBody(s))
	d.doc("auth", postmanAuth(s))
	return d.node()
}

func keyValue(key, text string) *mockbase.Node {
	d := with("key", textNode(key))
	d.set("value", textNode(text))
	return d.node()
}

// url writes an address with its parts.
func (*postmanWriter) url(x *exportedMock, s *samples) *mockbase.Node {
	var segments, variables, query []*mockbase.Node
	var raw strings.Builder
	raw.WriteString("{{baseUrl}}")
	for _, text := range postmanPath(x) {
		raw.WriteString("/" + text)
		segments = append(segments, textNode(text))
	}
	for _, p := range parameters(x.pattern) {
		text := "1"
		if sample, ok := sampleOfExpression(p.Pattern); ok && p.Pattern != "" {
			text = sample
		}
		for _, known := range s.path {
			if known.name == p.Name {
				text = known.text
			}
		}
		variables = append(variables, keyValue(p.Name, text))
	}
	pairs := s.query
	if _, after, found := strings.Cut(x.Request.RawTarget, "?"); found {
		for pair := range strings.SplitSeq(after, "&") {
			name, text, _ := strings.Cut(pair, "=")
			pairs = append(pairs, sampled{name, text})
		}
	}
	for i, q := range pairs {
		raw.WriteString(map[bool]string{true: "?", false: "&"}[i == 0] + q.name + "=" + q.text)
		query = append(query, keyValue(q.name, q.text))
	}
	d := with("raw", textNode(raw.String()))
	d.set("host", listNode(textNode("{{baseUrl}}")))
	d.set("path", listNode(segments...))
	d.list("query", query)
	d.list("variable", variables)
	return d.node()
}

// postmanPath are the segments of the path, in which :name is a parameter.
func postmanPath(x *exportedMock) []string {
	if !x.ok {
		path, _, _ := strings.Cut(x.Request.RawTarget, "?")
		if expression := x.Request.PathMatches; expression != "" {
			path, _ = sampleOfExpression(expression)
		}
		return strings.Split(strings.TrimPrefix(path, "/"), "/")
	}
	list := make([]string, len(x.pattern.Segments))
	for i, s := range x.pattern.Segments {
		switch {
		case s.Kind == mockbase.SegmentLiteral:
			list[i] = escapedSegment(s.Parts[0].Literal)
		case s.Kind == mockbase.SegmentMixed:
			for _, part := range s.Parts {
				list[i] += cmp.Or(escapedSegment(part.Literal), "1")
			}
		case s.Parts[0].Name == "":
			list[i] = "any"
		default:
			list[i] = ":" + s.Parts[0].Name
		}
	}
	return list
}

func postmanBody(s *samples) *doc {
	switch {
	case len(s.form) > 0:
		var fields []*mockbase.Node
		for _, f := range s.form {
			fields = append(fields, keyValue(f.name, f.text))
		}
		d := with("mode", textNode("urlencoded"))
		d.list("urlencoded", fields)
		return d
	case s.body == nil:
		return nil
	}
	d := with("mode", textNode("raw"))
	language := "text"
	switch s.bodyType {
	case "application/json":
		language = "json"
		d.set("raw", textNode(string(s.body.JSON())))
	case "application/xml":
		language = "xml"
	}
	if d.get("raw") == nil {
		d.set("raw", s.body)
	}
	d.set("options", with("raw", with("language", textNode(language)).node()).node())
	return d
}

func postmanAuth(s *samples) *doc {
	typed := func(kind string, pairs ...*mockbase.Node) *doc {
		for _, p := range pairs {
			p.Members = append(p.Members, mockbase.Member{Key: "type", Value: textNode("string")})
		}
		d := with("type", textNode(kind))
		d.set(kind, listNode(pairs...))
		return d
	}
	switch {
	case s.bearer != "":
		return typed("bearer", keyValue("token", s.bearer))
	case s.basic.ok():
		name, _ := sampleOf(s.basic.member("username"))
		password, _ := sampleOf(s.basic.member("password"))
		return typed("basic", keyValue("username", name), keyValue("password", password))
	}
	return nil
}

// answer writes a saved answer; nil for one that is none.
func (w *postmanWriter) answer(r *exportedResponse, request *mockbase.Node) *mockbase.Node {
	r.doc.skip("when")
	if r.WebSocket != nil || r.Proxy != nil || r.Fault != nil && r.Body.Kind == mockbase.BodyNone {
		return nil // what there is instead has been asked for by nobody, and is told of
	}
	d := with("name", textNode(r.title()))
	d.set("originalRequest", request)
	code := r.status()
	d.set("status", textNode(statusText(code)))
	d.set("code", numberNode(int64(code)))
	var headers []*mockbase.Node
	for _, h := range r.headers() {
		for _, v := range h.Values {
			headers = append(headers, keyValue(h.Name, v))
		}
	}
	d.set("header", listNode(headers...))
	body, language := w.body(r)
	d.set("_postman_previewlanguage", textNode(language))
	d.set("cookie", listNode())
	d.set("body", textNode(body))
	if r.dynamic() {
		w.lost(r.doc.value, "the body is a template: it is saved as it is written")
	}
	return d.node()
}

func (w *postmanWriter) body(r *exportedResponse) (text, language string) {
	if r.SSE != nil {
		w.lost(r.doc.get("sse"), "a stream of events is saved as one text")
		return eventsText(r.SSE), "text"
	}
	n := r.bodyNode()
	switch {
	case n == nil:
		return "", "text"
	case r.textual():
		return string(r.Body.Bytes), "text"
	case r.Body.Kind == mockbase.BodyJSON:
		return string(n.JSON()), "json"
	case r.Body.Kind == mockbase.BodyBase64:
		w.lost(r.doc.get("base64"), "a saved answer is a text: the bytes are saved as base64")
		return base64.StdEncoding.EncodeToString(r.Body.Bytes), "text"
	}
	return n.Text, "text"
}
