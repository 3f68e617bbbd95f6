package storetest

import (
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

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

func (s subject) meterChange() {
	p := &ratelimit.Policy{Name: "meter", Algorithm: ratelimit.TokenBucket, Limit: 10, Window: time.Minute}
	if !s.serves(p) {
		return
	}
	s.take(request("meter", "k", p, 6))
	for _, c := range []struct {
		name  string
		p     ratelimit.Policy
		left  int64
		reset time.Duration
	}{
		{"unchanged", *p, 4, 36 * time.Second},
		{"a larger burst", ratelimit.Policy{Algorithm: ratelimit.TokenBucket, Limit: 10, Window: time.Minute, Burst: 100}, 94, 36 * time.Second},
		{"a smaller burst", ratelimit.Policy{Algorithm: ratelimit.GCRA, Limit: 10, Window: time.Minute, Burst: 5}, 0, 30 * time.Second},
		{"a finer rate", ratelimit.Policy{Algorithm: ratelimit.LeakyBucket, Limit: 7, Window: time.Minute}, 1, 51428572 * time.Microsecond},
		{"another window", ratelimit.Policy{Algorithm: ratelimit.GCRA, Limit: 10, Window: time.Hour}, 4, 36 * time.Minute},
	} {
		r := request("meter", "k", &c.p, 0)
		r.Key.Namespace = "meter" // All meters share it.
		if d := s.take(r); d.Remaining != c.left || d.Reset != c.reset || d.Limit != c.p.Capacity() {
			s.Errorf("%s: %+v, want %d left and a reset of %v", c.name, d, c.left, c.reset)
		}
	}
	finer := *p
	finer.Limit = 7
	if d := s.take(request("meter", "k", &finer, 1)); !d.Allowed || d.Remaining != 0 {
		s.Errorf("the last unit of a finer rate: %+v", d)
	}
	if d := s.take(request("meter", "k", p, 0)); d.Remaining != 3 {
		s.Errorf("back at the first rate: %+v, want 7 of 10 used", d)
	}
}
