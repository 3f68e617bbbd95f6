package guard

import (
	"slices"
	"sync/atomic"

	"github.com/mockbase/mockbase/ratelimit"
)

// program is a set of rules, compiled. It does not change, but for the scale of its adaptive tiers.
type program struct {
	rules Rules
	// empty says that there is nothing to ask.
	empty                bool
	excluded             *tally
	tracks               []*tally
	safelist, blocklist  *list
	bans                 []*banRule
	tiers                []*tier
	circuit              *Circuit
	circuitTally, manual *tally
	// plain is the passage of requests that nothing watches.
	plain *passage
}

// passage is what the guard remembers of a request that is under way.
type passage struct {
	program *program
	watches []watch
	held    []*ratelimit.Held
}

// banRule is a compiled rule.
type banRule struct {
	BanRule

	scope *Matcher
	tally *tally
}

// tier is a compiled tier.
type tier struct {
	rule    Tier
	limiter *ratelimit.Limiter
	// effective is the policy with the factor in it.
	effective atomic.Pointer[ratelimit.Policy]
	tally     *tally
	hidden    bool
}

func (t *tier) policy() *ratelimit.Policy { return t.effective.Load() }

func compile(r *Rules, limiter *ratelimit.Limiter, counts *registry) *program {
	p := &program{
		rules:    *r,
		excluded: counts.tally(ratelimit.LayerExcluded, ""), manual: counts.tally(ratelimit.LayerBans, ratelimit.ManualBans),
		safelist:  compileList(ratelimit.LayerSafelist, r.Safelist, counts),
		blocklist: compileList(ratelimit.LayerBlocklist, r.Blocklist, counts),
		empty: len(r.Track) == 0 && len(r.Safelist) == 0 && len(r.Blocklist) == 0 && len(r.Bans) == 0 &&
			len(r.Tiers) == 0 && r.Circuit == nil,
	}
	p.rules.Exclude, p.rules.Track, p.rules.Costs = slices.Clone(r.Exclude), slices.Clone(r.Track), slices.Clone(r.Costs)
	for i := range r.Track {
		p.tracks = append(p.tracks, counts.tally(ratelimit.LayerTrack, r.Track[i].Name))
	}
	for i := range r.Bans {
		b := &banRule{BanRule: r.Bans[i], tally: counts.tally(ratelimit.LayerBans, r.Bans[i].Name)}
		b.complete()
		p.bans = append(p.bans, b)
	}
	for i := range r.Tiers {
		t := &tier{
			rule: r.Tiers[i], limiter: r.Tiers[i].Limiter, tally: counts.tally(ratelimit.LayerTiers, r.Tiers[i].Policy.Name),
			hidden: r.Tiers[i].Key.global() && !r.ExposeGlobal,
		}
		if t.limiter == nil {
			t.limiter = limiter
		}
		p.tiers = append(p.tiers, t)
	}
	if r.Circuit != nil {
		full := r.Circuit.complete()
		p.circuit, p.circuitTally = &full, counts.tally(ratelimit.LayerCircuit, "circuit")
	}
	p.plain = &passage{program: p}
	return p
}

// complete fills in the defaults of a rule.
func (b *banRule) complete() {
	if b.Kind == "" {
		b.Kind = Fail2Ban
	}
	if b.scope = b.Scope; b.scope == nil {
		b.scope = &b.Match
	}
	if len(b.Failures) == 0 {
		b.Failures = []int{401, ratelimit.StatusForbidden}
	}
	if b.Status == 0 {
		b.Status = ratelimit.StatusForbidden
	}
	if b.OnStoreFailure == "" {
		b.OnStoreFailure = ratelimit.FailMemory
	}
}

// scale brings the factor into the adaptive tiers.
func (p *program) scale(f Factor) {
	for _, t := range p.tiers {
		policy := t.rule.Policy
		if t.rule.Adaptive && p.rules.Adaptive != nil {
			policy = f.Scale(policy)
		}
		t.effective.Store(&policy)
	}
}
