package jsonvalue

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Member is a name and a value, for [NewObject].
type Member struct {
	Name  string
	Value *Value
}

// NewNull returns null.
func NewNull() *Value { return &Value{} }

// NewBool returns true or false.
func NewBool(b bool) *Value {
	return &Value{kind: Bool, text: strconv.FormatBool(b)}
}

// NewString returns a string.
func NewString(text string) *Value { return &Value{kind: String, text: text} }

// NewNumber returns a number as it is written. The error tells that the text is no JSON number.
func NewNumber(text string) (*Value, error) {
	if n := scanNumber(text); n == 0 || n != len(text) {
		return nil, fmt.Errorf("read number: %q is no JSON number", text)
	}
	return &Value{kind: Number, text: text}, nil
}

// NewInt returns a whole number.
func NewInt(n int64) *Value { return &Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// NewArray returns an array of values.
func NewArray(items ...*Value) *Value {
	v := &Value{kind: Array}
	if len(items) == 0 {
		return v
	}
	v.box = &box{items: make([]Value, len(items))}
	for i, item := range items {
		v.box.items[i] = item.as("")
	}
	v.box.inspect(false)
	return v
}

// NewObject returns an object with members in the order given; of a name given twice the last counts.
func NewObject(members ...Member) *Value {
	v := &Value{kind: Object}
	if len(members) == 0 {
		return v
	}
	v.box = &box{items: make([]Value, len(members))}
	for i, m := range members {
		v.box.items[i] = m.Value.as(m.Name)
	}
	v.box.inspect(true)
	return v
}

// as returns the value as the member of another object.
func (v *Value) as(name string) Value {
	return Value{name: name, text: v.text, box: v.box, kind: v.kind}
}

// Any returns the value in the form that other libraries take: map[string]any, []any, string, [json.Number], bool and nil.
func (v *Value) Any() any {
	switch v.kind {
	case Bool:
		return v.Bool()
	case Number:
		return json.Number(v.text)
	case String:
		return v.text
	case Array:
		list := make([]any, v.Len())
		for i, item := range v.Items() {
			list[i] = item.Any()
		}
		return list
	case Object:
		members := make(map[string]any, v.Len())
		for name, value := range v.Members() {
			members[name] = value.Any()
		}
		return members
	default:
		return nil
	}
}

// FromAny is the inverse of [Value.Any]. It takes Go's numbers and [json.RawMessage] too; members are in the order of
// their names. The error names a type that is none of JSON's.
func FromAny(x any) (*Value, error) {
	switch x := x.(type) {
	case nil:
		return NewNull(), nil
	case *Value:
		return x, nil
	case bool:
		return NewBool(x), nil
	case string:
		return NewString(x), nil
	case json.Number:
		return NewNumber(x.String())
	case json.RawMessage:
		return Parse(x, Limits{})
	case []any:
		return fromList(x)
	case map[string]any:
		return fromMap(x)
	default:
		return fromNumber(x)
	}
}

func fromNumber(x any) (*Value, error) {
	switch x := x.(type) {
	case int:
		return NewInt(int64(x)), nil
	case int64:
		return NewInt(x), nil
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, fmt.Errorf("read value: %v is no JSON number", x)
		}
		return NewNumber(strconv.FormatFloat(x, 'g', -1, 64))
	default:
		return nil, fmt.Errorf("read value: %T is no type of JSON", x)
	}
}

func fromList(list []any) (*Value, error) {
	items := make([]*Value, len(list))
	for i, x := range list {
		item, err := FromAny(x)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return NewArray(items...), nil
}

func fromMap(m map[string]any) (*Value, error) {
	members := make([]Member, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		value, err := FromAny(m[name])
		if err != nil {
			return nil, err
		}
		members = append(members, Member{Name: name, Value: value})
	}
	return NewObject(members...), nil
}
