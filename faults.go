package mockbase

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostFaults bounds what one document may make the server remember; only the first [MaxFieldErrors] are reported.
const mostFaults = 10 * MaxFieldErrors

// Faults collects the faults of one document. The zero value is ready to use.
type Faults struct {
	list []FieldError
	// spare holds lists of names for the next objects that are read: a document has thousands.
	spare [][]string
}

// borrowNames returns an empty list of names.
func (f *Faults) borrowNames() []string {
	if f == nil || len(f.spare) == 0 {
		// The largest objects have fewer members.
		return make([]string, 0, 32)
	}
	names := f.spare[len(f.spare)-1]
	f.spare = f.spare[:len(f.spare)-1]
	return names[:0]
}

// returnNames takes back a list that its borrower no longer reads.
func (f *Faults) returnNames(names []string) {
	f.spare = append(f.spare, names)
}

// Add notes a fault at the place of n, which may be nil when there is none.
func (f *Faults) Add(n *Node, pointer string, code Code, format string, args ...any) {
	fault := FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)}
	if n != nil {
		fault.Line, fault.Column = n.Line, n.Column
	}
	f.Append(fault)
}

// Append notes a fault as it is.
func (f *Faults) Append(fault FieldError) {
	if len(f.list) < mostFaults {
		f.list = append(f.list, fault)
	}
}

// Len is the number of faults so far.
func (f *Faults) Len() int { return len(f.list) }

// Fields returns the faults in the order of the text, at most [MaxFieldErrors] (rule M-5).
func (f *Faults) Fields() []FieldError {
	sorted := InOrder(slices.Clone(f.list))
	return sorted[:min(len(sorted), MaxFieldErrors)]
}

// InOrder sorts faults by their places in the text, and returns them.
func InOrder(fields []FieldError) []FieldError {
	slices.SortStableFunc(fields, func(a, b FieldError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return fields
}

// Err returns the [*Error] of CodeValidationFailed with all faults, nil if there are none.
func (f *Faults) Err() error {
	return Invalid(f.Fields())
}

// MoreFaults is the refusal of a text with the faults that were found later, in what could be read of it: so that its
// author learns of all at once. refused is returned as it is unless it is an [*Error] with faults. What is at, below or
// above a place that could not be read is left out, as it may follow from that.
func MoreFaults(refused error, more []FieldError) error {
	known, ok := errors.AsType[*Error](refused)
	if !ok || len(known.Fields) == 0 {
		return refused
	}
	all := Faults{list: slices.Clone(known.Fields)}
	for _, fault := range more {
		if !Unread(known.Fields, fault.Pointer) {
			all.Append(fault)
		}
	}
	joined := *known
	joined.Fields = all.Fields()
	joined.Message = describeFields(joined.Fields)
	return &joined
}

// Retold is the refusal of a text with a message that tells the faults by the pointers they have now.
func (e *Error) Retold() *Error {
	told := *e
	if e.Code == CodeValidationFailed && len(e.Fields) > 0 {
		told.Message = describeFields(e.Fields)
	}
	return &told
}

// Unread tells whether one of these faults is at, below or above a pointer, so that what is found there may follow from
// it.
func Unread(faults []FieldError, pointer string) bool {
	return slices.ContainsFunc(faults, func(f FieldError) bool {
		return leadsTo(f.Pointer, pointer) || leadsTo(pointer, f.Pointer)
	})
}

// leadsTo tells whether a pointer is that of a place, or of what holds it.
func leadsTo(pointer, place string) bool {
	rest, ok := strings.CutPrefix(place, pointer)
	return ok && (rest == "" || rest[0] == '/')
}
