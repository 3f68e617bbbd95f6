package interchange

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// ranked tells whether the mocks of a format are in an order of the tool, by which one answers where several match. The others
// are requests that somebody saved.
func (f Format) ranked() bool {
	switch f {
	case FormatWireMock, FormatMockServer, FormatSmocker, FormatHoverfly, FormatMockoon:
		return true
	default:
		return false
	}
}

// precedent is a mock or a collection at its place in the tool's own order.
type precedent struct {
	doc  *mockbase.Node
	from value
	// level is the priority; strength is what decides in the tool between equal ones, before the place.
	level, strength int
	places          []*placed
}

// placed is one place where a precedent answers. Its precedence orders as the server does at equal priorities.
type placed struct {
	of         *precedent
	mock       *mockbase.Mock
	precedence string
	segments   []mockbase.PathSegment
	// literal is the path of a place that answers at one alone; start is what all paths begin with that an expression matches.
	literal, start string
	isLiteral      bool
	expression     *regexp.Regexp
}

// precede raises priorities where the server would choose another mock than the tool for a request that both match, as it
// takes the more special one first. The mocks are in the order of the tool, the last one first of those of equal priority and
// strength.
func (o *output) precede() {
	list := slices.Clone(o.precedents)
	slices.SortStableFunc(list, func(a, b *precedent) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.strength, b.strength))
	})
	r := &rivals{literal: map[string][]*placed{}}
	for i, p := range list {
		if o.ctx.Err() != nil {
			return
		}
		level := p.level
		for _, at := range p.places {
			at.mock.Order = int64(i)
			level = max(level, r.level(at, level))
		}
		if level > highestPriority {
			o.lost(p.from, "it stands before too many others that match the same requests: priorities end at %d", highestPriority)
			level = highestPriority
		}
		if level != p.level {
			p.raise(level)
		}
		for _, at := range p.places {
			r.add(at)
		}
	}
}

// highestPriority is the largest priority of a mock (mock format, section 6).
const highestPriority = 1000

// raise sets the priority in the document, before the request or the path.
func (p *precedent) raise(level int) {
	p.level = level
	n := numberNode(int64(level))
	for i := range p.doc.Members {
		if p.doc.Members[i].Key == "priority" {
			p.doc.Members[i].Value = n
			return
		}
	}
	before := slices.IndexFunc(p.doc.Members, func(m mockbase.Member) bool { return m.Key == "request" || m.Key == "seed" })
	if before < 0 {
		before = len(p.doc.Members)
	}
	p.doc.Members = slices.Insert(p.doc.Members, before, mockbase.Member{Key: "priority", Value: n})
}

// rivals are the places of those that come later in the order of the tool: those of one path by that, the others in a list.
type rivals struct {
	literal   map[string][]*placed
	open, all []*placed
}

func (r *rivals) add(p *placed) {
	r.all = append(r.all, p)
	if p.isLiteral {
		r.literal[p.literal] = append(r.literal[p.literal], p)
	} else {
		r.open = append(r.open, p)
	}
}

// level is the least priority, of at least the given one, at which a place comes before all that may match the same request.
func (r *rivals) level(p *placed, level int) int {
	those := [][]*placed{r.all}
	if p.isLiteral {
		those = [][]*placed{r.literal[p.literal], r.open}
	}
	for _, list := range those {
		for _, other := range list {
			needed := other.of.level
			if other.of != p.of && other.precedes(p) {
				needed++
			}
			if needed > level && other.of != p.of && p.meets(other) {
				level = needed
			}
		}
	}
	return level
}

// precedes tells whether the server takes a place before another one of equal priority.
func (p *placed) precedes(other *placed) bool {
	if p.precedence != other.precedence {
		return p.precedence < other.precedence
	}
	return p.mock.Order > other.mock.Order
}

// meets tells whether one request may match two places. It errs on the side of yes.
func (p *placed) meets(other *placed) bool {
	a, b := &p.mock.Request, &other.mock.Request
	switch {
	case !methodsMeet(a.Methods, b.Methods),
		a.Host != "" && b.Host != "" && !strings.EqualFold(a.Host, b.Host),
		a.RawTarget != "" && b.RawTarget != "" && a.RawTarget != b.RawTarget,
		statesApart(p.mock, other.mock):
		return false
	case p.expression == nil && other.expression == nil:
		return pathsMeet(p.segments, other.segments)
	case p.expression == nil:
		return other.matches(p)
	case other.expression == nil:
		return p.matches(other)
	}
	return strings.HasPrefix(p.start, other.start) || strings.HasPrefix(other.start, p.start)
}

// matches tells whether an expression may match a path of another place.
func (p *placed) matches(other *placed) bool {
	if !other.isLiteral {
		return strings.HasPrefix(p.start, other.start) || strings.HasPrefix(other.start, p.start)
	}
	return strings.HasPrefix(other.literal, p.start) && p.expression.MatchString(other.literal)
}

func methodsMeet(a, b []string) bool {
	return slices.Contains(a, mockbase.MethodAny) || slices.Contains(b, mockbase.MethodAny) ||
		slices.ContainsFunc(a, func(method string) bool { return slices.Contains(b, method) })
}

// statesApart tells whether two mocks answer in different states of one scenario.
func statesApart(a, b *mockbase.Mock) bool {
	return a.Scenario != "" && a.Scenario == b.Scenario && len(a.States) > 0 && len(b.States) > 0 &&
		!slices.ContainsFunc(a.States, func(state string) bool { return slices.Contains(b.States, state) })
}

// precedent notes a mock in the order of the tool, with what decides there before the place.
func (o *output) precedent(doc *mockbase.Node, m *mockbase.Mock, from value, strength int) {
	p := &precedent{doc: doc, from: from, level: m.Priority, strength: strength}
	p.places = []*placed{newPlaced(p, m, "0")}
	o.precedents = append(o.precedents, p)
}

// precedentCollection notes a collection, which answers at its path and one below. At equal paths it comes after mocks (rule V1).
func (o *output) precedentCollection(doc *mockbase.Node, path string, from value) {
	p := &precedent{doc: doc, from: from}
	const behind = "1"
	for _, at := range []string{path, path + "/{id}"} {
		m := &mockbase.Mock{Request: mockbase.RequestMatcher{Methods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, Path: at}}
		p.places = append(p.places, newPlaced(p, m, behind))
	}
	o.precedents = append(o.precedents, p)
}

func newPlaced(of *precedent, m *mockbase.Mock, behind string) *placed {
	p := &placed{of: of, mock: m, precedence: specificity(m) + behind + strconv.Itoa(anyMethod(m)) + strconv.Itoa(unguarded(m))}
	r := &m.Request
	switch {
	case r.PathMatches != "":
		// The expression holds for the whole path, so that what is said of its ends is nothing new.
		inner := strings.TrimPrefix(r.PathMatches, "^")
		p.expression = regexp.MustCompile("^(?:" + r.PathMatches + ")$") // the decoder has compiled it
		p.start, _ = regexp.MustCompile(inner).LiteralPrefix()
		return p
	case r.RawTarget != "":
		path, _, _ := strings.Cut(r.RawTarget, "?")
		p.segments = literalSegments(path)
	default:
		pattern, _ := mockbase.ParsePath(r.Path) // the decoder has read it
		p.segments = pattern.Segments
	}
	p.isLiteral = true
	for _, s := range p.segments {
		if p.isLiteral = !isOpen(s); !p.isLiteral {
			p.literal = ""
			break
		}
		p.literal += "/" + s.Parts[0].Literal
		p.start = p.literal
	}
	return p
}

// literalSegments are those of a path as it is sent.
func literalSegments(path string) []mockbase.PathSegment {
	var list []mockbase.PathSegment
	for text := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
		list = append(list, mockbase.PathSegment{Kind: mockbase.SegmentLiteral, Parts: []mockbase.PathPart{{Literal: text}}})
	}
	return list
}
