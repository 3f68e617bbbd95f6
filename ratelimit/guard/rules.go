package guard

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// MaxRules bounds the entries of each list and the rules of each layer.
const MaxRules = 10_000

// DefaultExclude are the paths that a server usually excludes: probes and metrics (rule RL87).
func DefaultExclude() []string { return []string{"/healthz", "/readyz", "/metrics"} }

// Rules are what a guard goes by. The zero rules let everything through.
type Rules struct {
	// DryRun is that of every rule (rule RL92).
	DryRun bool
	// Exclude are paths that skip the guard and the circuit's count: exact, or a prefix that ends in * (rule RL87).
	Exclude []string
	// Track are rules that only count.
	Track []Track
	// Safelist entries pass everything, Blocklist entries nothing (rule RL88).
	Safelist, Blocklist []Entry
	Bans                []BanRule
	// UserBan is how a user is refused that an administrator banned; the zero value is 403 without a code.
	UserBan UserBan
	// Tiers must all allow; they are asked in order, most specific first (rule RL89).
	Tiers []Tier
	// ExposeGlobal shows clients the numbers of tiers whose key is "global" (rule RL90).
	ExposeGlobal bool
	// Costs say what requests cost; the first that matches decides, and else the attempt (rule RL91).
	Costs []Cost
	// Circuit is nil for none.
	Circuit *Circuit
	// Adaptive is nil where limits stay as they are.
	Adaptive *Adaptive
}

// UserBan is the answer to a user that an administrator banned.
type UserBan struct {
	Status int
	// Code is the stable code of the refusal.
	Code string
}

// Track counts the requests that it matches and does nothing else (rule RL92).
type Track struct {
	Name  string
	Match Matcher
}

// BanKind says which requests are offences.
type BanKind string

// Fail2Ban counts the requests that failed, which is known after the answer; Allow2Ban counts every request when it
// comes (rules RL94, RL98).
const (
	Fail2Ban  BanKind = "fail2ban"
	Allow2Ban BanKind = "allow2ban"
)

// BanRule bans keys for their offences.
type BanRule struct {
	ratelimit.BanRule

	// Kind is Fail2Ban, which "" means too, or Allow2Ban.
	Kind BanKind
	// Match selects the requests that may be offences.
	Match Matcher
	// Scope selects the requests that a ban refuses; nil is those of Match.
	Scope *Matcher
	Key   Key
	// Failures are the statuses that are failures unless the handler says otherwise; none are 401 and 403.
	Failures []int
	// KeepOnSuccess keeps the failures of a key that succeeds; without it a success forgives them.
	KeepOnSuccess bool
	// Status of a refusal is 403, which 0 means too, 420, 429 or 503 (rule RL99).
	Status int
	// Code is the stable code of a refusal, such as "login-banned"; it may be empty.
	Code string
	// OnStoreFailure decides while the store of bans fails: FailMemory, which "" means too, counts in the guard's local
	// register and refuses if it has none; FailClosed refuses; FailOpen lets pass whatever is not known as banned.
	OnStoreFailure ratelimit.Mode
	DryRun         bool
}

// Tier is a limit among others (rule RL89).
type Tier struct {
	// Policy has a name of its own, which is also the namespace of its counters. Limit 0 skips the tier. A place of a
	// concurrency policy is held until Guard.Done, and renewed meanwhile (rules RL40, RL41).
	Policy ratelimit.Policy
	Key    Key
	// Match selects the requests that the tier is about.
	Match Matcher
	// Limiter is the tier's own, with its own failure mode; nil is that of the guard.
	Limiter *ratelimit.Limiter
	// Adaptive multiplies limit and burst by the factor of the adaptive controller (rule RL109).
	Adaptive bool
	DryRun   bool
}

// DefaultTiers are the tiers user (each user at each endpoint), endpoint and global with these limits (rule RL89).
func DefaultTiers(user, endpoint, global ratelimit.Policy) []Tier {
	user.Name, endpoint.Name, global.Name = "user", "endpoint", "global"
	return []Tier{
		{Policy: user, Key: Key{Parts: []string{PartUser, PartEndpoint}}},
		{Policy: endpoint, Key: Key{Parts: []string{PartEndpoint}}},
		{Policy: global, Key: Key{Parts: []string{PartGlobal}}},
	}
}

// Validate reports all that is wrong with the rules in one error that wraps ratelimit.ErrConfig, or nil.
func (r *Rules) Validate() error {
	faults := []error{
		validateList("safelist", r.Safelist),
		validateList("blocklist", r.Blocklist),
		r.validateBans(),
		r.validateTiers(),
		r.validateCosts(),
	}
	for i := range r.Track {
		if !ratelimit.ValidName(r.Track[i].Name) {
			faults = append(faults, fault("track rule %q: not a name", r.Track[i].Name))
		}
	}
	if count := max(len(r.Exclude), len(r.Track), len(r.Bans), len(r.Tiers), len(r.Costs)); count > MaxRules {
		faults = append(faults, fault("%d rules in one layer, more than %d", count, MaxRules))
	}
	if r.Circuit != nil {
		faults = append(faults, r.Circuit.Validate())
	}
	if r.Adaptive != nil {
		faults = append(faults, r.Adaptive.Validate())
	}
	return errors.Join(faults...)
}

func (r *Rules) validateBans() error {
	var faults []error
	names := make(map[string]bool, len(r.Bans))
	for i := range r.Bans {
		b := &r.Bans[i]
		if err := b.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("ban rule %d: %w", i, err))
		}
		switch {
		case names[b.Name]:
			faults = append(faults, fault("two ban rules are named %q", b.Name))
		case b.Kind != "" && b.Kind != Fail2Ban && b.Kind != Allow2Ban:
			faults = append(faults, fault("ban rule %q: kind %q is neither fail2ban nor allow2ban", b.Name, b.Kind))
		case !slices.Contains([]int{0, ratelimit.StatusForbidden, ratelimit.StatusCalm, ratelimit.StatusTooMany, ratelimit.StatusUnavailable}, b.Status):
			faults = append(faults, fault("ban rule %q: status %d is not 403, 420, 429 or 503", b.Name, b.Status))
		case !slices.Contains([]ratelimit.Mode{"", ratelimit.FailOpen, ratelimit.FailClosed, ratelimit.FailMemory}, b.OnStoreFailure):
			faults = append(faults, fault("ban rule %q: failure mode %q is not open, closed or memory", b.Name, b.OnStoreFailure))
		default:
			faults = append(faults, b.Key.validate(b.Name))
		}
		names[b.Name] = true
	}
	return errors.Join(faults...)
}

func (r *Rules) validateTiers() error {
	var faults []error
	names := make(map[string]bool, len(r.Tiers))
	for i := range r.Tiers {
		t := &r.Tiers[i]
		if err := t.Policy.ValidateShield(); err != nil {
			faults = append(faults, fmt.Errorf("tier %d: %w", i, err))
		}
		switch {
		case names[t.Policy.Name]:
			faults = append(faults, fault("two tiers are named %q", t.Policy.Name))
		default:
			faults = append(faults, t.Key.validate(t.Policy.Name))
		}
		names[t.Policy.Name] = true
	}
	return errors.Join(faults...)
}

// fault makes an error that wraps ratelimit.ErrConfig.
func fault(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ratelimit.ErrConfig)...)
}

// live says whether something with an end still holds; the zero time is no end.
func live(until, now time.Time) bool { return until.IsZero() || now.Before(until) }
