package redisstore

import (
	"context"
	"embed"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// foreignReply begins the answer of a script that found a value which no script writes.
	foreignReply = "FOREIGN"
	// perDecision is how many numbers a script returns for each check, and perCheck how many arguments it is given.
	perDecision = 6
	perCheck    = 7
)

//go:embed *.lua
var sources embed.FS

// scripts judge what one command cannot, each check in one go (rule RL55). They are put together from the laws of the
// algorithms, so that a law is the same whether a check is judged alone, in order or together with others.
type scripts struct {
	first, sliding, log, meter, lease *redis.Script
	release, renew                    *redis.Script
	order, together                   *redis.Script
	// hit counts in batches to a cluster.
	hit *redis.Script
	// offence and liftText are those of bans, offer and change those of circuits.
	offence, offer, change *redis.Script
	liftText               string
	// document is that of texts which replicas share.
	document *redis.Script
	// texts are what Redis is given to know them.
	texts []string
}

func newScripts() scripts {
	const every = "judge clock first sliding log meter lease "
	var s scripts
	s.first = s.join("judge first one")
	s.sliding = s.join("judge sliding one")
	s.log = s.join("judge log one")
	s.meter = s.join("judge meter one")
	s.lease = s.join("judge lease one")
	s.release = s.join("judge lease release")
	s.renew = s.join("judge lease renew")
	s.order = s.join(every + "order")
	s.together = s.join(every + "together")
	s.hit = s.join("hit")
	s.offence, s.offer, s.change = s.join("offence"), s.join("offer"), s.join("change")
	s.document = s.join("document")
	lift, _ := sources.ReadFile("lift.lua")
	s.liftText = string(lift)
	return s
}

// join makes a script of parts. One that is missing makes a script that Redis refuses, which no test would let pass.
func (s *scripts) join(parts string) *redis.Script {
	var text strings.Builder
	for part := range strings.FieldsSeq(parts) {
		source, _ := sources.ReadFile(part + ".lua")
		text.Write(source)
	}
	s.texts = append(s.texts, text.String())
	return redis.NewScript(text.String())
}

// load makes Redis know the scripts, in one round trip. Who may not load scripts may still count; a script that is
// missing is loaded by the check that needs it.
func (t *target) load(ctx context.Context, client *redis.Client) {
	pipe := client.Pipeline()
	for _, text := range t.scripts.texts {
		pipe.ScriptLoad(ctx, text) // The library's Load would forget the hash of a script in a pipeline.
	}
	_, _ = pipe.Exec(ctx)
}

// law returns the name that scripts give to the policy's law, and the script that judges one check by it. There is none
// for windows on the clock: a counter suffices.
func (s *scripts) law(p *ratelimit.Policy) (string, *redis.Script) {
	switch p.Algorithm {
	case ratelimit.SlidingWindow:
		return "sw", s.sliding
	case ratelimit.SlidingLog:
		return "sl", s.log
	case ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA:
		return "me", s.meter
	case ratelimit.Concurrency:
		return "cc", s.lease
	default:
		if onClock(p) {
			return "fw", nil
		}
		return "ff", s.first
	}
}

// pose makes the question of a check. A window on the clock is a counter that grows. All others are read, judged and
// written by one script; the server's clock decides where the check gives no instant (rule RL56).
func (s *Store) pose(q *question, in space, r *ratelimit.Request) {
	law, judge := s.target.scripts.law(r.Policy)
	if judge == nil {
		q.cost, q.window = r.Cost, max(r.Policy.Window, in.life)
		return
	}
	q.script, q.each = judge, perDecision
	q.args = appendArgs(make([]any, 0, perCheck), in, law, r)
}

// appendArgs appends what a script must know of a check.
func appendArgs(args []any, in space, law string, r *ratelimit.Request) []any {
	limit, window, more := r.Policy.Limit, r.Policy.Window.Microseconds(), ""
	switch law {
	case "me":
		divisor := gcd(limit, window)
		more = strconv.FormatInt(limit/divisor, 10)
		limit, window = r.Policy.Capacity(), window/divisor
	case "cc":
		more = leaseName(r.Lease)
	default:
	}
	now := ""
	if !r.Now.IsZero() {
		now = strconv.FormatInt(exactTicks(r.Now), 10)
	}
	return append(args, law, limit, window, r.Cost, now, more, in.life.Microseconds())
}

// decision puts the answer to a check into the words of a decision.
func (q *question) decision(r *ratelimit.Request) ratelimit.Decision {
	if q.script == nil {
		return ratelimit.Counted(r.Policy, q.count, r.Cost, r.Now)
	}
	return decide(r, q.numbers)
}

// decide reads the six numbers of a decision: whether it is allowed, what remains, the reset, the wait for the next unit,
// that for the check itself, and what is to be added to these waits. Of a window on the clock the second is the count.
func decide(r *ratelimit.Request, numbers []int64) ratelimit.Decision {
	if onClock(r.Policy) {
		return ratelimit.Counted(r.Policy, numbers[1], r.Cost, r.Now)
	}
	late := numbers[5]
	return ratelimit.Decision{
		Allowed: numbers[0] == 1, Limit: r.Policy.Capacity(), Remaining: numbers[1], Policy: r.Policy,
		Reset: wait(numbers[2], late), Next: wait(numbers[3], late), RetryAfter: wait(numbers[4], late),
	}
}

// wait returns the sum of two numbers of ticks as ratelimit.Step does: one of more than 292 years is one of 292 years.
func wait(ticks, late int64) time.Duration {
	if ticks < 0 {
		return 0
	}
	return time.Duration(min(ticks+late, math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// leaseName bounds the names that are written, as identifiers are bounded. Names that were shortened begin with a mark
// that no others have.
func leaseName(lease string) string {
	const longest, mark = 128, "h_"
	if len(lease) > longest || strings.HasPrefix(lease, mark) {
		return ratelimit.KeyIdentifier(lease)
	}
	return lease
}

// onClock says that the policy's windows lie on the clock, so that each has a counter of its own.
func onClock(p *ratelimit.Policy) bool {
	return (p.Algorithm == "" || p.Algorithm == ratelimit.FixedWindow) && p.Align != ratelimit.AlignFirstRequest
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
