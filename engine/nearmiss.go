package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of an explanation (rules M2 and M6).
const (
	maxNearMisses = 3
	maxCompared   = 200
	// maxScanned is how many mocks are looked at to find the ones to compare.
	maxScanned = 10_000
	// maxDiagnosis is how many bytes of values an explanation shows.
	maxDiagnosis = 64 << 10
	// maxSegments is how many segments of a path are compared with those of every mock, longestTried how many bytes an
	// expression of each is tried on.
	maxSegments, longestTried = 32, 512
)

// What the parts of a request weigh in the distance to a mock (rule M4); together 1. A path that differs at all weighs
// as much as pathWeight, and pathSpread more as less of it is alike.
const (
	pathWeight   = 0.28
	pathSpread   = 0.22
	methodWeight = 0.18
	hostWeight   = 0.12
)

// partWeight is what the conditions of one part weigh, if all of them fail.
func partWeight(part string) float64 {
	switch part {
	case partPath, partQuery:
		return 0.06
	case partHeaders:
		return 0.04
	case partCookies, partAuth:
		return 0.02
	default:
		return 0.01
	}
}

// likeness is how near a mock comes to a request.
type likeness struct {
	*entry
	distance             float64
	path, method, atHost bool
	findings             []finding
}

// nearest compares the mocks that may be near, at most maxCompared, and returns them nearest first. On a tie the order
// of rule A2 decides, so that the same request gives the same list.
func (c *call) nearest() []likeness {
	defer c.effort.End()
	near := make([]likeness, 0, min(maxCompared, len(c.program.entries)))
	met := make(map[int]bool)
	m := newMerge(c.matching(), c.method.name)
	for e := m.next(); e != nil && len(near) < maxCompared; e = m.next() {
		if !met[e.age] {
			met[e.age] = true
			near = append(near, c.liken(e))
		}
	}
	for _, e := range c.alike(met, maxCompared-len(near)) {
		near = append(near, c.liken(e))
	}
	c.hideFindings(near)
	order := comparison(c.method.name)
	slices.SortFunc(near, func(a, b likeness) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), order(a.entry, b.entry))
	})
	return near
}

// alike returns up to most enabled mocks whose paths look most like the request's, but for those met already, by age. It
// counts how many there are of each estimate first, so that nothing has to be sorted.
func (c *call) alike(met map[int]bool, most int) []*entry {
	entries := c.program.entries[:min(len(c.program.entries), maxScanned)]
	estimates := make([]uint8, len(entries))
	var counts [256]int
	for i := range entries {
		if e := &entries[i]; !e.mock.Disabled && !met[e.age] {
			estimates[i] = c.estimate(e)
			counts[estimates[i]]++
		}
	}
	worst, better := uint8(1), 0
	for ; worst < hopeless && better+counts[worst] <= most; worst++ {
		better += counts[worst]
	}
	found := make([]*entry, 0, min(most, len(entries)))
	atWorst := most - better
	for i := range entries {
		switch {
		case estimates[i] == 0 || estimates[i] > worst:
			continue
		case estimates[i] == worst:
			if atWorst--; atWorst < 0 {
				continue
			}
		}
		found = append(found, &entries[i])
	}
	return found
}

// hopeless is the largest estimate.
const hopeless = 255

// estimate is a cheap guess of the distance, from 1 to hopeless.
func (c *call) estimate(e *entry) uint8 {
	guess := 1 + e.mismatch(&c.inquiry)*200
	if !e.accepts(&c.method) {
		guess += 30
	}
	return uint8(guess)
}

// liken compares one mock fully.
func (c *call) liken(e *entry) likeness {
	l := likeness{
		entry: e, path: e.matches(&c.inquiry), method: e.accepts(&c.method), atHost: e.host.match(c.request.Host),
	}
	if !l.path {
		l.distance += pathWeight + pathSpread*e.mismatch(&c.inquiry)
	}
	if !l.method {
		l.distance += methodWeight
	}
	if !l.atHost {
		l.distance += hostWeight
	}
	// The body is not examined for a mock with another path: it may not have been read, and it costs the most.
	c.passesBody = !l.path
	c.effort.Try(func() bool {
		l.findings = c.findings(e)
		return true
	})
	c.passesBody = false
	for _, part := range []string{partPath, partQuery, partHeaders, partCookies, partAuth, partBody, partState, partTimes} {
		l.distance += partWeight(part) * failingShare(l.findings, part)
	}
	return l
}

// findings tells what became of the mock's conditions.
func (c *call) findings(e *entry) []finding {
	c.route, c.moment = e.route, nil
	if r := c.lookedAt(e); r != nil {
		c.moment = &r.instant
	}
	if unknown := c.forgotten(e); unknown != nil {
		c.route, c.moment = e.route, nil
		return append(e.guards.findings(&c.inquiry), unknown...)
	}
	return append(e.guards.findings(&c.inquiry), c.momentFindings(e)...)
}

// failingShare is the share of the conditions of a part that do not hold.
func failingShare(findings []finding, part string) float64 {
	all, failing := 0, 0
	for i := range findings {
		if findings[i].part != part || findings[i].unknown {
			continue
		}
		if all++; !findings[i].holds {
			failing++
		}
	}
	return float64(failing) / float64(max(1, all))
}

// unlikeExpr is the mismatch of a path with an expression, which has no parts that could be alike.
const unlikeExpr = 0.6

// mismatch says how little of a path is like that of the mock.
func (r *route) mismatch(q *inquiry) float64 {
	switch {
	case r.pattern.expr == nil:
		return r.pattern.mismatch(r.pathFor(q))
	case len(q.pathText()) <= longestTried && r.matches(q):
		return 0
	default:
		return unlikeExpr
	}
}

// mismatch says how little of a path is like the pattern: from 0, all of it as far as can be seen, to 1.
func (p *pattern) mismatch(path *requestPath) float64 {
	own := p.segments
	if p.rest >= 0 {
		own = own[:p.rest]
	}
	sum := 0.0
	longest := max(len(own), len(path.segments))
	if longest > maxSegments {
		// What is longer than anybody writes is looked at in part, and counts as missing behind it.
		sum = float64(longest - maxSegments)
	}
	for i := range min(longest, maxSegments) {
		switch {
		case i >= len(path.segments):
			sum += missing(own[i].literal)
		case i < len(own):
			sum += own[i].mismatch(path.segments[i], path.keys[i])
		case p.rest < 0:
			sum += missing(path.segments[i])
		}
	}
	return sum / float64(max(1, longest))
}

// missing is the mismatch of a segment that only one side has; a slash at the end is a small slip.
func missing(text string) float64 {
	if text == "" {
		return 0.25
	}
	return 1
}

func (s *segment) mismatch(text, key string) float64 {
	switch {
	case (s.kind == mockbase.SegmentLiteral || len(text) <= longestTried) && s.match(text, key):
		return 0
	case s.kind != mockbase.SegmentLiteral:
		return 0.5
	case strings.EqualFold(s.literal, text):
		return 0.1
	default:
		return 1 - 0.75*float64(commonPrefix(s.literal, key))/float64(max(len(s.literal), len(key)))
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
