package interchange

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// before orders mocks as they are tried: by priority, specificity of the path, exact methods, guards, and the newest first
// (rule A2).
func before(a, b *mockbase.Mock) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		strings.Compare(specificity(a), specificity(b)),
		cmp.Compare(anyMethod(a), anyMethod(b)),
		cmp.Compare(unguarded(a), unguarded(b)),
		cmp.Compare(b.Order, a.Order),
	)
}

// specificity is a text of which the smaller one is the more special path (rules A4 and A5).
func specificity(m *mockbase.Mock) string {
	const end, rest, expression = "5", "6", "7"
	if m.Request.PathMatches != "" {
		return expression
	}
	path := m.Request.Path
	if target := m.Request.RawTarget; target != "" {
		path, _, _ = strings.Cut(target, "?")
		return strings.Repeat("0", strings.Count(path, "/")) + end
	}
	pattern, err := mockbase.ParsePath(path)
	if err != nil {
		return expression
	}
	var b strings.Builder
	for _, s := range pattern.Segments {
		if s.Kind == mockbase.SegmentRest {
			b.WriteString(rest)
			continue
		}
		b.WriteByte('0' + byte(s.Kind)) //nolint:gosec // one of a handful of kinds
	}
	return b.String() + end
}

func anyMethod(m *mockbase.Mock) int {
	if slices.Contains(m.Request.Methods, mockbase.MethodAny) {
		return 1
	}
	return 0
}

func unguarded(m *mockbase.Mock) int {
	r := &m.Request
	conditions := len(r.Query) + len(r.Headers) + len(r.Cookies) + len(r.Matrix) + len(r.AnyOf) + len(r.AllOf) + len(m.States)
	if conditions > 0 || r.RawTarget != "" || r.StrictQuery || r.Auth != nil || r.Body != nil || r.Not != nil {
		return 0
	}
	return 1
}

// rank gives stubs their priorities. They are in the order in which they are tried here. WireMock takes the smallest number,
// and of equal ones the newest, which is another one for a file than for an import: so a stub gets a larger number than every
// earlier one that may match the same request. Without any such pair no stub has a number.
func (w *wiremockWriter) rank() error {
	r := &ranking{literal: map[string][]*stub{}}
	most := 0
	for i, s := range w.stubs {
		const checked = 256
		if i%checked == 0 {
			if err := w.stopped(); err != nil {
				return err
			}
		}
		s.level = r.level(s)
		most = max(most, s.level)
	}
	if most > 1 {
		return nil
	}
	for _, s := range w.stubs {
		s.level = 0
	}
	return nil
}

// ranking holds the stubs that have a priority: those of one path by that, the others in a list.
type ranking struct {
	literal map[string][]*stub
	open    []*stub
	all     []*stub
}

// level is one more than that of every earlier stub that may match the same request.
func (r *ranking) level(s *stub) int {
	path, isLiteral := literalOfStub(s)
	rivals := r.all
	if isLiteral {
		rivals = slices.Concat(r.literal[path], r.open)
		r.literal[path] = append(r.literal[path], s)
	} else {
		r.open = append(r.open, s)
	}
	r.all = append(r.all, s)
	level := 1
	for _, other := range rivals {
		if other.level >= level && stubsMeet(s, other) {
			level = other.level + 1
			if other.mock == s.mock && s.mock != nil && other.answer == s.answer {
				level = other.level
			}
		}
	}
	return level
}

// literalOfStub is the path of a stub that answers at one alone.
func literalOfStub(s *stub) (string, bool) {
	if s.mock == nil {
		return "", false
	}
	if target := s.mock.Request.RawTarget; target != "" {
		path, _, _ := strings.Cut(target, "?")
		return path, true
	}
	if !s.mock.ok || s.mock.slashIgnored() || len(parameters(s.mock.pattern)) > 0 || slices.ContainsFunc(s.mock.pattern.Segments, isOpen) {
		return "", false
	}
	path, _ := encodedPath(s.mock.pattern)
	return path, true
}

func isOpen(s mockbase.PathSegment) bool { return s.Kind != mockbase.SegmentLiteral }

// stubsMeet tells whether two stubs may match one request. It errs on the side of yes.
func stubsMeet(a, b *stub) bool {
	switch {
	case a.mock == nil || b.mock == nil:
		return true
	case a.methods != b.methods && a.methods != mockbase.MethodAny && b.methods != mockbase.MethodAny:
		return false
	case !a.mock.ok || !b.mock.ok:
		return true
	}
	p, q := a.mock.pattern.Segments, b.mock.pattern.Segments
	if a.mock.slashIgnored() || b.mock.slashIgnored() {
		p, q = unslashed(p), unslashed(q)
	}
	return pathsMeet(p, q)
}

// unslashed leaves out the slash at the end of a path.
func unslashed(segments []mockbase.PathSegment) []mockbase.PathSegment {
	end := len(segments) - 1
	if end >= 0 && !isOpen(segments[end]) && segments[end].Parts[0].Literal == "" {
		return segments[:end]
	}
	return segments
}

// pathsMeet tells whether two patterns may match one path.
func pathsMeet(p, q []mockbase.PathSegment) bool {
	for i := range min(len(p), len(q)) {
		switch {
		case p[i].Kind == mockbase.SegmentRest || q[i].Kind == mockbase.SegmentRest:
			return true
		case !isOpen(p[i]) && !isOpen(q[i]) && p[i].Parts[0].Literal != q[i].Parts[0].Literal:
			return false
		}
	}
	longer := p
	if len(q) > len(p) {
		longer = q
	}
	return len(p) == len(q) || longer[min(len(p), len(q))].Kind == mockbase.SegmentRest
}
