package catalog

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mockbase/mockbase"
)

// put makes an item of a section of a project's source, or replaces it where it stands.
func (s section) put(p *mockbase.Project, name string, text json.RawMessage) error {
	return s.edit(p, func(parts []part) []part {
		given := part{name: name, node: rawNode(text), text: text}
		if at := slices.IndexFunc(parts, func(o part) bool { return o.name == name }); at >= 0 {
			parts[at] = given
			return parts
		}
		return append(parts, given)
	})
}

// drop deletes an item of a section of a project's source.
func (s section) drop(p *mockbase.Project, name string) error {
	return s.edit(p, func(parts []part) []part {
		return slices.DeleteFunc(parts, func(o part) bool { return o.name == name })
	})
}

// edit changes a section of a project's source.
func (s section) edit(p *mockbase.Project, change func([]part) []part) error {
	parts, err := s.parts(p.Config.Source[s.key])
	if err != nil {
		return err
	}
	if p.Config.Source == nil {
		p.Config.Source = map[string]json.RawMessage{}
	}
	if text := s.join(change(parts)); text != nil {
		p.Config.Source[s.key] = text
	} else {
		delete(p.Config.Source, s.key)
	}
	return nil
}

// rawNode is the tree of a text that was read before.
func rawNode(text json.RawMessage) *mockbase.Node {
	n, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return &mockbase.Node{}
	}
	return n
}

// mayChangeItem refuses to change an item of the configuration that belongs to files or a source (rule M-77).
func mayChangeItem(p *mockbase.Project, kind, owned, name string) error {
	if err := refuseReadOnly(p); err != nil {
		return err
	}
	owner := p.Owners[owned]
	if owner == "" {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeManagedBySource, Message: fmt.Sprintf("%s %q belongs to the source %q", kind, name, owner),
		Hint: "change it there and apply it",
	}
}
