package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

const (
	// longestDelay bounds every delay, also one that is drawn or rendered (mock format, section 6).
	longestDelay = 5 * time.Minute
	// maxRedraws is how often a delay above its largest value is drawn again (rule Q1).
	maxRedraws = 100
)

// delays is the time before the first byte: the parts add up (rule Q2).
type delays struct {
	// fixed is the sum of the parts that are always the same.
	fixed time.Duration
	// varying are the others, nil if there is none.
	varying *varyingDelays
}

// varyingDelays are the parts of a delay that may differ from call to call.
type varyingDelays struct {
	drawn []*mockbase.Delay
	// rendered are the texts of templated parts.
	rendered []*script
}

// compileDelays joins a response's own delay and the project's, either of which may be nil: the own one replaces that of
// the project, or is added to it.
func compileDelays(own, byDefault *mockbase.Delay, compile func(text string) *script) delays {
	var d delays
	switch {
	case own == nil:
		d.add(byDefault, compile)
	case own.AddDefault:
		d.add(own, compile)
		d.add(byDefault, compile)
	default:
		d.add(own, compile)
	}
	return d
}

func (d *delays) add(part *mockbase.Delay, compile func(text string) *script) {
	switch {
	case part == nil:
	case part.Kind == mockbase.DelayTemplate:
		// Without a template there is no delay; saving has warned of it (rule P1).
		if r := compile(part.Template); r != nil {
			own := d.variants()
			own.rendered = append(own.rendered, r)
		}
	case part.Kind == mockbase.DelayFixed && part.Jitter == 0, part.Kind == "":
		d.fixed += part.Fixed
	default:
		own := d.variants()
		own.drawn = append(own.drawn, part)
	}
}

func (d *delays) variants() *varyingDelays {
	if d.varying == nil {
		d.varying = &varyingDelays{}
	}
	return d.varying
}

// constant tells whether every call has the same delay.
func (d *delays) constant() bool { return d.varying == nil }

// plan draws the delay of a call.
func (d *delays) plan(c *call) (time.Duration, *failure) { return d.planFor(c, "delay") }

// planFor draws for a purpose of its own.
func (d *delays) planFor(c *call, purpose string) (time.Duration, *failure) {
	total := d.fixed
	if d.constant() {
		return min(total, longestDelay), nil
	}
	if drawn := d.varying.drawn; len(drawn) > 0 {
		random := c.chance(purpose)
		for _, part := range drawn {
			total += draw(part, random)
		}
	}
	for _, r := range d.varying.rendered {
		part, failed := readText(c, r, parseDelay)
		if failed != nil {
			return 0, failed
		}
		total += part
	}
	return min(total, longestDelay), nil
}

// parseDelay reads a rendered delay: a duration, or a number of milliseconds. Nothing is no delay.
func parseDelay(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	d, err := mockbase.ParseDuration(text)
	if ms, numberErr := strconv.ParseFloat(text, 64); numberErr == nil {
		if !(ms >= 0 && ms <= float64(longestDelay.Milliseconds())) {
			return 0, fmt.Errorf("%s is not from 0 to %d milliseconds", quoted(text), longestDelay.Milliseconds())
		}
		return time.Duration(math.Round(ms * float64(time.Millisecond))), nil
	}
	switch {
	case err != nil:
		return 0, err
	case d > longestDelay:
		return 0, fmt.Errorf("%s is longer than %s", quoted(text), longestDelay)
	}
	return d, nil
}

// draw draws one delay (rule Q1).
func draw(d *mockbase.Delay, random *rand.Rand) time.Duration {
	most := longestDelay
	if d.HasMax {
		most = min(most, d.Max)
	}
	switch d.Kind {
	case mockbase.DelayUniform:
		return d.Min + time.Duration(random.Int64N(int64(d.Max-d.Min)+1))
	case mockbase.DelayNormal:
		return redrawn(most, func() float64 { return float64(d.Mean) + float64(d.StdDev)*random.NormFloat64() })
	case mockbase.DelayLognormal:
		return redrawn(most, func() float64 { return float64(d.Median) * math.Exp(d.Sigma*random.NormFloat64()) })
	default:
		spread := int64(d.Jitter)
		return max(0, d.Fixed+time.Duration(random.Int64N(2*spread+1)-spread))
	}
}

// redrawn draws again what is above the bound, and takes the bound in the end. Nothing is below 0.
func redrawn(most time.Duration, next func() float64) time.Duration {
	for range maxRedraws + 1 {
		if d := next(); d <= float64(most) {
			return time.Duration(max(0, d))
		}
	}
	return most
}

// wait delays the answer. It returns false when the client has gone meanwhile, and cuts the delay short when the engine
// closes (rules Q5 and N13).
func (c *call) wait(delay time.Duration) bool {
	began := c.engine.options.Clock()
	c.pause(c.request.Context(), delay)
	return c.waited(delay, began)
}

// waited notes a delay that is over. It returns false when the client has gone meanwhile.
func (c *call) waited(planned time.Duration, began time.Time) bool {
	// A limit may have made the request wait before.
	c.outcome.planned += planned
	c.outcome.slept += c.engine.options.Clock().Sub(began)
	c.outcome.aborted = c.outcome.aborted || c.request.Context().Err() != nil
	return !c.outcome.aborted
}

// hang waits until the client leaves or the engine closes, or the time is over; a time of 0 has no end.
func (c *call) hang(ctx context.Context, d time.Duration) {
	if d > 0 {
		c.pause(ctx, d)
		return
	}
	select {
	case <-ctx.Done():
	case <-c.engine.ended.Done():
	}
}
