package httplimit

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// MatchLog says which denials are logged (rule RL93).
type MatchLog string

// LogFirst writes the first denial of each key and policy in each window, and one summary with the number of the others
// when the window is over; LogAll writes each one; LogOff none.
const (
	LogFirst MatchLog = "first"
	LogAll   MatchLog = "all"
	LogOff   MatchLog = "off"
)

const (
	// maxMatches bounds the keys whose denials are held back, and maxLines the lines of a second, so that a flood fills
	// neither memory nor disk.
	maxMatches = 4096
	maxLines   = 100
	// shortestSweep keeps a log with many short windows from being swept all the time.
	shortestSweep = time.Second
)

// matchLog writes denials at WARN.
type matchLog struct {
	mode   MatchLog
	logger *slog.Logger
	clock  func() time.Time

	mu    sync.Mutex
	seen  map[matchKey]*match
	timer *time.Timer
	ended bool
	// second and lines count the lines of the present second; unlisted are the denials that they had no room for.
	second   int64
	lines    int
	unlisted int64
}

// matchKey is what denied whom; the layer is layerLimit for the policies of a [Guard].
type matchKey struct {
	layer, policy, identifier string
	// dry says that nothing was refused.
	dry bool
}

// layerLimit is the layer of a guard's policies in the log.
const layerLimit = "limit"

// match is a window in which a key was denied.
type match struct {
	key        matchKey
	ends       time.Time
	suppressed int64
}

func (l *matchLog) open(o *Options) {
	l.mode, l.logger, l.clock = o.LogMatches, o.Logger, o.Clock
	l.seen = make(map[matchKey]*match)
}

// denied logs a denial, now or in a summary.
func (l *matchLog) denied(r *http.Request, v *verdict) {
	if l.mode == LogOff || !l.logger.Enabled(r.Context(), slog.LevelWarn) {
		return
	}
	if l.mode == LogFirst {
		window := v.RetryAfter
		if window <= 0 {
			window = matchWindow
		}
		over, first := l.first(matchKey{layer: layerLimit, policy: v.Policy.Name, identifier: v.identifier}, window)
		l.write(over)
		if !first {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("policy", v.Policy.Name), slog.String("layer", layerLimit), slog.String("key", v.identifier),
		slog.String("method", r.Method), slog.Int64("limit", v.Limit), slog.Duration("window", v.Policy.Window),
		slog.Duration("retry_after", v.RetryAfter), slog.String("degraded", v.Degraded.String()),
	}
	if r.Pattern != "" {
		attrs = append(attrs, slog.String("path_pattern", r.Pattern))
	}
	l.logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused by a rate limit", attrs...)
}

// first says whether a denial is the first of its key and policy in its window and gets a line; any other is counted for
// a summary. It returns the lines about the window before.
func (l *matchLog) first(key matchKey, window time.Duration) (over []line, first bool) {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.seen[key]
	switch {
	case m != nil && now.Before(m.ends):
		m.suppressed++
		return nil, false
	case m != nil:
		over = l.summarise(now, m)
	case len(l.seen) >= maxMatches:
		l.unlisted++
		return nil, false
	}
	m = &match{key: key, ends: now.Add(window)}
	l.seen[key] = m
	l.schedule(window)
	if !l.room(now) {
		m.suppressed++
		return over, false
	}
	return over, true
}

// line is a summary on its way to the logger: of one key, or of the denials that had no room.
type line struct {
	key        matchKey
	suppressed int64
}

// summarise returns the lines about windows that are over and forgets these.
func (l *matchLog) summarise(now time.Time, over ...*match) []line {
	var lines []line
	for _, m := range over {
		delete(l.seen, m.key)
		switch {
		case m.suppressed == 0:
		case !l.room(now):
			l.unlisted += m.suppressed
		default:
			lines = append(lines, line{m.key, m.suppressed})
		}
	}
	if l.unlisted > 0 && l.take(now, maxLines) {
		lines = append(lines, line{suppressed: l.unlisted})
		l.unlisted = 0
	}
	return lines
}

// room takes one of the lines of the present second, and leaves the last one for what is not listed.
func (l *matchLog) room(now time.Time) bool { return l.take(now, maxLines-1) }

func (l *matchLog) take(now time.Time, most int) bool {
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
	}
	if l.lines >= most {
		return false
	}
	l.lines++
	return true
}

// schedule wakes the log when a window ends, unless it is to wake already.
func (l *matchLog) schedule(wait time.Duration) {
	if l.timer == nil && !l.ended {
		l.timer = time.AfterFunc(max(wait, shortestSweep), l.sweep)
	}
}

// sweep writes the summaries of the windows that are over.
func (l *matchLog) sweep() {
	now := l.clock()
	l.mu.Lock()
	l.timer = nil
	next := time.Duration(-1)
	var over []*match
	for _, m := range l.seen {
		left := m.ends.Sub(now)
		switch {
		case left <= 0:
			over = append(over, m)
		case next < 0 || left < next:
			next = left
		}
	}
	lines := l.summarise(now, over...)
	if next >= 0 || l.unlisted > 0 {
		l.schedule(next)
	}
	l.mu.Unlock()
	l.write(lines)
}

// close writes all summaries and ends the timer.
func (l *matchLog) close() {
	now := l.clock()
	l.mu.Lock()
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = nil
	lines := l.summarise(now, slices.Collect(maps.Values(l.seen))...)
	l.mu.Unlock()
	l.write(lines)
}

// write logs outside the lock, so that a slow log holds up nobody else's denial.
func (l *matchLog) write(lines []line) {
	ctx := context.Background()
	for _, summary := range lines {
		suppressed := slog.Int64("suppressed", summary.suppressed)
		if summary.key == (matchKey{}) {
			l.logger.LogAttrs(ctx, slog.LevelWarn, "requests refused by rate limits and not listed", suppressed)
			continue
		}
		attrs := []slog.Attr{
			slog.String("policy", summary.key.policy), slog.String("layer", summary.key.layer),
			slog.String("key", summary.key.identifier), suppressed,
		}
		if summary.key.dry {
			attrs = append(attrs, slog.Bool("dry_run", true))
		}
		l.logger.LogAttrs(ctx, slog.LevelWarn, "more requests refused by a rate limit", attrs...)
	}
}
