package management

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/mockbase/mockbase"
)

//go:embed sample-rate-limits.yaml
var sampleRateLimits []byte

// samples are the definitions that a new project may begin with, by their names (M-131).
func samples() map[string][]byte {
	return map[string][]byte{"rate-limits": sampleRateLimits}
}

// readBeginning reads with what a project begins; nil is nothing.
func readBeginning(f *mockbase.Fields) *mockbase.Definition {
	var name string
	if !f.Text("sample", &name) {
		return nil
	}
	known := slices.Sorted(maps.Keys(samples()))
	if !slices.Contains(known, name) {
		f.Fault("sample", mockbase.FieldEnum, "there is no sample %s: write %s, or leave it out", shown(name), known[0])
		return nil
	}
	d, err := mockbase.DecodeDefinition(samples()[name], mockbase.FormatYAML)
	if err != nil {
		f.Fault("sample", mockbase.FieldEnum, "cannot be read: %s", err)
		return nil
	}
	return d
}
