package redisstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// RL53: no timer says when a flight leaves. Before a long trip it lets others come as long as they do; a short one is over
// before that has paid off.
func TestRL53_a_flight_waits_for_others_only_before_a_long_trip_and_while_they_come(t *testing.T) {
	t.Parallel()
	far, near := 2*time.Millisecond, 200*time.Microsecond
	for _, c := range []struct {
		name            string
		waiting, before int
		trips           []time.Duration
		want            bool
	}{
		{name: "no trip is known", waiting: 8},
		{name: "more have come before a long trip", waiting: 8, before: 7, trips: []time.Duration{far}, want: true},
		{name: "none has come since", waiting: 8, before: 8, trips: []time.Duration{far}},
		{name: "nobody waits", trips: []time.Duration{far}},
		{name: "the flight is full", waiting: 256, before: 100, trips: []time.Duration{far}},
		{name: "a short trip", waiting: 8, trips: []time.Duration{near}},
		{name: "a short trip among long ones", waiting: 8, trips: []time.Duration{far, near, far, far}},
		{name: "a server that has gone far away", waiting: 8, trips: append([]time.Duration{near}, slices.Repeat([]time.Duration{far}, 100)...), want: true},
		{name: "a server that has come near again", waiting: 8, trips: []time.Duration{far, far, near}},
	} {
		if got := redisstore.Gathered(c.waiting, c.before, c.trips...); got != c.want {
			t.Errorf("%s: lets others come is %t, want %t", c.name, got, c.want)
		}
	}
}
