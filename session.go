package mockbase

import (
	"encoding/json"
	"time"
)

// Session is what a session looks like from outside (rule M-67): the state that one run of tests has for itself.
type Session struct {
	// ID is opaque; Name is what requests use. A later session of the same name has another id (rule AA11).
	ID, Name string
	// Seed is what random decisions depend on (rule AA20).
	Seed      string
	Variables map[string]json.RawMessage
	Labels    map[string]string
	StartedAt time.Time
	// TTL is how long the session lives on after its last request, ExpiresAt when that ends; 0 and the zero time are never.
	TTL       time.Duration
	ExpiresAt time.Time
	// EndedAt is the zero time for a living session.
	EndedAt time.Time
	Clock   SessionClock
	Counts  SessionCounts
}

// SessionClock is the time of a session (rule AA13).
type SessionClock struct {
	Now time.Time
	// Offset is how far Now is ahead of the wall clock.
	Offset time.Duration
}

// SessionCounts says how much a session was used: all its requests, those that nothing answered, and those that a simulated
// limit refused.
type SessionCounts struct {
	Calls, Unmatched, Limited int64
}

// SessionSpec is what a session begins with (rule AA7). The zero value is a session with every default and a name made up.
type SessionSpec struct {
	// Name is 1 to 64 of A-Z, a-z, 0-9, point, underscore and hyphen (rule AA6).
	Name string
	// TTL is at most 24 hours; 0 is one hour.
	TTL time.Duration
	// Seed is "" for the project's, or a random one.
	Seed      string
	Variables map[string]json.RawMessage
	Labels    map[string]string
}

// ClockChange changes the clock of a session; exactly one member is set (rule AA14).
type ClockChange struct {
	Advance *time.Duration
	Set     *time.Time
	// Reset returns to the wall clock's time.
	Reset bool
}

// ScenarioState is where a scenario stands in a session (rule R4).
type ScenarioState struct {
	Name string
	// State is that of a scenario without a key. With one it is that of requests which have no value for it.
	State string
	// States are all that the definitions name, the initial one first; Mocks are the names of the scenario's mocks.
	States, Mocks []string
	// ChangedAt is the session's time of the last move, the zero time for none; ChangedBy is the name of the mock, or the id
	// of the user, that moved it.
	ChangedAt time.Time
	ChangedBy string
	// Keys are the parts of the key; Instances the values that are remembered, the one used last first (rule R6).
	Keys      []string
	Instances []ScenarioInstance
}

// ScenarioInstance is where a scenario stands for one value of its key.
type ScenarioInstance struct {
	Key, State string
	ChangedAt  time.Time
	ChangedBy  string
}

// ScenarioMove sets the state of a scenario (rule M-193).
type ScenarioMove struct {
	// Key is a value of the scenario's key; "" is that of requests without one.
	Key   string
	State string
	// By is who moves it.
	By string
}

// ResetLevel is something that a reset takes back; the list is closed (rule R7).
type ResetLevel string

// The levels of a reset. The engine takes back the first four, and ResetAll of a session; journal and mocks belong to others.
const (
	ResetCounters  ResetLevel = "counters"
	ResetScenarios ResetLevel = "scenarios"
	ResetLimits    ResetLevel = "limits"
	ResetData      ResetLevel = "data"
	ResetJournal   ResetLevel = "journal"
	ResetMocks     ResetLevel = "mocks"
	ResetAll       ResetLevel = "all"
)
