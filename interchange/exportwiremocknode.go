package interchange

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

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
	if a.at.is(mockbase.NodeList) && word == "matchesJsonPath" {
		// Each value of a list is asked of a node of its own.
		if values = a.at.items(); repeated(values) {
			r.unmet(a.at, "values that must be there several times have no equivalent")
			return nil
		}
	}
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

// onePerOperator takes an object of operators apart, save those that one and the same node has to meet. Whether the case of
// letters counts is said of each.
func onePerOperator(v value) []value {
	if !v.is(mockbase.NodeObject) {
		return []value{v}
	}
	var values []value
	of := func(d *doc) {
		if d.empty() {
			return
		}
		d.set("ignoreCase", v.node.Find("ignoreCase"))
		values = append(values, value{d.node(), v.pointer, v.file})
	}
	together := &doc{}
	for _, e := range v.entries() {
		switch e.key {
		case "ignoreCase":
		case "not", "exists":
			of(with(e.key, e.node))
		case "allOf":
			for _, item := range e.items() {
				values = append(values, onePerOperator(item)...)
			}
		default:
			together.set(e.key, e.node)
		}
	}
	of(together)
	return values
}

// negates tells whether a condition holds where nothing is selected.
func negates(v value) bool {
	return v.has("not") || v.has("exists") && !v.member("exists").isTrue()
}

// node writes one condition on what an expression selects.
func (r *stubRequest) node(v value, word, expression string) *doc {
	switch {
	case v.member("not").ok():
		inner := v.member("not")
		if inner.scalar() {
			inner.node = with("equals", inner.node).node()
		}
		if p := r.node(inner, word, expression); p != nil {
			return with("not", p.node())
		}
		return nil
	case v.member("exists").isTrue():
		return with(word, textNode(expression))
	case v.member("exists").ok():
		return with("not", with(word, textNode(expression)).node())
	case word == "matchesJsonPath":
		if p, typed := r.typed(v, expression); typed {
			return p
		}
	}
	p := r.pattern(v)
	if p == nil {
		return nil
	}
	return with(word, selecting(expression, p))
}

// selecting is a condition on what an expression selects.
func selecting(expression string, p *doc) *mockbase.Node {
	inner := with("expression", textNode(expression))
	inner.members = append(inner.members, p.members...)
	return inner.node()
}

// typed writes an equality with a value of JSON that is no text. The other tool compares texts otherwise.
func (r *stubRequest) typed(v value, expression string) (p *doc, typed bool) {
	const word = "matchesJsonPath"
	if in := v.member("in"); len(v.node.Members) == 1 && slices.ContainsFunc(in.items(), func(item value) bool { return typedScalar(item) != nil }) {
		return r.either(in.items(), word, expression), true
	}
	if equal := v.member("equals"); equal.is(mockbase.NodeObject) || equal.is(mockbase.NodeList) {
		if indefinite(expression) {
			r.unmet(v, "an object or a list among several that a path selects has no equivalent")
			return nil, true
		}
		return with(word, selecting(expression, with("equalToJson", equal.node))), true
	}
	scalar := typedScalar(v)
	switch {
	case scalar == nil:
		return nil, false
	case indefinite(expression):
		r.w.lost(v, "of several nodes that a path selects, %s and a value of another type that reads like it are not told apart", quoted(scalar.Text))
		return nil, false
	}
	return with(word, selecting(expression, with("equalToJson", textNode(string(scalar.JSON()))))), true
}

// either writes a condition that one of some values is selected.
func (r *stubRequest) either(values []value, word, expression string) *doc {
	var list []*mockbase.Node
	for _, item := range values {
		if item.is(mockbase.NodeObject) || item.is(mockbase.NodeList) {
			item.node = with("equals", item.node).node()
		}
		p := r.node(item, word, expression)
		if p == nil {
			return nil
		}
		list = append(list, p.node())
	}
	return with("or", listNode(list...))
}

// indefinite tells whether a JSONPath may select several nodes.
func indefinite(path string) bool {
	return strings.Contains(path, "..") || strings.ContainsAny(path, "*?:,")
}

// typedScalar is a scalar that a node has to equal, if as a text it would be a value of another type; nil for any other condition.
func typedScalar(v value) *mockbase.Node {
	n := v.node
	if v.is(mockbase.NodeObject) {
		if v.member("ignoreCase").isTrue() || !v.member("equals").scalar() {
			return nil
		}
		n = v.node.Find("equals")
	}
	if n.Kind == mockbase.NodeNull || n.Kind == mockbase.NodeNumber || n.Kind == mockbase.NodeBool {
		return n
	}
	read, err := mockbase.ParseNode([]byte(n.Text), mockbase.FormatJSON, mockbase.ParseLimits{Depth: 1})
	if n.Kind == mockbase.NodeText && err == nil && read.Kind != mockbase.NodeText {
		return n
	}
	return nil
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
