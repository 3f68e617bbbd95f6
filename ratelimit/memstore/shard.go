package memstore

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// Each sweepEvery-th check of known counters looks at sweepKnown entries; each new counter looks at sweepNew, more
	// than it adds, so that expired counters never pile up.
	sweepEvery = 64
	sweepKnown = 16
	sweepNew   = 4
	// sweepFull is the number of entries that a new counter looks at to make room (rule RL44).
	sweepFull = 64
	// lookBack is how many entries at the end of a list are looked at for the one used least recently.
	lookBack = 64
	// chunkSize is the number of entries that are allocated together. Chunks never move, so that growing copies nothing.
	chunkSize = 64
	// maxTable bounds the table of a shard; with more counters than that, chains grow instead.
	maxTable = 1 << 18
	// entryBytes is what a counter takes besides its texts: its entry and its place in the table.
	entryBytes = int64(unsafe.Sizeof(entry{})) + 8
	// cacheLine keeps the locks of two shards from sharing one.
	cacheLine = 64
)

// ref names an entry by its index plus one; the zero ref names none.
type ref uint32

// entry is one counter. It hangs in the chain of its hash and in one of the two lists of its shard.
type entry struct {
	counter

	// last is the turn of the newest check.
	last uint64
	// newer and older are the neighbours in the list; a free entry uses older to chain the free ones.
	newer, older ref
	// twin is the next entry in the chain.
	twin ref
	// used says that it is one at all, recent that it was used since it came to the front of its list.
	used, recent bool
}

// shard is a part of the store under one lock.
type shard struct {
	mu sync.Mutex
	// table holds the first entry of each chain. It has its capacity from the start, which takes no memory while nobody
	// touches it, and grows in place by a few chains at a time ([shard.widen]): few counters lie close together, and no
	// check ever waits for a whole table to be made. mask has one bit more than are needed for all but the last chains.
	table []ref
	mask  uint64
	// chunks hold the entries; the first count of them have been given out.
	chunks []*[chunkSize]entry
	// turn numbers the checks and what else uses an entry. It lies here, in what every check reads.
	turn  uint64
	count ref
	free  ref
	keys  int
	bytes int64
	// fresh and exhausted list the entries; exhausted ones are evicted last.
	fresh, exhausted useList
	cursor           ref
	// soonest is not after the end of any counter: before it nobody need look for expired ones, which a flood of new keys
	// would otherwise make each of them do. pass is the same for what the sweep has seen since it began anew, and for what
	// changed since.
	soonest, pass int64
	maxKeys       int
	maxBytes      int64
	lasting       bool
	evictions     *atomic.Int64
	_             [cacheLine]byte
}

func (h *shard) open(maxKeys int, maxBytes int64, evictions *atomic.Int64) {
	h.table, h.mask = make([]ref, 1, min(maxTable, 1<<bits.Len(uint(maxKeys-1)))), 0
	h.maxKeys, h.maxBytes, h.evictions = maxKeys, maxBytes, evictions
	h.soonest, h.pass = math.MaxInt64, math.MaxInt64
}

func (h *shard) at(r ref) *entry { return &h.chunks[(r-1)/chunkSize][(r-1)%chunkSize] }

// chain masks, since dividing takes longer. A chain that the table has not grown to yet is still a part of the one that
// has a bit less.
func (h *shard) chain(hash uint64) *ref {
	i := hash & h.mask
	if i >= uint64(len(h.table)) {
		i &= h.mask >> 1
	}
	return &h.table[i]
}

// widen adds up to so many chains to the table while there are more counters than chains, or until their number is a power
// of two again, for which chain has the least to do. Each takes its counters from one other.
func (h *shard) widen(most int) {
	for ; most > 0; most-- {
		n := len(h.table)
		if n == cap(h.table) || n&(n-1) == 0 && n >= h.keys {
			return
		}
		h.table = h.table[:n+1]
		h.mask = 1<<bits.Len(uint(n)) - 1
		h.table[n] = 0
		for link := &h.table[uint64(n)&(h.mask>>1)]; *link != 0; {
			r := *link
			e := h.at(r)
			if e.hash&h.mask == uint64(n) {
				*link, e.twin, h.table[n] = e.twin, h.table[n], r
			} else {
				link = &e.twin
			}
		}
	}
}

// find returns the entry of the key, or none.
func (h *shard) find(hash uint64, k *key) (ref, *entry) {
	r := *h.chain(hash)
	for r != 0 {
		e := h.at(r)
		if e.hash == hash && e.kind == k.kind && e.names.same(&k.names) {
			return r, e
		}
		r = e.twin
	}
	return 0, nil
}

// judge judges the request. The caller holds the lock.
func (h *shard) judge(hash uint64, k *key, r *ratelimit.Request, now moment, d *ratelimit.Decision) error {
	found, e := h.find(hash, k)
	if found == 0 {
		return h.judgeNew(hash, k, r, now, d)
	}
	if k.kind.grows() {
		return h.judgeGrowing(found, r, now, d)
	}
	ratelimit.JudgeAt(r, now.tick, &e.state, d)
	expires := h.expiry(r.Policy, d, now.at)
	if expires < e.expires { // By a shorter window than that of the check before.
		h.expect(expires)
	}
	e.expires = expires
	h.turn++
	e.last, e.recent = h.turn, true
	if e.exhausted != (d.Remaining == 0) {
		h.move(found, e)
	}
	if h.turn%sweepEvery == 0 {
		h.sweep(now.at, sweepKnown)
		h.prepare(sweepKnown)
		h.widen(sweepKnown)
	}
	return nil
}

// judgeGrowing judges a request whose state may take more memory afterwards. Others make room for it.
func (h *shard) judgeGrowing(r ref, request *ratelimit.Request, now moment, d *ratelimit.Decision) error {
	if err := request.Validate(); err != nil {
		return err
	}
	e := h.at(r)
	before := e.state.Bytes()
	ratelimit.JudgeAt(request, now.tick, &e.state, d)
	e.expires = max(e.expires, h.expiry(request.Policy, d, now.at))
	h.touch(r, e, d.Remaining)
	h.sweep(now.at, 1)
	h.grow(r, before, now.at)
	return nil
}

// grow charges an entry for what its state takes more than before, and frees others while there is no room for it.
func (h *shard) grow(r ref, before, at int64) {
	h.bytes += h.at(r).state.Bytes() - before
	for h.keys > 1 && h.bytes > h.maxBytes {
		h.makeRoom(at, r)
	}
}

// judgeNew judges the first request of a key. Only a namespace that is possible ever gets an entry, so that it is looked
// at once.
func (h *shard) judgeNew(hash uint64, k *key, r *ratelimit.Request, now moment, d *ratelimit.Decision) error {
	if err := r.Validate(); err != nil {
		return err
	}
	c := counter{hash: hash, names: k.names, kind: k.kind}
	ratelimit.JudgeAt(r, now.tick, &c.state, d)
	if !c.state.IsZero() {
		c.expires, c.exhausted = h.expiry(r.Policy, d, now.at), d.Remaining == 0
		h.sweep(now.at, sweepNew)
		h.prepare(2 * sweepNew)
		h.insert(&c, now.at)
	}
	return nil
}

// look judges the request as judge would, and changes nothing.
func (h *shard) look(hash uint64, k *key, r *ratelimit.Request, d *ratelimit.Decision) {
	var state ratelimit.State
	if found, e := h.find(hash, k); found != 0 {
		state = e.state
	}
	peek := *r
	peek.Cost = 0
	ratelimit.Judge(&peek, &state, d)
	if r.Cost <= d.Remaining || k.kind == kindLeases && (d.Remaining > 0 || state.Holds(r)) {
		return
	}
	// It is denied, and denied checks change nothing but the count of a window on the clock, here that of a copy.
	ratelimit.Judge(r, &state, d)
}

func (h *shard) releaseLease(hash uint64, k *key, lease string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, e := h.find(hash, k); r != 0 {
		before := e.state.Bytes()
		if e.state.Release(lease) {
			h.bytes += e.state.Bytes() - before
			h.touch(r, e, 1)
		}
	}
}

func (h *shard) renewLease(hash uint64, k *key, r *ratelimit.Request, at int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, e := h.find(hash, k)
	if found == 0 {
		return false
	}
	before := e.state.Bytes()
	if !e.state.Renew(r) {
		return false
	}
	e.expires = max(e.expires, h.expiry(r.Policy, &ratelimit.Decision{}, at))
	h.grow(found, before, at)
	return true
}

// expiry returns when a counter may go. It lives for a window after its last check, as a key of a shared store does
// (rule RL26): longer than its window lasts, so that a clock that goes back finds it.
func (h *shard) expiry(p *ratelimit.Policy, d *ratelimit.Decision, at int64) int64 {
	if h.lasting {
		return math.MaxInt64
	}
	return at + int64(max(p.Window, d.Reset))
}

// insert adds a counter that is not in the shard and makes room for it first.
func (h *shard) insert(c *counter, at int64) {
	size := c.bytes()
	for h.keys > 0 && (h.keys >= h.maxKeys || h.bytes+size > h.maxBytes) {
		h.makeRoom(at, 0)
	}
	r := h.allocate()
	e := h.at(r)
	h.expect(c.expires)
	*e = entry{counter: *c, twin: *h.chain(c.hash), used: true}
	e.names.identifier = strings.Clone(c.names.identifier) // The caller's text may be a part of a whole request.
	*h.chain(c.hash) = r
	h.turn++
	e.last = h.turn
	h.keys++
	h.bytes += size
	h.link(r, e)
	h.widen(sweepNew)
}

// sweep looks at the next entries, frees the expired ones and returns their number.
func (h *shard) sweep(at int64, steps ref) int {
	if at < h.soonest {
		return 0
	}
	freed := 0
	for range min(steps, h.count) {
		if h.cursor >= h.count {
			h.cursor, h.soonest, h.pass = 0, h.pass, math.MaxInt64
		}
		h.cursor++
		switch e := h.at(h.cursor); {
		case !e.used:
		case e.expires <= at:
			h.release(h.cursor)
			freed++
		default:
			h.pass = min(h.pass, e.expires)
		}
	}
	return freed
}

// expect notes when a counter ends that is new or ends sooner than it did.
func (h *shard) expect(expires int64) {
	h.soonest, h.pass = min(h.soonest, expires), min(h.pass, expires)
}

func (h *shard) allocate() ref {
	if r := h.free; r != 0 {
		h.free = h.at(r).older
		return r
	}
	if h.count%chunkSize == 0 {
		h.chunks = append(h.chunks, new([chunkSize]entry))
	}
	h.count++
	return h.count
}

func (h *shard) release(r ref) {
	e := h.at(r)
	h.unlink(e)
	link := h.chain(e.hash)
	for *link != r {
		link = &h.at(*link).twin
	}
	*link = e.twin
	h.keys--
	h.bytes -= e.bytes()
	*e = entry{older: h.free}
	h.free = r
}

func (h *shard) remove(hash uint64, k *key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, _ := h.find(hash, k); r != 0 {
		h.release(r)
	}
}

func (h *shard) removeWhere(matches func(key) bool) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	removed := 0
	for r := ref(1); r <= h.count; r++ {
		if e := h.at(r); e.used && matches(e.key()) {
			h.release(r)
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
	var found []*entry
	for r := ref(1); r <= h.count; r++ {
		if e := h.at(r); e.used && e.names.namespace == namespace {
			found = append(found, e)
		}
	}
	// From the oldest to the newest, so that putting them back keeps the order of use.
	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.last, b.last) })
	for _, e := range found {
		c := e.counter
		c.state = e.state.Clone()
		counters = append(counters, c)
	}
	return counters
}

func (h *shard) put(c *counter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := c.key()
	if r, _ := h.find(c.hash, &k); r != 0 {
		h.release(r)
	}
	copied := *c
	copied.state = c.state.Clone() // The snapshot may be restored again.
	h.insert(&copied, 0)
}

func (c *counter) bytes() int64 {
	return entryBytes + int64(len(c.names.namespace)+len(c.names.identifier)) + c.state.Bytes()
}
