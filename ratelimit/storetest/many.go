package storetest

import (
	"errors"
	"slices"
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
	last := len(policies) - 2
	s.judges(all, last+2)
	used := all[last]
	used.Cost = 4
	s.take(used)
	decisions := s.judges(all, last+1)
	for i, p := range policies[:last] {
		if got := s.left(all[i]); got != 3 || !decisions[i].Allowed || decisions[i].Remaining != 3 {
			s.Errorf("%s before the denial: %+v and %d left, want it counted", p.Name, decisions[i], got)
		}
	}
	if last > 0 {
		all[0].Cost = 4
		s.judges(all, 1)
		for i, p := range policies[1:last] {
			if got := s.left(all[i+1]); got != 3 {
				s.Errorf("%s after the denial: %d left, want it untouched", p.Name, got)
			}
		}
	}
	s.misusedOrder(all)
}

// judges puts the requests to the store in order. So many are judged, and all but the last of them are allowed.
func (s subject) judges(all []ratelimit.Request, want int) []ratelimit.Decision {
	s.Helper()
	decisions := make([]ratelimit.Decision, len(all))
	judged, err := ratelimit.TakeInOrder(s.Context(), s.store, all, decisions)
	if err != nil || judged != want {
		s.Fatalf("%d judged, %v, want %d: %+v", judged, err, want, decisions)
	}
	if decisions[want-1].Allowed != (want == len(all)) {
		s.Errorf("the last of %d of %d judged: %+v", want, len(all), decisions[want-1])
	}
	return decisions
}

func (s subject) misusedOrder(all []ratelimit.Request) {
	s.Helper()
	if judged, err := ratelimit.TakeInOrder(s.Context(), s.store, all, nil); judged != 0 || !errors.Is(err, ratelimit.ErrConfig) {
		s.Errorf("no decisions: %d judged, %v", judged, err)
	}
	all[0].Cost, all[1].Policy = 0, nil
	if judged, err := ratelimit.TakeInOrder(s.Context(), s.store, all, make([]ratelimit.Decision, len(all))); judged != 1 || !errors.Is(err, ratelimit.ErrConfig) {
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
	before := s.oneCharged(store, all)
	for i, p := range policies {
		if p.Limit > 0 && p.Algorithm != ratelimit.Concurrency {
			s.oneDenies(store, all, i, before)
		}
	}
	impossible := requests("together", 6, policies[:1]...)
	if d := s.takeAll(store, append(impossible, all[1:]...)); d[0].RetryAfter != ratelimit.Never || s.left(all[1]) != before[1] {
		s.Errorf("RL7 an impossible cost: %+v, and %d left of the second", d[0], s.left(all[1]))
	}
	s.refusedTogether(store, all, before)
}

// oneCharged charges one unit of each and returns what is left.
func (s subject) oneCharged(store ratelimit.AtomicStore, all []ratelimit.Request) []int64 {
	s.Helper()
	decisions := s.takeAll(store, all)
	rest := make([]int64, len(all))
	for i, d := range decisions {
		rest[i] = s.left(all[i])
		if want := max(0, all[i].Policy.Limit-1); !d.Allowed || d.Remaining != want || rest[i] != want {
			s.Errorf("%s: %+v and %d left, want one charged", all[i].Policy.Name, d, rest[i])
		}
	}
	return rest
}

func (s subject) takeAll(store ratelimit.AtomicStore, all []ratelimit.Request) []ratelimit.Decision {
	s.Helper()
	decisions := make([]ratelimit.Decision, len(all))
	if err := store.TakeAll(s.Context(), all, decisions); err != nil {
		s.Fatalf("take all: %v", err)
	}
	return decisions
}

// oneDenies asks one policy for more than is left, and all others for one unit.
func (s subject) oneDenies(store ratelimit.AtomicStore, all []ratelimit.Request, denies int, before []int64) {
	s.Helper()
	asked := slices.Clone(all)
	asked[denies].Cost = 5
	decisions := s.takeAll(store, asked)
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
	const callers, narrow, broad = 16, 40, 1000
	store, ok := s.store.(ratelimit.AtomicStore)
	if !ok {
		return
	}
	for _, p := range s.counting(narrow, time.Hour) {
		wide := *p
		wide.Name, wide.Limit = "wide-"+p.Name, broad
		both := requests("crowd", 1, p, &wide)
		var admitted atomic.Int64
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				asked := slices.Clone(both)
				if caller%2 == 0 { // The order of the locks is not that of the requests.
					slices.Reverse(asked)
				}
				admitted.Add(s.charge(store, asked))
			})
		}
		group.Wait()
		if got, rest := admitted.Load(), s.left(both[1]); got != narrow || rest != broad-narrow {
			s.Errorf("%s: %d admitted and %d left of the wide limit, want %d and %d", p.Name, got, rest, narrow, broad-narrow)
		}
	}
}

// charge charges the requests together again and again, and returns how often all were admitted.
func (s subject) charge(store ratelimit.AtomicStore, asked []ratelimit.Request) (admitted int64) {
	decisions := make([]ratelimit.Decision, len(asked))
	for range 10 {
		if err := store.TakeAll(s.Context(), asked, decisions); err != nil {
			s.Errorf("take all: %v", err)
		}
		if !slices.ContainsFunc(decisions, func(d ratelimit.Decision) bool { return !d.Allowed }) {
			admitted++
		}
	}
	return admitted
}
