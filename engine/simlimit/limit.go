package simlimit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// Bounds of what a limit may ask to be remembered.
const (
	// maxOffences is how many rejections of a key may be counted towards a ban.
	maxOffences = 10_000
	// maxName is the most characters of a policy's name.
	maxName = 64
)

// Place says whose bucket a limit has when its author names none (rule X2).
type Place struct {
	// Owner is the id of the mock, or the name of the policy or the collection, with what keeps these apart. All limits of
	// one owner share their counts.
	Owner string
	// Name is what clients and people are told.
	Name string
}

// PolicyPlace is the place of a named policy of the project. Buckets that authors name are in the same place, so that a
// mock may share the bucket of a policy.
func PolicyPlace(name string) Place { return Place{Owner: name, Name: name} }

// OwnPlace is the place of the n-th limit, from 0, that a mock or collection states itself. Several limits of one mock
// have a bucket each.
func OwnPlace(owner, name string, n int) Place {
	if n == 0 {
		return Place{Owner: owner, Name: name}
	}
	number := strconv.Itoa(n + 1)
	return Place{Owner: owner + "_" + number, Name: name[:min(len(name), maxName-1-len(number))] + "-" + number}
}

// Limit is a compiled policy. It is immutable.
type Limit struct {
	// Source is what its author wrote.
	Source *mockbase.LimitPolicy
	policy ratelimit.Policy
	// namespace is the name of the bucket in stores.
	namespace string
	fields    *dialect.Writer
}

// Compile compiles a policy. What is wrong with it is noted with pointers below at, such as "#/rateLimit"; the limit is
// nil then.
func Compile(p *mockbase.LimitPolicy, place Place, at string, faults *mockbase.Faults) *Limit {
	if p.Bucket != "" {
		place = PolicyPlace(p.Bucket)
	}
	l := &Limit{Source: p, namespace: namespaceOf(place.Owner), policy: ratelimit.Policy{
		Name: place.Name, Algorithm: ratelimit.Algorithm(p.Algorithm), Limit: p.Limit, Window: p.Window, Align: ratelimit.Align(p.Align),
	}}
	if p.Burst != nil {
		l.policy.Burst = *p.Burst
	}
	before := faults.Len()
	note := func(member string, code mockbase.Code, detail string) {
		faults.Append(mockbase.FieldError{Pointer: at + "/" + member, Code: code, Detail: detail})
	}
	if wrong, ok := errors.AsType[*ratelimit.PolicyError](l.policy.Validate()); ok {
		for _, f := range wrong.Faults {
			note(f.Field, mockbase.Code(f.Code), f.Detail)
		}
	}
	l.checkUse(note)
	var err error
	if l.fields, err = dialect.New(FieldOptions(p)); err != nil {
		note("headers", mockbase.FieldConflict, err.Error())
	}
	if faults.Len() > before {
		return nil
	}
	return l
}

// checkUse notes what cannot be kept of use and bans.
func (l *Limit) checkUse(note func(member string, code mockbase.Code, detail string)) {
	p := l.Source
	if p.InitialUsed > 0 && l.policy.Algorithm == ratelimit.Concurrency {
		note("initialUsed", mockbase.FieldConflict, "concurrency counts requests that are under way, so none can be at the start")
	}
	if p.InitialUsed > l.policy.Capacity() && p.Limit > 0 {
		note("initialUsed", mockbase.FieldRange, "must be at most the burst of "+strconv.FormatInt(l.policy.Capacity(), 10))
	}
	switch ban := p.Ban; {
	case ban == nil:
	case ban.After > maxOffences:
		note("ban/after", mockbase.FieldRange, "must be at most "+strconv.Itoa(maxOffences))
	case ban.Within <= 0:
		note("ban/within", mockbase.FieldRange, "must be above 0")
	case ban.For <= 0:
		note("ban/for", mockbase.FieldRange, "must be above 0")
	}
}

// FieldOptions say how clients are told of a limit (rule X10).
func FieldOptions(p *mockbase.LimitPolicy) dialect.Options {
	o := dialect.Options{Reset: dialect.Reset(p.Reset), RetryAfter: dialect.Retry(p.RetryAfter)}
	if p.RetryAfter == "" {
		o.RetryAfter = dialect.RetryUnlessNone
	}
	if p.WarnAt != nil {
		o.WarnAt = *p.WarnAt
	}
	for _, name := range p.Headers {
		o.Dialects = append(o.Dialects, dialect.Dialect(name))
	}
	if own := p.HeaderNames; own != nil {
		o.Dialects = []dialect.Dialect{dialect.Custom}
		for _, f := range []dialect.Field{{Name: own.Limit, Value: "{limit}"}, {Name: own.Remaining, Value: "{remaining}"}, {Name: own.Reset, Value: "{reset}"}} {
			if f.Name != "" {
				o.Fields = append(o.Fields, f)
			}
		}
	}
	return o
}

// namespaceOf is the name of a bucket in stores. Names of authors are slugs; ids of mocks hold an underscore, which no
// slug does, so that nobody can name the bucket of a mock.
func namespaceOf(owner string) string {
	if name := strings.ToLower(owner); ratelimit.ValidNamespace(name) {
		return name
	}
	sum := sha256.Sum256([]byte(owner))
	return "h_" + hex.EncodeToString(sum[:16])
}

// Bucket is the name that clients and people are told.
func (l *Limit) Bucket() string { return l.policy.Name }

// Shares tells whether two limits count in the same bucket.
func (l *Limit) Shares(other *Limit) bool { return l.namespace == other.namespace }

// DryRun tells that the limit refuses nobody (rule X11).
func (l *Limit) DryRun() bool { return l.Source.Mode == "dry_run" }

// Capacity is the largest number of units that may be left.
func (l *Limit) Capacity() int64 {
	if l.policy.Limit == 0 {
		return 0
	}
	return l.policy.Capacity()
}

// InFlight tells that the limit counts what is under way. Its time is the wall clock's: an advance must not free a place
// that its request still holds (rule AA16).
func (l *Limit) InFlight() bool { return l.policy.Algorithm == ratelimit.Concurrency }

// unasked stands for the decision of a limit that was not asked.
func (l *Limit) unasked() ratelimit.Decision {
	return ratelimit.Decision{Allowed: true, Skipped: true, Policy: &l.policy}
}

// closed is the decision of a limit that nothing passes: no limiter knows a limit of 0 (rules X3 and RL124).
func (l *Limit) closed() ratelimit.Decision {
	return ratelimit.Decision{RetryAfter: ratelimit.Never, Policy: &l.policy}
}

// barred is the decision about a key that is banned for a while. No wait helps where the limit itself never lets this cost
// pass (rule X3).
func (l *Limit) barred(rest time.Duration, cost int64) ratelimit.Decision {
	d := ratelimit.Decision{Limit: l.Capacity(), Reset: rest, RetryAfter: rest, Next: rest, Policy: &l.policy}
	if l.policy.Limit == 0 || cost > d.Limit {
		d.RetryAfter = ratelimit.Never
	}
	return d
}
