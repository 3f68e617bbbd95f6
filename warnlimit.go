package mockbase

import (
	"fmt"
	"strconv"
)

// unaffordable warns of limits whose every request costs more than they ever hold (rule RL7): all are refused, and told no
// time to wait. A limit of 0 says so on purpose. The configuration may be nil.
func (m *Mock) unaffordable(c *Config) []FieldError {
	if m.RateLimit == nil {
		return nil
	}
	var list []FieldError
	for i := range m.RateLimit.Limits {
		l := &m.RateLimit.Limits[i]
		policy, cost := l.Policy, l.Cost
		if policy == nil {
			policy = c.namedLimit(l.Use)
		}
		if policy == nil || l.CostTemplate != "" {
			continue
		}
		if cost == nil && policy.CostTemplate == "" {
			cost = policy.Cost
		}
		most := policy.Limit
		if policy.Burst != nil {
			most = *policy.Burst
		}
		if cost == nil || policy.Limit == 0 || *cost <= most {
			continue
		}
		pointer := "#/rateLimit"
		if m.RateLimit.List {
			pointer += "/" + strconv.Itoa(i)
		}
		if l.Cost != nil {
			pointer += "/cost"
		}
		list = append(list, FieldError{
			Pointer: pointer, Code: FieldRange,
			Detail: fmt.Sprintf("a request costs %d and the limit never holds more than %d: every one is refused", *cost, most),
		})
	}
	return list
}

// namedLimit returns the policy that the project has under a name, or nil.
func (c *Config) namedLimit(name string) *LimitPolicy {
	if c == nil {
		return nil
	}
	for i := range c.RateLimits {
		if c.RateLimits[i].Name == name {
			return &c.RateLimits[i].Policy
		}
	}
	return nil
}
