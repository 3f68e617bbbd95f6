package ratelimit

import (
	"fmt"
	"math"
	"time"
	"unsafe"
)

const (
	ticksPerSecond      int64 = 1_000_000
	ticksPerMillisecond int64 = 1_000
	// farTick bounds the instants: what lies 146,000 years away from the epoch is judged there, so that no sum with a
	// window overflows.
	farTick int64 = 1 << 62
)

// State is what a policy remembers of a key. The zero State means that nothing happened yet (rule RL2). States are
// values: Step returns a new one and leaves the given one as it was. Two states are equal if they are the same one.
type State struct {
	kind stateKind
	// window is the length in ticks that the counts belong to; of a meter it is the number of parts of a unit.
	window int64
	// start is the tick at which the newest window begins; of a meter it is the instant of its level.
	start int64
	// count is what the newest window counted, previous what the window before it did (windows on the clock and sliding
	// ones only). Of a meter they are the level, and the parts that drain in a tick.
	count, previous int64
	// history is what grows with the number of checks: a log or leases. States of other kinds have none.
	history *history
}

// stateKind tells whose state it is, and a state from none.
type stateKind uint8

const (
	stateNone stateKind = iota
	stateClock
	stateFirst
	stateSliding
	stateLog
	stateMeter
	stateLeases
)

// history is the part of a state that takes room of its own.
type history struct {
	log    stamps
	leases leases
}

// IsZero says that nothing happened yet.
func (s *State) IsZero() bool { return s.kind == stateNone }

// Clone returns a state that shares nothing with this one, for a store whose checks change states in place.
func (s *State) Clone() State {
	c := *s
	if s.history != nil {
		c.history = &history{log: s.history.log.clone(), leases: s.history.leases.clone()}
	}
	return c
}

// Bytes returns an estimate of the memory that the state takes besides its own fields: that of a log or of leases.
func (s *State) Bytes() int64 {
	if s.history == nil {
		return 0
	}
	return historyBytes + int64(len(s.history.log.ring))*stampBytes + s.history.leases.bytes()
}

const (
	historyBytes = int64(unsafe.Sizeof(history{}))
	stampBytes   = int64(unsafe.Sizeof(stamp{}))
)

// remember makes this a state with a history, and returns that.
func (s *State) remember(kind stateKind, window int64) *history {
	h := s.history
	if h == nil {
		h = &history{}
	}
	*s = State{kind: kind, window: window, history: h}
	return h
}

// Step judges one check and returns the state after it. It is pure: it has no clock, no randomness and no shared
// memory, and panics for no input (rule RL1). A cost below zero, a nil policy and one that [Policy.Validate] would
// refuse are denied for ever, and the state stays. So are the checks of Concurrency, which need a lease: [Judge] knows
// them.
func Step(p *Policy, s State, now time.Time, cost int64) (State, Decision) {
	d, settled, err := Settle(p, cost)
	if err != nil || !settled && p.Algorithm == Concurrency {
		return s, Decision{RetryAfter: Never, Policy: p}
	}
	if settled {
		return s, d
	}
	r := Request{Policy: p, Cost: cost, Now: now}
	after := s
	if p.Algorithm == SlidingLog && cost > 0 {
		after = s.Clone()
	}
	Judge(&r, &after, &d)
	if !d.Allowed && p.Algorithm == SlidingLog {
		return s, d
	}
	return after, d
}

// Judge is Step for a store that owns the state, and for leases: it changes the state in place and fills the decision,
// and copies neither. A denied check and a peek change nothing, but for the window on the clock, which counts denied
// checks. It may only be called for requests with an instant that [Request.Validate] accepts and that [Settle] does not
// decide.
func Judge(r *Request, s *State, d *Decision) { JudgeAt(r, ticks(r.Now), s, d) }

// JudgeAt is Judge at an instant in ticks: whole microseconds since the Unix epoch, cut toward minus infinity. It does not
// look at the instant of the request.
func JudgeAt(r *Request, now int64, s *State, d *Decision) {
	if r.Policy.Algorithm == "" && r.Policy.Align == "" { // Most policies name none.
		judgeClock(r, now, s, d)
		return
	}
	switch r.Policy.Algorithm {
	case SlidingWindow:
		judgeSliding(r, now, s, d)
	case SlidingLog:
		judgeLog(r, now, s, d)
	case TokenBucket, LeakyBucket, GCRA:
		judgeMeter(r, now, s, d)
	case Concurrency:
		judgeLease(r, now, s, d)
	default:
		judgeWindow(r, now, s, d)
	}
}

// Tick returns an instant as JudgeAt takes it. One that lies 146,000 years away from the epoch is judged there.
func Tick(t time.Time) int64 { return ticks(t) }

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
	case cost > p.Capacity():
		return Decision{Limit: p.Capacity(), RetryAfter: Never, Policy: p}, true, nil
	default:
		return Decision{}, false, nil
	}
}

// Plain says that a check is one of the fixed window on the clock that a state must decide, as most are: its policy names no
// algorithm. It is short enough for the compiler to put where it is called.
func Plain(p *Policy, cost int64) bool {
	return p != nil && p.Algorithm == "" && p.Align == "" && p.Burst == 0 && p.Limit > 0 && p.Limit <= MaxLimit &&
		cost >= 0 && cost <= p.Limit && p.Window >= MinWindow && p.Window <= MaxWindow
}

// NeedsState says that [Settle] would not decide: a state must. Stores whose checks are counted in nanoseconds ask it
// first, since it returns nothing to copy.
func NeedsState(p *Policy, cost int64) bool {
	return Plain(p, cost) || p != nil && cost >= 0 && p.Limit > 0 && p.usable() && cost <= p.Capacity()
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

// duration returns ticks as a duration. A wait of more than 292 years is one of 292 years.
func duration(t int64) time.Duration {
	return time.Duration(min(t, math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
}
