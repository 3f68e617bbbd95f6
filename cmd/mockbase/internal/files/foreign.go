package files

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
)

// foreign names the tool that wrote a file which cannot be read as a definition; "" where nothing says so for sure.
func foreign(s *source) interchange.Format {
	format, err := interchange.Detect([]interchange.File{{Name: filepath.Base(s.path), Text: s.text}})
	if err != nil {
		return ""
	}
	sure := []interchange.Format{
		interchange.FormatPostman, interchange.FormatHAR, interchange.FormatMockoon, interchange.FormatHoverfly, interchange.FormatMockServer,
	}
	switch {
	case slices.Contains(sure, format):
		return format
	case format == interchange.FormatWireMock && (bytes.Contains(s.text, []byte(`"url`)) || bytes.Contains(s.text, []byte(`"mappings"`))):
		return format
	}
	return ""
}

// foreignFinding says what a file of another tool is, in place of all that a definition would not have.
func foreignFinding(s *source, tool interchange.Format) Finding {
	return Finding{
		Path: s.path, Line: 1, Column: 1, Code: mockbase.FieldSyntax,
		Message: "this is a file of " + string(tool) + " and no definition: mockbase import " + s.path + " --to mocks.yaml makes one of it",
	}
}
