package ratelimit

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	// MaxRetries bounds the offences that a rule counts, and with them its log.
	MaxRetries int64 = 10_000
	// MaxBanGrowth is where bans that grow with each repeat stop to grow, and how long after its end a ban is
	// remembered as one that may be repeated (rule RL99).
	MaxBanGrowth = 24 * time.Hour
	// ManualBans is the rule of the bans that an administrator adds without naming one.
	ManualBans = "manual"
)

// BanRule says how many offences within which time ban a key for how long. It says nothing of what an offence is.
type BanRule struct {
	// Name matches [a-z0-9][a-z0-9_-]{0,63}. Rules of different names share nothing.
	Name string
	// MaxRetry is the offence that bans: 1 to MaxRetries.
	MaxRetry int64
	// FindTime is how long an offence counts, both ends included.
	FindTime time.Duration
	// BanTime is the length of the first ban.
	BanTime time.Duration
	// Growth is the factor by which each repeat is longer, up to MaxBanGrowth; 0 and 1 are none.
	Growth float64
	// Extend makes offences during a ban begin it anew.
	Extend bool
}

// Validate reports every fault of the rule as one *[PolicyError], or nil.
func (r *BanRule) Validate() error {
	var faults []Fault
	if !ValidName(r.Name) || r.Name == ManualBans {
		faults = append(faults, Fault{"name", FaultPattern, fmt.Sprintf("%q does not match [a-z0-9][a-z0-9_-]{0,63}, or is reserved", r.Name)})
	}
	if r.MaxRetry < 1 || r.MaxRetry > MaxRetries {
		faults = append(faults, Fault{"maxRetry", FaultRange, fmt.Sprintf("%d is not in 1…%d", r.MaxRetry, MaxRetries)})
	}
	faults = appendRange(faults, "findTime", r.FindTime)
	faults = appendRange(faults, "banTime", r.BanTime)
	if r.Growth != 0 && (!(r.Growth >= 1) || r.Growth > maxGrowth) {
		faults = append(faults, Fault{"growth", FaultRange, fmt.Sprintf("%g is not in 1…%d", r.Growth, maxGrowth)})
	}
	if len(faults) == 0 {
		return nil
	}
	return &PolicyError{Policy: r.Name, Faults: faults}
}

// maxGrowth is the largest factor of a ban's growth.
const maxGrowth = 1000

func appendRange(faults []Fault, field string, d time.Duration) []Fault {
	if d < MinWindow || d > MaxWindow {
		return append(faults, Fault{field, FaultRange, fmt.Sprintf("%s is not in 1ms…3653d", d)})
	}
	return faults
}

// BanFor returns how long a ban lasts after so many others of the same key: BanTime, grown by the factor for each of
// them up to MaxBanGrowth, and never less than BanTime (rule RL99).
func (r *BanRule) BanFor(repeats int64) time.Duration {
	if r.Growth <= 1 || repeats <= 0 {
		return r.BanTime
	}
	grown := float64(r.BanTime) * math.Pow(r.Growth, float64(repeats))
	return max(r.BanTime, time.Duration(min(grown, float64(MaxBanGrowth))))
}

// Ban is a key that is refused for a time.
type Ban struct {
	Rule string `json:"rule"`
	// Identifier is the key as stores write it ([KeyIdentifier]); for a ban of a network it is the network's text.
	Identifier string `json:"key"`
	// Network is the network that is banned; it is not valid for a ban of one key.
	Network netip.Prefix `json:"network,omitzero"`
	From    time.Time    `json:"from"`
	// Until is the end; the zero time is never.
	Until time.Time `json:"until,omitzero"`
	// Repeat counts the bans of this key before this one.
	Repeat int64 `json:"repeat"`
	// Actor and Reason are those of a ban that an administrator added.
	Actor  string `json:"actor,omitzero"`
	Reason string `json:"reason,omitzero"`
}

// Holds says whether the ban is in force. Its end does not belong to it.
func (b *Ban) Holds(now time.Time) bool { return b.Until.IsZero() || now.Before(b.Until) }

// Rest returns how much of the ban is left, and Never for one without end.
func (b *Ban) Rest(now time.Time) time.Duration {
	if b.Until.IsZero() {
		return Never
	}
	return max(0, b.Until.Sub(now))
}

// Standing is how a key stands with a rule.
type Standing struct {
	// Failures are the offences that count; 0 while banned.
	Failures int64
	// Banned says that Ban holds; Struck, that it began with this very offence.
	Banned, Struck bool
	Ban            Ban
}

// BanQuery asks for a page of bans.
type BanQuery struct {
	// Rule and Identifier select; empty ones select all.
	Rule, Identifier string
	// Cursor is the Next of the page before.
	Cursor string
	// Limit is the most bans of the page, 1 to MaxBanPage; 0 is MaxBanPage.
	Limit int
	// Now leaves out what has ended by then.
	Now time.Time
}

// MaxBanPage is the largest page of bans.
const MaxBanPage = 500

// BanPage is a page of bans, ordered by rule and key.
type BanPage struct {
	Bans []Ban `json:"bans"`
	// Next is the cursor of the next page; empty on the last.
	Next string `json:"next"`
}

// Bans keeps offences and bans. Its methods are safe for concurrent use. Keys are of any length; what is kept of them is
// [KeyIdentifier]. A rule that [BanRule.Validate] refuses is ErrConfig; every other error means that the store does not
// know.
type Bans interface {
	// Standing looks at a key and changes nothing.
	Standing(ctx context.Context, r *BanRule, key string, now time.Time) (Standing, error)
	// Strike counts an offence in an exact log. The one that reaches MaxRetry bans and empties the log. An offence of a
	// banned key is not counted; it begins the ban anew if the rule extends (rules RL94, RL95, RL99).
	Strike(ctx context.Context, r *BanRule, key string, now time.Time) (Standing, error)
	// Forgive forgets the offences that have not banned yet.
	Forgive(ctx context.Context, r *BanRule, key string) error
	// Put brings a ban into force, in place of the one that the key has under the rule. Its Identifier is written
	// already. A full store is ErrStoreFull.
	Put(ctx context.Context, b Ban) error
	// Lift ends the ban of a written identifier under a rule and forgets its repeats; the empty identifier is all of the
	// rule. It returns how many bans ended with that.
	Lift(ctx context.Context, rule, identifier string, now time.Time) (int, error)
	// Page lists the bans in force.
	Page(ctx context.Context, q BanQuery) (BanPage, error)
}

// WrittenBanKey returns a key as bans are listed by. Unlike [KeyIdentifier] it leaves alone what is written already, so
// that an administrator may name a ban by what the list shows.
func WrittenBanKey(key string) string {
	digest, marked := strings.CutPrefix(key, hashedMark)
	if marked && len(digest) == 2*hashedBytes && strings.Trim(digest, "0123456789abcdef") == "" {
		return key
	}
	return KeyIdentifier(key)
}

// PageOfBans is the page that a query selects of unordered bans, for stores that hold them in memory.
func PageOfBans(bans []Ban, q BanQuery) BanPage {
	var selected []Ban
	for i := range bans {
		if q.Selects(&bans[i]) {
			selected = append(selected, bans[i])
		}
	}
	slices.SortFunc(selected, func(a, b Ban) int { return strings.Compare(a.cursor(), b.cursor()) })
	limit := q.Limit
	if limit < 1 || limit > MaxBanPage {
		limit = MaxBanPage
	}
	if len(selected) <= limit {
		return BanPage{Bans: selected}
	}
	return BanPage{Bans: selected[:limit:limit], Next: selected[limit-1].cursor()}
}

// Selects says whether the query asks for a ban: it holds, and is of the query's rule and key, behind its cursor.
func (q *BanQuery) Selects(b *Ban) bool {
	return b.Holds(q.Now) && (q.Rule == "" || q.Rule == b.Rule) && (q.Identifier == "" || q.Identifier == b.Identifier) &&
		b.cursor() > q.Cursor
}

// cursor is the place of the ban in the list. No rule has a slash in its name.
func (b *Ban) cursor() string { return b.Rule + "/" + b.Identifier }
