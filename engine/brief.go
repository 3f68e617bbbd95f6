package engine

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

const (
	headerExplain     = "Mockbase-Explain"
	headerExplanation = "Mockbase-Explanation"

	// maxBrief bounds an explanation in a header, maxBriefText a text in it.
	maxBrief     = 1024
	maxBriefText = 200
)

// The reasons of an answer that are not the name of what answered.
const (
	reasonMatched   = "matched"
	reasonPreferred = "preferred"
)

// explainBriefly adds to an answer why it is that one, for who asks and may know (rule AA27).
func (c *call) explainBriefly(h http.Header) {
	asked := c.request.Header[headerExplain]
	if len(asked) != 1 || !strings.EqualFold(asked[0], "true") || !c.known() || c.program.settings.ignorePreferred {
		return
	}
	if explains := c.engine.options.Explains; explains == nil || !explains(c.request, c.program.project.ID) {
		return
	}
	h[headerExplanation] = []string{c.brief()}
	if lines := h[headerExpose]; len(lines) > 0 && !slices.Contains(lines, "*") {
		h[headerExpose] = append(slices.Clone(lines), headerExplanation)
	}
}

// brief is the explanation: names and numbers, and nothing of what was sent.
func (c *call) brief() string {
	var b strings.Builder
	add := func(name, value string) {
		part := name + "=" + value
		if b.Len() > 0 {
			part = "; " + part
		}
		if b.Len()+len(part) <= maxBrief {
			b.WriteString(part)
		}
	}
	text := func(name, value string) {
		if value != "" {
			add(name, strconv.QuoteToASCII(value[:min(len(value), maxBriefText)]))
		}
	}
	out := &c.outcome
	if out.route != nil {
		text("mock", out.route.mock.Name)
	}
	text("reason", c.reason())
	if out.response != nil && out.by != mockbase.AnsweredBySimulatedLimit {
		text("response", out.response.name)
		if c.instant.number > 0 {
			add("call", strconv.FormatInt(c.instant.number, 10))
		}
	}
	if c.session != nil {
		text("seed", c.seed(c.session))
	}
	c.briefLimits(text, add)
	return b.String()
}

// reason is what answered, or for a mock whether its request alone chose the answer.
func (c *call) reason() string {
	switch {
	case c.forced:
		return reasonPreferred
	case c.outcome.by == mockbase.AnsweredByMock && c.outcome.failure != "":
		return string(mockbase.AnsweredByError)
	case c.outcome.by == mockbase.AnsweredByMock:
		return reasonMatched
	}
	return string(c.outcome.by)
}

// briefLimits adds what is left of the limits that were asked.
func (c *call) briefLimits(text, add func(name, value string)) {
	if c.limiting == nil {
		return
	}
	for _, heard := range c.limiting.rulings {
		for i := range heard.ruling.Outcomes {
			if o := &heard.ruling.Outcomes[i]; !o.Skipped {
				text("limit", o.By.Bucket())
				add("remaining", strconv.FormatInt(o.Remaining, 10))
			}
		}
	}
}
