package operator

import (
	"encoding/json"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// textDomain is that of texts, whose patterns have some flags.
func textDomain(flags string) domain[string] {
	return domain[string]{
		onText: func(holds func(string) bool) func(string) bool { return holds },
		onNumber: func(holds func(*jsonvalue.Decimal) bool) func(string) bool {
			return func(value string) bool {
				n, ok := jsonvalue.ParseDecimal(value)
				return ok && holds(&n)
			}
		},
		equals: equalText,
		ofType: func(string) func(string) bool { return nil },
		flags:  flags,
	}
}

// equalText compares with the text that a scalar operand stands for.
func equalText(k *compiler[string], operator string, operand json.RawMessage) (holds func(string) bool, shown string) {
	text := operandText(k, operator, operand)
	if n, ok := jsonvalue.ParseDecimal(text); ok && k.numbers {
		return k.onNumber(func(got *jsonvalue.Decimal) bool { return got.Compare(&n) == 0 }), text
	}
	if k.folding {
		want := Fold(text)
		return func(value string) bool { return Fold(value) == want }, text
	}
	return func(value string) bool { return value == text }, text
}

// operandText is the text of a string, and the spelling of any other scalar.
func operandText(k *compiler[string], operator string, operand json.RawMessage) string {
	if len(operand) == 0 || operand[0] == '{' || operand[0] == '[' {
		k.wrong(operator, mockbase.FieldType, operator+" compares text here; write a text, a number or a boolean")
		return ""
	}
	if operand[0] != '"' {
		return string(operand)
	}
	v, err := jsonvalue.Parse(operand, jsonvalue.Limits{})
	if err != nil {
		k.wrong(operator, mockbase.FieldType, "the text cannot be read: "+err.Error())
		return ""
	}
	return v.Text()
}

// nodeDomain is that of JSON nodes. They come from a body, so that the dot of a pattern matches a newline (rule K3).
func nodeDomain() domain[*jsonvalue.Value] {
	return domain[*jsonvalue.Value]{
		onText: func(holds func(string) bool) func(*jsonvalue.Value) bool {
			return func(v *jsonvalue.Value) bool { return v.Kind() == jsonvalue.String && holds(v.Text()) }
		},
		onNumber: func(holds func(*jsonvalue.Decimal) bool) func(*jsonvalue.Value) bool {
			return func(v *jsonvalue.Value) bool {
				n, ok := jsonvalue.ParseDecimal(v.Text())
				return ok && v.Kind() == jsonvalue.Number && holds(&n)
			}
		},
		equals: equalNode,
		ofType: typeOfNode,
		flags:  dotAll,
	}
}

// equalNode compares with a JSON operand.
func equalNode(k *compiler[*jsonvalue.Value], operator string, operand json.RawMessage) (holds func(*jsonvalue.Value) bool, shown string) {
	want, err := jsonvalue.Parse(operand, jsonvalue.Limits{})
	if err != nil {
		k.wrong(operator, mockbase.FieldType, "the value cannot be read: "+err.Error())
		return func(*jsonvalue.Value) bool { return false }, ""
	}
	shown = want.Preview(maxShown)
	if want.Kind() == jsonvalue.String && k.folding {
		folded := Fold(want.Text())
		return k.onText(func(value string) bool { return Fold(value) == folded }), shown
	}
	return func(v *jsonvalue.Value) bool { return jsonvalue.Equal(want, v) }, shown
}

// maxShown bounds an operand that is shown.
const maxShown = 200

// typeOfNode tests the type by its name in JSON Schema: a number without a fraction is an integer (rule H6).
func typeOfNode(name string) func(*jsonvalue.Value) bool {
	if name != "integer" {
		return func(v *jsonvalue.Value) bool { return v.Kind().String() == name }
	}
	return func(v *jsonvalue.Value) bool {
		n, ok := jsonvalue.ParseDecimal(v.Text())
		return ok && v.Kind() == jsonvalue.Number && n.Integer()
	}
}
