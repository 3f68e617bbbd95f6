package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// What is judged by unless somebody says otherwise (mock format, section 6, expect.backoff).
const (
	defaultTolerance     = 50 * time.Millisecond
	defaultGiveUp        = 30 * time.Second
	defaultMinRejections = 1
)

// The ids of findings: the first four are about a client, the others about all clients of a mock (rule M-73).
const (
	FindingEarly    = "early"
	FindingGrowth   = "growth"
	FindingAttempts = "attempts"
	FindingUnsafe   = "unsafe"
	FindingJitter   = "jitter"
	FindingHerd     = "herd"
)

// Terms are what the clients of a mock are judged by. Early retries always are; a threshold that is nil leaves its figure
// measured and not judged.
type Terms struct {
	// Tolerance is by how much a retry may be early, GiveUpAfter how long a client is silent that gave up.
	Tolerance, GiveUpAfter time.Duration
	// MinRejections is how many rejections a verdict needs.
	MinRejections                 int
	MaxEarly                      int
	MaxAttempts, MaxUnsafe        *int
	MinGrowth, MinJitter, MaxHerd *float64
	// Key tells clients apart; false means that what was recorded does not say. Nil is the key that was recorded with the
	// exchange, and the client's address where none was.
	Key func(*mockbase.Exchange) (string, bool)
}

// TermsOf fills in what is not stated. Of several statements the first that says something counts; nil says nothing.
func TermsOf(stated ...*mockbase.ExpectBackoff) Terms {
	t := Terms{Tolerance: defaultTolerance, GiveUpAfter: defaultGiveUp, MinRejections: defaultMinRejections}
	for _, s := range slices.Backward(stated) {
		if s == nil {
			continue
		}
		setTo(&t.Tolerance, s.Tolerance)
		setTo(&t.GiveUpAfter, s.GiveUpAfter)
		setTo(&t.MinRejections, s.MinRejections)
		setTo(&t.MaxEarly, s.MaxEarly)
		t.MaxAttempts, t.MaxUnsafe = cmp.Or(s.MaxAttempts, t.MaxAttempts), cmp.Or(s.MaxUnsafe, t.MaxUnsafe)
		t.MinGrowth, t.MinJitter, t.MaxHerd = cmp.Or(s.MinGrowth, t.MinGrowth), cmp.Or(s.MinJitter, t.MinJitter), cmp.Or(s.MaxHerd, t.MaxHerd)
	}
	return t
}

func setTo[T any](to, stated *T) {
	if stated != nil {
		*to = *stated
	}
}

// BackoffQuestion says whose clients are judged.
type BackoffQuestion struct {
	// Terms are those of a mock, nil for one that is left out.
	Terms func(mockbase.MockRef) *Terms
	// Mocks are judged even where they refused nobody.
	Mocks []mockbase.MockRef
	// Policy leaves out exchanges that did not meet the simulated limit of that name; "" leaves out none.
	Policy string
}

// Backoff says how clients behaved that were refused (rule M-73). Times are those of the session's clock.
type Backoff struct {
	Verdict Outcome `json:"verdict"`
	// Detail says why a verdict is inconclusive.
	Detail  string    `json:"detail,omitempty"`
	Clients []Client  `json:"clients"`
	Checks  []Finding `json:"checks"`
	// Complete tells that every exchange of the range was there to be judged.
	Complete bool `json:"complete"`

	mocks []*crowd
}

// Client is one client of one mock.
type Client struct {
	Key     string `json:"key"`
	Mock    string `json:"mock"`
	Session string `json:"session"`
	// Limited counts its rejections, Retries the requests that followed one.
	Limited int       `json:"limited"`
	Retries int       `json:"retries"`
	Checks  []Finding `json:"checks"`
	// GaveUp tells that an episode ended without an answer other than a rejection.
	GaveUp   bool       `json:"gaveUp"`
	Timeline []Instance `json:"timeline"`
}

// Finding is one figure. Expected is the threshold, Actual what was measured; null is none, and Pass is null where the
// figure is not judged or has too few samples.
type Finding struct {
	ID string `json:"id"`
	// Mock is the name of the mock where the finding is about all its clients.
	Mock     string   `json:"mock,omitempty"`
	Pass     *bool    `json:"pass"`
	Expected *float64 `json:"expected"`
	Actual   *float64 `json:"actual"`
	// Shortest is the shortest wait of an early finding, divided by what was demanded.
	Shortest *float64 `json:"shortest,omitempty"`
	Detail   string   `json:"detail,omitempty"`
	// Exchanges prove a failure.
	Exchanges []string `json:"exchanges"`
}

// Instance is one request of an episode: a rejection or what followed it.
type Instance struct {
	Exchange     string `json:"exchange"`
	At           string `json:"at"`
	Status       int    `json:"status"`
	RetryAfterMS *int64 `json:"retryAfterMs"`
	// WaitedMS is how long the client waited for this request, null for one that is no retry.
	WaitedMS *int64 `json:"waitedMs"`
	// Attempt counts the requests of the episode from 1; 0 is one that was under way when the rejection was answered.
	Attempt int `json:"attempt"`
}

// JudgeBackoff judges clients by exchanges. complete tells that none of the range is missing.
func JudgeBackoff(q *BackoffQuestion, all []*mockbase.Exchange, complete bool) *Backoff {
	b := &Backoff{Clients: []Client{}, Checks: []Finding{}, Complete: complete}
	b.mocks = gather(q, all)
	for _, c := range b.mocks {
		c.judge()
		for _, g := range c.groups {
			b.Clients = append(b.Clients, g.client)
		}
		if len(c.findings) > 0 {
			b.Checks = append(b.Checks, c.findings...)
		}
	}
	b.conclude()
	return b
}

// conclude finds the verdict of all mocks (rule AA39).
func (b *Backoff) conclude() {
	b.Verdict = Pass
	var reasons []string
	for _, c := range b.mocks {
		outcome, reason := c.outcome()
		switch {
		case outcome == Fail:
			b.Verdict = Fail
		case outcome == Inconclusive && b.Verdict == Pass:
			b.Verdict = Inconclusive
		}
		if reason != "" {
			reasons = append(reasons, c.ref.Name+": "+reason)
		}
	}
	if len(b.mocks) == 0 {
		b.Verdict = Inconclusive
		reasons = append(reasons, "no client was refused")
	}
	if !b.Complete {
		b.Verdict = Inconclusive
		reasons = append(reasons, "exchanges of the range are missing, as they were dropped or made room for others")
	}
	b.Detail = strings.Join(reasons, "; ")
}

// Verification are the findings that were judged as the checks of a verification, one for each mock and figure.
func (b *Backoff) Verification() []Check {
	var checks []Check
	for _, c := range b.mocks {
		checks = append(checks, c.checks()...)
	}
	if len(b.mocks) == 0 {
		checks = append(checks, Check{
			Name: "backoff", Expected: "at least 1 rejection", Actual: "0 rejections", Detail: "no client was refused, so there is nothing to judge",
			Exchanges: []string{}, NearMisses: []NearMiss{},
		})
	}
	return checks
}

// checks are those of one mock. The first says whether there was enough to judge.
func (c *crowd) checks() []Check {
	var list []Check
	name := "backoff of " + c.ref.Name
	outcome, reason := c.outcome()
	if c.terms.MinRejections > 0 || reason != "" {
		enough := Check{
			Name: name, Expected: "at least " + plural(c.terms.MinRejections, "rejection"), Actual: plural(c.rejections, "rejection"), Detail: reason,
			Exchanges: []string{}, NearMisses: []NearMiss{},
		}
		if yes := true; outcome != Inconclusive {
			enough.Pass = &yes
		}
		list = append(list, enough)
	}
	if c.rejections < c.terms.MinRejections {
		return list
	}
	for _, id := range []string{FindingEarly, FindingGrowth, FindingAttempts, FindingUnsafe, FindingJitter, FindingHerd} {
		if check, judged := c.checkOf(id); judged {
			check.Name = name + ": " + id
			list = append(list, check)
		}
	}
	return list
}

// checkOf puts the findings of all clients with an id together: the worst of them counts.
func (c *crowd) checkOf(id string) (check Check, judged bool) {
	check = Check{Exchanges: []string{}, NearMisses: []NearMiss{}}
	var worst *Finding
	var details []string
	for _, f := range c.all() {
		if f.ID != id || f.Pass == nil {
			continue
		}
		if worst == nil || *worst.Pass && !*f.Pass || *worst.Pass == *f.Pass && c.worse(f, worst) {
			worst = f
		}
		if !*f.Pass {
			check.Exchanges = append(check.Exchanges, f.Exchanges...)
			details = append(details, f.Detail)
		}
	}
	if worst == nil {
		return check, false
	}
	check.Pass, check.Actual = worst.Pass, number(*worst.Actual)
	check.Expected = boundWord(id) + " " + number(*worst.Expected)
	check.Exchanges = check.Exchanges[:min(len(check.Exchanges), maxExchanges)]
	check.Detail = strings.Join(details[:min(len(details), maxSamples)], "; ")
	return check, true
}

// all are the findings about each client, and about all of them.
func (c *crowd) all() []*Finding {
	var list []*Finding
	for _, g := range c.groups {
		for i := range g.client.Checks {
			list = append(list, &g.client.Checks[i])
		}
	}
	for i := range c.findings {
		list = append(list, &c.findings[i])
	}
	return list
}

func (*crowd) worse(a, b *Finding) bool {
	if hasFloor(a.ID) {
		return *a.Actual < *b.Actual
	}
	return *a.Actual > *b.Actual
}

// hasFloor tells whether a figure fails below its threshold; the others fail above it.
func hasFloor(id string) bool { return id == FindingGrowth || id == FindingJitter }

func boundWord(id string) string {
	if hasFloor(id) {
		return "at least"
	}
	return "at most"
}

// number writes a figure with at most three digits behind the point.
func number(n float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", n), "0"), ".")
}
