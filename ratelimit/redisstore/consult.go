package redisstore

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// errNoRecord does not quote the value: it is somebody else's.
var errNoRecord = errors.New("the value under a key of the limiter is not what it writes there")

// consult runs a script by itself, in one round trip within the budget, and returns what it answered.
func (s *Store) consult(ctx context.Context, script *redis.Script, keys []string, args ...any) ([]any, error) {
	deadline := time.Now().Add(s.target.budget)
	p, err := s.admit(ctx, keys[0], deadline)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	q := question{key: keys[0], further: keys[1:], script: script, args: args}
	answer, err := q.run(ctx, s.current(), s.target).Slice()
	return answer, s.report(p, keys[0], s.target.judge(err))
}

// transact writes commands for keys that lie together as one transaction.
func (s *Store) transact(ctx context.Context, key string, write func(context.Context, redis.Pipeliner)) error {
	deadline := time.Now().Add(s.target.budget)
	p, err := s.admit(ctx, key, deadline)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	pipe := s.current().TxPipeline()
	write(ctx, pipe)
	return s.report(p, key, s.target.judge(finish(ctx, pipe)...))
}

// finish sends a pipeline and returns the errors of its commands and its own.
func finish(ctx context.Context, pipe redis.Pipeliner) []error {
	cmds, err := pipe.Exec(ctx)
	errs := make([]error, 0, len(cmds)+1)
	for _, cmd := range cmds {
		errs = append(errs, cmd.Err())
	}
	return append(errs, err)
}

// reader reads the members of an answer. The first one that is not what it should be is its fault.
type reader struct {
	answer []any
	fault  error
}

func (r *reader) take() any {
	if len(r.answer) == 0 {
		r.fault = errNoRecord
		return nil
	}
	first := r.answer[0]
	r.answer = r.answer[1:]
	return first
}

// number reads a number, which Redis may have written as a text.
func (r *reader) number() int64 {
	switch value := r.take().(type) {
	case int64:
		return value
	case string:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			r.fault = errNoRecord
		}
		return n
	default:
		r.fault = errNoRecord
		return 0
	}
}

func (r *reader) text() string {
	text, ok := r.take().(string)
	if !ok {
		r.fault = errNoRecord
	}
	return text
}

// instant reads an instant in ticks; an empty text is the zero time.
func (r *reader) instant() time.Time {
	text := r.text()
	if text == "" {
		return time.Time{}
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fault = errNoRecord
	}
	return time.UnixMicro(at)
}

// instantText writes an instant as readers read it.
func instantText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(exactTicks(t), 10)
}

// damaged is the error of a key that holds something else.
func (s *Store) damaged(key string) error {
	failed := &Error{class: ClassData, target: s.target.name, cause: errNoRecord}
	s.notes.tell(failed, key, time.Now())
	return failed
}

// millis is a time as PEXPIRE takes it.
func millis(d time.Duration) int64 { return max(1, min(d, ratelimit.MaxWindow).Milliseconds()) }
