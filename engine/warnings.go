package engine

import (
	"reflect"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// Warnings says what about a mock of a snapshot only shows beside the others: that another mock answers all that it
// would, or ranks like it and wins where both match, or that its answers differ from a document's; and that its own
// conditions never hold. Pointers are relative to the mock. The warnings of the mock alone
// are those of [mockbase.Mock.Warnings].
func (e *Engine) Warnings(s *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError {
	if m.Disabled {
		return nil
	}
	p, own := e.place(s, m)
	if own == nil {
		return nil
	}
	return slices.Concat(p.overruled(own), contradictions(m, own.route), p.drift(m))
}

// place finds the entry of a mock of a snapshot. A program that was published since and still has the mock does as well: it
// knows the neighbours that came meanwhile. A mock that is about to be added stands in front of those that are published.
func (e *Engine) place(s *mockbase.Snapshot, m *mockbase.Mock) (*program, *entry) {
	published := e.programs.Load().byID[s.Project.ID]
	if published != nil && published.snapshot != s {
		if at := slices.Index(published.snapshot.Mocks, m); at >= 0 && published.project.Revision > s.Project.Revision {
			return published, &published.entries[at]
		}
		if own := published.added(s, m); own != nil {
			return published, own
		}
	}
	p := e.programOf(s)
	at := slices.Index(s.Mocks, m)
	if p == nil || at < 0 {
		return nil, nil
	}
	return p, &p.entries[at]
}

// added is the entry that the newest mock of a snapshot would have in a program of an earlier one with the same
// configuration, nil if it is not that.
func (p *program) added(s *mockbase.Snapshot, m *mockbase.Mock) *entry {
	if s.Project.Revision <= p.project.Revision || len(s.Mocks) == 0 || s.Mocks[len(s.Mocks)-1] != m || len(p.collected) > 0 ||
		!sameConfig(&s.Project.Config, &p.project.Config) || !reflect.DeepEqual(s.Project.Config.Documents, p.project.Config.Documents) {
		return nil
	}
	var faults mockbase.Faults
	r := compileRoute(&s.Project.Config, p.settings, m, &faults)
	if r == nil || faults.Len() > 0 {
		return nil
	}
	return &entry{route: r, age: len(s.Mocks), scenario: session.NoScenario}
}

// overruled tells which other mock answers in the place of one.
func (p *program) overruled(own *entry) []mockbase.FieldError {
	if other := p.hider(own); other != nil {
		return []mockbase.FieldError{{
			Pointer: "#/request", Code: mockbase.WarningUnreachable,
			Detail: "never answers, because mock " + quoted(other.mock.Name) + " comes first and matches the same requests",
		}}
	}
	if other := p.tied(own); other != nil {
		return []mockbase.FieldError{{
			Pointer: "#/request", Code: mockbase.WarningTie,
			Detail: "ranks like mock " + quoted(other.mock.Name) + ", which is newer and answers where both match; a priority decides",
		}}
	}
	return nil
}

// ConfigWarnings says what of a configuration has no effect on this server.
func (e *Engine) ConfigWarnings(c *mockbase.Config) []mockbase.FieldError {
	found := append(e.documentWarnings(c.Documents), e.collectionWarnings(c)...)
	if c.Settings.NoBrowserSandbox && e.options.Sandbox == SandboxOn && e.options.SharedOrigin {
		found = append(found, mockbase.FieldError{
			Pointer: "#/settings/browserSandbox", Code: mockbase.WarningUnused,
			Detail: "has no effect here, because the operator sandboxes the pages of every project",
		})
	}
	return found
}

// programOf returns the program of a snapshot: the published one, or the one that was asked for last, or a new one; nil
// if the snapshot does not compile.
func (e *Engine) programOf(s *mockbase.Snapshot) *program {
	published := e.programs.Load().byID[s.Project.ID]
	if published != nil && published.snapshot == s {
		return published
	}
	if examined := e.examined.Load(); examined != nil && examined.snapshot == s {
		return examined
	}
	p, err := e.compile(s, published)
	if err != nil {
		return nil
	}
	e.examined.Store(p)
	return p
}

// before returns the first other entry that ranks before own, has a path that covers that of own, and satisfies is.
func (p *program) before(own *entry, is func(other, own *entry) bool) *entry {
	var best *entry
	for _, l := range p.rivals(own) {
		for _, other := range l.all() {
			if !other.is(own) && compare(other, own) < 0 && (best == nil || compare(other, best) < 0) && is(other, own) {
				best = other
			}
		}
	}
	return best
}

// rivals returns the leaves whose mocks match whatever path own matches.
func (p *program) rivals(own *entry) []*leaf {
	switch {
	case own.pattern.expr == nil && len(own.guards.matrix) == 0:
		return p.index.covering(own.pattern)
	case own.pattern.expr == nil:
		return p.matrix.covering(own.pattern)
	}
	return []*leaf{&p.expressions}
}

func takesSlash(other, own *pattern) bool {
	return !own.slash || other.slash || other.rest >= 0 && other.rest == len(other.segments)-1
}

// covering returns the leaves of the patterns that match whatever p matches, but for a slash at the end.
func (x *index) covering(p *pattern) []*leaf {
	var found []*leaf
	var walk func(n *node, at int)
	walk = func(n *node, at int) {
		if n == nil {
			return
		}
		for _, r := range n.rests() {
			if r.tail == 0 && p.fewest(at) >= r.least && !r.node.leaf.empty() {
				found = append(found, &r.node.leaf)
			}
		}
		if spell(p.segments[at:], n.tail()) && !n.leaf.empty() {
			found = append(found, &n.leaf)
		}
		if at == len(p.segments) {
			return
		}
		for _, next := range n.covering(p, at) {
			walk(next, at+1)
		}
	}
	walk(&x.root, 0)
	return found
}

// fewest is how many segments the pattern's own from at on match at least.
func (p *pattern) fewest(at int) int {
	n := len(p.segments) - at
	if p.rest >= at {
		n += p.restMin - 1
	}
	return n
}

// covering returns the children that are reached by every text that the pattern's segment matches.
func (n *node) covering(p *pattern, at int) []*node {
	s := &p.segments[at]
	switch {
	case s.kind == mockbase.SegmentLiteral && s.literal == "":
		return []*node{n.literal("")}
	case s.kind == mockbase.SegmentLiteral:
		return append(n.matching(s.literal), n.literal(s.literal), n.any)
	case s.kind == mockbase.SegmentRest:
		for _, r := range n.rests() {
			if tail := len(p.segments) - 1 - at; tail > 0 && r.tail == tail && r.least <= p.restMin {
				return []*node{r.node}
			}
		}
		return nil
	case s.shape != nil:
		for _, c := range n.shaped() {
			if c.shape.spelling == s.shape.spelling {
				return []*node{c.node, n.any}
			}
		}
	}
	return []*node{n.any}
}

// matching returns the children of shapes that a literal has. Where letter case is ignored, it must have none.
func (n *node) matching(literal string) []*node {
	var found []*node
	for _, c := range n.shaped()[:min(len(n.shaped()), mostExpressions)] {
		if (!c.shape.ignoreCase || strings.ToUpper(literal) == strings.ToLower(literal)) && c.shape.match(literal) {
			found = append(found, c.node)
		}
	}
	return found
}

func (n *node) rests() []restChild {
	if n.more == nil {
		return nil
	}
	return n.more.rests
}

func (n *node) shaped() []shapedChild {
	if n.more == nil {
		return nil
	}
	return n.more.shaped
}
