package ratelimit

import (
	"math"
	"math/bits"
)

// maxLevel bounds the levels of meters, so that int64 and doubles agree (rule RL36).
const maxLevel int64 = 1 << 53

// judgeMeter is the one law of token bucket, leaky bucket and GCRA (rules RL35 to RL39): a level that rises by what is
// admitted, drains by the limit in each window, and never exceeds the burst.
func judgeMeter(r *Request, now int64, s *State, d *Decision) {
	p := r.Policy
	m := meterOf(p, s)
	capacity := p.Capacity()
	full, level := capacity*m.unit, int64(0)
	at := now
	if s.kind == stateMeter {
		var known bool
		if at, known = judgedAt(now, s.start, ceil(full, m.drain)); known {
			level = m.drained(m.convert(s, capacity), at, s.start)
		}
	}
	*d = Decision{Limit: capacity, Policy: p}
	late := at - now
	cost := r.Cost * m.unit
	if d.Allowed = r.Cost == 0 || level <= full-cost; !d.Allowed {
		d.RetryAfter = duration(ceil(level+cost-full, m.drain) + late)
	} else if r.Cost > 0 {
		level += cost
		*s = State{kind: stateMeter, window: m.unit, previous: m.drain, start: at, count: level}
	}
	d.Remaining = (full - level) / m.unit
	if level > 0 {
		d.Next = duration(ceil(level-full+(d.Remaining+1)*m.unit, m.drain) + late)
		d.Reset = duration(ceil(level, m.drain) + late)
	}
}

// meter is the rate of a meter in lowest terms: its level is counted in parts of a unit such that a whole number of parts
// drains in each tick. Nothing is ever rounded.
type meter struct {
	// unit is the number of parts of one unit, drain the parts that drain in a tick.
	unit, drain int64
}

// meterOf returns the rate of the policy. The state knows it, unless the policy is another: terms without a common
// divisor are the same if they have the same ratio.
func meterOf(p *Policy, s *State) meter {
	window := p.windowTicks()
	if s.kind == stateMeter {
		high, low := product(p.Limit, s.window)
		if h, l := product(window, s.previous); h == high && l == low {
			return meter{unit: s.window, drain: s.previous}
		}
	}
	divisor := gcd(p.Limit, window)
	return meter{unit: window / divisor, drain: p.Limit / divisor}
}

// convert returns the level of the state in the parts of this rate, rounded up and cut to the capacity (rules RL12,
// RL38). The last product is one of doubles, as in the scripts of a shared store.
func (m *meter) convert(s *State, capacity int64) int64 {
	if s.window == m.unit {
		return min(s.count, capacity*m.unit)
	}
	units, parts := s.count/s.window, s.count%s.window
	if units >= capacity {
		return capacity * m.unit
	}
	level := units*m.unit + int64(math.Ceil(float64(parts)*float64(m.unit)/float64(s.window)))
	return min(level, capacity*m.unit)
}

// drained returns what is left of a level between two instants.
func (m *meter) drained(level, now, since int64) int64 {
	if now >= since+ceil(level, m.drain) {
		return 0
	}
	return level - (now-since)*m.drain
}

// judgedAt returns the instant at which a check is judged whose state is as new as given: an older check at that
// newest instant. It returns false if the check is older by more than the horizon, so that the state is forgotten (rule
// RL16).
func judgedAt(now, newest, horizon int64) (at int64, known bool) {
	if now < newest-horizon {
		return now, false
	}
	return max(now, newest), true
}

// holdsMeter says whether the levels of a meter stay below maxLevel.
func (p *Policy) holdsMeter() bool {
	capacity, window := p.Capacity(), p.windowTicks()
	if below(capacity, window, maxLevel) {
		return true
	}
	return below(capacity, window/gcd(p.Limit, window), maxLevel)
}

// below says whether the product of two numbers that are not negative is below the bound.
func below(a, b, bound int64) bool {
	high, low := product(a, b)
	return high == 0 && low < uint64(max(0, bound))
}

// product multiplies numbers that are not negative.
func product(a, b int64) (high, low uint64) {
	return bits.Mul64(uint64(max(0, a)), uint64(max(0, b)))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// ceil divides numbers that are not negative and rounds up.
func ceil(a, b int64) int64 {
	quotient := a / b
	if quotient*b < a {
		quotient++
	}
	return quotient
}
