package sse

import (
	"time"
)

// End says how a stream ends after its last event.
type End int

// The ends of a stream. EndReset breaks the connection off.
const (
	EndClose End = iota
	EndKeepOpen
	EndReset
)

// Step is one step of a script: wait, then write, then perhaps end.
type Step struct {
	// After is the time to wait; nil is none. It is called once for each time the step is reached.
	After func() time.Duration
	// ID is the event's id, for resuming.
	ID *string
	// Event is what to write, with its blank line; empty is nothing.
	Event []byte
	// Make makes what to write each time the step is reached; nil takes Event. False ends the stream.
	Make func() ([]byte, bool)
	// End is how the stream ends after this step, if Ends is set.
	Ends bool
	End  End
}

// Script is a stream's script. It is not changed once it is played.
type Script struct {
	Steps []Step
	// Loop is how often the steps are played; 0 is for ever (rule U5).
	Loop int
	// Resume lets a stream go on after the id that the client saw last (rule U4).
	Resume bool
	// Heartbeat is the time after which a quiet stream gets a comment; 0 is never (rule U6).
	Heartbeat time.Duration
	End       End
}

// start returns the step to begin with for a client that saw the id last.
func (s *Script) start(lastID string) int {
	if !s.Resume || lastID == "" {
		return 0
	}
	for i := range s.Steps {
		if id := s.Steps[i].ID; id != nil && *id == lastID {
			return i + 1
		}
	}
	return 0
}

// waits tells whether playing the steps takes any time. A script for ever that does not would write without a pause.
func (s *Script) waits() bool {
	for i := range s.Steps {
		if s.Steps[i].After != nil || s.Steps[i].Ends {
			return true
		}
	}
	return false
}
