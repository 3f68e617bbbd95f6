package mockbase_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// definitionFiles lists the files of a folder below testdata/definitions.
func definitionFiles(tb testing.TB, folder string) []string {
	tb.Helper()
	var files []string
	for _, pattern := range []string{"*.yaml", "*.json"} {
		found, err := filepath.Glob(filepath.Join("testdata/definitions", folder, pattern))
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		tb.Fatalf("no files in %s", folder)
	}
	return files
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func formatOf(name string) mockbase.Format {
	return mockbase.Format(strings.TrimPrefix(filepath.Ext(name), "."))
}

// faultLines writes faults as the golden files have them.
func faultLines(fields []mockbase.FieldError) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		fmt.Fprintf(&b, "%d:%d: %s: %s [%s]\n", f.Line, f.Column, f.Pointer, f.Detail, f.Code)
	}
	return b.Bytes()
}

func TestM5_every_fault_of_a_wrong_document_is_reported_with_its_place(t *testing.T) {
	t.Parallel()
	for _, file := range definitionFiles(t, "invalid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			_, err := mockbase.DecodeDefinition(readFile(t, file), formatOf(file))
			e, ok := errors.AsType[*mockbase.Error](err)
			if !ok {
				t.Fatalf("the document decodes, error %v", err)
			}
			got := append([]byte(string(e.Code)+"\n"), faultLines(e.Fields)...)
			testkit.Golden(t, file+".golden", got)
		})
	}
}
