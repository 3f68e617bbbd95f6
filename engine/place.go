package engine

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// compilePlace compiles what a mock is found by: its path, the expression that its path matches, or its raw target. It
// returns nil after noting what is wrong.
func compilePlace(s *settings, m *mockbase.Mock, faults *mockbase.Faults) *pattern {
	slash := m.Request.TrailingSlash
	if slash == "" {
		slash = s.slash
	}
	var p *pattern
	var err error
	code := mockbase.FieldSyntax
	switch r := &m.Request; {
	case r.PathMatches != "":
		p, err = compileExpression(r.PathMatches)
	case r.RawTarget != "":
		code = mockbase.FieldPattern
		p, err = s.compileRawTarget(r.RawTarget)
	case r.Path == "":
		return nil // that it cannot be read is known already
	default:
		var parsed mockbase.PathPattern
		if parsed, err = mockbase.ParsePath(r.Path); err == nil {
			p, err = compilePattern(parsed, s.pathRules, slash)
		}
	}
	if err != nil {
		faults.Append(mockbase.FieldError{Pointer: placePointer(&m.Request), Code: code, Detail: err.Error()})
		return nil
	}
	return p
}

// compileExpression compiles what the whole decoded path must match (rule A5).
func compileExpression(text string) (*pattern, error) {
	expr, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		return nil, err //nolint:wrapcheck // the expression's own words are what its author needs
	}
	return &pattern{rest: -1, expr: expr}, nil
}

// compileRawTarget makes the literal path of a raw target (rules A4 and C12). Its query is a condition.
func (o pathRules) compileRawTarget(text string) (*pattern, error) {
	location, _, _ := strings.Cut(text, "?")
	path, err := o.split(location, nil)
	if err != nil {
		return nil, err
	}
	p := &pattern{rest: -1}
	for _, key := range path.keys {
		p.segments = append(p.segments, segment{kind: mockbase.SegmentLiteral, literal: key})
	}
	return p, nil
}

// placePointer is the place of what a mock is found by.
func placePointer(r *mockbase.RequestMatcher) string {
	switch {
	case r.Shorthand:
		return "#/request"
	case r.PathMatches != "":
		return "#/request/pathMatches"
	case r.RawTarget != "":
		return "#/request/rawTarget"
	default:
		return "#/request/path"
	}
}

// placeText is what a mock is found by, as its author wrote it, and the operator that compares it.
func placeText(r *mockbase.RequestMatcher) (operator, text string) {
	switch {
	case r.PathMatches != "":
		return "matches", r.PathMatches
	case r.RawTarget != "":
		return "equals", r.RawTarget
	default:
		return "equals", r.Path
	}
}

// here tells whether the mock's expression matches; where it has none, the index has found it.
func (r *route) here(q *inquiry) bool {
	return !r.byText || q.effort.Spend(len(q.pathText())) && r.pattern.expr.MatchString(q.pathText())
}

// pathText is the decoded path, put together once.
func (q *inquiry) pathText() string {
	if q.wholePath == "" {
		q.wholePath = q.path.text()
	}
	return q.wholePath
}

// pathBeside is the path that was compared, as it is shown beside the one that is expected: decoded, or with its encoded
// slashes where it would look the same and is another one.
func (c *call) pathBeside(expected string, matches bool) string { //nolint:revive // matches is the result that is shown
	text := c.path.text()
	if matches || text != expected {
		return text
	}
	encoded := make([]string, len(c.path.segments))
	for i, segment := range c.path.segments {
		encoded[i] = strings.ReplaceAll(segment, "/", "%2F")
	}
	return "/" + strings.Join(encoded, "/")
}

// pathFor is the path that the mock compares: without the matrix parameters if it states some (rule B16).
func (r *route) pathFor(q *inquiry) *requestPath {
	if len(r.guards.matrix) > 0 {
		return q.plainPath()
	}
	return &q.path
}

// matches tells whether the request's path is the mock's.
func (r *route) matches(q *inquiry) bool {
	return r.pattern.match(r.pathFor(q))
}

// bind appends the parameters of the path by the mock's names.
func (r *route) bind(q *inquiry, buf []pair) []pair {
	if r.names != nil {
		return append(buf, r.names(q.path.sent)...)
	}
	return r.pattern.bind(r.pathFor(q), buf)
}

// candidates are the leaves whose mocks are to be asked, with those that are found by no index.
func (c *call) candidates() []*leaf {
	if c.program.expressions.empty() {
		return c.leaves
	}
	return append(slices.Clip(c.leaves), &c.program.expressions)
}

// matching are the leaves of the mocks of this path, whatever else they state.
func (c *call) matching() []*leaf {
	found := &leaf{}
	for _, e := range c.program.expressions.all() {
		if e.here(&c.inquiry) {
			found.add(e)
		}
	}
	if found.empty() {
		return c.leaves
	}
	found.finish()
	return append(slices.Clip(c.leaves), found)
}
