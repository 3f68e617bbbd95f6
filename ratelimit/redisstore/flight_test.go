package redisstore_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// stop is a store of two flights, both of which can be held up on their way to a server.
type stop struct {
	*redisstore.Store
	t      *testing.T
	server *testkit.Redis
	held   sync.WaitGroup
}

func newStop(t *testing.T) *stop {
	t.Helper()
	s := &stop{t: t, server: testkit.StartRedis(t)}
	s.Store = open(t, redisstore.Options{
		Config:       redisstore.Config{Addrs: []string{s.server.Addr}, Budget: redisstore.Patient},
		BatchFlights: 2, WithoutLocalDenials: true,
	})
	return s
}

// hold pauses the server with two peeks on their way, so that every later check waits until it goes on.
func (s *stop) hold() {
	s.t.Helper()
	s.server.ResetCommandCalls()
	s.server.Pause()
	for i, out := range []func() bool{
		func() bool { return s.Stats().Alone == 1 },
		func() bool { return s.Stats().Batches == 1 },
	} {
		s.held.Go(func() { _, _ = s.Take(s.t.Context(), one("held-"+strconv.Itoa(i), 0)) })
		testkit.Eventually(s.t, "a check to be on its way", out)
	}
}

// must makes a check that must not fail.
func (s *stop) must(r ratelimit.Request) ratelimit.Decision {
	s.t.Helper()
	d, err := s.Take(s.t.Context(), r)
	if err != nil {
		s.t.Errorf("take: %v", err)
	}
	return d
}

// gather makes checks that wait until the server goes on, and returns the error of each.
func (s *stop) gather(requests []ratelimit.Request) []error {
	s.t.Helper()
	s.hold()
	errs := make([]error, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() { _, errs[i] = s.Take(s.t.Context(), r) })
	}
	testkit.Eventually(s.t, "every check to wait", func() bool { return s.Stats().QueueDepth == len(requests) })
	s.server.Resume()
	group.Wait()
	s.held.Wait()
	return errs
}

func one(identifier string, cost int64) ratelimit.Request {
	return ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: identifier}, Policy: minute(), Cost: cost, Now: sharedAt}
}

func many(n int) []ratelimit.Request {
	requests := make([]ratelimit.Request, n)
	for i := range requests {
		requests[i] = one("client-"+strconv.Itoa(i), 1)
	}
	return requests
}

func textOf(identifier string) string { return "ratelimit:engine:" + identifier + ":1700000040" }

// commands are what a server ran, without what tests and connections need.
func commands(server *testkit.Redis) map[string]int64 {
	calls := server.CommandCalls()
	for _, name := range []string{"hello", "info", "config|resetstat", "acl|setuser", "get", "ping"} {
		delete(calls, name)
	}
	return calls
}

// withoutSkew leaves out what depends on the clocks.
var withoutSkew = cmpopts.IgnoreFields(redisstore.Stats{}, "ClockSkew")

func TestRL53_an_idle_store_is_asked_at_once(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	trips := d.roundTrips(t, func() {
		for range checks {
			d.check(t, minute(), 1)
		}
	})
	want := redisstore.Stats{Alone: checks}
	if diff := cmp.Diff(want, d.Stats(), withoutSkew); diff != "" || trips != checks {
		t.Errorf("%d round trips for %d checks; stats (-want +got):\n%s", trips, checks, diff)
	}
}

func TestRL53_RL54_waiting_checks_are_one_transaction(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	first := minute()
	first.Align = ratelimit.AlignFirstRequest
	requests := append(many(40), one("client-0", 0), one("client-1", 0), one("cost", 5))
	requests[0].Policy = first
	for i, err := range s.gather(requests) {
		if err != nil {
			t.Errorf("check %d: %v", i, err)
		}
	}
	want := map[string]int64{"multi": 1, "exec": 1, "incr": 39, "expire": 40, "incrby": 1, "evalsha": 1, "set": 1}
	if diff := cmp.Diff(want, commands(s.server)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	// Two checks were on their way before, one of them in a flight of its own.
	stats := redisstore.Stats{Alone: 1, Batches: 2, Batched: 44}
	stats.BatchSizes[0], stats.BatchSizes[6] = 1, 1
	if diff := cmp.Diff(stats, s.Stats(), withoutSkew); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	everyKeyEnds(t, s.server)
}

func TestRL52_RL53_each_check_of_a_batch_has_its_own_answer_and_its_own_error(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	s.server.Do("RPUSH", textOf("list"), "x")
	s.server.Do("SET", textOf("text"), "x")
	s.server.Do("SET", textOf("peeked"), "x")
	s.server.Do("SET", textOf("full"), "9223372036854775807")
	first := minute()
	first.Align = ratelimit.AlignFirstRequest
	scripted := one("scripted", 1)
	scripted.Policy = first
	s.server.Do("SET", "ratelimit:engine:scripted:ff", "x")
	requests := []ratelimit.Request{one("list", 1), one("text", 2), one("peeked", 0), one("full", 1), scripted}
	broken := 3
	for i := range 30 {
		requests = append(requests, one("same", int64(i%2)+1))
	}
	errs := s.gather(requests)
	for i, err := range errs {
		bad := i < broken || i == 4
		if bad != errors.Is(err, ratelimit.ErrStoreData) || !bad && err != nil {
			t.Errorf("check %d of %s: %v", i, requests[i].Key.Identifier, err)
		}
	}
	if got := s.must(one("same", 0)).Remaining; got != 120-45 {
		t.Errorf("the healthy key has %d left, want 75", got)
	}
	if h := s.Health(); h.Open || h.LastError != "" {
		t.Errorf("health = %+v, want it untouched", h)
	}
}

func TestRL24_RL52_an_overflow_in_a_batch_is_denied(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	s.server.Do("SET", textOf("full"), "9223372036854775807")
	s.hold()
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if d := s.must(one("full", 1)); d.Allowed || d.Remaining != 0 {
				t.Errorf("decision = %+v, want a denial", d)
			}
		})
	}
	testkit.Eventually(t, "every check to wait", func() bool { return s.Stats().QueueDepth == 5 })
	s.server.Resume()
	group.Wait()
	s.held.Wait()
}

func TestRL52_what_another_check_kept_from_running_is_sent_once_more(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	var requests []ratelimit.Request
	for i := range 20 {
		requests = append(requests, one("client-"+strconv.Itoa(i), 2))
	}
	requests[3].Cost, requests[11].Cost = 1, 1
	// Whoever may not INCR may still INCRBY.
	s.server.Do("ACL", "SETUSER", "default", "-incr")
	errs := s.gather(requests)
	for i, err := range errs {
		failed, ok := errors.AsType[*redisstore.Error](err)
		if requests[i].Cost == 1 {
			if !ok || failed.Class() != redisstore.ClassConfig {
				t.Errorf("check %d: %v, want what the server refused", i, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("check %d was kept from running: %v", i, err)
		}
		if got := s.server.Do("GET", textOf(requests[i].Key.Identifier)); got != "2" {
			t.Errorf("check %d of cost 2 counted %s", i, got)
		}
	}
}

func TestRL49_a_caller_that_hangs_up_while_it_waits_is_counted(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	s.hold()
	ctx, cancel := context.WithCancel(t.Context())
	var left sync.WaitGroup
	left.Go(func() {
		if d, err := s.Take(ctx, one("gone", 1)); err != nil || d.Remaining != 119 {
			t.Errorf("take for a caller that left: %+v, %v", d, err)
		}
	})
	testkit.Eventually(t, "the check to wait", func() bool { return s.Stats().QueueDepth == 1 })
	cancel()
	s.server.Resume()
	left.Wait()
	s.held.Wait()
	if got := s.server.Do("GET", textOf("gone")); got != "1" {
		t.Errorf("Redis counted %s", got)
	}
}

func TestRL53_a_check_whose_time_passed_in_the_queue_is_not_sent(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	s.server.ResetCommandCalls()
	for _, err := range s.CarryTogether(t.Context(), nil, time.Now().Add(-time.Millisecond), "a", "b", "c") {
		failed, ok := errors.AsType[*redisstore.Error](err)
		if !ok || failed.Class() != redisstore.ClassTransport || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want that the time is over", err)
		}
	}
	if stats := s.Stats(); stats.Dropped != 3 || stats.Batches != 0 {
		t.Errorf("stats = %+v, want three dropped", stats)
	}
	if calls := commands(s.server); len(calls) > 0 {
		t.Errorf("commands = %v", calls)
	}
}

func TestRL53_the_queue_is_bounded(t *testing.T) {
	t.Parallel()
	const room, over = 4096, 100
	s := newStop(t)
	fallback, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Name: "engine", Store: s.Store, OnFailure: ratelimit.FailMemory, Fallback: fallback})
	if err != nil {
		t.Fatal(err)
	}
	s.hold()
	var group sync.WaitGroup
	for range room {
		group.Go(func() { s.must(one("crowd", 1)) })
	}
	testkit.Eventually(t, "the queue to be full", func() bool { return s.Stats().QueueDepth == room })
	for range over {
		d, err := limiter.Check(t.Context(), one("late", 1))
		if err != nil || d.Degraded != ratelimit.Memory {
			t.Errorf("a check for which there is no room: %+v, %v", d, err)
		}
	}
	if err := s.Available(); err != nil {
		t.Errorf("a full queue is held against Redis: %v", err)
	}
	s.server.Resume()
	group.Wait()
	s.held.Wait()
	if got := limiter.Counts().Degraded["queue_full"]; got != over || s.Stats().QueueFull != over {
		t.Errorf("%d degraded for a full queue, stats %+v, want %d", got, s.Stats(), over)
	}
	if got := s.server.Do("GET", textOf("crowd")); got != strconv.Itoa(room) {
		t.Errorf("Redis counted %s of %d", got, room)
	}
	if n := s.Stats().BatchSizes[8]; n < room/256 {
		t.Errorf("%d full batches, want %d", n, room/256)
	}
}

func TestRL53_flights_are_bounded(t *testing.T) {
	t.Parallel()
	addr := testkit.StartRedis(t).Addr
	for flights, good := range map[int]bool{-1: false, 0: true, 1: false, 2: true, 8: true, 9: false} {
		s, err := redisstore.New(redisstore.Options{Config: redisstore.Config{Addrs: []string{addr}}, BatchFlights: flights})
		if (err == nil) != good || !good && !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%d flights: %v", flights, err)
		}
		if s != nil {
			_ = s.Close()
		}
	}
}

func TestRL48_flights_have_connections_before_they_need_them(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	proxy := testkit.StartFaultProxy(t, server.Addr)
	open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{proxy.Addr}, Budget: redisstore.Patient}, BatchFlights: 8})
	if got := proxy.Open(); got < 8 {
		t.Errorf("%d connections are open, want one for each of 8 flights", got)
	}
}

// The next test counts goroutines and runs alone.

func TestRL53_closing_sends_home_whoever_waits(t *testing.T) {
	testkit.LeavesNoGoroutine(t)
	s := newStop(t)
	s.hold()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			if _, err := s.Take(t.Context(), one(strconv.Itoa(i), 1)); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Errorf("take: %v, want ErrUnavailable", err)
			}
		})
	}
	testkit.Eventually(t, "checks to wait", func() bool { return s.Stats().QueueDepth == callers })
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	s.held.Wait()
	if took := time.Since(began); took > redisstore.Patient/2 {
		t.Errorf("closing took %v, with a budget of %v", took, redisstore.Patient)
	}
	s.server.Resume()
}
