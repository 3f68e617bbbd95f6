package guard

import (
	"slices"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// CircuitMode says whom an open circuit lets through (rule RL104). The empty one is CircuitAdaptive.
type CircuitMode string

// CircuitAdaptive lets authenticated callers through, CircuitLockdown the safelist alone. CircuitDisabled lets everybody
// through and changes no state; an administrator's order to lock down holds all the same.
const (
	CircuitAdaptive CircuitMode = "adaptive"
	CircuitLockdown CircuitMode = "lockdown"
	CircuitDisabled CircuitMode = "disabled"
)

// The numbers of a circuit that states none (rule RL102).
const (
	DefaultThreshold   int64 = 10_000
	DefaultGlobalLimit int64 = 50_000
	DefaultWindow            = 60 * time.Second
	DefaultRecovery          = 30 * time.Second
)

const (
	// stepTime is the length of a step of a half-open circuit.
	stepTime = 5 * time.Second
	// maxRecovery is how many times its recovery a circuit stays open at most.
	maxRecovery = 8
	// maxCircuitWindow and maxCircuitCount keep the arithmetic in its range.
	maxCircuitWindow = time.Hour
	maxCircuitCount  = 1 << 40
	percent          = 100
)

// lastStep is the step after which a half-open circuit closes.
const lastStep = 2

// shareOf returns the share of a step of a half-open circuit in percent.
func shareOf(step int) int64 {
	shares := [lastStep + 1]int64{10, 30, 60}
	return shares[min(max(step, 0), lastStep)]
}

// Circuit refuses most requests when far more are offered than the server can bear.
type Circuit struct {
	Mode CircuitMode
	// Threshold is the number of requests offered per Window above which the circuit opens; 0 is DefaultThreshold.
	Threshold int64
	// Window is 0, which is DefaultWindow, or 1 s to an hour.
	Window time.Duration
	// Recovery is how long it stays open at first; 0 is DefaultRecovery.
	Recovery time.Duration
	// GlobalLimit is the number of requests let through per Window, whoever asks and whatever the state; 0 is
	// DefaultGlobalLimit.
	GlobalLimit int64
	DryRun      bool
}

// Validate reports all that is wrong with the circuit in one error, or nil.
func (c *Circuit) Validate() error {
	switch {
	case !slices.Contains([]CircuitMode{"", CircuitAdaptive, CircuitLockdown, CircuitDisabled}, c.Mode):
		return fault("circuit: mode %q is not adaptive, lockdown or disabled", c.Mode)
	case min(c.Threshold, c.GlobalLimit) < 0 || max(c.Threshold, c.GlobalLimit) > maxCircuitCount:
		return fault("circuit: threshold %d or global limit %d is not in 0…%d", c.Threshold, c.GlobalLimit, int64(maxCircuitCount))
	case c.Window != 0 && (c.Window < time.Second || c.Window > maxCircuitWindow):
		return fault("circuit: window %s is not in 1s…1h", c.Window)
	case c.Recovery < 0 || c.Recovery > maxCircuitWindow:
		return fault("circuit: recovery %s is not in 0…1h", c.Recovery)
	default:
		return nil
	}
}

// complete returns the circuit with its defaults filled in.
func (c *Circuit) complete() Circuit {
	full := *c
	full.fill()
	return full
}

func (c *Circuit) fill() {
	if c.Mode == "" {
		c.Mode = CircuitAdaptive
	}
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.Recovery == 0 {
		c.Recovery = DefaultRecovery
	}
	if c.GlobalLimit == 0 {
		c.GlobalLimit = DefaultGlobalLimit
	}
}

// Next returns the record that a reading leads to, and whether it is another one (rules RL102, RL103). It is pure, and
// its caller swaps the record. An order whose end has come is dropped; while one holds, the state goes on beneath it.
func (c *Circuit) Next(r ratelimit.CircuitReading, now time.Time) (ratelimit.CircuitRecord, bool) {
	full := c.complete()
	next := r.Record
	changed := false
	if next.Force != ratelimit.ForceNone && !live(next.ForceUntil, now) {
		next.Force, next.ForceUntil, changed = ratelimit.ForceNone, time.Time{}, true
	}
	if full.Mode == CircuitDisabled {
		return next, changed
	}
	elapsed := now.Sub(next.Since)
	switch next.State {
	case ratelimit.CircuitOpen:
		if elapsed < full.recovery(&next) {
			return next, changed
		}
		next.State, next.Since, next.Step = ratelimit.CircuitHalfOpen, now, 0
	case ratelimit.CircuitHalfOpen:
		if elapsed < stepTime {
			return next, changed
		}
		full.stepUp(&next, r.Offered, elapsed, now)
	default:
		if r.Window.Offered <= full.Threshold {
			return next, changed
		}
		next.State, next.Since, next.Step, next.Recovery = ratelimit.CircuitOpen, now, 0, full.Recovery
	}
	return next, true
}

// stepUp ends a step of a half-open circuit. What was offered during it is scaled to the window.
func (c *Circuit) stepUp(next *ratelimit.CircuitRecord, offered int64, elapsed time.Duration, now time.Time) {
	scaled := float64(offered) * float64(c.Window) / float64(elapsed)
	switch {
	case scaled > float64(c.Threshold):
		next.State, next.Recovery = ratelimit.CircuitOpen, min(2*c.recovery(next), maxRecovery*c.Recovery)
		next.Step = 0
	case next.Step < lastStep:
		next.Step++
	default:
		next.State, next.Recovery, next.Step = ratelimit.CircuitClosed, 0, 0
	}
	next.Since = now
}

// recovery returns how long the circuit of the record stays open.
func (c *Circuit) recovery(r *ratelimit.CircuitRecord) time.Duration {
	if r.Recovery <= 0 {
		return c.Recovery
	}
	return r.Recovery
}

// Pass is whom a circuit lets through at an instant.
type Pass uint8

// PassAll lets everybody through, PassKnown authenticated callers, PassNone nobody. Both others may let a share of the
// rest through too.
const (
	PassAll Pass = iota
	PassKnown
	PassNone
)

// Passes returns whom the circuit lets through under the record, the share of all others in percent, and the wait that
// is told to those who are refused. It is pure.
func (c *Circuit) Passes(r *ratelimit.CircuitRecord, now time.Time) (p Pass, share int64, wait time.Duration) {
	full := c.complete()
	forced := r.Force != ratelimit.ForceNone && live(r.ForceUntil, now)
	switch {
	case forced && r.Force == ratelimit.ForceLockdown:
		return PassNone, 0, restOf(r.ForceUntil, now)
	case forced, full.Mode == CircuitDisabled:
		return PassAll, 0, 0
	}
	p = PassKnown
	if full.Mode == CircuitLockdown {
		p = PassNone
	}
	switch r.State {
	case ratelimit.CircuitOpen:
		return p, 0, max(0, full.recovery(r)-now.Sub(r.Since))
	case ratelimit.CircuitHalfOpen:
		return p, shareOf(r.Step), max(0, stepTime-now.Sub(r.Since))
	default:
		return PassAll, 0, 0
	}
}

func restOf(until, now time.Time) time.Duration {
	if until.IsZero() {
		return ratelimit.Never
	}
	return max(0, until.Sub(now))
}

// inShare says whether the n-th request is one of the share: every tenth of 10 percent (rule RL103).
func inShare(n, share int64) bool {
	n %= percent
	return n*share/percent != (n+1)*share/percent
}
