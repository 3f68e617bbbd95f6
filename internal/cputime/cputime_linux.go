package cputime

import (
	"syscall"
	"time"
)

// Thread is the processor time that the calling thread has used so far. It does not pass while others have the processor.
func Thread() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
