package guard

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// Action names a change.
type Action string

// The changes that a guard tells of: those by an administrator, those of the circuit, and the adaptive limits entering or
// leaving a factor of 1.
const (
	ActionBan     Action = "ban"
	ActionLift    Action = "lift"
	ActionForce   Action = "force"
	ActionCircuit Action = "circuit"
	ActionAdapt   Action = "adapt"
)

const (
	maxReasonLength = 1000
	// maxSwaps is how often a change of the circuit is tried again because others were faster.
	maxSwaps = 5
)

// Change is a line of the audit trail (rule RL101).
type Change struct {
	Action Action
	// Actor is empty for what the guard did by itself.
	Actor, Reason string
	At            time.Time
	// Rule and Key are those of bans; Key is empty where all bans of a rule were lifted. Count is how many ended.
	Rule, Key string
	Count     int
	// From and To are the records of a circuit.
	From, To ratelimit.CircuitRecord
	// Factor is that of the adaptive limits.
	Factor float64
}

// BanRequest is an administrator's wish to ban.
type BanRequest struct {
	// Rule is the rule whose key is banned; "" is ratelimit.ManualBans, whose bans refuse every request that is neither
	// excluded nor safelisted.
	Rule string
	// Key is an address or a network, "user:name", or a key of the rule as requests have it or the list shows it.
	Key string
	// Until is the end; the zero time is never.
	Until         time.Time
	Actor, Reason string
}

// Ban brings a ban into force, in this process at once and in the others within the time of a refresh. A wish that makes
// no sense is ratelimit.ErrConfig; any other error is the store's.
func (g *Guard) Ban(ctx context.Context, wish BanRequest) (ratelimit.Ban, error) {
	now := g.clock()
	if wish.Rule == "" {
		wish.Rule = ratelimit.ManualBans
	}
	switch {
	case g.bans.store == nil:
		return ratelimit.Ban{}, fmt.Errorf("ban %q: %w", wish.Key, fault("there is no register of bans"))
	case wish.Key == "" || !ratelimit.ValidName(wish.Rule) || len(wish.Reason) > maxReasonLength:
		return ratelimit.Ban{}, fmt.Errorf("ban %q under rule %q: %w", wish.Key, wish.Rule, fault("want a key, a rule and a short reason"))
	case !live(wish.Until, now):
		return ratelimit.Ban{}, fmt.Errorf("ban %q: %w", wish.Key, fault("the end %s is past", wish.Until.Format(time.RFC3339)))
	}
	ban := ratelimit.Ban{
		Rule: wish.Rule, Identifier: ratelimit.WrittenBanKey(wish.Key), From: now, Until: wish.Until, Actor: wish.Actor, Reason: wish.Reason,
	}
	if network, ok := parseNetwork(wish.Key); ok {
		ban.Network, ban.Identifier = network, networkText(wish.Key)
	}
	g.bans.writing.Lock()
	defer g.bans.writing.Unlock()
	if err := g.bans.store.Put(ctx, ban); err != nil {
		return ratelimit.Ban{}, fmt.Errorf("ban %q: %w", wish.Key, err)
	}
	delete(g.bans.owed, banKey{ban.Rule, ban.Identifier})
	g.bans.known.put(&ban, false)
	g.audit(Change{Action: ActionBan, Actor: wish.Actor, Reason: wish.Reason, At: now, Rule: ban.Rule, Key: ban.Identifier, Count: 1})
	return ban, nil
}

// Restore brings a ban into force as it is, one that was kept elsewhere or that another guard of the process made. Its
// Identifier is written already. The error is the store's; the ban holds in this process all the same.
func (g *Guard) Restore(ctx context.Context, b ratelimit.Ban) error {
	if g.bans.store == nil {
		return fmt.Errorf("restore ban of %q: %w", b.Identifier, fault("there is no register of bans"))
	}
	g.bans.writing.Lock()
	defer g.bans.writing.Unlock()
	err := g.bans.store.Put(ctx, b)
	delete(g.bans.owed, banKey{b.Rule, b.Identifier})
	g.bans.known.put(&b, err != nil)
	if err != nil {
		return fmt.Errorf("restore ban of %q: %w", b.Identifier, err)
	}
	return nil
}

// networkText is how the ban of a network or address is listed: a single address without its length.
func networkText(key string) string {
	network, ok := parseNetwork(key)
	switch {
	case !ok:
		return ratelimit.WrittenBanKey(key)
	case network.IsSingleIP():
		return network.Addr().String()
	default:
		return network.String()
	}
}

// Lift ends the ban of a key under a rule, or all bans of the rule if the key is empty, and returns how many ended. With a
// local register it works while the store fails as well: the bans end in this process at once, and in the store when it
// answers again.
func (g *Guard) Lift(ctx context.Context, rule, key string, by Actor) (int, error) {
	if g.bans.store == nil {
		return 0, fmt.Errorf("lift bans: %w", fault("there is no register of bans"))
	}
	if rule == "" {
		rule = ratelimit.ManualBans
	}
	identifier := ""
	if key != "" {
		identifier = networkText(key)
	}
	now := g.clock()
	g.bans.writing.Lock()
	defer g.bans.writing.Unlock()
	lifted, err := g.bans.lift(ctx, rule, identifier, now)
	if err != nil {
		return 0, fmt.Errorf("lift bans of rule %q: %w", rule, err)
	}
	g.audit(Change{Action: ActionLift, Actor: by.Name, Reason: by.Reason, At: now, Rule: rule, Key: identifier, Count: lifted})
	return lifted, nil
}

// Actor is who makes a change, and why.
type Actor struct{ Name, Reason string }

// Bans lists the bans in force (rule RL101). With a local register they include those that only this process knows, on the
// last page, which may be longer for that; while the store fails they are those that this process knows, on one page.
func (g *Guard) Bans(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	if g.bans.store == nil {
		return ratelimit.BanPage{}, nil
	}
	q.Now = g.clock()
	if q.Identifier != "" {
		q.Identifier = networkText(q.Identifier)
	}
	page, err := g.bans.page(ctx, q)
	if err != nil {
		return ratelimit.BanPage{}, fmt.Errorf("list bans: %w", err)
	}
	return page, nil
}

// FindBan returns the ban of a key under a rule, and false if there is none.
func (g *Guard) FindBan(ctx context.Context, rule, key string) (ratelimit.Ban, bool, error) {
	page, err := g.Bans(ctx, ratelimit.BanQuery{Rule: rule, Identifier: key, Limit: 1})
	if err != nil || len(page.Bans) == 0 {
		return ratelimit.Ban{}, false, err
	}
	return page.Bans[0], true, nil
}

// BanStatus is what this process knows of bans (rule RL129).
type BanStatus struct {
	// InForce is the number of bans of each rule; Begun is how many of them began with an offence that this process
	// counted, ever since it started.
	InForce map[string]int   `json:"inForce"`
	Begun   map[string]int64 `json:"begun"`
	// StoreFailures is how often the store of bans did not answer.
	StoreFailures int64 `json:"storeFailures"`
}

// BanStatus returns the numbers of bans.
func (g *Guard) BanStatus() BanStatus {
	g.bans.mu.Lock()
	begun := maps.Clone(g.bans.begun)
	g.bans.mu.Unlock()
	return BanStatus{InForce: g.bans.known.byRule(g.clock()), Begun: begun, StoreFailures: g.bans.failures.Load()}
}

// ForceCircuit orders the circuit to lock down or to close until an instant, or takes the order back (rule RL104). The
// zero time is no end.
func (g *Guard) ForceCircuit(ctx context.Context, force ratelimit.CircuitForce, until time.Time, by Actor) error {
	now := g.clock()
	rules := g.program.Load().circuit
	switch {
	case rules == nil:
		return fmt.Errorf("force circuit: %w", fault("there is no circuit"))
	case force != ratelimit.ForceNone && force != ratelimit.ForceLockdown && force != ratelimit.ForceClosed:
		return fmt.Errorf("force circuit: %w", fault("%q is neither lockdown nor closed", force))
	case force != ratelimit.ForceNone && !live(until, now):
		return fmt.Errorf("force circuit: %w", fault("the end %s is past", until.Format(time.RFC3339)))
	case force == ratelimit.ForceNone:
		until = time.Time{}
	}
	c := &g.circuit
	c.mu.Lock()
	defer c.mu.Unlock()
	for range maxSwaps {
		reading, err := c.store.Offer(ctx, c.name, rules.Window, ratelimit.CircuitCounts{}, now)
		if err != nil {
			return fmt.Errorf("force circuit: %w", err)
		}
		next := reading.Record
		next.Force, next.ForceUntil = force, until
		swapped, err := c.store.Swap(ctx, c.name, reading.Record.Epoch, next)
		if err != nil {
			return fmt.Errorf("force circuit: %w", err)
		}
		if swapped {
			next.Epoch = reading.Record.Epoch + 1
			c.record.Store(&next)
			g.audit(Change{Action: ActionForce, Actor: by.Name, Reason: by.Reason, At: now, From: reading.Record, To: next})
			return nil
		}
	}
	return fmt.Errorf("force circuit: others keep changing it: %w", ratelimit.ErrUnavailable)
}

func (g *Guard) audit(c Change) {
	if g.onWrite != nil {
		g.onWrite(c)
	}
}
