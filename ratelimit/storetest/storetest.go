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

// Run tests one store against the contract (rules RL5 to RL8, RL12, RL16, RL22 to RL27, RL136, RL137). newStore returns
// an empty store and registers its end with t.Cleanup. Instants are given with every check, so that a store needs no
// clock of the test. A store that does not serve windows opened by the first request refuses them with
// ratelimit.ErrConfig, and that is tested instead.
func Run(t *testing.T, newStore func(t *testing.T) ratelimit.Store) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(s subject)
	}{
		{"RL136 every published vector comes out as written", subject.vectors},
		{"RL122 keys and namespaces share no counter", subject.independence},
		{"RL137 callers at one time admit exactly the limit", subject.concurrentCallers},
		{"RL6 a peek tells the truth and changes nothing", subject.peek},
		{"RL5 costs count in full", subject.costs},
		{"RL7 an impossible cost is denied for ever and not counted", subject.impossibleCost},
		{"RL3 limit 0 is no limit", subject.noLimit},
		{"RL11 misuse is an error of its own", subject.misuse},
		{"RL22 the next window starts full", subject.rollover},
		{"RL12 a changed policy keeps its count", subject.policyChange},
		{"RL16 a clock that goes back re-enters the window before", subject.backwards},
		{"RL137 reset forgets one key", subject.reset},
		{"RL40 fixed windows hold no leases", subject.leases},
		{"RL1 the zero instant is the store's clock", subject.storeClock},
		{"RL1 decisions equal those of Step bit for bit", subject.differential},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.test(subject{T: t, store: newStore(t)})
		})
	}
}

// subject is the store under test, and the test.
type subject struct {
	*testing.T

	store ratelimit.Store
}

func (s subject) take(r ratelimit.Request) ratelimit.Decision {
	s.Helper()
	d, err := s.store.Take(s.Context(), r)
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

// serves says whether the store takes checks of the policy. What it does not take it must refuse as ErrConfig.
func (s subject) serves(p *ratelimit.Policy) bool {
	s.Helper()
	_, err := s.store.Take(s.Context(), request("probe", "probe", p, 0))
	if err != nil && !errors.Is(err, ratelimit.ErrConfig) {
		s.Fatalf("take with %+v: %v, want a decision or ErrConfig", p, err)
	}
	return err == nil
}

func request(namespace, identifier string, p *ratelimit.Policy, cost int64) ratelimit.Request {
	return ratelimit.Request{Key: ratelimit.Key{Namespace: namespace, Identifier: identifier}, Policy: p, Cost: cost, Now: origin}
}

// vectors plays the published sequences. A store drops what nobody asked for during a window in real time, so that a
// sequence which a busy machine held up for longer than its window proves nothing and is played again.
func (s subject) vectors() {
	const attempts = 5
	for _, v := range Published(s).Vectors {
		if !s.serves(v.Policy()) {
			continue
		}
		for attempt := range attempts {
			begun := time.Now()
			faults := s.play(&v, fmt.Sprintf("vector-%s-%d", strings.ToLower(v.ID), attempt))
			if len(faults) == 0 {
				break
			}
			if time.Since(begun) < v.Policy().Window || attempt == attempts-1 {
				s.Errorf("%v:\n%s", &v, strings.Join(faults, "\n"))
				break
			}
		}
	}
}

// play returns what came out otherwise than written.
func (s subject) play(v *Vector, namespace string) (faults []string) {
	for i, r := range v.Requests(namespace) {
		if got := Expected(s.take(r)); got != v.Steps[i].Expect {
			faults = append(faults, fmt.Sprintf("step %d at %d ms: %+v, want %+v", i, v.Steps[i].AtMs, got, v.Steps[i].Expect))
		}
	}
	return faults
}

func (s subject) independence() {
	identifiers := []string{
		"203.0.113.9", "203.0.113.90", "2001:db8:1:2::/64", "alice", "Alice", "a b", "a  b", "", "x{y}", "h_abc",
		strings.Repeat("long", 100), strings.Repeat("long", 100) + "!", "line\r\nbreak", "ключ", "engine:203.0.113.9", "*",
	}
	for _, p := range s.aligns(2, time.Minute) {
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

func (s subject) concurrentCallers() {
	const callers, limit = 32, 500
	for _, p := range s.aligns(limit, time.Hour) {
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
	const checks = 25
	for range checks {
		d, err := s.store.Take(s.Context(), r)
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
	for _, p := range s.aligns(3, time.Minute) {
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
	for _, p := range s.aligns(10, time.Minute) {
		if d := s.take(request("costs", "k", p, 8)); !d.Allowed || d.Remaining != 2 {
			s.Errorf("%s: 8 of 10: %+v", p.Name, d)
		}
		if d := s.take(request("costs", "k", p, 5)); d.Allowed || d.RetryAfter != d.Reset || d.RetryAfter <= 0 {
			s.Errorf("%s: 5 of the 2 that are left: %+v, want it denied until the reset", p.Name, d)
		}
		// RL23: a window on the clock has counted the denied check; RL27: one opened by the first request has not.
		if d := s.take(request("costs", "k", p, 1)); d.Allowed == (p.Align == "") {
			s.Errorf("%s: 1 after the denied check: %+v", p.Name, d)
		}
	}
}

func (s subject) impossibleCost() {
	for _, p := range s.aligns(3, time.Minute) {
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

func (s subject) rollover() {
	for _, p := range s.aligns(5, 10*time.Second) {
		r := request("rollover", "k", p, 5)
		for window := range 4 {
			d := s.take(r)
			if !d.Allowed || d.Remaining != 0 {
				s.Fatalf("%s: window %d: %+v, want the whole limit", p.Name, window, d)
			}
			r.Now = r.Now.Add(d.Reset - time.Microsecond)
			if late := s.take(r); late.Allowed || late.RetryAfter != time.Microsecond {
				s.Errorf("%s: the last tick of window %d: %+v, want it denied for one tick", p.Name, window, late)
			}
			r.Now = r.Now.Add(time.Microsecond)
		}
	}
}

func (s subject) policyChange() {
	for _, p := range s.aligns(10, time.Minute) {
		s.take(request("change", "k", p, 6))
		raised, lowered, longer := *p, *p, *p
		raised.Limit, lowered.Limit, longer.Window = 20, 4, 11*time.Minute
		if d := s.take(request("change", "k", &raised, 0)); d.Remaining != 14 {
			s.Errorf("%s: limit raised to 20 after 6: %+v, want 14 left", p.Name, d)
		}
		if d := s.take(request("change", "k", &lowered, 0)); d.Remaining != 0 || !d.Allowed {
			s.Errorf("%s: limit lowered to 4 after 6: %+v, want nothing left", p.Name, d)
		}
		if d := s.take(request("change", "k", &lowered, 1)); d.Allowed {
			s.Errorf("%s: limit lowered to 4 after 6: a check passed", p.Name)
		}
		if d := s.take(request("change", "k", &longer, 10)); !d.Allowed {
			s.Errorf("%s: another window: %+v, want a fresh state", p.Name, d)
		}
	}
}

func (s subject) backwards() {
	policies := s.aligns(3, time.Minute)
	r := request("backwards", "clock", policies[0], 2)
	next := r
	next.Now = next.Now.Add(time.Minute)
	s.take(r)
	s.take(next)
	r.Cost, next.Cost = 1, 1
	if d := s.take(r); !d.Allowed || d.Remaining != 0 {
		s.Errorf("back into the window before: %+v, want its own count of 3", d)
	}
	if d := s.take(next); !d.Allowed || d.Remaining != 0 {
		s.Errorf("forward again: %+v, want the newer window's own count of 3", d)
	}
	if len(policies) == 1 {
		return
	}
	opened := request("backwards", "first", policies[1], 1)
	s.take(opened)
	opened.Now = opened.Now.Add(-10 * time.Second)
	if d := s.take(opened); !d.Allowed || d.Remaining != 1 || d.Reset != 70*time.Second {
		s.Errorf("before the window that was opened: %+v, want it judged at its start (RL27)", d)
	}
	opened.Now = opened.Now.Add(-2 * time.Minute)
	if d := s.take(opened); !d.Allowed || d.Remaining != 2 || d.Reset != time.Minute {
		s.Errorf("more than a window before it: %+v, want the state forgotten", d)
	}
}

func (s subject) reset() {
	for _, p := range s.aligns(1, 3650*24*time.Hour) {
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

func (s subject) leases() {
	for _, p := range s.aligns(1, time.Minute) {
		r := request("leases", "k", p, 1)
		r.Lease = "lease"
		s.take(r)
		if err := s.store.Release(s.Context(), r.Key, p, r.Lease); err != nil {
			s.Errorf("%s: release: %v", p.Name, err)
		}
		if renewed, err := s.store.Renew(s.Context(), r.Key, p, r.Lease); err != nil || renewed {
			s.Errorf("%s: renew: %t, %v, want no lease to renew", p.Name, renewed, err)
		}
		if d := s.take(r); d.Allowed {
			s.Errorf("%s: the release gave a unit back: %+v", p.Name, d)
		}
	}
}

func (s subject) storeClock() {
	for _, p := range s.aligns(5, time.Hour) {
		r := request("clock", "k", p, 2)
		r.Now = time.Time{}
		d := s.take(r)
		if !d.Allowed || d.Remaining != 3 || d.Reset <= 0 || d.Reset > time.Hour || d.Policy != p {
			s.Errorf("%s: %+v, want 3 left until the end of the present window", p.Name, d)
		}
	}
}
