package mockbase

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Locate fills in the line and column of each fault whose pointer leads into the text, by reading the text again. It is
// for faults that were found in a decoded definition. Faults that have a place keep it, and when the text cannot be read
// nothing is filled in.
func Locate(src []byte, f Format, fields []FieldError) []FieldError {
	located := make([]FieldError, len(fields))
	copy(located, fields)
	if f == FormatJSON && locateJSON(src, located) {
		return located
	}
	root, err := parse(src, f, ParseLimits{}, &Faults{})
	if err != nil {
		return located
	}
	for i := range located {
		if located[i].Line == 0 {
			located[i] = locate(root, located[i])
			locateWithin(src, f, root, &located[i])
		}
	}
	return located
}

// LocateIn is [Locate] for a text that was read already.
func LocateIn(root *Node, fields []FieldError) []FieldError {
	located := slices.Clone(fields)
	for i := range located {
		if located[i].Line == 0 {
			located[i] = locate(root, located[i])
		}
	}
	return located
}

// locateWithin makes the place of a fault that of what is wrong inside the text, where that is known.
func locateWithin(src []byte, f Format, root *Node, fault *FieldError) {
	if fault.Inside == (TextPlace{}) {
		return
	}
	n := root
	for token := range strings.SplitSeq(strings.TrimPrefix(fault.Pointer, "#/"), "/") {
		if n = n.child(unPointerToken(token)); n == nil {
			return
		}
	}
	if line, column, ok := placeWithin(src, f, n, fault.Inside); ok {
		fault.Line, fault.Column = line, column
	}
}

// locate fills in the place of the value that the fault's pointer leads to, or of the innermost object or list on the
// way that is there.
func locate(root *Node, fault FieldError) FieldError {
	n := root
	fault.Line, fault.Column = n.Line, n.Column
	if fault.Pointer == "#" {
		return fault
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(fault.Pointer, "#"), "/"), "/") {
		next := n.child(unPointerToken(token))
		if next == nil {
			break
		}
		n = next
		if n.Line > 0 {
			fault.Line, fault.Column = n.Line, n.Column
		}
	}
	return fault
}

// child returns a member or an item, nil if there is none.
func (n *Node) child(token string) *Node {
	if n.Kind != NodeList {
		return n.Find(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// unescapeToken undoes what childPointer does to a name.
func unPointerToken(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
