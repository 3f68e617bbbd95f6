package cputime_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/cputime"
)

func TestThread_counts_work_and_no_waiting(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := cputime.Thread()
	<-time.After(60 * time.Millisecond)
	if spent := cputime.Thread() - before; spent > 50*time.Millisecond {
		t.Errorf("waiting took %s", spent)
	}
	before = cputime.Thread()
	for until := time.Now().Add(100 * time.Millisecond); time.Now().Before(until); {
		runtime.Gosched()
	}
	if cputime.Thread() <= before {
		t.Error("work took nothing")
	}
}
