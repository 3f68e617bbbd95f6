// Package memstore keeps limiter state in process memory: sharded, bounded, without an allocation per check.
//
// # Bounds
//
// A store holds at most Options.MaxKeys counters and Options.MaxBytes bytes, shared out evenly over its shards. A
// counter that is new when its shard is full takes the place of another one: of an expired one if the next 64 entries of
// the sweep hold one, else of the one unused for longest, and of an exhausted one only when nothing else is left. A flood
// of new keys therefore cannot buy an attacker a fresh quota. Evictions are counted.
//
// # Expiry
//
// A counter expires when its window is over in real time. Each check looks at a few entries of its shard and frees the
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
)

// Options are the bounds and the clock of a store. The zero Options are usable.
type Options struct {
	// MaxKeys is the largest number of counters; 0 is DefaultMaxKeys.
	MaxKeys int
	// MaxBytes bounds the memory of the counters; 0 is DefaultMaxBytes. The room for one counter in each shard is
	// always there.
	MaxBytes int64
	// Clock is the time of checks without an instant, and the time by which counters expire; nil is time.Now.
	Clock func() time.Time
}

// Store is limiter state in memory. It is safe for concurrent use, starts no goroutine and needs no end.
type Store struct {
	clock func() time.Time
	born  time.Time
	// monotonic says that the clock is this machine's. An instant that a caller has just read from it serves for the
	// expiry too; all others tell nothing of real time.
	monotonic bool
	seed      maphash.Seed
	shards    []shard
	evictions atomic.Int64
}

var _ ratelimit.Store = (*Store)(nil)

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
	if o.Clock == nil {
		o.Clock = time.Now
	}
	count := shardCount(runtime.GOMAXPROCS(0), o.MaxKeys)
	born := o.Clock()
	s := &Store{clock: o.Clock, born: born, monotonic: monotonic(born), seed: maphash.MakeSeed(), shards: make([]shard, count)}
	for i := range s.shards {
		keys := o.MaxKeys / count
		if i < o.MaxKeys%count {
			keys++
		}
		s.shards[i].open(keys, o.MaxBytes/int64(count), &s.evictions)
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
	d, settled, err := ratelimit.Settle(r.Policy, r.Cost)
	if settled || err != nil {
		return d, err
	}
	now := r.Now
	if !s.monotonic || !monotonic(now) {
		now = s.clock()
	}
	if r.Now.IsZero() {
		r.Now = now
	}
	k := keyOf(&r.Key, r.Policy)
	hash := s.hash(&k)
	err = s.shardOf(hash).take(hash, &k, &r, int64(now.Sub(s.born)), &d)
	return d, err
}

// monotonic says whether an instant has a monotonic reading, which only the machine's own clock gives.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// Release does nothing: fixed windows hold no leases.
func (*Store) Release(context.Context, ratelimit.Key, *ratelimit.Policy, string) error { return nil }

// Renew returns false: fixed windows hold no leases.
func (*Store) Renew(context.Context, ratelimit.Key, *ratelimit.Policy, string) (bool, error) {
	return false, nil
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

// Snapshot is a copy of the counters of one namespace.
type Snapshot struct {
	namespace string
	counters  []counter
}

// counter is one counter outside its shard.
type counter struct {
	key       key
	hash      uint64
	state     ratelimit.State
	expires   int64
	exhausted bool
}

// Snapshot copies the counters of a namespace, for example to look ahead without consuming (rule RL46).
func (s *Store) Snapshot(namespace string) *Snapshot {
	snapshot := &Snapshot{namespace: namespace}
	for i := range s.shards {
		snapshot.counters = s.shards[i].copyTo(snapshot.counters, namespace)
	}
	return snapshot
}

// Restore puts the counters of the snapshot's namespace back to what they were; those that came since are forgotten. A
// snapshot belongs to the store that made it.
func (s *Store) Restore(snapshot *Snapshot) {
	for i := range s.shards {
		s.shards[i].removeWhere(func(k key) bool { return k.namespace == snapshot.namespace })
	}
	for i := range snapshot.counters {
		c := &snapshot.counters[i]
		s.shardOf(c.hash).put(c)
	}
}

// key names one counter of the store. The kind keeps policies of different algorithms apart, as the tail of a written
// key does.
type key struct {
	namespace, identifier string
	kind                  kind
}

// kind is the kind of state that a policy keeps.
type kind uint8

const (
	kindClock kind = iota
	kindFirst
)

func keyOf(k *ratelimit.Key, p *ratelimit.Policy) key {
	counted := key{namespace: k.Namespace, identifier: k.Identifier}
	if len(k.Identifier) > longIdentifier || strings.HasPrefix(k.Identifier, "h_") {
		counted.identifier = ratelimit.KeyIdentifier(k.Identifier)
	}
	if p.Align == ratelimit.AlignFirstRequest {
		counted.kind = kindFirst
	}
	return counted
}

func (k key) hasPrefix(prefix string) bool {
	rest, ok := strings.CutPrefix(prefix, k.namespace)
	if !ok {
		return strings.HasPrefix(k.namespace, prefix)
	}
	return rest == "" || rest[0] == ':' && strings.HasPrefix(k.identifier, rest[1:])
}

// hash mixes the hashes of both names, so that neither one identifier in many namespaces nor the reverse crowds a shard.
func (s *Store) hash(k *key) uint64 {
	const spread = 0x9e3779b97f4a7c15
	return maphash.String(s.seed, k.identifier) ^ (maphash.String(s.seed, k.namespace)+uint64(k.kind))*spread
}

// shardOf takes the upper bits of the hash, since its table looks at the lower ones.
func (s *Store) shardOf(hash uint64) *shard { return &s.shards[hash>>shardShift%uint64(len(s.shards))] }
