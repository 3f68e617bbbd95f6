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
		return r.text(a.at)
	case "body/base64":
		return with("binaryEqualTo", textNode(a.at.text()))
	case "body/empty":
		empty := with("absent", trueNode())
		if r.presence == alwaysSent {
			empty = with("equalTo", textNode(""))
		}
		if a.at.isTrue() {
			return empty
		}
		return with("not", empty.node())
	}
	r.unmet(a.at, "the condition has no equivalent")
	return nil
}

// text writes a condition on the text of a body.
func (r *stubRequest) text(v value) *doc {
	if r.presence == maybeSent {
		r.presence = nullIfEmpty
		defer func() { r.presence = maybeSent }()
	}
	return r.pattern(v)
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
	// As a text, which every version reads.
	d := with("matchesJsonSchema", textNode(string(a.at.node.JSON())))
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
	r.body, r.presence = nil, alwaysSent
	for _, b := range (&brancher{}).body(v, holds) {
		for _, a := range b {
			r.bodyAtom(a)
		}
	}
	part.list("bodyPatterns", r.body)
	r.body, r.presence = outer, maybeSent
}
