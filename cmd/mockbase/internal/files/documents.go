package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// The bounds of OpenAPI documents: their length (rule M-9), and the depth that they may have within a definition.
const (
	maxDocumentSize  = 32 << 20
	maxDocumentDepth = 400
	maxDocumentNodes = 5_000_000
)

// Why files are not read.
var (
	errNetwork  = errors.New("nothing is read from the network")
	errLongFile = errors.New("it is longer than 10 MiB")
)

// openAPI is the OpenAPI document in a file, repaired as far as it can be; a node that names none is left as it is.
func (i *inliner) openAPI(n *mockbase.Node) *mockbase.Node {
	text, ok := i.read(n)
	if !ok {
		return n
	}
	value, parsed, err := readDocument(i.source, path.Join(path.Dir(i.source.name), path.Clean(n.Text)), text)
	if err != nil {
		i.fault(n, mockbase.FieldSyntax, "the file %q cannot be read: %s", n.Text, err.Error())
		return n
	}
	i.names = append(i.names, parsed.Files()...)
	return value
}

// readDocument reads an OpenAPI document with the files that it refers to. name is its place below the folder that is
// loaded, which nothing is read from outside of.
func readDocument(s *source, name string, text []byte) (*mockbase.Node, *openapi.Source, error) {
	parsed, err := openapi.Bundle(name, text, s.sibling)
	if err != nil {
		return nil, nil, err
	}
	value, err := mockbase.ParseNode(parsed.JSON(), mockbase.FormatJSON, mockbase.ParseLimits{
		Bytes: maxDocumentSize, Depth: maxDocumentDepth, Values: maxDocumentNodes,
	})
	return value, parsed, err
}

// isDocument tells whether a file is an OpenAPI document and no definition: it says so at its top level.
func isDocument(s *source) bool {
	text := string(s.text)
	if !strings.Contains(text, "openapi") && !strings.Contains(text, "swagger") {
		return false
	}
	if s.format == mockbase.FormatJSON {
		var top map[string]json.RawMessage
		if json.Unmarshal(s.text, &top) != nil {
			return false
		}
		return top["openapi"] != nil || top["swagger"] != nil
	}
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
func definitionOf(s *source) (definition *mockbase.Definition, names []string, err error) {
	if len(s.text) > maxDocumentSize {
		return nil, nil, mockbase.Invalid([]mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldLimit, Detail: "the document is longer than 32 MiB"}})
	}
	document, parsed, err := readDocument(s, s.name, s.text)
	if err != nil {
		return nil, nil, err
	}
	warnings := slices.DeleteFunc(parsed.Warnings(), func(w mockbase.FieldError) bool {
		// Other warnings are those of the engine, too.
		return w.Code != mockbase.FieldSyntax && w.Code != mockbase.FieldDuplicateKey && !strings.HasPrefix(w.Detail, "the file ")
	})
	names = parsed.Files()
	entry := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{
		{Key: "name", Value: textNode(documentName(s.name))}, {Key: "inline", Value: document},
	}}
	list := mockbase.Node{Kind: mockbase.NodeList, Items: []*mockbase.Node{entry}}
	config, err := mockbase.DecodeConfigPart(map[string]json.RawMessage{"documents": list.JSON()})
	if err != nil {
		return nil, nil, fmt.Errorf("decode document: %w", err)
	}
	return &mockbase.Definition{Config: config, Warnings: warnings}, names, nil
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

// own turns a pointer into a definition into one into the file, where that is an OpenAPI document itself.
func (s *source) own(pointer string) string {
	if !isDocument(s) {
		return pointer
	}
	if _, rest, ok := strings.Cut(pointer, "/inline"); ok {
		return "#" + rest
	}
	return "#"
}
