package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxCandidates is how many mocks an explanation shows.
const maxCandidates = 10

// partEnabled is the part of a mock that is switched off.
const partEnabled = "enabled"

// lookAround notes of the mocks that fit the request, in their order, what the session remembers: a request looks no further
// than to the first that may answer.
func (c *call) lookAround() {
	c.refusals = c.refusals[:0]
	q := c.queue()
	var list []candidate
	for e := q.next(); e != nil && len(list) < maxCompared; e = q.next() {
		if e.selection.remembers && c.fits(e) {
			list = append(list, c.candidate(e))
		}
	}
	if len(list) == 0 {
		return
	}
	step := c.step()
	defer step.End()
	for i := range list {
		if c.take(step, &list[i]) {
			c.held = append(c.held, refusal{entry: list[i].entry, instant: c.instant})
		}
	}
}

// compareAll lists the mocks that come nearest, the one that is wanted among them.
func (c *call) compareAll(x *mockbase.Explanation, near []likeness, wanted string) {
	shown := near[:min(len(near), maxCandidates)]
	if e := c.program.mockOf(wanted); wanted != "" && e != nil {
		is := func(l likeness) bool { return l.is(e) }
		if !slices.ContainsFunc(shown, is) {
			shown = append(slices.Clone(shown[:min(len(shown), maxCandidates-1)]), c.liken(e))
		}
	}
	room := maxDiagnosis
	for i := range shown {
		x.Candidates = append(x.Candidates, c.candidateOf(&shown[i], &room))
	}
}

// checklist writes the checks of one mock, as long as there is room for values.
type checklist struct {
	checks []mockbase.Check
	failed int
	// unknown counts those that were not examined.
	unknown int
	room    *int
}

func (l *checklist) add(k mockbase.Check) {
	if !k.OK {
		l.failed++
	}
	k.Name, k.Expected, k.Actual, k.Hint = printable(k.Name), printable(k.Expected), printable(k.Actual), printable(k.Hint)
	if *l.room -= len(k.Name) + len(k.Expected) + len(k.Actual) + len(k.Hint); *l.room < 0 {
		k.Expected, k.Actual, k.Hint = "", "", ""
	}
	l.checks = append(l.checks, k)
}

// candidateOf shows a comparison with what each condition expected and what was sent.
func (c *call) candidateOf(l *likeness, room *int) mockbase.Candidate {
	list := checklist{room: room}
	c.checkPlace(&list, l)
	for i := range l.findings {
		f := &l.findings[i]
		if !f.unknown {
			list.add(f.check())
			continue
		}
		list.unknown++
		list.checks = append(list.checks, mockbase.Check{
			Part: f.part, Name: printable(f.name), Operator: "notExamined", Expected: "not examined", Actual: "not examined", Hint: l.unexamined(),
		})
	}
	return mockbase.Candidate{
		Mock: l.ref, Matched: list.failed == 0 && list.unknown == 0, Score: len(list.checks) - list.failed - list.unknown,
		Of: len(list.checks), Checks: list.checks,
	}
}

// unexamined says why a condition was not examined.
func (l *likeness) unexamined() string {
	if !l.path {
		return "the path differs, so that the body was not compared"
	}
	return "the body is too large to be compared once more for an explanation"
}

// checkPlace adds the checks of what every mock states.
func (c *call) checkPlace(list *checklist, l *likeness) {
	if l.mock.Disabled {
		list.add(mockbase.Check{Part: partEnabled, Operator: "equals", Expected: "true", Actual: "false"})
	}
	if l.rank != rankAny {
		operator := "equals"
		if len(l.mock.Request.Methods) > 1 {
			operator = "in"
		}
		list.add(mockbase.Check{
			Part: partMethod, Operator: operator, Expected: strings.Join(l.mock.Request.Methods, ", "), Actual: c.method.name, OK: l.method,
		})
	}
	if l.host != nil {
		list.add(mockbase.Check{Part: partHost, Operator: "equals", Expected: l.host.text, Actual: c.request.Host, OK: l.atHost})
	}
	operator, expected := placeText(&l.mock.Request)
	own := mockbase.Check{Part: partPath, Operator: operator, Expected: expected, Actual: c.pathBeside(expected, l.path), OK: l.path}
	if !l.path {
		own.Hint = c.slipTo(l)
	}
	list.add(own)
}

// slipTo names the slip without which the path would be that of the mock, "" if there is none.
func (c *call) slipTo(l *likeness) string {
	one := []likeness{*l}
	if hints := c.pathHints(one); len(hints) > 0 {
		return hints[0]
	}
	return ""
}

// check shows a finding, whether it holds or not.
func (f *finding) check() mockbase.Check {
	k := mockbase.Check{Part: f.part, Name: f.name, OK: f.holds}
	k.Operator, k.Expected, k.Actual = f.shown()
	if k.Operator == "" {
		k.Operator = "holds"
	}
	return k
}

// decidedBy names the first step of rule A2 by which the mock goes before the next one that matches too, "" if there is
// none.
func (c *call) decidedBy(won *entry, near []likeness) string {
	order := comparison(c.method.name)
	var next *entry
	for i := range near {
		if l := &near[i]; l.entry != won && l.distance == 0 && order(won, l.entry) < 0 && (next == nil || order(l.entry, next) < 0) {
			next = l.entry
		}
	}
	if next == nil {
		return ""
	}
	return stepBetween(won, next, c.method.name)
}

// stepBetween names the first step of rule A2 in which two mocks differ.
func stepBetween(a, b *entry, name string) string {
	const ofPriority = 2
	rankOf := func(e *entry) rank { return e.rank }
	if name == "HEAD" {
		rankOf = func(e *entry) rank { return e.headRank }
	}
	switch {
	case a.precedence[:ofPriority] != b.precedence[:ofPriority]:
		return mockbase.DecidedByPriority
	case a.precedence != b.precedence:
		return mockbase.DecidedBySpecificity
	case rankOf(a) != rankOf(b):
		return mockbase.DecidedByMethod
	case a.guarded != b.guarded:
		return mockbase.DecidedByGuards
	default:
		return mockbase.DecidedByNewest
	}
}

// usesFinding is what became of a mock's count of uses.
func usesFinding(e *entry, spent bool) finding { //nolint:revive // spent is what was found
	return finding{part: partTimes, holds: !spent, describe: func() (operator, expected, actual string) {
		if spent {
			return "exhausted", "a use that is left", "used up"
		}
		return "times", strconv.FormatInt(e.selection.times, 10), "uses are left"
	}}
}
