package simlimit

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// Bounds of what is remembered of a bucket.
const (
	// maxKeys is how many keys of a bucket are kept account of; the one used longest ago goes first. Counts are kept in
	// stores and have other bounds.
	maxKeys = 1_000
	// maxDecisions is how many decisions of a key are kept (M-211).
	maxDecisions = 50
	// spared is how many banned keys are passed over where one must make room.
	spared = 8
)

// book is the account of one bucket in one session: its keys, their last decisions and bans, and the use over time.
type book struct {
	mu      sync.Mutex
	records map[string]*list.Element
	// order has the key used last in front.
	order list.List
	usage usage
	last  time.Time
}

// record is the account of one key.
type record struct {
	value string
	view  mockbase.LimitKey
	// offences are the session's times of rejections that count towards a ban, bannedUntil is when the key's ban ends.
	offences    []time.Time
	bannedUntil time.Time
	decisions   []mockbase.LimitDecision
	// next is the place of the next decision once there are as many as are kept.
	next int

	seeding sync.Mutex
	// in is the generation in which the key has its initial use.
	in *generation
}

// KeyID is the id of a key in paths.
func KeyID(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "key_" + hex.EncodeToString(sum[:8])
}

// record finds or begins the account of a key.
func (b *book) record(o *Outcome, wall time.Time) *record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recordOf(o, wall)
}

func (b *book) recordOf(o *Outcome, wall time.Time) *record {
	if e := b.records[o.Key]; e != nil {
		b.order.MoveToFront(e)
		return recordIn(e)
	}
	if len(b.records) >= maxKeys {
		b.makeRoom(o.asked.Now)
	}
	r := &record{value: o.Key, view: mockbase.LimitKey{ID: KeyID(o.Key), Label: o.Label, FirstSeenAt: wall, LastSeenAt: wall}}
	if r.view.Label == "" {
		r.view.Label = globalKey
	}
	b.records[o.Key] = b.order.PushFront(r)
	return r
}

func recordIn(e *list.Element) *record {
	r, _ := e.Value.(*record)
	return r
}

// makeRoom drops the key that was used longest ago, rather one that is not banned.
func (b *book) makeRoom(now time.Time) {
	for range spared {
		last := b.order.Back()
		if !recordIn(last).bannedUntil.After(now) {
			break
		}
		b.order.MoveToFront(last)
	}
	last := b.order.Back()
	b.order.Remove(last)
	delete(b.records, recordIn(last).value)
}

// seeded runs once for each key and generation; whoever comes meanwhile waits.
func (r *record) seeded(g *generation, run func()) {
	r.seeding.Lock()
	defer r.seeding.Unlock()
	if r.in != g {
		run()
		r.in = g
	}
}

// note notes a decision. A rejection counts towards a ban; the outcome tells of the ban that begins with it.
func (b *book) note(r *Ruling, o *Outcome, wall time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.recordOf(o, wall)
	if !o.Allowed && !o.Banned {
		of.offend(o, r.Now)
	}
	of.view.LastSeenAt, b.last = wall, wall
	d := mockbase.LimitDecision{
		At: wall, Cost: o.Cost, Allowed: o.Allowed || o.By.DryRun(), WouldLimit: !o.Allowed && o.By.DryRun(),
		Delayed: r.Delayed && o.Allowed, Banned: o.Banned, Remaining: o.Remaining, RetryAfter: o.RetryAfter,
	}
	of.view.Requests++
	count(&of.view.Limited, !d.Allowed)
	count(&of.view.WouldLimit, d.WouldLimit)
	count(&of.view.Delayed, d.Delayed)
	of.remember(&d)
	b.usage.note(&d, usedPercent(o))
}

func count(n *int64, counts bool) { //nolint:revive // it saves its callers an if each
	if counts {
		*n++
	}
}

// usedPercent is the share of the limit that is used.
func usedPercent(o *Outcome) float64 {
	if o.Limit == 0 {
		return 100
	}
	return 100 * float64(o.Limit-o.Remaining) / float64(o.Limit)
}

// offend counts a rejection towards a ban, and begins the ban when there are enough (rule X11). Rejections by a ban do not
// count, so that it is not renewed.
func (r *record) offend(o *Outcome, now time.Time) {
	ban := o.By.Source.Ban
	if ban == nil {
		return
	}
	r.offences = slices.DeleteFunc(r.offences, func(at time.Time) bool { return now.Sub(at) >= ban.Within })
	r.offences = append(r.offences, now)
	if len(r.offences) < ban.After {
		return
	}
	r.offences = nil
	r.bannedUntil = now.Add(ban.For)
	o.ban(ban.For)
}

func (r *record) remember(d *mockbase.LimitDecision) {
	if len(r.decisions) < maxDecisions {
		r.decisions = append(r.decisions, *d)
		return
	}
	r.decisions[r.next] = *d
	r.next = (r.next + 1) % maxDecisions
}

// newestFirst are the decisions that are kept.
func (r *record) newestFirst() []mockbase.LimitDecision {
	newest := append(slices.Clone(r.decisions[r.next:]), r.decisions[:r.next]...)
	slices.Reverse(newest)
	return newest
}

// banned is the rest of a key's ban. A ban that begins far ahead of the clock is no ban: the clock was set back.
func (b *book) banned(key string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.records[key]; e != nil {
		return max(0, recordIn(e).bannedUntil.Sub(now))
	}
	return 0
}

// find returns the key of an id.
func (b *book) find(id string) (*record, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.order.Front(); e != nil; e = e.Next() {
		if r := recordIn(e); r.view.ID == id {
			return r, true
		}
	}
	return nil, false
}

// list returns all keys, the one used last first.
func (b *book) list(now time.Time) []keyed {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]keyed, 0, len(b.records))
	for e := b.order.Front(); e != nil; e = e.Next() {
		r := recordIn(e)
		k := keyed{value: r.value, LimitKey: r.view}
		k.BannedFor = max(0, r.bannedUntil.Sub(now))
		all = append(all, k)
	}
	return all
}

// keyed is the view of a key with its value.
type keyed struct {
	mockbase.LimitKey

	value string
}

// decisionsOf returns the decisions of a key.
func (b *book) decisionsOf(r *record) []mockbase.LimitDecision {
	b.mu.Lock()
	defer b.mu.Unlock()
	return r.newestFirst()
}

// forget forgets all keys. What was used over time is history and stays.
func (b *book) forget() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.records)
	clear(b.records)
	b.order.Init()
	return n
}

// drop forgets one key.
func (b *book) drop(r *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.records[r.value]; e != nil && recordIn(e) == r {
		b.order.Remove(e)
		delete(b.records, r.value)
	}
}

func (b *book) lastHit() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}
