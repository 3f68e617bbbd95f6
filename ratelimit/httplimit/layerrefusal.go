package httplimit

import (
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// matchWindow is the window in which matches without a wait of their own share a line of the log.
const matchWindow = time.Minute

// LayerProblem is the body of a refusal by a layer in the form of RFC 9457.
type LayerProblem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Code is the stable code that the rule states.
	Code string `json:"code,omitempty"`
	// ViolatedPolicies are the names of the tiers that denied.
	ViolatedPolicies []string `json:"violated-policies,omitempty"` //nolint:tagliatelle // The member is registered under this name.
}

// LayerRefusal is a refusal by a layer on its way to the client.
type LayerRefusal struct {
	Verdict ratelimit.Verdict
	// Status is the one to answer.
	Status int
	// Problem describes the refusal, for bodies that add members of their own.
	Problem LayerProblem
}

// refuse writes the answer to a request that may not proceed.
func (l *Layers) refuse(w http.ResponseWriter, r *http.Request, f *flight, v *ratelimit.Verdict) {
	denied := v.Decision // A copy, so that an allowed request's verdict may stay in its function's frame.
	l.logMatch(r, f, layerMatch{layer: string(v.Layer), rule: v.Rule, wait: v.RetryAfter, status: v.Status, decision: &denied})
	wait := v.RetryAfter
	if wait > 0 && l.options.Jitter > 0 {
		wait += rand.N(l.options.Jitter) //nolint:gosec // It spreads clients and keeps no secret.
	}
	h := w.Header()
	h[LimitedBy] = []string{limitedBy(v)}
	h["Cache-Control"] = []string{"no-store"}
	if l.options.TellDryRuns && v.WouldLimit != "" {
		h[WouldLimit] = []string{v.WouldLimit}
	}
	l.fields.writer.RetryAfter(h, wait, l.options.Clock())
	seconds, _ := ratelimit.RetryAfterSeconds(wait)
	if l.HeadersOn() != OnNever {
		l.limitFields(h, v)
	}
	refusal := LayerRefusal{Verdict: *v, Status: v.Status}
	if v.Layer == ratelimit.LayerTiers && v.Status == http.StatusTooManyRequests {
		refusal.Status = l.options.Status
	}
	refusal.Problem = layerProblem(v, refusal.Status, seconds)
	if l.options.Refuse != nil {
		l.options.Refuse(w, r, refusal)
		return
	}
	body, kind := []byte("Rate limited\n"), "text/plain; charset=utf-8"
	if l.options.Body == BodyProblem {
		kind = "application/problem+json"
		body, _ = json.Marshal(refusal.Problem) //nolint:errchkjson // Strings and a number cannot fail.
	}
	h["Content-Type"] = []string{kind}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(refusal.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // The client may be gone; there is nobody to tell.
	}
}

// limitedBy names what refused: a tier as the policy that it is, a ban with its rule, other layers without the entry that
// matched, which is nobody else's business.
func limitedBy(v *ratelimit.Verdict) string {
	switch v.Layer {
	case ratelimit.LayerTiers:
		return `shield; policy="` + v.Rule + `"`
	case ratelimit.LayerBans:
		return `shield; layer="bans"; policy="` + v.Rule + `"`
	default:
		return `shield; layer="` + string(v.Layer) + `"`
	}
}

// layerProblem describes a refusal. The seconds are those of Retry-After, 0 where it is absent.
func layerProblem(v *ratelimit.Verdict, status int, seconds int64) LayerProblem {
	p := LayerProblem{Status: status, Code: v.Code}
	switch {
	case v.Layer == ratelimit.LayerTiers && v.Decision.Policy != nil && v.Decision.Degraded != ratelimit.Closed:
		p.Type, p.Title, p.Detail = ProblemQuotaExceeded, "Request quota exceeded", "The server has had all the requests that it takes."
		if !v.Hidden {
			p.Detail = "Policy " + strconv.Quote(v.Rule) + " allows " + dialect.Quota(v.Decision.Policy) + "."
		}
		p.ViolatedPolicies = []string{v.Rule}
	case v.Decision.Degraded == ratelimit.Closed:
		p.Type, p.Title, p.Detail = ProblemReducedCapacity, "Temporarily reduced capacity", "Rate limits cannot be checked at the moment."
	case v.Layer == ratelimit.LayerCircuit:
		p.Type, p.Title, p.Detail = ProblemReducedCapacity, "Temporarily reduced capacity", "The server takes only a part of the requests at the moment."
	case v.Layer == ratelimit.LayerBans && status == http.StatusTooManyRequests:
		p.Type, p.Title, p.Detail = ProblemQuotaExceeded, "Request quota exceeded", "Too many attempts."
		p.ViolatedPolicies = []string{v.Rule}
	default:
		p.Type, p.Title, p.Detail = ProblemAbnormalUsage, "Abnormal usage detected", "Requests like this one are refused."
	}
	if seconds > 0 {
		p.Detail += " Try again in " + strconv.FormatInt(seconds, 10) + " s."
	}
	return p
}

// layerMatch is a line of the log.
type layerMatch struct {
	layer, rule string
	wait        time.Duration
	status      int
	dry         bool
	// decision is that of a tier.
	decision *ratelimit.Decision
}

// logDryRuns logs the rules in dry run that would have refused, each as a match of its own (rule RL92).
func (l *Layers) logDryRuns(r *http.Request, f *flight, v *ratelimit.Verdict) {
	if v.WouldLimit == "" {
		return
	}
	for name := range strings.SplitSeq(v.WouldLimit, ", ") {
		layer, rule, _ := strings.Cut(name, "/")
		l.logMatch(r, f, layerMatch{layer: layer, rule: rule, dry: true})
	}
}

// logMatch logs a match at WARN, now or in a summary (rule RL93).
func (l *Layers) logMatch(r *http.Request, f *flight, m layerMatch) {
	if l.matches.mode == LogOff || !l.matches.logger.Enabled(r.Context(), slog.LevelWarn) {
		return
	}
	if l.matches.mode == LogFirst {
		window := m.wait
		if window <= 0 {
			window = matchWindow
		}
		over, first := l.matches.first(matchKey{m.layer, m.rule, f.attempt.Identifier, m.dry}, window)
		l.matches.write(over)
		if !first {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("policy", m.rule), slog.String("layer", m.layer), slog.String("key", f.attempt.Identifier),
		slog.String("method", r.Method), slog.Int("status", m.status), slog.Duration("retry_after", m.wait), slog.Bool("dry_run", m.dry),
	}
	if d := m.decision; d != nil && d.Policy != nil {
		attrs = append(attrs, slog.Int64("limit", d.Limit), slog.Duration("window", d.Policy.Window), slog.String("degraded", d.Degraded.String()))
	}
	if f.attempt.Pattern != "" {
		attrs = append(attrs, slog.String("path_pattern", f.attempt.Pattern))
	}
	if m.dry {
		l.matches.logger.LogAttrs(r.Context(), slog.LevelWarn, "request would be refused by a guard", attrs...)
		return
	}
	l.matches.logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused by a guard", attrs...)
}
