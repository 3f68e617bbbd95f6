package simlimit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Options say where buckets are kept.
type Options struct {
	// Memory makes the store of one session in process memory, which must be an ratelimit.AtomicStore. It is needed: without
	// a shared store it keeps the buckets, and with one it stands in for it.
	Memory func() (ratelimit.Store, error)
	// Shared returns the part of a shared store for one session; nil keeps everything in memory. The tag is that of rule
	// RL121, and keys must live for the given time at least after each write.
	Shared func(tag string, life time.Duration) (Shared, error)
	// Available says what is wrong with a shared store that knows by itself; nil is one that does not.
	Available func() error
	// Where names the store for people, such as "memory".
	Where string
	// ProbeInterval is the longest wait until a failed store is tried again; 0 is the limiter's default.
	ProbeInterval time.Duration
	// Clock is the wall clock; nil is time.Now.
	Clock func() time.Time
	// Logger hears when the shared store fails and returns; nil is silent.
	Logger *slog.Logger
}

// Shared is the part of a shared store that holds the buckets of one session.
type Shared interface {
	ratelimit.AtomicStore
	// Clear forgets the counters whose namespace, a colon, the identifier as [ratelimit.KeyIdentifier] writes it and another
	// colon together begin with the prefix, and returns their number. The empty prefix forgets all.
	Clear(ctx context.Context, prefix string) (int, error)
}

// Keeper keeps the simulated limits of a server. Its methods may be called at the same time.
type Keeper struct {
	options Options
	limiter *ratelimit.Limiter
	// door is what keeps looks from charging anything.
	door   *ratelimit.Policy
	checks checks

	mu     sync.Mutex
	spaces map[*Space]struct{}
	// evicted counts what made room in the memory of sessions that ended.
	evicted int64
}

// New makes a keeper. Options that cannot work are an error that wraps ratelimit.ErrConfig.
func New(o Options) (*Keeper, error) {
	if o.Memory == nil {
		return nil, fmt.Errorf("make keeper of simulated limits: no memory: %w", ratelimit.ErrConfig)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Where == "" {
		o.Where = "memory"
	}
	k := &Keeper{options: o, spaces: make(map[*Space]struct{}), door: door()}
	lo := ratelimit.Options{
		Name: "simulated", Store: routed{inMemory}, Clock: o.Clock, Logger: o.Logger, ProbeInterval: o.ProbeInterval,
	}
	if o.Shared != nil {
		lo.Store, lo.OnFailure, lo.Fallback = routed{inShared}, ratelimit.FailMemory, fallback{routed{inMemory}, k}
		if o.Available != nil {
			lo.Store = watched{routed{inShared}, o.Available}
		}
	}
	var err error
	if k.limiter, err = ratelimit.NewLimiter(lo); err != nil {
		return nil, fmt.Errorf("make keeper of simulated limits: %w", err)
	}
	return k, nil
}

// Space makes the place of one session's buckets. The tag, such as prj_1/ses_2, is its name in a shared store and the life
// is that of the session, 0 without end. A store that cannot be made is an error.
func (k *Keeper) Space(tag string, life time.Duration) (*Space, error) {
	s := &Space{keeper: k, tag: tag, life: min(life, ratelimit.MaxWindow)}
	if err := s.begin(tag); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spaces[s] = struct{}{}
	return s, nil
}

// Where names the store for people.
func (k *Keeper) Where() string { return k.options.Where }

// Health says whether the store decides. Degraded tells that limits go on in process memory (rule X12).
func (k *Keeper) Health() ratelimit.Health { return k.limiter.Health() }

// Figures are what a keeper counts.
type Figures struct {
	// Checks are those of each bucket, by its name; names beyond a bound are told together.
	Checks map[string]Checks
	// Limiter are the counts of all checks that were put to a store, and how long those took.
	Limiter ratelimit.Counts
	Timing  ratelimit.Timing
	// Keys and Bytes are what process memory holds, Evictions what made room there.
	Keys             int
	Bytes, Evictions int64
}

// measured is a store that tells how full it is.
type measured interface {
	Len() int
	Bytes() int64
	Evictions() int64
}

// resettable is a store that forgets counters by what their namespace, a colon and their identifier begin with.
type resettable interface {
	ResetPrefix(prefix string) int
}

// Figures returns the present figures.
func (k *Keeper) Figures() Figures {
	f := Figures{Checks: k.checks.all(), Limiter: k.limiter.Counts(), Timing: k.limiter.Timing()}
	k.mu.Lock()
	defer k.mu.Unlock()
	f.Evictions = k.evicted
	for s := range k.spaces {
		if m, ok := s.current.Load().memory.(measured); ok {
			f.Keys += m.Len()
			f.Bytes += m.Bytes()
			f.Evictions += m.Evictions()
		}
	}
	return f
}

// forget lets go of a space that ended.
func (k *Keeper) forget(s *Space) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.spaces[s]; !ok {
		return
	}
	delete(k.spaces, s)
	k.retire(s.current.Load())
}

// retire keeps the count of evictions of a store that is let go. The keeper must be locked.
func (k *Keeper) retire(g *generation) {
	if m, ok := g.memory.(measured); ok {
		k.evicted += m.Evictions()
	}
}

// emptyMemory empties what stood in for the shared store, so that it starts afresh the next time (rule RL67).
func (k *Keeper) emptyMemory() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for s := range k.spaces {
		if m, ok := s.current.Load().memory.(resettable); ok {
			n += m.ResetPrefix("")
		}
	}
	return n
}
