package template

import "encoding/json"

// maxShared is the largest source that a library keeps, in bytes: few others have a twin.
const maxShared = 64 << 10

// Library compiles each source once, by its content (rule P16): mocks that say the same share a template. It forgets what
// it has when it is full. The zero Library is ready; it may be used by many goroutines at once.
type Library struct {
	texts, documents memory[*Template]
}

// Compile is [Compile] of a text that may be known.
func (l *Library) Compile(text string) (*Template, error) {
	if len(text) > maxShared {
		return Compile(text)
	}
	return l.texts.get(text, Compile)
}

// CompileJSON is [CompileJSON] of a document that may be known.
func (l *Library) CompileJSON(doc json.RawMessage) (*Template, error) {
	if len(doc) > maxShared {
		return CompileJSON(doc)
	}
	return l.documents.get(string(doc), func(text string) (*Template, error) { return CompileJSON(json.RawMessage(text)) })
}
