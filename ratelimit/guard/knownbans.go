package guard

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// knownBans is the copy of the bans in force. Known bans hold until their end while the store fails (rule RL100).
type knownBans struct {
	size atomic.Int64

	mu   sync.RWMutex
	bans map[banKey]knownBan
	// networks finds the bans of networks, whose index its values are.
	networks tree
	listed   []ratelimit.Ban
}

// knownBan is a ban, and whether only this process knows of it.
type knownBan struct {
	ratelimit.Ban

	local bool
}

func (k *knownBans) any() bool { return k.size.Load() > 0 }

// find returns the ban of a key under a rule, or of a network that the attempt comes from.
func (k *knownBans) find(rule, key string, a *ratelimit.Attempt) (ratelimit.Ban, bool) {
	if !k.any() {
		return ratelimit.Ban{}, false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	if ban, ok := k.bans[banKey{rule, ratelimit.KeyIdentifier(key)}]; ok && ban.Holds(a.Now) {
		return ban.Ban, true
	}
	found := -1
	k.networks.walk(a.Address, func(i int) {
		if k.listed[i].Rule == rule && k.listed[i].Holds(a.Now) {
			found = i
		}
	})
	if found < 0 {
		return ratelimit.Ban{}, false
	}
	return k.listed[found], true
}

func (k *knownBans) put(ban *ratelimit.Ban, local bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := banKey{ban.Rule, ban.Identifier}
	if _, ok := k.bans[key]; !ok && len(k.bans) >= maxKnownBans {
		return
	}
	k.bans[key] = knownBan{*ban, local}
	if ban.Network.IsValid() {
		k.index()
	}
	k.size.Store(int64(len(k.bans)))
}

// removed counts bans that were in force: all of them, and those that only this process knew of.
type removed struct{ all, local int }

// remove forgets a ban, or all of a rule.
func (k *knownBans) remove(rule, identifier string, now time.Time) removed {
	k.mu.Lock()
	defer k.mu.Unlock()
	var n removed
	for key, ban := range k.bans {
		if key.rule != rule || identifier != "" && key.identifier != identifier {
			continue
		}
		if ban.Holds(now) {
			n.all++
		}
		if ban.local && ban.Holds(now) {
			n.local++
		}
		delete(k.bans, key)
	}
	k.index()
	k.size.Store(int64(len(k.bans)))
	return n
}

// replace takes over the bans that the store had at an instant, and keeps what only this process knows and what has been
// banned since.
func (k *knownBans) replace(bans map[banKey]knownBan, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, ban := range k.bans {
		if _, ok := bans[key]; !ok && ban.Holds(now) && (ban.local || !ban.From.Before(now)) {
			bans[key] = ban
		}
	}
	k.bans = bans
	k.index()
	k.size.Store(int64(len(k.bans)))
}

// index makes the tree of the networks.
func (k *knownBans) index() {
	k.networks, k.listed = tree{}, nil
	for _, ban := range k.bans {
		if ban.Network.IsValid() {
			k.networks.insert(ban.Network, len(k.listed))
			k.listed = append(k.listed, ban.Ban)
		}
	}
}

// byRule counts the known bans of each rule.
func (k *knownBans) byRule(now time.Time) map[string]int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	counts := make(map[string]int)
	for key, ban := range k.bans {
		if ban.Holds(now) {
			counts[key.rule]++
		}
	}
	return counts
}

// forgive forgets the bans that were lifted.
func (k *knownBans) forgive(lifted owedLifts) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, ban := range k.bans {
		if lifted.covers(&ban.Ban) {
			delete(k.bans, key)
		}
	}
	k.index()
	k.size.Store(int64(len(k.bans)))
}

// list returns the known bans in force that a query asks for and that are wanted.
func (k *knownBans) list(q *ratelimit.BanQuery, wanted func(*knownBan) bool) []ratelimit.Ban {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var found []ratelimit.Ban
	for key, ban := range k.bans {
		asked := (q.Rule == "" || q.Rule == key.rule) && (q.Identifier == "" || q.Identifier == key.identifier)
		if asked && ban.Holds(q.Now) && wanted(&ban) {
			found = append(found, ban.Ban)
		}
	}
	sortBans(found)
	return found
}

func sortBans(bans []ratelimit.Ban) {
	slices.SortFunc(bans, func(x, y ratelimit.Ban) int {
		return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Identifier, y.Identifier))
	})
}
