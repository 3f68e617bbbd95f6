package testkit

import (
	"runtime"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/cputime"
)

// Bounded fails a test when work takes more than the limit. What counts is the processor time of work's own thread, since
// the time on the wall depends on what else the machine does. Work that it hands to other goroutines is not counted.
func Bounded(tb testing.TB, limit time.Duration, work func()) {
	tb.Helper()
	if spent := spentBy(work); spent > limit {
		tb.Errorf("took %s of processor time, at most %s are meant", spent, limit)
	}
}

// Fastest is the least processor time that one of several rounds of work takes, counted as Bounded does.
func Fastest(rounds int, work func()) time.Duration {
	least := time.Duration(-1)
	for range rounds {
		if spent := spentBy(work); least < 0 || spent < least {
			least = spent
		}
	}
	return least
}

func spentBy(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := cputime.Thread()
	work()
	return cputime.Thread() - before
}
