package guard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// owedLifts are the bans that were lifted while the store failed, and when. They are lifted there when it answers again;
// a key without an identifier is all bans of a rule. The lock is that of writing.
type owedLifts map[banKey]time.Time

// covers says whether a ban of the store is one that was lifted. One that began later is another one.
func (o owedLifts) covers(b *ratelimit.Ban) bool {
	for _, key := range []banKey{{b.Rule, b.Identifier}, {b.Rule, ""}} {
		if at, ok := o[key]; ok && !b.From.After(at) {
			return true
		}
	}
	return false
}

// outlasts says whether this process answers for bans while the store fails.
func (b *banLayer) outlasts() bool { return b.local != nil && b.local != b.store }

// bridges says whether it does so for an error: one of the question is none of the store.
func (b *banLayer) bridges(err error) bool {
	return b.outlasts() && !errors.Is(err, ratelimit.ErrConfig)
}

// owe remembers a lift that the store did not take.
func (b *banLayer) owe(rule, identifier string, now time.Time) {
	if b.owed == nil {
		b.owed = make(owedLifts)
	}
	if len(b.owed) < maxKnownBans {
		b.owed[banKey{rule, identifier}] = now
	}
}

// OwedLift is a lift that the store of bans has not taken yet, because it failed. An empty Key is all bans of the rule.
type OwedLift struct {
	Rule, Key string
	// At is when the bans were lifted. One that began later is another one.
	At time.Time
}

// OwedLifts lists the lifts that the store has not taken yet, by rule and key. They are lost with the process: another one
// that is to make them good is given them by [Guard.Owe].
func (g *Guard) OwedLifts() []OwedLift {
	g.bans.writing.Lock()
	defer g.bans.writing.Unlock()
	var owed []OwedLift
	for key, at := range g.bans.owed {
		owed = append(owed, OwedLift{key.rule, key.identifier, at})
	}
	slices.SortFunc(owed, func(x, y OwedLift) int { return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Key, y.Key)) })
	return owed
}

// Owe makes good a lift that an earlier process owed: the bans end in this process at once, and in the store when it answers.
// It does nothing where there is no local register beside the store.
func (g *Guard) Owe(lift OwedLift) {
	g.bans.writing.Lock()
	defer g.bans.writing.Unlock()
	if !g.bans.outlasts() {
		return
	}
	g.bans.owe(lift.Rule, lift.Key, lift.At)
	g.bans.known.forgive(g.bans.owed)
}

// lift ends bans in the store and in this process, and returns how many ended. What the store does not take while it fails
// it is told later. The caller holds writing.
func (b *banLayer) lift(ctx context.Context, rule, identifier string, now time.Time) (int, error) {
	lifted, err := b.store.Lift(ctx, rule, identifier, now)
	if err != nil && !b.bridges(err) {
		return 0, err //nolint:wrapcheck // The caller says what it is about.
	}
	if b.outlasts() {
		_, _ = b.local.Lift(ctx, rule, identifier, now) // It is in memory and has nothing to fail with.
	}
	ended := b.known.remove(rule, identifier, now)
	if err != nil {
		b.failures.Add(1)
		b.owe(rule, identifier, now)
		return ended.all, nil //nolint:nilerr // The store is told later.
	}
	return lifted + ended.local, nil
}

// page lists bans of the store. The last page has those that only this process knows as well, and may be longer for that;
// while the store fails it has all that this process knows.
func (b *banLayer) page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	page, err := b.store.Page(ctx, q)
	switch {
	case err != nil && !b.bridges(err):
		return page, err //nolint:wrapcheck // The caller says what it is about.
	case err != nil:
		b.failures.Add(1)
		return ratelimit.BanPage{Bans: b.known.list(&q, func(*knownBan) bool { return true })}, nil //nolint:nilerr // This process answers for it.
	case page.Next != "" || !b.outlasts():
		return page, nil
	}
	listed := make(map[banKey]bool, len(page.Bans))
	for i := range page.Bans {
		listed[banKey{page.Bans[i].Rule, page.Bans[i].Identifier}] = true
	}
	own := b.known.list(&q, func(ban *knownBan) bool { return ban.local && !listed[banKey{ban.Rule, ban.Identifier}] })
	if len(own) > 0 {
		page.Bans = append(page.Bans, own...)
		sortBans(page.Bans)
	}
	return page, nil
}
