package engine

import (
	"io"
	"path"

	"github.com/mockbase/mockbase"
)

// joinDocument reads a document below the files root, together with the files that it refers to.
func (e *Engine) joinDocument(name string) ([]byte, error) {
	text, err := e.readDocument(name)
	if err != nil || e.options.Join == nil {
		return text, err
	}
	return e.options.Join(path.Clean(name), text, e.readDocument)
}

// maxDocument is the longest document that is read from a file (rule M-9).
const maxDocument = 32 << 20

// readDocument reads a document below the files root (rule O17).
func (e *Engine) readDocument(name string) ([]byte, error) {
	if e.files == nil {
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "this server has no files root: its operator names one with --files-root"}
	}
	file, err := e.files.Open(name)
	if err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the file " + quoted(name) + " cannot be opened below the files root"}
	}
	defer func() { _ = file.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	switch {
	case err != nil:
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the file " + quoted(name) + " cannot be read"}
	case len(text) > maxDocument:
		return nil, &mockbase.Error{Code: mockbase.CodeValidationFailed, Message: "the file " + quoted(name) + " is longer than 32 MiB"}
	}
	return text, nil
}
