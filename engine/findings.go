package engine

import (
	"strings"

	"github.com/mockbase/mockbase"
)

// finding is what became of one condition, for an explanation.
type finding struct {
	part, name string
	holds      bool
	// negated is what keeps a negation from failing.
	negated *finding
	// stated is what a condition on the body wants, where it is known.
	stated string
	// unknown tells that the condition was not examined.
	unknown bool
	// hidden tells that the project hides the values.
	hidden bool
	// describe tells the operator that fails, what it expects and what was sent.
	describe func() (operator, expected, actual string)
}

// findings returns what became of each condition of a mock, in the order in which an explanation lists them.
func (g *guards) findings(q *inquiry) []finding {
	found := g.conditions.findings(q)
	found = appendNamed(found, partPath, g.matrix, q.matrixOf)
	if g.raw != nil {
		found = append(found, finding{part: partQuery, holds: g.raw.match(q), describe: func() (string, string, string) {
			return "rawTarget", g.raw.String(), (&rawQuery{text: mockbase.MaskQuery(q.rawQuery), asked: q.asked}).String()
		}})
	}
	if g.strictQuery {
		extra := g.unmentioned(q)
		found = append(found, finding{part: partQuery, holds: extra == "", describe: func() (string, string, string) {
			return "strictQuery", "no other name", extra
		}})
	}
	return found
}

// String shows the query with its question mark, and none as such.
func (r *rawQuery) String() string {
	if !r.asked {
		return "no query"
	}
	return "?" + r.text
}

func (c *conditions) findings(q *inquiry) []finding {
	if !c.stated {
		return nil
	}
	var found []finding
	found = appendNamed(found, partPath, c.params, q.paramOf)
	found = appendNamed(found, partQuery, c.query, q.queryOf)
	found = appendNamed(found, partHeaders, c.headers, q.headerOf)
	found = appendNamed(found, partCookies, c.cookies, q.cookieOf)
	if c.auth != nil {
		found = append(found, c.auth.findings(q)...)
	}
	found = c.appendBody(found, q)
	found = c.appendMoment(found, q)
	for _, inner := range c.allOf {
		found = append(found, inner.findings(q)...)
	}
	if len(c.anyOf) > 0 {
		found = append(found, anyFinding(c.anyOf, q))
	}
	if c.not != nil {
		found = append(found, notFinding(c.not, q))
	}
	return found
}

func appendNamed(found []finding, part string, list []condition, of func(*condition) texts) []finding {
	for i := range list {
		v := of(&list[i])
		found = append(found, clausesFinding(part, list[i].name, list[i].clauses, v))
	}
	return found
}

// clausesFinding is what became of the clauses about the values of one name.
func clausesFinding(part, name string, list clauses, v texts) finding {
	failing := list.Failing(&v)
	return finding{part: part, name: name, holds: failing == nil, describe: func() (operator, expected, actual string) {
		if failing != nil {
			operator, expected = failing.Failing(&v)
		} else if len(list) > 0 {
			operator, expected = "holds", list.String()
			if only, operand, single := list.Single(); single {
				operator, expected = only, operand
			}
		}
		actual = notSent
		if v.Sent() {
			actual = strings.Join(v.List, ", ")
		}
		return operator, expected, actual
	}}
}

func (c *conditions) appendBody(found []finding, q *inquiry) []finding {
	if c.body == nil {
		return found
	}
	if q.passesBody {
		return append(found, finding{part: partBody, unknown: true})
	}
	for _, f := range c.body.Findings(q.bodyMessage()) {
		own := finding{part: partBody, name: f.Name, holds: f.Holds, unknown: f.Unknown, stated: f.Stated, describe: func() (string, string, string) {
			return f.Operator, maskedText(f.Expected), maskedText(f.Actual)
		}}
		found = append(found, own)
	}
	return found
}

// maskedText is what is shown of a body, or of a part of one: without the values of members and fields that are called like
// a secret.
func maskedText(text string) string {
	if strings.ContainsAny(text, "{[\"< \n") {
		return mockbase.MaskText(text)
	}
	return mockbase.MaskQuery(text)
}

func (c *conditions) appendMoment(found []finding, q *inquiry) []finding {
	if len(c.states) > 0 {
		state := stateOf(q)
		found = append(found, finding{
			part: partState, holds: q.moment != nil && q.moment.inState(c.states),
			describe: func() (string, string, string) { return "in", strings.Join(c.states, ", "), state },
		})
	}
	if c.call != nil {
		found = append(found, clausesFinding(partTimes, "call", clauses{*c.call}, q.callValues()))
	}
	return found
}

// firstFailing returns the first finding of what does not hold, nil if there is none.
func firstFailing(found []finding) *finding {
	for i := range found {
		if !found[i].holds && !found[i].unknown {
			return &found[i]
		}
	}
	return nil
}

// firstUnknown returns the first finding of what was not examined, nil if there is none.
func firstUnknown(found []finding) *finding {
	for i := range found {
		if found[i].unknown {
			return &found[i]
		}
	}
	return nil
}

// anyFinding stands for alternatives: where none holds, it names what fails first in each.
func anyFinding(alternatives []*conditions, q *inquiry) finding {
	all := finding{part: partHeaders, holds: true}
	var failing []*finding
	var unknown *finding
	for i, inner := range alternatives {
		found := inner.findings(q)
		first := firstFailing(found)
		if first == nil && firstUnknown(found) == nil {
			if len(found) > 0 {
				all = found[0]
			}
			return all
		}
		if first == nil {
			unknown = firstUnknown(found)
			continue
		}
		if i == 0 {
			all.part, all.name = first.part, first.name
		}
		failing = append(failing, first)
	}
	all.holds = false
	if unknown != nil {
		return *unknown
	}
	all.describe = func() (string, string, string) {
		var expected, actual []string
		for _, f := range failing {
			operator, operand, sent := f.shown()
			expected = append(expected, f.label()+" "+operator+" "+operand)
			actual = append(actual, sent)
		}
		return "anyOf", strings.Join(expected, " | "), strings.Join(actual, " | ")
	}
	return all
}

// notFinding stands for a negation: where it fails, it names the first of what holds and must not.
func notFinding(inner *conditions, q *inquiry) finding {
	found := inner.findings(q)
	if first := firstFailing(found); first != nil {
		return finding{part: first.part, name: first.name, holds: true, negated: first}
	}
	if unknown := firstUnknown(found); unknown != nil {
		return *unknown
	}
	f := finding{part: partHeaders}
	if len(found) > 0 {
		f = found[0]
	}
	if f.negated != nil {
		// What must not fail to hold has to hold.
		return *f.negated
	}
	f.holds = false
	f.describe = forbidden(found, q)
	return f
}

// forbidden describes what must not hold and does: the first condition with what was sent, if it tells of itself, and
// otherwise by what it is about.
func forbidden(found []finding, q *inquiry) func() (operator, expected, actual string) {
	return func() (string, string, string) {
		if len(found) == 0 {
			return "not", "anything at all", "a request"
		}
		first := &found[0]
		operator, expected, actual := first.shown()
		switch {
		case operator == "":
			expected, actual = first.label()+" as stated", "it holds"
			if first.part == partBody {
				expected, actual = strings.TrimSpace(first.label()+" "+first.statedShown()), maskedText(q.bodyMessage().Preview())
			}
		case operator != "holds":
			expected = operator + " " + expected
		}
		return "not", expected, actual
	}
}

// statedShown is what a condition on the body wants, as it may be shown.
func (f *finding) statedShown() string {
	if f.secret() {
		return mask
	}
	return maskedText(f.stated)
}

// label is the part with the name.
func (f *finding) label() string {
	return strings.TrimSuffix(f.part+" "+f.name, " ")
}

// shown describes a finding with its secrets masked.
func (f *finding) shown() (operator, expected, actual string) {
	if f.describe == nil {
		return "", "", ""
	}
	operator, expected, actual = f.describe()
	missed := mockbase.MissedPart{Part: f.part, Name: f.name, Operator: operator, Expected: expected, Actual: actual}
	switch {
	case f.secret():
		hide(f.part, &missed)
	case f.part == partQuery:
		missed.Expected, missed.Actual = mockbase.MaskText(expected), mockbase.MaskText(actual)
	}
	return operator, missed.Expected, missed.Actual
}

// secret tells whether the values must not be shown: those of all cookies and credentials, and what is named like a
// secret (rule M2).
func (f *finding) secret() bool {
	return f.hidden || f.part == partCookies || f.part == partAuth || mockbase.IsSecretName(f.name)
}
