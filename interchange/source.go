package interchange

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of a source. An archive is bounded by what comes out of it, whatever it says of itself.
const (
	// MaxBytes is the most bytes of all files together, as long as the largest definition (rule M-9).
	MaxBytes = 32 << 20
	// MaxFiles is the most files of an archive or a folder: a mock each, and a body for each of them.
	MaxFiles = 20_000
	// maxDepth is the most objects and lists inside one another in a source.
	maxDepth = 100
	// maxValues is the most values of one file; each costs about a hundred bytes.
	maxValues = 1_000_000
)

// File is one file of a source. Name is relative to the folder or archive that it came from, with slashes.
type File struct {
	Name string
	Text []byte
}

// ReadArchive unpacks a zip archive, within the bounds of a source. Names that lead out of the archive are an error, as
// is one that is given twice.
func ReadArchive(packed []byte) ([]File, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, malformed("the archive cannot be read: " + err.Error())
	}
	if len(archive.File) > MaxFiles {
		return nil, tooLarge(fmt.Sprintf("the archive holds %d files, at most %d are read", len(archive.File), MaxFiles))
	}
	var files []File
	left := int64(MaxBytes)
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		name, ok := CleanName(f.Name)
		if !ok {
			return nil, malformed(fmt.Sprintf("the file %q leads out of the archive", f.Name))
		}
		text, err := unpack(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		files = append(files, File{Name: name, Text: text})
	}
	return files, nil
}

// unpack reads one file of an archive, of which at most left bytes may come.
func unpack(f *zip.File, left int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, malformed(fmt.Sprintf("the file %q of the archive cannot be read: %v", f.Name, err))
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, left+1))
	if err != nil {
		return nil, malformed(fmt.Sprintf("the file %q of the archive cannot be read: %v", f.Name, err))
	}
	if int64(len(text)) > left {
		return nil, tooLarge(fmt.Sprintf("the archive unpacks to more than %d MiB", MaxBytes>>20))
	}
	return text, nil
}

// CleanName makes a name relative to the root of a source, and tells whether it stays below it.
func CleanName(name string) (string, bool) {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "/") || strings.Contains(name, ":/") || strings.ContainsRune(name, 0) {
		return "", false
	}
	cleaned := path.Clean(name)
	return cleaned, cleaned != ".." && !strings.HasPrefix(cleaned, "../")
}

// IsArchive tells whether bytes are a zip archive.
func IsArchive(text []byte) bool { return bytes.HasPrefix(text, []byte("PK\x03\x04")) }

func malformed(message string) *mockbase.Error {
	return &mockbase.Error{Code: mockbase.CodeMalformedBody, Message: message}
}

func tooLarge(message string) *mockbase.Error {
	return &mockbase.Error{Code: mockbase.CodeBodyTooLarge, Message: message, Hint: "import it in several parts"}
}

// source is a person's files, parsed as far as they are documents.
type source struct {
	files    []File
	docs     []value
	warnings []Warning
}

// readSource reads files in the order of their names. The one file of a source must be a document or a command line;
// among several, those that are none are left to the translation, which knows what they are for.
func readSource(files []File) (*source, error) {
	if len(files) == 1 && IsArchive(files[0].Text) {
		unpacked, err := ReadArchive(files[0].Text)
		if err != nil {
			return nil, err
		}
		files = unpacked
	}
	if err := checkSize(files); err != nil {
		return nil, err
	}
	s := &source{files: slices.Clone(files)}
	slices.SortStableFunc(s.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if len(s.files) == 1 {
		return s, s.parseOnly(s.files[0])
	}
	for _, f := range s.files {
		if !isDocument(f.Name) {
			continue
		}
		doc, err := s.parse(f)
		if err != nil {
			s.warnings = append(s.warnings, notRead(f.Name, err)...)
			continue
		}
		s.docs = append(s.docs, doc)
	}
	return s, nil
}

// checkSize refuses a source that is empty or beyond the bounds.
func checkSize(files []File) error {
	total := 0
	for _, f := range files {
		total += len(f.Text)
	}
	switch {
	case total == 0:
		return malformed("there is nothing to import: the source is empty")
	case total > MaxBytes:
		return tooLarge(fmt.Sprintf("the source has %d bytes, at most %d are read", total, MaxBytes))
	case len(files) > MaxFiles:
		return tooLarge(fmt.Sprintf("the source has %d files, at most %d are read", len(files), MaxFiles))
	}
	return nil
}

// parseOnly parses the one file of a source.
func (s *source) parseOnly(f File) error {
	if isCommand(f.Text) {
		return nil
	}
	doc, err := s.parse(f)
	if err != nil {
		return err
	}
	doc.file = ""
	for i := range s.warnings {
		s.warnings[i].File = ""
	}
	s.docs = []value{doc}
	return nil
}

// isDocument tells whether a file of many is one to be parsed, and no body of an answer.
func isDocument(name string) bool {
	switch path.Ext(name) {
	case ".json", ".yaml", ".yml", ".har":
		return !strings.Contains("/"+name, "/__files/")
	default:
		return false
	}
}

// isCommand tells whether a text is a shell command and no document.
func isCommand(text []byte) bool {
	return command.Match(bytes.TrimPrefix(text, []byte("\ufeff")))
}

// command begins with comments, the prompt, and variables that are set for it alone.
var command = regexp.MustCompile(`^(?:\s|#[^\n]*\n)*(?:\$ )?(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*curl(?:\.exe)?\s`)

// parse reads a document. A key that is given twice is a warning, and its first value counts.
func (s *source) parse(f File) (value, error) {
	text, format := f.Text, mockbase.FormatYAML
	if looksLikeJSON(text) {
		text, format = withoutComments(text), mockbase.FormatJSON
	}
	limits := mockbase.ParseLimits{Bytes: MaxBytes, Depth: maxDepth, Values: maxValues}
	node, twice, err := mockbase.ParseTolerant(text, format, limits)
	if err != nil && format == mockbase.FormatJSON {
		// YAML may begin with a brace or a bracket, too. The error of what is neither is that of what it looks like.
		again, more, failed := mockbase.ParseTolerant(f.Text, mockbase.FormatYAML, limits)
		if failed == nil || looksLikeFlow(text) {
			node, twice, err = again, more, failed
		}
	}
	if err != nil {
		return value{}, err //nolint:wrapcheck // it is for the caller as it is
	}
	for _, fault := range twice {
		s.warnings = append(s.warnings, Warning{FieldError: fault, File: f.Name})
	}
	return value{node: node, pointer: "#", file: f.Name}, nil
}

func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[' || bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*")))
}

// looksLikeFlow tells whether a text that begins with braces or brackets goes on like YAML: with a key that has no quotes.
func looksLikeFlow(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), "{[ \t\r\n")
	return len(text) > 0 && (wordChar(text[0]) || text[0] == '\'') && !isDigits(string(text[:1]))
}

// withoutComments blanks // and /* */ outside of strings, which several tools accept in their JSON files. Offsets, lines
// and columns stay.
func withoutComments(text []byte) []byte {
	if !bytes.Contains(text, []byte("//")) && !bytes.Contains(text, []byte("/*")) {
		return text
	}
	out := bytes.Clone(text)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			i = endOfString(out, i)
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i = blank(out, i, "*/")
		}
	}
	return out
}

// endOfString returns the offset of the quote that ends the string which begins at i.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// blank overwrites a comment up to its end with blanks, line ends excepted, and returns its last offset.
func blank(text []byte, from int, end string) int {
	until := len(text)
	if n := bytes.Index(text[from+2:], []byte(end)); n >= 0 {
		until = from + 2 + n + len(end)
	}
	for i := from; i < until; i++ {
		if text[i] != '\n' && text[i] != '\r' {
			text[i] = ' '
		}
	}
	return until - 1
}

// notRead are the warnings of a file that is no document.
func notRead(name string, err error) []Warning {
	fields := fieldsOf(err)
	if len(fields) == 0 {
		fields = []mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldSyntax, Detail: err.Error()}}
	}
	warnings := make([]Warning, len(fields))
	for i, f := range fields {
		warnings[i] = Warning{FieldError: f, File: name}
	}
	return warnings
}

// file returns the text of a file by its name relative to the source.
func (s *source) file(name string) ([]byte, bool) {
	name, ok := CleanName(name)
	if !ok {
		return nil, false
	}
	i, found := slices.BinarySearchFunc(s.files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !found {
		return nil, false
	}
	return s.files[i].Text, true
}
