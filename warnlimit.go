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
		cost, most, known := l.numbers(c)
		if !known || cost <= most {
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
			Detail: fmt.Sprintf("a request costs %d and the limit never holds more than %d: every one is refused", cost, most),
		})
	}
	return list
}

// numbers returns what a request costs and the most that the limit holds, if both are known and the limit is not 0.
func (l *Limit) numbers(c *Config) (cost, most int64, known bool) {
	policy := l.Policy
	if policy == nil {
		policy = c.namedLimit(l.Use)
	}
	if policy == nil || policy.Limit == 0 {
		return 0, 0, false
	}
	most = policy.Limit
	if policy.Burst != nil {
		most = *policy.Burst
	}
	switch {
	case l.Cost != nil:
		return *l.Cost, most, true
	case l.CostTemplate == "" && policy.Cost != nil:
		return *policy.Cost, most, true
	default:
		return 0, most, false
	}
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
