package redisstore_test

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

// runRegisters tests bans and circuits of the stores that a function opens.
func runRegisters(t *testing.T, fresh func(t *testing.T) *redisstore.Store) {
	t.Helper()
	storetest.RunBans(t, func(t *testing.T) ratelimit.Bans { t.Helper(); return fresh(t).Bans() })
	storetest.RunCircuits(t, func(t *testing.T) ratelimit.Circuits { t.Helper(); return fresh(t).Circuits() })
}

func TestRL85_RL100_RL106_registers_in_one_server(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	runRegisters(t, func(t *testing.T) *redisstore.Store {
		t.Helper()
		server.Do("FLUSHALL")
		t.Cleanup(func() { everyKeyEnds(t, server) })
		return open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	})
}

func TestRL85_RL100_RL106_registers_behind_sentinels(t *testing.T) {
	t.Parallel()
	master := testkit.StartRedis(t)
	testkit.StartRedisReplica(t, master)
	sentinel := testkit.StartRedisSentinel(t, "counters", master, 1)
	runRegisters(t, func(t *testing.T) *redisstore.Store {
		t.Helper()
		master.Do("FLUSHALL")
		t.Cleanup(func() { everyKeyEnds(t, master) })
		config := redisstore.Config{Addrs: []string{sentinel.Addr}, Master: "counters", Budget: redisstore.Patient}
		return open(t, redisstore.Options{Config: config})
	})
}

func TestRL85_RL100_RL106_registers_in_a_cluster(t *testing.T) {
	t.Parallel()
	runRegisters(t, freshCluster(t))
}

func login() *ratelimit.BanRule {
	return &ratelimit.BanRule{Name: "login", MaxRetry: 3, FindTime: time.Minute, BanTime: 15 * time.Minute, Growth: 2}
}

// strikes makes offences until the key is banned, and returns the ban.
func strikes(t *testing.T, bans ratelimit.Bans, key string, at time.Time) ratelimit.Ban {
	t.Helper()
	for range login().MaxRetry {
		got, err := bans.Strike(t.Context(), login(), key, at)
		if err != nil {
			t.Fatal(err)
		}
		if got.Banned {
			return got.Ban
		}
	}
	t.Fatalf("%q is not banned", key)
	return ratelimit.Ban{}
}

func TestRL59_RL100_offences_are_one_round_trip_under_keys_that_lie_together(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	bans, rule, at := d.Bans(), login(), time.Now()
	trips := d.roundTrips(t, func() {
		for range 2 {
			if _, err := bans.Strike(t.Context(), rule, "203.0.113.9", at); err != nil {
				t.Fatal(err)
			}
			if _, err := bans.Standing(t.Context(), rule, "203.0.113.9", at); err != nil {
				t.Fatal(err)
			}
		}
	})
	if calls := d.calls(t); trips != 4 || calls["evalsha"] != 4 {
		t.Errorf("two offences and two looks took %d round trips: %v", trips, calls)
	}
	if got := d.server.Do("KEYS", "ratelimit:ban:*"); got != "ratelimit:ban:{login/203.0.113.9}:hits" {
		t.Errorf("two offences are kept under %q", got)
	}
	strikes(t, bans, "203.0.113.9", at)
	for key, want := range map[string]string{
		"ratelimit:ban:{login/203.0.113.9}:hits": "0", "ratelimit:ban:{login/203.0.113.9}:until": "1", "ratelimit:ban:{list}:current": "1",
	} {
		if got := d.server.Do("EXISTS", key); got != want {
			t.Errorf("after a ban, %s: %s, want %s", key, got, want)
		}
	}
}

func TestRL100_a_ban_by_one_replica_is_known_to_all(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	config := redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}}
	one, other := open(t, config).Bans(), open(t, config).Bans()
	at := time.Now().Truncate(time.Microsecond)
	want := strikes(t, one, "203.0.113.9", at)
	if got, err := other.Standing(t.Context(), login(), "203.0.113.9", at); err != nil || !got.Banned || !got.Ban.Until.Equal(want.Until) {
		t.Errorf("the other replica: %+v, %v, want banned until %s", got, err, want.Until)
	}
	page, err := other.Page(t.Context(), ratelimit.BanQuery{Now: at})
	if err != nil || len(page.Bans) != 1 || page.Bans[0].Identifier != "203.0.113.9" {
		t.Errorf("the other's list: %+v, %v", page, err)
	}
	if n, err := other.Lift(t.Context(), "login", "203.0.113.9", at); n != 1 || err != nil {
		t.Errorf("lifted %d, %v", n, err)
	}
	if got, err := one.Standing(t.Context(), login(), "203.0.113.9", at); err != nil || got.Banned {
		t.Errorf("after the other lifted it: %+v, %v", got, err)
	}
}

func TestRL99_RL101_ended_bans_leave_the_list_and_are_repeats_until_they_are_lifted(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	start := time.Now().Truncate(time.Microsecond)
	var passed atomic.Int64
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}, Clock: func() time.Time { return start.Add(time.Duration(passed.Load())) },
	})
	bans := s.Bans()
	for i := range 450 { // More than are read at a time.
		strikes(t, bans, "key-"+strconv.Itoa(i), start)
	}
	passed.Store(int64(login().BanTime + time.Minute))
	now := start.Add(time.Duration(passed.Load()))
	if page, err := bans.Page(t.Context(), ratelimit.BanQuery{Now: now}); err != nil || len(page.Bans) != 0 {
		t.Errorf("%d of the bans that ended are listed, %v", len(page.Bans), err)
	}
	if got := server.Do("ZCARD", "ratelimit:ban:{list}:current") + "/" + server.Do("ZCARD", "ratelimit:ban:{list}:ended"); got != "0/450" {
		t.Errorf("current/ended: %s, want 0/450", got)
	}
	if ban := strikes(t, bans, "key-7", now); ban.Repeat != 1 || ban.Until.Sub(ban.From) != 2*login().BanTime {
		t.Errorf("the second ban: %+v, want a repeat of twice the time", ban)
	}
	if n, err := bans.Lift(t.Context(), "login", "", now); err != nil || n != 1 {
		t.Errorf("lifting the rule ended %d bans, %v, want 1", n, err)
	}
	if got := server.Do("KEYS", "*until"); got != "" {
		t.Errorf("after lifting the rule there is %q", got)
	}
	if ban := strikes(t, bans, "key-9", now); ban.Repeat != 0 {
		t.Errorf("a ban after all were lifted: %+v, want no repeat", ban)
	}
}

func TestRL52_foreign_values_under_keys_of_registers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, c := range map[string]struct {
		command []string
		ask     func() error
	}{
		"a text for a ban": {[]string{"SET", "ratelimit:ban:{login/a}:until", "x", "EX", "60"}, func() error {
			_, err := d.Bans().Strike(t.Context(), login(), "a", time.Now())
			return err
		}},
		"a text for offences": {[]string{"SET", "ratelimit:ban:{login/b}:hits", "x", "EX", "60"}, func() error {
			_, err := d.Bans().Standing(t.Context(), login(), "b", time.Now())
			return err
		}},
		"another hash for a ban": {[]string{"HSET", "ratelimit:ban:{login/c}:until", "from", "x", "until", ""}, func() error {
			_, err := d.Bans().Standing(t.Context(), login(), "c", time.Now())
			return err
		}},
		"a text for a circuit": {[]string{"SET", "ratelimit:circuit:{a}:record", "x", "EX", "60"}, func() error {
			_, err := d.Circuits().Offer(t.Context(), "a", time.Minute, ratelimit.CircuitCounts{}, time.Now())
			return err
		}},
		"a text for a record": {[]string{"SET", "ratelimit:circuit:{b}:record", "x", "EX", "60"}, func() error {
			_, err := d.Circuits().Swap(t.Context(), "b", 0, ratelimit.CircuitRecord{})
			return err
		}},
		"another hash for a circuit": {[]string{"HSET", "ratelimit:circuit:{c}:record", "since", "x"}, func() error {
			_, err := d.Circuits().Offer(t.Context(), "c", time.Minute, ratelimit.CircuitCounts{}, time.Now())
			return err
		}},
	} {
		d.server.Do(c.command...)
		if err := c.ask(); !errors.Is(err, ratelimit.ErrStoreData) {
			t.Errorf("%s: %v, want ErrStoreData", name, err)
		}
	}
	if err := d.Available(); err != nil {
		t.Errorf("foreign values opened the breaker: %v", err)
	}
}

func TestRL106_replicas_are_counted_while_they_feed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	replicas := []*redisstore.Circuits{d.Circuits(), d.Circuits(), d.Circuits()}
	var last ratelimit.CircuitReading
	for _, replica := range append(replicas, replicas...) {
		var err error
		if last, err = replica.Offer(t.Context(), "server", time.Minute, ratelimit.CircuitCounts{Offered: 5, Admitted: 4}, sharedAt); err != nil {
			t.Fatal(err)
		}
	}
	if last.Replicas != 3 || last.Window.Offered != 30 || last.Window.Admitted != 24 {
		t.Errorf("%+v, want 3 replicas and 30 offers", last)
	}
}

func TestRL56_RL128_the_clocks_are_compared(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient},
		Clock:  func() time.Time { return time.Now().Add(-time.Hour) },
	})
	if got := s.Stats().ClockSkew; got < time.Hour-10*time.Second || got > time.Hour+10*time.Second {
		t.Errorf("Redis is ahead by %s, want an hour", got)
	}
	nodes := testkit.StartRedisCluster(t, 2)
	c := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient},
		Clock:  func() time.Time { return time.Now().Add(time.Hour) },
	})
	if got := c.Stats().ClockSkew; got > -time.Hour+10*time.Second || got < -time.Hour-10*time.Second {
		t.Errorf("the cluster is ahead by %s, want minus an hour", got)
	}
}
