package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	throttledredis "github.com/throttled/throttled/v2/store/goredisstore.v9"
	throttledmemory "github.com/throttled/throttled/v2/store/memstore"
	"github.com/ulule/limiter/v3"
	ululememory "github.com/ulule/limiter/v3/drivers/store/memory"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// peerLimit and peerWindow never deny: what is measured is the decision and not what follows from it.
const (
	peerLimit  = math.MaxInt32
	peerWindow = time.Hour
)

// Peer is a limiter for Go as its own documentation shows it.
type Peer struct {
	Name string
	// Check asks once for a key.
	Check func(ctx context.Context, key string) error
}

// MemoryPeers are the limiters whose counts are in memory, ours first. What they start ends with the test.
func MemoryPeers(tb testing.TB) ([]Peer, error) {
	tb.Helper()
	own, err := memstore.New(memstore.Options{})
	if err != nil {
		return nil, fmt.Errorf("make memstore: %w", err)
	}
	buckets, err := memorystore.New(&memorystore.Config{Tokens: peerLimit, Interval: peerWindow})
	if err != nil {
		return nil, fmt.Errorf("make sethvargo/go-limiter: %w", err)
	}
	tb.Cleanup(func() { _ = buckets.Close(context.WithoutCancel(tb.Context())) })
	kept, err := throttledmemory.NewCtx(0)
	if err != nil {
		return nil, fmt.Errorf("make throttled's store: %w", err)
	}
	gcra, err := newThrottled(kept)
	if err != nil {
		return nil, err
	}
	policy := &ratelimit.Policy{Name: "engine", Limit: peerLimit, Window: peerWindow}
	return []Peer{
		{"mockbase, memory", func(ctx context.Context, key string) error {
			_, err := own.Take(ctx, ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: key}, Policy: policy, Cost: 1})
			return err //nolint:wrapcheck // the caller does
		}},
		{"sethvargo/go-limiter, memory", func(ctx context.Context, key string) error {
			_, _, _, _, err := buckets.Take(ctx, key) //nolint:dogsled // only the error matters
			return err                                //nolint:wrapcheck // the caller does
		}},
		{"throttled, memory", gcra},
		{"ulule/limiter, memory", newUlule(ululememory.NewStore())},
	}, nil
}

// RedisPeers are the limiters whose counts are in Redis, ours first, with equal clients. They end with the test.
func RedisPeers(tb testing.TB, r *testkit.Redis) ([]Peer, error) {
	tb.Helper()
	config := redisstore.Config{Addrs: []string{r.Addr}, Budget: checkBudget}
	own, err := redisstore.New(redisstore.Options{Config: config})
	if err != nil {
		return nil, fmt.Errorf("make redisstore: %w", err)
	}
	tb.Cleanup(func() { _ = own.Close() })
	client, err := redisstore.Dial(config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	others, err := redisPeers(client)
	if err != nil {
		return nil, err
	}
	policy := &ratelimit.Policy{Name: "engine", Limit: peerLimit, Window: peerWindow}
	return append([]Peer{{"mockbase, Redis", func(ctx context.Context, key string) error {
		_, err := own.Take(ctx, ratelimit.Request{Key: ratelimit.Key{Namespace: "engine", Identifier: key}, Policy: policy, Cost: 1})
		return err //nolint:wrapcheck // the caller does
	}}}, others...), nil
}

func redisPeers(client redis.UniversalClient) ([]Peer, error) {
	kept, err := throttledredis.NewCtx(client, "throttled:")
	if err != nil {
		return nil, fmt.Errorf("make throttled's store: %w", err)
	}
	gcra, err := newThrottled(kept)
	if err != nil {
		return nil, err
	}
	counts, err := ululeredis.NewStore(client)
	if err != nil {
		return nil, fmt.Errorf("make ulule's store: %w", err)
	}
	rate := redis_rate.NewLimiter(client)
	return []Peer{
		{"go-redis/redis_rate", func(ctx context.Context, key string) error {
			_, err := rate.Allow(ctx, key, redis_rate.Limit{Rate: peerLimit, Burst: peerLimit, Period: peerWindow})
			return err //nolint:wrapcheck // the caller does
		}},
		{"throttled, Redis", gcra},
		{"ulule/limiter, Redis", newUlule(counts)},
	}, nil
}

func newThrottled(kept throttled.GCRAStoreCtx) (func(ctx context.Context, key string) error, error) {
	// Its rate is a time between two requests, of which there must be one.
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(1_000_000_000, peerWindow), MaxBurst: 1_000_000_000}
	gcra, err := throttled.NewGCRARateLimiterCtx(kept, quota)
	if err != nil {
		return nil, fmt.Errorf("make throttled: %w", err)
	}
	return func(ctx context.Context, key string) error {
		_, _, err := gcra.RateLimitCtx(ctx, key, 1)
		return err //nolint:wrapcheck // the caller does
	}, nil
}

func newUlule(kept limiter.Store) func(ctx context.Context, key string) error {
	counts := limiter.New(kept, limiter.Rate{Period: peerWindow, Limit: peerLimit})
	return func(ctx context.Context, key string) error {
		_, err := counts.Get(ctx, key)
		return err //nolint:wrapcheck // the caller does
	}
}

// peerKeys is how many keys are asked for in turn.
const peerKeys = 1000

// MemoryCost is what a check in memory takes.
type MemoryCost struct {
	Name string
	// Nanoseconds is the time of one check in the best round, Allocs the allocations of one.
	Nanoseconds, Allocs float64
}

// MemoryCosts lets the limiters take turns, each alone and for so many checks.
func MemoryCosts(ctx context.Context, peers []Peer, rounds, checks int) ([]MemoryCost, error) {
	keys := make([]string, peerKeys)
	for i := range keys {
		keys[i] = "203.0." + strconv.Itoa(i/250) + "." + strconv.Itoa(i%250)
	}
	costs := make([]MemoryCost, len(peers))
	for round := -1; round < rounds; round++ {
		for turn := range peers {
			i := (turn + max(round, 0)) % len(peers)
			took, allocs, err := askAll(ctx, peers[i], keys, checks)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", peers[i].Name, err)
			}
			if c := &costs[i]; round >= 0 && (c.Nanoseconds == 0 || took < c.Nanoseconds) {
				*c = MemoryCost{peers[i].Name, took, allocs}
			}
		}
	}
	return costs, nil
}

// askAll returns the nanoseconds and the allocations of one of so many checks.
func askAll(ctx context.Context, p Peer, keys []string, checks int) (took, allocs float64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for i := range checks {
		if err := p.Check(ctx, keys[i%len(keys)]); err != nil {
			return 0, 0, fmt.Errorf("check %d: %w", i+1, err)
		}
	}
	took = float64(time.Since(began).Nanoseconds()) / float64(checks)
	runtime.ReadMemStats(&after)
	return took, float64(after.Mallocs-before.Mallocs) / float64(checks), nil
}

// Contend makes peers contenders, with so many callers each.
func Contend(peers []Peer, r *testkit.Redis, callers int) []Contender {
	all := make([]Contender, 0, len(peers))
	for _, p := range peers {
		all = append(all, Contender{
			Name: p.Name, CPU: func() (time.Duration, error) { return bothCPU(r) }, Checks: &Checks{Callers: callers, Check: p.Check},
		})
	}
	return all
}

// OpenBreaker returns the 99th percentile of the time of a check while Redis is away and the breaker is open.
func OpenBreaker(tb testing.TB, checks int) (time.Duration, error) {
	tb.Helper()
	r := testkit.StartRedis(tb)
	s, err := redisstore.New(redisstore.Options{Config: redisstore.Config{Addrs: []string{r.Addr}}})
	if err != nil {
		return 0, fmt.Errorf("make store: %w", err)
	}
	defer func() { _ = s.Close() }()
	l, err := ratelimit.NewLimiter(ratelimit.Options{Name: "engine", Store: s})
	if err != nil {
		return 0, fmt.Errorf("make limiter: %w", err)
	}
	request := ratelimit.Request{
		Key: ratelimit.Key{Namespace: "engine", Identifier: "one"}, Cost: 1,
		Policy: &ratelimit.Policy{Name: "engine", Limit: 120, Window: time.Minute},
	}
	check := func() error {
		_, err := l.Check(tb.Context(), request)
		return err //nolint:wrapcheck // it is misuse
	}
	r.Kill()
	testkit.Eventually(tb, "the breaker to open", func() bool { return check() == nil && s.Available() != nil })
	waits := make([]time.Duration, 0, checks)
	for range checks {
		began := time.Now()
		if err := check(); err != nil {
			return 0, err
		}
		waits = append(waits, time.Since(began))
	}
	slices.Sort(waits)
	return percentile(waits, 99), nil
}
