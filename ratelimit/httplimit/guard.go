package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Guard lets requests through to a handler while their policies allow. It is safe for concurrent use. Close ends its
// denial log.
type Guard struct {
	limiter   *ratelimit.Limiter
	policies  []ratelimit.Policy
	demanded  []ratelimit.Policy
	addresses *Addresses
	global    bool
	// key is nil where it is the address or the same for all. The policies from byAddress on count by the address.
	key       *Key
	missing   Missing
	byAddress int
	excluded  []string
	status    int
	body      Body
	refusal   func(w http.ResponseWriter, r *http.Request, refusal Refusal)
	zero      bool
	jitter    time.Duration
	fields    fields
	matches   matchLog
	denied    ratelimit.TopDenied
}

// New makes a guard. All that is wrong with the options is reported in one error that wraps ratelimit.ErrConfig.
func New(o Options) (*Guard, error) {
	o.complete()
	identity, key, keyFault := o.key()
	policies := slices.Concat(o.Policies, o.PerAddress)
	written, fieldFault := openFields(&o, policies)
	if o.PartitionKeys {
		written.identity = identity
	}
	if err := errors.Join(o.validate(), keyFault, fieldFault); err != nil {
		return nil, fmt.Errorf("make guard: %w", err)
	}
	g := &Guard{
		limiter: o.Limiter, policies: policies, demanded: slices.Clone(o.OnDemand),
		addresses: o.Addresses, global: o.Key == KeyGlobal, key: key, missing: o.OnMissingKey, byAddress: len(o.Policies),
		excluded: o.Exclude, status: o.Status, body: o.Body, refusal: o.Refuse, zero: o.ZeroWhenAllowed, jitter: o.Jitter, fields: written,
	}
	g.matches.open(&o)
	return g, nil
}

// Middleware puts the guard before a handler. Limit fields that the handler sets itself are kept. Places of concurrency
// policies are given back when the handler is done, also after a panic (rule RL41).
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := g.judge(r)
		if v.places != nil {
			defer v.places.release()
		}
		switch {
		case !v.Allowed:
			g.refuse(w, r, &v)
		case g.announces(&v):
			kept := v // Only an answer with fields makes its verdict outlive this function's frame.
			late := &lateWriter{ResponseWriter: w, write: func(h http.Header) { g.announce(h, &kept) }}
			next.ServeHTTP(late, g.offer(r))
			late.finish()
		default:
			next.ServeHTTP(w, g.offer(r))
		}
	})
}

// Admit judges one request. If it returns false, the refusal is written and the request is over. If it returns true, the
// limit fields are set where they belong on every answer; whoever sets them again later must use their exact names.
// Places of concurrency policies are given back when the request's context ends, as a server ends it after the handler.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) (ratelimit.Decision, bool) {
	v := g.judge(r)
	if !v.Allowed {
		g.refuse(w, r, &v)
		return v.Decision, false
	}
	if v.places != nil {
		context.AfterFunc(r.Context(), v.places.release)
	}
	if g.announces(&v) {
		g.announce(w.Header(), &v)
	}
	return v.Decision, true
}

// TopDenied returns up to so many keys that policies refused most since the guard was made (rule RL129).
func (g *Guard) TopDenied(most int) []ratelimit.DeniedKey { return g.denied.Top(most) }

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
	// reported is the identifier that the decision counted by.
	reported string
	// keyless says that the request was refused because it lacks a part of the key.
	keyless bool
	// places are those that the request holds; nil is none.
	places *places
}

// judge asks the policies in order. The verdict is the first denial, else the decision with the least left (rule RL90).
func (g *Guard) judge(r *http.Request) verdict {
	v := verdict{Decision: ratelimit.Decision{Allowed: true, Skipped: true}}
	if g.excludes(r) {
		return v
	}
	v.now = g.limiter.Now()
	identifier, known := g.identifier(r)
	v.identifier = identifier
	if !known && g.missing == MissingDeny && g.byAddress > 0 {
		v.keyless = true
		v.Decision = ratelimit.Decision{RetryAfter: ratelimit.Never, Policy: &g.policies[0]}
		return v
	}
	for i := range g.policies {
		if i < g.byAddress && !known {
			continue
		}
		if i == g.byAddress {
			v.identifier = g.address(r)
		}
		if !g.ask(r, &g.policies[i], &v) {
			break
		}
	}
	return v
}

// ask asks one policy and returns false if it denies, which gives the places taken before it back.
func (g *Guard) ask(r *http.Request, p *ratelimit.Policy, v *verdict) bool {
	request := ratelimit.Request{Key: ratelimit.Key{Namespace: p.Name, Identifier: v.identifier}, Policy: p, Cost: 1, Now: v.now}
	if p.Algorithm == ratelimit.Concurrency {
		request.Lease = ratelimit.NewLease()
	}
	d := g.check(r.Context(), &request)
	if !d.Allowed {
		v.places.release()
		v.Decision, v.places, v.reported = d, nil, v.identifier
		return false
	}
	if request.Lease != "" && !d.Skipped {
		v.places = v.places.hold(g.limiter, r, &request, &d)
	}
	if !d.Skipped && (v.Skipped || share(&d) < share(&v.Decision)) {
		v.Decision, v.reported = d, v.identifier
	}
	return true
}

func (g *Guard) check(ctx context.Context, request *ratelimit.Request) ratelimit.Decision {
	d, err := g.limiter.Check(ctx, *request)
	if err != nil { // Only misuse, which New has ruled out; limits must never take the server down.
		capacity := request.Policy.Capacity()
		return ratelimit.Decision{Allowed: true, Limit: capacity, Remaining: capacity, Degraded: ratelimit.Open, Policy: request.Policy}
	}
	return d
}

func share(d *ratelimit.Decision) float64 { return float64(d.Remaining) / float64(d.Limit) }

// identifier returns the key of a request, and false if a part is missing and the address may not stand in.
func (g *Guard) identifier(r *http.Request) (string, bool) {
	switch {
	case g.global:
		return KeyGlobal, true
	case g.key != nil:
		return g.key.Identifier(r)
	default:
		return g.address(r), true
	}
}

func (g *Guard) address(r *http.Request) string { return g.addresses.Identifier(g.addresses.Client(r)) }

func (g *Guard) excludes(r *http.Request) bool {
	if len(g.excluded) == 0 {
		return false
	}
	resolved, alias := ResolvePath(r, "")
	for _, pattern := range g.excluded {
		prefix, open := strings.CutSuffix(pattern, "*")
		covers := func(path string) bool { return path == pattern || open && strings.HasPrefix(path, prefix) }
		if covers(resolved) && (alias == "" || covers(alias)) {
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
