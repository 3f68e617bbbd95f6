package engine

import (
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// slip is a common mistake in a path: what the path would be without it, and how to say so.
type slip struct {
	path *requestPath
	says string
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
	for _, p := range c.engine.programs.Load().open {
		if p.project.ID != c.program.project.ID && c.isAnsweredBy(p) {
			return true
		}
	}
	return false
}

// isAnsweredBy tells whether a project has a mock for the method and path.
func (c *call) isAnsweredBy(p *program) bool {
	path, err := p.settings.split(c.target.path, nil)
	if err != nil {
		return false
	}
	asked := inquiry{request: c.request, header: c.header, method: p.settings.method(c.method.name), rules: p.settings.pathRules, path: path}
	for _, l := range p.index.find(&asked.path, nil) {
		for _, e := range l.all() {
			if e.accepts(&asked.method) && e.host.match(c.request.Host) && e.here(&asked) {
				return true
			}
		}
	}
	return false
}

// pathHints names the slips of the path alone.
func (c *call) pathHints(near []likeness) []string {
	hints := []string{}
	for _, s := range c.slips() {
		if l := firstOf(near, func(l *likeness) bool { return !l.path && l.pattern.match(s.path) }); l != nil {
			hints = append(hints, fmt.Sprintf(s.says, describeMock(l)))
		}
	}
	if l := firstOf(near, func(l *likeness) bool { return !l.path && l.pattern.matchAnyCase(&c.path) }); l != nil {
		hints = append(hints, "the path differs only in letter case from that of "+describeMock(l))
	}
	return hints
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

// slips returns the request's path without each of the slips that it may hold.
func (c *call) slips() []slip {
	sent := c.path.segments
	last := len(sent) - 1
	var slips []slip
	try := func(segments []string, says string) {
		if len(segments) > 0 {
			slips = append(slips, slip{path: c.program.settings.pathOf(segments), says: says})
		}
	}
	if last >= 0 && sent[last] == "" {
		try(sent[:last], "the path differs only by a trailing slash from that of %s")
	} else {
		try(append(sent[:last+1:last+1], ""), "the path lacks only the trailing slash of that of %s")
	}
	var merged, divided []string
	for i, segment := range sent {
		if segment != "" || i == last {
			merged = append(merged, segment)
		}
		divided = append(divided, strings.Split(segment, "/")...)
	}
	if len(merged) < len(sent) {
		try(merged, "the path has an empty segment (//) that the path of %s has not")
	}
	if len(divided) > len(sent) {
		try(divided, "an encoded slash (%%2F) is data inside a segment; with plain slashes the path would be that of %s")
	}
	if strings.Contains(strings.Join(sent, ""), "+") {
		try(replaceAll(sent, "+", " "), "a plus is a plus in a path; with a space (%%20) the path would be that of %s")
	}
	if strings.Contains(strings.Join(sent, ""), " ") {
		try(replaceAll(sent, " ", "+"), "%%20 is a space; with a plus the path would be that of %s")
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
