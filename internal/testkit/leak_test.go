package testkit_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mockbase/mockbase/internal/testkit"
)

func TestLeavesNoGoroutine_waits_for_those_that_end(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	report := judge(t, func(v *verdict) {
		testkit.LeavesNoGoroutine(v)
		go func() {
			defer close(ended)
			<-release
		}()
		v.Cleanup(func() { close(release) })
	})
	<-ended
	if report != "" {
		t.Errorf("it complained: %s", report)
	}
}

func TestLeavesNoGoroutine_shows_the_stack_of_one_that_stays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		report := judge(t, func(v *verdict) {
			testkit.LeavesNoGoroutine(v)
			go waitForEver(release)
		})
		close(release)
		if !strings.Contains(report, "1 goroutines are left") || !strings.Contains(report, "waitForEver") {
			t.Errorf("it said %q", report)
		}
	})
}

func waitForEver(release chan struct{}) { <-release }

func TestEventually_looks_until_it_holds(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	testkit.Eventually(t, "the third look", func() bool { return looks.Add(1) == 3 })
	if n := looks.Load(); n != 3 {
		t.Errorf("looked %d times", n)
	}
}

func TestEventually_gives_up_with_the_name_of_what_it_waited_for(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		report := judge(t, func(v *verdict) {
			testkit.Eventually(v, "godot", func() bool { return false })
		})
		if !strings.Contains(report, "in vain for godot") {
			t.Errorf("it said %q", report)
		}
	})
}
