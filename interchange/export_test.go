package interchange_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mockbase/mockbase"
)

// examples are the definitions of the repository, by their file.
func examples(tb testing.TB) map[string]*mockbase.Definition {
	tb.Helper()
	files, err := filepath.Glob("../examples/features/*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no examples: %v", err)
	}
	all := map[string]*mockbase.Definition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if all[file], err = mockbase.DecodeDefinition(text, mockbase.FormatYAML); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
	}
	return all
}
