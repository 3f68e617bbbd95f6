package management

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"weak"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// maxFacts bounds the documents whose facts are kept.
const maxFacts = 64

// documentFacts is what a document's text says, which is read again only when the text or the options are others.
type documentFacts struct {
	mu    sync.Mutex
	known map[factsKey]*facts
}

// factsKey is a document as it was decoded: its entry in a snapshot that never changes.
type factsKey struct {
	document weak.Pointer[mockbase.Document]
	text     weak.Pointer[byte]
}

type facts struct {
	title, version string
	operations     int
	warnings       []placedWarning
}

func (f *documentFacts) of(d *mockbase.Document, note *mockbase.DocumentNote) *facts {
	key := factsKey{document: weak.Make(d), text: weak.Make(cmp.Or(first(note.Text), first(note.Files)))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.known[key]; known != nil {
		return known
	}
	if f.known == nil || len(f.known) >= maxFacts {
		f.known = map[factsKey]*facts{}
	}
	f.known[key] = readFacts(d, note)
	return f.known[key]
}

// first is the place of a text, nil for none.
func first(text []byte) *byte {
	if len(text) == 0 {
		return nil
	}
	return &text[0]
}

// readFacts reads a document. One whose text is elsewhere, or cannot be read, has none.
func readFacts(d *mockbase.Document, note *mockbase.DocumentNote) *facts {
	found := &facts{warnings: []placedWarning{}}
	parsed, err := sentDocument(d, note)
	if err != nil {
		return found
	}
	found.title, found.version = parsed.Title(), parsed.Version()
	var compiled []mockbase.FieldError
	if made, err := openapi.Compile(d); err == nil {
		found.operations, compiled = made.Operations(), made.Warnings()
	}
	list := placedFindings(parsed, note, compiled)
	for i := range list {
		found.warnings = append(found.warnings, placedWarningOf(&list[i]))
	}
	return found
}

// placedWarningOf is a fault as a view shows it.
func placedWarningOf(f *mockbase.FieldError) placedWarning {
	w := placedWarning{Code: f.Code, Detail: f.Detail, Pointer: f.Pointer, Line: f.Line, Column: f.Column}
	if f.Elsewhere != nil {
		w.File, w.Pointer = f.Elsewhere.File, f.Elsewhere.Pointer
	}
	return w
}

// sentDocument reads a document as it was sent or, where that is not known, as the definition holds it.
func sentDocument(d *mockbase.Document, note *mockbase.DocumentNote) (*openapi.Source, error) {
	switch {
	case note.Files != nil:
		return openapi.Rebundle(note.Files) //nolint:wrapcheck // whether there is one is asked
	case note.Text != nil:
		return openapi.Parse(note.Text) //nolint:wrapcheck // whether there is one is asked
	default:
		return openapi.Parse(d.Inline) //nolint:wrapcheck // whether there is one is asked
	}
}

// placedFindings are the warnings of what was sent and of what was compiled of it, with their places in what was sent.
func placedFindings(parsed *openapi.Source, note *mockbase.DocumentNote, compiled []mockbase.FieldError) []mockbase.FieldError {
	if note.Files != nil {
		return parsed.Findings(compiled)
	}
	// Other warnings are those of the compiled document, too.
	warnings := slices.DeleteFunc(parsed.Warnings(), func(w mockbase.FieldError) bool {
		return w.Code != mockbase.FieldSyntax && w.Code != mockbase.FieldDuplicateKey
	})
	own := len(warnings)
	if note.Text == nil {
		own = 0
	}
	warnings = append(warnings, compiled...)
	for i := own; i < len(warnings); i++ {
		warnings[i].Line, warnings[i].Column = 0, 0 // those of what the definition holds
	}
	if note.Text == nil {
		return warnings
	}
	return openapi.Locate(note.Text, warnings)
}

// formatOf is the format that a text is written in. YAML may begin with a brace, too.
func formatOf(text []byte) mockbase.Format {
	if start := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"); len(start) > 0 && start[0] == '{' && json.Valid(start) {
		return mockbase.FormatJSON
	}
	return mockbase.FormatYAML
}
