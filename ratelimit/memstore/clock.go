package memstore

import (
	"sync/atomic"
	"time"
)

// resync is how often the machine's wall clock is read. Setting it is noticed within that time.
const resync = 100 * time.Millisecond

// machineClock is time.Now at half its price: it reads the monotonic clock alone and adds what has passed to an instant
// that it has read before.
type machineClock struct{ base atomic.Pointer[time.Time] }

func newMachineClock() *machineClock {
	c := &machineClock{}
	now := time.Now()
	c.base.Store(&now)
	return c
}

func (c *machineClock) now() time.Time {
	base := c.base.Load()
	passed := time.Since(*base)
	if passed < resync {
		return base.Add(passed)
	}
	now := time.Now()
	c.base.Store(&now)
	return now
}
