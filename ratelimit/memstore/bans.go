package memstore

import (
	linked "container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// The bounds of a register of bans that states none.
const (
	DefaultMaxOffenders = 100_000
	DefaultMaxOffences  = 1_000_000
)

// banSweep is how many of the longest untouched keys each offence looks at, to free those that have lapsed.
const banSweep = 4

// BanOptions are the bounds of Bans. The zero options are usable.
type BanOptions struct {
	// MaxOffenders is the largest number of keys with offences or bans; 0 is DefaultMaxOffenders.
	MaxOffenders int
	// MaxOffences is the largest number of offences in all logs together; 0 is DefaultMaxOffences. The log of one key is
	// always complete.
	MaxOffences int
}

// Bans keeps offences and bans in memory. A key that is new when the register is full takes the place of the longest
// untouched one that is not banned, else of the longest untouched ban; bans that an administrator added never go. It is
// safe for concurrent use, starts no goroutine and needs no end.
type Bans struct {
	maxOffenders, maxOffences int

	mu        sync.Mutex
	offenders map[offenderKey]*offender
	// ranks hold the offenders of each rank, the longest untouched first.
	ranks    [rankPut + 1]linked.List
	offences int
}

var _ ratelimit.Bans = (*Bans)(nil)

type offenderKey struct{ rule, identifier string }

// rank orders offenders by how gladly they make room.
type rank uint8

const (
	rankWatched rank = iota
	rankBanned
	rankPut
)

// offender is a key with offences or a ban.
type offender struct {
	key offenderKey
	// stamps are the instants of the offences in microseconds, in order.
	stamps []int64
	ban    ratelimit.Ban
	// banned says that ban is or was in force; repeats counts the bans in a row.
	banned  bool
	repeats int64
	// lapses is when nothing of this matters any more.
	lapses  time.Time
	rank    rank
	element *linked.Element
}

// NewBans makes an empty register. Negative bounds are ratelimit.ErrConfig.
func NewBans(o BanOptions) (*Bans, error) {
	if o.MaxOffenders < 0 || o.MaxOffences < 0 {
		return nil, fmt.Errorf("make register of bans: bounds %d keys and %d offences: %w", o.MaxOffenders, o.MaxOffences, ratelimit.ErrConfig)
	}
	if o.MaxOffenders == 0 {
		o.MaxOffenders = DefaultMaxOffenders
	}
	if o.MaxOffences == 0 {
		o.MaxOffences = DefaultMaxOffences
	}
	return &Bans{
		maxOffenders: o.MaxOffenders, maxOffences: o.MaxOffences, offenders: make(map[offenderKey]*offender),
	}, nil
}

// Standing looks at a key and changes nothing.
func (b *Bans) Standing(_ context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if err := r.Validate(); err != nil {
		return ratelimit.Standing{}, fmt.Errorf("look at ban: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.offenders[offenderKey{r.Name, ratelimit.KeyIdentifier(key)}]
	if o == nil {
		return ratelimit.Standing{}, nil
	}
	if o.banned && o.ban.Holds(now) {
		return ratelimit.Standing{Banned: true, Ban: o.ban}, nil
	}
	return ratelimit.Standing{Failures: int64(len(o.stamps) - o.outdated(r, now))}, nil
}

// Strike counts an offence, and bans with the one that reaches the rule's number.
func (b *Bans) Strike(_ context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if err := r.Validate(); err != nil {
		return ratelimit.Standing{}, fmt.Errorf("count offence: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep(now)
	o, err := b.offender(offenderKey{r.Name, ratelimit.KeyIdentifier(key)})
	if err != nil {
		return ratelimit.Standing{}, fmt.Errorf("count offence: %w", err)
	}
	if o.banned && o.ban.Holds(now) {
		if r.Extend && !o.ban.Until.IsZero() {
			o.extend(now)
		}
		return ratelimit.Standing{Banned: true, Ban: o.ban}, nil
	}
	b.note(o, r, now)
	if int64(len(o.stamps)) < r.MaxRetry {
		b.move(o, rankWatched)
		return ratelimit.Standing{Failures: int64(len(o.stamps))}, nil
	}
	b.ban(o, r, now)
	return ratelimit.Standing{Banned: true, Struck: true, Ban: o.ban}, nil
}

// note adds an offence to the log and drops those that no longer count. Another's log makes room if all together are too
// long.
func (b *Bans) note(o *offender, r *ratelimit.BanRule, now time.Time) {
	b.drop(o, o.outdated(r, now))
	at := now.UnixMicro()
	if n := len(o.stamps); n > 0 {
		at = max(at, o.stamps[n-1])
	}
	o.stamps = append(o.stamps, at)
	b.offences++
	if ends := now.Add(r.FindTime); ends.After(o.lapses) {
		o.lapses = ends
	}
	for b.offences > b.maxOffences {
		oldest := b.ranks[rankWatched].Front()
		if oldest != nil && oldest == o.element {
			oldest = oldest.Next()
		}
		if oldest == nil {
			return
		}
		b.remove(oldestOf(oldest))
	}
}

// ban brings the rule's ban into force.
func (b *Bans) ban(o *offender, r *ratelimit.BanRule, now time.Time) {
	if o.banned && now.Sub(o.ban.Until) <= ratelimit.MaxBanGrowth {
		o.repeats++
	} else {
		o.repeats = 0
	}
	o.ban = ratelimit.Ban{
		Rule: o.key.rule, Identifier: o.key.identifier, From: now, Until: now.Add(r.BanFor(o.repeats)), Repeat: o.repeats,
	}
	o.banned, o.lapses = true, o.ban.Until.Add(ratelimit.MaxBanGrowth)
	b.drop(o, len(o.stamps))
	o.stamps = nil
	b.move(o, rankBanned)
}

// extend begins a ban anew.
func (o *offender) extend(now time.Time) {
	if until := now.Add(o.ban.Until.Sub(o.ban.From)); until.After(o.ban.Until) {
		o.ban.From, o.ban.Until = now, until
		o.lapses = until.Add(ratelimit.MaxBanGrowth)
	}
}

// outdated returns how many offences no longer count: those older than the time in which the rule finds them.
func (o *offender) outdated(r *ratelimit.BanRule, now time.Time) int {
	first := now.Add(-r.FindTime).UnixMicro()
	for i, at := range o.stamps {
		if at >= first {
			return i
		}
	}
	return len(o.stamps)
}

func (b *Bans) drop(o *offender, count int) {
	o.stamps = o.stamps[:copy(o.stamps, o.stamps[count:])]
	b.offences -= count
}

// Forgive forgets the offences of a key that have not banned yet.
func (b *Bans) Forgive(_ context.Context, r *ratelimit.BanRule, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.offenders[offenderKey{r.Name, ratelimit.KeyIdentifier(key)}]
	switch {
	case o == nil:
	case o.banned:
		b.drop(o, len(o.stamps))
	default:
		b.remove(o)
	}
	return nil
}

// Put brings a ban into force, in place of the one that the key has.
func (b *Bans) Put(_ context.Context, ban ratelimit.Ban) error {
	if !ratelimit.ValidName(ban.Rule) || ban.Identifier == "" {
		return fmt.Errorf("put ban of %q under rule %q: %w", ban.Identifier, ban.Rule, ratelimit.ErrConfig)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep(ban.From)
	o, err := b.offender(offenderKey{ban.Rule, ban.Identifier})
	if err != nil {
		return fmt.Errorf("put ban: %w", err)
	}
	b.drop(o, len(o.stamps))
	o.ban, o.banned, o.repeats, o.lapses = ban, true, ban.Repeat, ban.Until
	b.move(o, rankPut)
	return nil
}

// Lift ends the ban of a key, or all bans of a rule.
func (b *Bans) Lift(_ context.Context, rule, identifier string, now time.Time) (int, error) {
	if !ratelimit.ValidName(rule) {
		return 0, fmt.Errorf("lift bans of rule %q: %w", rule, ratelimit.ErrConfig)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if identifier != "" {
		return b.lift(b.offenders[offenderKey{rule, identifier}], now), nil
	}
	lifted := 0
	for key, o := range b.offenders {
		if key.rule == rule {
			lifted += b.lift(o, now)
		}
	}
	return lifted, nil
}

// lift forgets an offender that is or was banned, and returns 1 if a ban ended with that.
func (b *Bans) lift(o *offender, now time.Time) int {
	if o == nil || !o.banned {
		return 0
	}
	b.remove(o)
	if o.ban.Holds(now) {
		return 1
	}
	return 0
}

// Page lists the bans in force.
func (b *Bans) Page(_ context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	b.mu.Lock()
	var bans []ratelimit.Ban
	for _, o := range b.offenders {
		if o.banned {
			bans = append(bans, o.ban)
		}
	}
	b.mu.Unlock()
	return ratelimit.PageOfBans(bans, q), nil
}

// Len returns the number of keys that are remembered.
func (b *Bans) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.offenders)
}

// Offences returns the number of offences that are remembered.
func (b *Bans) Offences() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.offences
}

// offender returns the key's record and makes one, and room for it, if there is none.
func (b *Bans) offender(key offenderKey) (*offender, error) {
	if o := b.offenders[key]; o != nil {
		return o, nil
	}
	if len(b.offenders) >= b.maxOffenders {
		oldest := b.ranks[rankWatched].Front()
		if oldest == nil {
			oldest = b.ranks[rankBanned].Front()
		}
		if oldest == nil {
			return nil, fmt.Errorf("%d bans are in force: %w", len(b.offenders), ratelimit.ErrStoreFull)
		}
		b.remove(oldestOf(oldest))
	}
	o := &offender{key: key}
	o.element = b.ranks[rankWatched].PushBack(o)
	b.offenders[key] = o
	return o, nil
}

// sweep frees the longest untouched keys that have lapsed. Those that were put in have no order: all get their turn.
func (b *Bans) sweep(now time.Time) {
	for r := range b.ranks {
		for range banSweep {
			oldest := b.ranks[r].Front()
			if oldest == nil {
				break
			}
			if o := oldestOf(oldest); !o.lapses.IsZero() && now.After(o.lapses) {
				b.remove(o)
			} else if o.rank == rankPut {
				b.ranks[r].MoveToBack(oldest)
			}
		}
	}
}

// move makes an offender the newest of a rank.
func (b *Bans) move(o *offender, to rank) {
	b.ranks[o.rank].Remove(o.element)
	o.rank = to
	o.element = b.ranks[to].PushBack(o)
}

func (b *Bans) remove(o *offender) {
	b.ranks[o.rank].Remove(o.element)
	b.offences -= len(o.stamps)
	delete(b.offenders, o.key)
}

func oldestOf(e *linked.Element) *offender {
	return e.Value.(*offender) //nolint:errcheck,forcetypeassert // The lists hold nothing else.
}
