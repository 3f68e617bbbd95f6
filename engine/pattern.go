package engine

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// pattern is a compiled path pattern.
type pattern struct {
	segments []segment
	// rest is the place of the segment ** or {name...}, -1 without one; it takes at least restMin segments (rule B12).
	rest, restMin int
	// slash tells that the pattern also matches with one more slash at the end (rule B10).
	slash bool
	// expr matches the whole decoded path instead of segments (rule A5).
	expr *regexp.Regexp
	// room is for the segments of most paths.
	room [3]segment
}

// segment is one compiled segment of a pattern.
type segment struct {
	kind mockbase.SegmentKind
	// literal is the text that a literal segment's key must equal.
	literal string
	// shape matches the text of a mixed or constrained segment.
	shape *shape
	// name is that of the parameter that takes the whole segment, or any number of them; "" without one.
	name string
}

// The specificity of what a pattern holds at one place; a smaller byte is more specific (rule A4). A path that ends
// comes before one that goes on with any number of segments, and after one that goes on with a segment of its own.
const (
	specificEnd  = mockbase.SegmentAny + 1
	specificRest = specificEnd + 1
	// specificExpr is that of a regular expression, which is less specific than every path (rule A5).
	specificExpr = specificRest + 1
)

// compilePattern prepares a parsed path. The trailing slash of the pattern is significant unless slash says otherwise.
func compilePattern(parsed mockbase.PathPattern, o pathRules, slash mockbase.TrailingSlash) (*pattern, error) {
	p := &pattern{rest: -1}
	p.segments = slices.Grow(p.room[:0], len(parsed.Segments))
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
			compiled.literal = operator.Fold(compiled.literal)
		}
	case mockbase.SegmentMixed, mockbase.SegmentConstrained:
		compiled.shape, err = compileShape(s.Parts, o)
	case mockbase.SegmentParameter, mockbase.SegmentAny, mockbase.SegmentRest:
		compiled.name = s.Parts[0].Name
	}
	return compiled, err
}

// specificity is the text by which patterns compare: the smaller is the more specific (rule A4).
func (p *pattern) specificity() string {
	if p.expr != nil {
		return string(rune(specificExpr))
	}
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
	if p.expr != nil {
		return p.expr.MatchString(path.text())
	}
	return p.matchWith(path, func(s *segment, i int) bool { return s.match(path.segments[i], path.keys[i]) })
}

// matchWith matches the structure, and leaves it to the caller whether a segment matches the path's segment i.
func (p *pattern) matchWith(path *requestPath, matches func(s *segment, i int) bool) bool {
	if p.expr != nil {
		return false
	}
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

// names are those of the parameters.
func (p *pattern) names() []string {
	var names []string
	if p.expr != nil {
		names = append(names, p.expr.SubexpNames()...)
	}
	for i := range p.segments {
		names = append(names, p.segments[i].name)
		if s := p.segments[i].shape; s != nil {
			for _, part := range s.parts {
				names = append(names, part.name)
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// holdsSlash tells whether a segment of the pattern has a slash as data (rule B2).
func (p *pattern) holdsSlash() bool {
	return slices.ContainsFunc(p.segments, func(s segment) bool {
		return strings.Contains(s.literal, "/") ||
			s.shape != nil && slices.ContainsFunc(s.shape.parts, func(part shapePart) bool { return strings.Contains(part.literal, "/") })
	})
}

// bind appends the parameters of a path that the pattern matches.
func (p *pattern) bind(path *requestPath, buf []pair) []pair {
	if p.expr != nil {
		return bindGroups(p.expr, path.text(), buf)
	}
	end := len(path.segments)
	if p.slash && end > 0 && path.segments[end-1] == "" &&
		!p.matchTo(end, func(s *segment, i int) bool { return s.match(path.segments[i], path.keys[i]) }) {
		end--
	}
	at := 0
	for i := range p.segments {
		s := &p.segments[i]
		if i == p.rest {
			next := end - (len(p.segments) - 1 - i)
			if s.name != "" && next >= at {
				buf = append(buf, pair{name: s.name, value: strings.Join(path.segments[at:next], "/")})
			}
			at = next
			continue
		}
		if at < 0 || at >= end {
			break
		}
		buf = s.bind(path.segments[at], buf)
		at++
	}
	return buf
}

// bind appends the parameters of one segment.
func (s *segment) bind(text string, buf []pair) []pair {
	switch {
	case s.shape != nil:
		return s.shape.bind(text, buf)
	case s.name != "":
		return append(buf, pair{name: s.name, value: text})
	default:
		return buf
	}
}

// bindGroups appends the named groups of an expression; a group that took no part has no value.
func bindGroups(expr *regexp.Regexp, text string, buf []pair) []pair {
	found := expr.FindStringSubmatchIndex(text)
	for i, name := range expr.SubexpNames() {
		if name != "" && 2*i+1 < len(found) && found[2*i] >= 0 {
			buf = append(buf, pair{name: name, value: text[found[2*i]:found[2*i+1]]})
		}
	}
	return buf
}
