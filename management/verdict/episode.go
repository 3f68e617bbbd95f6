package verdict

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// longestDemand is what a longer Retry-After is taken for: nobody waits that long.
const longestDemand = 10 * 365 * 24 * time.Hour

// group is one client of one mock, in one session.
type group struct {
	client Client
	// session and key tell it from others.
	session, key string
	all          []*mockbase.Exchange
	// limited tells that a simulated limit was asked.
	limited  bool
	episodes []episode
}

// episode is a rejection with its retries (rule AA33).
type episode struct {
	steps  []step
	gaveUp bool
}

// step is one request of an episode.
type step struct {
	x *mockbase.Exchange
	// overlapping tells that it was under way already when the last rejection was answered, so that it is no retry.
	overlapping bool
	attempt     int
	// wait is how long the client waited, demand what the rejection before demanded; demanded tells whether it did.
	wait, demand time.Duration
	demanded     bool
	// after is the rejection before; nil for the first step and for overlapping ones.
	after *mockbase.Exchange
}

// rejects tells whether an exchange is a rejection: the simulated limit answered, or a mock did with 429 or 503.
func rejects(x *mockbase.Exchange) bool {
	return x.AnsweredBy == mockbase.AnsweredBySimulatedLimit || served(x) &&
		(x.Response.Status == http.StatusTooManyRequests || x.Response.Status == http.StatusServiceUnavailable)
}

// served tells whether a mock answered, or something in its place.
func served(x *mockbase.Exchange) bool {
	switch x.AnsweredBy {
	case mockbase.AnsweredByMock, mockbase.AnsweredByCollection, mockbase.AnsweredByDocument, mockbase.AnsweredByProxy, mockbase.AnsweredByOverlay:
		return true
	default:
		return false
	}
}

// split finds the episodes of a group.
func (g *group) split(giveUp time.Duration) {
	slices.SortStableFunc(g.all, func(a, b *mockbase.Exchange) int { return a.At.Compare(b.At) })
	for i := 0; i < len(g.all); {
		if !rejects(g.all[i]) {
			i++
			continue
		}
		var e episode
		e, i = g.follow(i, giveUp)
		g.episodes = append(g.episodes, e)
	}
}

// follow is the episode that begins at a place; next is where the search goes on.
func (g *group) follow(at int, giveUp time.Duration) (e episode, next int) {
	last := g.all[at]
	e.steps = append(e.steps, step{x: last, attempt: 1})
	attempts := 1
	for next = at + 1; next < len(g.all); next++ {
		x := g.all[next]
		if x.At.Before(answeredAt(last)) {
			e.steps = append(e.steps, step{x: x, overlapping: true})
			continue
		}
		s := step{x: x, wait: waited(last, x), after: last}
		s.demand, s.demanded = demandOf(last)
		if s.wait > max(giveUp, 2*s.demand) || wasReset(last, x) {
			break
		}
		attempts++
		s.attempt = attempts
		e.steps = append(e.steps, s)
		if !rejects(x) {
			return e, next + 1
		}
		last = x
	}
	e.gaveUp = true
	return e, next
}

// retries are the steps that are judged.
func (e *episode) retries() []step {
	return slices.DeleteFunc(slices.Clone(e.steps), func(s step) bool { return s.after == nil })
}

// attempts counts the requests of the episode, and lists them.
func (e *episode) attempts() []string {
	var ids []string
	for i := range e.steps {
		if e.steps[i].attempt > 0 {
			ids = append(ids, e.steps[i].x.ID)
		}
	}
	return ids
}

// answeredAt is when an exchange ended, on the wall clock.
func answeredAt(x *mockbase.Exchange) time.Time { return x.At.Add(x.Duration) }

// sessionTime is when an exchange began on its session's clock.
func sessionTime(x *mockbase.Exchange) time.Time {
	if x.SessionAt.IsZero() {
		return x.At
	}
	return x.SessionAt
}

// endOf is when an exchange ended on its session's clock. What an advance took off its delay has passed on that clock.
func endOf(x *mockbase.Exchange) time.Time {
	end := sessionTime(x).Add(x.Duration)
	if x.DelayPlanned > x.DelaySlept && !x.ClientAborted {
		end = end.Add(x.DelayPlanned - x.DelaySlept)
	}
	return end
}

// waited is the time between a rejection's answer and the next request, on the session's clock.
func waited(rejection, next *mockbase.Exchange) time.Duration {
	return max(0, sessionTime(next).Sub(endOf(rejection)))
}

// wasReset tells whether the session's clock went back between two exchanges. Its limits began anew then (rule AA18).
func wasReset(before, after *mockbase.Exchange) bool {
	offset := func(x *mockbase.Exchange) time.Duration { return sessionTime(x).Sub(x.At) }
	return offset(after) < offset(before)-time.Millisecond
}

// demandOf is the wait that the Retry-After of an answer demands.
func demandOf(x *mockbase.Exchange) (time.Duration, bool) {
	text := strings.TrimSpace(fieldOf(x.Response.Header, "Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(longestDemand/time.Second) {
			return longestDemand, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return min(longestDemand, max(0, at.Sub(answeredAt(x)))), true
}

// fieldOf is the first value of a header field, whose name was kept as it was sent.
func fieldOf(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// tell fills in the client's timeline and counts.
func (g *group) tell() {
	c := &g.client
	c.Timeline, c.Checks = []Instance{}, []Finding{}
	for _, x := range g.all {
		if rejects(x) {
			c.Limited++
		}
	}
	for i := range g.episodes {
		e := &g.episodes[i]
		c.GaveUp = c.GaveUp || e.gaveUp
		for j := range e.steps {
			s := &e.steps[j]
			m := Instance{Exchange: s.x.ID, At: sessionTime(s.x).UTC().Format(timeFormat), Status: s.x.Response.Status, Attempt: s.attempt}
			if demand, ok := demandOf(s.x); ok {
				m.RetryAfterMS = milliseconds(demand)
			}
			if s.after != nil {
				c.Retries++
				m.WaitedMS = milliseconds(s.wait)
			}
			c.Timeline = append(c.Timeline, m)
		}
	}
}

const timeFormat = "2006-01-02T15:04:05.000Z"

func milliseconds(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}
