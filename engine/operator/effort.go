package operator

import (
	"errors"
	"runtime"
	"time"

	"github.com/mockbase/mockbase/internal/cputime"
)

// freeBytes is how much is looked at before time is measured at all: what most requests come to costs nothing then.
const freeBytes = 1 << 20

// errCostly ends a test that takes too long.
var errCostly = errors.New("too large: testing it takes more processor time than allowed")

// Effort bounds the processor time that the conditions of many mocks spend on one request. The zero value bounds nothing. It
// belongs to one goroutine, which stays on its thread from the first measure until [Effort.End].
type Effort struct {
	most time.Duration
	// looked are the bytes that were looked at, next at how many of them the time is measured again.
	looked, next int
	began, used  time.Duration
	running      bool
	spent        bool
}

// NewEffort allows an amount of processor time. A negative one allows no more than what is not measured.
func NewEffort(most time.Duration) Effort { return Effort{most: most, next: freeBytes} }

// Spend notes that a number of bytes is about to be looked at, and tells whether that is still allowed.
func (e *Effort) Spend(bytes int) bool {
	if e.most == 0 {
		return true
	}
	if e.looked += bytes; e.looked < e.next || e.spent {
		return !e.spent
	}
	e.next = e.looked + freeBytes
	if !e.running {
		runtime.LockOSThread()
		e.running, e.began = true, cputime.Thread()
	}
	e.spent = e.used+cputime.Thread()-e.began > e.most
	return !e.spent
}

// Spent tells whether something was not tested any more.
func (e *Effort) Spent() bool { return e.spent }

// End lets the goroutine change its thread again. What was used stays used.
func (e *Effort) End() {
	if !e.running {
		return
	}
	e.used += cputime.Thread() - e.began
	e.running = false
	runtime.UnlockOSThread()
}

// Try runs a test. One that is given up, as a part of it takes too long, does not hold, and what was allowed is spent.
func (e *Effort) Try(test func() bool) (holds bool) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, errCostly) {
				panic(r)
			}
			holds, e.spent = false, true
		}
	}()
	return test()
}
