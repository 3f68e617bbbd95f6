package mockbase

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// parseJSON reads one JSON value (RFC 8259). src is valid UTF-8.
func parseJSON(src []byte, lim ParseLimits, faults *Faults) (*Node, error) {
	// Most texts need no more, and short ones hold less.
	open := min(32, 4+len(src)/32)
	p := &jsonParser{
		text: string(src), lim: lim, faults: faults, line: 1, column: 1,
		members: make([]Member, 0, open), path: make([]step, 0, 8),
	}
	n, err := p.document()
	if err != nil {
		return nil, err
	}
	return n, nil
}

// jsonParser reads from left to right. Its methods return an *Error, which is nil when all is well.
type jsonParser struct {
	text   string
	pos    int
	lim    ParseLimits
	faults *Faults
	// The place of offset marked; line and column only ever move forward.
	marked, line, column int
	depth, values        int
	// slab hands out nodes many at a time; members and items are stacks of what is still being read.
	slab    []Node
	members []Member
	items   []*Node
	// path leads to the value that is being read.
	path []step
}

// step is a key or, with an index of at least 0, an item.
type step struct {
	key   string
	index int
}

// pointer writes the path as a JSON Pointer.
func (p *jsonParser) pointer() string {
	pointer := "#"
	for _, s := range p.path {
		if s.index >= 0 {
			pointer = itemPointer(pointer, s.index)
		} else {
			pointer = childPointer(pointer, s.key)
		}
	}
	return pointer
}

// place returns the line and column of an offset that is not before the one asked for last.
func (p *jsonParser) place(at int) (line, column int) {
	passed := p.text[p.marked:at]
	if n := strings.Count(passed, "\n"); n > 0 {
		p.line += n
		p.column = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	p.column += utf8.RuneCountInString(passed)
	p.marked = at
	return p.line, p.column
}

// fault makes the error of an offset.
func (p *jsonParser) fault(at int, code Code, format string, args ...any) *Error {
	line, column := placeOf([]byte(p.text), at)
	return malformed(FieldError{
		Pointer: "#", Code: code, Detail: fmt.Sprintf(format, args...), Line: line, Column: column,
	})
}

// expected makes the error of finding something else at the current offset.
func (p *jsonParser) expected(what string) *Error {
	return p.fault(p.pos, FieldSyntax, "expected %s, found %s", what, p.found())
}

// found describes what stands at the current offset.
func (p *jsonParser) found() string {
	rest := p.text[p.pos:]
	if rest == "" {
		return "the end of the text"
	}
	if rest[0] == '/' && len(rest) > 1 && (rest[1] == '/' || rest[1] == '*') || rest[0] == '#' {
		return "a comment, which JSON does not have"
	}
	if rest[0] == '\'' {
		return "', where JSON has double quotes"
	}
	if word := leadingWord(rest); word != "" {
		return quote(word)
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r < ' ' {
		return fmt.Sprintf("the control character %U", r)
	}
	return quote(rest[:size])
}

func leadingWord(s string) string {
	i := 0
	for i < len(s) && i < 20 && (wordByte(s[i]) || s[i] == '_') {
		i++
	}
	return s[:i]
}

func (p *jsonParser) document() (*Node, *Error) {
	p.blanks()
	if p.pos == len(p.text) {
		return nil, p.fault(p.pos, FieldSyntax, "the text is empty")
	}
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.pos < len(p.text) {
		return nil, p.fault(p.pos, FieldSyntax, "one value is enough, found %s behind it", p.found())
	}
	return n, nil
}

func (p *jsonParser) blanks() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end. A NUL in the text is an error wherever it is met, so that the two need not
// be told apart.
func (p *jsonParser) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *jsonParser) node(kind NodeKind) *Node {
	if len(p.slab) == 0 {
		// A value takes some 16 bytes of text.
		p.slab = make([]Node, min(max(4, (len(p.text)-p.pos)/16), 256))
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.Kind = kind
	n.Line, n.Column = p.place(p.pos)
	return n
}

// value reads the value at the current offset, which is no blank.
func (p *jsonParser) value() (*Node, *Error) {
	if p.values++; p.values > p.lim.Values {
		return nil, p.fault(p.pos, FieldLimit, "the text has more than %d values", p.lim.Values)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.nested(NodeObject)
	case c == '[':
		return p.nested(NodeList)
	case c == '"':
		n := p.node(NodeText)
		var err *Error
		n.Text, err = p.string()
		return n, err
	case c == '-' || digitByte(c):
		n := p.node(NodeNumber)
		var err *Error
		n.Text, err = p.number()
		return n, err
	}
	return p.word()
}

// nested reads an object or a list one level down.
func (p *jsonParser) nested(kind NodeKind) (*Node, *Error) {
	if p.depth++; p.depth > p.lim.Depth {
		return nil, p.fault(p.pos, FieldLimit, "%s", tooDeepDetail(p.lim.Depth))
	}
	n := p.node(kind)
	p.pos++
	p.path = append(p.path, step{index: -1})
	var err *Error
	if kind == NodeList {
		err = p.list(n)
	} else {
		err = p.object(n)
	}
	p.path = p.path[:len(p.path)-1]
	p.depth--
	return n, err
}

func (p *jsonParser) word() (*Node, *Error) {
	word := leadingWord(p.text[p.pos:])
	var n *Node
	switch word {
	case "true", "false":
		n = p.node(NodeBool)
		n.Text = word
	case "null":
		n = p.node(NodeNull)
	default:
		return nil, p.expected("a value")
	}
	p.pos += len(word)
	return n, nil
}

func (p *jsonParser) list(n *Node) *Error {
	first := len(p.items)
	if p.blanks(); p.peek() == ']' {
		p.pos++
		return nil
	}
	for {
		p.path[len(p.path)-1].index = len(p.items) - first
		item, err := p.value()
		if err != nil {
			return err
		}
		p.items = append(p.items, item)
		p.blanks()
		switch p.peek() {
		case ',':
			p.pos++
			if p.blanks(); p.peek() == ']' {
				return p.expected("another item behind the comma")
			}
		case ']':
			p.pos++
			n.Items = slices.Clone(p.items[first:])
			p.items = p.items[:first]
			return nil
		default:
			return p.expected("a comma or ] behind the item")
		}
	}
}

func (p *jsonParser) object(n *Node) *Error {
	first := len(p.members)
	if p.blanks(); p.peek() == '}' {
		p.pos++
		return nil
	}
	keys := keySet{}
	for {
		member, err := p.member()
		if err != nil {
			return err
		}
		if same := keys.add(p.members[first:], member); same != nil {
			p.faults.duplicate(p.pointer(), member, same)
		} else {
			p.members = append(p.members, member)
		}
		p.blanks()
		switch p.peek() {
		case ',':
			p.pos++
			if p.blanks(); p.peek() == '}' {
				return p.expected("another member behind the comma")
			}
		case '}':
			p.pos++
			n.Members = slices.Clone(p.members[first:])
			p.members = p.members[:first]
			return nil
		default:
			return p.expected("a comma or } behind the member")
		}
	}
}

func (p *jsonParser) member() (Member, *Error) {
	if p.peek() != '"' {
		return Member{}, p.expected("a key in double quotes")
	}
	m := Member{}
	m.Line, m.Column = p.place(p.pos)
	var err *Error
	if m.Key, err = p.string(); err != nil {
		return m, err
	}
	if p.blanks(); p.peek() != ':' {
		return m, p.expected("a colon behind the key " + quote(m.Key))
	}
	p.pos++
	p.blanks()
	p.path[len(p.path)-1].key = m.Key
	m.Value, err = p.value()
	return m, err
}
