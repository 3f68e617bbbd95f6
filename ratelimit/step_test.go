package ratelimit_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func at(ms int64) time.Time { return time.UnixMilli(ms) }

func clock(limit int64, window time.Duration) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "clock", Limit: limit, Window: window}
}

func first(limit int64, window time.Duration) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "first", Limit: limit, Window: window, Align: ratelimit.AlignFirstRequest}
}

func TestRL136_Step_gives_every_published_vector(t *testing.T) {
	t.Parallel()
	for _, v := range storetest.Published(t).Vectors {
		if v.Policy().Algorithm == ratelimit.Concurrency {
			continue // Judged by leases: see below.
		}
		states := map[string]ratelimit.State{}
		for i, r := range v.Requests("engine") {
			state, d := ratelimit.Step(r.Policy, states[r.Key.Identifier], r.Now, r.Cost)
			states[r.Key.Identifier] = state
			if got := storetest.Expected(d); got != v.Steps[i].Expect {
				t.Errorf("%v, step %d:\n got %+v\nwant %+v", &v, i, got, v.Steps[i].Expect)
			}
		}
	}
}

func TestRL136_Judge_gives_every_published_vector_of_leases(t *testing.T) {
	t.Parallel()
	judged := 0
	for _, v := range storetest.Published(t).Vectors {
		if v.Policy().Algorithm != ratelimit.Concurrency {
			continue
		}
		var state ratelimit.State
		for i, r := range v.Requests("engine") {
			switch v.Steps[i].Op {
			case "release":
				state.Release(r.Lease)
				r.Cost = 0
			case "renew":
				if !state.Renew(&r) {
					t.Errorf("%v, step %d: no lease to renew", &v, i)
				}
				r.Cost = 0
			}
			var d ratelimit.Decision
			ratelimit.Judge(&r, &state, &d)
			if got := storetest.Expected(d); got != v.Steps[i].Expect {
				t.Errorf("%v, step %d:\n got %+v\nwant %+v", &v, i, got, v.Steps[i].Expect)
			}
			judged++
		}
	}
	if judged == 0 {
		t.Error("no vector was judged")
	}
}

func TestRL2_the_zero_state_is_told_apart_from_a_state_at_the_epoch(t *testing.T) {
	t.Parallel()
	var untouched ratelimit.State
	for _, p := range []*ratelimit.Policy{clock(1, time.Minute), first(1, time.Minute)} {
		state, _ := ratelimit.Step(p, untouched, at(0), 1)
		if state.IsZero() || !untouched.IsZero() {
			t.Errorf("%s: a state after a check at instant 0 counts as zero: %t", p.Name, state.IsZero())
		}
		if _, d := ratelimit.Step(p, state, at(0), 1); d.Allowed {
			t.Errorf("%s: the state at instant 0 was forgotten", p.Name)
		}
	}
}

func TestRL5_RL6_what_changes_a_state(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		p       *ratelimit.Policy
		cost    int64
		changes bool
	}{
		{"clock: an allowed check", clock(9, time.Minute), 1, true},
		{"clock: a denied check is counted", clock(9, time.Minute), 9, true},
		{"clock: a peek", clock(9, time.Minute), 0, false},
		{"clock: an impossible cost", clock(9, time.Minute), 10, false},
		{"clock: misuse", clock(9, time.Minute), -1, false},
		{"first: an allowed check", first(9, time.Minute), 1, true},
		{"first: a denied check", first(9, time.Minute), 9, false},
		{"first: a peek", first(9, time.Minute), 0, false},
		{"first: an impossible cost", first(9, time.Minute), 10, false},
		{"first: misuse", first(9, time.Minute), math.MinInt64, false},
	} {
		state, _ := ratelimit.Step(c.p, ratelimit.State{}, at(1000), 5)
		before := state
		after, d := ratelimit.Step(c.p, state, at(2000), c.cost)
		if (after != state) != c.changes || state != before {
			t.Errorf("%s: state changed: %t, want %t (%+v)", c.name, after != state, c.changes, d)
		}
	}
}

func TestRL12_RL16_states_that_no_longer_fit_are_forgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		before, now *ratelimit.Policy
		at, later   int64
	}{
		{"another window", clock(3, time.Minute), clock(3, time.Hour), 0, 0},
		{"another alignment", clock(3, time.Minute), first(3, time.Minute), 0, 0},
		{"the alignment changed back", first(3, time.Minute), clock(3, time.Minute), 0, 0},
		{"the clock went back by two windows", clock(3, time.Minute), clock(3, time.Minute), 120_000, 59_999},
		{"the clock went forward by two windows", clock(3, time.Minute), clock(3, time.Minute), 0, 120_000},
		{"the clock went back by more than the horizon", first(3, time.Minute), first(3, time.Minute), 60_001, 0},
		{"the window is over", first(3, time.Minute), first(3, time.Minute), 0, 60_000},
	} {
		state, _ := ratelimit.Step(c.before, ratelimit.State{}, at(c.at), 3)
		if _, d := ratelimit.Step(c.now, state, at(c.later), 0); d.Remaining != 3 || d.Reset != 0 || d.Next != 0 {
			t.Errorf("%s: peek %+v, want a full limit", c.name, d)
		}
		if _, d := ratelimit.Step(c.now, state, at(c.later), 3); !d.Allowed {
			t.Errorf("%s: %+v, want a fresh state", c.name, d)
		}
	}
	// Exactly the horizon is still inside it.
	state, _ := ratelimit.Step(first(3, time.Minute), ratelimit.State{}, at(60_000), 3)
	if _, d := ratelimit.Step(first(3, time.Minute), state, at(0), 1); d.Allowed || d.RetryAfter != 2*time.Minute {
		t.Errorf("the clock went back by exactly the horizon: %+v, want it judged at the window's start", d)
	}
}

func TestRL16_a_peek_into_the_window_before_reads_its_count(t *testing.T) {
	t.Parallel()
	p := clock(5, time.Minute)
	state, _ := ratelimit.Step(p, ratelimit.State{}, at(0), 2)
	state, _ = ratelimit.Step(p, state, at(60_000), 1)
	if _, d := ratelimit.Step(p, state, at(59_999), 0); d.Remaining != 3 {
		t.Errorf("%+v, want the 2 of the window before to be counted", d)
	}
}

func TestRL17_instants_are_cut_toward_minus_infinity(t *testing.T) {
	t.Parallel()
	p := clock(1, time.Second)
	justBefore := time.Unix(0, -1) // A nanosecond before the epoch lies in the tick before it.
	if _, d := ratelimit.Step(p, ratelimit.State{}, justBefore, 1); d.Reset != time.Microsecond {
		t.Errorf("a nanosecond before the window's end: reset %v, want one tick", d.Reset)
	}
	if _, d := ratelimit.Step(p, ratelimit.State{}, time.Unix(0, 999), 1); d.Reset != time.Second {
		t.Errorf("within the first tick: reset %v, want the whole window", d.Reset)
	}
}

func TestRL24_counts_saturate(t *testing.T) {
	t.Parallel()
	p := clock(ratelimit.MaxLimit, time.Minute)
	state := ratelimit.State{}
	var d ratelimit.Decision
	for range 1100 {
		state, d = ratelimit.Step(p, state, at(0), ratelimit.MaxLimit)
	}
	if d.Allowed || d.Remaining != 0 {
		t.Errorf("after 1,100 times the largest limit: %+v", d)
	}
	if d := ratelimit.Counted(p, math.MaxInt64, 1, at(17_000)); d.Allowed || d.RetryAfter != 43*time.Second {
		t.Errorf("a counter at its end: %+v, want it denied until the window is over", d)
	}
}

func TestRL23_Counted_judges_as_Step_does(t *testing.T) {
	t.Parallel()
	p := clock(10, time.Minute)
	state := ratelimit.State{}
	counted := int64(0)
	for i, cost := range []int64{0, 8, 0, 5, 1, 10, 0} {
		var want ratelimit.Decision
		state, want = ratelimit.Step(p, state, at(17_001), cost)
		counted += cost
		if got := ratelimit.Counted(p, counted, cost, at(17_001)); got != want {
			t.Errorf("check %d of cost %d:\n got %+v\nwant %+v", i, cost, got, want)
		}
	}
}

func TestRL1_Step_refuses_what_it_cannot_judge(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*ratelimit.Policy{
		"no policy":         nil,
		"negative limit":    {Limit: -1, Window: time.Minute},
		"limit too large":   {Limit: ratelimit.MaxLimit + 1, Window: time.Minute},
		"no window":         {Limit: 1},
		"negative window":   {Limit: 1, Window: -time.Minute},
		"short window":      {Limit: 1, Window: time.Microsecond},
		"long window":       {Limit: 1, Window: math.MaxInt64},
		"another's align":   {Algorithm: ratelimit.TokenBucket, Limit: 1, Window: time.Minute, Align: ratelimit.AlignClock},
		"another's burst":   {Algorithm: ratelimit.SlidingWindow, Limit: 1, Window: time.Minute, Burst: 1},
		"too fine a meter":  {Algorithm: ratelimit.GCRA, Limit: 7, Window: ratelimit.MaxWindow, Burst: 1_000_000},
		"too fine a window": {Algorithm: ratelimit.SlidingWindow, Limit: 1 << 52, Window: time.Millisecond},
		"too long a log":    {Algorithm: ratelimit.SlidingLog, Limit: ratelimit.MaxRemembered + 1, Window: time.Minute},
		"unknown algorithm": {Algorithm: "dice", Limit: 1, Window: time.Minute},
	} {
		state, d := ratelimit.Step(p, ratelimit.State{}, at(0), 1)
		if d.Allowed || d.RetryAfter != ratelimit.Never || !state.IsZero() || d.Policy != p {
			t.Errorf("%s: %+v, want it denied for ever", name, d)
		}
		if _, settled, err := ratelimit.Settle(p, 1); settled || !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: settled %t, %v, want ErrConfig", name, settled, err)
		}
	}
}

func TestRL4_validate_reports_all_faults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		p    ratelimit.Policy
		want []string
	}{
		{"RL3 the zero policy", ratelimit.Policy{}, nil},
		{"limit 0 with a window", ratelimit.Policy{Window: time.Minute}, nil},
		{"all members", ratelimit.Policy{Name: "a_-9", Algorithm: ratelimit.FixedWindow, Limit: ratelimit.MaxLimit, Window: ratelimit.MaxWindow, Align: ratelimit.AlignClock}, nil},
		{"the shortest window", ratelimit.Policy{Limit: 1, Window: time.Millisecond, Align: ratelimit.AlignFirstRequest}, nil},
		{"no window", ratelimit.Policy{Limit: 1}, []string{"window range"}},
		{"a negative window without a limit", ratelimit.Policy{Window: -time.Minute}, []string{"window range"}},
		{"a window of a part of a millisecond", ratelimit.Policy{Limit: 1, Window: 1500 * time.Microsecond}, []string{"window range"}},
		{"a window too long", ratelimit.Policy{Limit: 1, Window: ratelimit.MaxWindow + time.Millisecond}, []string{"window range"}},
		{"a burst without a meter", ratelimit.Policy{Limit: 1, Window: time.Minute, Burst: 1}, []string{"burst conflict"}},
		{"a meter", ratelimit.Policy{Algorithm: ratelimit.GCRA, Limit: 1, Window: time.Minute, Burst: 3}, nil},
		{"a meter of a bad burst", ratelimit.Policy{Algorithm: ratelimit.TokenBucket, Limit: 1, Window: time.Minute, Burst: -1}, []string{"burst range"}},
		{"the finest meter", ratelimit.Policy{Algorithm: ratelimit.LeakyBucket, Limit: 1, Window: time.Millisecond, Burst: (1<<53 - 1) / 1000}, nil},
		{"too fine a meter", ratelimit.Policy{Algorithm: ratelimit.LeakyBucket, Limit: 1, Window: time.Millisecond, Burst: 1<<53/1000 + 1}, []string{"window range"}},
		{"a large round meter", ratelimit.Policy{Algorithm: ratelimit.GCRA, Limit: 1 << 50, Window: 1 << 10 * time.Millisecond, Burst: 1 << 40}, nil},
		{"the largest sliding window", ratelimit.Policy{Algorithm: ratelimit.SlidingWindow, Limit: (1<<52 - 1) / 60_000, Window: time.Minute}, nil},
		{"too large a sliding window", ratelimit.Policy{Algorithm: ratelimit.SlidingWindow, Limit: 1<<52/60_000 + 1, Window: time.Minute}, []string{"window range"}},
		{"the longest log", ratelimit.Policy{Algorithm: ratelimit.SlidingLog, Limit: ratelimit.MaxRemembered, Window: ratelimit.MaxWindow}, nil},
		{"too long a log", ratelimit.Policy{Algorithm: ratelimit.SlidingLog, Limit: ratelimit.MaxRemembered + 1, Window: time.Minute}, []string{"limit range"}},
		{"too many places", ratelimit.Policy{Algorithm: ratelimit.Concurrency, Limit: ratelimit.MaxRemembered + 1, Window: time.Minute}, []string{"limit range"}},
		{
			"everything",
			ratelimit.Policy{Name: "A b", Algorithm: "dice", Limit: -1, Window: -1, Burst: -1, Align: "left"},
			[]string{"name pattern", "algorithm enum", "limit range", "window range", "burst range", "burst conflict", "align enum"},
		},
		{
			"too much",
			ratelimit.Policy{Name: strings.Repeat("a", 65), Algorithm: ratelimit.SlidingLog, Limit: 1 << 53, Burst: 1 << 53, Align: ratelimit.AlignClock},
			[]string{"name pattern", "limit range", "window range", "burst range", "burst conflict", "align conflict"},
		},
	} {
		err := c.p.Validate()
		var got []string
		if invalid, ok := errors.AsType[*ratelimit.PolicyError](err); ok {
			for _, fault := range invalid.Faults {
				got = append(got, fault.Field+" "+fault.Code)
				if fault.Detail == "" || !strings.Contains(err.Error(), fault.Field+": "+fault.Detail) {
					t.Errorf("%s: %v does not tell %+v", c.name, err, fault)
				}
			}
		}
		if strings.Join(got, ", ") != strings.Join(c.want, ", ") || (err != nil) != errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, err)
		}
	}
}

func TestRL4_shield_policies_have_names_and_whole_seconds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    ratelimit.Policy
		want string
	}{
		"the default":        {ratelimit.Policy{Name: "engine", Limit: 120, Window: time.Minute}, ""},
		"no limit":           {ratelimit.Policy{Name: "engine"}, ""},
		"no name":            {ratelimit.Policy{Limit: 1, Window: time.Minute}, "policy: name: "},
		"half a second":      {ratelimit.Policy{Name: "x", Limit: 1, Window: 500 * time.Millisecond}, `policy "x": window: 500ms is not whole seconds`},
		"faults of any kind": {ratelimit.Policy{Limit: -1, Window: 1}, "policy: limit: -1 is not in 0…9007199254740991; window: 1ns is not in 1ms…3653d; name: "},
	} {
		err := c.p.ValidateShield()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestRL13_a_decision_has_one_JSON_form(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]ratelimit.Decision{
		`{"allowed":false,"skipped":false,"limit":0,"remaining":0,"resetMs":0,"retryAfterMs":0,"nextMs":0,"degraded":"none","policy":""}`: {},
		`{"allowed":false,"skipped":false,"limit":3,"remaining":0,"resetMs":1,"retryAfterMs":-1,"nextMs":60001,"degraded":"memory","policy":"engine"}`: {
			Limit: 3, Reset: time.Microsecond, RetryAfter: ratelimit.Never, Next: time.Minute + time.Nanosecond,
			Degraded: ratelimit.Memory, Policy: &ratelimit.Policy{Name: "engine"},
		},
	} {
		got, err := json.Marshal(d)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
}

func TestRL13_degradations_are_written_by_name(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]ratelimit.Degradation{"none": ratelimit.None, "open": ratelimit.Open, "closed": ratelimit.Closed, "memory": ratelimit.Memory} {
		text, err := d.MarshalText()
		var back ratelimit.Degradation
		if err != nil || string(text) != want || back.UnmarshalText(text) != nil || back != d {
			t.Errorf("%s is written as %s, %v, and read as %v", want, text, err, back)
		}
	}
	var d ratelimit.Degradation
	if err := d.UnmarshalText([]byte("shut")); err == nil {
		t.Error("an unknown degradation was read")
	}
}

func TestRL116_retry_after_seconds_are_those_published(t *testing.T) {
	t.Parallel()
	for _, row := range storetest.Published(t).RetryAfter {
		seconds, ok := ratelimit.RetryAfterSeconds(time.Duration(row.WaitMs) * time.Millisecond)
		if ok != (row.Header != nil) || ok && strconv.FormatInt(seconds, 10) != *row.Header {
			t.Errorf("%d ms: %d, %t, want %v", row.WaitMs, seconds, ok, row.Header)
		}
	}
	if _, ok := ratelimit.RetryAfterSeconds(ratelimit.Never); ok {
		t.Error("a wait that never helps has a header")
	}
	if seconds, ok := ratelimit.RetryAfterSeconds(time.Nanosecond); !ok || seconds != 1 {
		t.Errorf("a nanosecond: %d, %t", seconds, ok)
	}
}

// A check that is plain is decided by no short cut and by no algorithm but the default one.
func TestRL3_RL7_what_is_plain_needs_a_state(t *testing.T) {
	t.Parallel()
	numbers := []int64{math.MinInt64, -1, 0, 1, 2, ratelimit.MaxLimit, ratelimit.MaxLimit + 1, math.MaxInt64}
	windows := []time.Duration{-1, 0, 1, ratelimit.MinWindow, time.Minute, ratelimit.MaxWindow, ratelimit.MaxWindow + 1, math.MaxInt64}
	for _, limit := range numbers {
		for _, cost := range numbers {
			for _, window := range windows {
				p := &ratelimit.Policy{Limit: limit, Window: window}
				_, settled, err := ratelimit.Settle(p, cost)
				if want := !settled && err == nil; ratelimit.Plain(p, cost) != want || ratelimit.NeedsState(p, cost) != want {
					t.Errorf("limit %d, window %d, cost %d: plain %t and in need %t, want %t",
						limit, window, cost, ratelimit.Plain(p, cost), ratelimit.NeedsState(p, cost), want)
				}
			}
		}
	}
	for _, p := range []*ratelimit.Policy{
		nil,
		{Limit: 1, Window: time.Second, Algorithm: ratelimit.GCRA},
		{Limit: 1, Window: time.Second, Align: ratelimit.AlignFirstRequest},
		{Limit: 1, Window: time.Second, Burst: 1},
	} {
		if ratelimit.Plain(p, 1) {
			t.Errorf("%+v is taken for plain", p)
		}
	}
}
