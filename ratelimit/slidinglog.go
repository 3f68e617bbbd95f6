package ratelimit

import "sort"

// minStamps is the room that a log begins with.
const minStamps = 4

// judgeLog is the exact sliding log (rules RL31 to RL34). Every admitted unit is remembered with its instant and counts
// at ages from 0 to a window, both inclusive.
func judgeLog(r *Request, now int64, s *State, d *Decision) {
	p, window := r.Policy, r.Policy.windowTicks()
	var kept stamps
	if s.kind == stateLog && s.window == window {
		kept = s.history.log
	}
	at, known := judgedAt(now, kept.newest(now), window)
	if !known {
		kept.forget()
	}
	kept.drop(at - window)
	live := kept.units()
	*d = Decision{Limit: p.Limit, Policy: p}
	if d.Allowed = r.Cost == 0 || live <= p.Limit-r.Cost; !d.Allowed {
		d.RetryAfter = duration(kept.oldest(live+r.Cost-p.Limit) + window + 1 - now)
	} else if r.Cost > 0 {
		live += r.Cost
		kept.add(at, r.Cost, p.Limit)
		s.remember(stateLog, window).log = kept
	}
	d.Remaining = max(0, p.Limit-live)
	if live > 0 {
		d.Next = duration(kept.oldest(live+d.Remaining+1-p.Limit) + window + 1 - now)
		d.Reset = duration(kept.newest(now) + window + 1 - now)
	}
}

// stamps is a ring of what was admitted, from the oldest to the newest. Copies share their ring: all but add leave what
// other copies see as it is.
type stamps struct {
	ring []stamp
	// head is the place of the oldest, size the number of those in use.
	head, size int
	// base is the sum before the oldest.
	base int64
}

// stamp is an instant and the sum of all units that were admitted up to it. Sums instead of units let the units that
// lapsed, and those that must lapse, be found without a walk.
type stamp struct{ at, sum int64 }

func (l *stamps) get(i int) *stamp {
	if i += l.head; i >= len(l.ring) {
		i -= len(l.ring)
	}
	return &l.ring[i]
}

// newest returns the instant of the newest stamp, or the given one if there is none.
func (l *stamps) newest(none int64) int64 {
	if l.size == 0 {
		return none
	}
	return l.get(l.size - 1).at
}

// units returns the number of units in the log.
func (l *stamps) units() int64 {
	if l.size == 0 {
		return 0
	}
	return l.get(l.size-1).sum - l.base
}

// oldest returns the instant of the n-th oldest unit, of which there must be one.
func (l *stamps) oldest(n int64) int64 {
	if first := l.get(0); first.sum-l.base >= n {
		return first.at
	}
	return l.get(sort.Search(l.size-1, func(i int) bool { return l.get(i).sum-l.base >= n })).at
}

// drop leaves out the stamps before the instant.
func (l *stamps) drop(before int64) {
	if l.size == 0 || l.get(0).at >= before {
		return
	}
	gone := sort.Search(l.size, func(i int) bool { return l.get(i).at >= before })
	l.base = l.get(gone - 1).sum
	if l.head += gone; l.head >= len(l.ring) {
		l.head -= len(l.ring)
	}
	l.size -= gone
}

func (l *stamps) forget() { l.head, l.size, l.base = 0, 0, 0 }

// add remembers units at an instant that is not before the newest. No log needs more stamps than its policy has units.
func (l *stamps) add(at, units, limit int64) {
	sum := l.base + l.units() + units
	if l.size > 0 && l.newest(at) == at {
		l.get(l.size - 1).sum = sum
		return
	}
	if l.size == len(l.ring) {
		l.move(int(max(minStamps, min(2*int64(l.size), limit))))
	}
	l.size++
	*l.get(l.size - 1) = stamp{at: at, sum: sum}
}

// move brings the stamps into a ring of their own with this room.
func (l *stamps) move(room int) {
	ring := make([]stamp, room)
	for i := range l.size {
		ring[i] = *l.get(i)
	}
	l.ring, l.head = ring, 0
}

func (l *stamps) clone() stamps {
	c := *l
	c.move(len(l.ring))
	return c
}
