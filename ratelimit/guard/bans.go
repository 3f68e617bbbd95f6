package guard

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxKnownBans bounds the copy of the bans in force; those beyond it are asked of the store.
	maxKnownBans = 100_000
	// placeWait is what a request is told to wait when too many like it are in flight (rule RL97).
	placeWait = time.Second
	// firstSuccess and firstError enclose the statuses that forgive failures.
	firstSuccess, firstError = 200, 400
)

// watch is a request whose outcome a rule waits for.
type watch struct {
	rule *banRule
	key  string
	// failures are those that counted when the request came.
	failures int64
}

type banKey struct{ rule, identifier string }

// banLayer keeps a copy of the bans in force, and the requests in flight of each rule and key.
type banLayer struct {
	store, local ratelimit.Bans
	failures     atomic.Int64
	known        knownBans
	// writing keeps an administrator's change and a refresh apart: one that read the store before the change would undo
	// it in the copy.
	writing sync.Mutex
	owed    owedLifts

	mu sync.Mutex
	// flights counts the requests in flight; a key without any has none.
	flights map[banKey]int64
	// begun counts the bans of each rule that began with an offence here.
	begun map[string]int64
}

func (b *banLayer) open(o *Options) {
	b.store, b.local = o.Bans, o.LocalBans
	b.flights, b.begun = make(map[banKey]int64), make(map[string]int64)
	b.known.bans = make(map[banKey]knownBan)
}

// enter takes a place for a request and returns how many of its key are in flight, itself included.
func (b *banLayer) enter(rule *banRule, key string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := banKey{rule.Name, key}
	b.flights[k]++
	return b.flights[k]
}

// leave gives a place back.
func (b *banLayer) leave(w *watch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := banKey{w.rule.Name, w.key}
	if b.flights[k]--; b.flights[k] <= 0 {
		delete(b.flights, k)
	}
}

// ask puts a question to the store, and to the local register if the store fails and the rule falls back to memory. A
// ban that the answer tells of is known from then on.
func (b *banLayer) ask(r *banRule, question func(ratelimit.Bans) (ratelimit.Standing, error)) (ratelimit.Standing, error) {
	standing, err := question(b.store)
	local := false
	if err != nil {
		b.failures.Add(1)
		if r.OnStoreFailure != ratelimit.FailMemory || b.local == nil {
			return standing, err
		}
		local = true
		if standing, err = question(b.local); err != nil {
			return standing, err
		}
	}
	if standing.Banned {
		b.known.put(&standing.Ban, local)
	}
	if standing.Struck {
		b.mu.Lock()
		b.begun[r.Name]++
		b.mu.Unlock()
	}
	return standing, nil
}

func (b *banLayer) strike(ctx context.Context, r *banRule, key string, now time.Time) (ratelimit.Standing, error) {
	return b.ask(r, func(bans ratelimit.Bans) (ratelimit.Standing, error) {
		return bans.Strike(ctx, &r.BanRule.BanRule, key, now)
	})
}

func (b *banLayer) standing(ctx context.Context, r *banRule, key string, now time.Time) (ratelimit.Standing, error) {
	return b.ask(r, func(bans ratelimit.Bans) (ratelimit.Standing, error) {
		return bans.Standing(ctx, &r.BanRule.BanRule, key, now)
	})
}

// banned asks the bans that an administrator added, then the rules in their order.
func (w *walk) banned(ctx context.Context) bool {
	if w.bannedByHand() {
		return true
	}
	return slices.ContainsFunc(w.program.bans, func(r *banRule) bool { return w.judgeBan(ctx, r) })
}

// bannedByHand looks for a ban of the client's address, its network or its user under ratelimit.ManualBans.
func (w *walk) bannedByHand() bool {
	known := &w.guard.bans.known
	if !known.any() {
		return false
	}
	answer := UserBan{Status: ratelimit.StatusForbidden}
	ban, ok := known.find(ratelimit.ManualBans, addressOf(w.attempt), w.attempt)
	if !ok && w.attempt.Parts != nil {
		if user, named := w.attempt.Parts.Part(PartUser); named {
			ban, ok = known.find(ratelimit.ManualBans, PartUser+":"+user, w.attempt)
		}
		if w.program.rules.UserBan != (UserBan{}) {
			answer = w.program.rules.UserBan
		}
	}
	if !ok {
		return false
	}
	return w.refuse(&refusal{
		layer: ratelimit.LayerBans, rule: ratelimit.ManualBans, key: addressOf(w.attempt), tally: w.program.manual,
		status: answer.Status, code: answer.Code, reason: ban.Reason, retryAfter: ban.Rest(w.attempt.Now), ban: ban.Identifier,
	})
}

// judgeBan refuses the request if its key is banned. A request that may turn out as an offence is watched.
func (w *walk) judgeBan(ctx context.Context, r *banRule) bool {
	counts := r.Match.matches(w.attempt)
	if !counts && !r.scope.matches(w.attempt) {
		return false
	}
	key, ok := r.Key.identifier(w.attempt)
	if !ok {
		return r.Key.OnMissing == MissingDeny && w.refuse(w.keyless(ratelimit.LayerBans, r.Name, r.tally, r.DryRun))
	}
	ban, known := w.guard.bans.known.find(r.Name, key, w.attempt)
	switch {
	case known && counts && r.Extend:
		return w.refuse(w.byBan(r, key, w.extend(ctx, r, key, &ban)))
	case known:
		return w.refuse(w.byBan(r, key, &ban))
	case !counts:
		return false
	case r.Kind == Allow2Ban:
		return w.count(ctx, r, key)
	default:
		return w.watch(ctx, r, key)
	}
}

// extend counts an offence of a banned key and returns the ban as it is then.
func (w *walk) extend(ctx context.Context, r *banRule, key string, ban *ratelimit.Ban) *ratelimit.Ban {
	standing, err := w.guard.bans.strike(ctx, r, key, w.attempt.Now)
	if err != nil || !standing.Banned {
		return ban
	}
	return &standing.Ban
}

func (w *walk) byBan(r *banRule, key string, ban *ratelimit.Ban) *refusal {
	return &refusal{
		layer: ratelimit.LayerBans, rule: r.Name, key: key, tally: r.tally, status: r.Status, code: r.Code,
		reason: ban.Reason, retryAfter: ban.Rest(w.attempt.Now), ban: ban.Identifier, dry: r.DryRun,
	}
}

// count counts a request that is an offence by itself. The one that reaches the number still passes (rule RL98).
func (w *walk) count(ctx context.Context, r *banRule, key string) bool {
	standing, err := w.guard.bans.strike(ctx, r, key, w.attempt.Now)
	switch {
	case err != nil:
		return w.unknown(r, key)
	case standing.Banned && !standing.Struck:
		return w.refuse(w.byBan(r, key, &standing.Ban))
	default:
		return false
	}
}

// watch lets a request through whose outcome decides, if it is not one of too many guesses at one time (rule RL97). The
// place is taken before the failures are read: one that fails in between counts twice for a moment, and never not at all.
func (w *walk) watch(ctx context.Context, r *banRule, key string) bool {
	watched := watch{rule: r, key: key}
	flying := w.guard.bans.enter(r, key)
	standing, err := w.guard.bans.standing(ctx, r, key, w.attempt.Now)
	refused := false
	switch {
	case err != nil:
		refused = w.unknown(r, key)
	case standing.Banned:
		refused = w.refuse(w.byBan(r, key, &standing.Ban))
	case flying > max(1, r.MaxRetry-standing.Failures):
		refused = w.refuse(&refusal{
			layer: ratelimit.LayerBans, rule: r.Name, key: key, tally: r.tally, status: ratelimit.StatusTooMany, code: r.Code,
			reason: "too many requests of this kind are in flight", retryAfter: placeWait, dry: r.DryRun,
		})
	}
	if refused {
		w.guard.bans.leave(&watched)
		return true
	}
	watched.failures = standing.Failures
	w.watches = append(w.watches, watched)
	return false
}

// unknown decides while nobody knows whether a key is banned.
func (w *walk) unknown(r *banRule, key string) bool {
	if r.OnStoreFailure == ratelimit.FailOpen {
		return false
	}
	return w.refuse(&refusal{
		layer: ratelimit.LayerBans, rule: r.Name, key: key, tally: r.tally, status: ratelimit.StatusUnavailable,
		retryAfter: placeWait, decision: ratelimit.Decision{Degraded: ratelimit.Closed}, dry: r.DryRun,
	})
}

// settle counts what a watched request turned out to be, and gives its place back afterwards, so that no other request
// slips in between.
func (g *Guard) settle(ctx context.Context, w *watch, o ratelimit.Outcome) {
	defer g.bans.leave(w)
	switch {
	case w.failed(o):
		_, _ = g.bans.strike(ctx, w.rule, w.key, g.clock()) // A failure of the store is counted there.
	case w.rule.KeepOnSuccess || w.failures == 0 || !succeeded(o):
	default:
		_, _ = g.bans.ask(w.rule, func(bans ratelimit.Bans) (ratelimit.Standing, error) {
			return ratelimit.Standing{}, bans.Forgive(ctx, &w.rule.BanRule.BanRule, w.key)
		})
	}
}

// failed says whether a request was an offence: what the handler reported wins over the status (rule RL94).
func (w *watch) failed(o ratelimit.Outcome) bool {
	if o.Report != ratelimit.ReportNone {
		return o.Report == ratelimit.ReportFailure
	}
	return slices.Contains(w.rule.Failures, o.Status)
}

func succeeded(o ratelimit.Outcome) bool {
	return o.Report == ratelimit.ReportSuccess || o.Report == ratelimit.ReportNone && o.Status >= firstSuccess && o.Status < firstError
}

// refresh renews the copy. While the store fails the copy stays.
func (b *banLayer) refresh(ctx context.Context, now time.Time) {
	b.writing.Lock()
	defer b.writing.Unlock()
	bans := make(map[banKey]knownBan)
	q := ratelimit.BanQuery{Now: now}
	for {
		page, err := b.store.Page(ctx, q)
		if err != nil {
			b.failures.Add(1)
			return
		}
		if err := b.take(ctx, bans, page.Bans, now); err != nil {
			b.failures.Add(1)
			return
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			b.owed = nil
			b.known.replace(bans, now)
			return
		}
	}
}

// take puts bans of the store into a copy, and lifts there what was lifted while it failed.
func (b *banLayer) take(ctx context.Context, copied map[banKey]knownBan, bans []ratelimit.Ban, now time.Time) error {
	for i := range bans {
		ban := &bans[i]
		if b.owed.covers(ban) {
			if _, err := b.store.Lift(ctx, ban.Rule, ban.Identifier, now); err != nil {
				return err //nolint:wrapcheck // Nobody is told.
			}
			continue
		}
		if len(copied) < maxKnownBans {
			copied[banKey{ban.Rule, ban.Identifier}] = knownBan{Ban: *ban}
		}
	}
	return nil
}
