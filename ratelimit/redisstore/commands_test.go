package redisstore_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

// minute is the shield's policy.
func minute() *ratelimit.Policy {
	return &ratelimit.Policy{Name: "engine", Limit: 120, Window: time.Minute}
}

// desk is a store with a real server of its own.
type desk struct {
	*redisstore.Store
	server *testkit.Redis
	log    *strings.Builder
}

func newDesk(t *testing.T) desk {
	t.Helper()
	d := desk{server: testkit.StartRedis(t), log: &strings.Builder{}}
	d.Store = open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{d.server.Addr}, Budget: redisstore.Patient},
		Clock:  func() time.Time { return sharedAt.Add(17 * time.Second) },
		Logger: slog.New(slog.NewTextHandler(d.log, nil)),
		// What is tested here are the commands of each check.
		WithoutLocalDenials: true,
	})
	return d
}

func (d desk) check(t *testing.T, p *ratelimit.Policy, cost int64) ratelimit.Decision {
	t.Helper()
	decision, err := d.Take(t.Context(), ratelimit.Request{Key: shared, Policy: p, Cost: cost})
	if err != nil {
		t.Fatalf("take %d: %v", cost, err)
	}
	return decision
}

// calls returns what the server ran since the last reset, without what the test itself asked for and without signing in
// on the connections that the pool made meanwhile.
func (d desk) calls(t *testing.T) map[string]int64 {
	t.Helper()
	calls := d.server.CommandCalls()
	delete(calls, "hello")
	delete(calls, "info")
	delete(calls, "config|resetstat")
	return calls
}

// roundTrips returns how often the server had to read from a socket while the checks were made. Signing in on a new
// connection is not part of a check.
func (d desk) roundTrips(t *testing.T, makeChecks func()) int64 {
	t.Helper()
	d.server.ResetCommandCalls()
	before := d.reads(t)
	makeChecks()
	// Asking for the number adds two to it: the end of the connection that asked before, and the request on this one.
	return d.reads(t) - before - 2 - d.server.CommandCalls()["hello"]
}

func (d desk) reads(t *testing.T) int64 {
	t.Helper()
	for line := range strings.Lines(d.server.Do("INFO", "stats")) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "total_reads_processed:"); ok {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("INFO stats has no total_reads_processed")
	return 0
}

// livesFor fails the test unless a key has just been given this life.
func livesFor(t *testing.T, server *testkit.Redis, key string, life time.Duration) {
	t.Helper()
	rest, err := strconv.ParseInt(server.Do("PTTL", key), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const slow = 30 * time.Second // On a machine that has much else to do.
	if left := time.Duration(rest) * time.Millisecond; left <= max(0, life-slow) || left > life {
		t.Errorf("%s lives for %s, want %s", key, left, life)
	}
}

const checks = 50

func TestRL25_a_check_is_one_transaction_in_one_round_trip(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	trips := d.roundTrips(t, func() {
		for range checks {
			d.check(t, minute(), 1)
		}
	})
	if trips != checks {
		t.Errorf("%d checks took %d round trips", checks, trips)
	}
	if diff := cmp.Diff(map[string]int64{"multi": checks, "incr": checks, "expire": checks, "exec": checks}, d.calls(t)); diff != "" {
		t.Errorf("commands of %d checks (-want +got):\n%s", checks, diff)
	}
	if got := d.server.Do("KEYS", "*:203.0.113.9:*"); got != "ratelimit:engine:203.0.113.9:1700000040" {
		t.Errorf("key = %q", got)
	}
	livesFor(t, d.server, "ratelimit:engine:203.0.113.9:1700000040", time.Minute)
}

func TestRL25_a_cost_is_INCRBY_and_a_peek_is_one_GET(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	trips := d.roundTrips(t, func() {
		if got := d.check(t, minute(), 5).Remaining; got != 115 {
			t.Errorf("remaining after 5 = %d", got)
		}
		for range checks {
			if got := d.check(t, minute(), 0).Remaining; got != 115 {
				t.Fatalf("remaining at a peek = %d", got)
			}
		}
	})
	if trips != checks+1 {
		t.Errorf("%d checks took %d round trips", checks+1, trips)
	}
	if diff := cmp.Diff(map[string]int64{"multi": 1, "incrby": 1, "expire": 1, "exec": 1, "get": checks}, d.calls(t)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestRL3_RL7_what_needs_no_state_never_reaches_Redis(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.server.ResetCommandCalls()
	for range checks {
		d.check(t, &ratelimit.Policy{}, 1)
		d.check(t, minute(), 121)
	}
	if calls := d.calls(t); len(calls) > 0 {
		t.Errorf("commands = %v, want none", calls)
	}
}

func TestRL25_every_hit_renews_the_end_of_its_key(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.check(t, minute(), 1)
	d.server.Do("PERSIST", "ratelimit:engine:203.0.113.9:1700000040")
	d.check(t, minute(), 1)
	everyKeyEnds(t, d.server)
}

func TestRL57_RL58_keys_are_written_as_published(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tested := 0
	for _, row := range storetest.Published(t).RedisKeys {
		start, err := strconv.ParseInt(row.Tail, 10, 64)
		if err != nil {
			continue // A tag of another algorithm.
		}
		tested++
		d.server.Do("FLUSHALL")
		key := ratelimit.Key{Namespace: row.Namespace, Identifier: row.Identifier}
		at := time.Unix(start+17, 0)
		if _, err := d.Take(t.Context(), ratelimit.Request{Key: key, Policy: minute(), Cost: 1, Now: at}); err != nil {
			t.Errorf("%s: %v", row.Note, err)
		}
		if got := d.server.Do("KEYS", "*"); got != row.Key {
			t.Errorf("%s: key = %q, want %q", row.Note, got, row.Key)
		}
	}
	if tested < 5 {
		t.Errorf("%d rows tested", tested)
	}
}

func TestRL57_windows_below_a_second_have_milliseconds_in_their_keys(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	short := &ratelimit.Policy{Limit: 5, Window: 500 * time.Millisecond}
	at := sharedAt.Add(700 * time.Millisecond)
	if _, err := d.Take(t.Context(), ratelimit.Request{Key: shared, Policy: short, Cost: 2, Now: at}); err != nil {
		t.Fatal(err)
	}
	const key = "ratelimit:engine:203.0.113.9:1700000040500ms"
	if got := d.server.Do("MGET", key); got != "2" && got != "(nil)" { // It lives for half a second only.
		t.Errorf("%s = %q, want 2", key, got)
	}
	everyKeyEnds(t, d.server)
}

func TestRL24_RL52_a_counter_at_its_end_denies_and_is_no_failure(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.server.Do("SET", "ratelimit:engine:203.0.113.9:1700000040", "9223372036854775800", "EX", "60")
	for range 2 * callers {
		if got := d.check(t, minute(), 100); got.Allowed || got.Remaining != 0 {
			t.Fatalf("decision = %+v, want a denial", got)
		}
	}
	if h := d.Health(); h.Open || h.LastError != "" {
		t.Errorf("health = %+v, want it untouched", h)
	}
}

func TestRL52_a_foreign_value_is_an_error_of_its_own(t *testing.T) {
	t.Parallel()
	first := minute()
	first.Align = ratelimit.AlignFirstRequest
	for _, c := range []struct {
		name  string
		plant []string
		p     *ratelimit.Policy
		cost  int64
	}{
		{"a list", []string{"RPUSH", "ratelimit:engine:203.0.113.9:1700000040", "x"}, minute(), 1},
		{"a text", []string{"SET", "ratelimit:engine:203.0.113.9:1700000040", "x"}, minute(), 1},
		{"a text at a peek", []string{"SET", "ratelimit:engine:203.0.113.9:1700000040", "x"}, minute(), 0},
		{"a list at a peek", []string{"RPUSH", "ratelimit:engine:203.0.113.9:1700000040", "x"}, minute(), 0},
		{"a text where a script writes", []string{"SET", "ratelimit:engine:203.0.113.9:ff", "x"}, first, 1},
		{"a list where a script writes", []string{"RPUSH", "ratelimit:engine:203.0.113.9:ff", "x"}, first, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.server.Do(c.plant...)
			for range 2 * callers {
				_, err := d.Take(t.Context(), ratelimit.Request{Key: shared, Policy: c.p, Cost: c.cost})
				failed, ok := errors.AsType[*redisstore.Error](err)
				if !ok || !errors.Is(err, ratelimit.ErrStoreData) || failed.Class() != redisstore.ClassData {
					t.Fatalf("take: %v, want ErrStoreData", err)
				}
			}
			if err := d.Available(); err != nil {
				t.Errorf("a foreign value under one key opened the breaker: %v", err)
			}
			if got := strings.Count(d.log.String(), "\n"); got != 1 || !strings.Contains(d.log.String(), "key_digest=") {
				t.Errorf("log has %d lines, want one with a digest:\n%s", got, d.log)
			}
			if strings.Contains(d.log.String(), shared.Identifier) {
				t.Errorf("the log names the client:\n%s", d.log)
			}
		})
	}
}

func TestRL49_a_client_that_hangs_up_does_not_undo_its_count(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Take(ctx, ratelimit.Request{Key: shared, Policy: minute(), Cost: 1}); err != nil {
		t.Errorf("take for a caller that left: %v", err)
	}
	if got := d.check(t, minute(), 0).Remaining; got != 119 {
		t.Errorf("remaining = %d, want 119", got)
	}
}

func TestRL55_scripts_survive_a_flush(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := minute()
	first.Align = ratelimit.AlignFirstRequest
	for want := int64(119); want > 110; want-- {
		if got := d.check(t, first, 1).Remaining; got != want {
			t.Fatalf("remaining = %d, want %d: each check counts once", got, want)
		}
		d.server.Do("SCRIPT", "FLUSH")
	}
	d.check(t, first, 1)
	d.server.ResetCommandCalls()
	d.check(t, first, 1)
	if calls := d.calls(t); calls["evalsha"] != 1 || calls["eval"] != 0 {
		t.Errorf("commands = %v, want one EVALSHA", calls)
	}
}

func TestRL55_a_denial_writes_nothing_but_an_end_that_is_missing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := &ratelimit.Policy{Limit: 1, Window: time.Minute, Align: ratelimit.AlignFirstRequest}
	const key = "ratelimit:engine:203.0.113.9:ff"
	d.check(t, first, 1)
	written := d.server.Do("GET", key)
	d.server.Do("PEXPIRE", key, "30000")
	if d.check(t, first, 1).Allowed {
		t.Fatal("the second check of one passed")
	}
	livesFor(t, d.server, key, 30*time.Second)
	d.server.Do("PERSIST", key)
	if d.check(t, first, 1).Allowed {
		t.Fatal("the third check of one passed")
	}
	everyKeyEnds(t, d.server)
	if got := d.server.Do("GET", key); got != written {
		t.Errorf("state after denials = %q, want %q", got, written)
	}
}

func TestRL56_scripts_use_the_clock_of_the_server(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := &ratelimit.Policy{Limit: 1, Window: time.Hour, Align: ratelimit.AlignFirstRequest}
	d.check(t, first, 1)
	text, _, _ := strings.Cut(d.server.Do("TIME"), "\n")
	now, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	state := strings.Fields(d.server.Do("GET", "ratelimit:engine:203.0.113.9:ff"))
	if len(state) != 3 || len(state[1]) < len(text) {
		t.Fatalf("state = %v, want a start of about %d s", state, now)
	}
	if start, err := strconv.ParseInt(state[1][:len(text)], 10, 64); err != nil || start > now || start < now-60 {
		t.Errorf("state = %v, want a start of about %d s", state, now)
	}
}

func TestRL17_far_instants_are_judged_too(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := minute()
	first.Align = ratelimit.AlignFirstRequest
	for _, p := range []*ratelimit.Policy{minute(), first} {
		for _, year := range []int{-9999, 1, 1969, 2999, 9999} {
			key := ratelimit.Key{Namespace: "far", Identifier: strconv.Itoa(year)}
			at := time.Date(year, time.July, 1, 12, 0, 30, 0, time.UTC)
			for want := int64(119); want > 116; want-- {
				got, err := d.Take(t.Context(), ratelimit.Request{Key: key, Policy: p, Cost: 1, Now: at})
				if err != nil || !got.Allowed || got.Remaining != want || got.Reset <= 0 || got.Reset > time.Minute {
					t.Errorf("%s in the year %d: %+v, %v, want %d left", p.Align, year, got, err, want)
				}
			}
		}
	}
	everyKeyEnds(t, d.server)
}

func TestPackage_documents_every_permission_that_is_needed(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	server.Do("ACL", "SETUSER", "app", "on", ">"+secret, "~ratelimit:*", "-@all", "+multi", "+exec", "+incr", "+incrby", "+expire",
		"+pexpire", "+set", "+get", "+del", "+ping", "+select", "+eval", "+evalsha", "+script|load", "+pttl", "+time",
		"+zadd", "+zcard", "+zcount", "+zrange", "+zrem", "+zremrangebyscore", "+zscore",
		"+hset", "+hget", "+hmget", "+hdel", "+zrangebylex", "+zscan")
	log := &logBook{}
	s := open(t, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{"redis://app:" + secret + "@" + server.Addr + "/1"}, Budget: redisstore.Patient},
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	short := minute()
	short.Window = time.Minute + time.Millisecond
	policies := []*ratelimit.Policy{minute(), short}
	for _, p := range byScript(9, time.Minute) {
		policies = append(policies, p)
	}
	for _, p := range policies {
		for _, cost := range []int64{0, 1, 2} {
			r := ratelimit.Request{Key: shared, Policy: p, Cost: cost, Lease: "a"}
			if _, err := s.Take(t.Context(), r); err != nil {
				t.Errorf("take %d: %v", cost, err)
			}
			if err := s.TakeAll(t.Context(), []ratelimit.Request{r}, make([]ratelimit.Decision, 1)); err != nil {
				t.Errorf("take %d together: %v", cost, err)
			}
		}
		if renewed, err := s.Renew(t.Context(), shared, p, "a"); err != nil || renewed != (p.Name == "cc") {
			t.Errorf("renew: %t, %v", renewed, err)
		}
		if err := s.Release(t.Context(), shared, p, "a"); err != nil {
			t.Errorf("release: %v", err)
		}
		if err := s.Reset(t.Context(), shared, p); err != nil {
			t.Errorf("reset: %v", err)
		}
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	useRegisters(t, s)
	if log.String() != "" {
		t.Errorf("log = %s", log)
	}
}

// useRegisters uses everything that bans and circuits need.
func useRegisters(t *testing.T, s *redisstore.Store) {
	t.Helper()
	bans, circuits, now := s.Bans(), s.Circuits(), time.Now()
	strikes(t, bans, "a", now)
	_, page := bans.Page(t.Context(), ratelimit.BanQuery{Now: now})
	_, lift := bans.Lift(t.Context(), "login", "", now)
	_, offer := circuits.Offer(t.Context(), "server", time.Minute, ratelimit.CircuitCounts{Offered: 1}, now)
	_, open := circuits.Swap(t.Context(), "server", 0, ratelimit.CircuitRecord{State: ratelimit.CircuitOpen})
	_, closed := circuits.Swap(t.Context(), "server", 1, ratelimit.CircuitRecord{State: ratelimit.CircuitClosed})
	err := errors.Join(page, lift, offer, open, closed, bans.Forgive(t.Context(), login(), "a"),
		bans.Put(t.Context(), ratelimit.Ban{Rule: "manual", Identifier: "b", From: now.Add(-time.Hour), Until: now.Add(-time.Hour)}))
	if err != nil {
		t.Errorf("registers: %v", err)
	}
	if page, err := bans.Page(t.Context(), ratelimit.BanQuery{Now: now}); err != nil || len(page.Bans) > 0 {
		t.Errorf("a list of what has ended: %+v, %v", page, err)
	}
}
