package verdict

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mockbase/mockbase"
)

// What figures need, and how fine they are.
const (
	// shortestWait stands for shorter waits where one is divided by another.
	shortestWait = time.Millisecond
	// minSpread is how many waits of the same retry number tell of jitter, minHerd how many clients make a herd.
	minSpread = 3
	minHerd   = 5
	herdSpan  = 100 * time.Millisecond
)

// crowd is all clients of one mock.
type crowd struct {
	ref    mockbase.MockRef
	terms  Terms
	groups []*group
	// findings are about all of them.
	findings   []Finding
	rejections int
	// unknown counts exchanges whose client is not known.
	unknown int
}

// judge finds the figures of each client and of all.
func (c *crowd) judge() {
	for _, g := range c.groups {
		g.split(c.terms.GiveUpAfter)
		g.tell()
		c.rejections += g.client.Limited
		if g.client.Limited > 0 {
			g.client.Checks = []Finding{c.early(g), c.growth(g), c.attempts(g), c.unsafe(g)}
		}
	}
	// A client that neither met a limit nor was refused is none of these.
	c.groups = slices.DeleteFunc(c.groups, func(g *group) bool { return !g.limited && g.client.Limited == 0 })
	if c.rejections > 0 {
		c.findings = []Finding{c.jitter(), c.herd()}
	}
}

// outcome is the verdict on the mock's clients, with the reason where there is none (rule AA39).
func (c *crowd) outcome() (outcome Outcome, reason string) {
	switch {
	case c.unknown > 0:
		return Inconclusive, "the clients of " + plural(c.unknown, "request") + " cannot be told apart, as the values of the key were masked when they were " +
			"recorded: state the key in the mock's expect.backoff"
	case c.rejections < c.terms.MinRejections:
		return Inconclusive, plural(c.rejections, "rejection") + ", at least " + strconv.Itoa(c.terms.MinRejections) + " expected"
	}
	passes := map[string]bool{}
	for _, f := range c.all() {
		if f.Pass != nil && !*f.Pass {
			return Fail, ""
		}
		passes[f.ID] = passes[f.ID] || f.Pass != nil
	}
	for id, judged := range map[string]bool{
		FindingGrowth: c.terms.MinGrowth != nil, FindingJitter: c.terms.MinJitter != nil, FindingHerd: c.terms.MaxHerd != nil,
	} {
		if judged && !passes[id] {
			if reason != "" {
				reason += " and "
			}
			reason += needs(id)
		}
	}
	if reason != "" {
		return Inconclusive, reason
	}
	return Pass, ""
}

// needs says what a figure needs that has too few samples.
func needs(id string) string {
	switch id {
	case FindingGrowth:
		return "growth needs an episode with two waits after answers without Retry-After"
	case FindingJitter:
		return "jitter needs three waits of the same retry number"
	default:
		return "herd needs five clients that were refused"
	}
}

// weigh compares a figure with its threshold; without one, or without a figure, it is not judged.
func weigh(f *Finding) {
	if f.Expected == nil || f.Actual == nil {
		return
	}
	pass := *f.Actual <= *f.Expected
	if hasFloor(f.ID) {
		pass = *f.Actual >= *f.Expected
	}
	f.Pass = &pass
	if pass || f.Exchanges == nil {
		f.Exchanges = []string{}
	}
	f.Exchanges = f.Exchanges[:min(len(f.Exchanges), maxExchanges)]
	if pass {
		f.Detail = ""
	}
}

func wholeFigure(n *int) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// early counts retries that came before their time (rule AA34).
func (c *crowd) early(g *group) Finding {
	f := Finding{ID: FindingEarly, Expected: new(float64(c.terms.MaxEarly)), Exchanges: []string{}}
	for _, s := range g.demanded() {
		share := s.wait.Seconds() / s.demand.Seconds()
		if f.Shortest == nil || share < *f.Shortest {
			f.Shortest = &share
		}
		if s.wait >= s.demand-c.terms.Tolerance {
			continue
		}
		if len(f.Exchanges) == 0 {
			f.Detail = fmt.Sprintf("client %s waited %s of the %s that %s demanded", g.client.Key, shortTime(s.wait), s.demand, s.after.ID)
		}
		f.Exchanges = append(f.Exchanges, s.x.ID)
	}
	f.Actual = new(float64(len(f.Exchanges)))
	weigh(&f)
	return f
}

// demanded are the retries after a rejection that demanded a time.
func (g *group) demanded() []step {
	var list []step
	for i := range g.episodes {
		for _, s := range g.episodes[i].retries() {
			if s.demanded && s.demand > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

// growth is by what waits are multiplied (rule AA35).
func (c *crowd) growth(g *group) Finding {
	f := Finding{ID: FindingGrowth, Expected: c.terms.MinGrowth, Exchanges: []string{}}
	sum, count := 0.0, 0
	for i := range g.episodes {
		for _, pair := range g.episodes[i].unasked() {
			sum += math.Log(max(pair[1].wait, shortestWait).Seconds() / max(pair[0].wait, shortestWait).Seconds())
			count++
			f.Exchanges = append(f.Exchanges, pair[1].x.ID)
		}
	}
	if count == 0 {
		f.Detail = "client " + g.client.Key + ": " + needs(FindingGrowth)
		return f
	}
	f.Actual = new(math.Exp(sum / float64(count)))
	f.Detail = "client " + g.client.Key + " multiplied its waits by " + number(*f.Actual)
	weigh(&f)
	return f
}

// unasked are the retries that follow each other where no Retry-After was sent.
func (e *episode) unasked() [][2]step {
	var pairs [][2]step
	retries := e.retries()
	for i := 1; i < len(retries); i++ {
		if !retries[i-1].demanded && !retries[i].demanded {
			pairs = append(pairs, [2]step{retries[i-1], retries[i]})
		}
	}
	return pairs
}

// attempts is the number of requests of the longest episode (rule AA37).
func (c *crowd) attempts(g *group) Finding {
	f := Finding{ID: FindingAttempts, Expected: wholeFigure(c.terms.MaxAttempts), Exchanges: []string{}}
	most := 0
	for i := range g.episodes {
		ids := g.episodes[i].attempts()
		most = max(most, len(ids))
		if c.terms.MaxAttempts != nil && len(ids) > *c.terms.MaxAttempts {
			f.Exchanges = append(f.Exchanges, ids[*c.terms.MaxAttempts:]...)
		}
	}
	f.Actual = new(float64(most))
	f.Detail = "client " + g.client.Key + " made " + plural(most, "request")
	weigh(&f)
	return f
}

// unsafe counts retries that may do a thing twice (rule AA38).
func (c *crowd) unsafe(g *group) Finding {
	f := Finding{ID: FindingUnsafe, Expected: wholeFigure(c.terms.MaxUnsafe), Exchanges: []string{}}
	for i := range g.episodes {
		for _, s := range g.episodes[i].retries() {
			r := &s.x.Request
			if s.after.AnsweredBy == mockbase.AnsweredBySimulatedLimit || r.Method != http.MethodPost && r.Method != http.MethodPatch ||
				fieldOf(r.Header, "Idempotency-Key") != "" {
				continue
			}
			f.Exchanges = append(f.Exchanges, s.x.ID)
		}
	}
	f.Actual = new(float64(len(f.Exchanges)))
	f.Detail = "client " + g.client.Key + " repeated without an Idempotency-Key"
	if f.Expected == nil {
		f.Exchanges, f.Detail = []string{}, ""
	}
	weigh(&f)
	return f
}

// jitter is by how much waits of the same retry number differ (rule AA36).
func (c *crowd) jitter() Finding {
	f := Finding{ID: FindingJitter, Mock: c.ref.Name, Expected: c.terms.MinJitter, Exchanges: []string{}}
	var spreads []float64
	for _, steps := range c.byNumber() {
		if len(steps) >= minSpread {
			spreads = append(spreads, spread(steps))
			for i := range steps {
				f.Exchanges = append(f.Exchanges, steps[i].x.ID)
			}
		}
	}
	if len(spreads) == 0 {
		f.Exchanges, f.Detail = []string{}, needs(FindingJitter)
		return f
	}
	f.Actual = new(median(spreads))
	f.Detail = "waits of the same retry number differ by " + number(*f.Actual) + " of their mean"
	if f.Expected == nil {
		f.Exchanges, f.Detail = []string{}, ""
	}
	weigh(&f)
	return f
}

// byNumber are the retries of all episodes, those that are the first of theirs, those that are the second and so on.
func (c *crowd) byNumber() [][]step {
	var list [][]step
	for _, g := range c.groups {
		for i := range g.episodes {
			for n, s := range g.episodes[i].retries() {
				if n == len(list) {
					list = append(list, nil)
				}
				list[n] = append(list[n], s)
			}
		}
	}
	return list
}

// spread is how far apart waits are that exceed their demand, in parts of the mean wait.
func spread(steps []step) float64 {
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	for i := range steps {
		beyond := (steps[i].wait - steps[i].demand).Seconds()
		least, most = min(least, beyond), max(most, beyond)
		sum += steps[i].wait.Seconds()
	}
	if sum == 0 {
		return 0
	}
	return (most - least) / (sum / float64(len(steps)))
}

func median(list []float64) float64 {
	slices.Sort(list)
	middle := len(list) / 2
	if len(list)%2 == 1 {
		return list[middle]
	}
	return (list[middle-1] + list[middle]) / 2
}

// shortTime writes a duration without the digits that say nothing.
func shortTime(d time.Duration) string { return d.Round(time.Millisecond).String() }
