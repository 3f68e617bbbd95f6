package body

import (
	"bytes"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// facts is what a match wants a body to be, as far as it says so by values.
type facts struct {
	match    *mockbase.BodyMatch
	text     string
	isText   bool
	document *jsonvalue.Value
	executes executes
}

func newFacts(m *mockbase.BodyMatch) facts {
	f := facts{match: m, document: document(m)}
	f.text, f.isText = equalled(m.Text)
	if m.GraphQL != nil {
		f.executes = wantedOperation(m.GraphQL)
	}
	return f
}

// Apart tells that no body satisfies both matches, as far as that shows in values that differ: what it does not tell
// apart may exclude one another all the same.
func (m *Matcher) Apart(other *Matcher) bool {
	return m.facts.apart(&other.facts)
}

func (f *facts) apart(other *facts) bool {
	return bytesApart(f.match, other.match) || f.isText && other.isText && f.text != other.text || f.executes.apart(&other.executes) ||
		f.jsonApart(other)
}

// bytesApart tells that the bytes that two matches want differ.
func bytesApart(a, b *mockbase.BodyMatch) bool {
	return a.Empty != nil && b.Empty != nil && *a.Empty != *b.Empty ||
		a.HasBase64 && b.HasBase64 && !bytes.Equal(a.Base64, b.Base64) ||
		a.SHA256 != nil && b.SHA256 != nil && !bytes.Equal(a.SHA256, b.SHA256)
}

// equalled is the text that a match on one text wants it to equal.
func equalled(m mockbase.Match) (text string, stated bool) {
	for i := range m {
		if m[i].Equals == nil || m[i].IgnoreCase != nil {
			continue
		}
		if v, err := jsonvalue.Parse(m[i].Equals, jsonvalue.Limits{}); err == nil && v.Kind() == jsonvalue.String {
			return v.Text(), true
		}
	}
	return "", false
}

func (f *facts) jsonApart(other *facts) bool {
	if f.document == nil || other.document == nil || f.match.JSONOptions.NumbersAsStrings || other.match.JSONOptions.NumbersAsStrings {
		return false
	}
	return valuesApart(f.document, other.document)
}

// document is the document that is expected, nil if there is none.
func document(m *mockbase.BodyMatch) *jsonvalue.Value {
	text := m.JSON
	if text == nil {
		text = m.JSONExact
	}
	v, err := jsonvalue.Parse(text, jsonvalue.Limits{})
	if err != nil {
		return nil
	}
	return v
}

// valuesApart tells that no value is as both expect: they are scalars that differ, or have such members. Lists are not
// looked into.
func valuesApart(a, b *jsonvalue.Value) bool {
	switch {
	case standsForMore(a) || standsForMore(b):
		return false
	case a.Kind() != b.Kind():
		return true
	case a.Kind() == jsonvalue.Array:
		return false
	case a.Kind() != jsonvalue.Object:
		return !jsonvalue.Equal(a, b)
	}
	for name, value := range a.Members() {
		if other, shared := b.Member(name); shared && valuesApart(value, other) {
			return true
		}
	}
	return false
}

// standsForMore tells whether operators or a literal stand in a value's place (rule G16).
func standsForMore(v *jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.Object || v.Len() != 1 {
		return false
	}
	_, match := v.Member("$match")
	_, literal := v.Member("$literal")
	return match || literal
}

// executes is what is known of the operation that a match on GraphQL wants.
type executes struct {
	kind, name, text string
	isNamed          bool
}

func (e *executes) apart(other *executes) bool {
	return e.kind != "" && other.kind != "" && e.kind != other.kind ||
		e.isNamed && other.isNamed && e.name != other.name ||
		e.text != "" && other.text != "" && e.text != other.text
}

func wantedOperation(g *mockbase.GraphQLMatch) executes {
	wanted := executes{kind: g.Operation}
	wanted.name, wanted.isNamed = equalled(g.OperationName)
	if g.Query == nil {
		return wanted
	}
	document, err := parseGraphQL(*g.Query)
	if err != nil || len(document.operations) != 1 {
		return wanted
	}
	o := &operation{definition: document.operations[0], fragments: document.fragments}
	wanted.kind, wanted.text = string(o.definition.Operation), o.canonical()
	if !wanted.isNamed {
		wanted.name, wanted.isNamed = o.definition.Name, true
	}
	return wanted
}
