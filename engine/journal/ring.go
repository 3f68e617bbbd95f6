package journal

import (
	"sort"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// firstSlots is small, because most projects of a server are quiet most of the time.
const firstSlots = 16

type bounds struct {
	count int
	bytes int64
	age   time.Duration
}

type counters struct {
	dropped, evicted int64
	// lost is the time of arrival, in Unix nanoseconds, of the latest exchange that is not there because of the bounds; 0 is
	// none.
	lost int64
}

// lostUntil is lost as a time, the zero time for none.
func (c *counters) lostUntil() time.Time {
	if c.lost == 0 {
		return time.Time{}
	}
	return time.Unix(0, c.lost).UTC()
}

func (c *counters) add(other counters) {
	c.dropped += other.dropped
	c.evicted += other.evicted
}

// fact is what the bounds need to know of an exchange: what it takes, when it was, in Unix nanoseconds, and its place in
// the order of all that came.
type fact struct {
	size, at, place int64
}

// ring is the recent exchanges of one project, oldest first from head. Slots grow by doubling up to the bound of count
// and are then used over and over.
type ring struct {
	bounds bounds

	mu    sync.Mutex
	slots []*mockbase.Exchange
	// facts stands beside slots, so that making room does not touch exchanges that have long left the processor's cache.
	facts   []fact
	head, n int
	bytes   int64
	counted counters
	// placed is the place of the newest exchange, left that of the newest which the bounds have pushed out.
	placed, left int64
}

// append keeps x as the newest exchange. Its own time stands for now, so that recording reads no clock.
func (r *ring) append(x *mockbase.Exchange, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size > r.bounds.bytes {
		r.counted.dropped++
		r.counted.lost = max(r.counted.lost, x.At.UnixNano())
		return
	}
	r.expire(x.At)
	for r.n > 0 && (r.n >= r.bounds.count || r.bytes+size > r.bounds.bytes) {
		r.evict()
	}
	r.push(x, size)
}

// push appends without a look at the bounds.
func (r *ring) push(x *mockbase.Exchange, size int64) {
	if r.n == len(r.slots) {
		r.grow()
	}
	tail := r.head + r.n
	if tail >= len(r.slots) {
		tail -= len(r.slots)
	}
	r.placed++
	r.slots[tail], r.facts[tail] = x, fact{size: size, at: x.At.UnixNano(), place: r.placed}
	r.n++
	r.bytes += size
}

func (r *ring) grow() {
	to := min(max(firstSlots, 2*len(r.slots)), r.bounds.count)
	slots, facts := make([]*mockbase.Exchange, to), make([]fact, to)
	copied := copy(slots, r.slots[r.head:])
	copy(slots[copied:], r.slots[:r.head])
	copied = copy(facts, r.facts[r.head:])
	copy(facts[copied:], r.facts[:r.head])
	r.slots, r.facts, r.head = slots, facts, 0
}

// expire evicts what is too old at now, from the oldest end.
func (r *ring) expire(now time.Time) {
	limit := now.Add(-r.bounds.age).UnixNano()
	for r.n > 0 && r.facts[r.head].at < limit {
		r.evict()
	}
}

func (r *ring) evict() {
	r.bytes -= r.facts[r.head].size
	r.counted.lost = max(r.counted.lost, r.facts[r.head].at)
	r.left = r.facts[r.head].place
	r.slots[r.head] = nil
	if r.head++; r.head == len(r.slots) {
		r.head = 0
	}
	r.n--
	r.counted.evicted++
}

// read returns what is kept at now, oldest first, in a slice of the caller's own. The slice is made outside the lock,
// so that writers wait for a copy of pointers and no longer.
func (r *ring) read(now time.Time) ([]*mockbase.Exchange, counters) {
	var all []*mockbase.Exchange
	for {
		r.mu.Lock()
		r.expire(now)
		n := r.n
		if n <= cap(all) {
			all = all[:n]
			end := min(r.head+n, len(r.slots))
			copied := copy(all, r.slots[r.head:end])
			copy(all[copied:], r.slots[:n-copied])
			counted := r.counted
			r.mu.Unlock()
			return all, counted
		}
		r.mu.Unlock()
		all = make([]*mockbase.Exchange, 0, n+n/8+firstSlots)
	}
}

func (r *ring) newest(now time.Time) (*mockbase.Exchange, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
	if r.n == 0 {
		return nil, false
	}
	return r.slots[(r.head+r.n-1)%len(r.slots)], true
}

// replace puts another form of an exchange in its place, unless it has left it. What grew may cost the oldest their place.
func (r *ring) replace(old, amended *mockbase.Exchange, size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := r.n - 1; i >= 0; i-- {
		at := (r.head + i) % len(r.slots)
		if r.slots[at] != old {
			continue
		}
		r.bytes += size - r.facts[at].size
		r.slots[at], r.facts[at].size = amended, size
		for r.n > 1 && r.bytes > r.bounds.bytes {
			r.evict()
		}
		return true
	}
	return false
}

// clear empties the ring, gives its memory back and begins to count anew.
func (r *ring) clear() (int, counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, counted := r.n, r.counted
	r.slots, r.facts = nil, nil
	r.head, r.n, r.bytes, r.counted = 0, 0, 0, counters{}
	return n, counted
}

// after returns up to most exchanges that came after a place, oldest first, the place of the last one that was looked at,
// and how many the bounds pushed out before they could be.
func (r *ring) after(place int64, most int) (news []*mockbase.Exchange, last, lost int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := sort.Search(r.n, func(i int) bool { return r.facts[(r.head+i)%len(r.facts)].place > place })
	last = max(place, r.placed)
	for i := first; i < r.n; i++ {
		at := (r.head + i) % len(r.slots)
		if len(news) == most {
			last = r.facts[at].place - 1
			break
		}
		news = append(news, r.slots[at])
	}
	return news, last, max(0, r.left-place)
}

// placeOf returns the place of an exchange.
func (r *ring) placeOf(id string) (int64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := r.n - 1; i >= 0; i-- {
		if at := (r.head + i) % len(r.slots); r.slots[at].ID == id {
			return r.facts[at].place, true
		}
	}
	return 0, false
}

// prepend puts older exchanges before those that are there, as far as the bounds leave room.
func (r *ring) prepend(oldestFirst []*mockbase.Exchange, sizes []int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := now.Add(-r.bounds.age)
	first, n, bytes := len(oldestFirst), r.n, r.bytes
	for first > 0 && n < r.bounds.count && bytes+sizes[first-1] <= r.bounds.bytes && !oldestFirst[first-1].At.Before(limit) {
		first--
		n++
		bytes += sizes[first]
	}
	if first > 0 {
		r.counted.lost = max(r.counted.lost, oldestFirst[first-1].At.UnixNano())
	}
	slots, facts, head, count := r.slots, r.facts, r.head, r.n
	r.slots, r.facts, r.head, r.n, r.bytes, r.placed, r.left = nil, nil, 0, 0, 0, 0, 0
	for i := first; i < len(oldestFirst); i++ {
		r.push(oldestFirst[i], sizes[i])
	}
	for i := range count {
		at := (head + i) % len(slots)
		r.push(slots[at], facts[at].size)
	}
}

func (r *ring) drop(n int64) {
	r.mu.Lock()
	r.counted.dropped += n
	r.mu.Unlock()
}

func (r *ring) stats() (int, int64, counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n, r.bytes, r.counted
}
