package mockbase

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// place is a value of a document on its way into the vocabulary: where it stands, and where its faults go.
type place struct {
	*Node
	pointer string
	faults  *Faults
}

func (at place) fault(code Code, format string, args ...any) {
	at.faults.Add(at.Node, at.pointer, code, format, args...)
}

func (at place) fields() *Fields { return NewFields(at.Node, at.pointer, at.faults) }

func (at place) item(i int) place {
	return place{at.Items[i], itemPointer(at.pointer, i), at.faults}
}

// items returns the entries of a list that may have low to high of them; anything else is a fault.
func (at place) items(low, high int) []place {
	if at.Kind != NodeList {
		at.fault(FieldType, "must be a list, found %s", at.describe())
		return nil
	}
	switch {
	case len(at.Items) < low:
		at.fault(FieldRange, "must have at least %d entry", low)
	case len(at.Items) > high:
		at.fault(FieldLimit, "has %d entries, at most %d are allowed", len(at.Items), high)
		return nil
	}
	list := make([]place, len(at.Items))
	for i := range at.Items {
		list[i] = at.item(i)
	}
	return list
}

// entry is one member of an object whose keys are names of the author's.
type entry struct {
	name string
	place
	// key is the place of the name.
	key place
}

// entries returns the members of an object; anything else is a fault.
func (at place) entries() []entry {
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be an object, found %s", at.describe())
		return nil
	}
	list := make([]entry, len(at.Members))
	for i := range at.Members {
		m := &at.Members[i]
		pointer := childPointer(at.pointer, m.Key)
		key := &Node{Kind: NodeText, Text: m.Key, Line: m.Line, Column: m.Column}
		list[i] = entry{m.Key, place{m.Value, pointer, at.faults}, place{key, pointer, at.faults}}
	}
	return list
}

// at returns a member's place.
func (f *Fields) at(name string) (place, bool) {
	n := f.Node(name)
	if n == nil {
		return place{}, false
	}
	return place{n, f.Pointer(name), f.faults}, true
}

// list returns the entries of a member; see place.items.
func (f *Fields) list(name string, low, high int) []place {
	if at, ok := f.at(name); ok {
		return at.items(low, high)
	}
	return nil
}

// entries returns the members of a member.
func (f *Fields) entries(name string) []entry {
	if at, ok := f.at(name); ok {
		return at.entries()
	}
	return nil
}

// oneOf reads a text out of a closed list.
func oneOf[T ~string](f *Fields, name string, to *T, values ...T) bool {
	var text string
	if !f.Text(name, &text) {
		return false
	}
	return enumerated(place{f.node.Find(name), f.Pointer(name), f.faults}, text, to, values...)
}

// enumerated checks that a text is in a closed list.
func enumerated[T ~string](at place, text string, to *T, values ...T) bool {
	if slices.Contains(values, T(text)) {
		*to = T(text)
		return true
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	fault := FieldError{
		Pointer: at.pointer, Code: FieldEnum, Line: at.Line, Column: at.Column,
		Suggestion: Suggest(text, names), Detail: "must be " + alternatives(names) + ", found " + quote(text),
	}
	at.faults.Append(fault)
	return false
}

// alternatives joins names as in "a, b or c".
func alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// optional reads a member into a pointer, nil when it is not there.
func optional[T any](f *Fields, read func(f *Fields, name string, to *T) bool, name string) *T {
	if !f.Has(name) {
		f.known = append(f.known, name)
		return nil
	}
	v := new(T)
	if !read(f, name, v) {
		return nil
	}
	return v
}

func (f *Fields) optionalInt(name string, low, high int) *int {
	return optional(f, func(f *Fields, name string, to *int) bool { return f.Int(name, to, low, high) }, name)
}

func (f *Fields) optionalInt64(name string, low, high int64) *int64 {
	return optional(f, func(f *Fields, name string, to *int64) bool { return f.Int64(name, to, low, high) }, name)
}

// float reads a number from 0 to high.
func (f *Fields) float(name string, to *float64, high float64) bool {
	var text json.Number
	if !f.Number(name, &text) {
		return false
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || value < 0 || value > high {
		bounds := "at least 0"
		if !math.IsInf(high, 1) {
			bounds = "from 0 to " + strconv.FormatFloat(high, 'g', -1, 64)
		}
		f.Fault(name, FieldRange, "must be %s, found %s", bounds, text)
		return false
	}
	*to = value
	return true
}

func (f *Fields) optionalFloat(name string, high float64) *float64 {
	return optional(f, func(f *Fields, name string, to *float64) bool { return f.float(name, to, high) }, name)
}

// negated reads a boolean whose default is true into one whose zero value is false.
func (f *Fields) negated(name string, to *bool) {
	var value bool
	if f.Bool(name, &value) {
		*to = !value
	}
}

// filled reads a text that must not be empty.
func (f *Fields) filled(name string, to *string) bool {
	if !f.Text(name, to) {
		return false
	}
	if *to == "" {
		f.Fault(name, FieldRange, "must not be empty")
		return false
	}
	return true
}

// short reads a text of a bounded number of characters.
func (f *Fields) short(name string, to *string, most int) bool {
	if !f.Text(name, to) {
		return false
	}
	if n := len([]rune(*to)); n > most {
		f.Fault(name, FieldLimit, "has %d characters, at most %d are allowed", n, most)
		return false
	}
	return true
}

// slug reads a name.
func (f *Fields) slug(name string, to *string) {
	if f.Text(name, to) {
		place{f.node.Find(name), f.Pointer(name), f.faults}.checkSlug(*to)
	}
}

// checkSlug notes a name that is no slug.
func (at place) checkSlug(name string) bool {
	if ValidSlug(name) {
		return true
	}
	fault := FieldError{
		Pointer: at.pointer, Code: FieldPattern, Line: at.Line, Column: at.Column, Suggestion: slugOf(name),
		Detail: quote(name) + " is no name: use 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end",
	}
	if fault.Suggestion != "" {
		fault.Detail += ", such as " + fault.Suggestion
	}
	at.faults.Append(fault)
	return false
}

// base64 reads bytes in base64; blanks and missing padding are no fault.
func (f *Fields) base64(name string, to *[]byte) bool {
	var text string
	if !f.Text(name, &text) {
		return false
	}
	decoded, ok := decodeBase64(text)
	if !ok {
		f.Fault(name, FieldPattern, "is no base64: use A to Z, a to z, 0 to 9, + and /, with = at the end")
		return false
	}
	*to = decoded
	return true
}

func decodeBase64(text string) (decoded []byte, ok bool) {
	body := strings.TrimRight(text, " \t\r\n\f\v")
	unpadded := strings.TrimRight(body, "=")
	if len(body)-len(unpadded) > 2 {
		return nil, false
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.Join(strings.Fields(unpadded), ""))
	return decoded, err == nil
}

// text returns a text of a place, which must be one.
func (at place) text() (string, bool) {
	if at.Kind != NodeText {
		at.fault(FieldType, "must be a text, found %s", at.describe())
		return "", false
	}
	return at.Text, true
}

// distinct reads a list of texts of which none comes twice.
func distinct(list []place, check func(at place, text string) bool) []string {
	texts := make([]string, 0, len(list))
	for _, at := range list {
		text, ok := at.text()
		if !ok || !check(at, text) {
			continue
		}
		if slices.Contains(texts, text) {
			at.fault(FieldUnique, "%s is there twice", quote(text))
			continue
		}
		texts = append(texts, text)
	}
	return texts
}
