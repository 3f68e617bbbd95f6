package engine

import (
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Join reads an OpenAPI document together with the files that it refers to, which open gives.
type Join func(name string, text []byte, open func(name string) ([]byte, error)) (*Joined, error)

// Joined is an OpenAPI document of several files as one.
type Joined struct {
	Text []byte
	// Warnings tell what was repaired, or could not be read, with pointers into Text.
	Warnings []mockbase.FieldError
	// Place finds out where in its own file a fault of Text is.
	Place func(f mockbase.FieldError) mockbase.FilePlace
}

// joinDocument reads a document below the files root, together with the files that it refers to.
func (e *Engine) joinDocument(name string) (*Joined, error) {
	text, err := e.readDocument(name)
	if err != nil {
		return nil, err
	}
	name = path.Clean(name)
	if e.options.Join != nil {
		return e.options.Join(name, text, e.readDocument)
	}
	place := func(f mockbase.FieldError) mockbase.FilePlace {
		return mockbase.FilePlace{File: name, Pointer: f.Pointer, Line: f.Line, Column: f.Column}
	}
	return &Joined{Text: text, Place: place}, nil
}

// fileFault tells of a fault in a file where it is, beside the name of the file in the definition.
func fileFault(at string, code mockbase.Code, place mockbase.FilePlace, detail string) mockbase.FieldError {
	where := place.File
	if place.Line > 0 {
		where += ":" + strconv.Itoa(place.Line) + ":" + strconv.Itoa(max(place.Column, 1))
	}
	if place.Pointer != "" && place.Pointer != "#" {
		where += ": " + place.Pointer
	}
	return mockbase.FieldError{Pointer: at + "/file", Code: code, Detail: where + ": " + detail}
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

// documentFaults places the faults of a document that cannot be read within the definition.
func documentFaults(at string, d *mockbase.Document, err error) []mockbase.FieldError {
	const what = "is no OpenAPI document that can be read: "
	known, ok := errors.AsType[*mockbase.Error](err)
	switch {
	case d.File == "" && (!ok || len(known.Fields) == 0):
		return []mockbase.FieldError{{Pointer: at + "/inline", Code: mockbase.FieldSyntax, Detail: what + err.Error()}}
	case !ok || len(known.Fields) == 0:
		return []mockbase.FieldError{{Pointer: at + "/file", Code: mockbase.FieldReference, Detail: what + err.Error()}}
	}
	list := make([]mockbase.FieldError, len(known.Fields))
	for i, f := range known.Fields {
		if d.File == "" {
			list[i] = mockbase.FieldError{Pointer: at + "/inline" + strings.TrimPrefix(f.Pointer, "#"), Code: mockbase.FieldSyntax, Detail: what + f.Detail}
			continue
		}
		list[i] = fileFault(at, f.Code, mockbase.FilePlace{File: path.Clean(d.File), Pointer: f.Pointer, Line: f.Line, Column: f.Column}, what+f.Detail)
	}
	return list
}
