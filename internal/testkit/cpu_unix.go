//go:build unix && !linux

package testkit

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time that the calling process has spent: nothing portable tells that of a thread.
func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
