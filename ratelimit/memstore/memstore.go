// Package memstore keeps limiter state in process memory: sharded, bounded, without an allocation per check but for logs
// that grow.
//
// # Bounds
//
// A store holds at most Options.MaxKeys counters and Options.MaxBytes bytes, shared out evenly over its shards. A
// counter that is new when its shard is full takes the place of another one: of an expired one if the next 64 entries of
// the sweep hold one, else of the one unused for longest, and of an exhausted one only when nothing else is left. A flood
// of new keys therefore cannot buy an attacker a fresh quota. In a shard of more than 64 counters the one unused for
// longest is found by second chance: what was used since it was last looked at is passed over. Logs and leases are charged for the room they take, and
// when one grows others make room for it. Evictions are counted.
//
// # Expiry
//
// A counter expires when its window is over in real time, unless Options.Lasting is set. Each check looks at a few entries of its shard and frees the
// expired ones; nothing ever walks over the whole store while callers wait.
package memstore

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// The bounds of a store that states none (rule RL43).
const (
	DefaultMaxKeys        = 100_000
	DefaultMaxBytes int64 = 64 << 20
)

const (
	// shardsPerProcessor keeps two callers at one time from meeting at one lock (rule RL42).
	shardsPerProcessor = 4
	maxShards          = 256
	// shardShift leaves the upper eight bits of a hash, enough for maxShards.
	shardShift = 56
	// longIdentifier is where identifiers are replaced by their digest, so that no caller chooses the size of a key.
	longIdentifier = 128
	// digestMark begins the digests that stand for such identifiers, and what poses as one.
	digestMark = "h_"
)

// Options are the bounds and the clock of a store. The zero Options are usable.
type Options struct {
	// MaxKeys is the largest number of counters; 0 is DefaultMaxKeys.
	MaxKeys int
	// MaxBytes bounds the memory of the counters; 0 is DefaultMaxBytes. The room for one counter in each shard is
	// always there.
	MaxBytes int64
	// Lasting keeps counters until they are reset or make room for others, whatever time passes. Callers whose instants
	// are not those of the clock need it, since their windows take another time than the machine's (rule RL126).
	Lasting bool
	// Clock is the time of checks without an instant, and the time by which counters expire; nil is time.Now.
	Clock func() time.Time
}

// Store is limiter state in memory. It is safe for concurrent use, starts no goroutine and needs no end.
type Store struct {
	// machine is the clock of a store that was given none, clock is that which it was given.
	machine *machineClock
	clock   func() time.Time
	born    time.Time
	// monotonic says that the clock is this machine's. An instant that a caller has just read from it serves for the
	// expiry too; all others tell nothing of real time.
	monotonic bool
	seed      maphash.Seed
	shards    []shard
	evictions atomic.Int64
}

var (
	_ ratelimit.OrderedStore = (*Store)(nil)
	_ ratelimit.AtomicStore  = (*Store)(nil)
	_ ratelimit.SessionStore = (*Store)(nil)
)

// New makes an empty store. Negative bounds are ratelimit.ErrConfig.
func New(o Options) (*Store, error) {
	if o.MaxKeys < 0 || o.MaxBytes < 0 {
		return nil, fmt.Errorf("make memory store: bounds %d keys and %d bytes: %w", o.MaxKeys, o.MaxBytes, ratelimit.ErrConfig)
	}
	if o.MaxKeys == 0 {
		o.MaxKeys = DefaultMaxKeys
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	count := shardCount(runtime.GOMAXPROCS(0), o.MaxKeys)
	s := &Store{clock: o.Clock, seed: maphash.MakeSeed(), shards: make([]shard, count)}
	if o.Clock == nil {
		s.machine = newMachineClock()
		s.clock = s.machine.now
		s.born, s.monotonic = s.machine.base.Load().at, true
	} else {
		s.born = o.Clock()
		s.monotonic = monotonic(s.born)
	}
	for i := range s.shards {
		keys := o.MaxKeys / count
		if i < o.MaxKeys%count {
			keys++
		}
		s.shards[i].open(keys, o.MaxBytes/int64(count), &s.evictions)
		s.shards[i].lasting = o.Lasting
	}
	return s, nil
}

// shardCount returns the power of two at or above four for each processor, at most 256, and not above the number of
// keys, so that each shard may hold one.
func shardCount(processors, keys int) int {
	count := 1 << bits.Len(uint(max(1, shardsPerProcessor*processors)-1))
	return min(count, maxShards, 1<<(bits.Len(uint(keys))-1))
}

// Take judges the request by its state and keeps the new one (rules RL42 to RL45).
func (s *Store) Take(_ context.Context, r ratelimit.Request) (d ratelimit.Decision, err error) {
	if !ratelimit.NeedsState(r.Policy, r.Cost) {
		d, _, err = ratelimit.Settle(r.Policy, r.Cost)
		return d, err
	}
	var now moment
	if s.machine != nil && r.Now.IsZero() {
		now = s.machine.tick() // Most stores and checks, which are spared a call.
	} else {
		now = s.moment(&r.Now)
	}
	k := key{names: names{r.Key.Namespace, r.Key.Identifier}}
	if r.Policy.Algorithm != "" || r.Policy.Align != "" { // Most policies state neither.
		k.kind = kindOf(r.Policy)
	}
	if len(k.identifier) > longIdentifier || strings.HasPrefix(k.identifier, digestMark) {
		k.identifier = ratelimit.KeyIdentifier(k.identifier)
	}
	hash := s.hash(&k)
	h := s.shardOf(hash)
	h.mu.Lock()
	err = h.judge(hash, &k, &r, now, &d)
	h.mu.Unlock()
	return d, err
}

// moment is when a check is judged: the tick by which its policy judges, and the real time by which counters expire, in
// nanoseconds of the store's life.
type moment struct{ tick, at int64 }

// moment returns that of a check, which may give an instant.
func (s *Store) moment(given *time.Time) moment {
	at := s.instant(given)
	return moment{ratelimit.Tick(*given), at}
}

// instant fills in the instant of a check that gives none, and returns the real time by which counters expire, in
// nanoseconds of the store's life.
func (s *Store) instant(given *time.Time) int64 {
	if given.IsZero() {
		*given = s.clock()
		return int64(given.Sub(s.born))
	}
	now := *given
	if !s.monotonic || !monotonic(now) {
		now = s.clock()
	}
	return int64(now.Sub(s.born))
}

// monotonic says whether an instant has a monotonic reading, which only the machine's own clock gives.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// Release gives back the place that a lease holds (rule RL40).
func (s *Store) Release(_ context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) error {
	counted, err := leaseKey(&k, p)
	if err == nil && p.Algorithm == ratelimit.Concurrency {
		hash := s.hash(&counted)
		s.shardOf(hash).releaseLease(hash, &counted, lease)
	}
	return err
}

// Renew makes a lease live one window from now, by the store's clock (rule RL40).
func (s *Store) Renew(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) (bool, error) {
	return s.RenewAt(ctx, k, p, lease, time.Time{})
}

// RenewAt is Renew at an instant.
func (s *Store) RenewAt(_ context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string, now time.Time) (bool, error) {
	counted, err := leaseKey(&k, p)
	if err != nil || p.Algorithm != ratelimit.Concurrency {
		return false, err
	}
	at := s.instant(&now)
	hash := s.hash(&counted)
	return s.shardOf(hash).renewLease(hash, &counted, &ratelimit.Request{Policy: p, Lease: lease, Now: now}, at), nil
}

// leaseKey returns the key of a lease, and refuses what Take would refuse.
func leaseKey(k *ratelimit.Key, p *ratelimit.Policy) (key, error) {
	if _, _, err := ratelimit.Settle(p, 0); err != nil {
		return key{}, err
	}
	if err := k.Validate(); err != nil {
		return key{}, err
	}
	return keyOf(k, p), nil
}

// Reset forgets the state of the key under the policy.
func (s *Store) Reset(_ context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	if p == nil {
		return fmt.Errorf("reset key: no policy: %w", ratelimit.ErrConfig)
	}
	if err := k.Validate(); err != nil {
		return err
	}
	counted := keyOf(&k, p)
	hash := s.hash(&counted)
	s.shardOf(hash).remove(hash, &counted)
	return nil
}

// ResetPrefix forgets every counter whose namespace, a colon and identifier together begin with the prefix, and returns
// their number. The empty prefix forgets all.
func (s *Store) ResetPrefix(prefix string) int {
	removed := 0
	for i := range s.shards {
		removed += s.shards[i].removeWhere(func(k key) bool { return k.hasPrefix(prefix) })
	}
	return removed
}

// Len returns the number of counters.
func (s *Store) Len() int {
	total := 0
	for i := range s.shards {
		keys, _ := s.shards[i].size()
		total += keys
	}
	return total
}

// Bytes returns an estimate of the memory that the counters take, as MaxBytes counts it.
func (s *Store) Bytes() int64 {
	var total int64
	for i := range s.shards {
		_, size := s.shards[i].size()
		total += size
	}
	return total
}

// Evictions returns how many counters that had not expired made room for others.
func (s *Store) Evictions() int64 { return s.evictions.Load() }
