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

// limiters are those that were asked for so far: one for each policy and failure mode, so that counts are told by the
// policy. They stay when the settings change, so that no count is lost.
type limiters struct {
	options *Options

	mu   sync.Mutex
	made map[limiterKey]*ratelimit.Limiter
}

type limiterKey struct {
	policy string
	mode   ratelimit.Mode
}

// get returns the limiter of a policy with a failure mode.
func (l *limiters) get(policy string, mode ratelimit.Mode) (*ratelimit.Limiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limiterKey{policy, mode}
	if known := l.made[key]; known != nil {
		return known, nil
	}
	o := ratelimit.Options{
		Name: policy, Store: l.options.Store, OnFailure: mode, Clock: l.options.Clock, Logger: l.options.Logger,
		ProbeInterval: l.options.Settings.RedisProbeInterval.Span(),
	}
	if mode == ratelimit.FailMemory {
		fallback, err := l.options.NewMemory()
		if err != nil {
			return nil, fmt.Errorf("make fallback of policy %q: %w", policy, err)
		}
		o.Fallback = fallback
	}
	made, err := ratelimit.NewLimiter(o)
	if err != nil {
		return nil, fmt.Errorf("make limiter: %w", err)
	}
	if l.made == nil {
		l.made = make(map[limiterKey]*ratelimit.Limiter)
	}
	l.made[key] = made
	return made, nil
}

// all returns the limiters in the order of their names.
func (l *limiters) all() []*ratelimit.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := make([]limiterKey, 0, len(l.made))
	for key := range l.made {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b limiterKey) int {
		return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.mode, b.mode))
	})
	list := make([]*ratelimit.Limiter, 0, len(keys))
	for _, key := range keys {
		list = append(list, l.made[key])
	}
	return list
}

// of returns the limiters of one policy.
func (l *limiters) of(policy string) []*ratelimit.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*ratelimit.Limiter
	for key, made := range l.made {
		if key.policy == policy {
			list = append(list, made)
		}
	}
	return list
}
