// Package storetest is the contract that every limiter store keeps, as runnable tests.
//
// A store's own tests call [Run] with a function that makes an empty store. The package also holds the published numbers
// of the limiter ([Published]) for the tests of the packages around it.
package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// origin is the instant at which most of the contract happens: it lies inside a window of every length used here.
var origin = time.Unix(1_767_225_617, 250_000_000)

// Run tests one store against the contract (rules RL5 to RL8, RL12, RL16, RL22 to RL27, RL136, RL137). newStore returns
// an empty store and registers its end with t.Cleanup. Instants are given with every check, so that a store needs no
// clock of the test. A store that does not serve windows opened by the first request refuses them with
// ratelimit.ErrConfig, and that is tested instead.
func Run(t *testing.T, newStore func(t *testing.T) ratelimit.Store) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(t *testing.T, s subject)
	}{
		{"RL136 every published vector comes out as written", testVectors},
		{"RL122 keys and namespaces share no counter", testIndependence},
		{"RL137 callers at one time admit exactly the limit", testConcurrentCallers},
		{"RL6 a peek tells the truth and changes nothing", testPeek},
		{"RL5 costs count in full", testCosts},
		{"RL7 an impossible cost is denied for ever and not counted", testImpossibleCost},
		{"RL3 limit 0 is no limit", testNoLimit},
		{"RL11 misuse is an error of its own", testMisuse},
		{"RL22 the next window starts full", testRollover},
		{"RL12 a changed policy keeps its count", testPolicyChange},
		{"RL16 a clock that goes back re-enters the window before", testBackwards},
		{"RL137 reset forgets one key", testReset},
		{"RL40 fixed windows hold no leases", testLeases},
		{"RL1 the zero instant is the store's clock", testStoreClock},
		{"RL1 decisions equal those of Step bit for bit", testDifferential},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.test(t, subject{store: newStore(t), newStore: newStore})
		})
	}
}

// subject is the store under test.
type subject struct {
	store    ratelimit.Store
	newStore func(t *testing.T) ratelimit.Store
}

func (s subject) take(t *testing.T, r ratelimit.Request) ratelimit.Decision {
	t.Helper()
	d, err := s.store.Take(t.Context(), r)
	if err != nil {
		t.Fatalf("take %d of %v at %v: %v", r.Cost, r.Key, r.Now, err)
	}
	return d
}

// aligns returns the policies of both alignments with these numbers, without the one that the store refuses.
func (s subject) aligns(t *testing.T, limit int64, window time.Duration) []*ratelimit.Policy {
	t.Helper()
	clock := &ratelimit.Policy{Name: "clock", Limit: limit, Window: window}
	first := &ratelimit.Policy{Name: "first", Limit: limit, Window: window, Align: ratelimit.AlignFirstRequest}
	if !s.serves(t, first) {
		return []*ratelimit.Policy{clock}
	}
	return []*ratelimit.Policy{clock, first}
}

// serves says whether the store takes checks of the policy. What it does not take it must refuse as ErrConfig.
func (s subject) serves(t *testing.T, p *ratelimit.Policy) bool {
	t.Helper()
	_, err := s.store.Take(t.Context(), request("probe", "probe", p, 0))
	if err != nil && !errors.Is(err, ratelimit.ErrConfig) {
		t.Fatalf("take with %+v: %v, want a decision or ErrConfig", p, err)
	}
	return err == nil
}

func request(namespace, identifier string, p *ratelimit.Policy, cost int64) ratelimit.Request {
	return ratelimit.Request{Key: ratelimit.Key{Namespace: namespace, Identifier: identifier}, Policy: p, Cost: cost, Now: origin}
}

func testVectors(t *testing.T, s subject) {
	for _, v := range Published(t).Vectors {
		if !s.serves(t, v.Policy()) {
			continue
		}
		for i, r := range v.Requests("vector-" + strings.ToLower(v.ID)) {
			if got := Expected(s.take(t, r)); got != v.Steps[i].Expect {
				t.Errorf("%v, step %d at %d ms:\n got %+v\nwant %+v", &v, i, v.Steps[i].AtMs, got, v.Steps[i].Expect)
			}
		}
	}
}

func testIndependence(t *testing.T, s subject) {
	identifiers := []string{
		"203.0.113.9", "203.0.113.90", "2001:db8:1:2::/64", "alice", "Alice", "a b", "a  b", "", "x{y}", "h_abc",
		strings.Repeat("long", 100), strings.Repeat("long", 100) + "!", "line\r\nbreak", "ключ", "engine:203.0.113.9", "*",
	}
	for _, p := range s.aligns(t, 2, time.Minute) {
		for _, namespace := range []string{"independent", "independent-2", "a_b", "0"} {
			for _, identifier := range identifiers {
				r := request(namespace, identifier, p, 2)
				if d := s.take(t, r); !d.Allowed || d.Remaining != 0 {
					t.Errorf("%s: first check of %q in %q: %+v, want it allowed with nothing left", p.Name, identifier, namespace, d)
				}
				if d := s.take(t, r); d.Allowed {
					t.Errorf("%s: second check of %q in %q passed", p.Name, identifier, namespace)
				}
			}
		}
	}
}

func testConcurrentCallers(t *testing.T, s subject) {
	const callers, checks, limit = 32, 25, 500
	for _, p := range s.aligns(t, limit, time.Hour) {
		var admitted atomic.Int64
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for range checks {
					d, err := s.store.Take(t.Context(), request("callers", "all", p, 1))
					if err != nil {
						t.Errorf("%s: %v", p.Name, err)
						return
					}
					if d.Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		group.Wait()
		if got := admitted.Load(); got != limit {
			t.Errorf("%s: %d callers with %d checks each: %d admitted, want exactly %d", p.Name, callers, checks, got, limit)
		}
	}
}

func testPeek(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 3, time.Minute) {
		peek := request("peek", "k", p, 0)
		for range 5 {
			if d := s.take(t, peek); !d.Allowed || d.Remaining != 3 || d.Reset != 0 || d.Next != 0 {
				t.Errorf("%s: peek at an untouched key: %+v, want it full", p.Name, d)
			}
		}
		taken := s.take(t, request("peek", "k", p, 3))
		for range 5 {
			if d := s.take(t, peek); !d.Allowed || d.Remaining != 0 || d.Reset != taken.Reset || d.RetryAfter != 0 {
				t.Errorf("%s: peek at a used up key: %+v, want it allowed with the reset of %+v", p.Name, d, taken)
			}
		}
	}
}

func testCosts(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 10, time.Minute) {
		if d := s.take(t, request("costs", "k", p, 8)); !d.Allowed || d.Remaining != 2 {
			t.Errorf("%s: 8 of 10: %+v", p.Name, d)
		}
		if d := s.take(t, request("costs", "k", p, 5)); d.Allowed || d.RetryAfter != d.Reset || d.RetryAfter <= 0 {
			t.Errorf("%s: 5 of the 2 that are left: %+v, want it denied until the reset", p.Name, d)
		}
		// RL23: a window on the clock has counted the denied check; RL27: one opened by the first request has not.
		if d := s.take(t, request("costs", "k", p, 1)); d.Allowed == (p.Align == "") {
			t.Errorf("%s: 1 after the denied check: %+v", p.Name, d)
		}
	}
}

func testImpossibleCost(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 3, time.Minute) {
		for _, cost := range []int64{4, 1_000_000, 1<<63 - 1} {
			d := s.take(t, request("impossible", "k", p, cost))
			if d.Allowed || d.RetryAfter != ratelimit.Never || d.Remaining != 0 || d.Reset != 0 {
				t.Errorf("%s: cost %d of limit 3: %+v, want it denied for ever", p.Name, cost, d)
			}
		}
		if d := s.take(t, request("impossible", "k", p, 3)); !d.Allowed {
			t.Errorf("%s: the limit after impossible costs: %+v", p.Name, d)
		}
	}
}

func testNoLimit(t *testing.T, s subject) {
	zero := &ratelimit.Policy{}
	for _, cost := range []int64{0, 1, 1_000_000} {
		if d := s.take(t, request("none", "k", zero, cost)); !d.Allowed || !d.Skipped || d.Limit != 0 || d.Reset != 0 {
			t.Errorf("cost %d without a limit: %+v, want it skipped", cost, d)
		}
	}
	limited := &ratelimit.Policy{Limit: 1, Window: time.Minute}
	if d := s.take(t, request("none", "k", limited, 1)); !d.Allowed {
		t.Errorf("skipped checks were counted: %+v", d)
	}
}

func testMisuse(t *testing.T, s subject) {
	good := &ratelimit.Policy{Limit: 1, Window: time.Minute}
	for _, c := range []struct {
		name string
		r    ratelimit.Request
		want error
	}{
		{"RL6 negative cost", request("misuse", "k", good, -1), ratelimit.ErrCost},
		{"no policy", request("misuse", "k", nil, 1), ratelimit.ErrConfig},
		{"RL57 empty namespace", request("", "k", good, 1), ratelimit.ErrConfig},
		{"RL57 namespace with a colon", request("a:b", "k", good, 1), ratelimit.ErrConfig},
		{"RL57 namespace with braces", request("{a}", "k", good, 1), ratelimit.ErrConfig},
		{"negative limit", request("misuse", "k", &ratelimit.Policy{Limit: -1, Window: time.Minute}, 1), ratelimit.ErrConfig},
		{"no window", request("misuse", "k", &ratelimit.Policy{Limit: 1}, 1), ratelimit.ErrConfig},
		{"no such algorithm", request("misuse", "k", &ratelimit.Policy{Algorithm: "dice", Limit: 1, Window: time.Minute}, 1), ratelimit.ErrConfig},
	} {
		if d, err := s.store.Take(t.Context(), c.r); !errors.Is(err, c.want) || d.Allowed {
			t.Errorf("%s: %+v, %v, want %v", c.name, d, err, c.want)
		}
	}
	if d := s.take(t, request("misuse", "k", good, 1)); !d.Allowed {
		t.Errorf("misuse was counted: %+v", d)
	}
}

func testRollover(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 5, 10*time.Second) {
		r := request("rollover", "k", p, 5)
		for window := range 4 {
			d := s.take(t, r)
			if !d.Allowed || d.Remaining != 0 {
				t.Fatalf("%s: window %d: %+v, want the whole limit", p.Name, window, d)
			}
			r.Now = r.Now.Add(d.Reset - time.Microsecond)
			if late := s.take(t, r); late.Allowed || late.RetryAfter != time.Microsecond {
				t.Errorf("%s: the last tick of window %d: %+v, want it denied for one tick", p.Name, window, late)
			}
			r.Now = r.Now.Add(time.Microsecond)
		}
	}
}

func testPolicyChange(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 10, time.Minute) {
		s.take(t, request("change", "k", p, 6))
		raised, lowered, longer := *p, *p, *p
		raised.Limit, lowered.Limit, longer.Window = 20, 4, 11*time.Minute
		if d := s.take(t, request("change", "k", &raised, 0)); d.Remaining != 14 {
			t.Errorf("%s: limit raised to 20 after 6: %+v, want 14 left", p.Name, d)
		}
		if d := s.take(t, request("change", "k", &lowered, 0)); d.Remaining != 0 || !d.Allowed {
			t.Errorf("%s: limit lowered to 4 after 6: %+v, want nothing left", p.Name, d)
		}
		if d := s.take(t, request("change", "k", &lowered, 1)); d.Allowed {
			t.Errorf("%s: limit lowered to 4 after 6: a check passed", p.Name)
		}
		if d := s.take(t, request("change", "k", &longer, 10)); !d.Allowed {
			t.Errorf("%s: another window: %+v, want a fresh state", p.Name, d)
		}
	}
}

func testBackwards(t *testing.T, s subject) {
	policies := s.aligns(t, 3, time.Minute)
	r := request("backwards", "clock", policies[0], 2)
	next := r
	next.Now = next.Now.Add(time.Minute)
	s.take(t, r)
	s.take(t, next)
	r.Cost, next.Cost = 1, 1
	if d := s.take(t, r); !d.Allowed || d.Remaining != 0 {
		t.Errorf("back into the window before: %+v, want its own count of 3", d)
	}
	if d := s.take(t, next); !d.Allowed || d.Remaining != 0 {
		t.Errorf("forward again: %+v, want the newer window's own count of 3", d)
	}
	if len(policies) == 1 {
		return
	}
	opened := request("backwards", "first", policies[1], 1)
	s.take(t, opened)
	opened.Now = opened.Now.Add(-10 * time.Second)
	if d := s.take(t, opened); !d.Allowed || d.Remaining != 1 || d.Reset != 70*time.Second {
		t.Errorf("before the window that was opened: %+v, want it judged at its start (RL27)", d)
	}
	opened.Now = opened.Now.Add(-2 * time.Minute)
	if d := s.take(t, opened); !d.Allowed || d.Remaining != 2 || d.Reset != time.Minute {
		t.Errorf("more than a window before it: %+v, want the state forgotten", d)
	}
}

func testReset(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 1, 3650*24*time.Hour) {
		r, other, elsewhere := request("reset", "k", p, 1), request("reset", "other", p, 1), request("reset-2", "k", p, 1)
		for _, used := range []ratelimit.Request{r, other, elsewhere} {
			used.Now = time.Time{} // What a reset forgets is the present, so that the store's clock decides.
			s.take(t, used)
		}
		if err := s.store.Reset(t.Context(), r.Key, p); err != nil {
			t.Fatalf("%s: reset: %v", p.Name, err)
		}
		if err := s.store.Reset(t.Context(), ratelimit.Key{Namespace: "reset", Identifier: "never seen"}, p); err != nil {
			t.Errorf("%s: reset of an unknown key: %v", p.Name, err)
		}
		r.Now, other.Now, elsewhere.Now = time.Time{}, time.Time{}, time.Time{}
		r.Cost, other.Cost, elsewhere.Cost = 0, 0, 0
		if d := s.take(t, r); d.Remaining != 1 {
			t.Errorf("%s: after the reset: %+v, want it full", p.Name, d)
		}
		for _, kept := range []ratelimit.Request{other, elsewhere} {
			if d := s.take(t, kept); d.Remaining != 0 {
				t.Errorf("%s: the reset of %v touched %v: %+v", p.Name, r.Key, kept.Key, d)
			}
		}
	}
}

func testLeases(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 1, time.Minute) {
		r := request("leases", "k", p, 1)
		r.Lease = "lease"
		s.take(t, r)
		if err := s.store.Release(t.Context(), r.Key, p, r.Lease); err != nil {
			t.Errorf("%s: release: %v", p.Name, err)
		}
		if renewed, err := s.store.Renew(t.Context(), r.Key, p, r.Lease); err != nil || renewed {
			t.Errorf("%s: renew: %t, %v, want no lease to renew", p.Name, renewed, err)
		}
		if d := s.take(t, r); d.Allowed {
			t.Errorf("%s: the release gave a unit back: %+v", p.Name, d)
		}
	}
}

func testStoreClock(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 5, time.Hour) {
		r := request("clock", "k", p, 2)
		r.Now = time.Time{}
		d := s.take(t, r)
		if !d.Allowed || d.Remaining != 3 || d.Reset <= 0 || d.Reset > time.Hour || d.Policy != p {
			t.Errorf("%s: %+v, want 3 left until the end of the present window", p.Name, d)
		}
	}
}

func testDifferential(t *testing.T, s subject) {
	for _, p := range s.aligns(t, 7, 10*time.Second) {
		for seed := range uint64(4) {
			compareWithStep(t, s.store, p, rand.New(rand.NewPCG(seed, 7)))
		}
	}
}

// compareWithStep sends one random sequence through the store and through Step. Instants go back by less than a window,
// since a shared store remembers older windows than a State does.
func compareWithStep(t *testing.T, store ratelimit.Store, p *ratelimit.Policy, random *rand.Rand) {
	t.Helper()
	namespace := "step-" + p.Name
	identifiers := []string{"a", "b", "c"}
	states := make([]ratelimit.State, len(identifiers))
	newest := origin.Truncate(p.Window).Add(time.Duration(random.Int64N(int64(time.Hour))).Truncate(time.Microsecond))
	for i := range identifiers {
		identifiers[i] += "-" + time.Duration(random.Int64()).String()
	}
	policy := *p
	for range 300 {
		who := random.IntN(len(identifiers))
		newest = newest.Add(time.Duration(random.Int64N(int64(p.Window) / 8)).Truncate(time.Microsecond))
		r := ratelimit.Request{
			Key:    ratelimit.Key{Namespace: namespace, Identifier: identifiers[who]},
			Policy: &policy,
			Cost:   random.Int64N(p.Limit + 2),
			Now:    newest,
		}
		if random.IntN(4) == 0 {
			r.Now = newest.Truncate(p.Window).Add(-time.Duration(random.Int64N(int64(p.Window))).Truncate(time.Microsecond))
		}
		if random.IntN(20) == 0 {
			policy.Limit = 1 + random.Int64N(2*p.Limit)
		}
		judged := policy
		r.Policy = &judged
		var want ratelimit.Decision
		states[who], want = ratelimit.Step(&judged, states[who], r.Now, r.Cost)
		got, err := store.Take(context.WithoutCancel(t.Context()), r)
		if err != nil || got != want {
			t.Fatalf("%s: %d at %v:\n got %+v, %v\nwant %+v", p.Name, r.Cost, r.Now, got, err, want)
		}
	}
}
