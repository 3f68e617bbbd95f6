package ratelimit

import (
	"context"
	"time"
)

// CircuitState is the state of a circuit. The empty one is CircuitClosed.
type CircuitState string

// A closed circuit lets all requests through, an open one almost none, and a half-open one a growing share (rule RL102).
const (
	CircuitClosed   CircuitState = "closed"
	CircuitOpen     CircuitState = "open"
	CircuitHalfOpen CircuitState = "half_open"
)

// CircuitForce is what an administrator has ordered. The empty one is nothing (rule RL104).
type CircuitForce string

// ForceLockdown lets only the safelist through, and ForceClosed everybody, whatever the state is.
const (
	ForceNone     CircuitForce = ""
	ForceLockdown CircuitForce = "lockdown"
	ForceClosed   CircuitForce = "closed"
)

// CircuitRecord is what all replicas of a server share of a circuit. The zero record is closed.
type CircuitRecord struct {
	State CircuitState `json:"state"`
	// Since is the beginning of the state, and of the step in a half-open circuit.
	Since time.Time `json:"since,omitzero"`
	// Step counts the steps of a half-open circuit from 0.
	Step int `json:"step"`
	// Recovery is how long the circuit stays open this time; it doubles when it opens again from half-open.
	Recovery time.Duration `json:"recovery"`
	// Force holds until ForceUntil; the zero time is no end.
	Force      CircuitForce `json:"force"`
	ForceUntil time.Time    `json:"forceUntil,omitzero"`
	// Epoch counts the changes.
	Epoch int64 `json:"epoch"`
}

// CircuitCounts are requests at a circuit.
type CircuitCounts struct {
	// Offered are the requests that came, whatever became of them; Admitted are those that the circuit let through.
	Offered, Admitted int64
}

// CircuitReading is what a store knows of a circuit.
type CircuitReading struct {
	Record CircuitRecord
	// Window are the counts of the sliding window.
	Window CircuitCounts
	// Offered are the requests that came since the record changed its state or step.
	Offered int64
	// Replicas is how many processes feed the circuit, at least 1.
	Replicas int
}

// Circuits keeps the counts and records of circuits. Its methods are safe for concurrent use.
type Circuits interface {
	// Offer adds to the counts of a circuit and reads it. The window slides by the law of [SlidingWindow]: the window
	// before counts with the share that a window ending now still covers.
	Offer(ctx context.Context, name string, window time.Duration, n CircuitCounts, now time.Time) (CircuitReading, error)
	// Swap puts the record in the place of the one with this epoch, with the epoch after it. It returns false if there is
	// another one by now, so that exactly one replica makes a change (rule RL106). A new state or step counts its
	// offered requests from 0, and a circuit that closes begins its window anew: it would trip over the flood that
	// has just ended.
	Swap(ctx context.Context, name string, epoch int64, next CircuitRecord) (bool, error)
}
