package testkit

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// How long and how often Eventually looks, and how often those look that look at every goroutine.
const (
	eventuallyPatience = 30 * time.Second
	eventuallyPause    = 2 * time.Millisecond
	leakPause          = 50 * time.Millisecond
)

// Eventually waits until condition holds, looking every two milliseconds, and ends the test with the name of what it
// waited for if that takes longer than thirty seconds. It is for what happens on another goroutine, behind a real socket;
// what can be waited for on a channel needs no looking.
func Eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	if !poll(eventuallyPause, condition) {
		tb.Fatalf("waited %v in vain for %s", eventuallyPatience, what)
	}
}

func poll(pause time.Duration, condition func() bool) bool {
	end := time.NewTimer(eventuallyPatience)
	defer end.Stop()
	look := time.NewTicker(pause)
	defer look.Stop()
	for {
		if condition() {
			return true
		}
		select {
		case <-look.C:
		case <-end.C:
			return condition()
		}
	}
}

// LeavesNoGoroutine fails the test if, at its end, goroutines run that did not when it was called. It waits for those
// that are about to end. Call it first, so that it looks after every other Cleanup; the test must not run in parallel
// with others, whose goroutines would be taken for its own.
func LeavesNoGoroutine(tb testing.TB) {
	tb.Helper()
	before := goroutines()
	tb.Cleanup(func() {
		var left []string
		gone := poll(leakPause, func() bool {
			left = newGoroutines(before)
			return len(left) == 0
		})
		if !gone {
			tb.Errorf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	})
}

func newGoroutines(before map[string]string) []string {
	var left []string
	for id, stack := range goroutines() {
		if _, was := before[id]; !was {
			left = append(left, stack)
		}
	}
	return left
}

// goroutines returns the stack of every goroutine by its id, save those of package testing and the runtime.
func goroutines() map[string]string {
	buffer := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buffer, true)
		if n < len(buffer) {
			buffer = buffer[:n]
			break
		}
		buffer = make([]byte, 2*len(buffer))
	}
	all := map[string]string{}
	for stack := range bytes.SplitSeq(buffer, []byte("\n\n")) {
		id, rest, ok := strings.Cut(strings.TrimPrefix(string(stack), "goroutine "), " ")
		if ok && !ofTheTestRunner(rest) {
			all[id] = string(stack)
		}
	}
	return all
}

func ofTheTestRunner(stack string) bool {
	for _, name := range []string{"testing.tRunner(", "testing.(*T).Run(", "testing.(*M).", "os/signal.signal_recv("} {
		if strings.Contains(stack, "\n"+name) {
			return true
		}
	}
	return false
}

// VerifyNoLeaks is [goleak.VerifyTestMain] for a machine that is busy: what is about to end has thirty seconds for it and
// not half of one. A TestMain calls it last, since it ends the process.
func VerifyNoLeaks(m *testing.M) { goleak.VerifyTestMain(patientRun{m}) }

// patientRun runs tests and waits until the goroutines that they began have ended.
type patientRun struct{ tests *testing.M }

// Run returns the exit code of the tests.
func (r patientRun) Run() int {
	code := r.tests.Run()
	if code == 0 {
		poll(leakPause, func() bool { return goleak.Find() == nil })
	}
	return code
}
