package ratelimit_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// story plays checks at instants behind newYear and compares what each leaves.
func story(t *testing.T, p *ratelimit.Policy, lines []line) {
	t.Helper()
	var state ratelimit.State
	for i, l := range lines {
		var d ratelimit.Decision
		state, d = ratelimit.Step(p, state, yearBegins.Add(l.after), l.cost)
		if d.Allowed != l.allowed || d.Remaining != l.left || d.RetryAfter != l.retry || d.Reset != l.reset {
			t.Errorf("check %d after %s, cost %d: allowed %t, %d left, retry %s, reset %s; want %+v",
				i+1, l.after, l.cost, d.Allowed, d.Remaining, d.RetryAfter, d.Reset, l)
		}
	}
}

type line struct {
	after        time.Duration
	cost         int64
	allowed      bool
	left         int64
	retry, reset time.Duration
}

// yearBegins lies at the beginning of a minute.
var yearBegins = time.Unix(1_767_225_600, 0)

func TestRL22_the_start_of_a_window_belongs_to_it_and_its_end_does_not(t *testing.T) {
	t.Parallel()
	const minute, tick = time.Minute, time.Microsecond
	story(t, clock(2, minute), []line{
		{0, 1, true, 1, 0, minute},
		{minute - tick, 1, true, 0, 0, tick},
		{minute - tick, 1, false, 0, tick, tick},
		{minute, 1, true, 1, 0, minute},
		{minute - tick, 0, true, 0, 0, tick}, // The window before is still known.
	})
}

func TestRL8_waits_are_the_smallest_that_help(t *testing.T) {
	t.Parallel()
	const second, tick = time.Second, time.Microsecond
	story(t, of(ratelimit.TokenBucket, 3, 10*second), []line{
		{0, 3, true, 0, 0, 10 * second},
		{0, 1, false, 0, 3_333_334 * tick, 10 * second}, // A third of ten seconds, rounded up to the tick.
		{3_333_333 * tick, 1, false, 0, tick, 6_666_667 * tick},
		{3_333_334 * tick, 1, true, 0, 0, 10 * second},
	})
	story(t, of(ratelimit.SlidingLog, 1, 10*second), []line{
		{0, 1, true, 0, 0, 10*second + tick},
		{10 * second, 1, false, 0, tick, tick}, // Exactly one window old, an entry still counts.
		{10*second + tick, 1, true, 0, 0, 10*second + tick},
	})
}

func TestRL27_a_window_opens_with_the_first_check_that_counts(t *testing.T) {
	t.Parallel()
	const second = time.Second
	story(t, first(2, 10*second), []line{
		{0, 0, true, 2, 0, 0},                         // A peek opens nothing,
		{1 * second, 3, false, 0, ratelimit.Never, 0}, // nor does what is impossible.
		{3 * second, 1, true, 1, 0, 10 * second},
		{4 * second, 2, false, 1, 9 * second, 9 * second}, // A denied check is not counted.
		{5 * second, 1, true, 0, 0, 8 * second},
		{2 * second, 1, false, 0, 11 * second, 11 * second}, // Before its start, it is judged at its start.
		{13 * second, 2, true, 0, 0, 10 * second},           // The end belongs to the next window.
	})
}

func TestRL28_a_sliding_window_weighs_the_one_before(t *testing.T) {
	t.Parallel()
	const second = time.Second
	story(t, of(ratelimit.SlidingWindow, 10, 10*second), []line{
		{9 * second, 10, true, 0, 0, 11 * second},
		{10 * second, 1, false, 0, second, 10 * second}, // All ten of the window before still weigh in full.
		{11 * second, 1, true, 0, 0, 19 * second},
		{11*second + 999_999*time.Microsecond, 1, false, 0, time.Microsecond, 19*second - 999_999*time.Microsecond}, // In whole milliseconds, which errs to the strict side.
		{12 * second, 1, true, 0, 0, 18 * second},
	})
}
