package httplimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// WouldLimit names the rules in dry run that would have refused the request (rule RL92).
const WouldLimit = "Mockbase-Would-Limit"

// Judge decides on attempts, as a guard.Guard does.
type Judge interface {
	// Judge says whether a request may go to its handler.
	Judge(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict
	// Done is told what became of an allowed request whose verdict has a state.
	Done(ctx context.Context, a *ratelimit.Attempt, v *ratelimit.Verdict, o ratelimit.Outcome)
}

// LayerOptions make Layers. Judge is needed.
type LayerOptions struct {
	Judge Judge
	// Place is that of the attempts (ratelimit.Attempt).
	Place string
	// Base is what dot segments of paths cannot leave, together with the segment behind it, as in [ResolvePath].
	Base string
	// Addresses finds the client; nil takes the peer for it.
	Addresses *Addresses
	// Pattern finds the route that will serve a request, so that ids in paths do not multiply keys (rule RL80); nil is
	// r.Pattern, which a ServeMux sets for what stands behind it.
	Pattern func(r *http.Request) string
	// IgnoreCase says that the handler of a request compares its path without regard to letter case, so that lists and keys
	// do too; nil is never.
	IgnoreCase func(r *http.Request) bool
	// Authenticated says that this server has verified who is asking; nil is never (rule RL104).
	Authenticated func(r *http.Request) bool
	// Part returns a part of a key as it may stand in one, secrets as digests (rules RL78, RL81), as [Identity.Part] does;
	// nil knows none.
	Part func(r *http.Request, name string) (value string, ok bool)
	// Headers, CustomFields, HeadersOn, ZeroWhenAllowed and Jitter are those of Options.
	Headers         []Dialect
	CustomFields    []CustomField
	HeadersOn       When
	ZeroWhenAllowed bool
	Jitter          time.Duration
	// Status of a refusal by a tier is 429, which 0 means too, 420 or 503 (rule RL115).
	Status int
	// Body is the form of a refusal; "" is BodyProblem.
	Body Body
	// Refuse writes status and body of a refusal instead; its header fields are set already. It must not write a body
	// for HEAD.
	Refuse func(w http.ResponseWriter, r *http.Request, refusal LayerRefusal)
	// TellDryRuns writes Mockbase-Would-Limit on the answers of requests that rules in dry run would have refused.
	TellDryRuns bool
	// LogMatches says which matches are logged; "" is LogFirst.
	LogMatches MatchLog
	// Logger gets the matches; nil is silent.
	Logger *slog.Logger
	// Clock is the time of the log and of the limit fields; nil is time.Now.
	Clock func() time.Time
}

// Layers puts the layers of a guard before handlers, and tells the guard how requests ended. It is safe for concurrent
// use. Close ends its log of matches.
type Layers struct {
	options LayerOptions
	fields  fields
	// on says which answers carry limit fields.
	on      atomic.Pointer[When]
	matches matchLog
	// flights are those that nobody else has seen.
	flights sync.Pool
}

// NewLayers makes layers. All that is wrong with the options is reported in one error that wraps ratelimit.ErrConfig.
func NewLayers(o LayerOptions) (*Layers, error) {
	common := Options{
		Addresses: o.Addresses, Headers: o.Headers, HeadersOn: o.HeadersOn, Status: o.Status, Body: o.Body, Logger: o.Logger,
		LogMatches: o.LogMatches, Clock: o.Clock,
	}
	common.complete()
	o.Addresses, o.Headers, o.HeadersOn, o.Status, o.Body = common.Addresses, common.Headers, common.HeadersOn, common.Status, common.Body
	o.Logger, o.LogMatches, o.Clock = common.Logger, common.LogMatches, common.Clock
	common.CustomFields = o.CustomFields
	written, fieldFault := openFields(&common, nil)
	if err := errors.Join(o.validate(&common), fieldFault); err != nil {
		return nil, fmt.Errorf("make layers: %w", err)
	}
	l := &Layers{options: o, fields: written}
	l.on.Store(&o.HeadersOn)
	l.matches.open(&common)
	return l, nil
}

// SetHeadersOn changes which answers carry limit fields, from the next request on. Another word than those of [When] is
// ratelimit.ErrConfig.
func (l *Layers) SetHeadersOn(when When) error {
	if err := oneOf("answers with limit fields", when, OnAlways, OnDenied, OnNever); err != nil {
		return err
	}
	l.on.Store(&when)
	return nil
}

// HeadersOn says which answers carry limit fields.
func (l *Layers) HeadersOn() When { return *l.on.Load() }

func (o *LayerOptions) validate(common *Options) error {
	faults := common.validateAnswers()
	if o.Judge == nil {
		faults = append(faults, fmt.Errorf("no judge: %w", ratelimit.ErrConfig))
	}
	return errors.Join(append(faults, validateJitter(o.Jitter))...)
}

// Close writes what the log of matches still holds back, and ends its timer. It may be called again.
func (l *Layers) Close() error {
	l.matches.close()
	return nil
}

// Middleware puts the layers before a handler and looks at the status that it answers (rule RL94). The handler may say
// more by [ReportFailure], [ReportSuccess] and [AddCost]. The guard is told even after a panic and a broken connection.
func (l *Layers) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := l.flight(r)
		v := l.options.Judge.Judge(r.Context(), &f.attempt)
		l.logDryRuns(r, f, &v)
		switch {
		case !v.Allowed:
			l.refuse(w, r, f, &v)
			l.land(f)
		case v.State == nil && !l.announces(&v):
			l.land(f)
			next.ServeHTTP(w, r)
		default:
			kept := v // Only a request that is watched makes its verdict outlive this function's frame.
			l.watch(w, r, next, f, &kept)
		}
	})
}

// watch serves a request whose outcome the guard waits for, or whose answer carries fields.
func (l *Layers) watch(w http.ResponseWriter, r *http.Request, next http.Handler, f *flight, v *ratelimit.Verdict) {
	ctx := context.WithValue(r.Context(), flightKey{}, f)
	watched := &outcomeWriter{ResponseWriter: w, begin: func(h http.Header) { l.announce(h, v) }}
	ended := false
	defer func() {
		if ended {
			watched.start(http.StatusOK)
		}
		l.options.Judge.Done(ctx, &f.attempt, v, f.outcome(watched.status))
	}()
	next.ServeHTTP(watched, r.WithContext(ctx))
	ended = true
}

// announces says whether an allowed answer carries fields.
func (l *Layers) announces(v *ratelimit.Verdict) bool {
	limited := v.Decision.Policy != nil
	return limited && (l.options.ZeroWhenAllowed || l.HeadersOn() == OnAlways) || l.options.TellDryRuns && v.WouldLimit != ""
}

// announce sets the fields of an allowed answer.
func (l *Layers) announce(h http.Header, v *ratelimit.Verdict) {
	if l.options.TellDryRuns && v.WouldLimit != "" {
		h[WouldLimit] = []string{v.WouldLimit}
	}
	if v.Decision.Policy == nil {
		return
	}
	if l.HeadersOn() == OnAlways {
		l.limitFields(h, v)
	}
	if _, set := h[retryAfter]; l.options.ZeroWhenAllowed && !set {
		h[retryAfter] = []string{"0"}
	}
}

// limitFields sets the fields of the tier that the verdict reports, unless its numbers are hidden (rule RL90), or nothing
// was counted because the store failed (rule RL65).
func (l *Layers) limitFields(h http.Header, v *ratelimit.Verdict) {
	if v.Decision.Policy == nil || v.Decision.Skipped || v.Hidden || v.Decision.Degraded == ratelimit.Closed {
		return
	}
	l.fields.set(h, &verdict{Decision: v.Decision, now: l.options.Clock()})
}

// flight is a request on its way, and the parts of it.
type flight struct {
	attempt ratelimit.Attempt
	request *http.Request
	options *LayerOptions
	report  atomic.Uint32
	cost    atomic.Int64
	// parts are those found so far, so that each is computed once however many rules ask for it (rule RL84).
	parts []foundPart
	// verdict is that of a request behind Admit.
	verdict ratelimit.Verdict
}

// foundPart is a part of a key, or that the request lacks it.
type foundPart struct {
	name, value string
	ok          bool
}

// flightKey is the place of the flight in a context.
type flightKey struct{}

func (l *Layers) flight(r *http.Request) *flight {
	f, ok := l.flights.Get().(*flight)
	if !ok {
		f = &flight{options: &l.options}
	}
	client := l.options.Addresses.Client(r)
	f.request = r
	resolved, alias := ResolvePath(r, l.options.Base)
	f.attempt = ratelimit.Attempt{
		Place: l.options.Place, Address: client, Identifier: l.options.Addresses.Identifier(client), Method: r.Method, Path: resolved, Alias: alias,
		Pattern: r.Pattern, Size: r.ContentLength, Parts: f,
	}
	if l.options.Pattern != nil {
		f.attempt.Pattern = l.options.Pattern(r)
	}
	if l.options.IgnoreCase != nil {
		f.attempt.IgnoreCase = l.options.IgnoreCase(r)
	}
	if l.options.Authenticated != nil {
		f.attempt.Authenticated = l.options.Authenticated(r)
	}
	return f
}

// land gives back a flight that no handler has seen.
func (l *Layers) land(f *flight) {
	f.request, f.attempt, f.verdict = nil, ratelimit.Attempt{}, ratelimit.Verdict{}
	clear(f.parts)
	f.parts = f.parts[:0]
	l.flights.Put(f)
}

// Part returns a part of a key of the request.
func (f *flight) Part(name string) (string, bool) {
	if f.options.Part == nil {
		return "", false
	}
	for i := range f.parts {
		if f.parts[i].name == name {
			return f.parts[i].value, f.parts[i].ok
		}
	}
	value, ok := f.options.Part(f.request, name)
	f.parts = append(f.parts, foundPart{name, value, ok})
	return value, ok
}

// Header returns the first value of a header field.
func (f *flight) Header(name string) string { return f.request.Header.Get(name) }

func (f *flight) outcome(status int) ratelimit.Outcome {
	return ratelimit.Outcome{Status: status, Report: ratelimit.Report(f.report.Load()), Cost: f.cost.Load()} //nolint:gosec // It came from a Report.
}

// ReportFailure says that the request failed, whatever its status is: a guard counts it as an offence (rule RL94). The
// last report of a request holds. Without [Layers] before the handler nothing happens.
func ReportFailure(ctx context.Context) { report(ctx, ratelimit.ReportFailure) }

// ReportSuccess says that the request succeeded, whatever its status is.
func ReportSuccess(ctx context.Context) { report(ctx, ratelimit.ReportSuccess) }

func report(ctx context.Context, r ratelimit.Report) {
	if f, ok := ctx.Value(flightKey{}).(*flight); ok {
		f.report.Store(uint32(r))
	}
}

// AddCost adds to what the request turned out to cost. After the response the guard charges what exceeds the cost that it
// began with, at most ratelimit.MaxCost; that charge denies nothing, and the next check sees less (rule RL91). Costs that
// are not positive add nothing.
func AddCost(ctx context.Context, n int64) {
	f, ok := ctx.Value(flightKey{}).(*flight)
	if !ok || n <= 0 {
		return
	}
	for {
		before := f.cost.Load()
		after := min(before+min(n, 2*ratelimit.MaxCost), 2*ratelimit.MaxCost) // Enough to exceed the largest first cost by the most.
		if f.cost.CompareAndSwap(before, after) {
			return
		}
	}
}

// outcomeWriter sets header fields when the answer begins, and remembers its status.
type outcomeWriter struct {
	http.ResponseWriter

	begin func(http.Header)
	// status is 0 until the answer begins.
	status int
}

// WriteHeader begins the answer, unless the status is an informational one.
func (w *outcomeWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.start(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer if nothing did before.
func (w *outcomeWriter) Write(body []byte) (int, error) {
	w.start(http.StatusOK)
	return w.ResponseWriter.Write(body) //nolint:wrapcheck // It stands in for the writer.
}

// Flush begins the answer if nothing did before, and sends it as far as it goes.
func (w *outcomeWriter) Flush() {
	w.start(http.StatusOK)
	_ = http.NewResponseController(w.ResponseWriter).Flush() // A writer that cannot flush has nothing to send early.
}

// Unwrap returns the writer behind this one, for http.ResponseController.
func (w *outcomeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *outcomeWriter) start(status int) {
	if w.status == 0 {
		w.status = status
		w.begin(w.Header())
	}
}
