package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxCircuitCount is where counts stop, and maxCircuitWindow the longest window: no product of theirs overflows.
	maxCircuitCount  = 1 << 40
	maxCircuitWindow = time.Hour
	// replicaSilence is after how long a replica that feeds ten times a second is taken for gone.
	replicaSilence = 2 * time.Second
	// circuitLife is how long a circuit outlasts the last replica that feeds it, with its administrator's orders.
	circuitLife = 30 * 24 * time.Hour
)

// Circuits keeps circuits in Redis, for all replicas (rule RL106): one round trip for each exchange. Who calls this
// [Circuits.Offer] is one replica. It is as safe for concurrent use as its store.
type Circuits struct {
	store   *Store
	replica string
}

var _ ratelimit.Circuits = (*Circuits)(nil)

// Circuits returns the register of circuits in the store, as a replica of its own.
func (s *Store) Circuits() *Circuits { return &Circuits{store: s, replica: rand.Text()} }

// Offer adds to the counts of a circuit and reads it.
func (c *Circuits) Offer(
	ctx context.Context, name string, window time.Duration, n ratelimit.CircuitCounts, now time.Time,
) (ratelimit.CircuitReading, error) {
	if window < time.Millisecond || window > maxCircuitWindow || n.Offered < 0 || n.Admitted < 0 {
		return ratelimit.CircuitReading{}, fmt.Errorf("offer to circuit %q: window %s, counts %+v: %w", name, window, n, ratelimit.ErrConfig)
	}
	keys := c.keys(name)
	answer, err := c.store.consult(ctx, c.store.target.scripts.offer, keys,
		exactTicks(now)/int64(time.Millisecond/time.Microsecond), window.Milliseconds(), min(maxCircuitCount, n.Offered), min(maxCircuitCount, n.Admitted),
		int64(maxCircuitCount), c.replica, replicaSilence.Milliseconds(), circuitLife.Milliseconds())
	if err != nil {
		return ratelimit.CircuitReading{}, err
	}
	read := reader{answer: answer}
	reading := ratelimit.CircuitReading{
		Record: ratelimit.CircuitRecord{
			State: ratelimit.CircuitState(read.text()), Since: read.instant(), Step: int(read.number()),
			Recovery: time.Duration(read.number()) * time.Microsecond, Force: ratelimit.CircuitForce(read.text()),
			ForceUntil: read.instant(), Epoch: read.number(),
		},
		Window:  ratelimit.CircuitCounts{Offered: read.number(), Admitted: read.number()},
		Offered: read.number(), Replicas: max(1, int(read.number())),
	}
	if read.fault != nil {
		return ratelimit.CircuitReading{}, c.store.damaged(keys[0])
	}
	return reading, nil
}

// Swap puts the record in the place of the one with this epoch.
func (c *Circuits) Swap(ctx context.Context, name string, epoch int64, next ratelimit.CircuitRecord) (bool, error) {
	keys := c.keys(name)
	answer, err := c.store.consult(ctx, c.store.target.scripts.change, keys[:1],
		epoch, string(next.State), instantText(next.Since), next.Step, next.Recovery.Microseconds(),
		string(next.Force), instantText(next.ForceUntil), circuitLife.Milliseconds())
	if err != nil {
		return false, err
	}
	read := reader{answer: answer}
	swapped := read.number() == 1
	if read.fault != nil {
		return false, c.store.damaged(keys[0])
	}
	return swapped, nil
}

// keys are the record and the replicas of a circuit. One script touches both.
func (c *Circuits) keys(name string) []string {
	tagged := c.store.prefix + ":circuit:{" + ratelimit.KeyIdentifier(name) + "}:"
	return []string{tagged + "record", tagged + "replicas"}
}
