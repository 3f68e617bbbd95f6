package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Algorithm is a law of counting. The empty one is FixedWindow.
type Algorithm string

// The algorithms. FixedWindow counts to the limit in each window. SlidingWindow counts over a window that ends now, taking
// what is known of the window before for evenly spread, and may admit up to twice the limit less one within a window.
// SlidingLog remembers each admission and is exact. TokenBucket, LeakyBucket and GCRA are one law, seen from three sides:
// a bucket of Burst units that recovers by Limit in each Window. Concurrency counts what is in flight.
const (
	FixedWindow   Algorithm = "fixed_window"
	SlidingWindow Algorithm = "sliding_window"
	SlidingLog    Algorithm = "sliding_log"
	TokenBucket   Algorithm = "token_bucket"
	LeakyBucket   Algorithm = "leaky_bucket"
	GCRA          Algorithm = "gcra"
	Concurrency   Algorithm = "concurrency"
)

// Align says where the windows of FixedWindow begin. The empty one is AlignClock.
type Align string

// AlignClock cuts time at multiples of the window since the Unix epoch; AlignFirstRequest opens a window with the first
// counted check.
const (
	AlignClock        Align = "clock"
	AlignFirstRequest Align = "first_request"
)

// The bounds of a policy (rule RL4). Within them no sum or product of the package leaves the range in which int64 and
// the doubles of Redis scripts agree.
const (
	MaxLimit  int64         = 1<<53 - 1
	MinWindow time.Duration = time.Millisecond
	MaxWindow time.Duration = 3653 * 24 * time.Hour
	// MaxRemembered is the largest limit of SlidingLog and Concurrency, which remember each unit.
	MaxRemembered int64 = 1_000_000
)

// maxSliding bounds the product of limit and window in milliseconds of SlidingWindow.
const maxSliding int64 = 1 << 52

// Policy is an algorithm and its numbers. The zero Policy is valid and means no limit (rule RL3).
type Policy struct {
	// Name matches [a-z0-9][a-z0-9_-]{0,63}, or is empty where nobody asks for it.
	Name      string
	Algorithm Algorithm
	// Limit is the number of units per Window, and of Concurrency the number at one time; 0 is no limit.
	Limit int64
	// Window is whole milliseconds from MinWindow to MaxWindow. Of Concurrency it is the life of a lease.
	Window time.Duration
	// Burst is the capacity of the meters (token bucket, leaky bucket, GCRA); 0 is Limit.
	Burst int64
	// Align is for FixedWindow only.
	Align Align
}

// The codes of a [Fault]; they are the codes of field errors in the mock format.
const (
	FaultRange    = "range"
	FaultEnum     = "enum"
	FaultPattern  = "pattern"
	FaultConflict = "conflict"
)

// Fault is one thing that is wrong with a policy.
type Fault struct {
	// Field is the name of the member as definitions spell it, such as "window".
	Field string
	// Code is one of the Fault codes.
	Code string
	// Detail names the value and the fix.
	Detail string
}

// PolicyError reports all faults of a policy. It wraps [ErrConfig].
type PolicyError struct {
	// Policy is the name of the policy, which may be empty.
	Policy string
	Faults []Fault
}

// Error lists the faults in the order of the policy's members.
func (e *PolicyError) Error() string {
	faults := make([]string, 0, len(e.Faults))
	for _, f := range e.Faults {
		faults = append(faults, f.Field+": "+f.Detail)
	}
	subject := "policy"
	if e.Policy != "" {
		subject += " " + strconv.Quote(e.Policy)
	}
	return subject + ": " + strings.Join(faults, "; ")
}

// Unwrap returns ErrConfig.
func (*PolicyError) Unwrap() error { return ErrConfig }

// Validate reports every fault of the policy as one *[PolicyError] (rule RL4), or nil. A policy that is valid cannot
// overflow later.
func (p *Policy) Validate() error {
	var faults []Fault
	if p.Name != "" && !ValidName(p.Name) {
		faults = append(faults, Fault{"name", FaultPattern, fmt.Sprintf("%q does not match [a-z0-9][a-z0-9_-]{0,63}", p.Name)})
	}
	faults = p.algorithmFaults(faults)
	if p.Limit < 0 || p.Limit > p.maxLimit() {
		faults = append(faults, Fault{"limit", FaultRange, fmt.Sprintf("%d is not in 0…%d", p.Limit, p.maxLimit())})
	}
	faults = p.windowFaults(faults)
	faults = p.burstFaults(faults)
	faults = p.alignFaults(faults)
	if len(faults) == 0 && !p.usable() {
		faults = append(faults, Fault{"window", FaultRange, fmt.Sprintf("%s with these numbers is too fine to count exactly: "+
			"pick a rounder or shorter window, a smaller limit or burst, or fixed_window", p.Window)})
	}
	return p.report(faults)
}

// ValidateShield is Validate for a policy that guards the server: it must have a name, and its windows are whole
// seconds, because its counters in Redis are named after the second in which the window starts (rules RL4, RL25).
func (p *Policy) ValidateShield() error {
	var faults []Fault
	if invalid, ok := p.Validate().(*PolicyError); ok { //nolint:errorlint // Validate wraps nothing around it.
		faults = invalid.Faults
	}
	if p.Name == "" {
		faults = append(faults, Fault{"name", FaultPattern, "a shield policy needs a name"})
	}
	if p.Window%time.Second != 0 {
		faults = append(faults, Fault{"window", FaultRange, fmt.Sprintf("%s is not whole seconds, which a shield policy needs", p.Window)})
	}
	return p.report(faults)
}

func (p *Policy) report(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &PolicyError{Policy: p.Name, Faults: faults}
}

func (p *Policy) algorithmFaults(faults []Fault) []Fault {
	switch p.Algorithm {
	case "", FixedWindow, SlidingWindow, SlidingLog, TokenBucket, LeakyBucket, GCRA, Concurrency:
		return faults
	default:
		return append(faults, Fault{"algorithm", FaultEnum, fmt.Sprintf("%q is not an algorithm; fixed_window is", p.Algorithm)})
	}
}

func (p *Policy) windowFaults(faults []Fault) []Fault {
	switch {
	case p.Window == 0 && p.Limit == 0:
		return faults
	case p.Window < MinWindow || p.Window > MaxWindow:
		return append(faults, Fault{"window", FaultRange, fmt.Sprintf("%s is not in 1ms…3653d", p.Window)})
	case p.Window%time.Millisecond != 0:
		return append(faults, Fault{"window", FaultRange, fmt.Sprintf("%s is not whole milliseconds", p.Window)})
	default:
		return faults
	}
}

func (p *Policy) burstFaults(faults []Fault) []Fault {
	if p.Burst < 0 || p.Burst > MaxLimit {
		faults = append(faults, Fault{"burst", FaultRange, fmt.Sprintf("%d is not in 0…%d", p.Burst, MaxLimit)})
	}
	if p.Burst != 0 && !p.Algorithm.hasBurst() {
		faults = append(faults, Fault{"burst", FaultConflict, "only token_bucket, leaky_bucket and gcra have a burst"})
	}
	return faults
}

func (p *Policy) alignFaults(faults []Fault) []Fault {
	if p.Align != "" && p.Align != AlignClock && p.Align != AlignFirstRequest {
		return append(faults, Fault{"align", FaultEnum, fmt.Sprintf("%q is neither clock nor first_request", p.Align)})
	}
	if p.Align != "" && !p.Algorithm.hasAlign() {
		return append(faults, Fault{"align", FaultConflict, "only fixed_window has an align"})
	}
	return faults
}

func (a Algorithm) hasBurst() bool { return a == TokenBucket || a == LeakyBucket || a == GCRA }

func (a Algorithm) hasAlign() bool { return a == "" || a == FixedWindow }

// ValidName says whether a policy may have this name: [a-z0-9][a-z0-9_-]{0,63}.
func ValidName(name string) bool {
	return ValidNamespace(name) && name[0] != '_' && name[0] != '-'
}

// clockAligned says whether the windows of the policy lie on the clock.
func (p *Policy) clockAligned() bool { return p.Align != AlignFirstRequest }

// Capacity returns the largest cost that the policy can ever hold, which is also the largest Remaining: the burst of the
// meters, and the limit of all others.
func (p *Policy) Capacity() int64 {
	if p.Burst > 0 && p.Algorithm.hasBurst() {
		return p.Burst
	}
	return p.Limit
}

func (p *Policy) maxLimit() int64 {
	if p.Algorithm == SlidingLog || p.Algorithm == Concurrency {
		return MaxRemembered
	}
	return MaxLimit
}

// usable says whether Step can judge by the policy. It is the part of Validate that each check can afford.
func (p *Policy) usable() bool {
	if p.Limit < 0 || p.Limit > MaxLimit || p.Limit > 0 && (p.Window < MinWindow || p.Window > MaxWindow) {
		return false
	}
	if p.Algorithm.hasAlign() {
		return p.Burst == 0 && (p.Align == "" || p.Align == AlignClock || p.Align == AlignFirstRequest)
	}
	return p.Align == "" && p.Window%time.Millisecond == 0 && p.countable()
}

// countable says whether the numbers keep the bounds of the algorithm's arithmetic.
func (p *Policy) countable() bool {
	switch p.Algorithm {
	case SlidingWindow:
		return p.Burst == 0 && below(p.Limit, int64(p.Window/time.Millisecond), maxSliding)
	case SlidingLog, Concurrency:
		return p.Burst == 0 && p.Limit <= MaxRemembered
	case TokenBucket, LeakyBucket, GCRA:
		return p.Burst >= 0 && p.Burst <= MaxLimit && (p.Limit == 0 || p.holdsMeter())
	default:
		return false
	}
}
