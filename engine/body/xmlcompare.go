package body

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// xmlMatcher compares a document with an expected one (rules J1 to J6). Equality is an equivalence under every option, so
// both are brought into one form: where order does not matter, siblings are sorted by their own, which is the same as
// pairing them.
type xmlMatcher struct {
	options  mockbase.XMLOptions
	expected *element
	form     string
}

func newXMLMatcher(expected *element, options mockbase.XMLOptions) *xmlMatcher {
	m := &xmlMatcher{options: options, expected: expected}
	m.form = m.formOf(expected)
	return m
}

// formOf writes an element so that elements that are equal have the same text.
func (m *xmlMatcher) formOf(e *element) string {
	var b strings.Builder
	b.WriteByte('<')
	writeName(&b, e.name)
	attributes := slices.SortedFunc(slices.Values(e.attributes), func(x, y xml.Attr) int {
		return cmp.Or(strings.Compare(x.Name.Space, y.Name.Space), strings.Compare(x.Name.Local, y.Name.Local),
			strings.Compare(x.Value, y.Value))
	})
	for _, a := range attributes {
		b.WriteByte(' ')
		writeName(&b, a.Name)
		b.WriteString(strconv.Quote(a.Value))
	}
	b.WriteByte('>')
	children := m.formsOf(e)
	if m.options.IgnoreOrder {
		slices.Sort(children)
	}
	for _, child := range children {
		b.WriteString(child)
	}
	b.WriteString("</>")
	return b.String()
}

func writeName(b *strings.Builder, name xml.Name) {
	b.WriteString(strconv.Quote(name.Space))
	b.WriteString(strconv.Quote(name.Local))
}

func (m *xmlMatcher) formsOf(e *element) []string {
	forms := make([]string, 0, len(e.children))
	for _, n := range e.children {
		if n.element != nil {
			forms = append(forms, m.formOf(n.element))
			continue
		}
		if text := m.textOf(n); text != "" {
			forms = append(forms, strconv.Quote(text))
		}
	}
	return forms
}

func (m *xmlMatcher) textOf(n xmlNode) string {
	if m.options.TrimText {
		return strings.Trim(n.text, xmlBlanks)
	}
	return n.text
}

// equal tells whether a document is the expected one. Names of the root that differ need no more work.
func (m *xmlMatcher) equal(actual *element) bool {
	return actual.name == m.expected.name && m.formOf(actual) == m.form
}

// difference is the first place where a document is not the expected one.
type difference struct{ at, expected, actual string }

// compare returns nil if the documents are equal.
func (m *xmlMatcher) compare(actual *element) *difference {
	if m.equal(actual) {
		return nil
	}
	return m.differing("", m.expected, actual)
}

// differing walks down to the difference that two elements have.
func (m *xmlMatcher) differing(at string, expected, actual *element) *difference {
	at += "/" + expected.name.Local
	if expected.name != actual.name {
		return &difference{at: at, expected: shownName(expected.name), actual: shownName(actual.name)}
	}
	if d := differingAttribute(at, expected, actual); d != nil {
		return d
	}
	want, got := m.contentOf(expected), m.contentOf(actual)
	if m.options.IgnoreOrder {
		return m.unpaired(at, want, got)
	}
	for i := range min(len(want), len(got)) {
		if want[i].element != nil && got[i].element != nil {
			if m.formOf(want[i].element) != m.formOf(got[i].element) {
				return m.differing(at, want[i].element, got[i].element)
			}
		} else if want[i].element != got[i].element || want[i].text != got[i].text {
			return &difference{at: at, expected: shownNode(want[i]), actual: shownNode(got[i])}
		}
	}
	d := &difference{at: at, expected: noMore, actual: noMore}
	if len(want) > len(got) {
		d.expected = shownNode(want[len(got)])
	} else if len(got) > len(want) {
		d.actual = shownNode(got[len(want)])
	}
	return d
}

// noMore stands for content that only the other side has.
const noMore = "no more content"

// contentOf returns the children as they compare.
func (m *xmlMatcher) contentOf(e *element) []xmlNode {
	var content []xmlNode
	for _, n := range e.children {
		if n.element == nil {
			if n.text = m.textOf(n); n.text == "" {
				continue
			}
		}
		content = append(content, n)
	}
	return content
}

// unpaired names what is left over on both sides when equal siblings are taken away.
func (m *xmlMatcher) unpaired(at string, want, got []xmlNode) *difference {
	left := map[string]int{}
	formOf := func(n xmlNode) string {
		if n.element == nil {
			return strconv.Quote(n.text)
		}
		return m.formOf(n.element)
	}
	for _, n := range got {
		left[formOf(n)]++
	}
	d := &difference{at: at, expected: noMore, actual: noMore}
	for _, n := range want {
		if form := formOf(n); left[form] > 0 {
			left[form]--
		} else if d.expected == noMore {
			d.expected = shownNode(n)
		}
	}
	for _, n := range got {
		if left[formOf(n)] > 0 {
			d.actual = shownNode(n)
			break
		}
	}
	return d
}

func differingAttribute(at string, expected, actual *element) *difference {
	for _, want := range expected.attributes {
		got, ok := actual.attribute(want.Name)
		if !ok {
			return &difference{at: at + "/@" + want.Name.Local, expected: want.Value, actual: "no such attribute"}
		}
		if got != want.Value {
			return &difference{at: at + "/@" + want.Name.Local, expected: want.Value, actual: got}
		}
	}
	for _, got := range actual.attributes {
		if _, ok := expected.attribute(got.Name); !ok {
			return &difference{at: at + "/@" + got.Name.Local, expected: "no such attribute", actual: got.Value}
		}
	}
	return nil
}

func (e *element) attribute(name xml.Name) (string, bool) {
	for _, a := range e.attributes {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

func shownName(name xml.Name) string {
	if name.Space == "" {
		return "<" + name.Local + ">"
	}
	return "<" + name.Local + "> of " + strconv.Quote(name.Space)
}

func shownNode(n xmlNode) string {
	if n.element != nil {
		return shownName(n.element.name)
	}
	return strconv.Quote(n.text)
}
