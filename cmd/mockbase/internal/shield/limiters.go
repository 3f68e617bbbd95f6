package shield

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/mockbase/mockbase/ratelimit"
)

// The backends of the store.
const (
	BackendMemory = "memory"
	BackendRedis  = "redis"
)

// limiterName is the name of the limiters in logs.
const limiterName = "shield"

// limiters are those that were asked for so far: one for each failure mode, so that the policies of a guard which fail in
// the same way are judged in one round trip (rule RL62). Each policy has counts of its own in them. They stay when the
// settings change, so that no count is lost.
type limiters struct {
	options *Options

	mu    sync.Mutex
	made  map[ratelimit.Mode]*ratelimit.Limiter
	names map[string]bool
}

// get returns the limiter of a failure mode, for a policy.
func (l *limiters) get(policy string, mode ratelimit.Mode) (*ratelimit.Limiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		l.made, l.names = make(map[ratelimit.Mode]*ratelimit.Limiter), make(map[string]bool)
	}
	made := l.made[mode]
	if made == nil {
		var err error
		if made, err = l.open(mode); err != nil {
			return nil, err
		}
		l.made[mode] = made
	}
	l.names[policy] = true
	return made, nil
}

func (l *limiters) open(mode ratelimit.Mode) (*ratelimit.Limiter, error) {
	o := ratelimit.Options{
		Name: limiterName, Store: l.options.Store, OnFailure: mode, Clock: l.options.Clock, Logger: l.options.Logger,
		ProbeInterval: l.options.Settings.RedisProbeInterval.Span(), OnHealth: l.follow,
	}
	if mode == ratelimit.FailMemory {
		fallback, err := l.options.NewMemory()
		if err != nil {
			return nil, fmt.Errorf("make fallback: %w", err)
		}
		o.Fallback = fallback
	}
	made, err := ratelimit.NewLimiter(o)
	if err != nil {
		return nil, fmt.Errorf("make limiter: %w", err)
	}
	return made, nil
}

// all returns the limiters in the order of their modes.
func (l *limiters) all() []*ratelimit.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	modes := make([]ratelimit.Mode, 0, len(l.made))
	for mode := range l.made {
		modes = append(modes, mode)
	}
	slices.SortFunc(modes, cmp.Compare[ratelimit.Mode])
	list := make([]*ratelimit.Limiter, 0, len(modes))
	for _, mode := range modes {
		list = append(list, l.made[mode])
	}
	return list
}

// PolicyCounts are what a policy of the shield decided since the start.
type PolicyCounts struct {
	ratelimit.PolicyCounts

	// FailedOpen are the checks among Allowed that nobody counted, because the store failed.
	FailedOpen int64
}

// Policies returns the counts of each policy that was in force since the start, by its name.
func (s *Shield) Policies() map[string]PolicyCounts {
	counts := make(map[string]PolicyCounts)
	s.limiters.mu.Lock()
	for name := range s.limiters.names {
		counts[name] = PolicyCounts{}
	}
	s.limiters.mu.Unlock()
	for _, l := range s.limiters.all() {
		open := l.Mode() == ratelimit.FailOpen
		for name, now := range l.Policies() {
			sum := counts[name]
			sum.Add(now)
			if open {
				sum.FailedOpen += now.Degraded
			}
			counts[name] = sum
		}
	}
	return counts
}
