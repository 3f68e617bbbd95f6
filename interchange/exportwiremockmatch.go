package interchange

import (
	"regexp"
	"strings"

	"github.com/mockbase/mockbase"
)

// pattern writes a condition on a text; nil when it has no equivalent.
func (r *stubRequest) pattern(v value) *doc {
	switch {
	case v.scalar():
		return with("equalTo", textNode(v.text()))
	case v.is(mockbase.NodeList):
		return combined("and", r.patterns(v.items()))
	case v.is(mockbase.NodeObject):
		return r.operators(v)
	}
	r.unmet(v, "null has no equivalent")
	return nil
}

func (r *stubRequest) patterns(items []value) []*doc {
	var list []*doc
	for _, item := range items {
		if p := r.pattern(item); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// combined is a pattern of which one, or every, part must hold.
func combined(word string, list []*doc) *doc {
	if len(list) == 1 {
		return list[0]
	}
	nodes := make([]*mockbase.Node, len(list))
	for i, p := range list {
		nodes[i] = p.node()
	}
	if len(nodes) == 0 {
		return nil
	}
	return with(word, listNode(nodes...))
}

// operators writes an object of operators, all of which must hold.
func (r *stubRequest) operators(v value) *doc {
	fold := v.member("ignoreCase").isTrue()
	sent := v.member("exists").isTrue()
	var list []*doc
	for _, e := range v.entries() {
		if e.key == "ignoreCase" || e.key == "exists" && sent && len(v.node.Members) > 1 && !v.has("not") {
			continue
		}
		p := r.operator(e)
		if p == nil {
			return nil
		}
		if fold {
			p = folded(p)
		}
		if e.key == "not" && !sent {
			p = with("or", listNode(with("absent", trueNode()).node(), p.node()))
		}
		list = append(list, p)
	}
	if p := combined("and", list); p != nil {
		return p
	}
	r.unmet(v, "the condition says nothing")
	return nil
}

// folded ignores the case of letters.
func folded(p *doc) *doc {
	switch equal, expression := p.get("equalTo"), p.get("matches"); {
	case equal != nil:
		p.set("caseInsensitive", trueNode())
	case expression != nil:
		p.set("matches", textNode("(?i)"+expression.Text))
	case p.get("contains") != nil:
		return with("matches", textNode(`(?i)[\s\S]*`+regexp.QuoteMeta(p.get("contains").Text)+`[\s\S]*`))
	default:
		for _, word := range []string{"or", "and"} {
			if list := p.get(word); list != nil {
				for i, item := range list.Items {
					list.Items[i] = folded(&doc{members: item.Members}).node()
				}
			}
		}
	}
	return p
}

// operator writes one operator.
func (r *stubRequest) operator(e entry) *doc {
	const rest = `[\s\S]*`
	expression := func(text string) *doc { return with("matches", textNode(text)) }
	literal := regexp.QuoteMeta(e.text())
	switch e.key {
	case "equals":
		return r.pattern(e.value)
	case "contains":
		return with("contains", textNode(e.text()))
	case "startsWith":
		return expression(literal + rest)
	case "endsWith":
		return expression(rest + literal)
	case "matches":
		return expression(javaExpression(e.text()))
	case "search":
		return expression(rest + "(?:" + javaExpression(e.text()) + ")" + rest)
	case "hasItem":
		return expression(`(?:(?:[^,"]|"(?:[^"\\]|\\.)*")*,)*\s*` + literal + `\s*(?:,[\s\S]*)?`)
	case "before", "after":
		return with(e.key, textNode(e.text()))
	case "exists":
		if e.isTrue() {
			return anything()
		}
		return with("absent", trueNode())
	}
	return r.compound(e)
}

// compound writes an operator that holds others, or values.
func (r *stubRequest) compound(e entry) *doc {
	switch e.key {
	case "not":
		if inner := r.pattern(e.value); inner != nil {
			return with("not", inner.node())
		}
		return nil
	case "in", "anyOf":
		return r.all("or", e)
	case "allOf":
		return r.all("and", e)
	case "all", "exactly":
		word := map[string]string{"all": "includes", "exactly": "hasExactly"}[e.key]
		list := r.patterns(e.items())
		if repeated(e.items()) && e.key == "all" {
			r.unmet(e.value, "values that must be there several times have no equivalent")
			return nil
		}
		nodes := make([]*mockbase.Node, len(list))
		for i, p := range list {
			nodes[i] = p.node()
		}
		return with(word, listNode(nodes...))
	case "mediaType":
		if !strings.ContainsAny(e.text(), ";") {
			kind := strings.ReplaceAll(regexp.QuoteMeta(e.text()), `\*`, `[^;/\s]+`)
			return with("matches", textNode(`(?i)`+kind+`\s*(;.*)?`))
		}
	}
	r.unmet(e.value, "the operator %s has no equivalent", quoted(e.key))
	return nil
}

// repeated tells whether a value stands in a list twice.
func repeated(items []value) bool {
	met := map[string]bool{}
	for _, item := range items {
		text := string(item.node.JSON())
		if met[text] {
			return true
		}
		met[text] = true
	}
	return false
}

// all writes a list of patterns, each of which has to have an equivalent.
func (r *stubRequest) all(word string, e entry) *doc {
	list := r.patterns(e.items())
	if len(list) != len(e.items()) {
		return nil
	}
	return combined(word, list)
}
