package shield

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

const (
	// callerShards keep requests of many clients from waiting for each other, and maxCallers bounds what is remembered.
	callerShards = 16
	maxCallers   = 4096
	// minutes and hours are how far back requests are counted one by one minute or hour.
	minutes = 60
	hours   = 24
	// headerSample is of how many requests of a client one is looked at for a forwarding header.
	headerSample = 8
)

// callers remember who calls: a bounded number of clients, those that called last (rule M-224).
type callers struct {
	clock  func() time.Time
	seed   maphash.Seed
	shards [callerShards]callerShard
}

type callerShard struct {
	mu    sync.Mutex
	known map[callerKey]*caller
	// requests are all that were noted, and forwarded those of them by clients that send a forwarding header.
	requests int64
}

type callerKey struct{ policy, key string }

// caller is a client at a policy.
type caller struct {
	first, last       time.Time
	requests, limited int64
	// forwards tells that the client sends a forwarding header.
	forwards  bool
	perMinute [minutes]bucket
	perHour   [hours]bucket
}

// bucket counts the requests of a minute or an hour, which at numbers from the epoch.
type bucket struct {
	at                int64
	requests, limited uint32
}

func newCallers(clock func() time.Time) *callers {
	c := &callers{clock: clock, seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].known = make(map[callerKey]*caller)
	}
	return c
}

// note counts a request; limited is 1 for one that was refused, else 0. The probe for a forwarding header is asked now and then.
func (c *callers) note(policy, key string, now time.Time, limited uint32, forwards func() bool) {
	shard := &c.shards[maphash.String(c.seed, key)%callerShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	k := callerKey{policy, key}
	known := shard.known[k]
	if known == nil {
		if len(shard.known) >= maxCallers/callerShards {
			shard.evict()
		}
		known = &caller{first: now}
		shard.known[k] = known
	}
	if known.requests%headerSample == 0 {
		known.forwards = forwards()
	}
	shard.requests++
	known.last = now
	known.count(now, limited)
}

func (c *caller) count(now time.Time, limited uint32) {
	c.requests++
	minute, hour := now.Unix()/60, now.Unix()/3600
	one, other := &c.perMinute[mod(minute, minutes)], &c.perHour[mod(hour, hours)]
	one.take(minute, limited)
	other.take(hour, limited)
	c.limited += int64(limited)
}

func mod(n, size int64) int64 { return (n%size + size) % size }

func (b *bucket) take(at int64, limited uint32) {
	if b.at != at {
		*b = bucket{at: at}
	}
	b.requests++
	b.limited += limited
}

// evict forgets one of a few clients: the one that has been quiet for the longest time.
func (s *callerShard) evict() {
	const looks = 8
	var oldest callerKey
	var at time.Time
	n := 0
	for k, known := range s.known { // The order is another one each time.
		if n++; n > looks {
			break
		}
		if at.IsZero() || known.last.Before(at) {
			oldest, at = k, known.last
		}
	}
	delete(s.known, oldest)
}

// list returns the clients at a policy within a span, those that were limited most first. An empty policy is all, a span of
// 0 everything that is remembered.
func (c *callers) list(policy string, span time.Duration) []mockbase.ShieldCaller {
	now := c.clock()
	sums := make(map[string]*mockbase.ShieldCaller)
	for i := range c.shards {
		shard := &c.shards[i]
		shard.mu.Lock()
		for k, known := range shard.known {
			if policy != "" && k.policy != policy {
				continue
			}
			requests, limited := known.within(now, span)
			if requests > 0 {
				addCaller(sums, k.key, known, requests, limited)
			}
		}
		shard.mu.Unlock()
	}
	list := make([]mockbase.ShieldCaller, 0, len(sums))
	for _, sum := range sums {
		list = append(list, *sum)
	}
	return list
}

func addCaller(sums map[string]*mockbase.ShieldCaller, key string, known *caller, requests, limited int64) {
	sum := sums[key]
	if sum == nil {
		sum = &mockbase.ShieldCaller{Key: key, FirstSeenAt: known.first, LastSeenAt: known.last}
		sums[key] = sum
	}
	sum.Requests += requests
	sum.Limited += limited
	if known.first.Before(sum.FirstSeenAt) {
		sum.FirstSeenAt = known.first
	}
	if known.last.After(sum.LastSeenAt) {
		sum.LastSeenAt = known.last
	}
}

// within counts the requests of a client in a span that ends now.
func (c *caller) within(now time.Time, span time.Duration) (requests, limited int64) {
	buckets, unit := c.perMinute[:], int64(60)
	switch {
	case span == 0:
		return c.requests, c.limited
	case span > time.Hour:
		buckets, unit = c.perHour[:], 3600
	}
	at := now.Unix() / unit
	from := at - int64(span/time.Second)/unit
	for _, b := range buckets {
		if b.at > from && b.at <= at {
			requests += int64(b.requests)
			limited += int64(b.limited)
		}
	}
	return requests, limited
}

// crowd returns the client that nearly all requests come from and that sends a forwarding header, if there is one.
func (c *callers) crowd() (key string, ok bool) {
	const least, percent, whole = 20, 95, 100
	var all int64
	sums := make(map[string]int64)
	for i := range c.shards {
		shard := &c.shards[i]
		shard.mu.Lock()
		all += shard.requests
		for k, known := range shard.known {
			if known.forwards {
				sums[k.key] += known.requests
			}
		}
		shard.mu.Unlock()
	}
	for client, n := range sums {
		if all >= least && n*whole >= all*percent {
			return client, true
		}
	}
	return "", false
}

// Callers returns the clients that a policy has seen within a span, those that were limited most first. An empty policy is
// all of them, a span of 0 all that is remembered.
func (s *Shield) Callers(policy string, span time.Duration) []mockbase.ShieldCaller {
	list := s.callers.list(policy, span)
	slices.SortFunc(list, func(a, b mockbase.ShieldCaller) int {
		switch {
		case a.Limited != b.Limited:
			return int(b.Limited - a.Limited)
		case a.Requests != b.Requests:
			return int(b.Requests - a.Requests)
		case a.Key < b.Key:
			return -1
		default:
			return 1
		}
	})
	return list
}

// watchedJudge is a guard whose callers are remembered.
type watchedJudge struct {
	*guard.Guard

	shield *Shield
	place  string
}

func (s *Shield) watched(g *guard.Guard, place string) httplimit.Judge {
	return &watchedJudge{Guard: g, shield: s, place: place}
}

// Judge decides as the guard does.
func (j *watchedJudge) Judge(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict {
	s := j.shield
	v := j.Guard.Judge(ctx, a)
	if v.State != nil {
		s.inFlight.Add(1)
	}
	if v.Layer == ratelimit.LayerExcluded || a.Now.IsZero() {
		return v
	}
	refused := uint32(1)
	if v.Allowed {
		refused = 0
	}
	s.callers.note(j.place, a.Identifier, a.Now, refused, func() bool { return forwards(a) })
	if v.Layer == ratelimit.LayerTiers && subjectOf(v.Rule) != j.place {
		s.callers.note(subjectOf(v.Rule), a.Identifier, a.Now, 1, func() bool { return false })
	}
	return v
}

// Done hands the end of a request on.
func (j *watchedJudge) Done(ctx context.Context, a *ratelimit.Attempt, v *ratelimit.Verdict, o ratelimit.Outcome) {
	if v.State != nil {
		j.shield.inFlight.Add(-1)
	}
	j.Guard.Done(ctx, a, v, o)
}

// forwards says whether a request has a header by which proxies tell the client.
func forwards(a *ratelimit.Attempt) bool {
	if a.Parts == nil {
		return false
	}
	return slices.ContainsFunc(forwardingHeaders(), func(name string) bool { return a.Parts.Header(name) != "" })
}

func forwardingHeaders() []string {
	return []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Cf-Connecting-Ip", "True-Client-Ip"}
}
