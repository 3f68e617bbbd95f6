package interchange_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// FuzzExport holds every export to its contract: no panic, no error but one with a code, a text in its notation, and MockBase
// reads back what it wrote.
func FuzzExport(f *testing.F) {
	text, err := os.ReadFile("testdata/export/shop.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	for _, d := range examples(f) {
		written, err := mockbase.EncodeDefinition(&mockbase.Project{Name: "a", Slug: "a", Config: d.Config}, d.Mocks, mockbase.FormatJSON)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(written))
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := decoded(text)
		if len(text) > 64<<10 || d == nil {
			return
		}
		s := snapshotOf(t, d)
		for _, format := range interchange.ExportFormats() {
			o := interchange.ExportOptions{Format: format, As: mockbase.FormatJSON, BaseURL: "http://127.0.0.1:8080/m/a"}
			made, err := interchange.Export(t.Context(), s, o)
			if err != nil {
				if _, known := errors.AsType[*mockbase.Error](err); !known {
					t.Fatalf("%s: an error without a code: %v", format, err)
				}
				continue
			}
			if !json.Valid(made.Text) {
				t.Fatalf("%s: no JSON:\n%s", format, made.Text)
			}
			if _, err := mockbase.DecodeDefinition(made.Text, mockbase.FormatJSON); format == interchange.FormatMockBase && err != nil {
				t.Fatalf("the definition is none: %v\n%s", err, made.Text)
			}
		}
	})
}
