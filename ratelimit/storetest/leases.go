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
	long, almost := strings.Repeat("long", 1000), 30*time.Second-time.Microsecond
	for _, c := range []struct {
		name    string
		release string
		lease   string
		at      time.Duration
		allowed bool
		left    int64
	}{
		{"the first place", "nobody", "a", 0, true, 1},
		{"the same lease again", "", "a", 0, true, 1},
		{"the second place", "", long, 0, true, 0},
		{"a third", "", long + "!", 0, false, 0},
		{"a lease that lives, when all places are taken", "", long, time.Second, true, 0},
		{"after a release", long, "c", time.Second, true, 0},
		{"after the same release again", long, "d", time.Second, false, 0},
		{"one tick before a lease lapses", "", "d", almost, false, 0},
		{"when it lapses", "", "d", 30 * time.Second, true, 0},
		{"after the release of a lease that lapsed", "a", "e", 30 * time.Second, false, 0},
	} {
		if c.release != "" {
			s.release(p, c.release)
		}
		want := ratelimit.Decision{Allowed: c.allowed, Limit: 2, Remaining: c.left, Policy: p}
		if !c.allowed {
			want.RetryAfter = time.Second // RL41
		}
		if d := s.lease(p, c.lease, c.at); d != want {
			s.Errorf("%s: %+v, want %+v", c.name, d, want)
		}
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
	r := request("places", "k", p, 1)
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
	const callers, limit = 16, 5
	p := s.concurrency(limit, time.Hour)
	if p == nil {
		return
	}
	var held, most atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() { s.comeAndGo(p, &held, &most) })
	}
	group.Wait()
	if got := most.Load(); got > limit {
		s.Errorf("%d places were held at one time, want up to %d", got, limit)
	}
	if d := s.take(request("places", "k", p, 0)); d.Remaining != limit {
		s.Errorf("after all releases: %+v, want all places", d)
	}
}

// comeAndGo takes and releases places and notes how many are held.
func (s subject) comeAndGo(p *ratelimit.Policy, held, most *atomic.Int64) {
	for range 20 {
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
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); {
			old = most.Load()
		}
		held.Add(-1)
		s.release(p, r.Lease)
	}
}
