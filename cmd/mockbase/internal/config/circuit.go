package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// maxRecovery is the longest that a circuit stays open at first.
const maxRecovery = time.Hour

// CircuitMode says whom an open circuit lets through (rule RL104).
type CircuitMode string

// UnmarshalText takes one of the three modes.
func (m *CircuitMode) UnmarshalText(text []byte) error {
	return oneOf((*string)(m), text, "adaptive", "lockdown", "disabled")
}

// Rate is a number of requests within a time, from a second to an hour.
type Rate struct {
	Count  int64
	Window time.Duration
}

// UnmarshalText reads a rule string without options (rule RL18).
func (r *Rate) UnmarshalText(text []byte) error {
	rules, err := ratelimit.ParseRules(string(text))
	if err != nil {
		return fmt.Errorf("%q is no rate: %s; %s", text, ruleReason(err), writeRate)
	}
	if len(rules) != 1 || rules[0].Algorithm != "" || rules[0].Burst != 0 || rules[0].Align != "" || rules[0].Name != "" {
		return fmt.Errorf("%q is more than one rate: %s", text, writeRate)
	}
	only := rules[0]
	if only.Limit < 1 || only.Limit > maxRate || only.Window < time.Second || only.Window > time.Hour || only.Window%time.Second != 0 {
		return fmt.Errorf("%q is out of bounds: write 1 to %d requests within 1s to 1h", text, int64(maxRate))
	}
	*r = Rate{Count: only.Limit, Window: only.Window}
	return nil
}

// maxRate is the largest number of requests that a circuit counts.
const maxRate = 1 << 40

// String writes the rate the way it is read.
func (r Rate) String() string {
	return fmt.Sprintf("%d/%ds", r.Count, r.Window/time.Second)
}

// Switch is on or off.
type Switch string

// UnmarshalText takes one of the two.
func (s *Switch) UnmarshalText(text []byte) error { return oneOf((*string)(s), text, "off", "on") }

// Share is a part of a whole.
type Share float64

// UnmarshalText reads a number from 0.01 to 1.
func (s *Share) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= leastShare && v <= 1) {
		return fmt.Errorf("%q is no share: write a number from %v to 1, such as 0.1", text, leastShare)
	}
	*s = Share(v)
	return nil
}

// leastShare keeps limits from becoming none.
const leastShare = 0.01

// String writes the share the way it is read.
func (s Share) String() string { return strconv.FormatFloat(float64(s), 'f', -1, 64) }
