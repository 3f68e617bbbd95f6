package files

import (
	"encoding/json"
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

// openAPI is the OpenAPI document in a file, repaired as far as it can be; a node that names none is left as it is.
func (i *inliner) openAPI(n *mockbase.Node) *mockbase.Node {
	text, ok := i.read(n)
	if !ok {
		return n
	}
	value, _, err := readDocument(text)
	if err != nil {
		i.fault(n, mockbase.FieldSyntax, "the file %q cannot be read: %s", n.Text, err.Error())
		return n
	}
	return value
}

// readDocument reads an OpenAPI document and what is odd about it.
func readDocument(text []byte) (*mockbase.Node, []mockbase.FieldError, error) {
	parsed, err := openapi.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	value, err := mockbase.ParseNode(parsed.JSON(), mockbase.FormatJSON, mockbase.ParseLimits{
		Bytes: maxDocumentSize, Depth: maxDocumentDepth, Values: maxDocumentNodes,
	})
	return value, parsed.Warnings(), err
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
func definitionOf(s *source) (*mockbase.Definition, error) {
	if len(s.text) > maxDocumentSize {
		return nil, mockbase.Invalid([]mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldLimit, Detail: "the document is longer than 32 MiB"}})
	}
	document, warnings, err := readDocument(s.text)
	if err != nil {
		return nil, err
	}
	entry := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{
		{Key: "name", Value: textNode(documentName(s.name))}, {Key: "inline", Value: document},
	}}
	list := mockbase.Node{Kind: mockbase.NodeList, Items: []*mockbase.Node{entry}}
	config, err := mockbase.DecodeConfig(map[string]json.RawMessage{"documents": list.JSON()})
	if err != nil {
		return nil, fmt.Errorf("decode document: %w", err)
	}
	// Other warnings are those of the engine, too.
	warnings = slices.DeleteFunc(warnings, func(w mockbase.FieldError) bool { return w.Code != mockbase.FieldSyntax })
	return &mockbase.Definition{Config: config, Warnings: warnings}, nil
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
