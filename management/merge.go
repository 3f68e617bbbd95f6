package management

import (
	"errors"
	"slices"

	"github.com/mockbase/mockbase"
)

// merge applies a merge patch (RFC 7396) and keeps what JSON objects do not: the order of members, the text of numbers
// and the places of what the patch brought. Neither tree is changed.
func merge(target, patch *mockbase.Node) *mockbase.Node {
	if patch.Kind != mockbase.NodeObject {
		return patch
	}
	merged := &mockbase.Node{Kind: mockbase.NodeObject, Line: patch.Line, Column: patch.Column}
	if target != nil && target.Kind == mockbase.NodeObject {
		merged.Members = slices.Clone(target.Members)
	}
	for _, m := range patch.Members {
		at := slices.IndexFunc(merged.Members, func(old mockbase.Member) bool { return old.Key == m.Key })
		switch {
		case m.Value.Kind == mockbase.NodeNull && at >= 0:
			merged.Members = slices.Delete(merged.Members, at, at+1)
		case m.Value.Kind == mockbase.NodeNull:
		case at >= 0:
			m.Value = merge(merged.Members[at].Value, m.Value)
			merged.Members[at] = m
		default:
			m.Value = merge(nil, m.Value)
			merged.Members = append(merged.Members, m)
		}
	}
	return merged
}

// unplaced is n without places: they would be those of a text that the client never saw.
func unplaced(n *mockbase.Node) *mockbase.Node {
	bare := *n
	bare.Line, bare.Column = 0, 0
	bare.Items = slices.Clone(n.Items)
	for i, item := range bare.Items {
		bare.Items[i] = unplaced(item)
	}
	bare.Members = slices.Clone(n.Members)
	for i, m := range bare.Members {
		bare.Members[i] = mockbase.Member{Key: m.Key, Value: unplaced(m.Value)}
	}
	return &bare
}

// ownID reads an id that a client sends back with a change, and finds the fault that checkID finds.
func ownID(f *mockbase.Fields, id string) {
	if sent := f.Node("id"); sent != nil && sent.Text != id {
		f.Fault("id", mockbase.FieldConflict, "%s is not the id of what this address names, which is %s", shown(sent.Text), id)
	}
}

// stored reads JSON that we keep or made ourselves.
func stored(text []byte) (*mockbase.Node, error) {
	n, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeInternal, Message: "what is stored cannot be read", Err: err}
	}
	return unplaced(n), nil
}

// removed marks what a patch removes: each null of an object is a member that says so, at which merging would drop it. The
// pointers are those of the marks.
func removed(patch *mockbase.Node, pointer string) (marked *mockbase.Node, pointers []string) {
	if patch.Kind != mockbase.NodeObject {
		return patch, nil
	}
	place := mockbase.NewFields(patch, pointer, nil)
	all := *patch
	all.Members = slices.Clone(patch.Members)
	for i, m := range all.Members {
		at := place.Pointer(m.Key)
		if m.Value.Kind == mockbase.NodeNull {
			all.Members[i].Value = &mockbase.Node{Kind: mockbase.NodeText, Text: "removed", Line: m.Value.Line, Column: m.Value.Column}
			pointers = append(pointers, at)
			continue
		}
		var below []string
		all.Members[i].Value, below = removed(m.Value, at)
		pointers = append(pointers, below...)
	}
	return &all, pointers
}

// unknownNulls are the faults of members that a patch removes and that there is no such thing as: merging drops them
// without a word. Read judges a document that still has them; whatever else it finds there is no fault of the patch.
func unknownNulls(target, patch *mockbase.Node, read func(*mockbase.Node) error) []mockbase.FieldError {
	marked, pointers := removed(patch, "#")
	if len(pointers) == 0 {
		return nil
	}
	known, ok := errors.AsType[*mockbase.Error](unplacedFaults(read(merge(target, marked))))
	if !ok {
		return nil
	}
	return slices.DeleteFunc(known.Fields, func(f mockbase.FieldError) bool {
		return f.Code != mockbase.FieldUnknownKey || !slices.Contains(pointers, f.Pointer)
	})
}

// unplacedFaults is err without the places of its faults, as they are those of a text that the client never saw.
func unplacedFaults(err error) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		return err
	}
	bare := *known
	bare.Fields = slices.Clone(known.Fields)
	for i := range bare.Fields {
		bare.Fields[i].Line, bare.Fields[i].Column = 0, 0
	}
	return &bare
}
