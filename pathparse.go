package mockbase

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxPathConstraint is the most characters of a parameter's pattern (mock format, section 6).
	maxPathConstraint = 256
	// maxParameterName keeps near misses and templates readable.
	maxParameterName = 64
)

// ParsePath reads the path of a request matcher: literal text, {name}, {name:regex}, *, ** and {name...} (mock format,
// section 6; rules B12 to B15). Literal text is percent-decoded once, so that %2F is a slash inside a segment, and a
// doubled brace is a brace. The error is a [*PathError] with the column.
func ParsePath(text string) (PathPattern, error) {
	p := pathParser{text: text}
	if !strings.HasPrefix(text, "/") {
		return PathPattern{}, &PathError{Column: 1, Reason: "a path starts with a slash", Fix: "write " + quote("/"+text)}
	}
	for p.pos < len(text) {
		p.pos++ // the slash
		if err := p.segment(); err != nil {
			return PathPattern{}, err
		}
	}
	return PathPattern{Segments: p.segments}, nil
}

// pathParser reads a path from left to right; pos is always at a slash between two segments.
type pathParser struct {
	text     string
	pos      int
	segments []PathSegment
	names    []string
	hasRest  bool
}

// pathFault makes an error at a byte offset.
func pathFault(at int, fix, format string, args ...any) error {
	return &PathError{Column: at + 1, Reason: fmt.Sprintf(format, args...), Fix: fix}
}

// segment reads up to the next slash or the end.
func (p *pathParser) segment() error {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] == '*' {
		p.pos++
	}
	if p.pos > start && (p.pos == len(p.text) || p.text[p.pos] == '/') {
		return p.stars(start, p.pos)
	}
	p.pos = start
	var parts []PathPart
	for p.pos < len(p.text) && p.text[p.pos] != '/' {
		at := p.pos
		part, err := p.part()
		if err != nil {
			return err
		}
		if len(parts) > 0 && part.Name != "" && parts[len(parts)-1].Name != "" {
			return pathFault(at, "write a literal character between them",
				"the parameters {%s} and {%s} have nothing between them", parts[len(parts)-1].Name, part.Name)
		}
		parts = append(parts, part)
	}
	return p.addSegment(start, parts)
}

// stars reads a segment of stars alone.
func (p *pathParser) stars(start, end int) error {
	switch end - start {
	case 1:
		p.segments = append(p.segments, PathSegment{Kind: SegmentAny, Parts: []PathPart{{}}})
		return nil
	case 2:
		return p.addRest(start, PathPart{})
	default:
		return pathFault(start, "write * for one segment or ** for any number", "%s means nothing", p.text[start:end])
	}
}

func (p *pathParser) addRest(at int, part PathPart) error {
	if p.hasRest {
		return pathFault(at, "keep one of them", "a path has at most one ** or {name...}")
	}
	p.hasRest = true
	p.segments = append(p.segments, PathSegment{Kind: SegmentRest, Parts: []PathPart{part}})
	return nil
}

func (p *pathParser) addSegment(start int, parts []PathPart) error {
	if len(parts) == 0 {
		parts = []PathPart{{}}
	}
	kind := SegmentMixed
	if len(parts) == 1 {
		kind = kindOfPart(parts[0])
	}
	for _, part := range parts {
		if name, isRest := strings.CutSuffix(part.Name, "..."); isRest {
			if len(parts) > 1 {
				return pathFault(start, "give it a segment of its own", "{%s} shares its segment with other text", part.Name)
			}
			return p.addRest(start, PathPart{Name: name})
		}
	}
	if kind == SegmentLiteral && (parts[0].Literal == "." || parts[0].Literal == "..") {
		return pathFault(start, "write the path without it",
			"the segment %s never matches, because requests are matched with such segments resolved", quote(parts[0].Literal))
	}
	p.segments = append(p.segments, PathSegment{Kind: kind, Parts: parts})
	return nil
}

func kindOfPart(part PathPart) SegmentKind {
	switch {
	case part.Name == "":
		return SegmentLiteral
	case part.Pattern != "":
		return SegmentConstrained
	default:
		return SegmentParameter
	}
}

// part reads literal text or one parameter.
func (p *pathParser) part() (PathPart, error) {
	if p.text[p.pos] == '{' && !strings.HasPrefix(p.text[p.pos:], "{{") {
		return p.parameter()
	}
	if size := p.plain(); size > 0 {
		literal := p.text[p.pos : p.pos+size]
		p.pos += size
		return PathPart{Literal: literal}, nil
	}
	var literal strings.Builder
	for p.pos < len(p.text) && p.text[p.pos] != '/' {
		rest := p.text[p.pos:]
		if strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}") {
			literal.WriteByte(rest[0])
			p.pos += 2
			continue
		}
		if rest[0] == '{' {
			break
		}
		c, size, err := p.literalByte(rest)
		if err != nil {
			return PathPart{}, err
		}
		literal.WriteByte(c)
		p.pos += size
	}
	return PathPart{Literal: literal.String()}, nil
}

// plain is the length of the literal text at pos if it can be taken as it stands, else 0.
func (p *pathParser) plain() int {
	rest := p.text[p.pos:]
	size := strings.IndexAny(rest, "/{}?#%*")
	switch {
	case size < 0:
		return len(rest)
	case strings.IndexByte("/{", rest[size]) >= 0 && !strings.HasPrefix(rest[size:], "{{"):
		return size
	default:
		return 0
	}
}

// literalByte reads one byte of literal text, percent-encoded or not.
func (p *pathParser) literalByte(rest string) (c byte, size int, err error) {
	switch rest[0] {
	case '}':
		return 0, 0, pathFault(p.pos, "write }} for a literal brace", "} closes nothing")
	case '?':
		return 0, 0, pathFault(p.pos, "move the part behind ? to query", "a path holds no query")
	case '#':
		return 0, 0, pathFault(p.pos, "write %23 for a literal #", "a path holds no fragment, as clients never send one")
	case '*':
		return 0, 0, pathFault(p.pos, "write {name} for a part of a segment, or %2A for a literal star", "* stands for a whole segment only")
	case '%':
		high, low := byte(0xff), byte(0xff)
		if len(rest) >= 3 {
			high, low = unhex(rest[1]), unhex(rest[2])
		}
		if high > 15 || low > 15 {
			return 0, 0, pathFault(p.pos, "write %25 for a literal percent sign", "%% is not followed by two hexadecimal digits")
		}
		return high<<4 | low, 3, nil
	}
	return rest[0], 1, nil
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// parameter reads {name}, {name:regex} or {name...}; the last keeps its dots in the name.
func (p *pathParser) parameter() (PathPart, error) {
	start := p.pos
	end, err := p.closingBrace(start)
	if err != nil {
		return PathPart{}, err
	}
	p.pos = end + 1
	name, pattern, constrained := strings.Cut(p.text[start+1:end], ":")
	plain, isRest := strings.CutSuffix(name, "...")
	if !validParameterName(plain) {
		return PathPart{}, pathFault(start+1, "begin with a letter, a digit or _, and go on with those, . or -",
			"%s is no parameter name", quote(plain))
	}
	if slices.Contains(p.names, plain) {
		return PathPart{}, pathFault(start, "rename one of them", "the parameter {%s} is there twice", plain)
	}
	p.names = append(p.names, plain)
	if !constrained {
		return PathPart{Name: name}, nil
	}
	if isRest {
		return PathPart{}, pathFault(start, "write {"+name+"}", "{%s} takes no pattern", name)
	}
	return PathPart{Name: name, Pattern: pattern}, checkConstraint(start+len(name)+2, pattern)
}

// closingBrace finds the end of the parameter that begins at start. A pattern may hold pairs of braces, such as \d{3}.
func (p *pathParser) closingBrace(start int) (int, error) {
	depth := 0
	for i := start; i < len(p.text); i++ {
		switch p.text[i] {
		case '{':
			if depth++; depth > 2 {
				return 0, pathFault(i, "write \\x7B for a literal brace", "braces in a pattern do not nest")
			}
		case '}':
			if depth--; depth == 0 {
				return i, nil
			}
		}
	}
	return 0, pathFault(start, "close it with }, or write {{ for a literal brace", "{ is never closed")
}

func checkConstraint(at int, pattern string) error {
	switch {
	case pattern == "":
		return pathFault(at, "leave the colon out", "the pattern is empty")
	case utf8.RuneCountInString(pattern) > maxPathConstraint:
		return pathFault(at, "", "the pattern is longer than %d characters", maxPathConstraint)
	}
	if reason, offset := checkRegexp(pattern); reason != "" {
		return pathFault(at+offset, "", "%s", reason)
	}
	return nil
}

func validParameterName(name string) bool {
	if name == "" || len(name) > maxParameterName {
		return false
	}
	for i := range len(name) {
		letter := wordByte(name[i]) || name[i] == '_'
		if !letter && (i == 0 || name[i] != '-' && name[i] != '.') {
			return false
		}
	}
	return true
}
