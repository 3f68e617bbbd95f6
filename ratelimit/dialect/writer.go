package dialect

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// maxStructured is the largest integer of a structured field (RFC 9651).
const maxStructured = 999_999_999_999_999

// retryAfter is the one field that every client knows.
const retryAfter = "Retry-After"

// Answer is what the fields of one answer are written from. Its decision must name a policy.
type Answer struct {
	ratelimit.Decision

	// Now is the instant of the decision, from which instants are counted.
	Now time.Time
	// Name stands for the policy; "" is the policy's own name.
	Name string
	// Partition is a digest of the key, for the parameter pk of Draft; nil leaves it out. A key itself is nobody's
	// business and must not stand here (rule RL117).
	Partition []byte
}

func (a *Answer) name() string { return cmp.Or(a.Name, a.Policy.Name) }

// Writer writes the fields of answers. It is safe for concurrent use.
type Writer struct {
	dialects []Dialect
	custom   []field
	reset    Reset
	retry    Retry
	warnAt   float64
	// policies are those that RateLimit-Policy lists, and quota is the field.
	policies []ratelimit.Policy
	quota    []string
}

// New makes a writer. All that is wrong with the options is reported in one error that wraps ratelimit.ErrConfig.
func New(o Options) (*Writer, error) {
	o.Reset, o.RetryAfter = cmp.Or(o.Reset, ResetEpoch), cmp.Or(o.RetryAfter, RetrySeconds)
	custom, fault := compileFields(o.Dialects, o.Fields)
	if err := errors.Join(append(o.validate(), fault)...); err != nil {
		return nil, fmt.Errorf("make writer of limit fields: %w", err)
	}
	w := &Writer{dialects: slices.Clone(o.Dialects), custom: custom, reset: o.Reset, retry: o.RetryAfter, warnAt: o.WarnAt}
	if w.retry == RetryUnlessNone {
		w.retry = RetrySeconds
		if slices.Contains(w.dialects, None) {
			w.retry = RetryNone
		}
	}
	var quota []byte
	for i := range o.Policies {
		if o.Policies[i].Limit > 0 {
			w.policies = append(w.policies, o.Policies[i])
			quota = appendPolicy(quota, o.Policies[i].Name, &o.Policies[i])
		}
	}
	if len(quota) > 0 {
		w.quota = []string{string(quota)}
	}
	return w, nil
}

// Limit writes the limit fields of all dialects, except those that are there already (rules RL120, X5).
func (w *Writer) Limit(h http.Header, a *Answer) {
	if a.Allowed && w.quiet(&a.Decision) {
		return
	}
	for _, dialect := range w.dialects {
		switch dialect {
		case Draft:
			putValues(h, "RateLimit-Policy", w.quotas(a))
			put(h, "RateLimit", draftLimit(a))
		case Split:
			putNumber(h, "RateLimit-Limit", a.Limit)
			putNumber(h, "RateLimit-Remaining", a.Remaining)
			putNumber(h, "RateLimit-Reset", seconds(a.Reset))
		case X, XGitHub, XDelta:
			w.putX(h, dialect, a)
		case Custom:
			for i := range w.custom {
				w.custom[i].set(h, a, w.reset)
			}
		default:
		}
	}
}

// RetryAfter writes how long to wait, and removes what is there if nobody can tell or the form is RetryNone (rules RL116,
// X3).
func (w *Writer) RetryAfter(h http.Header, wait time.Duration, now time.Time) {
	told, helps := ratelimit.RetryAfterSeconds(wait)
	switch {
	case !helps || w.retry == RetryNone:
		delete(h, retryAfter)
	case w.retry == RetryHTTPDate:
		h[retryAfter] = []string{httpDate(now, wait)}
	default:
		h[retryAfter] = []string{strconv.FormatInt(told, 10)}
	}
}

// quiet says that less is used than what fields begin at.
func (w *Writer) quiet(d *ratelimit.Decision) bool {
	return w.warnAt > 0 && float64(d.Limit-d.Remaining) < w.warnAt*float64(d.Limit)
}

func (w *Writer) putX(h http.Header, dialect Dialect, a *Answer) {
	reset := w.reset
	switch dialect {
	case XGitHub:
		reset = ResetEpoch
	case XDelta:
		reset = ResetSeconds
	default:
	}
	putNumber(h, "X-RateLimit-Limit", a.Limit)
	putNumber(h, "X-RateLimit-Remaining", a.Remaining)
	put(h, "X-RateLimit-Reset", resetText(reset, a))
	if dialect == XGitHub {
		putNumber(h, "X-RateLimit-Used", a.Limit-a.Remaining)
		put(h, "X-RateLimit-Resource", a.name())
	}
}

// quotas returns RateLimit-Policy. It is the same for all answers where the policies are known and nobody is named.
func (w *Writer) quotas(a *Answer) []string {
	if len(w.quota) > 0 && len(a.Partition) == 0 {
		return w.quota
	}
	var room [128]byte
	text := room[:0]
	for i := range w.policies {
		p := &w.policies[i]
		text = appendPolicy(text, p.Name, p)
		if p.Name == a.Policy.Name {
			text = appendPartition(text, a)
		}
	}
	if len(text) == 0 {
		text = appendPartition(appendPolicy(text, a.name(), a.Policy), a)
	}
	return []string{string(text)}
}

// appendPolicy appends one member of RateLimit-Policy, such as "engine";q=120;w=60.
func appendPolicy(text []byte, name string, p *ratelimit.Policy) []byte {
	if len(text) > 0 {
		text = append(text, ", "...)
	}
	text = append(text, '"')
	text = append(text, name...)
	text = append(text, `";q=`...)
	text = strconv.AppendInt(text, min(p.Limit, maxStructured), 10)
	if p.Algorithm == ratelimit.Concurrency {
		return append(text, `;qu="concurrent-requests"`...) // Its window is the life of a lease and says nothing to clients.
	}
	if p.Window >= time.Second {
		text = append(text, ";w="...)
		text = strconv.AppendInt(text, int64(p.Window/time.Second), 10)
	}
	return text
}

// appendPartition appends the partition key as a byte sequence.
func appendPartition(text []byte, a *Answer) []byte {
	if len(a.Partition) == 0 {
		return text
	}
	text = append(text, ";pk=:"...)
	text = base64.StdEncoding.AppendEncode(text, a.Partition)
	return append(text, ':')
}

// draftLimit returns the RateLimit of the draft, such as "engine";r=12;t=43. The time is the wait until one more unit is
// free, on a denial that until the same request passes; it is absent if no wait helps, and for places in use, since nobody
// knows when one is given back.
func draftLimit(a *Answer) string {
	wait := a.Next
	if !a.Allowed {
		wait = a.RetryAfter
	}
	var room [128]byte
	text := append(room[:0], '"')
	text = append(text, a.name()...)
	text = append(text, `";r=`...)
	text = strconv.AppendInt(text, min(a.Remaining, maxStructured), 10)
	if wait != ratelimit.Never && (!a.Allowed || a.Policy.Algorithm != ratelimit.Concurrency) {
		text = append(text, ";t="...)
		text = strconv.AppendInt(text, seconds(wait), 10)
	}
	return string(appendPartition(text, a))
}

func putNumber(h http.Header, name string, number int64) {
	put(h, name, strconv.FormatInt(number, 10))
}

func put(h http.Header, name, value string) {
	putValues(h, name, []string{value})
}

// putValues sets a field under its exact name (rule RL119), unless it is set under this or its canonical one.
func putValues(h http.Header, name string, values []string) {
	if _, exact := h[name]; exact || len(h.Values(name)) > 0 {
		return
	}
	h[name] = values
}

func seconds(wait time.Duration) int64 {
	whole, _ := ratelimit.RetryAfterSeconds(wait)
	return whole
}

// resetText returns the reset in its form.
func resetText(form Reset, a *Answer) string {
	switch form {
	case ResetSeconds:
		return strconv.FormatInt(seconds(a.Reset), 10)
	case ResetEpochMillis:
		return strconv.FormatInt(after(a.Now, a.Reset, time.Millisecond).UnixMilli(), 10)
	case ResetHTTPDate:
		return httpDate(a.Now, a.Reset)
	default:
		return strconv.FormatInt(after(a.Now, a.Reset, time.Second).Unix(), 10)
	}
}

func httpDate(now time.Time, wait time.Duration) string {
	return after(now, wait, time.Second).UTC().Format(http.TimeFormat)
}

// after returns the first whole unit at or after the instant behind a wait. Instants of decisions are ticks, so that what
// a clock shows below one must not round up.
func after(now time.Time, wait, unit time.Duration) time.Time {
	at := now.Truncate(time.Microsecond).Add(wait)
	if whole := at.Truncate(unit); whole.Equal(at) {
		return whole
	}
	return at.Truncate(unit).Add(unit)
}
