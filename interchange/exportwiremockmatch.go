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
		return r.ofBody(entry{"equals", v}, with("equalTo", textNode(v.text())))
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
	sent := v.member("exists").isTrue() || r.presence != maybeSent
	var list []*doc
	for _, e := range v.entries() {
		if r.saysNothing(v, e) {
			continue
		}
		p := r.operatorIn(v, e)
		if p == nil {
			return nil
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

// saysNothing tells whether an operator adds nothing to those beside it.
func (r *stubRequest) saysNothing(v value, e entry) bool {
	sentAnyway := r.presence != maybeSent || !v.has("not")
	return e.key == "ignoreCase" || e.key == "exists" && e.isTrue() && len(v.node.Members) > 1 && sentAnyway
}

// operatorIn writes one operator of an object, which may say that the case of letters does not count.
func (r *stubRequest) operatorIn(v value, e entry) *doc {
	p := r.operator(e)
	if p == nil {
		return nil
	}
	if v.member("ignoreCase").isTrue() {
		p = folded(p)
	}
	return r.ofBody(e, p)
}

// exportedPresence says whether what a pattern is about is always there, and what the other tool makes of it when it is empty.
type exportedPresence int

const (
	// maybeSent is for what has a name, and may be missing.
	maybeSent exportedPresence = iota
	// alwaysSent is for the body of a part.
	alwaysSent
	// nullIfEmpty is for the body of a request, of which WireMock takes an empty one as missing.
	nullIfEmpty
)

// ofBody lets a pattern for a body hold for an empty one where the operator does, as WireMock takes that as missing.
func (r *stubRequest) ofBody(e entry, p *doc) *doc {
	if r.presence != nullIfEmpty || !holdsForEmpty(e) {
		return p
	}
	if p.get("equalTo") != nil {
		return with("absent", trueNode())
	}
	return with("or", listNode(with("absent", trueNode()).node(), p.node()))
}

// holdsForEmpty tells whether an operator holds for the empty text.
func holdsForEmpty(e entry) bool {
	switch e.key {
	case "equals", "contains", "startsWith", "endsWith":
		return e.scalar() && e.text() == ""
	case "matches":
		return holdsOn(`\A(?:`+e.text()+`)\z`, "")
	case "search":
		return holdsOn(e.text(), "")
	case "exists":
		return e.isTrue()
	}
	return false
}

// holdsOn tells whether an expression finds something in a text.
func holdsOn(expression, text string) bool {
	compiled, err := regexp.Compile(expression)
	return err == nil && compiled.MatchString(text)
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
		switch {
		case e.isTrue():
			return anything()
		case r.presence != maybeSent:
			r.unmet(e.value, "a body is always there, so that this never holds")
			return nil
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
		if r.several {
			r.unmet(e.value, "conditions that different values of one name may meet have no equivalent beside others")
			return nil
		}
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
			return with("matches", textNode(`(?i)`+regexp.QuoteMeta(e.text())+`\s*(;.*)?`))
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
