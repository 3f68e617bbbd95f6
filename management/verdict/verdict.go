// Package verdict judges recorded exchanges: whether expected requests came (rules Y8 and M-66), and whether clients that
// were refused backed off (rules AA32 to AA39). It computes alone, and reads no clock.
package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Outcome is what a verdict comes to; the list is closed.
type Outcome string

// A verdict is inconclusive where exchanges are missing, or what is compared was not kept, so that a count can't be trusted.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive"
)

// Level says how much something weighs; the list is closed.
type Level string

// What is warned of is told and does not fail.
const (
	LevelFail   Level = "fail"
	LevelWarn   Level = "warn"
	LevelIgnore Level = "ignore"
)

// The most that a verdict lists.
const (
	maxExchanges = 100
	maxNear      = 3
	maxSamples   = 10
	// maxLikened bounds how many exchanges are compared to find near misses, the newest first.
	maxLikened = 500
)

// Fit says whether an exchange is one that an expectation is about.
type Fit int

// An exchange is unclear where what would tell was masked or cut when it was recorded.
const (
	FitNo Fit = iota
	FitYes
	FitUnclear
)

// Likeness is how near an exchange came to an expectation.
type Likeness struct {
	// Score counts the checks that hold, of all.
	Score, Of int
	// Failed is the first check that fails.
	Failed mockbase.Check
}

// Expectation is a number of calls that should have come.
type Expectation struct {
	Name  string
	Times mockbase.Range
	// InOrder asks that the calls come after those of the expectation in order before it.
	InOrder bool
	// Fits tells whether an exchange counts, Likens how near it came; a nil Likens gives no near misses.
	Fits   func(*mockbase.Exchange) Fit
	Likens func(*mockbase.Exchange) Likeness
}

// Question is what is judged.
type Question struct {
	Expectations []Expectation
	// Unmatched and Unused weigh requests that nothing answered, and mocks of Mocks that were not called.
	Unmatched, Unused Level
	// Mocks are the names of the mocks that should be used.
	Mocks []string
}

// Verdict is what was found (rule M-66).
type Verdict struct {
	Verdict   Outcome   `json:"verdict"`
	Checks    []Check   `json:"checks"`
	Unmatched Unmatched `json:"unmatched"`
	// Complete tells that every exchange of the range was there to be counted.
	Complete bool `json:"complete"`
	// Backoff says how clients behaved that were refused, where that was asked (rule M-73).
	Backoff *Backoff `json:"backoff,omitempty"`
}

// Add adds what was found about clients that were refused.
func (v *Verdict) Add(b *Backoff) {
	v.Backoff = b
	v.Checks = append(v.Checks, b.Verification()...)
	v.Verdict = conclude(v.Complete, v.Checks)
}

// Check is one thing that was judged. Pass is nil where that is not known.
type Check struct {
	Name       string     `json:"name"`
	Expected   string     `json:"expected"`
	Actual     string     `json:"actual"`
	Pass       *bool      `json:"pass"`
	Detail     string     `json:"detail,omitempty"`
	Exchanges  []string   `json:"exchanges"`
	NearMisses []NearMiss `json:"nearMisses"`
}

// NearMiss is an exchange that nearly counted, with the first check that kept it from it.
type NearMiss struct {
	Exchange string         `json:"exchange"`
	Method   string         `json:"method"`
	Path     string         `json:"path"`
	Score    int            `json:"score"`
	Of       int            `json:"of"`
	Failed   mockbase.Check `json:"failed"`
}

// Unmatched are the requests that nothing answered.
type Unmatched struct {
	Count   int      `json:"count"`
	Samples []Sample `json:"samples"`
}

// Sample is one of them.
type Sample struct {
	Exchange string `json:"exchange"`
	Method   string `json:"method"`
	Path     string `json:"path"`
}

// Judge judges exchanges, which come oldest first. complete tells that none of the range is missing.
func Judge(q *Question, all []*mockbase.Exchange, complete bool) *Verdict {
	v := &Verdict{Checks: []Check{}, Unmatched: Unmatched{Samples: []Sample{}}, Complete: complete}
	last := -1
	for i := range q.Expectations {
		e := &q.Expectations[i]
		check, placed := e.judge(all, last)
		if e.InOrder {
			last = placed
		}
		v.Checks = append(v.Checks, check)
	}
	v.judgeUnmatched(q.Unmatched, all)
	v.judgeUnused(q, all)
	v.Verdict = conclude(complete, v.Checks)
	return v
}

// conclude is fail where a check fails, and inconclusive where one is not known; without all exchanges nothing is known.
func conclude(complete bool, checks []Check) Outcome { //nolint:revive // it is a fact, no switch
	outcome := Pass
	for i := range checks {
		switch pass := checks[i].Pass; {
		case pass == nil && outcome == Pass:
			outcome = Inconclusive
		case pass != nil && !*pass:
			outcome = Fail
		}
	}
	if !complete {
		return Inconclusive
	}
	return outcome
}

// judge counts the exchanges of an expectation. In order, those count alone that come after the one at after; it returns the
// place of the last one that was needed.
func (e *Expectation) judge(all []*mockbase.Exchange, after int) (check Check, placed int) {
	check = Check{Name: e.Name, Expected: Bounds(e.Times), Exchanges: []string{}, NearMisses: []NearMiss{}}
	var counted []int
	unclear := 0
	for i, x := range all {
		switch e.Fits(x) {
		case FitYes:
			counted = append(counted, i)
		case FitUnclear:
			unclear++
		case FitNo:
		}
	}
	for _, i := range counted[:min(len(counted), maxExchanges)] {
		check.Exchanges = append(check.Exchanges, all[i].ID)
	}
	check.Actual = plural(len(counted), "call")
	pass := within(len(counted), e.Times)
	check.Pass = &pass
	if unclear > 0 {
		check.Detail = plural(unclear, "more request") + " can't be compared, as values were masked or cut when they were recorded"
		if within(len(counted)+unclear, e.Times) != pass || !pass && couldPass(len(counted), unclear, e.Times) {
			check.Pass = nil
		}
	}
	if !pass {
		check.NearMisses = e.nearest(all)
	}
	placed = after
	if e.InOrder {
		placed = e.place(&check, counted, all, after)
	}
	return check, placed
}

// couldPass tells whether a number of calls that are not clear could bring the count within bounds.
func couldPass(counted, unclear int, times mockbase.Range) bool {
	for n := range unclear {
		if within(counted+n+1, times) {
			return true
		}
	}
	return false
}

// place looks for as many calls as are needed after a place.
func (e *Expectation) place(check *Check, counted []int, all []*mockbase.Exchange, after int) int {
	need := 1
	if e.Times.Min != nil {
		need = *e.Times.Min
	} else if e.Times.Max != nil {
		need = 0
	}
	later := slices.DeleteFunc(slices.Clone(counted), func(i int) bool { return i <= after })
	if len(later) >= need {
		if need == 0 {
			return after
		}
		return later[need-1]
	}
	if *orTrue(check.Pass) {
		fails := false
		check.Pass = &fails
		check.Detail = fmt.Sprintf("only %s after those of the expectation before", plural(len(later), "call"))
		if after >= 0 {
			check.Detail += ", the last of which is " + all[after].ID
		}
	}
	return after
}

func orTrue(pass *bool) *bool {
	if pass == nil {
		yes := true
		return &yes
	}
	return pass
}

// nearest lists the exchanges that come nearest without counting.
func (e *Expectation) nearest(all []*mockbase.Exchange) []NearMiss {
	list := []NearMiss{}
	if e.Likens == nil {
		return list
	}
	for _, x := range slices.Backward(all[max(0, len(all)-maxLikened):]) {
		if e.Fits(x) == FitYes {
			continue
		}
		if like := e.Likens(x); like.Score < like.Of {
			list = append(list, NearMiss{
				Exchange: x.ID, Method: x.Request.Method, Path: x.Request.Path, Score: like.Score, Of: like.Of, Failed: like.Failed,
			})
		}
	}
	// Fewer failing checks are nearer; of equals the newest comes first.
	slices.SortStableFunc(list, func(a, b NearMiss) int { return (a.Of - a.Score) - (b.Of - b.Score) })
	return list[:min(len(list), maxNear)]
}

// judgeUnmatched counts the requests that nothing answered.
func (v *Verdict) judgeUnmatched(level Level, all []*mockbase.Exchange) {
	var ids []string
	for _, x := range all {
		if x.AnsweredBy != mockbase.AnsweredByUnmatched {
			continue
		}
		v.Unmatched.Count++
		if level != LevelIgnore && len(v.Unmatched.Samples) < maxSamples {
			v.Unmatched.Samples = append(v.Unmatched.Samples, Sample{Exchange: x.ID, Method: x.Request.Method, Path: x.Request.Path})
			ids = append(ids, x.ID)
		}
	}
	if level != LevelFail {
		return
	}
	pass := v.Unmatched.Count == 0
	v.Checks = append(v.Checks, Check{
		Name: "unmatched", Expected: "0 requests", Actual: plural(v.Unmatched.Count, "request"), Pass: &pass,
		Exchanges: append([]string{}, ids...), NearMisses: []NearMiss{},
	})
}

// judgeUnused looks for mocks that were not called.
func (v *Verdict) judgeUnused(q *Question, all []*mockbase.Exchange) {
	if q.Unused != LevelFail && q.Unused != LevelWarn {
		return
	}
	used := map[string]bool{}
	for _, x := range all {
		used[x.Mock.Name] = true
	}
	var unused []string
	for _, name := range q.Mocks {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	pass := len(unused) == 0 || q.Unused == LevelWarn
	v.Checks = append(v.Checks, Check{
		Name: "unused", Expected: "0 mocks", Actual: plural(len(unused), "mock"), Pass: &pass,
		Detail: strings.Join(unused[:min(len(unused), maxExchanges)], ", "), Exchanges: []string{}, NearMisses: []NearMiss{},
	})
}

func within(n int, r mockbase.Range) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// Bounds says a range in words.
func Bounds(r mockbase.Range) string {
	switch {
	case r.Min != nil && r.Max != nil && *r.Min == *r.Max:
		return plural(*r.Min, "call")
	case r.Min != nil && r.Max != nil:
		return fmt.Sprintf("%d to %s", *r.Min, plural(*r.Max, "call"))
	case r.Min != nil:
		return "at least " + plural(*r.Min, "call")
	case r.Max != nil:
		return "at most " + plural(*r.Max, "call")
	default:
		return "any calls"
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
