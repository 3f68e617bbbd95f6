package redisstore

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// takeClock counts a check in the window on the clock that its instant lies in.
func (s *Store) takeClock(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	key := s.key(r.Key, r.Policy, r.Now)
	p, err := s.admit(ctx, key)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	var count int64
	if r.Cost == 0 {
		count, err = s.peek(ctx, p.client, key)
	} else {
		count, err = s.hit(ctx, p.client, key, r)
	}
	if err := s.report(p, key, err); err != nil {
		return ratelimit.Decision{}, err
	}
	return ratelimit.Counted(r.Policy, count, r.Cost, r.Now), nil
}

// hit is the one transaction of a check (rule RL25). A counter that cannot grow reads as the largest number, which
// denies (rule RL24).
func (s *Store) hit(ctx context.Context, client redis.UniversalClient, key string, r ratelimit.Request) (int64, error) {
	var counter *redis.IntCmd
	pipe := client.TxPipeline()
	if r.Cost == 1 {
		counter = pipe.Incr(ctx, key)
	} else {
		counter = pipe.IncrBy(ctx, key, r.Cost)
	}
	// Without NX: the key carries its window, so that renewing is harmless and heals a key that lost its end.
	var expiry *redis.BoolCmd
	if r.Policy.Window%time.Second == 0 {
		expiry = pipe.Expire(ctx, key, r.Policy.Window)
	} else {
		expiry = pipe.PExpire(ctx, key, r.Policy.Window)
	}
	_, err := pipe.Exec(ctx)
	if counter.Err() == nil {
		return counter.Val(), nil
	}
	err = s.target.judge(counter.Err(), expiry.Err(), err)
	if errors.Is(err, errOverflow) {
		return math.MaxInt64, nil
	}
	return 0, err
}

// peek reads a counter.
func (s *Store) peek(ctx context.Context, client redis.UniversalClient, key string) (int64, error) {
	text, err := client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, s.target.judge(err)
	}
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &Error{class: ClassData, target: s.target.name, cause: errNoNumber}
	}
	return count, nil
}

// errNoNumber does not quote the value: it is somebody else's.
var errNoNumber = errors.New("the value under a counter's key is not a number")

// foreignReply begins the answer of a script that found a value which no script writes.
const foreignReply = "FOREIGN"

//go:embed first.lua
var firstScript string

// takeFirst counts a check in the window that the first counted check opened. Reading, judging and writing are one
// script. The server's clock decides where the check gives no instant (rule RL56).
func (s *Store) takeFirst(ctx context.Context, r ratelimit.Request) (ratelimit.Decision, error) {
	key := s.key(r.Key, r.Policy, r.Now)
	p, err := s.admit(ctx, key)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	now := ""
	if !r.Now.IsZero() {
		now = strconv.FormatInt(exactTicks(r.Now), 10)
	}
	args := []any{r.Policy.Limit, r.Policy.Window.Microseconds(), r.Cost, now}
	keys := []string{key}
	answer := s.once(ctx, p.client, func(c redis.Scripter) *redis.Cmd { return s.target.first.EvalSha(ctx, c, keys, args...) })
	if text, answered := replyText(answer.Err()); answered && strings.HasPrefix(text, "NOSCRIPT") {
		// It did not run, and runs once now (rule RL52).
		answer = s.once(ctx, p.client, func(c redis.Scripter) *redis.Cmd { return s.target.first.Eval(ctx, c, keys, args...) })
	}
	numbers, err := answer.Int64Slice()
	err = s.target.judge(err)
	if err == nil && len(numbers) != 3 {
		err = &Error{class: ClassData, target: s.target.name, cause: errNoNumber}
	}
	if err := s.report(p, key, err); err != nil {
		return ratelimit.Decision{}, err
	}
	return firstDecision(r, numbers), nil
}

// once runs a script without the library's retries (rule RL50). Its cluster client sends a single command again when a
// connection ends before the answer, whatever MaxRetries says, but a transaction never.
func (s *Store) once(ctx context.Context, client redis.UniversalClient, run func(redis.Scripter) *redis.Cmd) *redis.Cmd {
	if !s.target.cluster {
		return run(client)
	}
	pipe := client.TxPipeline()
	answer := run(pipe)
	// Each command has its own error.
	_, _ = pipe.Exec(ctx)
	return answer
}

// firstDecision puts the script's answer into the words of a decision, as ratelimit.Step does.
func firstDecision(r ratelimit.Request, numbers []int64) ratelimit.Decision {
	allowed, count, rest := numbers[0] == 1, numbers[1], time.Duration(numbers[2])*time.Microsecond
	d := ratelimit.Decision{
		Allowed: allowed, Limit: r.Policy.Limit, Remaining: max(0, r.Policy.Limit-count), Policy: r.Policy,
		Reset: rest, Next: rest,
	}
	if !allowed {
		d.RetryAfter = rest
	}
	return d
}

// exactTicks returns the instant in microseconds since the epoch, kept within the range in which the doubles of scripts
// are exact: 142 years around the epoch, less the longest window.
func exactTicks(t time.Time) int64 {
	const far = 1<<52 - int64(ratelimit.MaxWindow/time.Microsecond)
	seconds := t.Unix()
	switch {
	case seconds >= far/1_000_000:
		return far
	case seconds <= -far/1_000_000:
		return -far
	default:
		return seconds*1_000_000 + int64(t.Nanosecond())/1_000
	}
}
