package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// requests returns one check of each policy, each with a key of its own.
func requests(namespace string, cost int64, policies ...*ratelimit.Policy) []ratelimit.Request {
	all := make([]ratelimit.Request, 0, len(policies))
	for _, p := range policies {
		r := request(namespace, p.Name, p, cost)
		r.Lease = "lease"
		all = append(all, r)
	}
	return all
}

func (s subject) left(r ratelimit.Request) int64 {
	s.Helper()
	r.Cost = 0
	return s.take(r).Remaining
}

func (s subject) inOrder() {
	policies := append(s.counting(5, time.Minute), &ratelimit.Policy{Name: "none"})
	all := requests("order", 1, policies...)
	decisions := make([]ratelimit.Decision, len(all))
	judged, err := ratelimit.TakeInOrder(s.Context(), s.store, all, decisions)
	if err != nil || judged != len(all) {
		s.Fatalf("all allow: %d judged, %v, want %d", judged, err, len(all))
	}
	last := len(policies) - 2
	used := all[last]
	used.Cost = 4
	s.take(used)
	if judged, err = ratelimit.TakeInOrder(s.Context(), s.store, all, decisions); err != nil || judged != last+1 || decisions[last].Allowed {
		s.Fatalf("the last but one denies: %d judged, %v, want %d", judged, err, last+1)
	}
	if last == 0 {
		return
	}
	for i := range last {
		if got := s.left(all[i]); got != 3 || !decisions[i].Allowed || decisions[i].Remaining != 3 {
			s.Errorf("%s before the denial: %+v and %d left, want it counted", policies[i].Name, decisions[i], got)
		}
	}
	all[0].Cost = 4
	if judged, err = ratelimit.TakeInOrder(s.Context(), s.store, all, decisions); err != nil || judged != 1 || s.left(all[1]) != 3 && last > 1 {
		s.Errorf("the first denies: %d judged, %v, and %d left of the second", judged, err, s.left(all[1]))
	}
	if judged, err = ratelimit.TakeInOrder(s.Context(), s.store, all, decisions[:1]); judged != 0 || !errors.Is(err, ratelimit.ErrConfig) {
		s.Errorf("too few decisions: %d judged, %v", judged, err)
	}
	all[1].Policy = nil
	all[0].Cost = 0
	if judged, err = ratelimit.TakeInOrder(s.Context(), s.store, all, decisions); judged != 1 || !errors.Is(err, ratelimit.ErrConfig) {
		s.Errorf("no policy: %d judged, %v", judged, err)
	}
}

func (s subject) allOrNone() {
	store, ok := s.store.(ratelimit.AtomicStore)
	if !ok {
		return
	}
	policies := append(s.counting(5, time.Minute), &ratelimit.Policy{Name: "none"})
	if p := s.concurrency(2, time.Minute); p != nil {
		policies = append(policies, p)
	}
	all := requests("together", 1, policies...)
	decisions := make([]ratelimit.Decision, len(all))
	if err := store.TakeAll(s.Context(), all, decisions); err != nil {
		s.Fatal(err)
	}
	before := make([]int64, len(all))
	for i, p := range policies {
		if before[i] = s.left(all[i]); !decisions[i].Allowed || decisions[i].Remaining != before[i] || p.Limit > 0 && before[i] != p.Limit-1 {
			s.Errorf("%s: %+v and %d left, want one charged", p.Name, decisions[i], before[i])
		}
	}
	for i, p := range policies[:len(policies)-1] {
		if p.Limit > 0 {
			s.oneDenies(store, all, i, before)
		}
	}
	impossible := append(requests("together", 6, policies[0]), all[1:]...)
	if err := store.TakeAll(s.Context(), impossible, decisions); err != nil || decisions[0].RetryAfter != ratelimit.Never || len(all) > 2 && s.left(all[1]) != before[1] {
		s.Errorf("RL7 an impossible cost: %v, %+v, and %d left of the second", err, decisions[0], s.left(all[1]))
	}
	s.refusedTogether(store, all, before)
}

// oneDenies asks one policy for more than is left, and all others for one unit.
func (s subject) oneDenies(store ratelimit.AtomicStore, all []ratelimit.Request, denies int, before []int64) {
	s.Helper()
	asked := append([]ratelimit.Request(nil), all...)
	asked[denies].Cost = 5
	decisions := make([]ratelimit.Decision, len(asked))
	if err := store.TakeAll(s.Context(), asked, decisions); err != nil {
		s.Fatal(err)
	}
	for i := range asked {
		d := decisions[i]
		if d.Allowed == (i == denies) || i == denies && (d.RetryAfter <= 0 || d.Reset < d.RetryAfter) {
			s.Errorf("%s denies: %s is told %+v", asked[denies].Policy.Name, asked[i].Policy.Name, d)
		}
		if got := s.left(all[i]); got != before[i] || i != denies && d.Remaining != before[i] {
			s.Errorf("%s denies: %s has %d left and is told %+v, want %d as before", asked[denies].Policy.Name, asked[i].Policy.Name, got, d, before[i])
		}
	}
}

func (s subject) refusedTogether(store ratelimit.AtomicStore, all []ratelimit.Request, before []int64) {
	s.Helper()
	nobody := all[0]
	nobody.Policy = nil
	nowhere := all[0]
	nowhere.Key.Namespace = "a:b"
	for name, bad := range map[string][]ratelimit.Request{
		"two of one counter":   {all[0], all[0]},
		"one without a policy": {all[0], nobody},
		"one of no namespace":  {all[0], nowhere},
	} {
		if err := store.TakeAll(s.Context(), bad, make([]ratelimit.Decision, 2)); !errors.Is(err, ratelimit.ErrConfig) {
			s.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	if err := store.TakeAll(s.Context(), all, nil); !errors.Is(err, ratelimit.ErrConfig) {
		s.Errorf("no decisions: %v, want ErrConfig", err)
	}
	if got := s.left(all[0]); got != before[0] {
		s.Errorf("%d left after misuse, want %d as before", got, before[0])
	}
}

// concurrentAllOrNone charges a wide and a narrow limit together. Once the narrow one is used up, the wide one has been
// charged as often and not once more.
func (s subject) concurrentAllOrNone() {
	const callers, checks, narrow = 16, 10, 40
	store, ok := s.store.(ratelimit.AtomicStore)
	if !ok {
		return
	}
	for _, p := range s.counting(narrow, time.Hour) {
		wide := *p
		wide.Name, wide.Limit = "wide-"+p.Name, 1000
		var admitted atomic.Int64
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				all := requests("crowd", 1, p, &wide)
				if caller%2 == 0 { // The order of the locks is not that of the requests.
					all[0], all[1] = all[1], all[0]
				}
				decisions := make([]ratelimit.Decision, 2)
				for range checks {
					if err := store.TakeAll(s.Context(), all, decisions); err != nil {
						s.Errorf("take all: %v", err)
					}
					if decisions[0].Allowed && decisions[1].Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		group.Wait()
		if got, rest := admitted.Load(), s.left(requests("crowd", 1, &wide)[0]); got != narrow || rest != 1000-narrow {
			s.Errorf("%s: %d admitted and %d left of the wide limit, want %d and %d", p.Name, got, rest, narrow, 1000-narrow)
		}
	}
}
