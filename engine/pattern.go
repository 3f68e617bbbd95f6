package engine

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// pattern is a compiled path pattern.
type pattern struct {
	segments []segment
	// rest is the place of the segment ** or {name...}, -1 without one; it takes at least restMin segments (rule B12).
	rest, restMin int
	// slash tells that the pattern also matches with one more slash at the end (rule B10).
	slash bool
}

// segment is one compiled segment of a pattern.
type segment struct {
	kind mockbase.SegmentKind
	// literal is the text that a literal segment's key must equal.
	literal string
	// shape matches the text of a mixed or constrained segment.
	shape *shape
}

// The specificity of what a pattern holds at one place; a smaller byte is more specific (rule A4). A path that ends
// comes before one that goes on with any number of segments, and after one that goes on with a segment of its own.
const (
	specificEnd  = mockbase.SegmentAny + 1
	specificRest = specificEnd + 1
)

// compilePattern prepares a parsed path. The trailing slash of the pattern is significant unless slash says otherwise.
func compilePattern(parsed mockbase.PathPattern, o pathRules, slash mockbase.TrailingSlash) (*pattern, error) {
	p := &pattern{rest: -1}
	last := len(parsed.Segments) - 1
	for i, s := range parsed.Segments {
		passed := o.mergeEmpty
		if i == last {
			passed = slash == mockbase.TrailingSlashIgnore
		}
		if passed && s.Kind == mockbase.SegmentLiteral && s.Parts[0].Literal == "" {
			continue
		}
		if s.Kind == mockbase.SegmentRest {
			p.rest = len(p.segments)
		}
		compiled, err := compileSegment(s, o)
		if err != nil {
			return nil, err
		}
		p.segments = append(p.segments, compiled)
	}
	if p.rest >= 0 && p.rest < len(p.segments)-1 {
		p.restMin = 1
	}
	// A rest at the end takes the empty segment behind a slash anyway.
	p.slash = slash == mockbase.TrailingSlashIgnore && (p.rest < 0 || p.restMin > 0)
	return p, nil
}

func compileSegment(s mockbase.PathSegment, o pathRules) (segment, error) {
	compiled := segment{kind: s.Kind}
	var err error
	switch s.Kind {
	case mockbase.SegmentLiteral:
		compiled.literal = s.Parts[0].Literal
		if o.ignoreCase {
			compiled.literal = fold(compiled.literal)
		}
	case mockbase.SegmentMixed, mockbase.SegmentConstrained:
		compiled.shape, err = compileShape(s.Parts, o)
	case mockbase.SegmentParameter, mockbase.SegmentAny, mockbase.SegmentRest:
	}
	return compiled, err
}

// specificity is the text by which patterns compare: the smaller is the more specific (rule A4).
func (p *pattern) specificity() string {
	ranks := make([]rune, 0, len(p.segments)+1)
	for _, s := range p.segments {
		if s.kind == mockbase.SegmentRest {
			s.kind = specificRest
		}
		ranks = append(ranks, rune(s.kind)) //nolint:gosec // one of a handful of kinds
	}
	return string(append(ranks, rune(specificEnd)))
}

// match tells whether the pattern matches a path. The index finds all patterns that match without asking each; this
// is for explaining one.
func (p *pattern) match(path *requestPath) bool {
	return p.matchWith(path, func(s *segment, i int) bool { return s.match(path.segments[i], path.keys[i]) })
}

// matchWith matches the structure, and leaves it to the caller whether a segment matches the path's segment i.
func (p *pattern) matchWith(path *requestPath, matches func(s *segment, i int) bool) bool {
	if p.matchTo(len(path.segments), matches) {
		return true
	}
	end := len(path.segments) - 1
	return p.slash && end >= 0 && path.segments[end] == "" && p.matchTo(end, matches)
}

// matchTo matches the path's segments before end.
func (p *pattern) matchTo(end int, matches func(s *segment, i int) bool) bool {
	if p.rest < 0 {
		return len(p.segments) == end && matchRun(p.segments, 0, matches)
	}
	tail := p.segments[p.rest+1:]
	if end < p.rest+p.restMin+len(tail) {
		return false
	}
	return matchRun(p.segments[:p.rest], 0, matches) && matchRun(tail, end-len(tail), matches)
}

// matchRun matches segments with those of the path from at on.
func matchRun(segments []segment, at int, matches func(s *segment, i int) bool) bool {
	for i := range segments {
		if !matches(&segments[i], at+i) {
			return false
		}
	}
	return true
}

// match compares one segment, given its text and its key.
func (s *segment) match(text, key string) bool {
	switch {
	case s.kind == mockbase.SegmentLiteral:
		return s.literal == key
	case s.shape != nil:
		return s.shape.match(text)
	default:
		return text != ""
	}
}

// matchAnyCase compares one segment without regard to letter case.
func (s *segment) matchAnyCase(text string) bool {
	switch {
	case s.kind == mockbase.SegmentLiteral:
		return strings.EqualFold(s.literal, text)
	case s.shape != nil:
		loose := *s.shape
		loose.ignoreCase = true
		return loose.match(text)
	default:
		return text != ""
	}
}

// shape is a segment of literal text and parameters (rules B13 and B14).
type shape struct {
	// spelling is equal for shapes that match the same texts.
	spelling                string
	parts                   []shapePart
	ignoreCase, constrained bool
}

// shapePart is literal text, or a parameter with its constraint, which may be nil.
type shapePart struct {
	literal    string
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
		compiled := shapePart{literal: part.Literal, parameter: part.Name != ""}
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
	work := maxShapeWork
	return s.matchFrom(0, text, &work)
}

func (s *shape) matchFrom(at int, text string, work *int) bool {
	if at == len(s.parts) {
		return text == ""
	}
	part := &s.parts[at]
	if !part.parameter {
		n, ok := s.prefix(text, part.literal)
		return ok && s.matchFrom(at+1, text[n:], work)
	}
	switch len(s.parts) - at {
	case 1:
		return text != "" && part.admits(text, work)
	case 2:
		n, ok := s.suffix(text, s.parts[at+1].literal)
		return ok && n < len(text) && part.admits(text[:len(text)-n], work)
	default:
		return s.matchCuts(at, text, work)
	}
}

// matchCuts tries every place where the parameter at the given part can end: where the literal text that follows it
// stands.
func (s *shape) matchCuts(at int, text string, work *int) bool {
	part, following := &s.parts[at], s.parts[at+1].literal
	for cut := 1; cut < len(text); cut++ {
		n, ok := s.prefix(text[cut:], following)
		if !ok || !part.admits(text[:cut], work) {
			continue
		}
		if s.matchFrom(at+2, text[cut+n:], work) {
			return true
		}
		// Without constraints, what the first place leaves over holds all that a later one does.
		if *work -= len(text); *work <= 0 || !s.constrained {
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
	return foldPrefix(text, literal)
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
	n, ok := foldPrefix(text[start:], literal)
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
