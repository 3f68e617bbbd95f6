package mockbase

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// yaml writes the value as a YAML document in block style. Texts have no quotes where no version of YAML takes them for
// something else.
func (n *Node) yaml() ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(n.toYAML()); err != nil {
		return nil, fmt.Errorf("write yaml: %w", err)
	}
	if err := encoder.Close(); err != nil {
		return nil, fmt.Errorf("write yaml: %w", err)
	}
	return b.Bytes(), nil
}

func (n *Node) toYAML() *yaml.Node {
	switch n.Kind {
	case NodeObject:
		y := &yaml.Node{Kind: yaml.MappingNode, Content: make([]*yaml.Node, 0, 2*len(n.Members))}
		for _, m := range n.Members {
			y.Content = append(y.Content, yamlKey(m.Key), m.Value.toYAML())
		}
		return y
	case NodeList:
		y := &yaml.Node{Kind: yaml.SequenceNode, Content: make([]*yaml.Node, 0, len(n.Items))}
		for _, item := range n.Items {
			y.Content = append(y.Content, item.toYAML())
		}
		return y
	case NodeText:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: n.Text, Style: yamlStyle(n.Text)}
	case NodeNull:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}
	default:
		// Without a tag the text goes out as it is, also where the library could not hold the number.
		return &yaml.Node{Kind: yaml.ScalarNode, Value: n.Text}
	}
}

// yamlKey writes a key, which is never a block of lines.
func yamlKey(key string) *yaml.Node {
	style := yamlStyle(key)
	if style == yaml.LiteralStyle {
		style = yaml.DoubleQuotedStyle
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Style: style}
}

// yamlStyle chooses how a text is written.
func yamlStyle(s string) yaml.Style {
	switch {
	case plainYAML(s):
		return 0
	case literalYAML(s):
		return yaml.LiteralStyle
	case strings.ContainsAny(s, `"\`) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return yaml.SingleQuotedStyle
	default:
		return yaml.DoubleQuotedStyle
	}
}

// plainYAML tells whether a text needs no quotes: it cannot be taken for a number, a time, a boolean or the like by any
// reader, nor for a part of the notation.
func plainYAML(s string) bool {
	const longest = 200
	if s == "" || len(s) > longest || strings.ContainsFunc(s, notPlain) || strings.Contains(s+" ", ": ") || strings.HasSuffix(s, " ") {
		return false
	}
	switch first := s[0]; {
	case digitByte(first):
		_, err := ParseDuration(s)
		return err == nil || strings.Contains(s, "/")
	case wordByte(first):
		return !yamlWord(s)
	default:
		return first == '/' || strings.HasPrefix(s, "$.")
	}
}

// notPlain tells whether a character may mean something in YAML although it does not come first, as the number sign does
// after a blank.
func notPlain(r rune) bool {
	const inside = " -._/+@()$,;=~^<>!?*&%'{}[]:0123456789"
	return (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune(inside, r)
}

// yamlWord tells whether some version of YAML takes a word for a boolean or null.
func yamlWord(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

// literalYAML tells whether a text of several lines comes back unchanged from a block: no character needs an escape, and
// no blank at either end of a line would be lost or taken for indentation.
func literalYAML(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		return false
	}
	first, _, _ := strings.Cut(s, "\n")
	return first != "" && first[0] != ' ' && !strings.Contains(s, " \n") && !strings.HasSuffix(s, " ")
}
