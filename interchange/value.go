package interchange

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// value is a value of the source and its place there.
type value struct {
	node    *mockbase.Node
	pointer string
	// file is the file of a source that has several.
	file string
}

// ok tells whether there is a value; null counts as none.
func (v value) ok() bool { return v.node != nil && v.node.Kind != mockbase.NodeNull }

func (v value) is(kind mockbase.NodeKind) bool { return v.node != nil && v.node.Kind == kind }

// member returns a member of an object, or nothing.
func (v value) member(name string) value {
	if !v.is(mockbase.NodeObject) {
		return value{}
	}
	return value{v.node.Find(name), v.pointer + "/" + escapePointer(name), v.file}
}

// at follows names through objects.
func (v value) at(names ...string) value {
	for _, name := range names {
		v = v.member(name)
	}
	return v
}

// step follows a name through an object, or a number through a list.
func (v value) step(name string) value {
	items := v.items()
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(items) {
		return items[i]
	}
	return v.member(name)
}

// has tells whether an object has a member that is not null.
func (v value) has(name string) bool { return v.member(name).ok() }

// items returns the items of a list, nil if it is none.
func (v value) items() []value {
	if !v.is(mockbase.NodeList) {
		return nil
	}
	items := make([]value, len(v.node.Items))
	for i, n := range v.node.Items {
		items[i] = value{n, v.pointer + "/" + strconv.Itoa(i), v.file}
	}
	return items
}

// entry is a member of an object with its place.
type entry struct {
	key string
	value
}

// entries returns the members of an object in their order, nil if it is none.
func (v value) entries() []entry {
	if !v.is(mockbase.NodeObject) {
		return nil
	}
	entries := make([]entry, len(v.node.Members))
	for i := range v.node.Members {
		m := &v.node.Members[i]
		entries[i] = entry{m.Key, value{m.Value, v.pointer + "/" + escapePointer(m.Key), v.file}}
	}
	return entries
}

// text returns the text of a scalar, "" for anything else.
func (v value) text() string {
	if v.node == nil {
		return ""
	}
	return v.node.Text
}

// scalar tells whether the value is a text, a number or a boolean.
func (v value) scalar() bool {
	return v.is(mockbase.NodeText) || v.is(mockbase.NodeNumber) || v.is(mockbase.NodeBool)
}

// isTrue tells whether the value is true, or the text "true" that some tools write.
func (v value) isTrue() bool {
	return (v.is(mockbase.NodeBool) || v.is(mockbase.NodeText)) && strings.EqualFold(v.node.Text, "true")
}

// integer returns the value as a whole number; a text that holds one counts.
func (v value) integer() (int64, bool) {
	if !v.is(mockbase.NodeNumber) && !v.is(mockbase.NodeText) {
		return 0, false
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(v.node.Text), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v.node.Text), 64)
	const exact = 1 << 53
	if err != nil || f != float64(int64(f)) || f > exact || f < -exact {
		return 0, false
	}
	return int64(f), true
}

// number returns the value as a number; a text that holds one counts.
func (v value) number() (float64, bool) {
	if !v.is(mockbase.NodeNumber) && !v.is(mockbase.NodeText) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v.node.Text), 64)
	return f, err == nil
}

func escapePointer(name string) string {
	if !strings.ContainsAny(name, "~/%#") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "#", "%23").Replace(name)
}

// object reads the members of an object by name and remembers which were read.
type object struct {
	value

	out  *output
	read map[string]bool
	// last tells that the conditions of a mock end with this object.
	last bool
}

// object reads a value as an object. Anything else is warned of, and reads as an object without members.
func (o *output) object(v value) *object {
	if v.ok() && !v.is(mockbase.NodeObject) {
		o.wrong(v, mockbase.FieldType, "must be an object, found %s", v.node.Kind)
		v.node = nil
	}
	return &object{value: v, out: o, read: map[string]bool{}}
}

// get returns a member, which counts as read. It is not ok when there is none or it is null.
func (o *object) get(name string) value {
	o.read[name] = true
	return o.member(name)
}

// textOf returns a member that is a text, number or boolean; anything else is warned of and reads as "".
func (o *object) textOf(name string) string {
	v := o.get(name)
	if v.ok() && !v.scalar() {
		o.out.wrong(v, mockbase.FieldType, "must be a text, found %s", v.node.Kind)
		return ""
	}
	return v.text()
}

// integerOf returns a member that is a whole number, with a warning when it is anything else.
func (o *object) integerOf(name string) (int64, bool) {
	v := o.get(name)
	if !v.ok() {
		return 0, false
	}
	n, ok := v.integer()
	if !ok {
		o.out.wrong(v, mockbase.FieldType, "must be a whole number")
	}
	return n, ok
}

// numberOf returns a member that is a number, with a warning when it is anything else.
func (o *object) numberOf(name string) (float64, bool) {
	v := o.get(name)
	if !v.ok() {
		return 0, false
	}
	n, ok := v.number()
	if !ok {
		o.out.wrong(v, mockbase.FieldType, "must be a number: it is left out")
	}
	return n, ok
}

// contradicts warns of members beside the one that counts, which say something else in its place.
func (o *object) contradicts(counts string, others ...string) {
	for _, name := range others {
		if v := o.get(name); name != counts && !v.silent() {
			o.out.wrong(v, codeNotTranslated, "it is left out, as %s says what counts", counts)
		}
	}
}

// onlyFirst warns of those of some members that stand beside the first that there is.
func (o *object) onlyFirst(names ...string) {
	for _, name := range names {
		if o.has(name) {
			o.contradicts(name, names...)
			return
		}
	}
}

// objectOf reads a member that is an object.
func (o *object) objectOf(name string) *object { return o.out.object(o.get(name)) }

// listOf returns the items of a member that is a list, with a warning when it is anything else.
func (o *object) listOf(name string) []value {
	v := o.get(name)
	if v.ok() && !v.is(mockbase.NodeList) {
		o.out.wrong(v, mockbase.FieldType, "must be a list, found %s", v.node.Kind)
	}
	return v.items()
}

// skip marks members as read that mean nothing for answers, such as ids and bookkeeping.
func (o *object) skip(names ...string) {
	for _, name := range names {
		o.read[name] = true
	}
}

// done warns of the members that nobody read. Those that are null, false or empty say nothing and are passed over.
func (o *object) done() {
	for _, e := range o.entries() {
		if !o.read[e.key] && !e.silent() {
			o.out.wrong(e.value, codeNotTranslated, "%s has no equivalent", strconv.Quote(e.key))
		}
	}
	if o.last {
		o.out.judged = nil
	}
}

// known warns of members of an object other than those that are read.
func (o *output) known(v value, names ...string) {
	if !v.is(mockbase.NodeObject) {
		return
	}
	d := o.object(v)
	d.skip(names...)
	d.done()
}

// silent tells whether a value says nothing.
func (v value) silent() bool {
	switch {
	case !v.ok(), v.is(mockbase.NodeBool) && v.node.Text == "false":
		return true
	case v.is(mockbase.NodeText):
		return v.node.Text == ""
	case v.is(mockbase.NodeObject):
		return len(v.node.Members) == 0
	case v.is(mockbase.NodeList):
		return len(v.node.Items) == 0
	}
	return false
}

// fieldsOf returns the faults that an error tells of.
func fieldsOf(err error) []mockbase.FieldError {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		if len(known.Fields) > 0 {
			return slices.Clone(known.Fields)
		}
		return []mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldSyntax, Detail: known.Message}}
	}
	return []mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldSyntax, Detail: fmt.Sprint(err)}}
}
