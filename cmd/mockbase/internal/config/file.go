package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
)

// entry is a value of the configuration file.
type entry struct {
	text string
	// line is the key's, for people; line and column of the value stand in faults.
	line, column int
}

// parseFile reads a configuration file: one object of keys and scalars, or lists of scalars. An unknown key, a key given
// twice and a value of another shape are faults; the rest is read all the same.
func parseFile(path string, text []byte, table []Setting) (map[string]entry, []Fault) {
	if blank(text) {
		return nil, nil
	}
	root, err := mockbase.ParseNode(text, mockbase.FormatYAML, mockbase.ParseLimits{Bytes: 1 << 20, Depth: 10, Values: 10_000})
	if err != nil {
		return nil, unreadable(path, err)
	}
	if root.Kind == mockbase.NodeNull {
		return nil, nil
	}
	if root.Kind != mockbase.NodeObject {
		return nil, []Fault{Fault{Reason: "a configuration file holds keys and values, not " + root.Kind.String(), Code: mockbase.FieldType}.inFile(path, root.Line, root.Column)}
	}
	names := map[string]Setting{}
	known := make([]string, 0, len(table))
	for _, s := range table {
		names[s.Key] = s
		known = append(known, s.Key)
	}
	entries := map[string]entry{}
	var faults []Fault
	for _, m := range root.Members {
		if _, ok := names[m.Key]; !ok {
			faults = append(faults, unknownKey(m.Key, known).inFile(path, m.Line, m.Column))
			continue
		}
		text, wrong := scalarText(m.Value)
		if wrong != nil {
			faults = append(faults, Fault{Subject: m.Key, Reason: "wants a value or a list of values, not " + wrong.Kind.String(), Code: mockbase.FieldType}.inFile(path, m.Line, m.Column))
			continue
		}
		if text != "" {
			entries[m.Key] = entry{text: text, line: m.Line, column: m.Value.Column}
		}
	}
	return entries, faults
}

func unknownKey(key string, known []string) Fault {
	f := Fault{Reason: fmt.Sprintf("unknown key %q", key), Code: mockbase.FieldUnknownKey}
	if near := nearest(key, known); near != "" {
		f.Reason += fmt.Sprintf(", did you mean %q?", near)
	}
	return f
}

// flagName undoes keyName.
func flagName(key string) string {
	var b strings.Builder
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('-')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// scalarText is the text of a scalar, or of a list of scalars with commas between them. Null is "", which counts as
// unset. A value of another shape comes back as wrong.
func scalarText(n *mockbase.Node) (text string, wrong *mockbase.Node) {
	switch n.Kind {
	case mockbase.NodeObject:
		return "", n
	case mockbase.NodeList:
		parts := make([]string, 0, len(n.Items))
		for _, item := range n.Items {
			if item.Kind == mockbase.NodeObject || item.Kind == mockbase.NodeList {
				return "", item
			}
			// kong splits at commas; one inside an item stands behind a backslash.
			parts = append(parts, strings.ReplaceAll(item.Text, ",", `\,`))
		}
		return strings.Join(parts, ","), nil
	default:
		return n.Text, nil
	}
}

// blank tells whether a file holds nothing but comments.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// unreadable turns the error of a text that is no YAML into faults.
func unreadable(path string, err error) []Fault {
	failure, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(failure.Fields) == 0 {
		return []Fault{{Place: path, Reason: err.Error(), Code: mockbase.FieldSyntax}}
	}
	faults := make([]Fault, 0, len(failure.Fields))
	for _, f := range failure.Fields {
		faults = append(faults, Fault{Reason: f.Detail, Code: f.Code}.inFile(path, f.Line, f.Column))
	}
	return faults
}
