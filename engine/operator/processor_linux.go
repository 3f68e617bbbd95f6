package operator

import (
	"syscall"
	"time"
)

// processorTime is what the calling thread has used so far. It does not pass while others have the processor.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
