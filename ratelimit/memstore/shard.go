package memstore

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// sweepStep is the number of entries that each check looks at. Since a check adds at most one entry, two are enough
	// to keep up.
	sweepStep = 2
	// sweepFull is the number of entries that a check looks at to make room (rule RL44).
	sweepFull = 64
	// chunkSize is the number of entries that are allocated together. Chunks never move, so that growing copies nothing.
	chunkSize = 64
	// mapBytes is what the map takes for a counter: hash, index, and the room that a table keeps free.
	mapBytes = 32
	// entryBytes is what a counter takes besides its texts.
	entryBytes = int64(unsafe.Sizeof(entry{})) + mapBytes
	// cacheLine keeps the locks of two shards from sharing one.
	cacheLine = 64
)

// none is the index of no entry.
const none int32 = -1

// entry is one counter. It hangs in one of the two lists of its shard, by index.
type entry struct {
	counter

	// newer and older are the neighbours in the list; a free entry uses older to chain the free ones.
	newer, older int32
	// twin is the next entry with the same hash.
	twin int32
	used bool
}

// list is a doubly linked list of entries from the most recently used to the least.
type list struct{ newest, oldest int32 }

// shard is a part of the store under one lock.
type shard struct {
	mu sync.Mutex
	// index finds the first entry of a hash. The hash is seeded and long, so that a second one is all but impossible; it
	// is found all the same.
	index map[uint64]int32
	keys  int
	// chunks hold the entries; entries 0 to count-1 have been given out.
	chunks [][]entry
	count  int32
	free   int32
	// fresh and exhausted order the entries by use; exhausted ones are evicted last.
	fresh, exhausted list
	cursor           int32
	bytes            int64
	maxKeys          int
	maxBytes         int64
	evictions        *atomic.Int64
	_                [cacheLine]byte
}

func (h *shard) open(maxKeys int, maxBytes int64, evictions *atomic.Int64) {
	h.index = make(map[uint64]int32)
	h.free, h.fresh, h.exhausted = none, list{none, none}, list{none, none}
	h.maxKeys, h.maxBytes, h.evictions = maxKeys, maxBytes, evictions
}

func (h *shard) at(i int32) *entry { return &h.chunks[i/chunkSize][i%chunkSize] }

// find returns the entry of the key, or none.
func (h *shard) find(hash uint64, k *key) int32 {
	i, ok := h.index[hash]
	if !ok {
		return none
	}
	for i != none && h.at(i).key != *k {
		i = h.at(i).twin
	}
	return i
}

// take judges the request. The time at is in nanoseconds of the store's life.
func (h *shard) take(hash uint64, k key, r *ratelimit.Request, at int64) ratelimit.Decision {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sweep(at, sweepStep)
	// A counter lives for a window after its last check, as a key of a shared store does (rule RL26): longer than its
	// window, so that a clock that goes back finds it.
	i := h.find(hash, &k)
	if i == none {
		state, d := ratelimit.Step(r.Policy, ratelimit.State{}, r.Now, r.Cost)
		if !state.IsZero() {
			h.insert(counter{key: k, hash: hash, state: state, expires: at + int64(r.Policy.Window), exhausted: d.Remaining == 0}, at)
		}
		return d
	}
	e := h.at(i)
	state, d := ratelimit.Step(r.Policy, e.state, r.Now, r.Cost)
	e.state = state
	e.expires = at + int64(max(r.Policy.Window, d.Reset))
	h.touch(i, d.Remaining == 0)
	return d
}

// touch moves an entry to the front of the list that it belongs to.
func (h *shard) touch(i int32, exhausted bool) {
	e := h.at(i)
	if e.exhausted == exhausted && h.listOf(exhausted).newest == i {
		return
	}
	h.unlink(i)
	e.exhausted = exhausted
	h.link(i)
}

func (h *shard) listOf(exhausted bool) *list { //nolint:revive // It selects by a member, not a mode of the caller.
	if exhausted {
		return &h.exhausted
	}
	return &h.fresh
}

func (h *shard) link(i int32) {
	e := h.at(i)
	l := h.listOf(e.exhausted)
	e.newer, e.older = none, l.newest
	if l.newest != none {
		h.at(l.newest).newer = i
	} else {
		l.oldest = i
	}
	l.newest = i
}

func (h *shard) unlink(i int32) {
	e := h.at(i)
	l := h.listOf(e.exhausted)
	if e.newer != none {
		h.at(e.newer).older = e.older
	} else {
		l.newest = e.older
	}
	if e.older != none {
		h.at(e.older).newer = e.newer
	} else {
		l.oldest = e.newer
	}
}

// insert adds a counter that is not in the shard and makes room for it first.
func (h *shard) insert(c counter, at int64) {
	c.key.identifier = strings.Clone(c.key.identifier) // The caller's text may be a part of a whole request.
	size := c.key.bytes()
	for h.keys > 0 && (h.keys >= h.maxKeys || h.bytes+size > h.maxBytes) {
		h.makeRoom(at)
	}
	i := h.allocate()
	e := h.at(i)
	*e = entry{counter: c, twin: none, used: true}
	if twin, ok := h.index[c.hash]; ok {
		e.twin = twin
	}
	h.index[c.hash] = i
	h.keys++
	h.bytes += size
	h.link(i)
}

// makeRoom frees an expired entry if the sweep finds one, else the least recently used one, exhausted ones last.
func (h *shard) makeRoom(at int64) {
	if h.sweep(at, sweepFull) > 0 {
		return
	}
	victim := h.fresh.oldest
	if victim == none || h.exhausted.oldest != none && h.at(h.exhausted.oldest).expires <= at {
		victim = h.exhausted.oldest
	}
	if h.at(victim).expires > at {
		h.evictions.Add(1)
	}
	h.release(victim)
}

// sweep looks at the next entries, frees the expired ones and returns their number.
func (h *shard) sweep(at int64, steps int) int {
	freed := 0
	for range min(steps, int(h.count)) {
		if h.cursor >= h.count {
			h.cursor = 0
		}
		if e := h.at(h.cursor); e.used && e.expires <= at {
			h.release(h.cursor)
			freed++
		}
		h.cursor++
	}
	return freed
}

func (h *shard) allocate() int32 {
	if h.free != none {
		i := h.free
		h.free = h.at(i).older
		return i
	}
	if int(h.count) == len(h.chunks)*chunkSize {
		h.chunks = append(h.chunks, make([]entry, chunkSize))
	}
	h.count++
	return h.count - 1
}

func (h *shard) release(i int32) {
	h.unlink(i)
	e := h.at(i)
	h.unindex(i, e)
	h.keys--
	h.bytes -= e.key.bytes()
	*e = entry{older: h.free}
	h.free = i
}

// unindex takes the entry out of the chain of its hash.
func (h *shard) unindex(i int32, e *entry) {
	first := h.index[e.hash]
	switch {
	case first != i:
		before := h.at(first)
		for before.twin != i {
			before = h.at(before.twin)
		}
		before.twin = e.twin
	case e.twin != none:
		h.index[e.hash] = e.twin
	default:
		delete(h.index, e.hash)
	}
}

func (h *shard) remove(hash uint64, k key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.find(hash, &k); i != none {
		h.release(i)
	}
}

func (h *shard) removeWhere(matches func(key) bool) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	removed := 0
	for i := range h.count {
		if e := h.at(i); e.used && matches(e.key) {
			h.release(i)
			removed++
		}
	}
	return removed
}

func (h *shard) size() (keys int, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys, h.bytes
}

func (h *shard) copyTo(counters []counter, namespace string) []counter {
	h.mu.Lock()
	defer h.mu.Unlock()
	// From the oldest to the newest, so that putting them back keeps the order of use.
	for _, l := range []list{h.exhausted, h.fresh} {
		for i := l.oldest; i != none; i = h.at(i).newer {
			if e := h.at(i); e.key.namespace == namespace {
				counters = append(counters, e.counter)
			}
		}
	}
	return counters
}

func (h *shard) put(c counter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.find(c.hash, &c.key); i != none {
		h.release(i)
	}
	h.insert(c, 0)
}

func (k key) bytes() int64 { return entryBytes + int64(len(k.namespace)+len(k.identifier)) }
