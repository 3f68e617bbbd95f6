package jsonvalue

import (
	"iter"
	"maps"
)

// Kind is the type of a value. The zero Kind is that of null.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the type's name in JSON Schema: null, boolean, number, string, array or object.
func (k Kind) String() string {
	names := [...]string{"null", "boolean", "number", "string", "array", "object"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Value is one JSON value. It is immutable and safe for concurrent use; the zero Value is null.
type Value struct {
	// name is set where the value is the member of an object.
	name string
	// text is that of a string or a number, true or false for a boolean.
	text string
	// box is nil for a scalar and an empty container.
	box  *box
	kind Kind
	// shadowed marks a member whose name is given again later (rule G11).
	shadowed bool
}

// box holds what is in an array or an object.
type box struct {
	items []Value
	// shadowed counts the items that are.
	shadowed int
	// repeats tells that a name is given twice here or below.
	repeats bool
}

// Kind returns the type of the value.
func (v *Value) Kind() Kind { return v.kind }

// Bool returns whether the value is true; false for any other kind.
func (v *Value) Bool() bool { return v.kind == Bool && v.text == "true" }

// Text returns the text of a string, the digits of a number as they were written, and "" for any other kind.
func (v *Value) Text() string {
	if v.kind == String || v.kind == Number {
		return v.text
	}
	return ""
}

// Len returns the number of items of an array or of members of an object with different names, 0 for a scalar.
func (v *Value) Len() int {
	if v.box == nil {
		return 0
	}
	return len(v.box.items) - v.box.shadowed
}

// Item returns the item of an array at an index, which must be at least 0 and less than [Value.Len].
func (v *Value) Item(i int) *Value { return &v.box.items[i] }

// Items returns the items of an array in their order; none for any other kind.
func (v *Value) Items() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		if v.kind != Array || v.box == nil {
			return
		}
		for i := range v.box.items {
			if !yield(i, &v.box.items[i]) {
				return
			}
		}
	}
}

// Member returns the member of an object; of a name given twice the last (rule G11). It reports false for a missing
// member and for any other kind of value.
func (v *Value) Member(name string) (*Value, bool) {
	if v.kind != Object || v.box == nil {
		return nil, false
	}
	for i := len(v.box.items) - 1; i >= 0; i-- {
		if v.box.items[i].name == name {
			return &v.box.items[i], true
		}
	}
	return nil, false
}

// Members returns the members of an object in the order of the document. Of a name given twice only the last is there.
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if v.kind != Object || v.box == nil {
			return
		}
		for i := range v.box.items {
			if item := &v.box.items[i]; !item.shadowed && !yield(item.name, item) {
				return
			}
		}
	}
}

// Duplicate returns the first name that an object in the value gives twice, "" if there is none (rule G11). The empty name
// is reported as two double quotes.
func (v *Value) Duplicate() string {
	if v.box == nil || !v.box.repeats {
		return ""
	}
	for i := range v.box.items {
		item := &v.box.items[i]
		if item.shadowed && item.name == "" {
			return `""`
		}
		if item.shadowed {
			return item.name
		}
		if name := item.Duplicate(); name != "" {
			return name
		}
	}
	return ""
}

// Equal tells whether two values are the same on the data model of JSON (rules G1 to G6).
func Equal(a, b *Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Number:
		return a.text == b.text || CompareNumbers(a.text, b.text) == 0
	case Array:
		return equalItems(a, b)
	case Object:
		return equalMembers(a, b)
	default:
		return a.text == b.text
	}
}

func equalItems(a, b *Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !Equal(a.Item(i), b.Item(i)) {
			return false
		}
	}
	return true
}

func equalMembers(a, b *Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	find := b.finder(a.Len())
	for name, value := range a.Members() {
		other, ok := find(name)
		if !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

// finder returns the quickest way to look up some members by their names.
func (v *Value) finder(lookups int) func(name string) (*Value, bool) {
	const few = 16
	if lookups <= few || v.Len() <= few {
		return v.Member
	}
	index := maps.Collect(v.Members())
	return func(name string) (*Value, bool) {
		value, ok := index[name]
		return value, ok
	}
}
