package interchange

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

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
