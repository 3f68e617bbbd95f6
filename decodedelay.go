package mockbase

import (
	"math"
	"strconv"
	"time"
)

const (
	// maxDelay is the longest delay of an answer (mock format, section 6).
	maxDelay = 5 * time.Minute
	// maxAfter bounds the waits inside a stream and before a webhook, which may be longer.
	maxAfter = 24 * time.Hour
	// maxSigma is the largest spread of a lognormal delay.
	maxSigma = 5
)

// decodeDelay reads the delay of an answer.
func decodeDelay(at place) *Delay { return decodeDelayUpTo(at, maxDelay) }

// decodeAfter reads a wait in front of an event, a message or a webhook.
func decodeAfter(at place) *Delay { return decodeDelayUpTo(at, maxAfter) }

func decodeDelayUpTo(at place, longest time.Duration) *Delay {
	switch {
	case at.Kind == NodeText && isTemplate(at.Text):
		return &Delay{Kind: DelayTemplate, Template: at.Text}
	case at.Kind != NodeObject:
		d := &Delay{Kind: DelayFixed}
		d.Fixed, _ = decodeWait(at, longest)
		return d
	}
	f := at.fields()
	w := waitFields{f, longest}
	d := &Delay{}
	f.Bool("addDefault", &d.AddDefault)
	fixed, uniform := w.fixed(d), w.uniform(d)
	normal, lognormal := w.normal(d), w.lognormal(d)
	f.Done()
	kinds := 0
	for _, is := range []bool{fixed, uniform, normal, lognormal} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds == 0 && !f.broken:
		at.fault(FieldRequired, "lacks the delay itself: write fixed, min and max, normal or lognormal")
	case kinds > 1:
		at.fault(FieldConflict, "mixes kinds of delay: keep one of fixed, min and max, normal or lognormal")
	}
	return d
}

// decodeWait reads a duration; a bare number is milliseconds.
func decodeWait(at place, longest time.Duration) (time.Duration, bool) {
	var d time.Duration
	switch at.Kind {
	case NodeText:
		parsed, err := ParseDuration(at.Text)
		if err != nil {
			at.fault(FieldPattern, "%s", err)
			return 0, false
		}
		d = parsed
	case NodeNumber:
		ms, err := strconv.ParseFloat(at.Text, 64)
		if err != nil || ms < 0 || ms > float64(longest/time.Millisecond) {
			at.fault(FieldRange, "must be from 0 to %d milliseconds, found %s", longest.Milliseconds(), at.Text)
			return 0, false
		}
		d = time.Duration(math.Round(ms * float64(time.Millisecond)))
	default:
		at.fault(FieldType, "must be a duration such as 250ms or a number of milliseconds, found %s", at.describe())
		return 0, false
	}
	if d > longest {
		at.fault(FieldRange, "must be at most %s, found %s", longest, at.Text)
		return 0, false
	}
	return d, true
}

// waitFields reads members that are waits.
type waitFields struct {
	*Fields
	longest time.Duration
}

func (w waitFields) wait(name string, to *time.Duration) bool {
	at, ok := w.at(name)
	if !ok {
		return false
	}
	d, ok := decodeWait(at, w.longest)
	*to = d
	return ok
}

// ordered notes that a member is below another one.
func (w waitFields) ordered(name string, value time.Duration, least string, bound time.Duration) {
	if value < bound {
		w.Fault(name, FieldRange, "must be at least the %s of %s, found %s", least, bound, value)
	}
}

func (w waitFields) fixed(d *Delay) bool {
	if !w.Has("fixed") && !w.Has("jitter") {
		w.known = append(w.known, "fixed", "jitter")
		return false
	}
	d.Kind = DelayFixed
	w.wait("fixed", &d.Fixed)
	w.wait("jitter", &d.Jitter)
	w.Required("fixed")
	return true
}

func (w waitFields) uniform(d *Delay) bool {
	if !w.Has("min") && !w.Has("max") {
		w.known = append(w.known, "min", "max")
		return false
	}
	d.Kind = DelayUniform
	hasMin := w.wait("min", &d.Min)
	d.HasMax = w.wait("max", &d.Max)
	w.Required("min", "max")
	if hasMin && d.HasMax {
		w.ordered("max", d.Max, "min", d.Min)
	}
	return true
}

func (w waitFields) normal(d *Delay) bool {
	f := w.Object("normal")
	if f == nil {
		return false
	}
	n := waitFields{f, w.longest}
	d.Kind = DelayNormal
	hasMean := n.wait("mean", &d.Mean)
	n.wait("stddev", &d.StdDev)
	d.HasMax = n.wait("max", &d.Max)
	n.Required("mean", "stddev")
	n.Done()
	if hasMean && d.HasMax {
		n.ordered("max", d.Max, "mean", d.Mean)
	}
	return true
}

func (w waitFields) lognormal(d *Delay) bool {
	f := w.Object("lognormal")
	if f == nil {
		return false
	}
	n := waitFields{f, w.longest}
	d.Kind = DelayLognormal
	hasMedian := n.wait("median", &d.Median)
	if n.float("sigma", &d.Sigma, maxSigma) && d.Sigma == 0 {
		n.Fault("sigma", FieldRange, "must be above 0")
	}
	d.HasMax = n.wait("max", &d.Max)
	n.Required("median", "sigma")
	n.Done()
	if hasMedian && d.HasMax {
		n.ordered("max", d.Max, "median", d.Median)
	}
	return true
}
