//go:build !linux

package operator

import "time"

// processorTime is the time of the clock, where that of a thread is not to be had.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
