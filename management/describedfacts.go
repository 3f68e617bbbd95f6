package management

import (
	"bytes"
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

func (f *documentFacts) of(d *mockbase.Document, sent []byte) *facts {
	key := factsKey{document: weak.Make(d), text: weak.Make(first(sent))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.known[key]; known != nil {
		return known
	}
	if f.known == nil || len(f.known) >= maxFacts {
		f.known = map[factsKey]*facts{}
	}
	f.known[key] = readFacts(d, sent)
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
func readFacts(d *mockbase.Document, sent []byte) *facts {
	found := &facts{warnings: []placedWarning{}}
	text := sent
	if text == nil {
		text = d.Inline
	}
	parsed, err := openapi.Parse(text)
	if err != nil {
		return found
	}
	found.title, found.version = parsed.Title(), parsed.Version()
	// Other warnings are those of the compiled document, too.
	warnings := slices.DeleteFunc(parsed.Warnings(), func(w mockbase.FieldError) bool {
		return w.Code != mockbase.FieldSyntax && w.Code != mockbase.FieldDuplicateKey
	})
	own := len(warnings)
	if sent == nil {
		own = 0
	}
	if compiled, err := openapi.Compile(d); err == nil {
		found.operations = compiled.Operations()
		warnings = append(warnings, compiled.Warnings()...)
	}
	for i := own; i < len(warnings); i++ {
		warnings[i].Line, warnings[i].Column = 0, 0 // those of what the definition holds
	}
	if sent != nil {
		warnings = openapi.Locate(sent, warnings)
	}
	for _, w := range warnings {
		found.warnings = append(found.warnings, placedWarning{Code: w.Code, Detail: w.Detail, Pointer: w.Pointer, Line: w.Line, Column: w.Column})
	}
	return found
}

// formatOf is the format that a text is written in. YAML may begin with a brace, too.
func formatOf(text []byte) mockbase.Format {
	if start := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"); len(start) > 0 && start[0] == '{' && json.Valid(start) {
		return mockbase.FormatJSON
	}
	return mockbase.FormatYAML
}
