package guard

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// capWait is what a request over the global limit is told to wait: when one of the others is forgotten is not known.
const capWait = time.Second

// circuitLayer counts requests between two exchanges with the store, and lets them through by the record of the last one.
type circuitLayer struct {
	store, local ratelimit.Circuits
	name         string

	// offered and admitted are not yet in the store; window is what it had admitted.
	offered, admitted, window atomic.Int64
	// turn counts the requests that only the share of a half-open circuit can let through.
	turn atomic.Int64
	// division is by how many replicas the limits are divided while each counts alone (rule RL107).
	division atomic.Int64
	record   atomic.Pointer[ratelimit.CircuitRecord]
	trips    atomic.Int64

	mu       sync.Mutex
	replicas int
	degraded bool
	rate     float64
}

func (c *circuitLayer) open(o *Options) {
	c.store, c.local, c.name = o.Circuits, o.LocalCircuits, o.CircuitName
	c.replicas = 1
	c.division.Store(1)
	c.record.Store(&ratelimit.CircuitRecord{})
}

// offer counts a request at the entrance.
func (c *circuitLayer) offer(p *program) {
	if p.circuit != nil {
		c.offered.Add(1)
	}
}

// admit lets a request through or says how long to wait.
func (c *circuitLayer) admit(rules *Circuit, a *ratelimit.Attempt) (wait time.Duration, ok bool) {
	pass, part, wait := rules.Passes(c.record.Load(), a.Now)
	switch {
	case pass == PassAll, pass == PassKnown && a.Authenticated:
	case part > 0 && inShare(c.turn.Add(1)-1, part):
	default:
		return wait, false
	}
	limit := max(1, rules.GlobalLimit/c.division.Load())
	if n := c.admitted.Add(1); rules.Mode != CircuitDisabled && n+c.window.Load() > limit {
		c.admitted.Add(-1)
		return capWait, false
	}
	return 0, true
}

// tick exchanges counts with the store and makes the change that they lead to, if no other replica was faster.
func (g *Guard) tick(ctx context.Context) {
	rules := g.program.Load().circuit
	if rules == nil {
		return
	}
	now := g.clock()
	c := &g.circuit
	c.mu.Lock()
	defer c.mu.Unlock()
	reading, store, err := c.exchange(ctx, rules, now)
	if err != nil {
		return
	}
	effective := *rules
	effective.Threshold = max(1, effective.Threshold/c.division.Load())
	next, changed := effective.Next(reading, now)
	if !changed {
		c.record.Store(&reading.Record)
		return
	}
	swapped, err := store.Swap(ctx, c.name, reading.Record.Epoch, next)
	if err != nil || !swapped {
		return // Another replica changed it: the next exchange brings its record.
	}
	next.Epoch = reading.Record.Epoch + 1
	c.record.Store(&next)
	g.changedCircuit(&reading.Record, &next, now)
}

// exchange gives the counts to the store, or to the local one while the store fails.
func (c *circuitLayer) exchange(ctx context.Context, rules *Circuit, now time.Time) (ratelimit.CircuitReading, ratelimit.Circuits, error) {
	n := ratelimit.CircuitCounts{Offered: c.offered.Load(), Admitted: c.admitted.Load()}
	store := c.store
	reading, err := store.Offer(ctx, c.name, rules.Window, n, now)
	if err == nil {
		c.degraded, c.replicas = false, max(1, reading.Replicas)
		c.division.Store(1)
	} else if c.local != nil {
		store = c.local
		if !c.degraded {
			c.carryOver(ctx, rules, now)
		}
		reading, err = store.Offer(ctx, c.name, rules.Window, n, now)
	}
	if err != nil {
		return ratelimit.CircuitReading{}, nil, err //nolint:wrapcheck // It is looked at, not shown.
	}
	// The window grows before the pending counts shrink: for a moment too much counts, never too little.
	c.window.Store(reading.Window.Admitted)
	c.offered.Add(-n.Offered)
	c.admitted.Add(-n.Admitted)
	c.rate = float64(reading.Window.Offered) / rules.Window.Seconds()
	return reading, store, nil
}

// carryOver makes the local circuit begin where the shared one was.
func (c *circuitLayer) carryOver(ctx context.Context, rules *Circuit, now time.Time) {
	c.degraded = true
	c.division.Store(int64(c.replicas))
	if reading, err := c.local.Offer(ctx, c.name, rules.Window, ratelimit.CircuitCounts{}, now); err == nil {
		_, _ = c.local.Swap(ctx, c.name, reading.Record.Epoch, *c.record.Load()) // Nobody else changes it.
	}
}

// changedCircuit counts and tells of a change that this process made.
func (g *Guard) changedCircuit(from, to *ratelimit.CircuitRecord, now time.Time) {
	if to.State == ratelimit.CircuitOpen && from.State != ratelimit.CircuitOpen {
		g.circuit.trips.Add(1)
	}
	if g.onWrite != nil {
		g.onWrite(Change{Action: ActionCircuit, At: now, From: *from, To: *to})
	}
}

// CircuitStatus is the state of the circuit as this process sees it (rule RL129).
type CircuitStatus struct {
	Record ratelimit.CircuitRecord `json:"record"`
	// Trips is how often this process opened it.
	Trips int64 `json:"trips"`
	// OfferedRate is in requests per second over the window.
	OfferedRate float64 `json:"offeredRate"`
	Replicas    int     `json:"replicas"`
	// Degraded says that the store fails and the local circuit decides.
	Degraded bool `json:"degraded"`
}

// Circuit returns the state of the circuit.
func (g *Guard) Circuit() CircuitStatus {
	c := &g.circuit
	c.mu.Lock()
	defer c.mu.Unlock()
	status := CircuitStatus{
		Record: *c.record.Load(), Trips: c.trips.Load(), OfferedRate: c.rate, Replicas: c.replicas, Degraded: c.degraded,
	}
	if status.Record.State == "" {
		status.Record.State = ratelimit.CircuitClosed
	}
	return status
}

// CircuitState is the state of the circuit alone. It never waits, as [Guard.Circuit] may while the store is asked.
func (g *Guard) CircuitState() ratelimit.CircuitState {
	if state := g.circuit.record.Load().State; state != "" {
		return state
	}
	return ratelimit.CircuitClosed
}
