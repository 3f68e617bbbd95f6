package redisstore_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// everyKind is a policy of each kind of state, and as many requests for one client.
func everyKind(limit int64) []ratelimit.Request {
	var requests []ratelimit.Request
	for _, p := range []*ratelimit.Policy{
		{Limit: limit, Window: time.Minute},
		{Limit: limit, Window: time.Minute, Align: ratelimit.AlignFirstRequest},
		{Limit: limit, Window: time.Minute, Algorithm: ratelimit.SlidingWindow},
		{Limit: limit, Window: time.Minute, Algorithm: ratelimit.SlidingLog},
		{Limit: limit, Window: time.Minute, Algorithm: ratelimit.TokenBucket},
		{Limit: limit, Window: time.Minute, Algorithm: ratelimit.Concurrency},
	} {
		requests = append(requests, ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt, Lease: "lease"})
	}
	return requests
}

func remaining(decisions []ratelimit.Decision) []int64 {
	left := make([]int64, 0, len(decisions))
	for _, d := range decisions {
		left = append(left, d.Remaining)
	}
	return left
}

func TestRL62_several_tiers_are_one_round_trip(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requests := everyKind(9)
	decisions := make([]ratelimit.Decision, len(requests))
	trips := d.roundTrips(t, func() {
		for range 3 {
			if judged, err := d.TakeInOrder(t.Context(), requests, decisions); judged != len(requests) || err != nil {
				t.Fatalf("%d judged, %v", judged, err)
			}
		}
	})
	if trips != 3 || d.calls(t)["evalsha"] != 3 {
		t.Errorf("three times six checks took %d round trips: %v", trips, d.calls(t))
	}
	if diff := cmp.Diff([]int64{6, 6, 6, 6, 6, 8}, remaining(decisions)); diff != "" {
		t.Errorf("remaining (-want +got):\n%s", diff)
	}
	everyKeyEnds(t, d.server)
}

func TestRL14_what_comes_after_a_denial_is_not_counted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for last := range 5 {
		d.server.Do("FLUSHALL")
		requests := everyKind(9)
		decisions := make([]ratelimit.Decision, len(requests))
		requests[last].Cost = 9
		for range 2 {
			if _, err := d.TakeInOrder(t.Context(), requests, decisions); err != nil {
				t.Fatal(err)
			}
		}
		judged, err := d.TakeInOrder(t.Context(), requests, decisions)
		if judged != last+1 || err != nil || decisions[last].Allowed || decisions[last].RetryAfter <= 0 {
			t.Errorf("%d denies: %d judged, %v: %+v", last, judged, err, decisions[last])
		}
		for i := range requests {
			requests[i].Cost = 0
		}
		if _, err := d.TakeInOrder(t.Context(), requests, decisions); err != nil {
			t.Fatal(err)
		}
		for i, got := range remaining(decisions) {
			want := int64(8) // Once, before anything was denied.
			switch {
			case i == last:
				want = 0
			case i < last:
				want = 6
			}
			if got != want {
				t.Errorf("%d denies: %d of %d left, want %d", last, got, i, want)
			}
		}
	}
}

func TestRL14_a_tier_that_fails_leaves_the_others_judged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requests := everyKind(9)
	decisions := make([]ratelimit.Decision, len(requests))
	d.server.Do("SET", "ratelimit:engine:203.0.113.9:sl", "x")
	judged, err := d.TakeInOrder(t.Context(), requests, decisions)
	if judged != 3 || !errors.Is(err, ratelimit.ErrStoreData) {
		t.Errorf("%d judged, %v, want the fourth to fail", judged, err)
	}
	if got := d.check(t, requests[0].Policy, 0).Remaining; got != 8 {
		t.Errorf("%d left of the first, want it counted once", got)
	}
}

func TestRL61_a_denial_that_is_known_ends_an_order_without_Redis(t *testing.T) {
	t.Parallel()
	server := newDesk(t).server
	now := time.Now().Truncate(time.Hour).Add(30 * time.Minute)
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient},
		Clock:  func() time.Time { return now }, ProbeInterval: time.Minute,
	})
	requests := everyKind(1)[:3]
	for i := range requests {
		requests[i].Policy.Window, requests[i].Now = time.Hour, time.Time{}
	}
	requests[0].Policy.Limit = 2
	decisions := make([]ratelimit.Decision, len(requests))
	slices.Reverse(requests) // The window on the clock comes last, and denies first.
	requests[2].Cost = 2
	requests[0].Policy.Limit, requests[1].Policy.Limit = 10, 10
	for i, want := range []bool{true, false, false} {
		server.ResetCommandCalls()
		judged, err := s.TakeInOrder(t.Context(), requests, decisions)
		if judged != 3 || err != nil || decisions[2].Allowed != want {
			t.Fatalf("round %d: %d judged, %v: %+v", i, judged, err, decisions)
		}
		if calls := server.CommandCalls(); i == 2 && calls["incrby"] > 0 {
			t.Errorf("a denial that is known was asked for: %v", calls)
		}
	}
	if got := remaining(decisions); got[0] != 7 || got[1] != 7 {
		t.Errorf("%v left, want each of the others counted three times", got)
	}
	requests = requests[2:]
	server.ResetCommandCalls()
	if judged, err := s.TakeInOrder(t.Context(), requests, decisions); judged != 1 || err != nil || decisions[0].Allowed {
		t.Errorf("%d judged, %v: %+v", judged, err, decisions[0])
	}
	if calls := server.CommandCalls(); calls["evalsha"]+calls["incrby"] > 0 {
		t.Errorf("commands = %v, want none", calls)
	}
}

func TestRL143_all_or_none_is_one_round_trip(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requests := everyKind(9)
	decisions := make([]ratelimit.Decision, len(requests))
	trips := d.roundTrips(t, func() {
		for _, costs := range []struct{ first, last int64 }{{1, 1}, {9, 1}, {1, 9}} {
			requests[0].Cost, requests[4].Cost = costs.first, costs.last
			if err := d.TakeAll(t.Context(), requests, decisions); err != nil {
				t.Fatal(err)
			}
		}
	})
	if trips != 3 || d.calls(t)["evalsha"] != 3 {
		t.Errorf("three times six checks took %d round trips: %v", trips, d.calls(t))
	}
	if diff := cmp.Diff([]int64{8, 8, 8, 8, 8, 8}, remaining(decisions)); diff != "" {
		t.Errorf("remaining (-want +got):\n%s", diff)
	}
	if decisions[4].Allowed || !decisions[0].Allowed || decisions[0].RetryAfter != 0 {
		t.Errorf("the one that denies: %+v, another: %+v", decisions[4], decisions[0])
	}
	everyKeyEnds(t, d.server)
}

func TestRL143_what_a_cluster_cannot_charge_together_is_refused(t *testing.T) {
	t.Parallel()
	s := freshCluster(t)(t)
	requests := everyKind(9)
	decisions := make([]ratelimit.Decision, len(requests))
	if err := s.TakeAll(t.Context(), requests, decisions); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("six keys without a tag: %v, want ErrConfig", err)
	}
	if err := s.TakeAll(t.Context(), requests[:1], decisions); err != nil || decisions[0].Remaining != 8 {
		t.Errorf("one key without a tag: %+v, %v", decisions[0], err)
	}
	for i := range 20 {
		part := tagged(t, s, "shop/"+strconv.Itoa(i))
		if err := part.TakeAll(t.Context(), requests, decisions); err != nil || decisions[0].Remaining != 8 {
			t.Errorf("six keys with a tag: %+v, %v", decisions[0], err)
		}
		if judged, err := part.TakeInOrder(t.Context(), requests, decisions); err != nil || judged != 6 || decisions[0].Remaining != 7 {
			t.Errorf("in order: %d judged, %+v, %v", judged, decisions[0], err)
		}
	}
	if s.Available() != nil {
		t.Errorf("health = %+v, want no blame for Redis", s.Health())
	}
}

func TestRL121_tagged_keys_are_written_as_published(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	part := tagged(t, d.Store, "01H/02J")
	r := everyKind(9)[1]
	if _, err := part.Take(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := d.server.Do("KEYS", "*ff"); got != "ratelimit:{01H/02J}:engine:203.0.113.9:ff" {
		t.Errorf("key = %q", got)
	}
	if got := d.check(t, r.Policy, 0).Remaining; got != 9 {
		t.Errorf("%d left without the tag, want it untouched", got)
	}
	for _, bad := range []string{"", "a b", "{a}", "h_a"} {
		if _, err := d.Tagged(bad, 0); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("tag %q: %v, want ErrConfig", bad, err)
		}
	}
}

func TestRL60_RL126_keys_of_a_session_live_as_long_as_it(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	session, err := d.Tagged("shop/session", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	requests := everyKind(9)
	for round := range 3 { // Alone, in order, and together.
		d.server.Do("FLUSHALL")
		switch round {
		case 0:
			for _, r := range requests {
				if _, err := session.Take(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
		case 1:
			if _, err := session.TakeInOrder(t.Context(), requests, make([]ratelimit.Decision, len(requests))); err != nil {
				t.Fatal(err)
			}
		default:
			if err := session.TakeAll(t.Context(), requests, make([]ratelimit.Decision, len(requests))); err != nil {
				t.Fatal(err)
			}
		}
		keys := strings.Fields(d.server.Do("KEYS", "ratelimit:{shop/session}:*"))
		if len(keys) != len(requests) {
			t.Errorf("keys = %q, want %d", keys, len(requests))
		}
		for _, key := range keys {
			livesFor(t, d.server, key, time.Hour)
		}
	}
	for _, bad := range []time.Duration{-1, ratelimit.MaxWindow + 1} {
		if _, err := d.Tagged("shop/session", bad); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("a life of %s: %v, want ErrConfig", bad, err)
		}
	}
}
