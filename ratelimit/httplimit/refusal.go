package httplimit

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// The header fields of a refusal besides the limit fields.
const (
	retryAfter = "Retry-After"
	// LimitedBy says who refused: the shield of the server, or a limit that a mock simulates.
	LimitedBy = "Mockbase-Limited-By"
)

// The registered problem types of refusals (rules RL65, RL114).
const (
	ProblemQuotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	ProblemReducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
)

// Problem is the body of a refusal in the form of RFC 9457 (rule RL114).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// ViolatedPolicies are the names of the policies that denied.
	ViolatedPolicies []string `json:"violated-policies"` //nolint:tagliatelle // The member is registered under this name.
}

// Refusal is a denial on its way to the client.
type Refusal struct {
	Decision ratelimit.Decision
	// Status is the one to answer: that of the options, 503 in failure mode closed, or 403 for MissingDeny.
	Status int
	// Problem describes the denial, for bodies that add members of their own.
	Problem Problem
}

// refuse writes the answer to a request that may not proceed.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, v *verdict) {
	g.matches.denied(r, v)
	wait := v.RetryAfter
	if wait > 0 && g.jitter > 0 {
		wait += rand.N(g.jitter) //nolint:gosec // It spreads clients and keeps no secret.
	}
	h := w.Header()
	h[LimitedBy] = []string{`shield; policy="` + v.Policy.Name + `"`}
	h["Cache-Control"] = []string{"no-store"}
	seconds, helps := ratelimit.RetryAfterSeconds(wait)
	if helps {
		h[retryAfter] = []string{strconv.FormatInt(seconds, 10)}
	}
	if g.fields.on != OnNever && !v.keyless {
		g.fields.set(h, v)
	}
	refusal := Refusal{Decision: v.Decision, Status: g.status}
	if v.Degraded == ratelimit.Closed {
		refusal.Status = http.StatusServiceUnavailable
	}
	if v.keyless {
		refusal.Status = http.StatusForbidden
		refusal.Problem = keylessProblem(v.Policy)
	} else {
		refusal.Problem = problemOf(&v.Decision, refusal.Status, seconds)
	}
	if g.refusal != nil {
		g.refusal(w, r, refusal)
		return
	}
	g.writeBody(w, r, &refusal)
}

func (g *Guard) writeBody(w http.ResponseWriter, r *http.Request, refusal *Refusal) {
	body, kind := []byte("Rate limited\n"), "text/plain; charset=utf-8"
	if g.body == BodyProblem {
		kind = "application/problem+json"
		body, _ = json.Marshal(refusal.Problem) //nolint:errchkjson // Strings and a number cannot fail.
	}
	h := w.Header()
	h["Content-Type"] = []string{kind}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(refusal.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // The client may be gone; there is nobody to tell.
	}
}

// problemOf describes a denial. The seconds are those of Retry-After, 0 where it is absent.
func problemOf(d *ratelimit.Decision, status int, seconds int64) Problem {
	p := Problem{Status: status, ViolatedPolicies: []string{d.Policy.Name}}
	if d.Degraded == ratelimit.Closed {
		p.Type, p.Title = ProblemReducedCapacity, "Temporarily reduced capacity"
		p.Detail = "Rate limits cannot be checked at the moment."
	} else {
		p.Type, p.Title = ProblemQuotaExceeded, "Request quota exceeded"
		p.Detail = "Policy " + strconv.Quote(d.Policy.Name) + " allows " + quota(d.Policy) + "."
	}
	if seconds > 0 {
		p.Detail += " Try again in " + strconv.FormatInt(seconds, 10) + " s."
	}
	return p
}

// keylessProblem describes the refusal of a request that lacks what the policies count by (rule RL79).
func keylessProblem(p *ratelimit.Policy) Problem {
	return Problem{
		Type: ProblemAbnormalUsage, Title: "Abnormal usage detected", Status: http.StatusForbidden,
		Detail:           "The request does not say who is asking, which policy " + strconv.Quote(p.Name) + " counts by.",
		ViolatedPolicies: []string{p.Name},
	}
}

// quota says what a policy allows, such as "120 requests per 60 s".
func quota(p *ratelimit.Policy) string {
	if p.Algorithm == ratelimit.Concurrency {
		return strconv.FormatInt(p.Limit, 10) + " at the same time"
	}
	text := strconv.FormatInt(p.Limit, 10) + " requests per "
	if p.Limit == 1 {
		text = "1 request per "
	}
	return text + strconv.FormatInt(int64(p.Window/time.Second), 10) + " s"
}
