package jsonvalue

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The default limits of [Parse].
const (
	// DefaultDepth is the most levels of arrays and objects (rule G14).
	DefaultDepth = 10_000
	// DefaultValues is the most values: a document that needs more would take several hundred megabytes of memory.
	DefaultValues = 1_000_000
)

// ErrTooDeep tells that a document has more levels than allowed (rule G14).
var ErrTooDeep = errors.New("too deep")

// ErrTooLarge tells that a document has more values than allowed.
var ErrTooLarge = errors.New("too large")

// Limits bound what [Parse] takes; a zero member means the default.
type Limits struct {
	// Depth is the most levels of arrays and objects, [DefaultDepth] by default.
	Depth int
	// Values is the most values in the document, [DefaultValues] by default.
	Values int
}

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	// Offset counts the bytes before the place, in UTF-8.
	Offset int
	// Line and Column count from 1; columns are characters.
	Line, Column int
	// Message says what is wrong there, such as "a name in double quotes is expected".
	Message string
}

// Error returns the place and what is wrong there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at %d:%d: %s", e.Line, e.Column, e.Message)
}

// Parse reads one JSON document (RFC 8259) and nothing after it. A byte order mark is passed over, and says how the text
// is coded; without one it is UTF-8 (rule F6). The error is a [*SyntaxError], [ErrTooDeep] or [ErrTooLarge].
func Parse(src []byte, lim Limits) (*Value, error) {
	text, err := decodeText(src)
	if err != nil {
		return nil, err
	}
	return parseText(text, lim)
}

// parseText parses UTF-8 without a byte order mark.
func parseText(text string, lim Limits) (*Value, error) {
	if lim.Depth <= 0 {
		lim.Depth = DefaultDepth
	}
	if lim.Values <= 0 {
		lim.Values = DefaultValues
	}
	p := parser{text: text, limits: lim}
	p.open = make([]Value, 0, min(8+len(text)/bytesPerValue, 64))
	p.blanks()
	if err := p.value("", 0); err != nil {
		return nil, err
	}
	p.blanks()
	if p.pos < len(text) {
		return nil, p.fault("something follows the document")
	}
	root := p.open[0]
	return &root, nil
}

// The sizes in which memory for values is taken: as much as a document of that length is likely to need.
const (
	bytesPerValue = 20
	mostAtOnce    = 512
)

// parser reads one text.
type parser struct {
	text   string
	pos    int
	limits Limits
	// open are the values whose container is not closed yet, innermost last.
	open []Value
	// slab and boxes are memory for the next values and containers.
	slab  []Value
	boxes []box
	count int
}

func (p *parser) fault(message string) *SyntaxError {
	before := p.text[:p.pos]
	line := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Offset:  p.pos,
		Line:    1 + strings.Count(before, "\n"),
		Column:  1 + utf8.RuneCountInString(before[line:]),
		Message: message,
	}
}

func (p *parser) blanks() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\n', '\r', '\t':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// value reads a value and leaves it on top of the open ones.
func (p *parser) value(name string, depth int) error {
	if p.count++; p.count > p.limits.Values {
		return ErrTooLarge
	}
	v := Value{name: name}
	var err error
	switch c := p.peek(); {
	case c == '"':
		v.kind = String
		v.text, err = p.quoted()
	case c == '{':
		v.kind = Object
		v.box, err = p.container(depth+1, '}', (*parser).member)
	case c == '[':
		v.kind = Array
		v.box, err = p.container(depth+1, ']', (*parser).item)
	case c == '-' || '0' <= c && c <= '9':
		v.kind = Number
		v.text, err = p.number()
	default:
		err = p.literal(&v)
	}
	if err != nil {
		return err
	}
	p.open = append(p.open, v)
	return nil
}

func (p *parser) literal(v *Value) error {
	for _, word := range [...]string{"true", "false", "null"} {
		if !strings.HasPrefix(p.text[p.pos:], word) {
			continue
		}
		if p.pos += len(word); word != "null" {
			v.kind, v.text = Bool, word
		}
		return nil
	}
	if p.pos == len(p.text) {
		return p.fault("the text ends where a value is expected")
	}
	return p.fault("a value is expected")
}

// container reads what is between two brackets, separated by commas. It returns nil if there is nothing.
func (p *parser) container(depth int, end byte, read func(*parser, int) error) (*box, error) {
	if depth > p.limits.Depth {
		return nil, ErrTooDeep
	}
	p.pos++
	first := len(p.open)
	p.blanks()
	if p.peek() == end {
		p.pos++
		return nil, nil //nolint:nilnil // nothing is in an empty container
	}
	for {
		if err := read(p, depth); err != nil {
			return nil, err
		}
		p.blanks()
		switch p.peek() {
		case ',':
			p.pos++
			p.blanks()
		case end:
			p.pos++
			return p.close(first, end == '}'), nil
		default:
			return nil, p.unclosed(end)
		}
	}
}

func (p *parser) unclosed(end byte) error {
	if p.pos == len(p.text) {
		return p.fault("the text ends before " + string(rune(end)))
	}
	return p.fault("a comma or " + string(rune(end)) + " is expected")
}

func (p *parser) item(depth int) error { return p.value("", depth) }

func (p *parser) member(depth int) error {
	if p.peek() != '"' {
		return p.fault("a name in double quotes is expected")
	}
	name, err := p.quoted()
	if err != nil {
		return err
	}
	p.blanks()
	if p.peek() != ':' {
		return p.fault("a colon is expected")
	}
	p.pos++
	p.blanks()
	return p.value(name, depth)
}

// close moves the values from first on into a container of their own.
func (p *parser) close(first int, named bool) *box {
	values := p.open[first:]
	if len(p.slab) < len(values) {
		p.slab = make([]Value, max(len(values), min(4+(len(p.text)-p.pos)/bytesPerValue, mostAtOnce)))
	}
	if len(p.boxes) == 0 {
		p.boxes = make([]box, min(1+(len(p.text)-p.pos)/(4*bytesPerValue), mostAtOnce))
	}
	b := &p.boxes[0]
	p.boxes = p.boxes[1:]
	n := copy(p.slab, values)
	b.items, p.slab = p.slab[:n:n], p.slab[n:]
	p.open = p.open[:first]
	b.inspect(named)
	return b
}

// inspect finds names that are given twice.
func (b *box) inspect(named bool) { //nolint:revive // an object differs from an array in its names alone
	if named {
		b.shadow()
	}
	b.repeats = b.shadowed > 0
	for i := range b.items {
		if inner := b.items[i].box; inner != nil && inner.repeats {
			b.repeats = true
			return
		}
	}
}

// shadow marks all but the last of the members of one name.
func (b *box) shadow() {
	const few = 16
	if len(b.items) > few {
		b.shadowMany()
		return
	}
	for i := range b.items {
		for j := i + 1; j < len(b.items); j++ {
			if b.items[i].name == b.items[j].name {
				b.items[i].shadowed = true
				b.shadowed++
				break
			}
		}
	}
}

func (b *box) shadowMany() {
	last := make(map[string]int, len(b.items))
	for i := range b.items {
		if j, again := last[b.items[i].name]; again {
			b.items[j].shadowed = true
			b.shadowed++
		}
		last[b.items[i].name] = i
	}
}
