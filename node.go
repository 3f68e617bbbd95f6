package mockbase

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Format is the notation of a text.
type Format string

// The notations of a definition.
const (
	FormatJSON Format = "json"
	FormatYAML Format = "yaml"
)

// NodeKind is the kind of a [Node].
type NodeKind uint8

// The kinds of value in a document.
const (
	NodeNull NodeKind = iota
	NodeBool
	NodeNumber
	NodeText
	NodeList
	NodeObject
)

// String names the kind as a message does: "a number".
func (k NodeKind) String() string {
	switch k {
	case NodeNull:
		return "nothing (null)"
	case NodeBool:
		return "a boolean"
	case NodeNumber:
		return "a number"
	case NodeText:
		return "a text"
	case NodeList:
		return "a list"
	default:
		return "an object"
	}
}

// Node is a value of a parsed document. It keeps what encoding/json drops: the order of members, the text of numbers
// and the place in the text. A node is not changed once parsed, so that parts of it may be shared.
type Node struct {
	Kind NodeKind
	// Text is the decoded text, the number as JSON text, or "true" or "false".
	Text    string
	Members []Member
	Items   []*Node
	// Line and Column count from 1, columns in characters; 0 means that the place is unknown.
	Line, Column int
}

// Member is one key of an object with its value. Line and Column are the key's.
type Member struct {
	Key          string
	Value        *Node
	Line, Column int
}

// Find returns the value of the first member of that name, nil if there is none.
func (n *Node) Find(name string) *Node {
	for i := range n.Members {
		if n.Members[i].Key == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// JSON returns the value as compact JSON: members in their order, numbers in their own text, nothing escaped that JSON
// does not ask for (rule O16).
func (n *Node) JSON() json.RawMessage {
	return n.appendJSON(make([]byte, 0, n.size()))
}

// size is the length of the value's JSON text without escapes: texts without any, as nearly all, fill their memory.
func (n *Node) size() int {
	const quotes, quotesAndColon, brackets = 2, 3, 2
	switch n.Kind {
	case NodeNull:
		return len("null")
	case NodeText:
		return quotes + len(n.Text)
	case NodeList:
		size := brackets + max(len(n.Items)-1, 0)
		for _, item := range n.Items {
			size += item.size()
		}
		return size
	case NodeObject:
		size := brackets + max(len(n.Members)-1, 0)
		for i := range n.Members {
			size += quotesAndColon + len(n.Members[i].Key) + n.Members[i].Value.size()
		}
		return size
	default:
		return len(n.Text)
	}
}

func (n *Node) appendJSON(b []byte) []byte {
	switch n.Kind {
	case NodeNull:
		return append(b, "null"...)
	case NodeText:
		return appendJSONText(b, n.Text)
	case NodeList:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case NodeObject:
		b = append(b, '{')
		for i := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSONText(b, n.Members[i].Key), ':')
			b = n.Members[i].Value.appendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, n.Text...)
	}
}

// appendJSONText appends s as a JSON string. Control characters, quotes and backslashes are escaped and nothing else.
func appendJSONText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		if short := strings.IndexByte("\"\\\b\f\n\r\t", c); short >= 0 {
			b = append(b, '\\', `"\bfnrt`[short])
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// quote shows a value in a message, shortened.
func quote(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest-1]) + "…"
	}
	return string(appendJSONText(nil, strings.ToValidUTF8(s, "\ufffd")))
}

// describe names a value in a message: its kind, and a scalar's text.
func (n *Node) describe() string {
	switch n.Kind {
	case NodeBool, NodeNumber:
		return n.Text
	case NodeText:
		return "the text " + quote(n.Text)
	default:
		return n.Kind.String()
	}
}
