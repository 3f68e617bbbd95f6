package ratelimit

import (
	"fmt"
	"math"
	"time"
)

const (
	ticksPerSecond      int64 = 1_000_000
	ticksPerMillisecond int64 = 1_000
	// farTick bounds the instants: what lies 146,000 years away from the epoch is judged there, so that no sum with a
	// window overflows.
	farTick int64 = 1 << 62
)

// State is what a policy remembers of a key. The zero State means that nothing happened yet (rule RL2). States are
// values: Step returns a new one and leaves the given one as it was.
type State struct {
	kind stateKind
	// window is the length in ticks that the counts belong to.
	window int64
	// start is the tick at which the newest window begins.
	start int64
	// count is what the newest window counted, previous what the window before it did (windows on the clock only).
	count, previous int64
}

// stateKind tells whose state it is, and a state from none.
type stateKind uint8

const (
	stateNone stateKind = iota
	stateClock
	stateFirst
)

// IsZero says that nothing happened yet.
func (s *State) IsZero() bool { return s.kind == stateNone }

// Step judges one check and returns the state after it. It is pure: it has no clock, no randomness and no shared
// memory, and panics for no input (rule RL1). A cost below zero, a nil policy and one that [Policy.Validate] would
// refuse are denied for ever, and the state stays.
func Step(p *Policy, s State, now time.Time, cost int64) (State, Decision) {
	d, settled, err := Settle(p, cost)
	if err != nil {
		return s, Decision{RetryAfter: Never, Policy: p}
	}
	if !settled {
		Judge(p, &s, now, cost, &d)
	}
	return s, d
}

// Judge is Step for a store that owns the state: it changes the state in place and fills the decision, and copies
// neither. It may only be called for checks that [Settle] does not decide.
func Judge(p *Policy, s *State, now time.Time, cost int64, d *Decision) {
	if p.clockAligned() {
		judgeClock(p, s, ticks(now), cost, d)
		return
	}
	judgeFirst(p, s, ticks(now), cost, d)
}

// Settle decides the checks that need no state, so that no store is asked: a policy without limit allows everything
// (rule RL3), and a cost that the policy can never hold is denied for ever (rule RL7). It returns false when a state must
// decide. A negative cost is ErrCost (rule RL6); a nil policy, an algorithm that is not served and numbers outside their
// bounds are ErrConfig.
func Settle(p *Policy, cost int64) (d Decision, settled bool, err error) {
	switch {
	case p == nil:
		return Decision{}, false, fmt.Errorf("check: no policy: %w", ErrConfig)
	case cost < 0:
		return Decision{}, false, fmt.Errorf("check %q: cost %d: %w", p.Name, cost, ErrCost)
	case !p.usable():
		return Decision{}, false, fmt.Errorf("check: %w", p.Validate())
	case p.Limit == 0:
		return Decision{Allowed: true, Skipped: true, Policy: p}, true, nil
	case cost > p.Limit:
		return Decision{Limit: p.Limit, RetryAfter: Never, Policy: p}, true, nil
	default:
		return Decision{}, false, nil
	}
}

// judgeClock is the fixed window on the clock. It counts first and judges then, so that a denied check is counted too
// (rules RL22 to RL24).
func judgeClock(p *Policy, s *State, now, cost int64, d *Decision) {
	window := p.windowTicks()
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
	*d = Decision{Allowed: true, Limit: p.Limit, Remaining: max(0, p.Limit-count), Policy: p}
	if count > 0 {
		d.Reset = duration(rest)
		d.Next = d.Reset
	}
	if cost > 0 && count > p.Limit {
		d.Allowed, d.RetryAfter = false, d.Reset
	}
}

// judgeFirst is the fixed window that the first counted check opens. It judges first and counts then, so that only what
// was admitted is counted (rule RL27).
func judgeFirst(p *Policy, s *State, now, cost int64, d *Decision) {
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

// windowStart returns the tick at which the clock-aligned window that holds now begins.
func windowStart(p *Policy, now time.Time) int64 {
	window := p.windowTicks()
	if window <= 0 {
		return 0
	}
	return floor(ticks(now), window)
}

func (p *Policy) windowTicks() int64 { return int64(p.Window / time.Microsecond) }

// ticks returns the instant in microseconds since the Unix epoch, cut toward minus infinity.
func ticks(t time.Time) int64 {
	const farSecond = farTick / ticksPerSecond
	seconds := t.Unix()
	if seconds >= farSecond || seconds < -farSecond {
		if seconds < 0 {
			return -farTick
		}
		return farTick
	}
	return seconds*ticksPerSecond + int64(t.Nanosecond())/ticksPerMillisecond
}

// floor returns the largest multiple of the window that is not above the instant (rule RL17).
func floor(now, window int64) int64 {
	rest := now % window
	if rest < 0 {
		rest += window
	}
	return now - rest
}

// add returns the sum of two numbers that are not negative, at most the largest int64 (rule RL24).
func add(count, cost int64) int64 {
	if count > math.MaxInt64-cost {
		return math.MaxInt64
	}
	return count + cost
}

func duration(t int64) time.Duration { return time.Duration(t) * time.Microsecond }
