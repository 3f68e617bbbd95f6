package ratelimit

import "time"

// judgeWindow is a fixed window.
func judgeWindow(r *Request, now int64, s *State, d *Decision) {
	if r.Policy.clockAligned() {
		judgeClock(r, now, s, d)
		return
	}
	judgeFirst(r, now, s, d)
}

// judgeClock is the fixed window on the clock. It counts first and judges then, so that a denied check is counted too
// (rules RL22 to RL24).
func judgeClock(r *Request, now int64, s *State, d *Decision) {
	p, cost := r.Policy, r.Cost
	window := p.windowTicks()
	if passed := now - s.start; cost > 0 && s.kind == stateClock && s.window == window && within(passed, window) {
		// Most checks meet the window that the one before them was in, which need not be divided for.
		s.count = add(s.count, cost)
		clockDecision(p, s.count, cost, window-passed, d)
		return
	}
	start := floor(now, window)
	rest := start + window - now
	if cost == 0 {
		clockDecision(p, s.countAt(start, window), 0, rest, d)
		return
	}
	if s.kind != stateClock || s.window != window {
		*s = State{kind: stateClock, window: window, start: start}
	}
	count := &s.count
	switch start - s.start {
	case 0:
	case -window: // The clock went back into the window before the newest (rule RL16).
		count = &s.previous
	case window:
		s.start, s.count, s.previous = start, 0, s.count
	default:
		s.start, s.count, s.previous = start, 0, 0
	}
	*count = add(*count, cost)
	clockDecision(p, *count, cost, rest, d)
}

// within says whether an instant that lies so many ticks after the start of a window belongs to it.
func within(passed, window int64) bool { return passed >= 0 && passed < window }

// countAt returns what the state counted in the window that begins at start.
func (s *State) countAt(start, window int64) int64 {
	switch {
	case s.kind != stateClock || s.window != window:
		return 0
	case s.start == start:
		return s.count
	case s.start == start+window:
		return s.previous
	default:
		return 0
	}
}

// Counted returns the decision of a fixed window on the clock whose counter reads count after a check of the given cost
// was added to it. Stores that count by themselves decide with it (rule RL23). A count that would have overflowed is
// given as the largest int64, which denies.
func Counted(p *Policy, count, cost int64, now time.Time) Decision {
	var d Decision
	clockDecision(p, count, cost, windowStart(p, now)+p.windowTicks()-ticks(now), &d)
	return d
}

// clockDecision judges a counter of the window that ends in rest ticks.
func clockDecision(p *Policy, count, cost, rest int64, d *Decision) {
	reset := time.Duration(0)
	if count > 0 {
		reset = duration(rest)
	}
	// Member by member, since a whole decision would be made elsewhere and copied.
	d.Allowed, d.Skipped, d.Degraded = true, false, None
	d.Limit, d.Remaining, d.Reset, d.RetryAfter, d.Next, d.Policy = p.Limit, max(0, p.Limit-count), reset, 0, reset, p
	if cost > 0 && count > p.Limit {
		d.Allowed, d.RetryAfter = false, reset
	}
}

// judgeFirst is the fixed window that the first counted check opens. It judges first and counts then, so that only what
// was admitted is counted (rule RL27).
func judgeFirst(r *Request, now int64, s *State, d *Decision) {
	p, cost := r.Policy, r.Cost
	window := p.windowTicks()
	start, count := now, int64(0)
	if s.opened(now, window) {
		start, count = s.start, s.count
	}
	*d = Decision{Policy: p, Limit: p.Limit}
	// The count may stand above the limit, if that was lowered since.
	if d.Allowed = cost == 0 || count <= p.Limit-cost; d.Allowed {
		count += cost
	}
	d.Remaining = max(0, p.Limit-count)
	if count > 0 {
		d.Reset = duration(start + window - now)
		d.Next = d.Reset
	}
	if !d.Allowed {
		d.RetryAfter = d.Reset
		return
	}
	if cost > 0 {
		*s = State{kind: stateFirst, window: window, start: start, count: count}
	}
}

// opened says whether the state holds a window that a check at this instant belongs to: it has not ended, and the
// instant is not older than its start by more than the horizon (rule RL16).
func (s *State) opened(now, window int64) bool {
	return s.kind == stateFirst && s.window == window && now < s.start+window && now >= s.start-window
}
