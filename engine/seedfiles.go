package engine

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/mockbase/mockbase"
)

// seedFault is sample data that can't be had.
type seedFault struct {
	collection string
	code       mockbase.Code
	detail     string
}

// seeded returns collections with the sample data of those whose seedFile is read below the files root (rule O17), which
// happens when the definition is published, and what cannot be read.
func (s *settings) seeded(list []mockbase.Collection) ([]mockbase.Collection, []seedFault) {
	if !slices.ContainsFunc(list, func(c mockbase.Collection) bool { return c.SeedFile != "" }) {
		return list, nil
	}
	list = slices.Clone(list)
	var lost []seedFault
	for i := range list {
		c := &list[i]
		if c.SeedFile == "" {
			continue
		}
		text, failed := s.readFile(c.SeedFile)
		if failed != nil {
			lost = append(lost, seedFault{c.Name, mockbase.FieldReference, failed.detail})
			continue
		}
		filled, err := c.WithSeed(text, formatOf(c.SeedFile))
		if err != nil {
			lost = append(lost, seedFaults(c, err)...)
			continue
		}
		list[i] = filled
	}
	return list, lost
}

// maxSeedFaults is how many faults of one file are told.
const maxSeedFaults = 20

// seedFaults are those of the text of a file, each with its place in the file.
func seedFaults(c *mockbase.Collection, err error) []seedFault {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 {
		return []seedFault{{c.Name, mockbase.FieldSyntax, "the file " + quoted(c.SeedFile) + " cannot be used: " + err.Error()}}
	}
	shown := known.Fields[:min(len(known.Fields), maxSeedFaults)]
	list := make([]seedFault, 0, len(shown)+1)
	for i := range shown {
		list = append(list, seedFault{c.Name, shown[i].Code, "the file " + quoted(c.SeedFile) + " cannot be used: " + shown[i].Within("#/seed")})
	}
	if more := len(known.Fields) - len(shown); more > 0 {
		list = append(list, seedFault{c.Name, mockbase.FieldSyntax, fmt.Sprintf("the file %s has %d more faults", quoted(c.SeedFile), more)})
	}
	return list
}

// refuse makes faults of a definition of what cannot be read when it is saved.
func (f seedFault) refuse(faults *mockbase.Faults) {
	faults.Append(mockbase.FieldError{Pointer: "#/collections/" + mockbase.PointerToken(f.collection) + "/seedFile", Code: f.code, Detail: f.detail})
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
