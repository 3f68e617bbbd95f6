package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// DefaultRefresh is how often the copy of the bans in force is renewed (rule RL101).
const DefaultRefresh = 2 * time.Second

// DefaultCircuitName is the name of the server's circuit among the replicas.
const DefaultCircuitName = "server"

// circuitInterval is how often the counts of a circuit are shared (rule RL106).
const circuitInterval = 100 * time.Millisecond

// Options make a Guard. What the rules need is needed.
type Options struct {
	Rules Rules
	// Limiter judges the tiers that have none of their own.
	Limiter *ratelimit.Limiter
	// Bans keeps offences and bans; LocalBans is a register of this process, in which new offences are counted while
	// Bans fails (rule RL100). Nil is none.
	Bans, LocalBans ratelimit.Bans
	// Circuits keeps the circuit; LocalCircuits is that of this process for the time that Circuits fails (rule RL107).
	Circuits, LocalCircuits ratelimit.Circuits
	// CircuitName is the circuit's among those of Circuits; "" is DefaultCircuitName.
	CircuitName string
	// Meter gives the readings for adaptive limits; nil reads none.
	Meter Meter
	// Clock is the time of attempts without an instant, of bans and of the circuit; nil is time.Now.
	Clock func() time.Time
	// Refresh is how often the copy of the bans is renewed; 0 is DefaultRefresh.
	Refresh time.Duration
	// OnMatch is called with each match, live or dry, during the request; it must not block.
	OnMatch func(Match)
	// OnChange is called with each change by an administrator and each change of the circuit that this process made; it
	// must not block (rule RL101).
	OnChange func(Change)
}

// Match is a rule that refused a request, or would have.
type Match struct {
	Layer ratelimit.Layer
	Rule  string
	Mode  Mode
	// Key is the key that the rule counts by, as stores write it.
	Key string
	// Status, Reason and RetryAfter are those of the refusal.
	Status     int
	Reason     string
	RetryAfter time.Duration
	// Decision is that of a tier; other layers have none.
	Decision ratelimit.Decision
	// Ban is the identifier of the ban that refused; other layers have none.
	Ban string
	// Attempt is the request; it must not be kept.
	Attempt *ratelimit.Attempt
}

// Meter reads the signals of adaptive limits once a second.
type Meter interface {
	Read() Readings
}

// Guard judges requests by its rules. It is safe for concurrent use. Close ends its goroutines.
type Guard struct {
	program atomic.Pointer[program]
	limiter *ratelimit.Limiter
	counts  registry
	clock   func() time.Time
	bans    banLayer
	circuit circuitLayer
	meter   Meter
	onMatch func(Match)
	onWrite func(Change)
	denied  ratelimit.TopDenied
	// lineups are those that no request uses.
	lineups sync.Pool

	// changing orders changes of the rules and of the factor.
	changing sync.Mutex
	factor   Factor

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New makes a guard and starts what renews its copy of the bans, shares the counts of its circuit and adapts its limits,
// as far as the options have a part for it. All that is wrong is reported in one error that wraps ratelimit.ErrConfig.
func New(o Options) (*Guard, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.CircuitName == "" {
		o.CircuitName = DefaultCircuitName
	}
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	if o.Refresh < 0 {
		return nil, fmt.Errorf("make guard: %w", fault("refresh %s is negative", o.Refresh))
	}
	g := &Guard{
		limiter: o.Limiter, clock: o.Clock, meter: o.Meter, onMatch: o.OnMatch, onWrite: o.OnChange, factor: Factor{Value: 1},
		lineups: sync.Pool{New: newLineup},
	}
	g.counts.tallies = make(map[tallyKey]*tally)
	g.bans.open(&o)
	g.circuit.open(&o)
	if err := g.Update(o.Rules); err != nil {
		return nil, fmt.Errorf("make guard: %w", err)
	}
	g.start(o.Refresh)
	return g, nil
}

// start begins the goroutines.
func (g *Guard) start(refresh time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	if g.bans.store != nil {
		g.repeat(ctx, refresh, func() { g.bans.refresh(ctx, g.clock()) })
	}
	if g.circuit.store != nil {
		g.repeat(ctx, circuitInterval, func() { g.tick(ctx) })
	}
	if g.meter != nil {
		g.repeat(ctx, adaptiveInterval, g.adapt)
	}
}

func (g *Guard) repeat(ctx context.Context, interval time.Duration, action func()) {
	g.running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				action()
			}
		}
	})
}

// Close ends the guard's goroutines and waits for them. It may be called again. Requests may still be judged.
func (g *Guard) Close() error {
	g.stop()
	g.running.Wait()
	return nil
}

// Update replaces the rules. Counters, bans and the circuit go on by their names; requests that are under way end by the
// rules that they began with. All that is wrong is reported in one error that wraps ratelimit.ErrConfig, and the rules
// stay (rule RL130).
func (g *Guard) Update(r Rules) error {
	if err := errors.Join(r.Validate(), g.lacks(&r)); err != nil {
		return fmt.Errorf("set rules: %w", err)
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	g.counts.begin()
	p := compile(&r, g.limiter, &g.counts)
	g.counts.end()
	p.scale(g.factor)
	g.program.Store(p)
	return nil
}

// lacks reports rules for which the guard has no part.
func (g *Guard) lacks(r *Rules) error {
	var faults []error
	for i := range r.Tiers {
		t := &r.Tiers[i]
		limiter := t.Limiter
		if limiter == nil {
			limiter = g.limiter
		}
		if limiter == nil {
			faults = append(faults, fault("tier %q: no limiter", t.Policy.Name))
		} else if err := limiter.Serves(&t.Policy); err != nil {
			faults = append(faults, fmt.Errorf("tier %q: %w", t.Policy.Name, err))
		}
	}
	if len(r.Bans) > 0 && g.bans.store == nil {
		faults = append(faults, fault("there are ban rules and no register of bans"))
	}
	if r.Circuit != nil && g.circuit.store == nil {
		faults = append(faults, fault("there is a circuit and no register of circuits"))
	}
	return errors.Join(faults...)
}

// Counts returns how often each rule matched (rule RL129).
func (g *Guard) Counts() []MatchCount { return g.counts.counts() }

// TopDenied returns up to so many keys that rules refused most since the guard was made (rule RL129).
func (g *Guard) TopDenied(most int) []ratelimit.DeniedKey { return g.denied.Top(most) }

// Judge says whether the request may go to its handler. It completes Now and Cost of the attempt. Whoever lets an allowed
// request through calls [Guard.Done] once with the same attempt when it is over; a refused one is over.
func (g *Guard) Judge(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict {
	p := g.program.Load()
	if p.empty && !g.bans.known.any() {
		return ratelimit.Verdict{Allowed: true}
	}
	if excludes(p.rules.Exclude, a) {
		p.excluded.live.Add(1)
		return ratelimit.Verdict{Allowed: true, Layer: ratelimit.LayerExcluded}
	}
	if a.Now.IsZero() {
		a.Now = g.clock()
	}
	a.Cost = p.costOf(a)
	w := walk{guard: g, program: p, attempt: a}
	w.run(ctx)
	return w.verdict
}

// Done tells the guard what became of an allowed request: its failure or success is counted, and what it cost beyond its
// announced cost is charged (rules RL91, RL94). The context's end does not stop it.
func (g *Guard) Done(ctx context.Context, a *ratelimit.Attempt, v *ratelimit.Verdict, o ratelimit.Outcome) {
	passed, ok := v.State.(*passage)
	if !ok || passed == nil {
		return
	}
	v.State = nil
	giveBack(passed.held)
	extra := o.Cost - a.Cost
	if len(passed.watches) == 0 && extra <= 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for i := range passed.watches {
		g.settle(ctx, &passed.watches[i], o)
	}
	if extra > 0 {
		passed.program.charge(ctx, a, extra)
	}
}

// adapt moves the factor by one second's readings.
func (g *Guard) adapt() {
	readings := g.meter.Read()
	g.changing.Lock()
	defer g.changing.Unlock()
	p := g.program.Load()
	if p.rules.Adaptive == nil {
		return
	}
	before := g.factor
	g.factor = p.rules.Adaptive.Next(g.factor, readings)
	if g.factor.Value == before.Value {
		return
	}
	p.scale(g.factor)
	if (g.factor.Value == 1) != (before.Value == 1) && g.onWrite != nil {
		g.onWrite(Change{Action: ActionAdapt, At: g.clock(), Factor: g.factor.Value})
	}
}

// Factor returns the factor of the adaptive limits; 1 while they are as written.
func (g *Guard) Factor() float64 {
	g.changing.Lock()
	defer g.changing.Unlock()
	return g.factor.Value
}
