package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// bodyAtom writes a condition on the body.
func (r *stubRequest) bodyAtom(a atom) {
	before := r.failed
	r.failed = false
	patterns := r.bodyPatterns(a)
	ok := !r.failed && len(patterns) > 0
	r.failed = r.failed || before
	switch {
	case !ok:
		r.failed = true
	case !a.not:
		for _, p := range patterns {
			r.body = append(r.body, p.node())
		}
	case a.place == "body/jsonPath", a.place == "body/xpath":
		r.body = append(r.body, patterns[0].node(), with("not", combined("and", patterns[1:]).node()).node())
	default:
		r.body = append(r.body, with("not", combined("and", patterns).node()).node())
	}
}

// bodyPatterns are the patterns of a condition on the body, all of which must hold.
func (r *stubRequest) bodyPatterns(a atom) []*doc {
	switch a.place {
	case "body/json", "body/jsonExact":
		return r.equalToJSON(a)
	case "body/jsonPath":
		return r.selected(a, "matchesJsonPath")
	case "body/xpath":
		return r.selected(a, "matchesXPath")
	case "body/schema":
		return r.schema(a)
	}
	if d := r.wholeBody(a); d != nil {
		return []*doc{d}
	}
	return nil
}

// wholeBody is the pattern of a condition on the body as a whole.
func (r *stubRequest) wholeBody(a atom) *doc {
	switch a.place {
	case "body/xml":
		options := a.beside.member("xmlOptions")
		if !options.member("ignoreOrder").isTrue() || !options.member("trimText").isTrue() {
			r.w.lost(a.at, "the order of elements and blanks around texts do not count in the other tool")
		}
		return with("equalToXml", textNode(a.at.text()))
	case "body/text":
		return r.pattern(a.at)
	case "body/base64":
		return with("binaryEqualTo", textNode(a.at.text()))
	case "body/empty":
		empty := with("equalTo", textNode(""))
		if a.at.isTrue() {
			return empty
		}
		return with("not", empty.node())
	}
	r.unmet(a.at, "the condition has no equivalent")
	return nil
}

// equalToJSON writes an equality of JSON.
func (r *stubRequest) equalToJSON(a atom) []*doc {
	options := a.beside.member("jsonOptions")
	partial := a.place == "body/json"
	expected := r.expected(a.at, a.at.node)
	if expected == nil {
		return nil
	}
	d := with("equalToJson", expected)
	switch extra := options.member("ignoreExtraItems").isTrue(); {
	case options.member("numbersAsStrings").isTrue():
		r.unmet(options, "numbers that equal texts have no equivalent")
		return nil
	case extra && !partial:
		r.unmet(options, "lists that may hold more, in objects that may not, have no equivalent")
		return nil
	case partial && !extra && hasList(a.at.node):
		r.w.lost(a.at, "lists in the body may hold more items than are named, as the other tool knows one switch for members and items")
	}
	if options.member("strict").isTrue() {
		r.w.lost(options, "duplicate names are not refused")
	}
	if options.member("ignoreOrder").isTrue() {
		d.set("ignoreArrayOrder", trueNode())
	}
	if partial {
		d.set("ignoreExtraElements", trueNode())
	}
	return []*doc{d}
}

func hasList(n *mockbase.Node) bool {
	return n.Kind == mockbase.NodeList || slices.ContainsFunc(n.Members, func(m mockbase.Member) bool { return hasList(m.Value) })
}

// expected writes an expected value: operators in it become placeholders.
func (r *stubRequest) expected(at value, n *mockbase.Node) *mockbase.Node {
	if n.Kind == mockbase.NodeObject && len(n.Members) == 1 {
		switch inner := n.Members[0].Value; n.Members[0].Key {
		case "$match":
			return r.jsonUnit(at, inner)
		case "$literal":
			return inner
		}
	}
	copied := *n
	copied.Items, copied.Members = nil, nil
	for _, item := range n.Items {
		inner := r.expected(at, item)
		if inner == nil {
			return nil
		}
		copied.Items = append(copied.Items, inner)
	}
	for _, m := range n.Members {
		if m.Value = r.expected(at, m.Value); m.Value == nil {
			return nil
		}
		copied.Members = append(copied.Members, m)
	}
	return &copied
}

// jsonUnit writes operators at a place of an expected value as a placeholder of the library that WireMock compares with.
func (r *stubRequest) jsonUnit(at value, n *mockbase.Node) *mockbase.Node {
	if n.Kind == mockbase.NodeObject && len(n.Members) == 1 {
		operand := n.Members[0].Value.Text
		switch n.Members[0].Key {
		case "matches":
			return textNode("${json-unit.regex}" + javaExpression(operand))
		case "exists":
			if operand == "true" {
				return textNode("${json-unit.ignore}")
			}
		case "type":
			if slices.Contains([]string{"string", "number", "boolean"}, operand) {
				return textNode("${json-unit.any-" + operand + "}")
			}
		}
	}
	r.unmet(at, "the operators %s within a body have no equivalent", quoted(string(n.JSON())))
	return nil
}

// selected writes conditions on what an expression selects: one pattern for each operator.
func (r *stubRequest) selected(a atom, word string) []*doc {
	expression := a.name
	if word == "matchesJsonPath" {
		var ok bool
		if expression, ok = jaywayPath(a.name); !ok {
			r.unmet(a.at, "the JSONPath %s has no equivalent", quoted(a.name))
			return nil
		}
	}
	values := onePerOperator(a.at)
	var list []*doc
	if slices.ContainsFunc(values, negates) || a.not {
		// What is no JSON, or no XML, has no nodes, and fails every condition on them here.
		list = append(list, with(word, textNode(map[string]string{"matchesJsonPath": "$", "matchesXPath": "/*"}[word])))
	}
	for _, v := range values {
		p := r.node(v, word, expression)
		if p == nil {
			return nil
		}
		if spaces := a.beside.member("namespaces"); spaces.ok() && word == "matchesXPath" {
			p.set("xPathNamespaces", spaces.node)
		}
		list = append(list, p)
	}
	return list
}

// onePerOperator takes an object of operators apart. Whether the case of letters counts is said of each.
func onePerOperator(v value) []value {
	if !v.is(mockbase.NodeObject) {
		return []value{v}
	}
	var values []value
	for _, e := range v.entries() {
		if e.key == "ignoreCase" {
			continue
		}
		one := with(e.key, e.node)
		one.set("ignoreCase", v.node.Find("ignoreCase"))
		values = append(values, value{one.node(), v.pointer, v.file})
	}
	return values
}

// negates tells whether a condition holds where nothing is selected.
func negates(v value) bool {
	return v.has("not") || v.has("exists") && !v.member("exists").isTrue()
}

// node writes one condition on what an expression selects.
func (r *stubRequest) node(v value, word, expression string) *doc {
	if v.member("not").ok() {
		inner := v.member("not")
		if inner.scalar() {
			inner.node = with("equals", inner.node).node()
		}
		if p := r.node(inner, word, expression); p != nil {
			return with("not", p.node())
		}
		return nil
	}
	inner := with("expression", textNode(expression))
	switch equal := v.member("equals"); {
	case v.member("exists").isTrue():
		return with(word, textNode(expression))
	case v.member("exists").ok():
		return with("not", with(word, textNode(expression)).node())
	case equal.is(mockbase.NodeObject), equal.is(mockbase.NodeList), v.is(mockbase.NodeList):
		if !equal.ok() {
			equal = v
		}
		inner.set("equalToJson", equal.node)
		return with(word, inner.node())
	}
	p := r.pattern(v)
	if p == nil {
		return nil
	}
	inner.members = append(inner.members, p.members...)
	return with(word, inner.node())
}

// jaywayPath writes a JSONPath of RFC 9535 as the library of WireMock reads it; what only one of them has is not ok.
func jaywayPath(path string) (string, bool) {
	for _, function := range []string{"length(", "count(", "match(", "search(", "value("} {
		if strings.Contains(path, function) {
			return "", false
		}
	}
	before, filter, found := strings.Cut(path, "[?")
	if !found || strings.HasPrefix(strings.TrimSpace(filter), "(") {
		return path, true
	}
	condition, after, closed := strings.Cut(filter, "]")
	if !closed || strings.ContainsAny(condition, "[") || strings.Contains(after, "[?") {
		return "", false
	}
	return before + "[?(" + strings.TrimSpace(condition) + ")]" + after, true
}

// schema writes a JSON Schema.
func (r *stubRequest) schema(a atom) []*doc {
	if !a.at.is(mockbase.NodeObject) && !a.at.is(mockbase.NodeBool) {
		r.unmet(a.at, "a schema that lies in a file is not written down")
		return nil
	}
	version := "V202012"
	for part, named := range map[string]string{"draft-04": "V4", "draft-06": "V6", "draft-07": "V7", "2019-09": "V201909"} {
		if strings.Contains(a.at.member("$schema").text(), part) {
			version = named
		}
	}
	d := with("matchesJsonSchema", a.at.node)
	d.set("schemaVersion", textNode(version))
	return []*doc{d}
}

// multipart writes conditions on the parts of a form.
func (r *stubRequest) multipart(a atom) {
	for _, item := range a.at.items() {
		part, headers := with("matchingType", textNode("ANY")), &doc{}
		for _, e := range item.entries() {
			r.part(e, part, headers)
		}
		part.doc("headers", headers)
		r.parts = append(r.parts, part.node())
	}
}

// part writes one condition on a part of a form.
func (r *stubRequest) part(e entry, part, headers *doc) {
	switch {
	case e.key == "name" && e.scalar():
		part.set("name", textNode(e.text()))
	case e.key == "filename" && e.scalar():
		part.set("fileName", textNode(e.text()))
	case e.key == "contentType":
		r.partHeader("Content-Type", e.value, headers)
	case e.key == "headers":
		for _, h := range e.entries() {
			r.partHeader(h.key, h.value, headers)
		}
	case e.key == "body":
		r.partBody(e.value, part)
	default:
		r.unmet(e.value, "the condition on %s of a part has no equivalent", quoted(e.key))
	}
}

func (r *stubRequest) partHeader(name string, v value, headers *doc) {
	if p := r.pattern(v); p != nil {
		headers.set(name, p.node())
	}
}

func (r *stubRequest) partBody(v value, part *doc) {
	outer := r.body
	r.body = nil
	for _, b := range (&brancher{}).body(v, holds) {
		for _, a := range b {
			r.bodyAtom(a)
		}
	}
	part.list("bodyPatterns", r.body)
	r.body = outer
}
