package redisstore

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxDenials is how many denials are remembered; the one that was asked for longest ago goes first.
	maxDenials = 65_536
	// denialLife is the longest time for which one is: so long may a reset by another process go unnoticed.
	denialLife = 5 * time.Second
	// presentSpan is how far an instant may lie from the store's clock to be the present. A test session's clock, which
	// may stand still, is somewhere else, and nothing is remembered for it.
	presentSpan = time.Second
)

// denials remember which keys are known to be exhausted, so that Redis need not be asked again (rule RL61). What they
// repeat Redis would say too, unless another process has reset the key. A nil one remembers nothing.
type denials struct {
	size  int
	clock func() time.Time
	// held is how many there are; with none, nobody takes the lock.
	held atomic.Int64
	// resets tells answers that were given before a reset from later ones.
	resets   atomic.Int64
	repeated atomic.Int64

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List
}

// denial is one of them. Instants are microseconds since the epoch.
type denial struct {
	key             string
	policy          ratelimit.Policy
	cost, remaining int64
	// It was given at an instant and is repeated until another one. It says when the check is allowed, when everything
	// is left again, and when more is left than now.
	at, until, ends, full, grows int64
}

func newDenials(size int, clock func() time.Time) *denials {
	return &denials{size: size, clock: clock, byKey: map[string]*list.Element{}}
}

// era is what remember must be given if Redis is asked now.
func (n *denials) era() int64 {
	if n == nil {
		return 0
	}
	return n.resets.Load()
}

// repeat returns the denial of a check at an instant if it is known without Redis, with waits counted from that instant.
// What does not cover the check is forgotten, since Redis is about to tell something newer.
func (n *denials) repeat(key string, r *ratelimit.Request, now time.Time) (d ratelimit.Decision, known bool) {
	if n == nil || r.Cost == 0 || n.held.Load() == 0 {
		return d, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.byKey[key]
	if e == nil {
		return d, false
	}
	held := e.Value.(*denial) //nolint:errcheck,forcetypeassert // The list holds nothing else.
	at := now.UnixMicro()
	if at < held.at || at >= held.until || !held.covers(r) || !n.present(now) {
		n.remove(e)
		return d, false
	}
	n.order.MoveToFront(e)
	n.repeated.Add(1)
	return ratelimit.Decision{
		Limit: r.Policy.Capacity(), Remaining: held.remaining, Policy: r.Policy,
		Reset: rest(at, held.full), RetryAfter: rest(at, held.ends), Next: rest(at, held.grows),
	}, true
}

// rest is the wait between two instants.
func rest(at, until int64) time.Duration { return time.Duration(until-at) * time.Microsecond }

// remember keeps a denial that Redis gave to a check at an instant, unless a key was reset in between. Places in flight
// are given back at any time, and their denials are not kept.
func (n *denials) remember(key string, r *ratelimit.Request, now time.Time, d *ratelimit.Decision, era int64) {
	if n == nil || d.Allowed || d.RetryAfter <= 0 || r.Policy.Algorithm == ratelimit.Concurrency || !n.present(now) {
		return
	}
	at := now.UnixMicro()
	made := &denial{key: key, policy: *r.Policy, cost: r.Cost, remaining: d.Remaining, at: at}
	made.ends = at + d.RetryAfter.Microseconds()
	made.full, made.grows = at+d.Reset.Microseconds(), at+d.Next.Microseconds()
	made.until = min(made.ends, made.grows, at+denialLife.Microseconds())
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.resets.Load() != era {
		return
	}
	if e := n.byKey[key]; e != nil {
		e.Value = made
		n.order.MoveToFront(e)
		return
	}
	if n.order.Len() >= n.size {
		n.remove(n.order.Back())
	}
	n.byKey[key] = n.order.PushFront(made)
	n.held.Store(int64(n.order.Len()))
}

// forget drops what is known of keys that were reset.
func (n *denials) forget(keys []string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.resets.Add(1)
	for _, key := range keys {
		if e := n.byKey[key]; e != nil {
			n.remove(e)
		}
	}
}

func (n *denials) remove(e *list.Element) {
	delete(n.byKey, e.Value.(*denial).key) //nolint:errcheck,forcetypeassert // The list holds nothing else.
	n.order.Remove(e)
	n.held.Store(int64(n.order.Len()))
}

func (n *denials) present(now time.Time) bool { return now.Sub(n.clock()).Abs() <= presentSpan }

// covers says whether the denial is that of a check too. A window that is fixed denies a larger cost for as long; the
// other algorithms make it wait longer.
func (d *denial) covers(r *ratelimit.Request) bool {
	fixed := r.Policy.Algorithm == "" || r.Policy.Algorithm == ratelimit.FixedWindow
	return d.of(r.Policy) && (r.Cost == d.cost || fixed && r.Cost > d.cost)
}

// of says whether the denial was given under this policy as it is now; its name does not matter.
func (d *denial) of(p *ratelimit.Policy) bool {
	same := *p
	same.Name = d.policy.Name
	return same == d.policy
}
