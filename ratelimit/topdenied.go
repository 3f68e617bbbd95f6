package ratelimit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// topDenied is how many keys a TopDenied remembers.
const topDenied = 256

// DeniedKey is a key that was denied often.
type DeniedKey struct {
	// Rule is the name of the policy or rule that denied.
	Rule string `json:"rule"`
	// Digest stands for the key, which may be somebody's address.
	Digest string `json:"key"`
	// Count is how often it was denied, at most; Error is how much of that may be of other keys.
	Count int64 `json:"count"`
	Error int64 `json:"error"`
}

// TopDenied counts denials by key in bounded memory (rule RL129): it knows every key that has more than a 256th of all
// denials, and counts none too low. The zero value is ready. It is safe for concurrent use.
type TopDenied struct {
	mu    sync.Mutex
	keys  map[deniedKey]int
	slots []deniedSlot
}

type deniedKey struct{ rule, identifier string }

type deniedSlot struct {
	key          deniedKey
	count, error int64
}

// Count counts a denial. The identifier may be of any length.
func (t *TopDenied) Count(rule, identifier string) {
	key := deniedKey{rule, KeyIdentifier(identifier)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, known := t.keys[key]; known {
		t.slots[i].count++
		return
	}
	if t.keys == nil {
		t.keys = make(map[deniedKey]int, topDenied)
	}
	if len(t.slots) < topDenied {
		t.keys[key] = len(t.slots)
		t.slots = append(t.slots, deniedSlot{key: key, count: 1})
		return
	}
	// The key that was denied least makes room, and the new one inherits its count: it may have been denied so often.
	least := 0
	for i := range t.slots {
		if t.slots[i].count < t.slots[least].count {
			least = i
		}
	}
	slot := &t.slots[least]
	delete(t.keys, slot.key)
	t.keys[key] = least
	*slot = deniedSlot{key: key, count: slot.count + 1, error: slot.count}
}

// Top returns up to so many keys, those that were denied most first.
func (t *TopDenied) Top(most int) []DeniedKey {
	t.mu.Lock()
	all := slices.Clone(t.slots)
	t.mu.Unlock()
	slices.SortFunc(all, func(a, b deniedSlot) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key.rule, b.key.rule), cmp.Compare(a.key.identifier, b.key.identifier))
	})
	top := make([]DeniedKey, 0, min(max(0, most), len(all)))
	for _, slot := range all[:cap(top)] {
		digest := sha256.Sum256([]byte(slot.key.identifier))
		top = append(top, DeniedKey{slot.key.rule, hex.EncodeToString(digest[:8]), slot.count, slot.error})
	}
	return top
}
