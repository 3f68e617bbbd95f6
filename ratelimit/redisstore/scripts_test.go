package redisstore_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

// byScript is a policy of each kind that a script judges, by the tail of its keys.
func byScript(limit int64, window time.Duration) map[string]*ratelimit.Policy {
	return map[string]*ratelimit.Policy{
		"ff": {Name: "ff", Limit: limit, Window: window, Align: ratelimit.AlignFirstRequest},
		"sw": {Name: "sw", Limit: limit, Window: window, Algorithm: ratelimit.SlidingWindow},
		"sl": {Name: "sl", Limit: limit, Window: window, Algorithm: ratelimit.SlidingLog},
		"me": {Name: "me", Limit: limit, Window: window, Algorithm: ratelimit.TokenBucket},
		"cc": {Name: "cc", Limit: limit, Window: window, Algorithm: ratelimit.Concurrency},
	}
}

// hold is a check of cost 1 under a lease of its own.
func (d desk) hold(t *testing.T, p *ratelimit.Policy, lease string) ratelimit.Decision {
	t.Helper()
	decision, err := d.Take(t.Context(), ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt, Lease: lease})
	if err != nil {
		t.Fatalf("%s: take: %v", p.Name, err)
	}
	return decision
}

func TestRL55_every_check_by_a_script_is_one_round_trip(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for tail, p := range byScript(40, time.Minute) {
		trips := d.roundTrips(t, func() {
			for i := range checks { // Ten of them are denied.
				if got := d.hold(t, p, strconv.Itoa(i)); got.Allowed != (i < 40) {
					t.Fatalf("%s: check %d: %+v", tail, i, got)
				}
			}
		})
		if calls := d.calls(t); trips != checks || calls["evalsha"] != checks || calls["eval"]+calls["multi"]+calls["time"] > 0 {
			t.Errorf("%s: %d checks took %d round trips: %v", tail, checks, trips, calls)
		}
		if got := d.server.Do("EXISTS", "ratelimit:engine:203.0.113.9:"+tail); got != "1" {
			t.Errorf("%s: the key is not written as published: %s", tail, d.server.Do("KEYS", "*"))
		}
	}
	places := byScript(40, time.Minute)["cc"]
	if trips := d.roundTrips(t, func() {
		if renewed, err := d.RenewAt(t.Context(), shared, places, "7", sharedAt); err != nil || !renewed {
			t.Errorf("renew: %t, %v", renewed, err)
		}
		if err := d.Release(t.Context(), shared, places, "7"); err != nil {
			t.Errorf("release: %v", err)
		}
	}); trips != 2 {
		t.Errorf("a renewal and a release took %d round trips", trips)
	}
}

func TestRL57_RL58_keys_with_tags_are_written_as_published(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	policies := byScript(40, time.Minute)
	tested := 0
	for _, row := range storetest.Published(t).RedisKeys {
		p := policies[row.Tail]
		if p == nil {
			continue
		}
		tested++
		d.server.Do("FLUSHALL")
		r := ratelimit.Request{Key: ratelimit.Key{Namespace: row.Namespace, Identifier: row.Identifier}, Policy: p, Cost: 1, Lease: "a"}
		if _, err := d.Take(t.Context(), r); err != nil {
			t.Errorf("%s: %v", row.Note, err)
		}
		if got := d.server.Do("KEYS", "*"); got != row.Key {
			t.Errorf("%s: key = %q, want %q", row.Note, got, row.Key)
		}
	}
	if tested == 0 {
		t.Error("no row tested")
	}
}

func TestRL55_a_denial_writes_nothing_whatever_the_algorithm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for tail, p := range byScript(2, time.Minute) {
		key := "ratelimit:engine:203.0.113.9:" + tail
		d.hold(t, p, "a")
		d.hold(t, p, "b")
		written := d.server.Do("DUMP", key)
		d.server.Do("PEXPIRE", key, "30000")
		look := func() {
			t.Helper()
			if got := d.hold(t, p, "c"); got.Allowed || got.Remaining != 0 || got.RetryAfter <= 0 {
				t.Errorf("%s: the third of two: %+v", tail, got)
			}
			peek := ratelimit.Request{Key: shared, Policy: p, Now: sharedAt}
			if got, err := d.Take(t.Context(), peek); err != nil || !got.Allowed || got.Remaining != 0 {
				t.Errorf("%s: a peek: %+v, %v", tail, got, err)
			}
		}
		look()
		if got := d.server.Do("TTL", key); got != "30" && got != "29" {
			t.Errorf("%s: TTL after a denial = %s, want it as it was", tail, got)
		}
		d.server.Do("PERSIST", key)
		look()
		everyKeyEnds(t, d.server)
		if got := d.server.Do("DUMP", key); got != written {
			t.Errorf("%s: denials and peeks changed the state", tail)
		}
	}
}

func TestRL60_keys_live_a_second_longer_than_they_matter(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for tail, p := range byScript(10, time.Minute) {
		d.hold(t, p, "a")
		want := map[string]int{"ff": 61, "sw": 121, "sl": 61, "me": 7, "cc": 61}[tail]
		if tail == "sw" { // The instant lies within its window.
			want -= int(sharedAt.Unix() % 60)
		}
		got, err := strconv.Atoi(d.server.Do("PTTL", "ratelimit:engine:203.0.113.9:"+tail))
		if err != nil || got > want*1000+1 || got < (want-2)*1000 {
			t.Errorf("%s: PTTL = %d, %v, want about %d s", tail, got, err, want)
		}
	}
}

func TestRL52_a_foreign_value_under_the_key_of_a_script(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for tail, p := range byScript(2, time.Minute) {
		key := "ratelimit:engine:203.0.113.9:" + tail
		for _, plant := range [][]string{
			{"SET", key, "x"}, {"RPUSH", key, "x"}, {"ZADD", key, "1", "x"}, {"ZADD", key, "1", "x", "2", "newest 2"}, {"SET", key, "1 2 3 4 5"},
		} {
			d.server.Do("DEL", key)
			d.server.Do(plant...)
			r := ratelimit.Request{Key: shared, Policy: p, Cost: 1, Lease: "a"}
			if got, err := d.Take(t.Context(), r); !errors.Is(err, ratelimit.ErrStoreData) || got.Allowed {
				t.Errorf("%s with %v: %+v, %v, want ErrStoreData", tail, plant, got, err)
			}
			if err := d.TakeAll(t.Context(), []ratelimit.Request{r}, make([]ratelimit.Decision, 1)); !errors.Is(err, ratelimit.ErrStoreData) {
				t.Errorf("%s together with %v: %v, want ErrStoreData", tail, plant, err)
			}
			if err := d.Release(t.Context(), shared, p, "a"); tail == "cc" != errors.Is(err, ratelimit.ErrStoreData) {
				t.Errorf("%s with %v: release: %v", tail, plant, err)
			}
		}
	}
	if err := d.Available(); err != nil {
		t.Errorf("foreign values opened the breaker: %v", err)
	}
}

func TestRL56_every_script_uses_the_clock_of_the_server(t *testing.T) {
	t.Parallel()
	d := newDesk(t) // Its clock lies years back.
	for tail, p := range byScript(9, time.Hour) {
		r := ratelimit.Request{Key: shared, Policy: p, Cost: 1, Lease: "a"}
		for range 2 {
			if _, err := d.Take(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		seconds, _, _ := strings.Cut(d.server.Do("TIME"), "\n")
		now, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		r.Cost, r.Now = 0, time.Unix(now-10*3600, 0)
		if got, err := d.Take(t.Context(), r); err != nil || got.Remaining != 9 {
			t.Errorf("%s: ten hours before the server's clock: %+v, %v, want it forgotten", tail, got, err)
		}
		r.Now = time.Unix(now-1, 0)
		want := map[string]int64{"cc": 8}[tail]
		if want == 0 {
			want = 7
		}
		if got, err := d.Take(t.Context(), r); err != nil || got.Remaining != want {
			t.Errorf("%s: now: %+v, %v, want %d left", tail, got, err, want)
		}
	}
}

func TestRL140_scripts_that_are_lost_under_load_count_each_check_once(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}, WithoutLocalDenials: true,
	})
	const each, limit = 12, 300
	for tail, p := range byScript(limit, time.Hour) {
		var admitted atomic.Int64
		var group sync.WaitGroup
		done := make(chan struct{})
		var flushes sync.WaitGroup
		flushes.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					server.Do("SCRIPT", "FLUSH")
				}
			}
		})
		for caller := range callers {
			group.Go(func() {
				for i := range each {
					lease := strconv.Itoa(caller) + "-" + strconv.Itoa(i)
					got, err := s.Take(t.Context(), ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt, Lease: lease})
					if err != nil {
						t.Errorf("%s: take: %v", tail, err)
					}
					if got.Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		group.Wait()
		close(done)
		flushes.Wait()
		if got := admitted.Load(); got != limit {
			t.Errorf("%s: %d of %d checks admitted, want %d", tail, got, callers*each, limit)
		}
	}
	if h := s.Health(); h.Open || h.LastError != "" {
		t.Errorf("health = %+v, want no blame for Redis", h)
	}
}

func TestRL34_units_of_a_log_are_members_of_a_set(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := byScript(2000, time.Minute)["sl"]
	for _, step := range []struct {
		after time.Duration
		cost  int64
	}{{0, 2}, {0, 1}, {time.Microsecond, 1}, {-time.Second, 1}} {
		r := ratelimit.Request{Key: shared, Policy: p, Cost: step.cost, Now: time.Unix(100, 0).Add(step.after)}
		if got, err := d.Take(t.Context(), r); err != nil || !got.Allowed {
			t.Fatalf("take: %+v, %v", got, err)
		}
	}
	want := []string{"100000000-0", "100000000-1", "100000000-2", "100000001-0", "100000001-1", "window-60000000"}
	if diff := cmp.Diff(want, strings.Fields(d.server.Do("ZRANGE", "ratelimit:engine:203.0.113.9:sl", "0", "-1"))); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	r := ratelimit.Request{Key: shared, Policy: p, Cost: 1000, Now: time.Unix(200, 0)}
	if got, err := d.Take(t.Context(), r); err != nil || !got.Allowed || got.Remaining != 1000 {
		t.Errorf("a thousand units: %+v, %v", got, err)
	}
	if got := d.server.Do("ZCARD", "ratelimit:engine:203.0.113.9:sl"); got != "1001" {
		t.Errorf("members = %s, want those that lapsed trimmed", got)
	}
	r.Cost = 1001
	if got, err := d.Take(t.Context(), r); !errors.Is(err, ratelimit.ErrConfig) || got.Allowed {
		t.Errorf("more than a thousand units: %+v, %v, want ErrConfig", got, err)
	}
}

func TestRL40_names_of_leases_are_bounded_and_collide_with_nothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := byScript(20, time.Minute)["cc"]
	long := strings.Repeat("x", 129)
	names := []string{long, long + "y", "newest 5", "=a", "a", "h_a", "line\nbreak", "\x00", "{a}", " "}
	for i, name := range names {
		if got := d.hold(t, p, name); !got.Allowed || got.Remaining != int64(19-i) {
			t.Errorf("%q: %+v, want %d places left", name, got, 19-i)
		}
	}
	for i, name := range names {
		if renewed, err := d.RenewAt(t.Context(), shared, p, name, sharedAt); err != nil || !renewed {
			t.Errorf("renew %q: %t, %v", name, renewed, err)
		}
		if err := d.Release(t.Context(), shared, p, name); err != nil {
			t.Errorf("release %q: %v", name, err)
		}
		if renewed, err := d.RenewAt(t.Context(), shared, p, name, sharedAt); err != nil || renewed {
			t.Errorf("renew %q after its release: %t, %v", name, renewed, err)
		}
		if exists := d.server.Do("EXISTS", "ratelimit:engine:203.0.113.9:cc"); exists == "0" != (i == len(names)-1) {
			t.Errorf("after %d releases: EXISTS = %s", i+1, exists)
		}
	}
}

// A denial of any algorithm is repeated with the waits that Step would tell, until more is left than then.
func TestRL61_denials_by_scripts_are_repeated_as_Step_judges_them(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.SlidingWindow, ratelimit.SlidingLog, ratelimit.TokenBucket} {
		b := newBar(t)
		p := &ratelimit.Policy{Algorithm: algorithm, Limit: 5, Window: 10 * time.Second}
		var state ratelimit.State
		check := func(cost int64, asked bool) ratelimit.Decision {
			t.Helper()
			r := request(p, cost)
			r.Now = b.clock()
			var want ratelimit.Decision
			state, want = ratelimit.Step(p, state, r.Now, cost)
			got := b.want(r, want.Allowed, asked)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s at %v, cost %d (-want +got):\n%s", algorithm, r.Now, cost, diff)
			}
			return got
		}
		check(4, true)
		denied := check(3, true)
		for waited, step := time.Duration(0), 250*time.Millisecond; waited+step < min(denied.Next, 5*time.Second); waited += step {
			b.pass(step)
			check(3, false)
		}
		check(2, true) // Another cost waits for another time.
		check(2, false)
		b.pass(5 * time.Second)
		check(3, true)
	}
}

func TestRL61_places_in_flight_are_always_asked_for(t *testing.T) {
	t.Parallel()
	b := newBar(t)
	p := &ratelimit.Policy{Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Minute}
	r := request(p, 1)
	r.Now, r.Lease = b.clock(), "a"
	b.want(r, true, true)
	r.Lease = "b"
	b.want(r, false, true)
	if err := b.Release(t.Context(), shared, p, "a"); err != nil {
		t.Fatal(err)
	}
	b.want(r, true, true)
}

func TestRL52_a_full_server_is_told_by_scripts_too(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	policies := byScript(3, time.Minute)
	for _, p := range policies {
		d.hold(t, p, "a")
	}
	d.server.Do("CONFIG", "SET", "maxmemory", "1")
	d.server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	for tail, p := range policies {
		r := ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt, Lease: "b"}
		if got, err := d.Take(t.Context(), r); got.Allowed || !errors.Is(err, ratelimit.ErrStoreFull) {
			t.Errorf("%s: %+v, %v, want ErrStoreFull", tail, got, err)
		}
		d.server.Do("CONFIG", "SET", "maxmemory", "0")
		r.Cost = 0
		testkit.Eventually(t, "the breaker to close", func() bool { return d.Available() == nil })
		if got, err := d.Take(t.Context(), r); err != nil || got.Remaining != 2 {
			t.Errorf("%s: afterwards %+v, %v, want nothing of it counted", tail, got, err)
		}
		d.server.Do("CONFIG", "SET", "maxmemory", "1")
	}
}
