package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// Checks are callers of a limiter, without a server around it: each asks for a key of its own, as fast as it is answered.
type Checks struct {
	Callers int
	// Check asks once; an error means that nobody decided.
	Check func(ctx context.Context, identifier string) error
}

// Run lets the callers ask for a time, each of them once at least.
func (c *Checks) Run(ctx context.Context, length time.Duration) (Outcome, error) {
	waits := make([][]time.Duration, c.Callers)
	errs := make([]error, c.Callers)
	until := &limit{}
	defer time.AfterFunc(length, until.end).Stop()
	defer context.AfterFunc(ctx, until.end)()
	var group sync.WaitGroup
	began := time.Now()
	for i := range c.Callers {
		group.Go(func() { waits[i], errs[i] = c.ask(ctx, "203.0.113."+strconv.Itoa(i), until) })
	}
	group.Wait()
	took := time.Since(began)
	all := slices.Concat(waits...)
	return Outcome{Requests: int64(len(all)), Took: took, Median: percentile(all, 50)}, errors.Join(errs...)
}

func (c *Checks) ask(ctx context.Context, identifier string, until *limit) ([]time.Duration, error) {
	var waits []time.Duration
	for len(waits) == 0 || until.more() {
		began := time.Now()
		if err := c.Check(ctx, identifier); err != nil {
			return waits, fmt.Errorf("check %d: %w", len(waits)+1, err)
		}
		waits = append(waits, time.Since(began))
	}
	return waits, nil
}

// checkBudget is longer than a busy machine keeps a check waiting.
const checkBudget = 2 * time.Second

// RedisChecks are two contenders for a Redis, which is asked at an address that need not be its own: the store, and the
// same client with one transaction for each check and nothing around it. Their processor time is that of this process and
// of Redis together. Both end with the test.
func RedisChecks(tb testing.TB, r *testkit.Redis, addr string, callers int) (store, naive Contender, err error) {
	tb.Helper()
	config := redisstore.Config{Addrs: []string{addr}, Budget: checkBudget}
	s, err := redisstore.New(redisstore.Options{Config: config})
	if err != nil {
		return store, naive, fmt.Errorf("make store: %w", err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	client, err := redisstore.Dial(config)
	if err != nil {
		return store, naive, fmt.Errorf("make client: %w", err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	policy := &ratelimit.Policy{Name: "engine", Limit: ratelimit.MaxLimit, Window: time.Hour}
	cpu := func() (time.Duration, error) { return bothCPU(r) }
	store = Contender{Name: "store", CPU: cpu, Checks: &Checks{Callers: callers, Check: func(ctx context.Context, identifier string) error {
		key := ratelimit.Key{Namespace: "store", Identifier: identifier}
		_, err := s.Take(ctx, ratelimit.Request{Key: key, Policy: policy, Cost: 1})
		return err //nolint:wrapcheck // ask does
	}}}
	naive = Contender{Name: "one transaction a check", CPU: cpu, Checks: &Checks{Callers: callers, Check: func(ctx context.Context, identifier string) error {
		return transaction(ctx, client, policy.Window, identifier)
	}}}
	return store, naive, nil
}

// transaction counts as rule RL25 says, with nothing around it but what gives a check its time.
func transaction(ctx context.Context, client redis.UniversalClient, window time.Duration, identifier string) error {
	now := time.Now().Unix()
	key := "ratelimit:naive:" + identifier + ":" + strconv.FormatInt(now-now%int64(window/time.Second), 10)
	pipe := client.TxPipeline()
	pipe.Incr(ctx, key)
	pipe.Expire(ctx, key, window)
	_, err := pipe.Exec(ctx)
	return err //nolint:wrapcheck // ask does
}

// Pipelines is the floor under batches: so many plain transactions, each of so many checks, on their way to a Redis at a time
// and sent again as soon as they are answered. It returns the median time of one.
func Pipelines(tb testing.TB, addr string, flights, checks int, length time.Duration) (time.Duration, error) {
	tb.Helper()
	client, err := redisstore.Dial(redisstore.Config{Addrs: []string{addr}, Budget: checkBudget})
	if err != nil {
		return 0, fmt.Errorf("make client: %w", err)
	}
	defer func() { _ = client.Close() }()
	all := Checks{Callers: flights, Check: func(ctx context.Context, identifier string) error {
		pipe := client.TxPipeline()
		for i := range checks {
			key := "ratelimit:floor:" + identifier + "-" + strconv.Itoa(i) + ":0"
			pipe.Incr(ctx, key)
			pipe.Expire(ctx, key, time.Hour)
		}
		_, err := pipe.Exec(ctx)
		return err //nolint:wrapcheck // ask does
	}}
	out, err := all.Run(tb.Context(), length)
	return out.Median, err
}

// bothCPU is the processor time that this process and Redis have used.
func bothCPU(r *testkit.Redis) (time.Duration, error) {
	own, err := processorTime(os.Getpid())
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(r.Do("INFO", "cpu")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "used_cpu_sys" && name != "used_cpu_user" {
			continue
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("read the processor time of Redis: %w", err)
		}
		own += time.Duration(seconds * float64(time.Second))
	}
	return own, nil
}

// probeInterval is that of a store that is told none.
const probeInterval = 250 * time.Millisecond

var errAsked = errors.New("a key that is known to be exhausted was asked for")

// LocalDenial returns the time of one check of a key that is known to be over its limit.
func LocalDenial(ctx context.Context, r *testkit.Redis, checks int) (time.Duration, error) {
	s, err := redisstore.New(redisstore.Options{Config: redisstore.Config{Addrs: []string{r.Addr}, Budget: checkBudget}})
	if err != nil {
		return 0, fmt.Errorf("make store: %w", err)
	}
	defer func() { _ = s.Close() }()
	request := ratelimit.Request{
		Key: ratelimit.Key{Namespace: "denied", Identifier: "one"}, Cost: 1,
		Policy: &ratelimit.Policy{Name: "engine", Limit: 1, Window: 24 * time.Hour},
	}
	for range 3 {
		if _, err := s.Take(ctx, request); err != nil {
			return 0, fmt.Errorf("exhaust a key: %w", err)
		}
	}
	before := s.Stats()
	began := time.Now()
	for range checks {
		if _, err := s.Take(ctx, request); err != nil {
			return 0, fmt.Errorf("check an exhausted key: %w", err)
		}
	}
	whole := time.Since(began)
	took := whole / time.Duration(max(checks, 1))
	// A denial is repeated only while Redis has answered something within a probe interval, so one check in each asks.
	if asked := s.Stats().Alone - before.Alone; asked > int64(whole/probeInterval) {
		return 0, errAsked
	}
	return took, nil
}
