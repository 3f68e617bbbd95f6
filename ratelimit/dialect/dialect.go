package dialect

import (
	"fmt"
	"slices"

	"github.com/mockbase/mockbase/ratelimit"
)

// Dialect is a way of naming the limit fields (rules RL117, X10). The fields of several dialects may go out together.
type Dialect string

// The dialects. Draft is the version of the IETF draft "RateLimit header fields for HTTP" that DraftVersion names; it is no
// standard, and the contract with clients is the status and Retry-After (rule RL118).
const (
	Draft   Dialect = "draft"
	Split   Dialect = "split"
	X       Dialect = "x"
	XGitHub Dialect = "x-github"
	XDelta  Dialect = "x-delta"
	// Custom writes the Fields of the options.
	Custom Dialect = "custom"
	None   Dialect = "none"
)

// DraftVersion is the version of the draft that Draft follows.
const DraftVersion = "draft-11"

// Reset is the form of the instant at which the allowance is complete again, for X and Custom. The others have a form of
// their own: XGitHub is an epoch, all others are seconds.
type Reset string

// The forms: seconds from now, seconds or milliseconds since the Unix epoch, and the date of HTTP. ResetEpoch is the
// default.
const (
	ResetSeconds     Reset = "seconds"
	ResetEpoch       Reset = "epoch"
	ResetEpochMillis Reset = "epoch_ms"
	ResetHTTPDate    Reset = "http_date"
)

// Retry is the form of Retry-After (rules RL116, X3).
type Retry string

// The forms: whole seconds, which is the default, the date of HTTP, no field at all, and seconds unless None is the only
// dialect, as of authors that want no fields and state nothing of this one (rule X10).
const (
	RetrySeconds    Retry = "seconds"
	RetryHTTPDate   Retry = "http_date"
	RetryNone       Retry = "none"
	RetryUnlessNone Retry = "unless_none"
)

// Options make a Writer. The zero value writes Retry-After alone.
type Options struct {
	Dialects []Dialect
	// Fields are those of Custom.
	Fields []Field
	// Policies are those that RateLimit-Policy of Draft lists; without any it is that of the answer.
	Policies []ratelimit.Policy
	// Reset is the form of the reset of X and Custom; "" is ResetEpoch.
	Reset Reset
	// RetryAfter is the form of Retry-After; "" is RetrySeconds.
	RetryAfter Retry
	// WarnAt is the share of use, from 0 to 1, from which on allowed answers carry fields. Denials always do.
	WarnAt float64
}

// validate checks all that is not about Fields.
func (o *Options) validate() []error {
	var faults []error
	for i, d := range o.Dialects {
		faults = append(faults, oneOf("header dialect", d, Draft, Split, X, XGitHub, XDelta, Custom, None))
		for _, other := range o.Dialects[:i] {
			if clashes(d, other) || clashes(other, d) {
				faults = append(faults, fmt.Errorf("header dialects %s and %s name the same thing in two ways: %w", other, d, ratelimit.ErrConfig))
			}
		}
	}
	if !(o.WarnAt >= 0 && o.WarnAt <= 1) {
		faults = append(faults, fmt.Errorf("share of use %v is not between 0 and 1: %w", o.WarnAt, ratelimit.ErrConfig))
	}
	return append(faults,
		oneOf("form of the reset", o.Reset, ResetSeconds, ResetEpoch, ResetEpochMillis, ResetHTTPDate),
		oneOf("form of Retry-After", o.RetryAfter, RetrySeconds, RetryHTTPDate, RetryNone, RetryUnlessNone))
}

// clashes says whether two dialects exclude each other (rule RL118); it is asked both ways round.
func clashes(a, b Dialect) bool {
	switch a {
	case b, None:
		return true
	case Draft:
		return b == Split
	case X:
		return b == XGitHub || b == XDelta
	case XGitHub:
		return b == XDelta
	default:
		return false
	}
}

// oneOf refuses a value that is not among those served.
func oneOf[T comparable](what string, got T, served ...T) error {
	if slices.Contains(served, got) {
		return nil
	}
	return fmt.Errorf("%s %v is not served: want one of %v: %w", what, got, served, ratelimit.ErrConfig)
}
