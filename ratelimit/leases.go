package ratelimit

import (
	"container/heap"
	"maps"
	"strings"
	"time"
	"unsafe"
)

// leaseRetry is what a caller is told to wait for a place, since nobody knows when one is given back (rule RL41).
const leaseRetry = time.Second

// judgeLease is the limit of what is in flight (rules RL40, RL41). A lease holds one place, whatever its cost, from the
// check to its release, for a window at most. Taking it again while it lives begins its window anew.
func judgeLease(r *Request, now int64, s *State, d *Decision) {
	p, window := r.Policy, r.Policy.windowTicks()
	at, known := s.leasesAt(now, window)
	live, holds := int64(0), false
	if known {
		live, holds = s.history.leases.live(at), s.history.leases.holds(r.Lease, at)
	}
	*d = Decision{Limit: p.Limit, Policy: p}
	if d.Allowed = r.Cost == 0 || holds || live < p.Limit; !d.Allowed {
		d.RetryAfter = leaseRetry
	} else if r.Cost > 0 {
		if !holds {
			live++
		}
		held := &s.remember(stateLeases, window).leases
		if !known {
			held.forget()
		}
		held.hold(r.Lease, at, window)
	}
	d.Remaining = max(0, p.Limit-live)
}

// Release gives back the place of a lease. It returns false if the lease holds none. When no lease is left, the state
// is forgotten.
func (s *State) Release(lease string) bool {
	if s.kind != stateLeases || !s.history.leases.release(lease) {
		return false
	}
	if len(s.history.leases.held) == 0 {
		s.kind = stateNone
	}
	return true
}

// Renew makes a lease live for one window from the request's instant. It returns false if the lease lapsed.
func (s *State) Renew(r *Request) bool {
	window := r.Policy.windowTicks()
	at, known := s.leasesAt(ticks(r.Now), window)
	if !known || !s.history.leases.holds(r.Lease, at) {
		return false
	}
	s.history.leases.hold(r.Lease, at, window)
	return true
}

// Holds says whether the request's lease lives at the request's instant.
func (s *State) Holds(r *Request) bool {
	at, known := s.leasesAt(ticks(r.Now), r.Policy.windowTicks())
	return known && s.history.leases.holds(r.Lease, at)
}

// leasesAt returns the instant at which the leases of the state are judged, and whether there are any to judge.
func (s *State) leasesAt(now, window int64) (at int64, known bool) {
	if s.kind != stateLeases {
		return now, false
	}
	return judgedAt(now, s.history.leases.newest, window)
}

// leases are the places held. Lapsed ones stay until the next place is taken, so that what changes nothing forgets
// nothing, whatever instant it gives.
type leases struct {
	held map[string]*place
	ends places
	// free are places to use again.
	free []*place
	// newest is the instant of the newest hold.
	newest int64
	// text is the length of all names.
	text int64
}

// place is the place of one lease, which lives until its end.
type place struct {
	lease string
	end   int64
	// index is where it stands in the heap.
	index int
}

// placeBytes is what a place takes besides the text of its lease, with its part of the map, the heap and the free list.
const placeBytes = int64(unsafe.Sizeof(place{})) + 56

// leaseName bounds the names that are kept, as written identifiers are bounded.
func leaseName(lease string) string {
	if len(lease) > maxIdentifier || strings.HasPrefix(lease, hashedMark) {
		return KeyIdentifier(lease)
	}
	return lease
}

func (l *leases) live(at int64) int64 { return int64(len(l.ends) - l.ends.lapsed(0, at)) }

func (l *leases) holds(lease string, at int64) bool {
	held, ok := l.held[leaseName(lease)]
	return ok && held.end > at
}

// hold makes the lease live for a window and drops those that lapsed.
func (l *leases) hold(lease string, at, window int64) {
	for len(l.ends) > 0 && l.ends[0].end <= at {
		l.remove(l.ends[0])
	}
	l.newest = at
	lease = leaseName(lease)
	if held, ok := l.held[lease]; ok {
		held.end = at + window
		heap.Fix(&l.ends, held.index)
		return
	}
	if l.held == nil {
		l.held = map[string]*place{}
	}
	held := l.place()
	held.lease, held.end = lease, at+window
	l.text += int64(len(lease))
	l.held[lease] = held
	heap.Push(&l.ends, held)
}

// place returns a place to use.
func (l *leases) place() *place {
	last := len(l.free) - 1
	if last < 0 {
		return &place{}
	}
	unused := l.free[last]
	l.free = l.free[:last]
	return unused
}

func (l *leases) release(lease string) bool {
	held, ok := l.held[leaseName(lease)]
	if ok {
		l.remove(held)
	}
	return ok
}

func (l *leases) remove(p *place) {
	heap.Remove(&l.ends, p.index)
	delete(l.held, p.lease)
	l.text -= int64(len(p.lease))
	p.lease = ""
	l.free = append(l.free, p)
}

func (l *leases) forget() {
	for len(l.ends) > 0 {
		l.remove(l.ends[len(l.ends)-1])
	}
}

func (l *leases) bytes() int64 { return int64(len(l.ends)+len(l.free))*placeBytes + l.text }

func (l *leases) clone() leases {
	c := leases{held: maps.Clone(l.held), ends: make(places, len(l.ends)), newest: l.newest, text: l.text}
	for i, p := range l.ends {
		copied := *p
		c.ends[i], c.held[p.lease] = &copied, &copied
	}
	return c
}

// places is a heap of the places held; the one that lapses first is its root.
type places []*place //nolint:recvcheck // heap.Interface wants both kinds of receivers.

// Len is a method of heap.Interface.
func (h places) Len() int { return len(h) }

// Less is a method of heap.Interface.
func (h places) Less(i, j int) bool { return h[i].end < h[j].end }

// Swap is a method of heap.Interface.
func (h places) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is a method of heap.Interface.
func (h *places) Push(x any) {
	p, ok := x.(*place)
	if !ok {
		return // Nothing else is ever pushed.
	}
	p.index = len(*h)
	*h = append(*h, p)
}

// Pop is a method of heap.Interface.
func (h *places) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}

// lapsed counts the places below and at i that have come to their end. It looks at them and their neighbours alone.
func (h places) lapsed(i int, at int64) int {
	if i >= len(h) || h[i].end > at {
		return 0
	}
	return 1 + h.lapsed(2*i+1, at) + h.lapsed(2*i+2, at)
}
