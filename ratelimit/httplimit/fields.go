package httplimit

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Dialect is a way of naming the limit fields (rule RL117). The fields of several dialects may go out together.
type Dialect string

// The dialects. DialectDraft is the version of the IETF draft "RateLimit header fields for HTTP" that DraftVersion names;
// it is no standard, and the contract with clients is the status and Retry-After (rule RL118).
const (
	DialectDraft   Dialect = "draft"
	DialectSplit   Dialect = "split"
	DialectX       Dialect = "x"
	DialectXGitHub Dialect = "x-github"
	DialectXDelta  Dialect = "x-delta"
	// DialectCustom writes CustomFields.
	DialectCustom Dialect = "custom"
	DialectNone   Dialect = "none"
)

// DraftVersion is the version of the draft that DialectDraft follows.
const DraftVersion = "draft-11"

// maxStructured is the largest integer of a structured field (RFC 9651).
const maxStructured = 999_999_999_999_999

// validateDialects refuses dialects that are unknown and those that name the same thing in two ways (rule RL118).
func validateDialects(dialects []Dialect) error {
	for i, d := range dialects {
		if err := oneOf("header dialect", d, DialectDraft, DialectSplit, DialectX, DialectXGitHub, DialectXDelta, DialectCustom, DialectNone); err != nil {
			return err
		}
		for _, other := range dialects[:i] {
			if clashes(d, other) || clashes(other, d) {
				return fmt.Errorf("header dialects %s and %s name the same thing in two ways: %w", other, d, ratelimit.ErrConfig)
			}
		}
	}
	return nil
}

// clashes says whether two dialects exclude each other; it is asked both ways round.
func clashes(a, b Dialect) bool {
	switch a {
	case b, DialectNone:
		return true
	case DialectDraft:
		return b == DialectSplit
	case DialectX:
		return b == DialectXGitHub || b == DialectXDelta
	case DialectXGitHub:
		return b == DialectXDelta
	default:
		return false
	}
}

// fields writes limit fields. Their names are assigned to the header map, since Header.Set would write "Ratelimit" (rule
// RL119).
type fields struct {
	on       When
	dialects []Dialect
	// policy is the RateLimit-Policy of the draft, the same for all answers.
	policy []string
	custom []customField
}

func (f *fields) open(dialects []Dialect, on When, policies []ratelimit.Policy) {
	f.dialects, f.on = dialects, on
	var text []byte
	for i := range policies {
		if policies[i].Limit > 0 {
			text = appendPolicy(text, &policies[i])
		}
	}
	f.policy = []string{string(text)}
}

// appendPolicy appends one member of RateLimit-Policy, such as "engine";q=120;w=60.
func appendPolicy(text []byte, p *ratelimit.Policy) []byte {
	if len(text) > 0 {
		text = append(text, ", "...)
	}
	text = append(text, '"')
	text = append(text, p.Name...)
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

// set writes the fields of all dialects, except those that are there already (rule RL120).
func (f *fields) set(h http.Header, v *verdict) {
	for _, dialect := range f.dialects {
		switch dialect {
		case DialectDraft:
			put(h, "RateLimit-Policy", f.policy)
			put(h, "RateLimit", []string{draftLimit(&v.Decision)})
		case DialectSplit:
			putNumber(h, "RateLimit-Limit", v.Limit)
			putNumber(h, "RateLimit-Remaining", v.Remaining)
			putNumber(h, "RateLimit-Reset", wholeSeconds(v.Reset))
		case DialectX, DialectXGitHub:
			putNumber(h, "X-RateLimit-Limit", v.Limit)
			putNumber(h, "X-RateLimit-Remaining", v.Remaining)
			putNumber(h, "X-RateLimit-Reset", unixSeconds(v.now, v.Reset))
			if dialect == DialectXGitHub {
				putNumber(h, "X-RateLimit-Used", v.Limit-v.Remaining)
				put(h, "X-RateLimit-Resource", []string{v.Policy.Name})
			}
		case DialectXDelta:
			putNumber(h, "X-RateLimit-Limit", v.Limit)
			putNumber(h, "X-RateLimit-Remaining", v.Remaining)
			putNumber(h, "X-RateLimit-Reset", wholeSeconds(v.Reset))
		case DialectCustom:
			for i := range f.custom {
				f.custom[i].set(h, v)
			}
		default:
		}
	}
}

// draftLimit returns the RateLimit of the draft, such as "engine";r=12;t=43. The time is the wait until one more unit is
// free, on a denial that until the same request passes; it is absent if no wait helps, and for places in use, since nobody
// knows when one is given back.
func draftLimit(d *ratelimit.Decision) string {
	wait := d.Next
	if !d.Allowed {
		wait = d.RetryAfter
	}
	var room [96]byte
	text := append(room[:0], '"')
	text = append(text, d.Policy.Name...)
	text = append(text, `";r=`...)
	text = strconv.AppendInt(text, min(d.Remaining, maxStructured), 10)
	if wait != ratelimit.Never && (!d.Allowed || d.Policy.Algorithm != ratelimit.Concurrency) {
		text = append(text, ";t="...)
		text = strconv.AppendInt(text, wholeSeconds(wait), 10)
	}
	return string(text)
}

func putNumber(h http.Header, name string, number int64) {
	put(h, name, []string{strconv.FormatInt(number, 10)})
}

// put sets a field under its exact name, unless it is set under this or its canonical one.
func put(h http.Header, name string, values []string) {
	if _, exact := h[name]; exact || len(h.Values(name)) > 0 {
		return
	}
	h[name] = values
}

func wholeSeconds(wait time.Duration) int64 {
	seconds, _ := ratelimit.RetryAfterSeconds(wait)
	return seconds
}

// unixSeconds returns the instant after a wait in seconds since the epoch, rounded up.
func unixSeconds(now time.Time, wait time.Duration) int64 {
	at := now.Truncate(time.Microsecond).Add(wait)
	if at.Nanosecond() > 0 {
		return at.Unix() + 1
	}
	return at.Unix()
}
