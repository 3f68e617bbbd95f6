package redisstore

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// Patient is a budget for tests whose checks must not fail for want of time, on a machine under any load.
const Patient = time.Minute

// NewPatient is New with a budget beyond what a configuration may ask for.
func NewPatient(o Options) (*Store, error) {
	o.Config.Budget = 0
	t, err := o.Config.resolve()
	if err != nil {
		return nil, err
	}
	t.budget = Patient
	applyLimits(&t.options, t.budget)
	t.options.DialTimeout = Patient
	return newStore(o, t)
}

// Greeted is closed when the store has met Redis, or found out that it is away.
func (s *Store) Greeted() <-chan struct{} { return s.greeted }

// Client is the client that checks use at the moment.
func (s *Store) Client() redis.UniversalClient { return s.current() }

// Refusal is what checks are answered while the breaker of a single server is open; each probe that fails makes a new one.
func (s *Store) Refusal() *Error { return s.shards.main.breaker.refused.Load() }

// Breaker is the breaker of one server.
type Breaker struct{ b breaker }

// Admit is breaker.admit.
func (b *Breaker) Admit() (epoch uint64, ok bool) { return b.b.admit() }

// Succeed is breaker.succeed.
func (b *Breaker) Succeed(epoch uint64, now time.Time) { b.b.succeed(epoch, 1, now) }

// Fail is breaker.fail with a transport error.
func (b *Breaker) Fail(epoch uint64, now time.Time, cause error) (opened bool) {
	return b.b.fail(epoch, now, &Error{class: ClassTransport, target: "here", cause: cause})
}

// Close is breaker.close.
func (b *Breaker) Close(now time.Time) { b.b.close(now) }

// Refusal is breaker.refusal.
func (b *Breaker) Refusal() error { return b.b.refusal() }

// Judge says what the errors of one check mean for a single server, or for a cluster.
func Judge(kind string, errs ...error) error {
	return (&target{name: "here", cluster: kind == "cluster"}).judge(errs...)
}

// ErrOverflow is the error of a counter that cannot grow.
var ErrOverflow = errOverflow

// ProbeKey is the key that a probe writes for the shard of a key.
func ProbeKey(prefix, key string) string { return (&Store{prefix: prefix}).probeKey(key) }

// CarryTogether carries a batch of checks of cost 1 under these keys, whose time is over at the deadline, by the client
// of one node, or of the single server with none. It returns the error of each.
func (s *Store) CarryTogether(ctx context.Context, node *redis.Client, deadline time.Time, keys ...string) []error {
	sh := &s.shards.main
	if node != nil {
		sh = s.shards.at(node.Options().Addr)
	}
	batch := make([]*ride, len(keys))
	for i, key := range keys {
		r, _ := newRide().(*ride)
		r.question = question{key: key, cost: 1, window: time.Minute}
		r.pass, r.deadline = pass{shard: sh, node: node}, deadline
		batch[i] = r
	}
	s.carry(sh, append([]*ride(nil), batch...))
	errs := make([]error, len(batch))
	for i, r := range batch {
		<-r.landed
		if errs[i] = r.err; r.outcome == outcomeNotRun {
			errs[i] = s.goAlone(ctx, r)
		}
	}
	return errs
}

// Denials is a memory of denials.
type Denials struct{ n *denials }

// NewDenials is newDenials.
func NewDenials(size int, clock func() time.Time) Denials { return Denials{newDenials(size, clock)} }

// Deny remembers a denial of a request, asked for in an era, that holds for a while.
func (d Denials) Deny(key string, r *ratelimit.Request, wait time.Duration, era int64) {
	d.n.remember(key, r, r.Now, &ratelimit.Decision{RetryAfter: wait, Reset: wait, Next: wait}, era)
}

// Known is denials.repeat.
func (d Denials) Known(key string, r *ratelimit.Request) bool {
	_, known := d.n.repeat(key, r, r.Now)
	return known
}

// Era is denials.era.
func (d Denials) Era() int64 { return d.n.era() }

// Forget is denials.forget.
func (d Denials) Forget(keys ...string) { d.n.forget(keys) }

// Held is the number of denials.
func (d Denials) Held() int64 { return d.n.held.Load() }

// Gathered says whether a flight lets others come once more: so many wait, so many did before, and the flights so far took
// these times.
func Gathered(waiting, before int, trips ...time.Duration) bool {
	q := queue{waiting: make([]*ride, waiting)}
	for _, took := range trips {
		q.landed(took)
	}
	_, more := q.gathered(before)
	return more
}
