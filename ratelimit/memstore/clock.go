package memstore

import (
	"sync/atomic"
	"time"
)

// resync is how often the machine's wall clock is read. Setting it is noticed within that time.
const resync = 100 * time.Millisecond

// machineClock is time.Now at half its price: it reads the monotonic clock alone and adds what has passed to an instant
// that it has read before.
type machineClock struct{ base atomic.Pointer[reading] }

// reading is an instant that was read, its nanoseconds since the epoch, and its distance from the first one in nanoseconds.
type reading struct {
	at   time.Time
	unix int64
	age  int64
}

func newMachineClock() *machineClock {
	c := &machineClock{}
	now := time.Now()
	c.base.Store(&reading{at: now, unix: now.UnixNano()})
	return c
}

// now returns the instant.
func (c *machineClock) now() time.Time {
	base := c.base.Load()
	passed := time.Since(base.at)
	if passed >= resync {
		base, passed = c.sync(base), 0
	}
	return base.at.Add(passed)
}

// tick returns the present moment. It is cheaper than now, since nobody has to take an instant apart.
func (c *machineClock) tick() moment {
	base := c.base.Load()
	passed := time.Since(base.at)
	if passed >= resync {
		base, passed = c.sync(base), 0
	}
	return moment{(base.unix + int64(passed)) / int64(time.Microsecond), base.age + int64(passed)}
}

func (c *machineClock) sync(base *reading) *reading {
	now := time.Now()
	next := &reading{at: now, unix: now.UnixNano(), age: base.age + int64(now.Sub(base.at))}
	c.base.Store(next)
	return next
}
