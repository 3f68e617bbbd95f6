package body

import (
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// xml compiles the document that the body must equal (rules J1 to J6).
func (k *compiler) xml() {
	if k.match.XML == nil {
		return
	}
	expected, err := parseXML([]byte(*k.match.XML))
	if err != nil {
		k.wrong(mockbase.FieldSyntax, err.Error(), "xml")
		return
	}
	matcher := newXMLMatcher(expected, k.match.XMLOptions)
	k.add(check{
		name: "xml", stated: cut(*k.match.XML),
		holds: func(m *Message) bool {
			document, err := m.xmlTree()
			return err == nil && matcher.equal(document)
		},
		explain: func(m *Message) mockbase.MissedPart {
			document, err := m.xmlTree()
			if err != nil {
				return mockbase.MissedPart{Operator: "equals", Expected: cut(*k.match.XML), Actual: err.Error()}
			}
			d := matcher.compare(document)
			if d == nil {
				return mockbase.MissedPart{}
			}
			return mockbase.MissedPart{Name: "xml " + cut(d.at), Operator: "equals", Expected: cut(d.expected), Actual: cut(d.actual)}
		},
	})
}

// xpath compiles expressions with what they must give (rule J8).
func (k *compiler) xpath() {
	for _, n := range k.match.XPath {
		expression, err := CompileXPath(n.Name, k.match.Namespaces)
		if err != nil {
			k.wrong(mockbase.FieldSyntax, err.Error(), "xpath", n.Name)
			continue
		}
		t := &xpathTest{expression: expression, match: operator.BodyTexts(n.Match, k.below("xpath", n.Name), k.faults)}
		for i := range t.match {
			t.existence = append(t.existence, n.Match[i].Exists != nil)
		}
		k.add(check{name: "xpath " + n.Name, stated: cut(t.match.String()), holds: t.holds, explain: t.explain})
	}
}

// xpathTest compares what an expression gives. Where existence is asked for, a number counts that is not 0, and a text
// that is not empty.
type xpathTest struct {
	expression *XPath
	match      operator.Match[string]
	existence  []bool
}

func (t *xpathTest) holds(m *Message) bool {
	result, err := m.XPath(t.expression)
	return err == nil && t.failing(&result) < 0
}

// failing returns the place of the first clause that does not hold, -1 if all do.
func (t *xpathTest) failing(result *XPathResult) int {
	for i := range t.match {
		if !t.match[i].Holds(t.texts(result, i)) {
			return i
		}
	}
	return -1
}

// texts returns the values that a clause is about.
func (t *xpathTest) texts(result *XPathResult, clause int) *texts {
	if t.existence[clause] && !result.Holds {
		return &texts{}
	}
	return &texts{List: result.Values}
}

func (t *xpathTest) explain(m *Message) mockbase.MissedPart {
	result, err := m.XPath(t.expression)
	at := max(t.failing(&result), 0)
	if err != nil {
		return missedTexts(t.match, &texts{}, err)
	}
	return missedTexts(slices.Clip(t.match[at:at+1]), t.texts(&result, at), nil)
}

// ReadsParts tells whether a condition is about the fields of a form or the parts of a multipart body, also inside of
// one.
func (m *Matcher) ReadsParts() bool { return m.parts }
