package testkit_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
)

// slowTest stands for a test that Bounded fails.
type slowTest struct {
	testing.TB
	failed bool
}

func (*slowTest) Helper()                 {}
func (s *slowTest) Errorf(string, ...any) { s.failed = true }

func TestBounded_counts_processor_time_and_no_waiting(t *testing.T) {
	t.Parallel()
	waits := &slowTest{TB: t}
	testkit.Bounded(waits, 50*time.Millisecond, func() { <-time.After(60 * time.Millisecond) })
	if waits.failed {
		t.Error("waiting was counted")
	}
	works := &slowTest{TB: t}
	testkit.Bounded(works, time.Millisecond, func() { spin(t, 100*time.Millisecond) })
	if !works.failed {
		t.Error("work was not counted")
	}
}

func TestFastest_is_the_least_of_all_rounds(t *testing.T) {
	t.Parallel()
	rounds := 0
	least := testkit.Fastest(3, func() {
		if rounds++; rounds != 2 {
			spin(t, 50*time.Millisecond)
		}
	})
	if rounds != 3 || least < 0 || least > 40*time.Millisecond {
		t.Errorf("%d rounds, the fastest took %s", rounds, least)
	}
}

// spin keeps its thread busy until the clock on the wall has gone on by d.
func spin(t *testing.T, d time.Duration) {
	t.Helper()
	for until := time.Now().Add(d); time.Now().Before(until); {
		if t.Context().Err() != nil {
			return
		}
	}
}
