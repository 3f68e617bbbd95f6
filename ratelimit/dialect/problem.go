package dialect

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// LimitedBy says who refused: the shield of the server, or a limit that a mock simulates.
const LimitedBy = "Mockbase-Limited-By"

// The registered problem types of refusals (rules RL65, RL88, RL114).
const (
	ProblemQuotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	ProblemReducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
	ProblemAbnormalUsage   = "https://iana.org/assignments/http-problem-types#abnormal-usage-detected"
)

// Problem is the body of a refusal in the form of RFC 9457 (rules RL114, X3).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// ViolatedPolicies are the names of the policies that denied.
	ViolatedPolicies []string `json:"violated-policies"` //nolint:tagliatelle // The member is registered under this name.
}

// Problem describes a denial. The wait is the one that Retry-After tells; 0 and ratelimit.Never tell none.
func (a *Answer) Problem(status int, wait time.Duration) Problem {
	p := Problem{Status: status, ViolatedPolicies: []string{a.name()}}
	if a.Degraded == ratelimit.Closed {
		p.Type, p.Title = ProblemReducedCapacity, "Temporarily reduced capacity"
		p.Detail = "Rate limits cannot be checked at the moment."
	} else {
		p.Type, p.Title = ProblemQuotaExceeded, "Request quota exceeded"
		p.Detail = "Policy " + strconv.Quote(a.name()) + " allows " + Quota(a.Policy) + "."
	}
	if told, helps := ratelimit.RetryAfterSeconds(wait); helps {
		p.Detail += " Try again in " + strconv.FormatInt(told, 10) + " s."
	}
	return p
}

// KeylessProblem describes the refusal of a request that lacks what the policy counts by (rule RL79).
func KeylessProblem(p *ratelimit.Policy) Problem {
	return Problem{
		Type: ProblemAbnormalUsage, Title: "Abnormal usage detected", Status: http.StatusForbidden,
		Detail:           "The request does not say who is asking, which policy " + strconv.Quote(p.Name) + " counts by.",
		ViolatedPolicies: []string{p.Name},
	}
}

// Quota says what a policy allows, such as "120 requests per 60 s".
func Quota(p *ratelimit.Policy) string {
	switch {
	case p.Limit == 0:
		return "no requests"
	case p.Algorithm == ratelimit.Concurrency:
		return strconv.FormatInt(p.Limit, 10) + " at the same time"
	}
	text := strconv.FormatInt(p.Limit, 10) + " requests per "
	if p.Limit == 1 {
		text = "1 request per "
	}
	if p.Window%time.Second != 0 {
		return text + strconv.FormatInt(p.Window.Milliseconds(), 10) + " ms"
	}
	return text + strconv.FormatInt(int64(p.Window/time.Second), 10) + " s"
}
