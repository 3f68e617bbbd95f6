package ratelimit

// judgeSliding is the sliding window of two counters (rules RL28 to RL30). The window before is taken for evenly spread:
// it counts with the share of it that a window ending now still covers. It works in whole milliseconds, and only what was
// admitted is counted.
func judgeSliding(r *Request, now int64, s *State, d *Decision) {
	p := r.Policy
	whole := floor(now, ticksPerMillisecond)
	v := slideTo(p, s, whole)
	*d = Decision{Allowed: r.Cost == 0 || v.fits(r.Cost), Limit: p.Limit, Policy: p}
	// Waits run from the given instant, which may lie behind the one judged at, or within its millisecond.
	late := v.at - now
	if !d.Allowed {
		d.RetryAfter = duration(v.wait(r.Cost)*ticksPerMillisecond + late)
	} else if r.Cost > 0 {
		v.current += r.Cost
		*s = State{kind: stateSliding, window: v.window * ticksPerMillisecond, start: v.start, count: v.current, previous: v.previous}
	}
	d.Remaining = v.remaining()
	if d.Remaining < p.Limit {
		d.Next = duration(v.wait(d.Remaining+1)*ticksPerMillisecond + late)
		d.Reset = duration(v.reset()*ticksPerMillisecond + late)
	}
}

// slide is a sliding window at one instant: what the present window and the one before counted.
type slide struct {
	// at is the tick that is judged at, start the one at which the present window begins.
	at, start int64
	// limit is in units; window and elapsed, the age of the present window, are in milliseconds.
	limit, window, elapsed int64
	current, previous      int64
}

// slideTo returns the windows of the state as they are at the instant, which is a whole millisecond. An older instant
// inside the newest window is used as given; one before it is judged at its start, unless it is older by more than the
// horizon (rule RL16).
func slideTo(p *Policy, s *State, now int64) slide {
	window := p.windowTicks()
	v := slide{at: now, limit: p.Limit, window: window / ticksPerMillisecond}
	if s.kind != stateSliding || s.window != window || now < s.start-window {
		v.start = floor(now, window)
	} else {
		v.at = max(now, s.start)
		switch {
		case v.at < s.start+window:
			v.start, v.current, v.previous = s.start, s.count, s.previous
		case v.at < s.start+2*window:
			v.start, v.previous = s.start+window, s.count
		default:
			v.start = floor(now, window)
		}
	}
	v.elapsed = (v.at - v.start) / ticksPerMillisecond
	return v
}

// used is what counts now, in units times milliseconds.
func (v *slide) used() int64 { return v.previous*(v.window-v.elapsed) + v.current*v.window }

func (v *slide) fits(cost int64) bool { return v.used()+cost*v.window <= v.limit*v.window }

func (v *slide) remaining() int64 { return max(0, v.limit*v.window-v.used()) / v.window }

// wait returns the milliseconds until a cost fits that does not fit now (rule RL29).
func (v *slide) wait(cost int64) int64 {
	rest := v.window - v.elapsed
	if v.current+cost <= v.limit {
		return rest - (v.limit-v.current-cost)*v.window/v.previous
	}
	return rest + v.window - (v.limit-cost)*v.window/v.current
}

// reset returns the milliseconds until nothing counts any more.
func (v *slide) reset() int64 {
	if v.current > 0 {
		return 2*v.window - v.elapsed
	}
	return v.window - v.elapsed
}
