package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// Limit is what the shield allows: a list of policies, empty for no limit.
type Limit struct {
	// Policies must all allow a request.
	Policies []ratelimit.Policy
}

// UnmarshalText reads rule strings (rule RL18), or the word disabled, which is the same as a limit of 0 (rules C-6 and
// RL3).
func (l *Limit) UnmarshalText(text []byte) error {
	if string(text) == "disabled" {
		*l = Limit{}
		return nil
	}
	policies, err := ratelimit.ParseRules(string(text))
	if err == nil {
		err = serveable(policies)
	}
	if err != nil {
		return fmt.Errorf("%q is no limit: %s; write 120/60s or 5/1m, or disabled for none", text, ruleReason(err))
	}
	l.Policies = nil
	for _, p := range policies {
		if p.Limit > 0 {
			l.Policies = append(l.Policies, p)
		}
	}
	return nil
}

// serveable finds policies that can be written and not kept.
func serveable(policies []ratelimit.Policy) error {
	for _, p := range policies {
		p.Name = "limit"
		if err := p.ValidateShield(); err != nil {
			return err
		}
	}
	return nil
}

// ruleReason is the reason alone, since the value is named in front of it.
func ruleReason(err error) string {
	if wrong, ok := errors.AsType[*ratelimit.RuleError](err); ok {
		return fmt.Sprintf("at byte %d: %s", wrong.Offset, wrong.Reason)
	}
	if wrong, ok := errors.AsType[*ratelimit.PolicyError](err); ok && len(wrong.Faults) > 0 {
		return faultTexts(wrong.Faults)
	}
	return err.Error()
}

// faultTexts writes faults with the numbers that they are about.
func faultTexts(faults []ratelimit.Fault) string {
	texts := make([]string, 0, len(faults))
	for _, f := range faults {
		texts = append(texts, strings.TrimPrefix(f.Field+": "+f.Detail, ": "))
	}
	return strings.Join(texts, "; ")
}

// Named returns the policies under the name of the place that they guard (rule RL19). A name of their own stands behind
// that of the place: counts go by names, and places share none (rule RL122).
func (l Limit) Named(place string) []ratelimit.Policy {
	named := append([]ratelimit.Policy(nil), l.Policies...)
	ratelimit.NameRules(named, place)
	for i := range named {
		if name := named[i].Name; name != place && !strings.HasPrefix(name, place+"-") {
			named[i].Name = place + "-" + name
		}
	}
	return named
}

// places are the settings of limits with the names of what they are about.
func (s *Settings) places() []placedLimit {
	return []placedLimit{
		{"engine-limit", "engine", s.EngineLimit},
		{"management-limit", "management", s.ManagementLimit},
		{"login-limit", "login", s.LoginLimit},
		{"shield-tier-user", "user", s.ShieldTierUser},
		{"shield-tier-endpoint", "endpoint", s.ShieldTierEndpoint},
		{"shield-tier-global", "global", s.ShieldTierGlobal},
	}
}

type placedLimit struct {
	setting, place string
	limit          Limit
}

// names finds limits whose names are taken, or too long with that of their place before them.
func (c *checker) names(s *Settings) {
	const fix = "write another name=, of a-z, 0-9, _ and -, or none"
	for _, l := range s.places() {
		seen := make(map[string]bool)
		for _, p := range l.limit.Named(l.place) {
			own := strings.TrimPrefix(p.Name, l.place+"-")
			switch {
			case seen[p.Name]:
				c.add(l.setting, fix, "two limits are named %q", own)
			case !ratelimit.ValidName(p.Name):
				c.add(l.setting, fix, "%q is too long a name", own)
			case own == "ip" || own == "ban" || strings.HasPrefix(own, "ban-"):
				c.add(l.setting, fix, "%q is a name that the shield gives to limits and bans of its own", own)
			}
			seen[p.Name] = true
		}
	}
}

// By returns the limit with the algorithm in the policies that name none.
func (l Limit) By(algorithm Algorithm) Limit {
	policies := slices.Clone(l.Policies)
	for i := range policies {
		policies[i].Algorithm = cmp.Or(policies[i].Algorithm, ratelimit.Algorithm(algorithm))
	}
	return Limit{Policies: policies}
}

// String writes the limit the way it is read.
func (l Limit) String() string {
	if len(l.Policies) == 0 {
		return "disabled"
	}
	return ratelimit.FormatRules(l.Policies)
}
