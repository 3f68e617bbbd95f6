package simlimit_test

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
)

// FuzzPolicy compiles policies of any numbers. One that compiles decides without a fault, never leaves less than nothing, and
// admits who waits as long as it says.
func FuzzPolicy(f *testing.F) {
	f.Add("fixed_window", "clock", "dry_run", int64(5), int64(time.Second), int64(0), int64(2), int64(1), 3, int64(1), int64(1))
	f.Add("gcra", "", "", int64(1), int64(time.Hour), int64(7), int64(7), int64(7), 0, int64(0), int64(0))
	f.Add("sliding_window", "", "", int64(1)<<40, int64(1), int64(-1), int64(-1), int64(1)<<62, 10_001, int64(-1), int64(1)<<62)
	f.Add("concurrency", "first_request", "", int64(2), int64(time.Minute), int64(0), int64(0), int64(1), 1, int64(time.Hour), int64(time.Hour))
	f.Add("sliding_log", "", "", int64(3), int64(time.Millisecond), int64(0), int64(3), int64(2), 0, int64(0), int64(0))
	f.Fuzz(func(t *testing.T, algorithm, align, mode string, limit, window, burst, used, cost int64, after int, within, lasts int64) {
		p := &mockbase.LimitPolicy{
			Algorithm: algorithm, Align: align, Mode: mode, Limit: limit, Window: time.Duration(window), InitialUsed: max(0, used),
		}
		if burst != 0 {
			p.Burst = &burst
		}
		if after > 0 {
			p.Ban = &mockbase.LimitBan{After: after, Within: time.Duration(within), For: time.Duration(lasts)}
		}
		var faults mockbase.Faults
		l := simlimit.Compile(p, simlimit.OwnPlace("mck_1", "a", 0), "#", &faults)
		if (l == nil) != (faults.Len() > 0) {
			t.Fatalf("compiled %v with %v", l, faults.Err())
		}
		if l == nil || limit < 0 {
			return
		}
		b := newBench(t)
		for range 4 {
			asked := asks("k", max(0, cost), l)
			foreseen, _ := b.Foresee(b.now, asked)
			r := b.Ask(b.now, asked)
			r.Settle()
			if foreseen.Admitted != r.Admitted {
				t.Fatalf("foreseen %+v, said %+v", foreseen.Outcomes, r.Outcomes)
			}
			if o := r.Told(); o != nil && (o.Remaining < 0 || o.Remaining > o.Limit || o.Reset < 0) {
				t.Fatalf("told %+v", o)
			}
			r.Release()
			d := r.Decided()
			if d == nil || d.RetryAfter < 0 || d.RetryAfter > 24*time.Hour {
				continue
			}
			b.now = b.now.Add(d.RetryAfter)
			if again := b.Ask(b.now, asked); !again.Admitted {
				t.Fatalf("refused after %s: %+v", d.RetryAfter, again.Outcomes)
			}
		}
	})
}
