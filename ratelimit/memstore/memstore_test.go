package memstore_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func newStore(tb testing.TB, o memstore.Options) *memstore.Store {
	tb.Helper()
	s, err := memstore.New(o)
	if err != nil {
		tb.Fatalf("new store: %v", err)
	}
	return s
}

// ticker is a clock that a test moves.
type ticker struct{ now time.Time }

func (c *ticker) read() time.Time { return c.now }

// oneShard makes a store with one shard, so that its bounds are exact, and its clock.
func oneShard(tb testing.TB, o memstore.Options) (*memstore.Store, *ticker) {
	tb.Helper()
	c := &ticker{now: time.Unix(1_767_225_600, 0)}
	o.Clock = c.read
	if o.MaxBytes == 0 {
		o.MaxBytes = memstore.DefaultMaxBytes
	}
	s, err := memstore.OneShard(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s, c
}

func policy(limit int64, window time.Duration) *ratelimit.Policy {
	return &ratelimit.Policy{Name: "engine", Limit: limit, Window: window}
}

func take(tb testing.TB, s *memstore.Store, k ratelimit.Key, p *ratelimit.Policy, cost int64) ratelimit.Decision {
	tb.Helper()
	d, err := s.Take(tb.Context(), ratelimit.Request{Key: k, Policy: p, Cost: cost})
	if err != nil {
		tb.Fatalf("take %d of %v: %v", cost, k, err)
	}
	return d
}

func client(identifier string) ratelimit.Key {
	return ratelimit.Key{Namespace: "engine", Identifier: identifier}
}

func left(tb testing.TB, s *memstore.Store, identifier string, p *ratelimit.Policy) int64 {
	tb.Helper()
	return take(tb, s, client(identifier), p, 0).Remaining
}

func TestRL137_the_memory_store_keeps_the_contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		return newStore(t, memstore.Options{})
	}, storetest.Algorithms()...)
}

func TestRL137_a_store_of_one_shard_keeps_the_contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		s, err := memstore.OneShard(memstore.Options{MaxBytes: memstore.DefaultMaxBytes})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, storetest.Algorithms()...)
}

func TestRL137_counters_in_one_chain_keep_the_contract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) ratelimit.Store {
		t.Helper()
		s, err := memstore.OneChain(memstore.Options{MaxBytes: memstore.DefaultMaxBytes})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, storetest.Algorithms()...)
}

func TestRL42_shards_are_a_power_of_two_for_the_processors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ processors, keys, want int }{
		{1, 100_000, 4},
		{2, 100_000, 8},
		{3, 100_000, 16},
		{16, 100_000, 64},
		{64, 100_000, 256},
		{200, 100_000, 256},
		{64, 1, 1},
		{64, 2, 2},
		{64, 3, 2},
		{64, 100, 64},
	} {
		if got := memstore.ShardCount(c.processors, c.keys); got != c.want {
			t.Errorf("%d processors, %d keys: %d shards, want %d", c.processors, c.keys, got, c.want)
		}
	}
}

func TestRL43_the_number_of_keys_is_bounded(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{1, 2, 7, 100, 1000} {
		s := newStore(t, memstore.Options{MaxKeys: bound})
		for i := range 5000 {
			take(t, s, client(fmt.Sprintf("client-%d", i)), policy(10, time.Hour), 1)
		}
		if got := s.Len(); got > bound || got < bound/2 {
			t.Errorf("%d counters after 5,000 keys, want up to %d", got, bound)
		}
		if got := s.Evictions() + int64(s.Len()); got != 5000 {
			t.Errorf("bound %d: evictions and counters are %d together, want all 5,000 keys", bound, got)
		}
	}
}

func TestRL43_the_bytes_are_bounded(t *testing.T) {
	t.Parallel()
	const bound = 64 << 10
	s := newStore(t, memstore.Options{MaxBytes: bound})
	for i := range 5000 {
		take(t, s, client(strings.Repeat("x", i%100)+strconv.Itoa(i)), policy(10, time.Hour), 1)
		if got := s.Bytes(); got > bound {
			t.Fatalf("%d bytes after %d keys, want up to %d", got, i+1, bound)
		}
	}
	if got := s.Bytes(); got < bound/2 {
		t.Errorf("%d bytes, want the room to be used", got)
	}
	if s.ResetPrefix("") == 0 || s.Bytes() != 0 || s.Len() != 0 {
		t.Errorf("%d bytes and %d counters after all were forgotten", s.Bytes(), s.Len())
	}
}

func TestRL43_a_counter_larger_than_the_bound_has_its_place(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxBytes: 1})
	p := policy(1, time.Hour)
	take(t, s, client("a"), p, 1)
	if d := take(t, s, client("a"), p, 1); d.Allowed || s.Len() != 1 {
		t.Errorf("%+v with %d counters, want the counter to be kept", d, s.Len())
	}
}

func TestRL43_the_least_recently_used_goes_first(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxKeys: 3})
	p := policy(10, time.Hour)
	for _, identifier := range []string{"a", "b", "c", "a", "b", "d"} {
		take(t, s, client(identifier), p, 1)
	}
	for identifier, want := range map[string]int64{"a": 8, "b": 8, "c": 10, "d": 9} {
		if got := left(t, s, identifier, p); got != want {
			t.Errorf("%s has %d left, want %d", identifier, got, want)
		}
	}
	if s.Evictions() != 1 {
		t.Errorf("%d evictions, want 1", s.Evictions())
	}
}

// A shard of many counters looks for the one used least recently by second chance.
func TestRL43_what_is_in_use_outlives_a_flood_of_new_keys(t *testing.T) {
	t.Parallel()
	const keys, hot = 500, 200
	s, _ := oneShard(t, memstore.Options{MaxKeys: keys})
	p := policy(1_000_000, time.Hour)
	use := func(i int) { take(t, s, client(fmt.Sprintf("hot-%d", i)), p, 1) }
	for i := range hot {
		use(i)
	}
	const floods = 20
	for flood := range floods {
		for i := range hot { // One new key for each use of an old one, so that all are in use within any 400 checks.
			take(t, s, client(fmt.Sprintf("new-%d-%d", flood, i)), p, 1)
			use(i)
		}
	}
	for i := range hot {
		if got := left(t, s, fmt.Sprintf("hot-%d", i), p); got != p.Limit-floods-1 {
			t.Fatalf("hot-%d was forgotten: %d left", i, got)
		}
	}
	if want := int64(floods*hot + hot - keys); s.Len() != keys || s.Evictions() != want {
		t.Errorf("%d counters and %d evictions, want %d and %d", s.Len(), s.Evictions(), keys, want)
	}
}

// Where all counters are in use one of them goes all the same, after a bounded look.
func TestRL43_counters_that_are_all_in_use_make_room(t *testing.T) {
	t.Parallel()
	const keys = 300
	s, _ := oneShard(t, memstore.Options{MaxKeys: keys})
	p := policy(1_000_000, time.Hour)
	for range 2 {
		for i := range keys {
			take(t, s, client(fmt.Sprintf("old-%d", i)), p, 1)
		}
	}
	take(t, s, client("new"), p, 1)
	if s.Len() != keys || s.Evictions() != 1 {
		t.Errorf("%d counters and %d evictions", s.Len(), s.Evictions())
	}
	for i := range keys {
		if left(t, s, fmt.Sprintf("old-%d", i), p) == p.Limit && i >= keys*2/3 {
			t.Errorf("old-%d was forgotten, of %d that were used one after the other", i, keys)
		}
	}
}

func TestRL43_exhausted_counters_go_last(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxKeys: 10})
	p := policy(2, time.Hour)
	take(t, s, client("attacker"), p, 2)
	for i := range 1000 { // A flood of new keys that stay below their limit.
		take(t, s, client(fmt.Sprintf("flood-%d", i)), p, 1)
	}
	if d := take(t, s, client("attacker"), p, 1); d.Allowed {
		t.Error("a flood of new keys bought a fresh quota")
	}
	for i := range 10 { // Nothing but exhausted ones: the oldest of them makes room.
		take(t, s, client(fmt.Sprintf("other-%d", i)), p, 2)
	}
	if got := s.Len(); got != 10 || left(t, s, "attacker", p) != 2 {
		t.Errorf("%d counters, the first one has %d left, want it gone", got, left(t, s, "attacker", p))
	}
}

func TestRL43_an_exhausted_counter_that_is_reset_by_time_is_no_longer_exhausted(t *testing.T) {
	t.Parallel()
	s, c := oneShard(t, memstore.Options{MaxKeys: 2})
	p := policy(2, time.Minute)
	take(t, s, client("a"), p, 2)
	take(t, s, client("b"), policy(2, time.Hour), 2)
	c.now = c.now.Add(time.Minute)
	take(t, s, client("a"), p, 1) // A new window, with one left: the counter is an ordinary one again.
	take(t, s, client("c"), p, 1)
	if left(t, s, "a", p) != 2 || left(t, s, "b", policy(2, time.Hour)) != 0 {
		t.Errorf("a has %d left and b %d, want a to have made room", left(t, s, "a", p), left(t, s, "b", policy(2, time.Hour)))
	}
}

func TestRL43_expired_counters_go_before_all_others(t *testing.T) {
	t.Parallel()
	s, c := oneShard(t, memstore.Options{MaxKeys: 40})
	short, long := policy(2, time.Second), policy(2, time.Hour)
	for i := range 20 {
		take(t, s, client(fmt.Sprintf("long-%d", i)), long, 1)
		take(t, s, client(fmt.Sprintf("short-%d", i)), short, 2)
	}
	c.now = c.now.Add(2 * time.Second)
	for i := range 20 {
		take(t, s, client(fmt.Sprintf("new-%d", i)), long, 1)
	}
	for i := range 20 {
		if got := left(t, s, fmt.Sprintf("long-%d", i), long); got != 1 {
			t.Errorf("long-%d has %d left: it went while expired counters were there", i, got)
		}
	}
	if s.Evictions() != 0 {
		t.Errorf("%d evictions: expired counters are none", s.Evictions())
	}
}

func TestRL26_RL44_expired_counters_are_swept_a_few_at_a_time(t *testing.T) {
	t.Parallel()
	s, c := oneShard(t, memstore.Options{MaxKeys: 10_000})
	p := policy(5, time.Minute)
	for i := range 1000 {
		take(t, s, client(fmt.Sprintf("old-%d", i)), p, 1)
	}
	c.now = c.now.Add(2 * time.Minute)
	before := s.Len()
	for i := range 400 {
		take(t, s, client(fmt.Sprintf("new-%d", i)), p, 1)
		if freed := before + 1 - s.Len(); freed > memstore.SweepFull {
			t.Fatalf("one check freed %d counters, want up to %d", freed, memstore.SweepFull)
		}
		before = s.Len()
	}
	if got := s.Len(); got != 400 {
		t.Errorf("%d counters, want the 400 new ones alone", got)
	}
	c.now = c.now.Add(2 * time.Minute)
	for range 5000 { // Checks of one known counter sweep too, over all places that were ever used.
		take(t, s, client("alone"), p, 1)
	}
	if got := s.Len(); got != 1 {
		t.Errorf("%d counters, want the one in use", got)
	}
}

func TestRL45_a_check_does_not_allocate(t *testing.T) {
	s := newStore(t, memstore.Options{})
	clock, first := policy(1_000_000, time.Hour), policy(1_000_000, time.Hour)
	first.Align = ratelimit.AlignFirstRequest
	ctx := t.Context()
	for name, p := range map[string]*ratelimit.Policy{"clock": clock, "first request": first, "exhausted": policy(1, time.Hour), "no limit": {}} {
		r := ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: "2001:db8:1:2::/64"}, Policy: p, Cost: 1}
		if got := testing.AllocsPerRun(1000, func() {
			if _, err := s.Take(ctx, r); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

func TestRL58_long_and_reserved_identifiers_are_kept_as_digests(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{})
	p := policy(1, time.Hour)
	long := strings.Repeat("x", 1<<20)
	for _, identifier := range []string{long, ratelimit.KeyIdentifier(long), long + "y"} {
		if d := take(t, s, client(identifier), p, 1); !d.Allowed {
			t.Errorf("an identifier of %d bytes shares a counter", len(identifier))
		}
	}
	if got, most := s.Bytes(), 3*(memstore.EntryBytes+128); got > most {
		t.Errorf("%d bytes for three counters, want up to %d", got, most)
	}
}

func TestRL46_reset_by_prefix(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]int{
		"": 6, "engine": 4, "engine:": 3, "engine:10.": 2, "engine:10.0.0.1": 1, "eng": 4, "engine-2": 1, "engine:10.0.0.1:": 0, "x": 0, "management:": 2,
	} {
		s := newStore(t, memstore.Options{})
		for _, k := range []ratelimit.Key{
			client("10.0.0.1"), client("10.0.0.2"), client("::1"),
			{Namespace: "engine-2", Identifier: "10.0.0.1"},
			{Namespace: "management", Identifier: "10.0.0.1"},
			{Namespace: "management", Identifier: "x"},
		} {
			take(t, s, k, policy(1, time.Hour), 1)
		}
		if got := s.ResetPrefix(prefix); got != want || s.Len() != 6-want {
			t.Errorf("%q: %d forgotten and %d left, want %d", prefix, got, s.Len(), want)
		}
	}
}

func TestRL46_a_snapshot_looks_ahead_without_consuming(t *testing.T) {
	t.Parallel()
	s, _ := oneShard(t, memstore.Options{MaxKeys: 3})
	p := policy(10, time.Hour)
	take(t, s, client("a"), p, 10)
	take(t, s, client("b"), p, 3)
	take(t, s, ratelimit.Key{Namespace: "other", Identifier: "a"}, p, 1)
	snapshot := s.Snapshot("engine")
	take(t, s, client("b"), p, 5)
	take(t, s, ratelimit.Key{Namespace: "other", Identifier: "a"}, p, 1)
	s.ResetPrefix("engine:a")
	take(t, s, client("new"), p, 1)
	s.Restore(snapshot)
	if a, b, fresh := left(t, s, "a", p), left(t, s, "b", p), left(t, s, "new", p); a != 0 || b != 7 || fresh != 10 {
		t.Errorf("left are %d, %d and %d, want 0, 7 and 10", a, b, fresh)
	}
	if d := take(t, s, ratelimit.Key{Namespace: "other", Identifier: "a"}, p, 0); d.Remaining != 8 {
		t.Errorf("another namespace has %d left, want it untouched", d.Remaining)
	}
	take(t, s, client("c"), p, 1) // The order of use came back too: b goes, and the exhausted a stays.
	if left(t, s, "a", p) != 0 || left(t, s, "b", p) != 10 {
		t.Errorf("after an eviction left are %d and %d, want 0 and 10", left(t, s, "a", p), left(t, s, "b", p))
	}
}

func TestRL11_options_and_keys_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	for _, o := range []memstore.Options{{MaxKeys: -1}, {MaxBytes: -1}} {
		if _, err := memstore.New(o); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", o, err)
		}
	}
	s := newStore(t, memstore.Options{})
	if err := s.Reset(t.Context(), ratelimit.Key{Namespace: "engine"}, nil); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("reset without a policy: %v", err)
	}
	if err := s.Reset(t.Context(), ratelimit.Key{}, policy(1, time.Hour)); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("reset without a namespace: %v", err)
	}
}

func TestRL137_administration_and_checks_at_one_time(t *testing.T) {
	t.Parallel()
	s := newStore(t, memstore.Options{MaxKeys: 50})
	p := policy(5, time.Hour)
	var group sync.WaitGroup
	for caller := range 4 {
		group.Go(func() {
			for i := range 2000 {
				take(t, s, client(strconv.Itoa((i*7+caller)%120)), p, 1)
				switch i % 400 {
				case 0:
					s.Restore(s.Snapshot("engine"))
				case 200:
					s.ResetPrefix("engine:1")
				case 300:
					s.Len()
					s.Bytes()
				}
			}
		})
	}
	group.Wait()
	if got := s.Len(); got > 50 {
		t.Errorf("%d counters, want up to 50", got)
	}
}

func TestRL26_counters_expire_by_real_time_whatever_instants_are_given(t *testing.T) {
	t.Parallel()
	for name, instant := range map[string]func() time.Time{
		"none":                     func() time.Time { return time.Time{} },
		"of the machine's clock":   time.Now,
		"of a clock far ahead":     func() time.Time { return time.Unix(4_000_000_000, 0) },
		"of a clock that is stuck": func() time.Time { return time.Unix(1_000_000_000, 0) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore(t, memstore.Options{MaxKeys: 1})
			p := policy(2, time.Minute)
			request := func(identifier string) {
				r := ratelimit.Request{Key: client(identifier), Policy: p, Cost: 1, Now: instant()}
				if _, err := s.Take(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			request("a")
			<-time.After(59 * time.Second)
			request("b")
			if s.Evictions() != 1 {
				t.Errorf("instants %s: a counter expired before its window was over", name)
			}
			<-time.After(60 * time.Second)
			request("c")
			if s.Evictions() != 1 || s.Len() != 1 {
				t.Errorf("instants %s: a counter outlived its window", name)
			}
		})
	}
}

// RL44: a counter that ends sooner than all others is found, whether it is new or ends sooner by another policy.
func TestRL44_a_counter_that_ends_sooner_is_swept(t *testing.T) {
	t.Parallel()
	for name, shorten := range map[string]bool{"a new one": false, "one whose window became shorter": true} {
		now := time.Unix(1_000_000, 0)
		s, err := memstore.OneShard(memstore.Options{MaxKeys: 1000, MaxBytes: 1 << 20, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(key string, window time.Duration) {
			t.Helper()
			if _, err := s.Take(t.Context(), ratelimit.Request{Key: client(key), Policy: policy(100, window), Cost: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 200 {
			ask(strconv.Itoa(i), time.Hour)
		}
		if shorten {
			ask("0", time.Second)
		} else {
			ask("short", time.Second)
		}
		before := s.Len()
		now = now.Add(3 * time.Second)
		for i := range 64 * 40 {
			ask(strconv.Itoa(1+i%150), time.Hour)
		}
		if got := s.Len(); got != before-1 {
			t.Errorf("%s: %d counters of %d are left, want all but one", name, got, before)
		}
	}
}
