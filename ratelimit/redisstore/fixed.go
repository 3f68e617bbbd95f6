package redisstore

import (
	_ "embed"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// foreignReply begins the answer of a script that found a value which no script writes.
const foreignReply = "FOREIGN"

//go:embed first.lua
var firstScript string

// pose makes the question of a check. A window on the clock is a counter that grows. A window that the first counted
// check opens is read, judged and written by one script; the server's clock decides where the check gives no instant
// (rule RL56).
func (s *Store) pose(q *question, r *ratelimit.Request) {
	if r.Policy.Align != ratelimit.AlignFirstRequest {
		q.cost, q.window = r.Cost, r.Policy.Window
		return
	}
	now := ""
	if !r.Now.IsZero() {
		now = strconv.FormatInt(exactTicks(r.Now), 10)
	}
	q.script = s.target.first
	q.args = []any{r.Policy.Limit, r.Policy.Window.Microseconds(), r.Cost, now}
}

// decision puts the answer to a check into the words of a decision.
func (q *question) decision(r *ratelimit.Request) ratelimit.Decision {
	if q.script == nil {
		return ratelimit.Counted(r.Policy, q.count, r.Cost, r.Now)
	}
	return firstDecision(r, q.numbers)
}

// firstDecision does as ratelimit.Step does.
func firstDecision(r *ratelimit.Request, numbers []int64) ratelimit.Decision {
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
