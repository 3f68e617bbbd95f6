package interchange

import (
	"slices"

	"github.com/mockbase/mockbase"
)

// matches translates conditions by name.
func (w *wiremockStub) matches(o *object) *doc {
	d := &doc{}
	for _, e := range o.entries() {
		if e.has("anything") && len(e.node.Members) == 1 {
			continue // it holds whether or not there is a value
		}
		if n := w.match(e.value); n != nil {
			d.set(e.key, n)
		}
	}
	return d
}

// match translates a condition on a text that has a name, nil when it has no equivalent.
func (w *wiremockStub) match(v value) *mockbase.Node {
	if v.scalar() {
		return textNode(v.text())
	}
	return w.operators(v, present)
}

// presence says what a negation means for a value that was not sent.
type presence int

const (
	// present is for names: WireMock's negations fail when nothing was sent, ours hold.
	present presence = iota
	// anyway is for bodies, which are always there.
	anyway
)

// operators translates a condition on a text.
func (w *wiremockStub) operators(v value, p presence) *mockbase.Node {
	o := w.out.object(v)
	d := &doc{}
	ignoreCase := o.get("caseInsensitive").isTrue()
	before := len(w.mock.unmetOnes)
	for _, e := range o.entries() {
		w.operator(o, e, d, p)
	}
	o.skip("caseInsensitive")
	if len(w.mock.unmetOnes) > before {
		return nil
	}
	if d.empty() {
		w.mock.unmet(v, "the condition says nothing that is known here")
		return nil
	}
	if ignoreCase && (d.get("equals") != nil || d.get("contains") != nil) {
		d.set("ignoreCase", trueNode())
	}
	o.done()
	return d.node()
}

// operator translates one member of a condition.
func (w *wiremockStub) operator(o *object, e entry, d *doc, p presence) {
	o.skip(e.key)
	if slices.Contains([]string{"equalTo", "contains", "doesNotContain", "matches", "doesNotMatch"}, e.key) && !e.scalar() {
		w.mock.unmet(e.value, "the operand of %s must be a text", e.key)
		return
	}
	w.textOperator(o, e, d, p)
}

// textOperator translates one member of a condition, whose operand is a text where it has to be.
func (w *wiremockStub) textOperator(o *object, e entry, d *doc, p presence) {
	negated := func(inner *doc) {
		d.set("not", inner.node())
		if p == present {
			d.set("exists", trueNode())
		}
	}
	switch e.key {
	case "caseInsensitive":
	case "equalTo":
		d.set("equals", textNode(e.text()))
	case "contains":
		d.set("contains", textNode(e.text()))
	case "doesNotContain":
		negated(with("contains", textNode(e.text())))
	case "matches":
		if w.mock.expression(e.value, e.text()) {
			d.set("matches", textNode(e.text()))
		}
	case "doesNotMatch":
		if w.mock.expression(e.value, e.text()) {
			negated(with("matches", textNode(e.text())))
		}
	default:
		w.otherOperator(o, e, d, p)
	}
}

// otherOperator translates the conditions that are not about one text.
func (w *wiremockStub) otherOperator(o *object, e entry, d *doc, p presence) {
	switch e.key {
	case "absent":
		d.set("exists", boolNode(!e.isTrue()))
	case "and", "or", "includes", "hasExactly":
		w.several(e, d, p)
	case "not":
		if inner := w.operators(e.value, p); inner != nil {
			d.set("not", inner) // holds for what was not sent, as in WireMock
		}
	case "before", "after", "equalToDateTime":
		w.dateTime(o, e, d)
	default:
		w.mock.unmet(e.value, "the condition %s cannot be put on a text", quoted(e.key))
	}
}

// several translates the conditions that hold others.
func (w *wiremockStub) several(e entry, d *doc, p presence) {
	if texts := equalTexts(e.items()); len(texts) > 0 && p == present && (e.key == "includes" || e.key == "hasExactly") {
		d.list(map[string]string{"includes": "all", "hasExactly": "exactly"}[e.key], texts)
		return
	}
	var list []*mockbase.Node
	for _, item := range e.items() {
		if n := w.operators(item, p); n != nil {
			list = append(list, n)
		}
	}
	if e.key == "and" && together(d, list) {
		return
	}
	name := map[string]string{"and": "allOf", "or": "anyOf", "includes": "allOf", "hasExactly": "allOf"}[e.key]
	if len(list) == 0 {
		w.mock.unmet(e.value, "the condition %s is empty", quoted(e.key))
		return
	}
	d.list(name, list)
	if e.key == "hasExactly" {
		d.set("count", numberNode(int64(len(list))))
	}
}

// equalTexts are the texts that conditions ask for, if they ask for nothing else.
func equalTexts(items []value) []*mockbase.Node {
	var texts []*mockbase.Node
	for _, item := range items {
		if !item.member("equalTo").scalar() || len(item.entries()) != 1 {
			return nil
		}
		texts = append(texts, textNode(item.member("equalTo").text()))
	}
	return texts
}

// together puts conditions that one value has to meet into one object. It is not possible when two are of a kind.
func together(d *doc, list []*mockbase.Node) bool {
	all := &doc{members: slices.Clone(d.members)}
	for _, n := range list {
		for _, m := range n.Members {
			if m.Key == "matches" && all.get("matches") != nil && all.get("search") == nil {
				m = mockbase.Member{Key: "search", Value: textNode(`\A(?:` + m.Value.Text + `)\z`)}
			}
			if all.get(m.Key) != nil || m.Key == "ignoreCase" {
				return false
			}
			all.set(m.Key, m.Value)
		}
	}
	d.members = all.members
	return len(list) > 0
}

// dateTime translates conditions on points in time. Those that are relative to now have no equivalent.
func (w *wiremockStub) dateTime(o *object, e entry, d *doc) {
	text := e.text()
	for _, name := range []string{"actualFormat", "truncateExpected", "truncateActual", "expectedOffset", "expectedOffsetUnit", "applyTruncationLast"} {
		if o.has(name) {
			w.mock.unmet(o.member(name), "dates can only be compared as HTTP dates or RFC 3339, without %s", name)
			o.skip(name)
			return
		}
	}
	switch {
	case !isDateTime(text):
		w.mock.unmet(e.value, "the date %s is not fixed, or not written with its zone", quoted(text))
	case e.key == "equalToDateTime":
		either := listNode(with("before", textNode(text)).node(), with("after", textNode(text)).node())
		d.set("not", with("anyOf", either).node())
		d.set("exists", trueNode())
	default:
		d.set(e.key, textNode(text))
	}
}
