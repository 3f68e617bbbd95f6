package openapi

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Files are the files of an upload by their places, with slashes.
type Files map[string][]byte

// errNotUploaded is why a file is not read.
var errNotUploaded = errors.New("it is no part of the upload")

// errNetwork is why an address is not read.
var errNetwork = errors.New("nothing is read from the network")

// Unzip reads the files of a zip archive within the bounds of documents. It fails with a [*mockbase.Error].
func Unzip(data []byte) (Files, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the body is no zip archive that can be read: %s", err.Error())
	}
	files, left := Files{}, int64(maxFileBytes)
	for _, entry := range archive.File {
		name := path.Clean(strings.ReplaceAll(entry.Name, `\`, "/"))
		if !entry.Mode().IsRegular() || strings.HasPrefix(name, "__MACOSX/") {
			continue
		}
		if !fs.ValidPath(name) {
			return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "the archive has a file outside its own folder: %s", quoted(entry.Name))
		}
		if len(files) > maxFiles {
			return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "the archive has more than %d files", maxFiles)
		}
		text, err := unpacked(entry, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		files[name] = text
	}
	return files, nil
}

// unpacked is an entry of an archive, if there is room for it.
func unpacked(entry *zip.File, left int64) ([]byte, error) {
	packed, err := entry.Open()
	if err != nil {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the file %s of the archive cannot be read: %s", quoted(entry.Name), err.Error())
	}
	defer func() { _ = packed.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(packed, left+1))
	switch {
	case err != nil:
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the file %s of the archive cannot be read: %s", quoted(entry.Name), err.Error())
	case int64(len(text)) > left:
		return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "the files of the archive are longer than 32 MiB together")
	}
	return text, nil
}

// Bundle reads the document that an upload holds. root names its first file; "" is the one that is an OpenAPI document and
// lies above the others. It fails like [Parse], and with CodeValidationFailed where root is none, or is to be named.
func (f Files) Bundle(root string) (*Source, error) {
	if root == "" {
		found, err := f.first()
		if err != nil {
			return nil, err
		}
		root = found
	}
	text, ok := f[root]
	if !ok {
		return nil, &mockbase.Error{
			Code: mockbase.CodeValidationFailed, Message: "the upload has no file " + quoted(root),
			Hint: "name one of " + strings.Join(some(slices.Sorted(maps.Keys(f))), ", "),
		}
	}
	var known map[string]string
	return bundle(root, text, &bundler{open: f.open, identified: func(id string) (string, bool) {
		if known == nil {
			known = f.identified()
		}
		name, ok := known[id]
		return name, ok
	}})
}

// identified are the names of the files that are schemas with an $id, by it.
func (f Files) identified() map[string]string {
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !bytes.Contains(f[name], []byte("$id")) {
			continue
		}
		tree, err := (&source{notes: &notes{}}).read(f[name])
		if err != nil {
			continue
		}
		id, _, _ := strings.Cut(place{node: tree}.text("$id"), "#")
		if _, met := found[id]; !met && strings.Contains(id, ":") {
			found[id] = name
		}
	}
	return found
}

// Text is the file of an upload that has only one, and nil else.
func (f Files) Text() []byte {
	if len(f) != 1 {
		return nil
	}
	for _, text := range f {
		return text
	}
	return nil
}

// Packed is an archive of the files of a document that was read of these, which [Rebundle] reads again: its
// comment is the name of the first one. It is nil for a document of one text.
func (f Files) Packed(s *Source) ([]byte, error) {
	if len(s.Files()) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	if err := archive.SetComment(s.name); err != nil {
		return nil, fmt.Errorf("name first file: %w", err)
	}
	for _, name := range append([]string{s.name}, s.Files()...) {
		entry, err := archive.Create(name)
		if err == nil {
			_, err = entry.Write(f[name])
		}
		if err != nil {
			return nil, fmt.Errorf("pack file: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close archive: %w", err)
	}
	return b.Bytes(), nil
}

// Rebundle reads what [Files.Packed] made.
func Rebundle(packed []byte) (*Source, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("read archive: %w", err)
	}
	files, err := Unzip(packed)
	if err != nil {
		return nil, err
	}
	return files.Bundle(archive.Comment)
}

func (f Files) open(name string) ([]byte, error) {
	if strings.Contains(name, "://") {
		return nil, errNetwork
	}
	text, ok := f[name]
	if !ok {
		return nil, errNotUploaded
	}
	return text, nil
}

// first finds the file that is an OpenAPI document. Several of them are told apart by their depth alone.
func (f Files) first() (string, error) {
	if len(f) == 1 {
		for name := range f {
			return name, nil
		}
	}
	var found []string
	for name, text := range f {
		if names(text) {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	switch {
	case len(found) == 0:
		return "", mockbase.Errorf(mockbase.CodeValidationFailed, "none of the %d files is an OpenAPI document", len(f))
	case len(found) > 1 && strings.Count(found[0], "/") == strings.Count(found[1], "/"):
		return "", &mockbase.Error{
			Code: mockbase.CodeValidationFailed, Message: "several of the files are OpenAPI documents: " + strings.Join(some(found), ", "),
			Hint: "say with root=" + found[0] + " which one is meant",
		}
	default:
		return found[0], nil
	}
}

// names tells whether a text says at its top level that it is an OpenAPI document.
func names(text []byte) bool {
	if !bytes.Contains(text, []byte("openapi")) && !bytes.Contains(text, []byte("swagger")) {
		return false
	}
	_, err := Parse(text)
	return err == nil
}

// mostShown is how many names a message lists.
const mostShown = 10

func some(list []string) []string {
	if len(list) > mostShown {
		return append(slices.Clone(list[:mostShown]), fmt.Sprintf("… (%d in all)", len(list)))
	}
	return list
}

// reasonOf is what went wrong with a file, without its name.
func reasonOf(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}
