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

// stored reads JSON that we keep or made ourselves.
func stored(text []byte) (*mockbase.Node, error) {
	n, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeInternal, Message: "what is stored cannot be read", Err: err}
	}
	return unplaced(n), nil
}

// checkNulls reports members that a patch removes and that there is no such thing as: merging would drop them without a
// word.
func checkNulls(patch *mockbase.Node, known []string, faults *mockbase.Faults) {
	for _, m := range patch.Members {
		if m.Value.Kind == mockbase.NodeNull && !slices.Contains(known, m.Key) {
			faults.Append(mockbase.FieldError{
				Pointer: "#/" + m.Key, Code: mockbase.FieldUnknownKey, Detail: "unknown key " + shown(m.Key),
				Line: m.Line, Column: m.Column, Suggestion: mockbase.Suggest(m.Key, known),
			})
		}
	}
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
