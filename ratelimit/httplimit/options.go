package httplimit

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
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
	// PerAddress are more policies like these that count by the address, whatever the key is. A key with a fingerprint of
	// LevelStrict needs them, since its parts are easily varied (rule RL84).
	PerAddress []ratelimit.Policy
	// OnDemand are policies that only handlers ask, by Check (rule RL113). They count by the key.
	OnDemand []ratelimit.Policy
	// Addresses finds the client; nil is that of Identity, or takes the peer for it.
	Addresses *Addresses
	// Key says who shares a counter, as ParseKey reads it: KeyIP, which "" means too, KeyGlobal, KeyHeader + "X-Tenant",
	// KeyIP + "+" + KeyEndpoint and so on (rule RL78).
	Key string
	// OnMissingKey says what becomes of requests that lack a part of the key; "" is MissingIP.
	OnMissingKey Missing
	// UnverifiedClaims takes the claims of tokens that nobody verified for KeyClaim (rule RL80).
	UnverifiedClaims bool
	// Identity finds the parts of the key; nil is one with a secret of its own, which ends with the process.
	Identity *Identity
	// Headers are the dialects of the limit fields; none is DialectDraft.
	Headers []Dialect
	// CustomFields are those of DialectCustom.
	CustomFields []CustomField
	// PartitionKeys adds the parameter pk to the fields of DialectDraft, so that a client with several quotas can tell them
	// apart: a digest of the counter's key that ends with the secret of Identity (rule RL117).
	PartitionKeys bool
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

func (o *Options) complete() {
	if o.Addresses == nil && o.Identity != nil {
		o.Addresses = o.Identity.options.Addresses
	}
	if o.Addresses == nil {
		o.Addresses = NewAddresses(AddressOptions{})
	}
	if len(o.Headers) == 0 {
		o.Headers = []Dialect{DialectDraft}
	}
	o.Key = cmp.Or(o.Key, KeyIP)
	o.OnMissingKey = cmp.Or(o.OnMissingKey, MissingIP)
	o.HeadersOn = cmp.Or(o.HeadersOn, OnDenied)
	o.Status = cmp.Or(o.Status, http.StatusTooManyRequests)
	o.Body = cmp.Or(o.Body, BodyProblem)
	o.LogMatches = cmp.Or(o.LogMatches, LogFirst)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
}

func (o *Options) validate() error {
	faults := o.validateAnswers()
	if o.Limiter == nil {
		faults = append(faults, fmt.Errorf("no limiter: %w", ratelimit.ErrConfig))
	}
	faults = append(faults, validateJitter(o.Jitter))
	return errors.Join(append(faults, o.validatePolicies()...)...)
}

// validateAnswers checks how refusals look and are logged, which guards and layers have in common.
func (o *Options) validateAnswers() []error {
	return []error{
		oneOf("answers with limit fields", o.HeadersOn, OnAlways, OnDenied, OnNever),
		oneOf("status", o.Status, http.StatusTooManyRequests, StatusEnhanceYourCalm, http.StatusServiceUnavailable),
		oneOf("body", o.Body, BodyProblem, BodyText),
		oneOf("log of matches", o.LogMatches, LogFirst, LogAll, LogOff),
	}
}

func validateJitter(jitter time.Duration) error {
	if jitter < 0 {
		return fmt.Errorf("jitter %s is negative: %w", jitter, ratelimit.ErrConfig)
	}
	return nil
}

// key compiles the key, which is nil where it is the address or the same for all, and returns whose it is.
func (o *Options) key() (*Identity, *Key, error) {
	identity := o.Identity
	if identity == nil {
		made, err := NewIdentity(IdentityOptions{Addresses: o.Addresses})
		if err != nil {
			return nil, nil, err
		}
		identity = made
	}
	key, err := identity.Key(KeyOptions{Key: o.Key, OnMissing: o.OnMissingKey, Unverified: o.UnverifiedClaims})
	if err != nil || o.Key == KeyIP || o.Key == KeyGlobal {
		return identity, nil, err
	}
	if key.strict() && len(o.PerAddress) == 0 {
		return nil, nil, fmt.Errorf("key %q is easily varied: set policies per address beside it: %w", o.Key, ratelimit.ErrConfig)
	}
	return identity, key, nil
}

// oneOf refuses a value that is not among those served.
func oneOf[T comparable](what string, got T, served ...T) error {
	if slices.Contains(served, got) {
		return nil
	}
	return fmt.Errorf("%s %v is not served: want one of %v: %w", what, got, served, ratelimit.ErrConfig)
}

func (o *Options) validatePolicies() []error {
	if len(o.Policies)+len(o.PerAddress)+len(o.OnDemand) == 0 {
		return []error{fmt.Errorf("no policy: %w", ratelimit.ErrConfig)}
	}
	var faults []error
	names := make(map[string]bool)
	for _, list := range [...][]ratelimit.Policy{o.Policies, o.PerAddress, o.OnDemand} {
		for i := range list {
			p := &list[i]
			if err := o.policyFault(p); err != nil {
				faults = append(faults, err)
			}
			if names[p.Name] {
				faults = append(faults, fmt.Errorf("two policies are named %q: %w", p.Name, ratelimit.ErrConfig))
			}
			names[p.Name] = true
		}
	}
	for i := range o.OnDemand {
		if o.OnDemand[i].Algorithm == ratelimit.Concurrency {
			faults = append(faults, fmt.Errorf("policy %q: concurrency is not served on demand, since nobody gives the place back: %w",
				o.OnDemand[i].Name, ratelimit.ErrConfig))
		}
	}
	return faults
}

// policyFault returns what is wrong with a policy, or why the stores cannot serve it.
func (o *Options) policyFault(p *ratelimit.Policy) error {
	if err := p.ValidateShield(); err != nil {
		return err //nolint:wrapcheck // It names the policy.
	}
	if o.Limiter == nil {
		return nil
	}
	return o.Limiter.Serves(p) //nolint:wrapcheck // It names the policy.
}
