package files

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
)

// expander replaces ${NAME} and ${NAME:-default} in the texts of a document, and $$ by a dollar sign (rule C-41).
type expander struct {
	lookup func(name string) (string, bool)
	lines  [][]byte
	format mockbase.Format
	faults []mockbase.FieldError
}

// needsExpansion tells whether a text may hold anything to replace.
func needsExpansion(text []byte) bool {
	return bytes.Contains(text, []byte("${")) || bytes.Contains(text, []byte("$$"))
}

// node returns n with every text below it replaced. Nodes are shared, so a changed one is a copy.
func (e *expander) node(n *mockbase.Node) *mockbase.Node {
	c := *n
	switch n.Kind {
	case mockbase.NodeText:
		return e.text(n)
	case mockbase.NodeList:
		c.Items = make([]*mockbase.Node, len(n.Items))
		for i, item := range n.Items {
			c.Items[i] = e.node(item)
		}
	case mockbase.NodeObject:
		c.Members = make([]mockbase.Member, len(n.Members))
		for i, m := range n.Members {
			m.Value = e.node(m.Value)
			c.Members[i] = m
		}
	default:
		return n
	}
	return &c
}

func (e *expander) text(n *mockbase.Node) *mockbase.Node {
	if !strings.Contains(n.Text, "$") {
		return n
	}
	c := *n
	c.Text = e.replace(n)
	// What stands bare in YAML is whatever its text looks like: status: ${STATUS} is a number.
	if c.Text != n.Text && !e.quoted(n) {
		if bare, err := mockbase.ParseNode([]byte(c.Text), mockbase.FormatYAML, mockbase.ParseLimits{}); err == nil {
			switch bare.Kind {
			case mockbase.NodeBool, mockbase.NodeNumber, mockbase.NodeNull:
				c.Kind, c.Text = bare.Kind, bare.Text
			default:
			}
		}
	}
	return &c
}

func (e *expander) replace(n *mockbase.Node) string {
	var b strings.Builder
	for rest := n.Text; ; {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			rest = after[1:]
		case strings.HasPrefix(after, "{"):
			var value string
			value, rest = e.variable(n, after[1:])
			b.WriteString(value)
		default:
			b.WriteByte('$')
			rest = after
		}
	}
}

// variable reads NAME} or NAME:-default} from the front of text and returns the value and what follows.
func (e *expander) variable(n *mockbase.Node, text string) (value, rest string) {
	inside, rest, closed := strings.Cut(text, "}")
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !closed || !validVariable(name) {
		e.fault(n, mockbase.FieldSyntax, "${%s is no variable: write ${NAME}, ${NAME:-default}, or $$ for a dollar sign", inside)
		return "", rest
	}
	if value, ok := e.lookup(name); ok && value != "" {
		return value, rest
	}
	if !hasFallback {
		e.fault(n, mockbase.FieldReference, "the variable %s is not set: set it, or write ${%s:-default}", name, name)
	}
	return fallback, rest
}

func (e *expander) fault(n *mockbase.Node, code mockbase.Code, format string, args ...any) {
	e.faults = append(e.faults, mockbase.FieldError{
		Pointer: "#", Code: code, Detail: fmt.Sprintf(format, args...), Line: n.Line, Column: n.Column,
	})
}

func validVariable(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// quoted tells whether the text of n stands in quotes, or in a block, in its file.
func (e *expander) quoted(n *mockbase.Node) bool {
	if e.format == mockbase.FormatJSON || n.Line < 1 || n.Line > len(e.lines) {
		return true
	}
	line := []rune(string(e.lines[n.Line-1]))
	if n.Column < 1 || n.Column > len(line) {
		return true
	}
	return strings.ContainsRune(`"'|>`, line[n.Column-1])
}

// expand replaces the variables of a file. Places in the result are found again by the pointers of faults.
func expand(s *source, root *mockbase.Node, lookup func(string) (string, bool)) (*mockbase.Node, []mockbase.FieldError) {
	e := &expander{lookup: lookup, lines: bytes.Split(s.text, []byte("\n")), format: s.format}
	return e.node(root), e.faults
}
