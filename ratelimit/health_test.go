package ratelimit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func TestRL69_health_says_what_readiness_shows(t *testing.T) {
	t.Parallel()
	for _, mode := range []ratelimit.Mode{ratelimit.FailOpen, ratelimit.FailMemory, ratelimit.FailClosed} {
		b := newBench(t, mode, nil)
		b.now = b.now.Add(time.Minute)
		b.store.err = errRefused
		for range 3 {
			b.check(t, clock(9, time.Hour), 1)
		}
		want := ratelimit.Health{
			Name: "shield", Degraded: true, Mode: mode, Since: b.now, Reason: ratelimit.ReasonUnavailable, LastError: errRefused.Error(), Checks: 3, Total: 3,
		}
		if got := b.Health(); got != want {
			t.Errorf("%s: %+v, want %+v", mode, got, want)
		}
	}
}

func TestRL4_RL20_policies_that_make_no_sense_name_the_field_and_the_fix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    ratelimit.Policy
		want string
	}{
		"limit below zero":     {ratelimit.Policy{Limit: -1, Window: time.Second}, "limit"},
		"no window":            {ratelimit.Policy{Limit: 1}, "window"},
		"a burst below one":    {ratelimit.Policy{Algorithm: ratelimit.GCRA, Limit: 1, Window: time.Second, Burst: -1}, "burst"},
		"an unknown algorithm": {ratelimit.Policy{Algorithm: "dice", Limit: 1, Window: time.Second}, "algorithm"},
	} {
		invalid, ok := errors.AsType[*ratelimit.PolicyError](c.p.Validate())
		if !ok || !errors.Is(invalid, ratelimit.ErrConfig) || len(invalid.Faults) != 1 || invalid.Faults[0].Field != c.want || invalid.Faults[0].Detail == "" {
			t.Errorf("%s: %+v, want a fault of %s", name, invalid, c.want)
		}
	}
	_, err := ratelimit.ParseRules("100/fortnight")
	if wrong, ok := errors.AsType[*ratelimit.RuleError](err); !ok || wrong.Offset != 4 || wrong.Reason == "" {
		t.Errorf("100/fortnight: %v, want the place and the fix", err)
	}
}
