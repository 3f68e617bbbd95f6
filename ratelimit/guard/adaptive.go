package guard

import (
	"math"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// The numbers of the adaptive controller (rules RL109, RL110).
const (
	DefaultMinFactor = 0.1
	// lower and raise are how the factor moves each second; patience is how many high readings in a row lower it.
	lower    = 0.8
	raise    = 0.05
	patience = 2
	// precision keeps sums of decimal fractions from ending just below a whole number.
	precision = 1e6
	// adaptiveInterval is the time between two readings.
	adaptiveInterval = time.Second
)

// Marks are the reading of a signal below which it is calm and above which it is overloaded. Both zero leaves the signal
// out.
type Marks struct{ Low, High float64 }

// Adaptive lowers the limits of policies that are adaptive while the process is overloaded.
type Adaptive struct {
	// Min is the lowest factor; 0 is DefaultMinFactor.
	Min float64
	// CPU and Heap are shares of the quota of processors and of the memory limit; zero marks are 0.70 and 0.85, and
	// 0.80 and 0.90.
	CPU, Heap Marks
	// Latency is the 99th percentile of the time that goroutines wait for a processor, in seconds; zero marks are 0.005
	// and 0.020.
	Latency Marks
	// InFlight counts requests; zero marks leave it out.
	InFlight Marks
}

// Readings are the signals of one second. A reading that is negative or no number is unknown, and says nothing.
type Readings struct {
	// CPU is the share of the quota of processors in use, Heap that of the memory limit.
	CPU, Heap float64
	// Latency is the 99th percentile of the time that goroutines waited for a processor, in seconds.
	Latency float64
	// InFlight is the number of requests under way.
	InFlight float64
}

// Factor is the state of the adaptive controller. The zero factor is 1.
type Factor struct {
	// Value multiplies limits: the minimum to 1; 0 is 1.
	Value float64
	// High counts the readings in a row with a signal above its high mark.
	High int
}

// Validate reports marks and minima that make no sense.
func (c *Adaptive) Validate() error {
	if !(c.Min >= 0 && c.Min <= 1) {
		return fault("adaptive limits: minimum %g is not in 0…1", c.Min)
	}
	for _, m := range [...]Marks{c.CPU, c.Heap, c.Latency, c.InFlight} {
		if !(m.Low >= 0 && m.Low <= m.High) {
			return fault("adaptive limits: marks %g and %g are not in order", m.Low, m.High)
		}
	}
	return nil
}

// Next returns the factor after one second's readings (rules RL110, RL112). It is pure. A signal above its high mark
// lowers the factor, from the second reading in a row on; only when all known signals are below their low marks does it
// rise.
func (c *Adaptive) Next(f Factor, r Readings) Factor {
	value := f.Value
	if !(value > 0 && value <= 1) {
		value = 1
	}
	high, calm := c.judge(r)
	if !high {
		f.High = 0
		if calm {
			value = min(1, round(value+raise))
		}
		return Factor{Value: value}
	}
	f.High = min(f.High+1, patience)
	if f.High >= patience {
		value = max(c.floor(), round(value*lower))
	}
	return Factor{Value: value, High: f.High}
}

func (c *Adaptive) floor() float64 {
	if c.Min == 0 {
		return DefaultMinFactor
	}
	return c.Min
}

// judge says whether a signal is above its high mark, and whether all that are known are below their low ones.
func (c *Adaptive) judge(r Readings) (high, calm bool) {
	calm = true
	for _, signal := range [...]struct {
		reading         float64
		marks, standard Marks
	}{
		{r.CPU, c.CPU, Marks{0.70, 0.85}},
		{r.Heap, c.Heap, Marks{0.80, 0.90}},
		{r.Latency, c.Latency, Marks{0.005, 0.020}},
		{r.InFlight, c.InFlight, Marks{}},
	} {
		marks := signal.marks
		if marks == (Marks{}) {
			marks = signal.standard
		}
		if marks == (Marks{}) || !(signal.reading >= 0) {
			continue
		}
		high = high || signal.reading > marks.High
		calm = calm && signal.reading < marks.Low
	}
	return high, calm
}

func round(value float64) float64 { return math.Round(value*precision) / precision }

// Scale returns the policy with its limit and burst multiplied by the factor, each at least 1 (rule RL109). A policy
// without a limit stays without one.
func (f Factor) Scale(p ratelimit.Policy) ratelimit.Policy {
	if f.Value <= 0 || f.Value >= 1 || p.Limit == 0 {
		return p
	}
	p.Limit = f.scale(p.Limit)
	if p.Burst > 0 {
		p.Burst = f.scale(p.Burst)
	}
	return p
}

func (f Factor) scale(units int64) int64 {
	return max(1, int64(math.Floor(float64(units)*f.Value+1/precision)))
}
