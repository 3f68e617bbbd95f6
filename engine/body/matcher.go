package body

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// Matcher is a compiled match on a body: every check must hold. It is immutable and safe for concurrent use.
type Matcher struct {
	checks []check
	// parts tells that the fields of a form or the parts of a multipart body are looked at.
	parts bool
	facts facts
}

// check is one condition on a body.
type check struct {
	// name is what an explanation calls it, such as jsonPath $.id.
	name string
	// stated is what it wants, "" where that cannot be told in short.
	stated string
	holds  func(m *Message) bool
	// explain tells, when the check does not hold, the operator, what it expects and what was sent. It may name the place
	// in Name.
	explain func(m *Message) mockbase.MissedPart
}

// Finding is what became of one check, for an explanation. Part is body.
type Finding struct {
	mockbase.MissedPart
	// Holds tells that the check passes, Unknown that it was not examined, as that would have cost too much; the members beside
	// Name are empty then.
	Holds, Unknown bool
	// Stated is what a check that passes wants, where that can be told in short.
	Stated string
}

// maxExamined bounds the bytes that explanations of one request look at beyond what matching has found out (rule M6).
const maxExamined = 64 << 10

// Large is the length from which a body is worth some care about what is done with it.
const Large = 64 << 10

// verdict is what matching has found out: the place of the check that does not hold, the number of checks if all do.
type verdict struct {
	matcher *Matcher
	failing int
}

// Compile compiles a match that stands at a JSON pointer. What does not compile is noted as a fault.
func Compile(match *mockbase.BodyMatch, at string, faults *mockbase.Faults) *Matcher {
	k := &compiler{match: match, at: at, faults: faults}
	// What costs least comes first.
	k.empty()
	k.size()
	k.base64()
	k.hash()
	k.json()
	k.jsonPaths()
	k.schema()
	k.text()
	k.graphql()
	k.form()
	k.multipart()
	k.xml()
	k.xpath()
	return &Matcher{checks: k.checks, parts: k.parts, facts: newFacts(match)}
}

// Holds tells whether a body satisfies every check.
func (m *Matcher) Holds(message *Message) bool {
	failing := 0
	for failing < len(m.checks) && message.test(&m.checks[failing]) {
		failing++
	}
	if message.effort != nil && message.effort.Spent() {
		return false // and nothing is known
	}
	message.verdicts = append(message.verdicts, verdict{m, failing})
	return failing == len(m.checks)
}

// test tests one condition, as long as the effort lasts.
func (m *Message) test(c *check) bool {
	switch {
	case m.effort != nil && !m.effort.Spend(len(m.raw)):
		return false
	case len(m.raw) < Large:
		return c.holds(m)
	case m.effort == nil:
		var alone operator.Effort
		return alone.Try(func() bool { return c.holds(m) })
	default:
		return m.effort.Try(func() bool { return c.holds(m) })
	}
}

// Settle tests a body, so that [Matcher.Settled] has nothing left to do.
func (m *Matcher) Settle(message *Message) {
	if message.verdictOf(m) < 0 {
		m.Holds(message)
	}
}

// Settled is [Matcher.Holds] for a body that was tested already.
func (m *Matcher) Settled(message *Message) bool {
	if known := message.verdictOf(m); known >= 0 {
		return known == len(m.checks)
	}
	return m.Holds(message)
}

// Findings returns what became of each check. What matching has found out about the message is not examined again, and
// what it has not is examined as long as little was.
func (m *Matcher) Findings(message *Message) []Finding {
	known := message.verdictOf(m)
	found := make([]Finding, len(m.checks))
	for i := range m.checks {
		c := &m.checks[i]
		f := Finding{}
		switch {
		case i <= known:
			f.Holds = i < known
		case message.examine():
			f.Holds = c.holds(message)
		default:
			f.Unknown = true
		}
		if !f.Holds && !f.Unknown {
			f.MissedPart = message.explain(c)
		}
		if f.Holds {
			f.Stated = c.stated
		}
		f.Part = "body"
		if f.Name == "" {
			f.Name = c.name
		}
		found[i] = f
	}
	return found
}

// maxExplained is how many conditions on a large body are explained.
const maxExplained = 6

// explain tells why a condition does not hold. Those on a large body are tested again for it, so that only some are.
func (m *Message) explain(c *check) mockbase.MissedPart {
	if len(m.raw) < Large {
		return c.explain(m)
	}
	told := mockbase.MissedPart{Expected: c.stated, Actual: size(m.raw) + ", too large to be compared again"}
	if m.explained++; m.explained <= maxExplained {
		var alone operator.Effort
		alone.Try(func() bool {
			told = c.explain(m)
			return true
		})
	}
	return told
}

// verdictOf is the place of the check of a matcher that is known not to hold, -1 if nothing is known.
func (m *Message) verdictOf(matcher *Matcher) int {
	for _, v := range m.verdicts {
		if v.matcher == matcher {
			return v.failing
		}
	}
	return -1
}

// examine tells whether the body may be looked at once more for an explanation.
func (m *Message) examine() bool {
	m.examined += len(m.raw)
	return m.examined <= maxExamined
}

// compiler compiles one match.
type compiler struct {
	match  *mockbase.BodyMatch
	at     string
	faults *mockbase.Faults
	checks []check
	parts  bool
}

func (k *compiler) add(c check) { k.checks = append(k.checks, c) }

// wrong notes a fault below the match.
func (k *compiler) wrong(code mockbase.Code, detail string, path ...string) {
	k.faults.Append(mockbase.FieldError{Pointer: k.below(path...), Code: code, Detail: detail})
}

// below is the pointer of a place below the match; names are taken as they are.
func (k *compiler) below(names ...string) string {
	var at strings.Builder
	at.WriteString(k.at)
	for _, name := range names {
		at.WriteByte('/')
		at.WriteString(mockbase.PointerToken(name))
	}
	return at.String()
}

// empty compares the length of what was received; no body and an empty one are the same (rule F8). One that
// cannot be decoded is not empty, and fails all the same (rule F3).
func (k *compiler) empty() {
	if k.match.Empty == nil {
		return
	}
	want := *k.match.Empty
	k.add(check{
		name: "empty", stated: strconv.FormatBool(want),
		holds: func(m *Message) bool {
			if want {
				return len(m.raw) == 0
			}
			_, err := m.Decoded()
			return err == nil && len(m.raw) > 0
		},
		explain: func(m *Message) mockbase.MissedPart {
			if _, err := m.Decoded(); err != nil && !want {
				return mockbase.MissedPart{Operator: "empty", Expected: "false", Actual: err.Error()}
			}
			return mockbase.MissedPart{Operator: "empty", Expected: strconv.FormatBool(want), Actual: size(m.raw)}
		},
	})
}

// base64 compares the bytes as they were received, coding and all (rules F2 and F10).
func (k *compiler) base64() {
	if !k.match.HasBase64 {
		return
	}
	want := k.match.Base64
	k.add(check{
		name: "base64", stated: preview64(want),
		holds: func(m *Message) bool { return bytes.Equal(m.raw, want) },
		explain: func(m *Message) mockbase.MissedPart {
			return mockbase.MissedPart{Operator: "equals", Expected: preview64(want), Actual: preview64(m.raw)}
		},
	})
}

func size(raw []byte) string {
	if len(raw) == 1 {
		return "1 byte"
	}
	return strconv.Itoa(len(raw)) + " bytes"
}

// preview64 shows bytes in base64, and how many there are when not all are shown.
func preview64(raw []byte) string {
	const most = maxShown / 4 * 3
	if len(raw) <= most {
		return base64.StdEncoding.EncodeToString(raw)
	}
	return base64.StdEncoding.EncodeToString(raw[:most]) + "… (" + size(raw) + ")"
}

// maxShown bounds a value in a finding.
const maxShown = 200

// cut bounds a text in a finding.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
