package engine

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// shape is a segment of literal text and parameters (rules B13 and B14).
type shape struct {
	// spelling is equal for shapes that match the same texts.
	spelling                string
	parts                   []shapePart
	ignoreCase, constrained bool
}

// shapePart is literal text, or a parameter with its constraint, which may be nil.
type shapePart struct {
	literal string
	// name is that of the parameter.
	name       string
	parameter  bool
	constraint *regexp.Regexp
}

// maxShapeWork is how many bytes the constraints of one segment may look at while places to cut are tried. Any segment
// that a person would send needs a fraction; a hostile one is no match.
const maxShapeWork = 1 << 16

func compileShape(parts []mockbase.PathPart, o pathRules) (*shape, error) {
	s := &shape{ignoreCase: o.ignoreCase}
	var spelling strings.Builder
	for _, part := range parts {
		compiled := shapePart{literal: part.Literal, name: part.Name, parameter: part.Name != ""}
		if part.Pattern != "" {
			constraint, err := regexp.Compile(`\A(?:` + part.Pattern + `)\z`)
			if err != nil {
				return nil, fmt.Errorf("compile the pattern of {%s}: %w", part.Name, err)
			}
			compiled.constraint, s.constrained = constraint, true
		}
		// A zero byte keeps the parts apart: {a:b}c and {a:bc} are two shapes.
		fmt.Fprintf(&spelling, "%q\x00%t\x00%q\x00", part.Literal, compiled.parameter, part.Pattern)
		s.parts = append(s.parts, compiled)
	}
	s.spelling = spelling.String()
	return s, nil
}

// match tells whether the whole text has this shape. Each parameter takes the shortest text that lets the rest match.
func (s *shape) match(text string) bool {
	m := shapeMatch{shape: s, work: maxShapeWork}
	return m.from(0, text)
}

// bind appends the parameters of a text that has this shape.
func (s *shape) bind(text string, buf []pair) []pair {
	m := shapeMatch{shape: s, work: maxShapeWork, texts: make([]string, len(s.parts))}
	if !m.from(0, text) {
		return buf
	}
	for i := range s.parts {
		if s.parts[i].parameter {
			buf = append(buf, pair{name: s.parts[i].name, value: m.texts[i]})
		}
	}
	return buf
}

// shapeMatch is a text on its way through a shape.
type shapeMatch struct {
	*shape
	work int
	// texts are what the parameters took, nil where nobody asks.
	texts []string
}

func (m *shapeMatch) from(at int, text string) bool {
	if at == len(m.parts) {
		return text == ""
	}
	part := &m.parts[at]
	if !part.parameter {
		n, ok := m.prefix(text, part.literal)
		return ok && m.from(at+1, text[n:])
	}
	switch len(m.parts) - at {
	case 1:
		return text != "" && m.take(at, text)
	case 2:
		n, ok := m.suffix(text, m.parts[at+1].literal)
		return ok && n < len(text) && m.take(at, text[:len(text)-n])
	default:
		return m.cuts(at, text)
	}
}

// take lets the parameter at the given part have a text, if its constraint allows.
func (m *shapeMatch) take(at int, text string) bool {
	if !m.parts[at].admits(text, &m.work) {
		return false
	}
	if m.texts != nil {
		m.texts[at] = text
	}
	return true
}

// cuts tries every place where the parameter at the given part can end: where the literal text that follows it
// stands.
func (m *shapeMatch) cuts(at int, text string) bool {
	following := m.parts[at+1].literal
	for cut := 1; cut < len(text); cut++ {
		n, ok := m.prefix(text[cut:], following)
		if !ok || !m.take(at, text[:cut]) {
			continue
		}
		if m.from(at+2, text[cut+n:]) {
			return true
		}
		// Without constraints, what the first place leaves over holds all that a later one does.
		if m.work -= len(text); m.work <= 0 || !m.constrained {
			return false
		}
	}
	return false
}

// prefix tells whether text begins with literal, and how many of its bytes that takes.
func (s *shape) prefix(text, literal string) (int, bool) {
	if !s.ignoreCase {
		return len(literal), strings.HasPrefix(text, literal)
	}
	return operator.FoldPrefix(text, literal)
}

// suffix tells whether text ends with literal, and how many of its bytes that takes.
func (s *shape) suffix(text, literal string) (int, bool) {
	if !s.ignoreCase {
		return len(literal), strings.HasSuffix(text, literal)
	}
	// Letters of one class may differ in length, so the start of the suffix is counted in runes.
	start := len(text)
	for range utf8.RuneCountInString(literal) {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	n, ok := operator.FoldPrefix(text[start:], literal)
	return n, ok && n == len(text)-start
}

// admits tells whether the constraint, if there is one, holds for the whole value.
func (p *shapePart) admits(value string, work *int) bool {
	if p.constraint == nil {
		return true
	}
	if *work -= len(value); *work < 0 {
		return false
	}
	return p.constraint.MatchString(value)
}
