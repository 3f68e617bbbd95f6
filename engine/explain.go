package engine

import (
	"net/textproto"
	"strings"

	"github.com/mockbase/mockbase"
)

// The parts of a request in a near miss (rule M2).
const (
	partMethod  = "method"
	partHost    = "host"
	partPath    = "path"
	partQuery   = "query"
	partHeaders = "headers"
	partCookies = "cookies"
	partAuth    = "auth"
	partBody    = "body"
	partState   = "state"
	partTimes   = "times"
)

// notSent stands for the value of what was not sent.
const notSent = "(not sent)"

// explainer describes near misses, within one budget of bytes.
type explainer struct {
	call   *call
	budget int
	miss   mockbase.NearMiss
}

// describe writes out what failed and what passed in each comparison.
func (c *call) describe(near []likeness) []mockbase.NearMiss {
	misses := make([]mockbase.NearMiss, 0, len(near))
	budget := maxDiagnosis
	for i := range near {
		x := explainer{call: c, budget: budget, miss: mockbase.NearMiss{
			Mock: near[i].mock.Name, Distance: near[i].distance, Failed: []mockbase.MissedPart{}, Passed: []string{},
		}}
		x.compare(&near[i])
		misses = append(misses, x.miss)
		budget = x.budget
	}
	return misses
}

func (x *explainer) compare(l *likeness) {
	c, m := x.call, l.mock
	if l.rank != rankAny {
		missed := mockbase.MissedPart{
			Part: partMethod, Operator: "equals", Expected: strings.Join(m.Request.Methods, ", "), Actual: c.method.name,
		}
		if len(m.Request.Methods) > 1 {
			missed.Operator = "in"
		}
		x.note(missed, l.method)
	}
	if l.host != nil {
		missed := mockbase.MissedPart{Part: partHost, Operator: "equals", Expected: l.host.text, Actual: c.request.Host}
		x.note(missed, l.atHost)
	}
	operator, expected := placeText(&m.Request)
	x.note(mockbase.MissedPart{Part: partPath, Operator: operator, Expected: expected, Actual: c.pathBeside(expected, l.path)}, l.path)
	for i := range l.findings {
		f := &l.findings[i]
		if f.unknown {
			continue
		}
		missed := mockbase.MissedPart{Part: f.part, Name: f.name}
		if !f.holds {
			missed.Operator, missed.Expected, missed.Actual = f.shown()
		}
		x.note(missed, f.holds)
	}
}

// hide masks the values of a secret; whether one was sent may be seen.
func hide(part string, missed *mockbase.MissedPart) {
	canonical := ""
	if part == partHeaders {
		canonical = textproto.CanonicalMIMEHeaderKey(missed.Name)
	}
	if missed.Operator != "exists" {
		missed.Expected = mask
	}
	if missed.Actual != notSent {
		missed.Actual = maskValue(canonical, missed.Actual)
	}
}

// note adds what was compared to the passed or the failed parts, as long as the budget lasts.
func (x *explainer) note(part mockbase.MissedPart, holds bool) { //nolint:revive // holds is the result to note
	part.Name = printable(part.Name)
	if holds {
		text := strings.TrimSuffix(part.Part+" "+part.Name, " ")
		if x.budget -= len(text); x.budget >= 0 {
			x.miss.Passed = append(x.miss.Passed, text)
		}
		return
	}
	part.Expected, part.Actual = printable(part.Expected), printable(part.Actual)
	if x.budget -= len(part.Name) + len(part.Expected) + len(part.Actual); x.budget >= 0 {
		x.miss.Failed = append(x.miss.Failed, part)
	}
}
