package httplimit

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// The header fields of a refusal besides the limit fields.
const (
	retryAfter = "Retry-After"
	// LimitedBy says who refused: the shield of the server, or a limit that a mock simulates.
	LimitedBy = dialect.LimitedBy
)

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
	g.denied.Count(v.Policy.Name, v.identifier)
	wait := v.RetryAfter
	if wait > 0 && g.jitter > 0 {
		wait += rand.N(g.jitter) //nolint:gosec // It spreads clients and keeps no secret.
	}
	h := w.Header()
	h[LimitedBy] = []string{`shield; policy="` + v.Policy.Name + `"`}
	h["Cache-Control"] = []string{"no-store"}
	g.fields.writer.RetryAfter(h, wait, v.now)
	if g.fields.on != OnNever && !v.keyless && v.Degraded != ratelimit.Closed {
		g.fields.set(h, v)
	}
	refusal := Refusal{Decision: v.Decision, Status: g.status}
	if v.Degraded == ratelimit.Closed {
		refusal.Status = http.StatusServiceUnavailable
	}
	if v.keyless {
		refusal.Status = http.StatusForbidden
		refusal.Problem = dialect.KeylessProblem(v.Policy)
	} else {
		answer := dialect.Answer{Decision: v.Decision}
		refusal.Problem = answer.Problem(refusal.Status, wait)
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
