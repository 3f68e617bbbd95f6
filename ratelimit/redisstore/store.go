package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// The defaults of Options.
const (
	DefaultPrefix = "ratelimit"
	// DefaultProbeInterval heals within half a second of Redis's return, at four commands a second while it is away.
	DefaultProbeInterval = 250 * time.Millisecond
)

// Options are the servers and the surroundings of a store. Config.Addrs is needed, the rest has defaults.
type Options struct {
	Config Config
	// Prefix begins every key; "" is DefaultPrefix. It matches [A-Za-z0-9._~:/-]{1,128}.
	Prefix string
	// ProbeInterval is the pace of the probe while the breaker is open; 0 is DefaultProbeInterval.
	ProbeInterval time.Duration
	// BatchFlights is how many batches of checks may be on their way to one server at once, 2 to 8 (rule RL53); 0 is
	// DefaultBatchFlights.
	BatchFlights int
	// WithoutLocalDenials lets every check reach Redis. Otherwise a key that is known to be over its limit is denied
	// without it, for five seconds at most, and only while Redis decided something within the last ProbeInterval (rules
	// RL61, RL64).
	WithoutLocalDenials bool
	// Clock is the time of checks without an instant; nil is time.Now. Budgets and the breaker run on real time.
	Clock func() time.Time
	// Logger is told what an operator must change, once when it begins and once a minute while it lasts; nil is silent.
	Logger *slog.Logger
}

// Store is limiter state in Redis. It is safe for concurrent use. Close ends its goroutines and its connections.
type Store struct {
	target   *target
	prefix   string
	interval time.Duration
	clock    func() time.Time
	notes    *notes
	counts   counters
	skew     skew

	// rides are those that nobody uses, flights is how many may be out, and denials are nil where none are kept.
	rides   sync.Pool
	flights int
	hangar  hangar
	denials *denials

	// client is replaced when Redis returns and when it turns out to be a replica.
	client atomic.Pointer[redis.UniversalClient]
	shards shards

	// wake tells the keeper that a breaker opened or that the client must be replaced.
	wake    chan struct{}
	replace atomic.Bool
	greeted chan struct{}
	end     context.CancelFunc
	keepers sync.WaitGroup
}

var _ interface {
	ratelimit.SessionStore
	ratelimit.OrderedStore
	ratelimit.AtomicStore
} = (*Store)(nil)

// New makes a store. It waits for nobody: a Redis that is away is found out in the background, and meanwhile checks fail
// as they do in any outage. Options that cannot work are reported in one error that wraps ratelimit.ErrConfig.
func New(o Options) (*Store, error) {
	t, err := o.Config.resolve()
	if err != nil {
		return nil, err
	}
	return newStore(o, t)
}

func newStore(o Options, t *target) (*Store, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Store{
		target: t, prefix: o.Prefix, interval: o.ProbeInterval, clock: o.Clock,
		notes: &notes{logger: o.Logger, told: map[Class]time.Time{}},
		wake:  make(chan struct{}, 1), greeted: make(chan struct{}),
		rides: sync.Pool{New: newRide}, flights: t.share(o.BatchFlights),
	}
	if !o.WithoutLocalDenials {
		s.denials = newDenials(maxDenials, o.Clock)
	}
	s.use(t.dial())
	ctx, cancel := context.WithCancel(context.Background())
	s.end = cancel
	s.keepers.Go(func() { s.keep(ctx) })
	return s, nil
}

// complete fills in the defaults and reports what cannot work.
func (o *Options) complete() error {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if ratelimit.KeyIdentifier(o.Prefix) != o.Prefix {
		return fmt.Errorf("configure redis: key prefix %q does not match [A-Za-z0-9._~:/-]{1,128}: %w", o.Prefix, ratelimit.ErrConfig)
	}
	if o.ProbeInterval < 0 {
		return fmt.Errorf("configure redis: probe interval %s is negative: %w", o.ProbeInterval, ratelimit.ErrConfig)
	}
	if o.BatchFlights != 0 && (o.BatchFlights < minFlights || o.BatchFlights > maxFlights) {
		return fmt.Errorf("configure redis: %d batch flights are not in %d…%d: %w", o.BatchFlights, minFlights, maxFlights, ratelimit.ErrConfig)
	}
	if o.BatchFlights == 0 {
		o.BatchFlights = DefaultBatchFlights
	}
	if o.ProbeInterval == 0 {
		o.ProbeInterval = DefaultProbeInterval
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Take judges a check by its counter in Redis: one round trip (rules RL25, RL27), which checks that are made at the same
// time share (rule RL53), or none for a key that is known to be exhausted (rule RL61). Errors that are no misuse are
// *[Error].
func (s *Store) Take(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	return s.takeUnder(ctx, s.space(), r)
}

// takeUnder is Take for the keys of a space.
func (s *Store) takeUnder(ctx context.Context, in space, r ratelimit.Request) (ratelimit.Decision, error) {
	d, settled, err := ratelimit.Settle(r.Policy, r.Cost)
	if settled || err != nil {
		return d, err //nolint:wrapcheck // Settle says what is wrong.
	}
	if err := validate(&r); err != nil {
		return ratelimit.Decision{}, err
	}
	if s.shards.main.breaker.isOpen() {
		return ratelimit.Decision{}, s.shards.main.breaker.refusal()
	}
	now := r.Now
	if now.IsZero() {
		now = s.clock()
	}
	if onClock(r.Policy) {
		r.Now = now
	}
	return s.take(ctx, in, &r, now)
}

// take judges a check at an instant, which the request itself need not give.
func (s *Store) take(ctx context.Context, in space, r *ratelimit.Request, now time.Time) (ratelimit.Decision, error) {
	deadline := time.Now().Add(s.target.budget)
	key := s.key(in, r.Key, r.Policy, now)
	p, err := s.admit(ctx, key, deadline)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	if d, known := s.repeat(p.shard, key, r, now); known {
		return d, nil
	}
	era := s.denials.era()
	ride := s.rides.Get().(*ride) //nolint:errcheck,forcetypeassert // The pool holds nothing else.
	ride.pass, ride.question, ride.deadline = p, question{key: key}, deadline
	s.pose(&ride.question, in, r)
	defer s.rest(ride)
	if err := s.travel(ctx, ride); err != nil {
		return ratelimit.Decision{}, err
	}
	d := ride.decision(r)
	s.denials.remember(key, r, now, &d, era)
	return d, nil
}

// repeat returns the denial of a check if it is known without Redis (rule RL61). It is only while the server is known to
// be alive: one that has decided nothing for a probe interval is asked again, so that a remembered denial does not outlive
// it by more (rule RL64).
func (s *Store) repeat(sh *shard, key string, r *ratelimit.Request, now time.Time) (ratelimit.Decision, bool) {
	if s.denials == nil || !sh.breaker.alive(time.Now(), s.interval) {
		return ratelimit.Decision{}, false
	}
	return s.denials.repeat(key, r, now)
}

// Reset forgets the state of the key under the policy. Of windows on the clock it forgets the present one, by the store's
// clock, and its neighbours, so that replicas whose clocks differ forget the same.
func (s *Store) Reset(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	return s.resetUnder(ctx, s.space(), k, p)
}

func (s *Store) resetUnder(ctx context.Context, in space, k ratelimit.Key, p *ratelimit.Policy) error {
	if _, _, err := ratelimit.Settle(p, 0); err != nil {
		return err //nolint:wrapcheck // Settle says what is wrong.
	}
	if err := k.Validate(); err != nil {
		return err //nolint:wrapcheck // Validate says what is wrong.
	}
	if p.Limit == 0 {
		return nil
	}
	now := s.clock()
	instants := []time.Time{now}
	if onClock(p) {
		instants = append(instants, now.Add(-p.Window), now.Add(p.Window))
	}
	keys := make([]string, 0, len(instants))
	for _, at := range instants {
		keys = append(keys, s.key(in, k, p, at))
	}
	// Afterwards, because until then Redis may still give the denials that are to be forgotten.
	defer s.denials.forget(keys)
	for _, key := range keys {
		if err := s.forget(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) forget(ctx context.Context, key string) error {
	ctx, cancel := s.target.limit(ctx)
	defer cancel()
	p, err := s.admit(ctx, key, time.Now().Add(s.target.budget))
	if err != nil {
		return err
	}
	return s.report(p, key, s.target.judge(s.current().Del(ctx, key).Err()))
}

// Ping asks Redis once, as the probe of an open breaker does, and says what is wrong: it writes a key that lives for a
// second. It may take as long as making a connection does, and changes nothing in the store.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.target.patience())
	defer cancel()
	client := s.target.dialProbe()
	defer func() { _ = client.Close() }()
	return s.target.judge(ask(ctx, client, s.probeKey(""))...)
}

// Close ends the store's goroutines and closes its connections. Checks made afterwards fail. It may be called again.
func (s *Store) Close() error {
	s.shards.main.breaker.open(time.Now(), &Error{class: ClassClosed, target: s.target.name, cause: errClosed})
	s.end()
	s.keepers.Wait()
	// The connections are given up, whatever state they are in. Flights that wait for an answer on them end.
	_ = s.current().Close()
	s.hangar.close()
	return nil
}

var errClosed = errors.New("the store is closed")

// key returns the key as it is written to Redis, built in one piece: prefix:namespace:identifier:tail.
func (*Store) key(in space, k ratelimit.Key, p *ratelimit.Policy, now time.Time) string {
	var room [192]byte
	text := append(room[:0], in.prefix...)
	text = append(append(text, ':'), k.Namespace...)
	text = append(append(text, ':'), ratelimit.KeyIdentifier(k.Identifier)...)
	return string(ratelimit.AppendKeyTail(append(text, ':'), p, now))
}

// pass lets a check through to the server that holds its key.
type pass struct {
	shard *shard
	// node is the client of the master that holds the key; nil where there is one server.
	node  *redis.Client
	epoch uint64
}

// rest puts a ride back for the next check, unless its caller left it to a flight that may still hold it.
func (s *Store) rest(r *ride) {
	if r.state.Load() == rideLeft {
		return
	}
	r.pass, r.question, r.err = pass{}, question{}, nil
	r.state.Store(rideWaiting)
	s.rides.Put(r)
}

// admit lets a check through to Redis, unless the breaker of the server that holds the key is open.
func (s *Store) admit(ctx context.Context, key string, deadline time.Time) (pass, error) {
	sh, node, err := s.shards.of(ctx, s.current(), key, deadline)
	epoch, ok := sh.breaker.admit()
	if !ok {
		return pass{}, sh.breaker.refusal()
	}
	p := pass{shard: sh, node: node, epoch: epoch}
	if err != nil {
		return pass{}, s.report(p, key, s.target.judge(err))
	}
	return p, nil
}

// report tells the breaker how a check went, and returns the failure.
func (s *Store) report(p pass, key string, err error) error {
	now := time.Now()
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		p.shard.breaker.succeed(p.epoch, 1, now)
		return err
	}
	s.notes.tell(failed, key, now)
	if failed.class == ClassData {
		p.shard.breaker.succeed(p.epoch, 1, now)
		return failed
	}
	if p.shard.breaker.fail(p.epoch, now, failed) {
		p.shard.remember(key)
		s.call()
	}
	if readOnly(failed.cause) {
		s.replace.Store(true)
		s.call()
	}
	return failed
}

// call wakes the keeper. A call that waits already is enough.
func (s *Store) call() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) current() redis.UniversalClient { return *s.client.Load() }

func (s *Store) use(client redis.UniversalClient) { s.client.Store(&client) }
