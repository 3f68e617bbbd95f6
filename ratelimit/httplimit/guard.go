package httplimit

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// The keys of a shield policy that are served (rule RL78).
const (
	KeyIP     = "ip"
	KeyGlobal = "global"
)

// When says on which answers a guard writes limit fields (rule RL120).
type When string

// OnDenied is the default.
const (
	OnAlways When = "always"
	OnDenied When = "denied"
	OnNever  When = "never"
)

// Body is the form of a refusal (rule RL115).
type Body string

// BodyProblem is application/problem+json and the default; BodyText is the line "Rate limited".
const (
	BodyProblem Body = "problem"
	BodyText    Body = "text"
)

// StatusEnhanceYourCalm is the unregistered status 420 that some services answer instead of 429.
const StatusEnhanceYourCalm = 420

// Options make a Guard. Limiter and Policies are needed.
type Options struct {
	Limiter *ratelimit.Limiter
	// Policies must all allow. They are judged in order and the first denial ends (rule RL19). Each needs a name of its
	// own, which is also the namespace of its counters.
	Policies []ratelimit.Policy
	// Addresses finds the client; nil takes the peer for it.
	Addresses *Addresses
	// Key says who shares a counter: KeyIP, which "" means too, or KeyGlobal.
	Key string
	// Headers are the dialects of the limit fields; none is DialectDraft.
	Headers []Dialect
	// HeadersOn says which answers carry them; "" is OnDenied.
	HeadersOn When
	// Status of a refusal is 429, which 0 means too, 420 or 503. It changes nothing else.
	Status int
	// Body is the form of a refusal; "" is BodyProblem.
	Body Body
	// Refuse writes status and body of a refusal instead; its header fields are set already. It must not write a body
	// for HEAD.
	Refuse func(w http.ResponseWriter, r *http.Request, refusal Refusal)
	// Exclude are paths that pass uncounted: exact, or a prefix that ends in * (rule RL87).
	Exclude []string
	// ZeroWhenAllowed writes Retry-After: 0 on allowed answers, for clients that expect the field (rule RL116).
	ZeroWhenAllowed bool
	// Jitter is the most that is added to Retry-After at random, so that clients do not return at one instant.
	Jitter time.Duration
	// LogMatches says which denials are logged; "" is LogFirst.
	LogMatches MatchLog
	// Logger gets the denials; nil is silent.
	Logger *slog.Logger
	// Clock is the time of the denial log; nil is time.Now.
	Clock func() time.Time
}

// Guard lets requests through to a handler while their policies allow. It is safe for concurrent use. Close ends its
// denial log.
type Guard struct {
	limiter   *ratelimit.Limiter
	policies  []ratelimit.Policy
	addresses *Addresses
	global    bool
	excluded  []string
	status    int
	body      Body
	refusal   func(w http.ResponseWriter, r *http.Request, refusal Refusal)
	zero      bool
	jitter    time.Duration
	fields    fields
	matches   matchLog
}

// New makes a guard. All that is wrong with the options is reported in one error that wraps ratelimit.ErrConfig.
func New(o Options) (*Guard, error) {
	o.complete()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("make guard: %w", err)
	}
	g := &Guard{
		limiter: o.Limiter, policies: slices.Clone(o.Policies), addresses: o.Addresses,
		global: o.Key == KeyGlobal, excluded: o.Exclude, status: o.Status, body: o.Body, refusal: o.Refuse,
		zero: o.ZeroWhenAllowed, jitter: o.Jitter,
	}
	g.fields.open(o.Headers, o.HeadersOn, g.policies)
	g.matches.open(&o)
	return g, nil
}

func (o *Options) complete() {
	if o.Addresses == nil {
		o.Addresses = NewAddresses(AddressOptions{})
	}
	if o.Key == "" {
		o.Key = KeyIP
	}
	if len(o.Headers) == 0 {
		o.Headers = []Dialect{DialectDraft}
	}
	if o.HeadersOn == "" {
		o.HeadersOn = OnDenied
	}
	if o.Status == 0 {
		o.Status = http.StatusTooManyRequests
	}
	if o.Body == "" {
		o.Body = BodyProblem
	}
	if o.LogMatches == "" {
		o.LogMatches = LogFirst
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
}

func (o *Options) validate() error {
	faults := []error{
		oneOf("key", o.Key, KeyIP, KeyGlobal),
		validateDialects(o.Headers),
		oneOf("answers with limit fields", o.HeadersOn, OnAlways, OnDenied, OnNever),
		oneOf("status", o.Status, http.StatusTooManyRequests, StatusEnhanceYourCalm, http.StatusServiceUnavailable),
		oneOf("body", o.Body, BodyProblem, BodyText),
		oneOf("log of matches", o.LogMatches, LogFirst, LogAll, LogOff),
	}
	if o.Limiter == nil {
		faults = append(faults, fmt.Errorf("no limiter: %w", ratelimit.ErrConfig))
	}
	if o.Jitter < 0 {
		faults = append(faults, fmt.Errorf("jitter %s is negative: %w", o.Jitter, ratelimit.ErrConfig))
	}
	return errors.Join(append(faults, o.validatePolicies()...)...)
}

// oneOf refuses a value that is not among those served.
func oneOf[T comparable](what string, got T, served ...T) error {
	if slices.Contains(served, got) {
		return nil
	}
	return fmt.Errorf("%s %v is not served: want one of %v: %w", what, got, served, ratelimit.ErrConfig)
}

func (o *Options) validatePolicies() []error {
	if len(o.Policies) == 0 {
		return []error{fmt.Errorf("no policy: %w", ratelimit.ErrConfig)}
	}
	var faults []error
	names := make(map[string]bool, len(o.Policies))
	for i := range o.Policies {
		p := &o.Policies[i]
		if err := o.policyFault(p); err != nil {
			faults = append(faults, err)
		}
		if names[p.Name] {
			faults = append(faults, fmt.Errorf("two policies are named %q: %w", p.Name, ratelimit.ErrConfig))
		}
		names[p.Name] = true
	}
	return faults
}

// policyFault returns what is wrong with a policy, or why this guard or its stores cannot serve it.
func (o *Options) policyFault(p *ratelimit.Policy) error {
	if err := p.ValidateShield(); err != nil {
		return err //nolint:wrapcheck // It names the policy.
	}
	if p.Algorithm == ratelimit.Concurrency {
		return fmt.Errorf("policy %q: concurrency is not served here, since a guard gives no place back: %w", p.Name, ratelimit.ErrConfig)
	}
	if o.Limiter == nil {
		return nil
	}
	return o.Limiter.Serves(p) //nolint:wrapcheck // It names the policy.
}

// Middleware puts the guard before a handler. Limit fields that the handler sets itself are kept.
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := g.judge(r)
		switch {
		case !v.Allowed:
			g.refuse(w, r, &v)
		case g.announces(&v):
			late := &lateWriter{ResponseWriter: w, write: func(h http.Header) { g.announce(h, &v) }}
			next.ServeHTTP(late, r)
			late.finish()
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Admit judges one request. If it returns false, the refusal is written and the request is over. If it returns true, the
// limit fields are set where they belong on every answer; whoever sets them again later must use their exact names.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) (ratelimit.Decision, bool) {
	v := g.judge(r)
	if !v.Allowed {
		g.refuse(w, r, &v)
		return v.Decision, false
	}
	if g.announces(&v) {
		g.announce(w.Header(), &v)
	}
	return v.Decision, true
}

// Close writes what the denial log still holds back, and ends its timer. It may be called again.
func (g *Guard) Close() error {
	g.matches.close()
	return nil
}

// verdict is the decision that an answer reports, and what belongs to it.
type verdict struct {
	ratelimit.Decision

	now        time.Time
	identifier string
}

// judge asks the policies in order. The verdict is the first denial, else the decision with the least left (rule RL90).
func (g *Guard) judge(r *http.Request) verdict {
	v := verdict{Decision: ratelimit.Decision{Allowed: true, Skipped: true}}
	if g.excludes(r.URL.Path) {
		return v
	}
	v.now, v.identifier = g.limiter.Now(), g.identifier(r)
	for i := range g.policies {
		p := &g.policies[i]
		d, err := g.limiter.Check(r.Context(), ratelimit.Request{
			Key: ratelimit.Key{Namespace: p.Name, Identifier: v.identifier}, Policy: p, Cost: 1, Now: v.now,
		})
		if err != nil { // Only misuse, which New has ruled out; limits must never take the server down.
			d = ratelimit.Decision{Allowed: true, Limit: p.Capacity(), Remaining: p.Capacity(), Degraded: ratelimit.Open, Policy: p}
		}
		if !d.Allowed {
			v.Decision = d
			return v
		}
		if !d.Skipped && (v.Skipped || share(&d) < share(&v.Decision)) {
			v.Decision = d
		}
	}
	return v
}

func share(d *ratelimit.Decision) float64 { return float64(d.Remaining) / float64(d.Limit) }

func (g *Guard) identifier(r *http.Request) string {
	if g.global {
		return KeyGlobal
	}
	return g.addresses.Identifier(g.addresses.Client(r))
}

func (g *Guard) excludes(requested string) bool {
	for _, pattern := range g.excluded {
		prefix, open := strings.CutSuffix(pattern, "*")
		if requested == pattern || open && strings.HasPrefix(requested, prefix) {
			return true
		}
	}
	return false
}

// announces says whether an allowed answer carries fields.
func (g *Guard) announces(v *verdict) bool {
	return !v.Skipped && (g.zero || g.fields.on == OnAlways)
}

// announce sets the fields of an allowed answer.
func (g *Guard) announce(h http.Header, v *verdict) {
	if g.fields.on == OnAlways {
		g.fields.set(h, v)
	}
	if _, set := h[retryAfter]; g.zero && !set {
		h[retryAfter] = []string{"0"}
	}
}

// lateWriter sets header fields when the answer begins, so that those of the handler are known by then.
type lateWriter struct {
	http.ResponseWriter

	write func(http.Header)
	done  bool
}

// WriteHeader begins the answer, unless the status is an informational one.
func (w *lateWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.finish()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer if nothing did before.
func (w *lateWriter) Write(body []byte) (int, error) {
	w.finish()
	return w.ResponseWriter.Write(body) //nolint:wrapcheck // It stands in for the writer.
}

// Flush begins the answer if nothing did before, and sends it as far as it goes.
func (w *lateWriter) Flush() {
	w.finish()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // A writer that cannot flush has nothing to send early.
}

// Unwrap returns the writer behind this one, for http.ResponseController.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) finish() {
	if !w.done {
		w.done = true
		w.write(w.Header())
	}
}
