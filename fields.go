package mockbase

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fields reads the members of one object strictly. Each reading method names a member that may be there, fills in its
// value and tells whether it was there and right; a wrong value becomes a fault. [Fields.Done] reports the members that
// no method named.
//
//	f := mockbase.NewFields(node, "#", faults)
//	f.Text("email", &in.Email)
//	f.Required("email")
//	f.Done()
type Fields struct {
	node    *Node
	pointer string
	faults  *Faults
	// known are the names that were asked for.
	known  []string
	absent []absence
	// meant are the names that unknown ones are taken for.
	meant []string
	// broken tells that node is no object, which is fault enough; done that every name is known.
	broken, done bool
}

// absence is a member that is not there and should be.
type absence struct{ name, detail string }

// NewFields begins to read an object. Anything but an object is a fault, and reads as an empty object.
func NewFields(n *Node, pointer string, faults *Faults) *Fields {
	f := &Fields{node: n, pointer: pointer, faults: faults, known: faults.borrowNames()}
	if n == nil || n.Kind != NodeObject {
		f.broken = true
		found := "nothing"
		if n != nil {
			found = n.describe()
		}
		faults.Add(n, pointer, FieldType, "must be an object, found %s", found)
		f.node = &Node{Kind: NodeObject}
	}
	return f
}

// Pointer is the JSON Pointer of a member.
func (f *Fields) Pointer(name string) string { return childPointer(f.pointer, name) }

// Node returns a member's value as it is, nil if it is not there.
func (f *Fields) Node(name string) *Node {
	f.known = append(f.known, name)
	return f.node.Find(name)
}

// Has tells whether a member is there, without making it known.
func (f *Fields) Has(name string) bool { return f.node.Find(name) != nil }

// readable tells whether a member is of the right kind, or is not there under any name: nothing follows from what could
// not be read. It is asked after [Fields.Done].
func (f *Fields) readable(name string, kind NodeKind) bool {
	n := f.node.Find(name)
	return (n == nil || n.Kind == kind) && !slices.Contains(f.meant, name)
}

// Fault notes a fault of a member, at its value or, when it is not there, at the object.
func (f *Fields) Fault(name string, code Code, format string, args ...any) {
	at := f.node.Find(name)
	if at == nil {
		at = f.node
	}
	f.faults.Add(at, f.Pointer(name), code, format, args...)
}

// FaultHere notes a fault of the object itself.
func (f *Fields) FaultHere(code Code, format string, args ...any) {
	f.faults.Add(f.node, f.pointer, code, format, args...)
}

// of returns a member of one kind; another kind is a fault.
func (f *Fields) of(name string, kind NodeKind) *Node {
	n := f.Node(name)
	if n == nil || n.Kind == kind {
		return n
	}
	f.wrongKind(name, n, kind)
	return nil
}

func (f *Fields) wrongKind(name string, n *Node, want NodeKind) {
	hint := ""
	switch {
	case want == NodeText && (n.Kind == NodeNumber || n.Kind == NodeBool):
		hint = ": put it in quotes"
	case (want == NodeNumber || want == NodeBool) && n.Kind == NodeText:
		hint = ": write it without quotes"
		if want == NodeBool {
			hint = ": write true or false without quotes"
		}
	}
	f.faults.Add(n, f.Pointer(name), FieldType, "must be %s, found %s%s", want, n.describe(), hint)
}

// Text reads a text.
func (f *Fields) Text(name string, to *string) bool {
	n := f.of(name, NodeText)
	if n == nil {
		return false
	}
	*to = n.Text
	return true
}

// Line reads a text of one line that people are shown; one that cannot be is a fault (see [LineFault]).
func (f *Fields) Line(name string, to *string) bool { return f.shown(name, to, LineFault) }

// Prose reads a text of several lines that people are shown (see [ProseFault]).
func (f *Fields) Prose(name string, to *string) bool { return f.shown(name, to, ProseFault) }

func (f *Fields) shown(name string, to *string, fault func(string) string) bool {
	if !f.Text(name, to) {
		return false
	}
	reason := fault(*to)
	if reason != "" {
		f.Fault(name, FieldPattern, "%s: leave it out", reason)
	}
	return reason == ""
}

// Bool reads true or false.
func (f *Fields) Bool(name string, to *bool) bool {
	n := f.of(name, NodeBool)
	if n == nil {
		return false
	}
	*to = n.Text == "true"
	return true
}

// Int64 reads a whole number from low to high, both included. 2.0 is a whole number, as in JSON Schema.
func (f *Fields) Int64(name string, to *int64, low, high int64) bool {
	n := f.of(name, NodeNumber)
	if n == nil {
		return false
	}
	value, isWhole, fits := wholeNumber(n.Text)
	if !isWhole {
		f.Fault(name, FieldType, "must be a whole number, found %s", n.Text)
		return false
	}
	if !fits || value < low || value > high {
		f.Fault(name, FieldRange, "must be %s, found %s", between(low, high), n.Text)
		return false
	}
	*to = value
	return true
}

// Int is [Fields.Int64] for an int.
func (f *Fields) Int(name string, to *int, low, high int) bool {
	var value int64
	if !f.Int64(name, &value, int64(low), int64(high)) {
		return false
	}
	*to = int(value)
	return true
}

// Number reads a number in its own text.
func (f *Fields) Number(name string, to *json.Number) bool {
	n := f.of(name, NodeNumber)
	if n == nil {
		return false
	}
	*to = json.Number(n.Text)
	return true
}

// Duration reads a written duration, such as "250ms" (rule M-2).
func (f *Fields) Duration(name string, to *time.Duration) bool {
	n := f.Node(name)
	if n == nil {
		return false
	}
	if n.Kind != NodeText {
		hint := ""
		if n.Kind == NodeNumber {
			hint = ": add a unit, as in \"" + n.Text + "s\""
		}
		f.Fault(name, FieldType, "must be a duration, found %s%s", n.describe(), hint)
		return false
	}
	d, err := ParseDuration(n.Text)
	if err != nil {
		f.Fault(name, FieldPattern, "%s", err)
		return false
	}
	*to = d
	return true
}

// Texts reads a list of texts.
func (f *Fields) Texts(name string, to *[]string) bool {
	n := f.of(name, NodeList)
	if n == nil {
		return false
	}
	texts := make([]string, 0, len(n.Items))
	for i, item := range n.Items {
		if item.Kind != NodeText {
			f.faults.Add(item, itemPointer(f.Pointer(name), i), FieldType, "must be a text, found %s", item.describe())
			continue
		}
		texts = append(texts, item.Text)
	}
	*to = texts
	return len(texts) == len(n.Items)
}

// Raw reads any value as compact JSON.
func (f *Fields) Raw(name string, to *json.RawMessage) bool {
	n := f.Node(name)
	if n == nil {
		return false
	}
	*to = n.JSON()
	return true
}

// Object begins to read a member that is an object; nil if it is not there. A member of another kind is a fault.
func (f *Fields) Object(name string) *Fields {
	n := f.Node(name)
	if n == nil {
		return nil
	}
	return NewFields(n, f.Pointer(name), f.faults)
}

// Objects begins to read each object of a list.
func (f *Fields) Objects(name string) []*Fields {
	n := f.of(name, NodeList)
	if n == nil {
		return nil
	}
	list := make([]*Fields, 0, len(n.Items))
	for i, item := range n.Items {
		list = append(list, NewFields(item, itemPointer(f.Pointer(name), i), f.faults))
	}
	return list
}

// Required notes each of these members that is not there. [Fields.Done] reports them.
func (f *Fields) Required(names ...string) {
	for _, name := range names {
		if !f.Has(name) {
			f.missing(name, "is missing")
		}
	}
}

// missing notes that a member is not there. Only when every name is known can it be told from one that is misspelt.
func (f *Fields) missing(name, format string, args ...any) {
	f.absent = append(f.absent, absence{name, fmt.Sprintf(format, args...)})
	if f.done {
		f.reportAbsent()
	}
}

// reportAbsent reports the missing members but those that are there under a misspelt name, which is fault enough.
func (f *Fields) reportAbsent() {
	for _, a := range f.absent {
		if !f.broken && !slices.Contains(f.meant, a.name) {
			f.faults.Add(f.node, f.Pointer(a.name), FieldRequired, "%s", a.detail)
		}
	}
	f.absent = nil
}

// ReadOnly accepts members that the server sets, and ignores them (rule M-8).
func (f *Fields) ReadOnly(names ...string) {
	for _, name := range names {
		f.Node(name)
	}
}

// Done reports the members that are missing, and those that nothing has named, each with the name that its author most
// likely meant. It comes last.
func (f *Fields) Done() {
	for i := range f.node.Members {
		if m := &f.node.Members[i]; !slices.Contains(f.known, m.Key) {
			f.unknown(m)
		}
	}
	f.done = true
	f.faults.returnNames(f.known)
	f.known = nil
	f.reportAbsent()
}

func (f *Fields) unknown(m *Member) {
	fault := FieldError{Pointer: f.Pointer(m.Key), Code: FieldUnknownKey, Line: m.Line, Column: m.Column}
	fault.Suggestion = Suggest(m.Key, f.known)
	fault.Detail = "unknown key, did you mean " + quote(fault.Suggestion) + "?"
	if fault.Suggestion == "" {
		fault.Detail = "unknown key: known here are " + strings.Join(f.names(), ", ")
	}
	f.meant = append(f.meant, fault.Suggestion)
	f.faults.Append(fault)
}

// names are the known names, each once.
func (f *Fields) names() []string {
	names := make([]string, 0, len(f.known))
	for _, name := range f.known {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
