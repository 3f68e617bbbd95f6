package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func (s subject) noLeases() {
	for _, p := range s.counting(1, time.Minute) {
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

// lease asks for a place under the name.
func (s subject) lease(p *ratelimit.Policy, name string, at time.Duration) ratelimit.Decision {
	s.Helper()
	r := request("places", "k", p, 1)
	r.Lease, r.Now = name, origin.Add(at)
	return s.take(r)
}

func (s subject) release(p *ratelimit.Policy, name string) {
	s.Helper()
	if err := s.store.Release(s.Context(), ratelimit.Key{Namespace: "places", Identifier: "k"}, p, name); err != nil {
		s.Errorf("release %q: %v", name, err)
	}
}

func (s subject) places() {
	p := s.concurrency(2, 30*time.Second)
	if p == nil {
		return
	}
	s.release(p, "nobody")
	long := strings.Repeat("long", 1000)
	if d := s.lease(p, "a", 0); !d.Allowed || d.Remaining != 1 || d.Reset != 0 || d.Next != 0 {
		s.Errorf("the first place: %+v", d)
	}
	if d := s.lease(p, "a", 0); !d.Allowed || d.Remaining != 1 {
		s.Errorf("the same lease again: %+v, want its own place", d)
	}
	if d := s.lease(p, long, 0); !d.Allowed || d.Remaining != 0 {
		s.Errorf("the second place: %+v", d)
	}
	if d := s.lease(p, long+"!", 0); d.Allowed || d.RetryAfter != time.Second || d.Reset != 0 {
		s.Errorf("RL41 a third: %+v, want it denied for a second", d)
	}
	if d := s.lease(p, long, time.Second); !d.Allowed || d.Remaining != 0 {
		s.Errorf("a lease that lives, when all places are taken: %+v", d)
	}
	s.release(p, long)
	s.release(p, long)
	if d := s.lease(p, "c", time.Second); !d.Allowed || d.Remaining != 0 {
		s.Errorf("after a release: %+v, want one place", d)
	}
	if d := s.lease(p, "d", 30*time.Second-time.Microsecond); d.Allowed {
		s.Errorf("one tick before a lease lapses: %+v", d)
	}
	if d := s.lease(p, "d", 30*time.Second); !d.Allowed || d.Remaining != 0 {
		s.Errorf("when it lapses: %+v, want its place", d)
	}
	s.release(p, "a") // It lapsed.
	if d := s.lease(p, "e", 30*time.Second); d.Allowed {
		s.Errorf("after a late release: %+v, want no place", d)
	}
	if err := s.store.Reset(s.Context(), ratelimit.Key{Namespace: "places", Identifier: "k"}, p); err != nil {
		s.Errorf("reset: %v", err)
	}
	if d := s.lease(p, "e", 0); !d.Allowed || d.Remaining != 1 {
		s.Errorf("after a reset: %+v, want all places", d)
	}
	s.misusedLeases(p)
}

func (s subject) misusedLeases(p *ratelimit.Policy) {
	r := request("places", "misuse", p, 1)
	if d, err := s.store.Take(s.Context(), r); err == nil || d.Allowed {
		s.Errorf("a place without a lease: %+v, %v", d, err)
	}
	r.Key.Namespace = "a:b"
	r.Lease = "a"
	if err := s.store.Release(s.Context(), r.Key, p, r.Lease); err == nil {
		s.Error("release in an impossible namespace succeeded")
	}
	if renewed, err := s.store.Renew(s.Context(), r.Key, p, r.Lease); err == nil || renewed {
		s.Error("renewal in an impossible namespace succeeded")
	}
	if renewed, err := s.store.Renew(s.Context(), ratelimit.Key{Namespace: "places"}, nil, "a"); err == nil || renewed {
		s.Error("renewal without a policy succeeded")
	}
}

func (s subject) renewal() {
	p := s.concurrency(1, time.Hour)
	if p == nil {
		return
	}
	r := request("renewal", "k", p, 1)
	r.Lease = "a"
	if renewed, err := s.store.Renew(s.Context(), r.Key, p, "nobody"); err != nil || renewed {
		s.Errorf("renew an unknown lease: %t, %v", renewed, err)
	}
	r.Now = time.Time{}
	s.take(r)
	for range 2 {
		if renewed, err := s.store.Renew(s.Context(), r.Key, p, "a"); err != nil || !renewed {
			s.Errorf("renew: %t, %v", renewed, err)
		}
	}
	session, ok := s.store.(ratelimit.SessionStore)
	if !ok {
		return
	}
	r.Key.Identifier, r.Now = "session", origin
	s.take(r)
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{{40 * time.Minute, true}, {99 * time.Minute, true}, {160 * time.Minute, false}, {160 * time.Minute, false}} {
		if renewed, err := session.RenewAt(s.Context(), r.Key, p, "a", origin.Add(c.at)); err != nil || renewed != c.want {
			s.Errorf("renew after %v: %t, %v, want %t", c.at, renewed, err, c.want)
		}
	}
}

// concurrentPlaces lets callers take and release places at one time. Never are more held than there are.
func (s subject) concurrentPlaces() {
	const callers, limit, rounds = 16, 5, 20
	p := s.concurrency(limit, time.Hour)
	if p == nil {
		return
	}
	var held, most atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range rounds {
				r := request("places", "k", p, 1)
				r.Lease = "caller-" + time.Duration(s.leases.Add(1)).String()
				d, err := s.store.Take(s.Context(), r)
				if err != nil {
					s.Errorf("take a place: %v", err)
				}
				if !d.Allowed {
					continue
				}
				now := held.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
					continue
				}
				held.Add(-1)
				s.release(p, r.Lease)
			}
		})
	}
	group.Wait()
	if got := most.Load(); got > limit {
		s.Errorf("%d places were held at one time, want up to %d", got, limit)
	}
	if d := s.take(request("places", "k", p, 0)); d.Remaining != limit {
		s.Errorf("after all releases: %+v, want all places", d)
	}
}
