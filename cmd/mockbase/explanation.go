package main

import (
	"encoding/json"
	"slices"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// explained is an explanation as it is printed (M-64).
type explained struct {
	Outcome   string `json:"outcome"`
	DecidedBy string `json:"decidedBy"`
	Mock      *struct {
		Name string `json:"name"`
	} `json:"mock"`
	Hints      []string `json:"hints"`
	Changed    bool     `json:"changed"`
	Candidates []struct {
		Mock struct {
			Name string `json:"name"`
		} `json:"mock"`
		Matched bool `json:"matched"`
		Score   int  `json:"score"`
		Of      int  `json:"of"`
		Checks  []struct {
			Part     string          `json:"part"`
			Name     string          `json:"name"`
			Operator string          `json:"operator"`
			Expected json.RawMessage `json:"expected"`
			Actual   json.RawMessage `json:"actual"`
			OK       bool            `json:"ok"`
			Hint     string          `json:"hint"`
		} `json:"checks"`
	} `json:"candidates"`
	Current *struct {
		Outcome string `json:"outcome"`
		Mock    *struct {
			Name string `json:"name"`
		} `json:"mock"`
	} `json:"current"`
}

// printExplanation prints what answered and, for each candidate, what spoke against it.
func (r *remote) printExplanation(answer *client.Answer) error {
	if r.form(r.output) != config.OutputTable {
		return r.printDocument(r.output, answer.Body)
	}
	var e explained
	if err := answer.JSON(&e); err != nil {
		return err
	}
	line := "answered by " + printable(e.Outcome)
	if e.Mock != nil {
		line += " " + printable(e.Mock.Name)
	}
	if e.DecidedBy != "" {
		line += ", decided by " + e.DecidedBy
	}
	printf(r.Out, "%s\n", line)
	for i := range e.Candidates {
		r.printCandidate(&e, i)
	}
	for _, hint := range slices.Compact(e.Hints) {
		printf(r.Out, "hint: %s\n", printable(hint))
	}
	if e.Changed && e.Current != nil {
		line := "today: " + printable(e.Current.Outcome)
		if e.Current.Mock != nil {
			line += " " + printable(e.Current.Mock.Name)
		}
		printf(r.Out, "%s\n", line)
	}
	return nil
}

func (r *remote) printCandidate(e *explained, i int) {
	c := &e.Candidates[i]
	mark := r.paint(r.Out, red, "✗")
	if c.Matched {
		mark = r.paint(r.Out, green, "✓")
	}
	printf(r.Out, "%s %s  %d of %d\n", mark, printable(c.Mock.Name), c.Score, c.Of)
	for _, check := range c.Checks {
		if check.OK {
			continue
		}
		what := check.Part
		if check.Name != "" {
			what += " " + check.Name
		}
		printf(r.Out, "    %s %s %s, found %s\n", printable(what), printable(check.Operator), valueText(check.Expected), valueText(check.Actual))
		if check.Hint != "" {
			printf(r.Out, "      %s\n", printable(check.Hint))
		}
	}
}
