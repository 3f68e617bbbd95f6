package memstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxCircuits bounds the circuits of a register, whose names an operator chooses.
	maxCircuits = 1024
	// maxCount is where counts stop, so that no product with a window overflows.
	maxCount = 1 << 40
	// maxCircuitWindow keeps those products in their range.
	maxCircuitWindow = time.Hour
)

// Circuits keeps circuits in memory: those of one process, which is their only replica. It is safe for concurrent use,
// starts no goroutine and needs no end.
type Circuits struct {
	mu       sync.Mutex
	circuits map[string]*circuit
}

var _ ratelimit.Circuits = (*Circuits)(nil)

type circuit struct {
	record ratelimit.CircuitRecord
	// window is the length in milliseconds that the counts belong to; start is where the present one begins.
	window, start     int64
	current, previous ratelimit.CircuitCounts
	offered           int64
}

// NewCircuits makes an empty register.
func NewCircuits() *Circuits { return &Circuits{circuits: make(map[string]*circuit)} }

// Offer adds to the counts of a circuit and reads it.
func (c *Circuits) Offer(
	_ context.Context, name string, window time.Duration, n ratelimit.CircuitCounts, now time.Time,
) (ratelimit.CircuitReading, error) {
	if window < time.Millisecond || window > maxCircuitWindow || n.Offered < 0 || n.Admitted < 0 {
		return ratelimit.CircuitReading{}, fmt.Errorf("offer to circuit %q: window %s, counts %+v: %w", name, window, n, ratelimit.ErrConfig)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, err := c.circuit(name)
	if err != nil {
		return ratelimit.CircuitReading{}, err
	}
	elapsed := known.slide(window.Milliseconds(), now.UnixMilli())
	known.current.Offered = min(maxCount, known.current.Offered+min(maxCount, n.Offered))
	known.current.Admitted = min(maxCount, known.current.Admitted+min(maxCount, n.Admitted))
	known.offered = min(maxCount, known.offered+min(maxCount, n.Offered))
	rest := known.window - elapsed
	return ratelimit.CircuitReading{
		Record: known.record, Offered: known.offered, Replicas: 1,
		Window: ratelimit.CircuitCounts{
			Offered:  known.current.Offered + known.previous.Offered*rest/known.window,
			Admitted: known.current.Admitted + known.previous.Admitted*rest/known.window,
		},
	}, nil
}

// Swap puts the record in the place of the one with this epoch.
func (c *Circuits) Swap(_ context.Context, name string, epoch int64, next ratelimit.CircuitRecord) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, err := c.circuit(name)
	if err != nil {
		return false, err
	}
	before := known.record
	if before.Epoch != epoch {
		return false, nil
	}
	next.Epoch = epoch + 1
	known.record = next
	if next.State != before.State || next.Step != before.Step {
		known.offered = 0
		if next.State == ratelimit.CircuitClosed || next.State == "" {
			known.current, known.previous = ratelimit.CircuitCounts{}, ratelimit.CircuitCounts{}
		}
	}
	return true, nil
}

func (c *Circuits) circuit(name string) (*circuit, error) {
	known := c.circuits[name]
	if known == nil {
		if len(c.circuits) >= maxCircuits {
			return nil, fmt.Errorf("make circuit %q: there are %d: %w", name, maxCircuits, ratelimit.ErrStoreFull)
		}
		known = &circuit{}
		c.circuits[name] = known
	}
	return known, nil
}

// slide moves the windows to the instant and returns the age of the present one. An instant that goes back stays at the
// beginning of the newest window; another length begins anew.
func (c *circuit) slide(window, now int64) (elapsed int64) {
	start := now - ((now%window)+window)%window
	switch {
	case c.window != window:
		c.window, c.start = window, start
		c.current, c.previous = ratelimit.CircuitCounts{}, ratelimit.CircuitCounts{}
	case start == c.start+window:
		c.start, c.previous, c.current = start, c.current, ratelimit.CircuitCounts{}
	case start > c.start, start < c.start-window:
		c.start = start
		c.current, c.previous = ratelimit.CircuitCounts{}, ratelimit.CircuitCounts{}
	default:
	}
	return max(0, now-c.start)
}
