package config

import (
	"fmt"
	"slices"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// PartAccount is the part of a ban's key that stands for the account somebody tries to sign in to.
const PartAccount = "account"

// Bans are the rules by which failed sign-ins ban (rule RL96), none for no bans.
type Bans struct {
	// Rules are all asked; the first that bans refuses.
	Rules []guard.BanRule
	text  string
}

// UnmarshalText reads rules for bans, or the word disabled. Each counts by the address: by the account alone, anybody could
// lock its owner out (rule M-37).
func (b *Bans) UnmarshalText(text []byte) error {
	if string(text) == "disabled" {
		*b = Bans{}
		return nil
	}
	rules, err := guard.ParseBans(string(text), "login-ban")
	if err != nil {
		return fmt.Errorf("%q is no list of bans: %s; write 5/10m ban=15m key=ip+account, or disabled for none", text, ruleReason(err))
	}
	names := make(map[string]bool)
	for i := range rules {
		rule := &rules[i]
		if names[rule.Name] {
			return fmt.Errorf("two bans are named %q: write another name= for one of them", rule.Name)
		}
		if slices.Contains([]string{"engine", "management", "login", "user", "endpoint", "global", "circuit"}, rule.Name) {
			return fmt.Errorf("%q is a name of the shield's own: write another name=", rule.Name)
		}
		names[rule.Name] = true
		other := func(part string) bool { return part != guard.PartIP && part != PartAccount }
		if parts := rule.Key.Parts; slices.ContainsFunc(parts, other) || len(parts) > 0 && !slices.Contains(parts, guard.PartIP) {
			return fmt.Errorf("%q has another key than key=ip and key=ip+account, which are those that lock nobody else out", text)
		}
		rule.Status = ratelimit.StatusTooMany
	}
	*b = Bans{Rules: rules, text: string(text)}
	return nil
}

// String writes the bans the way they are read.
func (b Bans) String() string {
	if len(b.Rules) == 0 {
		return "disabled"
	}
	return b.text
}
