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
func (s State) IsZero() bool { return s.kind == stateNone }

// Step judges one check and returns the state after it. It is pure: it has no clock, no randomness and no shared
// memory, and panics for no input (rule RL1). A cost below zero, a nil policy and one that [Policy.Validate] would
// refuse are denied for ever, and the state stays.
func Step(p *Policy, s State, now time.Time, cost int64) (State, Decision) {
	d, settled, err := Settle(p, cost)
	if err != nil {
		return s, Decision{RetryAfter: Never, Policy: p}
	}
	if settled {
		return s, d
	}
	if p.clockAligned() {
		return stepClock(p, s, ticks(now), cost)
	}
	return stepFirst(p, s, ticks(now), cost)
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

// stepClock is the fixed window on the clock. It counts first and judges then, so that a denied check is counted too
// (rules RL22 to RL24).
func stepClock(p *Policy, s State, now, cost int64) (State, Decision) {
	window := p.windowTicks()
	start := floor(now, window)
	after := s
	if s.kind != stateClock || s.window != window {
		after = State{kind: stateClock, window: window, start: start}
	}
	count := &after.count
	switch start - after.start {
	case 0:
	case -window: // The clock went back into the window before the newest (rule RL16).
		count = &after.previous
	case window:
		after.start, after.count, after.previous = start, 0, after.count
	default:
		after.start, after.count, after.previous = start, 0, 0
	}
	if cost == 0 {
		return s, clockDecision(p, *count, 0, start+window-now)
	}
	*count = add(*count, cost)
	return after, clockDecision(p, *count, cost, start+window-now)
}

// Counted returns the decision of a fixed window on the clock whose counter reads count after a check of the given cost
// was added to it. Stores that count by themselves decide with it (rule RL23). A count that would have overflowed is
// given as the largest int64, which denies.
func Counted(p *Policy, count, cost int64, now time.Time) Decision {
	return clockDecision(p, count, cost, windowStart(p, now)+p.windowTicks()-ticks(now))
}

// clockDecision judges a counter of the window that ends in rest ticks.
func clockDecision(p *Policy, count, cost, rest int64) Decision {
	d := Decision{Allowed: true, Limit: p.Limit, Remaining: max(0, p.Limit-count), Policy: p}
	if count > 0 {
		d.Reset = duration(rest)
		d.Next = d.Reset
	}
	if cost > 0 && count > p.Limit {
		d.Allowed, d.RetryAfter = false, d.Reset
	}
	return d
}

// stepFirst is the fixed window that the first counted check opens. It judges first and counts then, so that only what
// was admitted is counted (rule RL27).
func stepFirst(p *Policy, s State, now, cost int64) (State, Decision) {
	window := p.windowTicks()
	after := s
	if !s.opened(now, window) {
		after = State{kind: stateFirst, window: window, start: now}
	}
	// A count may stand above the limit after the limit was lowered, so that the sum is compared and not the rest.
	allowed := after.count <= p.Limit-cost || cost == 0
	if allowed {
		after.count += cost
	}
	d := Decision{Allowed: allowed, Limit: p.Limit, Remaining: max(0, p.Limit-after.count), Policy: p}
	if after.count > 0 {
		d.Reset = duration(after.start + window - now)
		d.Next = d.Reset
	}
	if !allowed {
		d.RetryAfter = d.Reset
	}
	if !allowed || cost == 0 {
		return s, d
	}
	return after, d
}

// opened says whether the state holds a window that a check at this instant belongs to: it has not ended, and the
// instant is not older than its start by more than the horizon (rule RL16).
func (s State) opened(now, window int64) bool {
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
