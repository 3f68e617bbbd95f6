package engine

import (
	"path"
	"slices"

	"github.com/mockbase/mockbase"
)

// seeded returns collections with the sample data of those whose seedFile is read below the files root (rule O17), which
// happens when the definition is published. What cannot be read is a fault.
func (s *settings) seeded(list []mockbase.Collection, faults *mockbase.Faults) []mockbase.Collection {
	if !slices.ContainsFunc(list, func(c mockbase.Collection) bool { return c.SeedFile != "" }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		if c.SeedFile == "" {
			continue
		}
		at := "#/collections/" + mockbase.PointerToken(c.Name) + "/seedFile"
		text, failed := s.readFile(c.SeedFile)
		if failed != nil {
			faults.Append(mockbase.FieldError{Pointer: at, Code: mockbase.FieldReference, Detail: failed.detail})
			continue
		}
		filled, err := c.WithSeed(text, formatOf(c.SeedFile))
		if err != nil {
			faults.Append(mockbase.FieldError{Pointer: at, Code: mockbase.FieldSyntax, Detail: "the file " + quoted(c.SeedFile) + " cannot be used: " + err.Error()})
			continue
		}
		list[i] = filled
	}
	return list
}

// formatOf is the format of a file by its name: YAML, or else JSON.
func formatOf(name string) mockbase.Format {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return mockbase.FormatYAML
	default:
		return mockbase.FormatJSON
	}
}
