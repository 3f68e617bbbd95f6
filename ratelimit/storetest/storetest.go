// Package storetest is the contract that every limiter store keeps, as runnable tests.
//
// A store's own tests call [Run] with a function that makes an empty store. The package also holds the published numbers
// of the limiter ([Published]) for the tests of the packages around it.
package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// origin is the instant at which most of the contract happens: it lies inside a window of every length used here.
var origin = time.Unix(1_767_225_617, 250_000_000)

// Run tests one store against the contract (rules RL5 to RL8, RL12, RL14, RL16, RL22 to RL41, RL136, RL137, RL143).
// newStore returns an empty store and registers its end with t.Cleanup. Instants are given with every check, so that a
// store needs no clock of the test. A store serves the named algorithms. All others, and windows that the first request
// opens, it may refuse with ratelimit.ErrConfig, and that is tested instead. The parts about requests judged together
// test a store that has the methods.
func Run(t *testing.T, newStore func(t *testing.T) ratelimit.Store, served ...ratelimit.Algorithm) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(s subject)
	}{
		{"RL136 every published vector comes out as written", subject.vectors},
		{"RL137 the named algorithms are served", subject.promises},
		{"RL122 keys and namespaces share no counter", subject.independence},
		{"RL57 no algorithm reads the state of another", subject.kinds},
		{"RL137 callers at one time admit exactly the limit", subject.concurrentCallers},
		{"RL6 a peek tells the truth and changes nothing", subject.peek},
		{"RL5 costs count in full", subject.costs},
		{"RL7 an impossible cost is denied for ever and not counted", subject.impossibleCost},
		{"RL3 limit 0 is no limit", subject.noLimit},
		{"RL11 misuse is an error of its own", subject.misuse},
		{"RL22 the next window starts full", subject.rollover},
		{"RL12 a changed policy keeps its count", subject.policyChange},
		{"RL12 RL38 a meter keeps its level", subject.meterChange},
		{"RL16 a clock that goes back re-enters the window before", subject.backwards},
		{"RL137 reset forgets one key", subject.reset},
		{"RL40 windows and meters hold no leases", subject.noLeases},
		{"RL40 a place is held until it is released or lapses", subject.places},
		{"RL40 a lease is renewed while it lives", subject.renewal},
		{"RL40 places are exact for callers at one time", subject.concurrentPlaces},
		{"RL14 requests are judged in order up to the first denial", subject.inOrder},
		{"RL143 requests are charged together or not at all", subject.allOrNone},
		{"RL143 callers at one time charge all or none", subject.concurrentAllOrNone},
		{"RL1 the zero instant is the store's clock", subject.storeClock},
		{"RL1 decisions equal those of Step bit for bit", subject.differential},
		{"RL40 decisions equal those of Judge bit for bit", subject.differentialLeases},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.test(subject{T: t, store: newStore(t), served: served, leases: &atomic.Int64{}})
		})
	}
}

// Algorithms returns every algorithm, for stores that serve them all.
func Algorithms() []ratelimit.Algorithm {
	return append(counting(), ratelimit.Concurrency)
}

// counting returns the algorithms that count costs: all but Concurrency.
func counting() []ratelimit.Algorithm {
	return []ratelimit.Algorithm{
		ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.SlidingLog,
		ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA,
	}
}

// subject is the store under test, and the test.
type subject struct {
	*testing.T

	store  ratelimit.Store
	served []ratelimit.Algorithm
	// leases counts the names given to those who take a place.
	leases *atomic.Int64
}

// ask puts a check to the store. One that needs a lease and has none gets a new one.
func (s subject) ask(r ratelimit.Request) (ratelimit.Decision, error) {
	if r.Policy != nil && r.Policy.Algorithm == ratelimit.Concurrency && r.Lease == "" {
		r.Lease = fmt.Sprintf("lease-%d", s.leases.Add(1))
	}
	return s.store.Take(s.Context(), r) //nolint:wrapcheck // The store's error is what is tested.
}

func (s subject) take(r ratelimit.Request) ratelimit.Decision {
	s.Helper()
	d, err := s.ask(r)
	if err != nil {
		s.Fatalf("take %d of %v at %v: %v", r.Cost, r.Key, r.Now, err)
	}
	return d
}

// aligns returns the policies of both alignments with these numbers, without the one that the store refuses.
func (s subject) aligns(limit int64, window time.Duration) []*ratelimit.Policy {
	s.Helper()
	clock := &ratelimit.Policy{Name: "clock", Limit: limit, Window: window}
	first := &ratelimit.Policy{Name: "first", Limit: limit, Window: window, Align: ratelimit.AlignFirstRequest}
	if !s.serves(first) {
		return []*ratelimit.Policy{clock}
	}
	return []*ratelimit.Policy{clock, first}
}

// counting returns a policy of every algorithm and alignment with these numbers that counts costs and is served.
func (s subject) counting(limit int64, window time.Duration) []*ratelimit.Policy {
	s.Helper()
	policies := s.aligns(limit, window)
	for _, algorithm := range counting()[1:] {
		p := &ratelimit.Policy{Name: string(algorithm), Algorithm: algorithm, Limit: limit, Window: window}
		if s.serves(p) {
			policies = append(policies, p)
		}
	}
	return policies
}

// concurrency returns the policy of places with these numbers, or skips what follows by returning nil.
func (s subject) concurrency(limit int64, window time.Duration) *ratelimit.Policy {
	s.Helper()
	p := &ratelimit.Policy{Name: "concurrency", Algorithm: ratelimit.Concurrency, Limit: limit, Window: window}
	if !s.serves(p) {
		return nil
	}
	return p
}

func (s subject) promises() {
	for _, algorithm := range s.served {
		p := &ratelimit.Policy{Name: "promise", Algorithm: algorithm, Limit: 5, Window: time.Minute}
		if !s.serves(p) {
			s.Errorf("%s is refused", algorithm)
		}
	}
	for _, algorithm := range Algorithms() {
		p := &ratelimit.Policy{Name: "promise", Algorithm: algorithm, Limit: 5, Window: time.Minute}
		if err := ratelimit.Serves(s.store, p); (err == nil) != s.serves(p) {
			s.Errorf("%s: the store says %v of what it serves, and does otherwise", algorithm, err)
		}
		if err := s.store.Reset(s.Context(), ratelimit.Key{Namespace: "promise"}, p); (err == nil) != s.serves(p) {
			s.Errorf("%s: reset: %v", algorithm, err)
		}
	}
}

// serves says whether the store takes checks of the policy. What it does not take it must refuse as ErrConfig.
func (s subject) serves(p *ratelimit.Policy) bool {
	s.Helper()
	_, err := s.store.Take(s.Context(), request("probe", "probe", p, 0))
	if err != nil && !errors.Is(err, ratelimit.ErrConfig) {
		s.Fatalf("take with %+v: %v, want a decision or ErrConfig", p, err)
	}
	return err == nil
}

// request returns a check at the origin. The three meters share the state of a key, and get namespaces of their own.
func request(namespace, identifier string, p *ratelimit.Policy, cost int64) ratelimit.Request {
	if p != nil && (p.Algorithm == ratelimit.LeakyBucket || p.Algorithm == ratelimit.GCRA) {
		namespace += "-" + string(p.Algorithm)
	}
	return ratelimit.Request{Key: ratelimit.Key{Namespace: namespace, Identifier: identifier}, Policy: p, Cost: cost, Now: origin}
}

func (s subject) independence() {
	identifiers := []string{
		"203.0.113.9", "203.0.113.90", "2001:db8:1:2::/64", "alice", "Alice", "a b", "a  b", "", "x{y}", "h_abc",
		strings.Repeat("long", 100), strings.Repeat("long", 100) + "!", "line\r\nbreak", "ключ", "engine:203.0.113.9", "*",
	}
	for _, p := range s.counting(2, time.Minute) {
		for _, namespace := range []string{"independent", "independent-2", "a_b", "0"} {
			for _, identifier := range identifiers {
				r := request(namespace, identifier, p, 2)
				if d := s.take(r); !d.Allowed || d.Remaining != 0 {
					s.Errorf("%s: first check of %q in %q: %+v, want it allowed with nothing left", p.Name, identifier, namespace, d)
				}
				if d := s.take(r); d.Allowed {
					s.Errorf("%s: second check of %q in %q passed", p.Name, identifier, namespace)
				}
			}
		}
	}
}

// kinds takes all that each policy has under one key. The three meters are one law and share their state.
func (s subject) kinds() {
	for _, p := range s.counting(2, time.Minute) {
		want := int64(2)
		if p.Algorithm == ratelimit.LeakyBucket || p.Algorithm == ratelimit.GCRA {
			want = 0
		}
		r := request("kinds", "k", p, 0)
		r.Key.Namespace = "kinds"
		if d := s.take(r); d.Remaining != want {
			s.Errorf("%s: %+v, want %d left", p.Name, d, want)
		}
		r.Cost = want
		s.take(r)
	}
	if p := s.concurrency(2, time.Minute); p != nil {
		if d := s.take(request("kinds", "k", p, 1)); !d.Allowed || d.Remaining != 1 {
			s.Errorf("%s: %+v, want its own state", p.Name, d)
		}
	}
}

func (s subject) concurrentCallers() {
	const callers, limit = 64, 100
	for _, p := range s.counting(limit, time.Hour) {
		var admitted atomic.Int64
		var group sync.WaitGroup
		for range callers {
			group.Go(func() { admitted.Add(s.call(request("callers", "all", p, 1))) })
		}
		group.Wait()
		if got := admitted.Load(); got != limit {
			s.Errorf("%s: %d callers at one time: %d checks admitted, want exactly %d", p.Name, callers, got, limit)
		}
	}
}

// call makes a caller's checks and returns how many were admitted.
func (s subject) call(r ratelimit.Request) (admitted int64) {
	const checks = 4
	for range checks {
		d, err := s.ask(r)
		if err != nil {
			s.Errorf("take %d of %v: %v", r.Cost, r.Key, err)
		}
		if d.Allowed {
			admitted++
		}
	}
	return admitted
}

func (s subject) peek() {
	for _, p := range s.counting(3, time.Minute) {
		peek := request("peek", "k", p, 0)
		for range 5 {
			if d := s.take(peek); !d.Allowed || d.Remaining != 3 || d.Reset != 0 || d.Next != 0 {
				s.Errorf("%s: peek at an untouched key: %+v, want it full", p.Name, d)
			}
		}
		taken := s.take(request("peek", "k", p, 3))
		for range 5 {
			if d := s.take(peek); !d.Allowed || d.Remaining != 0 || d.Reset != taken.Reset || d.RetryAfter != 0 {
				s.Errorf("%s: peek at a used up key: %+v, want it allowed with the reset of %+v", p.Name, d, taken)
			}
		}
	}
}

func (s subject) costs() {
	for _, p := range s.counting(10, time.Minute) {
		if d := s.take(request("costs", "k", p, 8)); !d.Allowed || d.Remaining != 2 {
			s.Errorf("%s: 8 of 10: %+v", p.Name, d)
		}
		if d := s.take(request("costs", "k", p, 5)); d.Allowed || d.RetryAfter > d.Reset || d.RetryAfter <= 0 {
			s.Errorf("%s: 5 of the 2 that are left: %+v, want it denied until the reset or before", p.Name, d)
		}
		// RL23: a window on the clock has counted the denied check; RL27: no other has.
		if d := s.take(request("costs", "k", p, 1)); d.Allowed == (p.Name == "clock") {
			s.Errorf("%s: 1 after the denied check: %+v", p.Name, d)
		}
	}
}

func (s subject) impossibleCost() {
	for _, p := range s.counting(3, time.Minute) {
		for _, cost := range []int64{4, 1_000_000, 1<<63 - 1} {
			d := s.take(request("impossible", "k", p, cost))
			if d.Allowed || d.RetryAfter != ratelimit.Never || d.Remaining != 0 || d.Reset != 0 {
				s.Errorf("%s: cost %d of limit 3: %+v, want it denied for ever", p.Name, cost, d)
			}
		}
		if d := s.take(request("impossible", "k", p, 3)); !d.Allowed {
			s.Errorf("%s: the limit after impossible costs: %+v", p.Name, d)
		}
	}
}

func (s subject) noLimit() {
	zero := &ratelimit.Policy{}
	for _, cost := range []int64{0, 1, 1_000_000} {
		if d := s.take(request("none", "k", zero, cost)); !d.Allowed || !d.Skipped || d.Limit != 0 || d.Reset != 0 {
			s.Errorf("cost %d without a limit: %+v, want it skipped", cost, d)
		}
	}
	limited := &ratelimit.Policy{Limit: 1, Window: time.Minute}
	if d := s.take(request("none", "k", limited, 1)); !d.Allowed {
		s.Errorf("skipped checks were counted: %+v", d)
	}
}

func (s subject) misuse() {
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
		if d, err := s.store.Take(s.Context(), c.r); !errors.Is(err, c.want) || d.Allowed {
			s.Errorf("%s: %+v, %v, want %v", c.name, d, err, c.want)
		}
	}
	if d := s.take(request("misuse", "k", good, 1)); !d.Allowed {
		s.Errorf("misuse was counted: %+v", d)
	}
}

func (s subject) reset() {
	for _, p := range s.counting(1, 3650*24*time.Hour) {
		r, other, elsewhere := request("reset", "k", p, 1), request("reset", "other", p, 1), request("reset-2", "k", p, 1)
		for _, used := range []ratelimit.Request{r, other, elsewhere} {
			used.Now = time.Time{} // What a reset forgets is the present, so that the store's clock decides.
			s.take(used)
		}
		if err := s.store.Reset(s.Context(), r.Key, p); err != nil {
			s.Fatalf("%s: reset: %v", p.Name, err)
		}
		if err := s.store.Reset(s.Context(), ratelimit.Key{Namespace: "reset", Identifier: "never seen"}, p); err != nil {
			s.Errorf("%s: reset of an unknown key: %v", p.Name, err)
		}
		r.Now, other.Now, elsewhere.Now = time.Time{}, time.Time{}, time.Time{}
		r.Cost, other.Cost, elsewhere.Cost = 0, 0, 0
		if d := s.take(r); d.Remaining != 1 {
			s.Errorf("%s: after the reset: %+v, want it full", p.Name, d)
		}
		for _, kept := range []ratelimit.Request{other, elsewhere} {
			if d := s.take(kept); d.Remaining != 0 {
				s.Errorf("%s: the reset of %v touched %v: %+v", p.Name, r.Key, kept.Key, d)
			}
		}
	}
}

func (s subject) storeClock() {
	for _, p := range s.counting(5, time.Hour) {
		r := request("clock", "k", p, 2)
		r.Now = time.Time{}
		d := s.take(r)
		if !d.Allowed || d.Remaining != 3 || d.Reset <= 0 || d.Reset > 2*time.Hour || d.Policy != p {
			s.Errorf("%s: %+v, want 3 left until the end of the present window", p.Name, d)
		}
	}
}
