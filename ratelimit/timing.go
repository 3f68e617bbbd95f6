package ratelimit

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// sampled is how many checks of a store in this process there are to one that is timed: reading the clock twice takes as
// long as such a check does.
const sampled = 64

// timingBounds are the upper bounds of the classes of Timing: from a check in memory to the longest budget.
var timingBounds = [...]time.Duration{ //nolint:gochecknoglobals // It is constant.
	500 * time.Nanosecond, time.Microsecond, 5 * time.Microsecond, 25 * time.Microsecond, 100 * time.Microsecond,
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, time.Second,
}

// Timing is how long a limiter's store took for its checks (rule RL128). Of a store that can be away ([Availability])
// every check is timed, of others about one in 64.
type Timing struct {
	// Bounds are the upper bounds of the classes, themselves included. Buckets are the checks of each class alone, with
	// one class more for those beyond the last bound.
	Bounds  []time.Duration
	Buckets []int64
	// Count and Sum are those of all checks that were timed.
	Count int64
	Sum   time.Duration
}

// timing measures without a lock.
type timing struct {
	every   bool
	sum     atomic.Int64
	buckets [len(timingBounds) + 1]atomic.Int64
}

func (t *timing) open(s Store) { _, t.every = s.(Availability) }

// begin returns the beginning of a check that is to be timed, else the zero time.
func (t *timing) begin() time.Time {
	if !t.every && rand.Uint32()%sampled != 0 { //nolint:gosec // It keeps no secret.
		return time.Time{}
	}
	return time.Now()
}

func (t *timing) end(began time.Time) {
	if began.IsZero() {
		return
	}
	took := time.Since(began)
	class, _ := slices.BinarySearch(timingBounds[:], took)
	t.buckets[class].Add(1)
	t.sum.Add(int64(took))
}

// Timing returns how long the store took so far.
func (l *Limiter) Timing() Timing {
	now := Timing{Bounds: slices.Clone(timingBounds[:]), Sum: time.Duration(l.timing.sum.Load())}
	for i := range l.timing.buckets {
		n := l.timing.buckets[i].Load()
		now.Buckets = append(now.Buckets, n)
		now.Count += n
	}
	return now
}

// Add adds the times of another limiter.
func (t *Timing) Add(other Timing) {
	if len(t.Buckets) == 0 {
		t.Bounds, t.Buckets = slices.Clone(timingBounds[:]), make([]int64, len(timingBounds)+1)
	}
	for i, n := range other.Buckets {
		t.Buckets[i] += n
	}
	t.Count += other.Count
	t.Sum += other.Sum
}

// Percentile returns the upper bound of the class that holds a share of the times, such as 0.99, and 0 if there are none.
// For times beyond the last bound it is that bound.
func (t *Timing) Percentile(share float64) time.Duration {
	rank := max(1, int64(math.Ceil(share*float64(t.Count))))
	var seen int64
	for i, n := range t.Buckets {
		if seen += n; n > 0 && seen >= rank {
			return t.Bounds[min(i, len(t.Bounds)-1)]
		}
	}
	return 0
}
