package guard

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mockbase/mockbase/ratelimit"
)

// Mode says whether a match had an effect.
type Mode string

// ModeLive is a match that decided, ModeDry one of a rule in dry run or of a rule that only counts.
const (
	ModeLive Mode = "live"
	ModeDry  Mode = "dry"
)

// MatchCount is how often a rule matched since the guard was made, for metrics (rule RL129).
type MatchCount struct {
	Layer ratelimit.Layer `json:"layer"`
	Rule  string          `json:"rule"`
	Mode  Mode            `json:"mode"`
	Count int64           `json:"count"`
}

// tally counts the matches of one rule.
type tally struct{ live, dry atomic.Int64 }

type tallyKey struct {
	layer ratelimit.Layer
	rule  string
}

// registry keeps the tallies of the rules that there are, across changes of the rules.
type registry struct {
	mu      sync.Mutex
	tallies map[tallyKey]*tally
	// touched are the rules that the present change has asked for.
	touched map[tallyKey]bool
}

// begin and end enclose a change of the rules: what it does not ask for is forgotten.
func (r *registry) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched = make(map[tallyKey]bool)
}

func (r *registry) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.tallies {
		if !r.touched[key] {
			delete(r.tallies, key)
		}
	}
	r.touched = nil
}

func (r *registry) tally(layer ratelimit.Layer, rule string) *tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := tallyKey{layer, rule}
	t := r.tallies[key]
	if t == nil {
		t = &tally{}
		r.tallies[key] = t
	}
	r.touched[key] = true
	return t
}

// counts returns the matches that there were, by layer and rule.
func (r *registry) counts() []MatchCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []MatchCount
	for key, t := range r.tallies {
		if n := t.live.Load(); n > 0 {
			all = append(all, MatchCount{key.layer, key.rule, ModeLive, n})
		}
		if n := t.dry.Load(); n > 0 {
			all = append(all, MatchCount{key.layer, key.rule, ModeDry, n})
		}
	}
	slices.SortFunc(all, func(a, b MatchCount) int {
		return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Mode, b.Mode))
	})
	return all
}
