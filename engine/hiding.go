package engine

import (
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// mostExpressions is how many expressions, and shapes of a segment, one literal path is tried with.
const mostExpressions = 100

// hider returns the first mock that answers all that own would, nil if there is none.
func (p *program) hider(own *entry) *entry {
	var (
		best   *entry
		wanted *traits
	)
	for _, l := range p.rivals(own) {
		if all := l.all(); len(all) == 1 && all[0].is(own) {
			continue
		}
		if wanted == nil {
			wanted = traitsOf(own)
		}
		best = sooner(best, p.sieve(l).find(p.settings, wanted))
	}
	if text, isOne := p.onlyText(own); isOne && !p.expressions.empty() {
		if wanted == nil {
			wanted = traitsOf(own)
		}
		best = sooner(best, p.sieve(&p.expressions).findFor(p.settings, wanted, text))
	}
	return best
}

// sooner is the entry of two that comes first; either may be nil.
func sooner(a, b *entry) *entry {
	if a == nil || b != nil && compare(b, a) < 0 {
		return b
	}
	return a
}

// onlyText is the one path that a mock matches as an expression sees it, but for a slash at its end.
func (p *program) onlyText(own *entry) (text string, isOne bool) {
	if own.pattern.expr != nil || len(own.guards.matrix) > 0 || p.settings.ignoreCase {
		return "", false
	}
	texts := make([]string, len(own.pattern.segments))
	for i := range own.pattern.segments {
		s := &own.pattern.segments[i]
		if s.kind != mockbase.SegmentLiteral {
			return "", false
		}
		texts[i] = s.literal
	}
	return "/" + strings.Join(texts, "/"), true
}

// sieve finds, among the mocks of one leaf, those that may hide another one, without a look at each.
type sieve struct {
	all []*traits
	// lists are the mocks by the one of their traits that the fewest of them have, the best first.
	lists map[string][]*traits
}

// sieve returns that of a leaf.
func (p *program) sieve(l *leaf) *sieve {
	if known, found := p.sieves.Load(l); found {
		return known.(*sieve) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	s := &sieve{lists: map[string][]*traits{}}
	shared := map[string]int{}
	for _, e := range l.all() {
		if e.selection.leaves() || e.selection.momentary {
			continue
		}
		t := traitsOf(e)
		s.all = append(s.all, t)
		for _, text := range t.own() {
			shared[text]++
		}
	}
	for _, t := range s.all {
		rarest := ""
		for _, text := range t.own() {
			if rarest == "" || shared[text] < shared[rarest] {
				rarest = text
			}
		}
		s.lists[rarest] = append(s.lists[rarest], t)
	}
	p.sieves.Store(l, s)
	return s
}

// find returns the first mock that hides one whose path its own covers.
func (s *sieve) find(of *settings, own *traits) *entry {
	var best *entry
	for _, text := range append(own.texts(), "") {
		for _, other := range s.lists[text] {
			if own.isLater(other) {
				break
			}
			if other.hides(of, own) && takesPath(other.pattern, own.pattern) {
				best = sooner(best, other.entry)
				break
			}
		}
	}
	return best
}

// findFor returns the first mock that hides one for a path, and whose expression matches it.
func (s *sieve) findFor(of *settings, own *traits, path string) *entry {
	for _, other := range s.all[:min(len(s.all), mostExpressions)] {
		if own.isLater(other) {
			break
		}
		if other.hides(of, own) && other.pattern.expr.MatchString(path) && (!own.pattern.slash || other.pattern.expr.MatchString(path+"/")) {
			return other.entry
		}
	}
	return nil
}

// isLater tells whether a mock, and each after it, comes after own; requests for HEAD have an order of their own.
func (t *traits) isLater(other *traits) bool {
	return !slices.Contains(t.mock.Request.Methods, "HEAD") && compare(other.entry, t.entry) >= 0
}

// hides tells whether whatever own would answer, t answers first, given that its path covers that of own, and that it leaves
// nothing to others but by its state.
func (t *traits) hides(of *settings, own *traits) bool {
	return !t.is(own.entry) && t.isFirst(own.entry) && takesHosts(t.entry, own.entry) && takesMethods(of, t.entry, own.entry) &&
		takesStates(t.mock, own.mock) && t.takesTarget(own) && own.has(t)
}

// isFirst tells whether t comes first with each method that own states.
func (t *traits) isFirst(own *entry) bool {
	return !slices.ContainsFunc(own.mock.Request.Methods, func(name string) bool { return comparison(name)(t.entry, own) >= 0 })
}

// takesTarget tells whether what own says of the query as a whole does for t.
func (t *traits) takesTarget(own *traits) bool {
	if t.guards.raw != nil && (own.guards.raw == nil || *own.guards.raw != *t.guards.raw) {
		return false
	}
	// What a strict query may hold is what the conditions mention.
	return !t.guards.strictQuery || own.guards.strictQuery && len(own.statements) == len(t.statements)
}

func takesPath(other, own *pattern) bool {
	if own.expr != nil {
		return other.expr != nil && other.expr.String() == own.expr.String()
	}
	return takesSlash(other, own)
}

func takesStates(other, own *mockbase.Mock) bool {
	return len(other.States) == 0 || other.Scenario == own.Scenario && within(own.States, other.States)
}

func takesHosts(other, own *entry) bool {
	a, b := other.host, own.host
	switch {
	case a == nil:
		return true
	case b == nil || a.port != "" && a.port != b.port:
		return false
	case a.below && b.below:
		return strings.HasSuffix(b.name, a.name)
	case a.below:
		return len(b.name) > len(a.name) && strings.HasSuffix(b.name, a.name)
	default:
		return !b.below && a.name == b.name
	}
}

func takesMethods(of *settings, other, own *entry) bool {
	for _, name := range own.mock.Request.Methods {
		m := of.method(name)
		if !other.accepts(&m) {
			return false
		}
	}
	return true
}
