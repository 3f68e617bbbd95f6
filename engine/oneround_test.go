package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// definitions are all definitions of the examples and of the cases.
func definitions(t *testing.T) map[string]*mockbase.Node {
	t.Helper()
	roots := map[string]*mockbase.Node{}
	add := func(name string, text []byte) {
		if root, err := mockbase.ParseNode(text, mockbase.FormatYAML, mockbase.ParseLimits{}); err == nil {
			roots[name] = root
		}
	}
	examples, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range examples {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add(file, text)
	}
	cases, err := filepath.Glob("testdata/exchange/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "definition" {
				add(file, f.Data)
				break
			}
		}
	}
	return roots
}

// allFaults are those of reading a definition and those of what could be read of it.
func allFaults(e *engine.Engine, text []byte) []mockbase.FieldError {
	d, err := mockbase.DecodeDefinition(text, mockbase.FormatJSON)
	if d == nil {
		return nil
	}
	more := e.CheckConfig(&d.Config)
	for i, m := range d.Mocks {
		for _, f := range e.CheckMock(&d.Config, m) {
			f.Pointer = fmt.Sprintf("#/mocks/%d%s", i, strings.TrimPrefix(f.Pointer, "#"))
			more = append(more, f)
		}
	}
	if err == nil {
		return more
	}
	known, ok := errors.AsType[*mockbase.Error](mockbase.MoreFaults(err, more))
	if !ok {
		return nil
	}
	return known.Fields
}

// spoil calls visit for each value of a tree below the root, while it is of a wrong kind.
func spoil(n *mockbase.Node, pointer string, visit func(pointer string)) {
	for i, item := range n.Items {
		spoilOne(&n.Items[i], item, fmt.Sprintf("%s/%d", pointer, i), visit)
	}
	for i, m := range n.Members {
		spoilOne(&n.Members[i].Value, m.Value, pointer+"/"+mockbase.PointerToken(m.Key), visit)
	}
}

func spoilOne(at **mockbase.Node, value *mockbase.Node, pointer string, visit func(string)) {
	for _, wrong := range []*mockbase.Node{
		{Kind: mockbase.NodeBool, Text: "true"},
		{Kind: mockbase.NodeNumber, Text: "-7.5"},
		{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: "neverHeardOf", Value: &mockbase.Node{Kind: mockbase.NodeNull}}}},
		{Kind: mockbase.NodeList, Items: []*mockbase.Node{{Kind: mockbase.NodeList}}},
	} {
		// An object without its members is another object, and false that cannot be read may have been true.
		if wrong.Kind != value.Kind && value.Text != "false" {
			*at = wrong
			visit(pointer)
		}
	}
	*at = value
	spoil(value, pointer, visit)
}

func TestM5_what_cannot_be_read_leads_to_no_fault_elsewhere(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	for name, root := range definitions(t) {
		before := allFaults(e, root.JSON())
		spoil(root, "#", func(pointer string) {
			for _, f := range allFaults(e, root.JSON()) {
				known := slices.ContainsFunc(before, func(b mockbase.FieldError) bool { return b.Pointer == f.Pointer && b.Detail == f.Detail })
				if !known && !mockbase.Unread([]mockbase.FieldError{{Pointer: pointer}}, f.Pointer) {
					t.Errorf("%s: %s is wrong, and %s: %s [%s]", name, pointer, f.Pointer, f.Detail, f.Code)
				}
			}
		})
	}
}
