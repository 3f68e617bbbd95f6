package memstore

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/mockbase/mockbase/ratelimit"
)

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
	kindSliding
	kindLog
	kindMeter
	kindLeases
)

// grows says whether the state of a counter may take more memory from check to check.
func (k kind) grows() bool { return k == kindLog || k == kindLeases }

func keyOf(k *ratelimit.Key, p *ratelimit.Policy) key {
	var counted key
	counted.read(k, p)
	return counted
}

// read is keyOf in place.
func (k *key) read(given *ratelimit.Key, p *ratelimit.Policy) {
	k.namespace, k.identifier, k.kind = given.Namespace, given.Identifier, kindOf(p)
	if len(k.identifier) > longIdentifier || strings.HasPrefix(k.identifier, "h_") {
		k.identifier = ratelimit.KeyIdentifier(k.identifier)
	}
}

func kindOf(p *ratelimit.Policy) kind {
	switch p.Algorithm {
	case "": // Most policies name none, which no other case need find out.
		return kindOfWindow(p)
	case ratelimit.SlidingWindow:
		return kindSliding
	case ratelimit.SlidingLog:
		return kindLog
	case ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA:
		return kindMeter
	case ratelimit.Concurrency:
		return kindLeases
	default:
		return kindOfWindow(p)
	}
}

func kindOfWindow(p *ratelimit.Policy) kind {
	if p.Align == ratelimit.AlignFirstRequest {
		return kindFirst
	}
	return kindClock
}

func (k *key) hasPrefix(prefix string) bool {
	rest, ok := strings.CutPrefix(prefix, k.namespace)
	if !ok {
		return strings.HasPrefix(k.namespace, prefix)
	}
	return rest == "" || rest[0] == ':' && strings.HasPrefix(k.identifier, rest[1:])
}

// hash mixes the hashes of both names, so that neither one identifier in many namespaces nor the reverse crowds a shard.
func (s *Store) hash(k *key) uint64 {
	const spread = 0x9e3779b97f4a7c15
	return maphash.String(s.seed, k.identifier) ^ (s.names.of(s.seed, k.namespace)+uint64(k.kind))*spread
}

// namedHashes is how many namespaces have their hashes kept, one for each place.
const namedHashes = 64

// nameHashes keep the hashes of namespaces, of which there are few. The first one at a place stays there, so that nothing
// is allocated for the others; theirs are made each time.
type nameHashes [namedHashes]atomic.Pointer[nameHash]

type nameHash struct {
	name string
	hash uint64
}

func (n *nameHashes) of(seed maphash.Seed, name string) uint64 {
	if name == "" {
		return 0
	}
	place := &n[(len(name)*7+int(name[0])+int(name[len(name)-1])*3)%namedHashes]
	known := place.Load()
	if known != nil && known.name == name {
		return known.hash
	}
	hash := maphash.String(seed, name)
	if known == nil {
		place.CompareAndSwap(nil, &nameHash{strings.Clone(name), hash})
	}
	return hash
}

// shardOf takes the upper bits of the hash, since its table looks at the lower ones.
func (s *Store) shardOf(hash uint64) *shard { return &s.shards[s.indexOf(hash)] }

// indexOf masks, since the number of shards is a power of two and dividing takes longer.
func (s *Store) indexOf(hash uint64) uint64 { return hash >> shardShift & (uint64(len(s.shards)) - 1) }
