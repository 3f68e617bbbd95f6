package shield

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
)

// Trouble says what is wrong with the store of the counts, since when, and what each policy does meanwhile, that of the
// mocks first (rule RL69). It is nil when nothing is.
func (s *Shield) Trouble() error {
	failing := make(map[string]ratelimit.Health)
	for _, l := range s.Limiters() {
		if h := l.Health(); h.Degraded {
			failing[string(h.Mode)] = h
		}
	}
	if len(failing) == 0 {
		return nil
	}
	settings, _ := s.Settings()
	modes, policies := affected(&settings, failing)
	if len(modes) == 0 { // What fails belongs to policies that were in force before.
		return nil
	}
	parts := make([]string, 0, len(modes))
	for _, mode := range modes {
		parts = append(parts, "failing "+mode+" ("+strings.Join(policies[mode], ", ")+")")
	}
	first := failing[modes[0]]
	return fmt.Errorf("since %s, %s: %s: %s", first.Since.UTC().Format(time.RFC3339), strings.Join(parts, ", "), first.Reason, first.LastError)
}

// affected returns the modes that are at work, in the order of the policies, and the policies of each.
func affected(settings *mockbase.ShieldSettings, failing map[string]ratelimit.Health) (modes []string, policies map[string][]string) {
	policies = make(map[string][]string)
	for i := range settings.Policies {
		p := &settings.Policies[i]
		if _, ok := failing[p.OnStoreFailure]; !ok || p.Mode == mockbase.ShieldDisabled || p.Limit == 0 {
			continue
		}
		if !slices.Contains(modes, p.OnStoreFailure) {
			modes = append(modes, p.OnStoreFailure)
		}
		policies[p.OnStoreFailure] = append(policies[p.OnStoreFailure], p.Name)
	}
	return modes, policies
}

// follow lets all limiters look at the store when one of them saw it fail or return. They ask the same one, and those that
// have nothing to check would tell of a failure that is long over.
func (l *limiters) follow(ratelimit.Health) {
	for _, other := range l.all() {
		other.Health()
	}
}
