package ratelimit

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// maxTallies bounds the names of policies that are counted apart. Those beyond it are counted under the empty name, so
// that names which somebody else chose cannot fill the memory.
const maxTallies = 1024

// PolicyCounts are the checks of one policy by their outcome since the limiter was made.
type PolicyCounts struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Skipped int64 `json:"skipped"`
	// DryDenied are the denials of checks in dry run, which nobody enforced ([Request].DryRun).
	DryDenied int64 `json:"dryDenied"`
	// Degraded are the checks among them that the store did not decide.
	Degraded int64 `json:"degraded"`
}

// Add adds other counts.
func (c *PolicyCounts) Add(other PolicyCounts) {
	c.Allowed += other.Allowed
	c.Denied += other.Denied
	c.Skipped += other.Skipped
	c.DryDenied += other.DryDenied
	c.Degraded += other.Degraded
}

// tally counts the checks of one policy.
type tally struct{ allowed, denied, skipped, dryDenied, degraded atomic.Int64 }

// tallies are those of all policies by their names. Looking one up takes no lock: the map is replaced, never changed.
type tallies struct {
	known atomic.Pointer[map[string]*tally]

	adding sync.Mutex
}

func (t *tallies) of(policy string) *tally {
	if known := t.known.Load(); known != nil {
		if found := (*known)[policy]; found != nil {
			return found
		}
		if rest := (*known)[""]; rest != nil && len(*known) >= maxTallies {
			return rest
		}
	}
	return t.add(strings.Clone(policy))
}

func (t *tallies) add(policy string) *tally {
	t.adding.Lock()
	defer t.adding.Unlock()
	next := make(map[string]*tally)
	if known := t.known.Load(); known != nil {
		if len(*known) >= maxTallies {
			policy = ""
		}
		if found := (*known)[policy]; found != nil {
			return found
		}
		next = maps.Clone(*known)
	}
	made := &tally{}
	next[policy] = made
	t.known.Store(&next)
	return made
}

// count counts a check. Of a policy without a name nothing more is known.
func (t *tallies) count(r *Request, d *Decision) {
	counted := t.of(r.Policy.Name)
	switch {
	case d.Skipped:
		counted.skipped.Add(1)
	case d.Allowed:
		counted.allowed.Add(1)
	case r.DryRun:
		counted.dryDenied.Add(1)
	default:
		counted.denied.Add(1)
	}
	if d.Degraded != None {
		counted.degraded.Add(1)
	}
}

func (t *tallies) read() map[string]PolicyCounts {
	read := make(map[string]PolicyCounts)
	known := t.known.Load()
	if known == nil {
		return read
	}
	for policy, now := range *known {
		read[policy] = PolicyCounts{
			Allowed: now.allowed.Load(), Denied: now.denied.Load(), Skipped: now.skipped.Load(), DryDenied: now.dryDenied.Load(),
			Degraded: now.degraded.Load(),
		}
	}
	return read
}

// Policies returns the checks so far by the names of their policies, so that several policies may share a limiter, and
// with it round trips, without sharing counts.
func (l *Limiter) Policies() map[string]PolicyCounts { return l.tallies.read() }
