package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// slip is a common mistake in a path: what the path would be without it, and how to say so.
type slip struct {
	segments []string
	name     string
	says     string
	// joins tells that segments were joined, which only a path with an encoded slash of its own can mean.
	joins bool
}

// reaches tells whether a mock has another path than the request's, and that of the slip.
func (s *slip) reaches(l *likeness, matches func(*requestPath) bool, path *requestPath) bool {
	return !l.path && (!s.joins || l.pattern.holdsSlash()) && matches(path)
}

// hints names common slips (rule M5). The mocks come nearest first.
func (c *call) hints(near []likeness) []string {
	hints := c.pathHints(near)
	if hint := c.methodHint(near); hint != "" {
		hints = append(hints, hint)
	}
	hints = append(hints, c.nameHints(near)...)
	hints = append(hints, c.bodyHints(near)...)
	if l := firstOf(near, func(l *likeness) bool { return l.path && l.method && !l.atHost }); l != nil {
		hints = append(hints, fmt.Sprintf("%s answers on the other host %s only", describeMock(l), quoted(l.host.text)))
	}
	if strings.ContainsRune(rawTarget(c.request), '#') {
		hints = append(hints, "the target holds a fragment (#…), which a client should not send; it counts as text")
	}
	hints = append(hints, c.momentHints()...)
	if name := c.disabled(); name != "" {
		hints = append(hints, "mock "+quoted(name)+" would answer, but it is disabled")
	}
	if firstOf(near, func(l *likeness) bool { return l.path && l.atHost }) == nil && c.answeredElsewhere() {
		hints = append(hints, "another project has a mock for this method and path: check the project in the address, which is "+
			quoted(c.program.project.Slug))
	}
	return hints
}

// methodHint names the methods that the path is answered for, where no mock answers it for this one.
func (c *call) methodHint(near []likeness) string {
	atPath := func(l *likeness) bool { return l.path && l.atHost }
	if firstOf(near, func(l *likeness) bool { return atPath(l) && l.method }) != nil {
		return ""
	}
	l := firstOf(near, atPath)
	if l == nil || l.rank == rankAny {
		return ""
	}
	return fmt.Sprintf("the method differs: %s answers %s, not %s",
		describeMock(l), strings.Join(l.mock.Request.Methods, ", "), printable(c.method.name))
}

// answeredElsewhere tells whether another project has a mock for the method and path. Only projects that everybody may call
// are looked at, and none is named: what projects there are is not for everybody to know.
func (c *call) answeredElsewhere() bool {
	paths := make(map[pathRules]*requestPath)
	began := time.Now()
	for i, p := range c.engine.programs.Load().open {
		if i >= askedAnyway && time.Since(began) > askingTime {
			return false // A hint is not worth more.
		}
		if p.project.ID == c.program.project.ID {
			continue
		}
		path := paths[p.settings.pathRules]
		if path == nil {
			split, err := p.settings.split(c.target.path, nil)
			if err != nil {
				return false
			}
			path = &split
			paths[p.settings.pathRules] = path
		}
		if c.isAnsweredBy(p, path) {
			return true
		}
	}
	return false
}

// How many other projects a miss looks at in any case, and for how long at more of them.
const (
	askedAnyway = 16
	askingTime  = 2 * time.Millisecond
)

// isAnsweredBy tells whether a project has a mock for the method and path.
func (c *call) isAnsweredBy(p *program, path *requestPath) bool {
	asked := inquiry{request: c.request, header: c.header, method: p.settings.method(c.method.name), rules: p.settings.pathRules, path: *path}
	for _, l := range p.index.find(&asked.path, nil) {
		all := l.all()
		for _, e := range all[:min(len(all), maxCompared)] {
			if e.accepts(&asked.method) && e.host.match(c.request.Host) && e.here(&asked) {
				return true
			}
		}
	}
	return false
}

// pathHints names the slips of the path alone: each that alone keeps a mock from it, or two that do so together.
func (c *call) pathHints(near []likeness) []string {
	hints := []string{}
	slips := c.slips(c.path.segments)
	for _, s := range slips {
		path := c.pathOf(s.segments)
		if l := firstOf(near, func(l *likeness) bool { return s.reaches(l, l.pattern.match, path) }); l != nil {
			hints = append(hints, fmt.Sprintf(s.says, describeMock(l)))
		}
	}
	if l := firstOf(near, func(l *likeness) bool { return !l.path && l.pattern.matchAnyCase(&c.path) }); l != nil {
		hints = append(hints, "the path differs only in letter case from that of "+describeMock(l))
	}
	if len(hints) > 0 {
		return hints
	}
	return append(hints, c.doubleHints(near, slips)...)
}

// doubleHints names two slips that keep a mock from the path together, those of the first mock for which there are some.
func (c *call) doubleHints(near []likeness, slips []slip) []string {
	for _, s := range slips {
		path := c.pathOf(s.segments)
		if l := firstOf(near, func(l *likeness) bool { return s.reaches(l, l.pattern.matchAnyCase, path) }); l != nil {
			return []string{twoSlips(l, s.name, "letter case")}
		}
	}
	for _, s := range slips {
		for _, more := range c.slips(s.segments) {
			if more.name == s.name {
				continue
			}
			path := c.pathOf(more.segments)
			more.joins = more.joins || s.joins
			if l := firstOf(near, func(l *likeness) bool { return more.reaches(l, l.pattern.match, path) }); l != nil {
				return []string{twoSlips(l, s.name, more.name)}
			}
		}
	}
	return nil
}

func twoSlips(l *likeness, one, other string) string {
	return fmt.Sprintf("two slips keep the path from that of %s: %s, and %s", describeMock(l), one, other)
}

func firstOf(near []likeness, is func(l *likeness) bool) *likeness {
	for i := range near {
		if is(&near[i]) {
			return &near[i]
		}
	}
	return nil
}

func describeMock(l *likeness) string {
	return fmt.Sprintf("mock %s (%s)", quoted(l.mock.Name), printable(placeOf(l.mock)))
}

// placeOf is what a mock is found by, in its author's words.
func placeOf(m *mockbase.Mock) string {
	_, text := placeText(&m.Request)
	return text
}

// maxJoined is up to how many segments of a path those are joined whose slash might have been meant as data.
const maxJoined = 16

// slips returns a path without each of the slips that it may hold.
func (*call) slips(sent []string) []slip {
	last := len(sent) - 1
	var slips []slip
	try := func(segments []string, name, says string) {
		if len(segments) > 0 {
			slips = append(slips, slip{segments: segments, name: name, says: says})
		}
	}
	if last >= 0 && sent[last] == "" {
		try(sent[:last], "a trailing slash", "the path differs only by a trailing slash from that of %s")
	} else {
		try(append(sent[:last+1:last+1], ""), "no trailing slash", "the path lacks only the trailing slash of that of %s")
	}
	slips = append(slips, slashSlips(sent)...)
	if strings.Contains(strings.Join(sent, ""), "+") {
		try(replaceAll(sent, "+", " "), "a plus for a space (%20)", "a plus is a plus in a path; with a space (%%20) the path would be that of %s")
	}
	if strings.Contains(strings.Join(sent, ""), " ") {
		try(replaceAll(sent, " ", "+"), "%20 for a plus", "%%20 is a space; with a plus the path would be that of %s")
	}
	return slips
}

// slashSlips are those of slashes inside of a path.
func slashSlips(sent []string) []slip {
	last := len(sent) - 1
	var slips []slip
	var merged, divided []string
	for i, segment := range sent {
		if segment != "" || i == last {
			merged = append(merged, segment)
		}
		divided = append(divided, strings.Split(segment, "/")...)
	}
	if len(merged) < len(sent) && len(merged) > 0 {
		slips = append(slips, slip{
			segments: merged, name: "an empty segment (//)", says: "the path has an empty segment (//) that the path of %s has not",
		})
	}
	if len(divided) > len(sent) {
		slips = append(slips, slip{
			segments: divided, name: "an encoded slash (%2F)",
			says: "an encoded slash (%%2F) is data inside a segment; with plain slashes the path would be that of %s",
		})
	}
	for i := 0; i < last && last < maxJoined; i++ {
		slips = append(slips, slip{
			segments: slices.Concat(sent[:i], []string{sent[i] + "/" + sent[i+1]}, sent[i+2:]), name: "a slash that is not encoded (%2F)",
			says: "a slash divides segments; encoded (%%2F), as data inside of one, the path would be that of %s", joins: true,
		})
	}
	return slips
}

func replaceAll(texts []string, old, by string) []string {
	replaced := make([]string, len(texts))
	for i, s := range texts {
		replaced[i] = strings.ReplaceAll(s, old, by)
	}
	return replaced
}

func (c *call) pathOf(segments []string) *requestPath { return c.program.settings.pathOf(segments) }

// pathOf makes the path of decoded segments.
func (o pathRules) pathOf(segments []string) *requestPath {
	p := &requestPath{segments: segments, keys: segments}
	if o.ignoreCase {
		p.keys = operator.FoldAll(segments)
	}
	return p
}

// matchAnyCase tells whether the pattern would match without regard to letter case.
func (p *pattern) matchAnyCase(path *requestPath) bool {
	return p.matchWith(path, func(s *segment, i int) bool { return s.matchAnyCase(path.segments[i]) })
}

// nameHints finds query parameters and cookies that were sent in another letter case (rules C9 and E1).
func (c *call) nameHints(near []likeness) []string {
	for i := range near {
		l := &near[i]
		if !l.path {
			continue
		}
		if hint := caseHint(l, "query", l.guards.query, c.pairs()); hint != "" {
			return []string{hint}
		}
		if hint := caseHint(l, "Cookie header", l.guards.cookies, c.cookiePairs()); hint != "" {
			return []string{hint}
		}
	}
	return nil
}

// caseHint names a pair whose name a condition writes in another letter case, and that was not sent as it is written.
func caseHint(l *likeness, where string, conditions []condition, sent []pair) string {
	for i := range conditions {
		wanted := conditions[i].name
		if v := valuesOf(sent, wanted); v.Sent() {
			continue
		}
		for _, p := range sent {
			if strings.EqualFold(p.name, wanted) {
				return fmt.Sprintf("letter case: the %s holds %s, and %s asks for %s",
					where, quoted(p.name), describeMock(l), quoted(wanted))
			}
		}
	}
	return ""
}

// disabled returns the name of a disabled mock that would answer, "" if there is none (rule A10).
func (c *call) disabled() string {
	for i := range c.program.entries[:min(len(c.program.entries), maxScanned)] {
		e := &c.program.entries[i]
		if e.mock.Disabled && e.matches(&c.inquiry) && c.fits(e) {
			return e.mock.Name
		}
	}
	return ""
}
