package testkit

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time that the calling thread has spent.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
