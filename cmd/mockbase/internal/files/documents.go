package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// maxDocumentSize is the longest OpenAPI document (rule M-9).
const maxDocumentSize = 32 << 20

// Why files are not read.
var (
	errNetwork  = errors.New("nothing is read from the network")
	errLongFile = errors.New("it is longer than 10 MiB")
)

// attached is an OpenAPI document that stands in a definition in the place of its file.
type attached struct {
	// name is the place of the file below the folder that is loaded, origins are the files that it was joined from.
	name    string
	origins openapi.Origins
	// text is the document as JSON.
	text json.RawMessage
	// warnings tell what was repaired.
	warnings []mockbase.FieldError
}

// attach reads an OpenAPI document with the files that it refers to. name is its place below the folder that is loaded, which
// nothing is read from outside of. It also returns the files that it names.
func attach(s *source, name string, text []byte) (*attached, []string, error) {
	parsed, err := openapi.Bundle(name, text, s.sibling)
	if err != nil {
		return nil, nil, err
	}
	a := &attached{name: name, origins: parsed.Origins(), text: parsed.JSON()}
	for _, w := range parsed.Repairs() {
		a.warnings = append(a.warnings, a.place(w))
	}
	return a, parsed.Files(), nil
}

// place tells of a fault in which file it is.
func (a *attached) place(f mockbase.FieldError) mockbase.FieldError {
	at := &mockbase.FilePlace{Line: f.Line, Column: f.Column}
	at.File, at.Pointer = a.origins.Of(f.Pointer)
	if at.File == "" {
		at.File = a.name
	}
	f.Elsewhere = at
	return f
}

// inlined tells whether a pointer into a definition leads to an attached document, and where in it.
func inlined(pointer string) (index int, within string, ok bool) {
	rest, found := strings.CutPrefix(pointer, "#/documents/")
	number, rest, _ := strings.Cut(rest, "/")
	index, err := strconv.Atoi(number)
	if !found || err != nil {
		return 0, "", false
	}
	within, found = strings.CutPrefix(rest, "inline")
	return index, "#" + within, found && (within == "" || within[0] == '/')
}

// openAPI puts an empty object in the place of the name of an OpenAPI document, whose text follows later: it may be large. A
// node that names none is left as it is.
func (i *inliner) openAPI(n *mockbase.Node) *mockbase.Node {
	text, ok := i.read(n)
	if !ok {
		return n
	}
	name := path.Join(path.Dir(i.source.name), path.Clean(n.Text))
	document, names, err := attach(i.source, name, text)
	if err != nil {
		i.refuse(n, name, err)
		return n
	}
	i.names = append(i.names, names...)
	if i.attached == nil {
		i.attached = map[int]*attached{}
	}
	i.attached[i.document] = document
	return &mockbase.Node{Kind: mockbase.NodeObject, Line: n.Line, Column: n.Column}
}

// refuse notes the faults of a file that is no OpenAPI document, with their places in it.
func (i *inliner) refuse(n *mockbase.Node, name string, err error) {
	fields := faultsOf(err)
	if len(fields) == 0 {
		i.fault(n, mockbase.FieldSyntax, "the file %q cannot be read: %s", n.Text, err.Error())
	}
	for _, f := range fields[:min(len(fields), maxFileFaults)] {
		i.fault(n, f.Code, "%s", f.Detail)
		i.faults[len(i.faults)-1].Elsewhere = &mockbase.FilePlace{File: name, Pointer: f.Pointer, Line: f.Line, Column: f.Column}
	}
}

// isDocument tells whether a file is an OpenAPI document and no definition: it says so at its top level.
func isDocument(s *source) bool {
	text := string(s.text)
	if !strings.Contains(text, "openapi") && !strings.Contains(text, "swagger") {
		return false
	}
	if s.format == mockbase.FormatJSON || json.Valid(s.text) {
		var top map[string]json.RawMessage
		if json.Unmarshal(s.text, &top) != nil {
			return false
		}
		return top["openapi"] != nil || top["swagger"] != nil
	}
	if strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n"), "{") {
		root, _, err := mockbase.ParseTolerant(s.text, s.format, mockbase.ParseLimits{Bytes: maxDocumentSize})
		return err == nil && (root.Find("openapi") != nil || root.Find("swagger") != nil)
	}
	return saysSo(text)
}

// saysSo tells whether a line of YAML that is not indented begins with the key of an OpenAPI document.
func saysSo(text string) bool {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		key, _, ok := strings.Cut(line, ":")
		switch strings.Trim(key, `"'{ `) {
		case "openapi", "swagger":
			if ok && !strings.HasPrefix(line, " ") {
				return true
			}
		}
	}
	return false
}

// definitionOf makes a definition of an OpenAPI document: it answers everything, and is called like its file.
func definitionOf(s *source) reading {
	if len(s.text) > maxDocumentSize {
		return reading{err: mockbase.Invalid([]mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldLimit, Detail: "the document is longer than 32 MiB"}})}
	}
	document, names, err := attach(s, s.name, s.text)
	if err != nil {
		return reading{err: err}
	}
	config, err := mockbase.DecodeConfigPart(map[string]json.RawMessage{
		"documents": json.RawMessage(`[{"name":"` + documentName(s.name) + `","inline":{}}]`),
	})
	if err != nil {
		return reading{err: fmt.Errorf("decode document: %w", err)}
	}
	r := reading{definition: &mockbase.Definition{Config: config}, names: names, attached: map[int]*attached{0: document}}
	r.err = r.fill()
	return r
}

// fill puts the texts of attached documents in their places.
func (r *reading) fill() error {
	texts := make(map[int]json.RawMessage, len(r.attached))
	for _, index := range slices.Sorted(maps.Keys(r.attached)) {
		texts[index] = r.attached[index].text
		r.attached[index].text = nil
		r.definition.Warnings = append(r.definition.Warnings, r.attached[index].warnings...)
	}
	if err := r.definition.Config.SetInline(texts); err != nil {
		return fmt.Errorf("attach documents: %w", err)
	}
	return nil
}

// sibling reads a file that a document refers to, by its place below the folder that is loaded.
func (s *source) sibling(name string) ([]byte, error) {
	if strings.Contains(name, "://") {
		return nil, errNetwork
	}
	text, err := s.below(name)
	if len(text) > maxInlined {
		return nil, errLongFile
	}
	return text, err
}

// documentName makes a slug of the name of a file.
func documentName(name string) string {
	const longest = 64
	base := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, base)
	for strings.Contains(slug, "--") {
		slug = strings.ReplaceAll(slug, "--", "-")
	}
	slug = strings.Trim(slug[:min(len(slug), longest)], "-")
	if !mockbase.ValidSlug(slug) {
		return "document"
	}
	return slug
}
