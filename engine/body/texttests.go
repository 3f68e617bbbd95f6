package body

import (
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// texts are the values of a name.
type texts = operator.Values[string]

// text compiles what the body must be as one text (rules F5 and F9).
func (k *compiler) text() {
	if len(k.match.Text) == 0 {
		return
	}
	match := operator.BodyTexts(k.match.Text, k.below("text"), k.faults)
	k.add(check{
		name: "text", stated: cut(match.String()),
		holds: func(m *Message) bool {
			text, err := m.Text()
			return err == nil && match.Holds(&texts{List: []string{text}})
		},
		explain: func(m *Message) mockbase.MissedPart {
			text, err := m.Text()
			if name, operand, single := match.Single(); single && err == nil {
				// Nothing has to be tested again to name it.
				return mockbase.MissedPart{Operator: name, Expected: operand, Actual: cut(text)}
			}
			return missedTexts(match, &texts{List: []string{text}}, err)
		},
	})
}

// notSent stands for the value of what was not sent.
const notSent = "(not sent)"

// missedTexts describes a match on texts that does not hold, or why there are none to be had.
func missedTexts(match operator.Match[string], v *texts, err error) mockbase.MissedPart {
	if err != nil {
		return mockbase.MissedPart{Operator: "readable", Expected: cut(match.String()), Actual: err.Error()}
	}
	missed := mockbase.MissedPart{Actual: notSent}
	if failing := match.Failing(v); failing != nil {
		missed.Operator, missed.Expected = failing.Failing(v)
	}
	if v.Sent() {
		missed.Actual = cut(strings.Join(v.List, ", "))
	}
	return missed
}
