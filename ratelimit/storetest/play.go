package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

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
		got, played := s.step(v.Steps[i].Op, r)
		if !played {
			return nil
		}
		if got != v.Steps[i].Expect {
			faults = append(faults, fmt.Sprintf("step %d at %d ms: %+v, want %+v", i, v.Steps[i].AtMs, got, v.Steps[i].Expect))
		}
	}
	return faults
}

// step does what one step of a vector says. After a release or a renewal a peek tells what is left. It returns false if
// the store cannot renew at a given instant.
func (s subject) step(op string, r ratelimit.Request) (e Expectation, played bool) {
	switch op {
	case "release":
		if err := s.store.Release(s.Context(), r.Key, r.Policy, r.Lease); err != nil {
			s.Fatalf("release %s: %v", r.Lease, err)
		}
		r.Cost = 0
	case "renew":
		session, ok := s.store.(ratelimit.SessionStore)
		if !ok {
			return e, false
		}
		if renewed, err := session.RenewAt(s.Context(), r.Key, r.Policy, r.Lease, r.Now); err != nil || !renewed {
			s.Fatalf("renew %s: %t, %v", r.Lease, renewed, err)
		}
		r.Cost = 0
	default:
	}
	return Expected(s.take(r)), true
}
