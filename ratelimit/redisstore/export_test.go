package redisstore

import (
	"time"

	"github.com/redis/go-redis/v9"
)

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
