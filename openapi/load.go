package openapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of a document (rule M-9). References are bounded apart, and what is nested deep is cut (maxNested).
const (
	maxDepth  = 400
	maxValues = 3_000_000
)

// Source is a parsed OpenAPI document.
type Source struct {
	tree *source
	// name is that of the first of several files.
	name string
	// origins are the files that the document was joined from; others are those of examples.
	origins Origins
	others  []string
}

// Parse reads an OpenAPI document of version 2.0, 3.0 or 3.1 as JSON or YAML. Later versions are read like 3.1. It fails
// with a [*mockbase.Error] of CodeMalformedBody where the text cannot be read, and of CodeValidationFailed where it is no
// OpenAPI document. All other faults are warnings.
func Parse(text []byte) (*Source, error) {
	s := &source{notes: &notes{}}
	root, err := s.read(text)
	if err != nil {
		return nil, err
	}
	s.root = root
	if err := s.identify(); err != nil {
		return nil, err
	}
	s.cutDeep()
	return &Source{tree: s}, nil
}

// Warnings lists what was repaired or left out so far, with pointers into the document.
func (s *Source) Warnings() []mockbase.FieldError { return s.tree.notes.all() }

// Name is that of the first file of a document of several, "" for what was one text.
func (s *Source) Name() string { return s.name }

// Title is the document's title, "" without one.
func (s *Source) Title() string { return s.tree.top().find("info").text("title") }

// Version is the version of OpenAPI that the document states.
func (s *Source) Version() string { return s.tree.version }

// JSON is the document as compact JSON, repaired, in the order of its members.
func (s *Source) JSON() []byte { return s.tree.root.JSON() }

// Locate fills in the places of faults that have none, by reading the text of a document again, repaired as [Parse] reads it. What
// cannot be read gives no places.
func Locate(text []byte, faults []mockbase.FieldError) []mockbase.FieldError {
	if json.Valid(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		return mockbase.Locate(text, mockbase.FormatJSON, faults)
	}
	root, err := (&source{notes: &notes{}}).read(text)
	if err != nil {
		return faults
	}
	return mockbase.LocateIn(root, faults)
}

// read parses the text, and once more after a repair.
func (s *source) read(text []byte) (*mockbase.Node, error) {
	format, limits := mockbase.FormatYAML, mockbase.ParseLimits{Depth: maxDepth, Values: maxValues}
	if first := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"); len(first) > 0 && first[0] == '{' {
		format = mockbase.FormatJSON
	}
	root, twice, err := mockbase.ParseTolerant(text, format, limits)
	if err != nil && format == mockbase.FormatJSON && !json.Valid(text) {
		return s.braced(text, limits, err)
	}
	if err == nil || format == mockbase.FormatJSON {
		s.doubles(root, twice)
		return root, err
	}
	repaired := untabbed(text)
	if again, twice, failed := mockbase.ParseTolerant(repaired, format, limits); failed == nil && !bytes.Equal(repaired, text) {
		s.notes.add(place{at: "#"}, mockbase.FieldSyntax, "tabs are read as blanks")
		s.doubles(again, twice)
		return again, nil
	}
	return nil, err
}

// braced reads YAML that begins with a brace. The error of what is none is that of JSON, which it looks like.
func (s *source) braced(text []byte, limits mockbase.ParseLimits, err error) (*mockbase.Node, error) {
	root, twice, failed := mockbase.ParseTolerant(text, mockbase.FormatYAML, limits)
	if failed != nil {
		return nil, err
	}
	s.doubles(root, twice)
	return root, nil
}

// spell keeps how a number is written that JSON writes otherwise: a schema may want that text.
func (s *source) spell(p place, fault string) {
	written, err := strconv.QuotedPrefix(fault)
	if err != nil || !p.is(mockbase.NodeNumber) {
		return
	}
	if text, err := strconv.Unquote(written); err == nil {
		if s.spelled == nil {
			s.spelled = map[*mockbase.Node]string{}
		}
		s.spelled[p.node] = text
	}
}

// doubles warns of keys that are given twice, and of numbers that JSON has no spelling for.
func (s *source) doubles(root *mockbase.Node, faults []mockbase.FieldError) {
	for _, f := range faults {
		if f.Code == mockbase.FieldDuplicateKey {
			f.Detail += "; the first one counts"
		} else {
			s.spell(walk(place{node: root}, strings.TrimPrefix(f.Pointer, "#")), f.Detail)
		}
		s.notes.add(place{node: &mockbase.Node{Line: f.Line, Column: f.Column}, at: f.Pointer}, f.Code, f.Detail)
	}
}

// untabbed writes blanks for the tabs that stand where YAML allows none: before the text of a line. Lines of nothing else
// are emptied.
func untabbed(text []byte) []byte {
	indent := regexp.MustCompile(`(?m)^[ ]*\t[ \t]*(.|$)`)
	return indent.ReplaceAllFunc(text, func(found []byte) []byte {
		if len(bytes.TrimLeft(found, " \t")) == 0 {
			return nil
		}
		return bytes.ReplaceAll(found, []byte("\t"), []byte("  "))
	})
}

// identify finds the version.
func (s *source) identify() error {
	top := s.top()
	if !top.is(mockbase.NodeObject) {
		return notOpenAPI(top, "the document is "+s.root.Kind.String()+" and no object")
	}
	switch three, two := top.text("openapi"), top.text("swagger"); {
	case strings.HasPrefix(three, "3.0") || three == "3":
		s.dialect, s.version = dialect30, three
	case strings.HasPrefix(three, "3."):
		s.dialect, s.version = dialect31, three
	case strings.HasPrefix(two, "2"):
		s.dialect, s.version = dialect20, two
	case three != "" || two != "":
		return notOpenAPI(top, "the version "+quoted(three+two)+" is not known: 2.0, 3.0 and 3.1 are, and later versions of 3 are read like 3.1")
	default:
		return notOpenAPI(top, `the document has neither "openapi" nor "swagger", so it describes no API`)
	}
	s.inspect()
	return nil
}

// inspect warns of what is odd about the document as a whole.
func (s *source) inspect() {
	top := s.top()
	if at := top.find("openapi"); s.dialect == dialect31 && s.version != "3.1" && !strings.HasPrefix(s.version, "3.1.") {
		s.notes.add(at, mockbase.FieldEnum, "version "+quoted(s.version)+" is read like 3.1")
	}
	if at := top.find("paths"); at.node == nil && s.dialect != dialect31 {
		s.notes.add(top, mockbase.FieldRequired, "the document has no paths")
	} else if at.node != nil && !at.is(mockbase.NodeObject) {
		s.notes.add(at, mockbase.FieldType, "the paths are "+at.node.Kind.String()+" and no object")
	}
	for _, name := range []string{"title", "version"} {
		if info := top.find("info"); info.text(name) == "" {
			s.notes.add(top, mockbase.FieldRequired, "the info has no "+name)
		} else if at := info.find(name); at.is(mockbase.NodeNumber) {
			s.notes.add(at, mockbase.FieldType, "the number is read as text")
		}
	}
}

func notOpenAPI(p place, detail string) error {
	return &mockbase.Error{
		Code: mockbase.CodeValidationFailed, Message: detail,
		Fields: []mockbase.FieldError{{Pointer: p.at, Code: mockbase.FieldSyntax, Detail: detail, Line: p.node.Line, Column: p.node.Column}},
	}
}
