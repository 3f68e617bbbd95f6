package mockbase

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// EncodeDefinition writes a project and its mocks as one document that decodes to the same: every section and mock as
// its author gave it, in the order variables, settings, defaults, rateLimits, scenarios, mocks, collections, documents
// (M-160). JSON is indented by two blanks; both formats end with a line break.
func EncodeDefinition(p *Project, mocks []*Mock, f Format) ([]byte, error) {
	root := &Node{Kind: NodeObject}
	add := func(name string, value *Node) {
		root.Members = append(root.Members, Member{Key: name, Value: value})
	}
	add("version", &Node{Kind: NodeNumber, Text: "1"})
	if p.Slug != "" {
		add("project", &Node{Kind: NodeText, Text: p.Slug})
	}
	if err := addSections(add, p.Config.Source, sectionsBefore()); err != nil {
		return nil, err
	}
	list := &Node{Kind: NodeList, Items: make([]*Node, len(mocks))}
	for i, m := range mocks {
		document, err := ParseNode(m.Document, FormatJSON, ParseLimits{})
		if err != nil {
			return nil, fmt.Errorf("read mock %s: %w", m.Name, err)
		}
		list.Items[i] = document
	}
	add("mocks", list)
	if err := addSections(add, p.Config.Source, sectionsAfter()); err != nil {
		return nil, err
	}
	if f == FormatYAML {
		return root.yaml()
	}
	var b bytes.Buffer
	if err := json.Indent(&b, root.JSON(), "", "  "); err != nil {
		return nil, fmt.Errorf("indent definition: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func addSections(add func(string, *Node), source map[string]json.RawMessage, names []string) error {
	for _, name := range names {
		text, found := source[name]
		if !found {
			continue
		}
		section, err := ParseNode(text, FormatJSON, ParseLimits{})
		if err != nil {
			return fmt.Errorf("read section %s: %w", name, err)
		}
		add(name, section)
	}
	return nil
}

// EncodeMockYAML writes a mock's document as YAML (M-62). Any JSON value will do.
func EncodeMockYAML(doc json.RawMessage) ([]byte, error) {
	n, err := ParseNode(doc, FormatJSON, ParseLimits{})
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return n.yaml()
}
