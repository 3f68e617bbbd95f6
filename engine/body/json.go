package body

import (
	"encoding/json"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// json compiles json and jsonExact with their options (groups F and G).
func (k *compiler) json() {
	k.expected("json", k.match.JSON)
	k.expected("jsonExact", k.match.JSONExact)
}

// expected compiles one expected document.
func (k *compiler) expected(key string, document json.RawMessage) {
	if document == nil {
		return
	}
	value, err := jsonvalue.Parse(document, jsonvalue.Limits{})
	if err != nil {
		k.wrong(mockbase.FieldSyntax, "the document cannot be read: "+err.Error(), key)
		return
	}
	o := k.match.JSONOptions
	options := jsonvalue.Options{
		Exact:       key == "jsonExact",
		IgnoreOrder: o.IgnoreOrder, IgnoreExtraItems: o.IgnoreExtraItems, NumbersAsStrings: o.NumbersAsStrings, Strict: o.Strict,
	}
	pattern := jsonvalue.Compile(value, options, func(operators *jsonvalue.Value, path []string) jsonvalue.Test {
		return k.placed(operators, append([]string{key}, path...))
	})
	k.add(check{
		name: key,
		holds: func(m *Message) bool {
			actual, err := m.JSON()
			return err == nil && pattern.Matches(actual)
		},
		explain: func(m *Message) mockbase.MissedPart {
			actual, err := m.JSON()
			if err != nil {
				return mockbase.MissedPart{Operator: "equals", Expected: value.Preview(maxShown), Actual: err.Error()}
			}
			return missedDifference(key, pattern.Difference(actual))
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
