package body

import (
	"encoding/json"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// json compiles json and jsonExact with their options (groups F and G).
func (k *compiler) json() {
	k.document(jsonDocument{
		path: []string{"json"}, label: "json", document: k.match.JSON, options: k.match.JSONOptions, of: (*Message).JSON,
	})
	k.document(jsonDocument{
		path: []string{"jsonExact"}, label: "jsonExact", document: k.match.JSONExact, isExact: true, options: k.match.JSONOptions,
		of: (*Message).JSON,
	})
}

// jsonDocument is a document that is expected.
type jsonDocument struct {
	// path leads to it from the match; label is what an explanation calls it.
	path     []string
	label    string
	document json.RawMessage
	isExact  bool
	options  mockbase.JSONOptions
	// of is what is compared with it.
	of func(m *Message) (*jsonvalue.Value, error)
}

// document compiles an expected document, if there is one.
func (k *compiler) document(d jsonDocument) {
	if d.document == nil {
		return
	}
	value, err := jsonvalue.Parse(d.document, jsonvalue.Limits{})
	if err != nil {
		k.wrong(mockbase.FieldSyntax, "the document cannot be read: "+err.Error(), d.path...)
		return
	}
	options := jsonvalue.Options{
		Exact:       d.isExact,
		IgnoreOrder: d.options.IgnoreOrder, IgnoreExtraItems: d.options.IgnoreExtraItems,
		NumbersAsStrings: d.options.NumbersAsStrings, Strict: d.options.Strict,
	}
	pattern := jsonvalue.Compile(value, options, func(operators *jsonvalue.Value, path []string) jsonvalue.Test {
		return k.placed(operators, slices.Concat(d.path, path))
	})
	k.add(check{
		name: d.label, stated: value.Preview(maxShown),
		holds: func(m *Message) bool {
			actual, err := d.of(m)
			return err == nil && pattern.Matches(actual)
		},
		explain: func(m *Message) mockbase.MissedPart {
			actual, err := d.of(m)
			if err != nil {
				return mockbase.MissedPart{Operator: "equals", Expected: value.Preview(maxShown), Actual: err.Error()}
			}
			return missedDifference(d.label, pattern.Difference(actual))
		},
	})
}

// missedDifference names the place of a difference.
func missedDifference(key string, d *jsonvalue.Difference) mockbase.MissedPart {
	missed := mockbase.MissedPart{Name: key, Operator: d.Operator, Expected: d.Expected, Actual: d.Actual}
	if d.Path != "" {
		missed.Name += " " + cut(d.Path)
	}
	return missed
}

// placed compiles the operators in place of a value (rule G16).
func (k *compiler) placed(operators *jsonvalue.Value, path []string) jsonvalue.Test {
	at := k.below(path...)
	decoded := mockbase.DecodeOperators(operators.Append(nil), at, k.faults)
	return &placedTest{operator.Node(&decoded, at, k.faults)}
}

// placedTest tests the value in a place of a document.
type placedTest struct {
	clause operator.Clause[*jsonvalue.Value]
}

var _ jsonvalue.Test = (*placedTest)(nil)

// Holds tests a value; nil is a member that was not sent.
func (t *placedTest) Holds(v *jsonvalue.Value) bool { return t.clause.Holds(nodesOf(v)) }

// Failing names the operator that fails.
func (t *placedTest) Failing(v *jsonvalue.Value) (name, operand string) {
	return t.clause.Failing(nodesOf(v))
}

func nodesOf(v *jsonvalue.Value) *operator.Values[*jsonvalue.Value] {
	if v == nil {
		return &operator.Values[*jsonvalue.Value]{}
	}
	return &operator.Values[*jsonvalue.Value]{List: []*jsonvalue.Value{v}}
}
