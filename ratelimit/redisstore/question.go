package redisstore

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// question is what one check asks Redis: to count under a key, to read a counter, or to run a script. It writes its
// commands wherever they are sent from, and reads what came of them.
type question struct {
	key string
	// cost is what a counter grows by; with none it is read.
	cost int64
	// window is how long the counter lives.
	window time.Duration
	// script, if set, judges in place of a counter, with these arguments after the key and the further keys. It answers
	// with so many numbers, or a multiple of them.
	script  *redis.Script
	further []string
	args    []any
	each    int

	// The commands on their way.
	counter *redis.IntCmd
	expiry  *redis.BoolCmd
	text    *redis.StringCmd
	answer  *redis.Cmd

	// The answer: a counter after the check, or the numbers of a script.
	count   int64
	numbers []int64
}

// errNoNumber does not quote the value: it is somebody else's.
var errNoNumber = errors.New("the value under a counter's key is not a number")

// ask writes the question's commands.
func (q *question) ask(ctx context.Context, c redis.Cmdable) {
	switch {
	case q.script != nil:
		q.answer = q.script.EvalSha(ctx, c, q.keys(), q.args...)
	case q.cost == 0:
		q.text = c.Get(ctx, q.key)
	default:
		q.hit(ctx, c)
	}
}

// keys are those of the script.
func (q *question) keys() []string { return append([]string{q.key}, q.further...) }

// hit writes what a transaction counts with (rule RL25).
func (q *question) hit(ctx context.Context, c redis.Cmdable) {
	if q.cost == 1 {
		q.counter = c.Incr(ctx, q.key)
	} else {
		q.counter = c.IncrBy(ctx, q.key, q.cost)
	}
	// Without NX: the key carries its window, so that renewing is harmless and heals a key that lost its end.
	if q.window%time.Second == 0 {
		q.expiry = c.Expire(ctx, q.key, q.window)
	} else {
		q.expiry = c.PExpire(ctx, q.key, q.window)
	}
}

// askNode writes the question for a pipeline without a transaction: counting and renewing are one script there.
func (q *question) askNode(ctx context.Context, c redis.Cmdable, hit *redis.Script) {
	if q.script == nil && q.cost > 0 {
		q.answer = hit.EvalSha(ctx, c, []string{q.key}, q.cost, q.window.Milliseconds())
		return
	}
	q.ask(ctx, c)
}

// read takes the answer from the commands, and returns why there is none. whole is the error of what they were sent in.
func (q *question) read(t *target, whole error) error {
	switch {
	case q.answer != nil:
		return q.readScript(t)
	case q.text != nil:
		return q.readText(t)
	default:
		return q.readCounter(t, whole)
	}
}

// readCounter takes the count. A counter that cannot grow reads as the largest number, which denies (rule RL24).
func (q *question) readCounter(t *target, whole error) error {
	if q.counter.Err() == nil {
		q.count = q.counter.Val()
		return nil
	}
	return q.overflowed(t.judge(q.counter.Err(), q.expiry.Err(), whole))
}

func (q *question) overflowed(err error) error {
	if errors.Is(err, errOverflow) {
		q.count = math.MaxInt64
		return nil
	}
	return err
}

func (q *question) readText(t *target) error {
	text, err := q.text.Result()
	if errors.Is(err, redis.Nil) {
		q.count = 0
		return nil
	}
	if err != nil {
		return t.judge(err)
	}
	if q.count, err = strconv.ParseInt(text, 10, 64); err != nil {
		return &Error{class: ClassData, target: t.name, cause: errNoNumber}
	}
	return nil
}

func (q *question) readScript(t *target) error {
	numbers, err := q.answer.Int64Slice()
	if err != nil {
		return q.overflowed(t.judge(err))
	}
	if each := max(1, q.each); len(numbers) < each || len(numbers)%each != 0 || len(numbers) > each*(1+len(q.further)) {
		return &Error{class: ClassData, target: t.name, cause: errNoNumber}
	}
	q.count, q.numbers = numbers[0], numbers
	return nil
}

// notRun says that Redis certainly did not run the commands, for a reason that need not hold for them alone: another
// command ended their transaction, the script is not known, or the key lies elsewhere by now.
func (q *question) notRun(t *target) bool {
	for _, err := range q.errs() {
		text, answered := replyText(err)
		switch {
		case aborted(text):
		case answered && strings.HasPrefix(text, "NOSCRIPT"):
		case answered && t.cluster && (strings.HasPrefix(text, "MOVED ") || strings.HasPrefix(text, "ASK ")):
		default:
			return false
		}
	}
	return true
}

// errs are the errors of all commands of the question.
func (q *question) errs() []error {
	switch {
	case q.answer != nil:
		return []error{q.answer.Err()}
	case q.text != nil:
		return []error{q.text.Err()}
	default:
		return []error{q.counter.Err(), q.expiry.Err()}
	}
}

// alone sends the question by itself: one transaction for a count, one command for the rest (rule RL25).
func (q *question) alone(ctx context.Context, client redis.UniversalClient, t *target) error {
	q.counter, q.expiry, q.text, q.answer = nil, nil, nil, nil
	switch {
	case q.script != nil:
		q.answer = q.run(ctx, client, t)
		return q.read(t, nil)
	case q.cost == 0:
		q.ask(ctx, client)
		return q.read(t, nil)
	default:
		pipe := client.TxPipeline()
		q.ask(ctx, pipe)
		_, err := pipe.Exec(ctx)
		return q.read(t, err)
	}
}

// run runs the question's script, by its hash if Redis knows it.
func (q *question) run(ctx context.Context, client redis.UniversalClient, t *target) *redis.Cmd {
	keys := q.keys()
	answer := once(ctx, client, t, func(c redis.Scripter) *redis.Cmd { return q.script.EvalSha(ctx, c, keys, q.args...) })
	if text, answered := replyText(answer.Err()); answered && strings.HasPrefix(text, "NOSCRIPT") {
		// It did not run, and runs once now (rule RL52).
		answer = once(ctx, client, t, func(c redis.Scripter) *redis.Cmd { return q.script.Eval(ctx, c, keys, q.args...) })
	}
	return answer
}

// once runs a script without the library's retries (rule RL50). Its cluster client sends a single command again when a
// connection ends before the answer, whatever MaxRetries says, but a transaction never.
func once(ctx context.Context, client redis.UniversalClient, t *target, run func(redis.Scripter) *redis.Cmd) *redis.Cmd {
	if !t.cluster {
		return run(client)
	}
	pipe := client.TxPipeline()
	answer := run(pipe)
	// Each command has its own error.
	_, _ = pipe.Exec(ctx)
	return answer
}
