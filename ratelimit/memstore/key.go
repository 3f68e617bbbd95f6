package memstore

import (
	"hash/maphash"
	"strings"
	"unsafe"

	"github.com/mockbase/mockbase/ratelimit"
)

// key names one counter of the store. The kind keeps policies of different algorithms apart, as the tail of a written
// key does.
type key struct {
	names

	kind kind
}

// names are the texts of a key.
type names struct{ namespace, identifier string }

// same says whether the names are equal. A policy most often hands in the very text of its namespace that it did before,
// which need not be compared.
func (n *names) same(other *names) bool {
	if n.identifier != other.identifier || len(n.namespace) != len(other.namespace) {
		return false
	}
	one, two := unsafe.StringData(n.namespace), unsafe.StringData(other.namespace) //nolint:gosec // They are only compared.
	return one == two || n.namespace == other.namespace
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
	counted := key{names: names{k.Namespace, k.Identifier}, kind: kindOf(p)}
	if len(counted.identifier) > longIdentifier || strings.HasPrefix(counted.identifier, digestMark) {
		counted.identifier = ratelimit.KeyIdentifier(counted.identifier)
	}
	return counted
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

// spread makes neighbours differ in every bit.
const spread = 0x9e3779b97f4a7c15

// hash mixes the hashes of both names, so that neither one identifier in many namespaces nor the reverse crowds a shard.
// Identifiers are chosen by callers, and nobody foresees their hashes; namespaces are those of policies.
func (s *Store) hash(k *key) uint64 {
	return maphash.String(s.seed, k.identifier) ^ (mix(k.namespace)+uint64(k.kind))*spread
}

// mix hashes a short text that nobody chooses to do harm, eight bytes at a time: a fraction of what maphash takes for it.
func mix(text string) uint64 {
	const word, half, fold = 8, 4, 29
	hash := uint64(len(text))
	for ; len(text) >= word; text = text[word:] {
		hash = (hash ^ uint64(low32(text)) ^ uint64(low32(text[half:]))<<32) * spread
		hash ^= hash >> fold
	}
	switch n := len(text); {
	case n >= half: // The two reads overlap.
		hash ^= uint64(low32(text)) ^ uint64(low32(text[n-half:]))<<32
	case n > 0:
		hash ^= uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16
	}
	return hash * spread
}

// low32 reads four bytes at once.
func low32(text string) uint32 {
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
}

// shardOf takes the upper bits of the hash, since its table looks at the lower ones.
func (s *Store) shardOf(hash uint64) *shard { return &s.shards[s.indexOf(hash)] }

// indexOf masks, since the number of shards is a power of two and dividing takes longer.
func (s *Store) indexOf(hash uint64) uint64 { return hash >> shardShift & (uint64(len(s.shards)) - 1) }
