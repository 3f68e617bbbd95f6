package shield

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// besideByAddress ends the name of a policy that stands beside one whose key is easily varied.
const besideByAddress = "-ip"

// ruleSet is what the guards go by.
type ruleSet struct {
	all, signIn, failures guard.Rules
	byEndpoint            bool
}

// compile turns settings into rules. The error is a *mockbase.Error with the places of the faults.
func (s *Shield) compile(settings *mockbase.ShieldSettings) (*ruleSet, error) {
	var faults mockbase.Faults
	made := &ruleSet{}
	if !s.guarding {
		return made, nil
	}
	safelist, blocklist := entries(settings.Safelist, "safelist", &faults), entries(settings.Blocklist, "blocklist", &faults)
	made.all = guard.Rules{
		DryRun: s.options.Settings.ShieldDryRun, Exclude: cleanPaths(s.options.Settings.ShieldExclude), Safelist: safelist, Blocklist: blocklist,
		Circuit: circuit(&settings.Circuit, &faults),
	}
	if s.options.Settings.Adaptive == "on" {
		made.all.Adaptive = &guard.Adaptive{Min: float64(s.options.Settings.AdaptiveMin)}
	}
	made.signIn.Safelist, made.failures.Safelist = safelist, safelist
	made.failures.Bans = s.loginBans()
	made.failures.UserBan = guard.UserBan{Status: ratelimit.StatusTooMany, Code: string(mockbase.CodeLoginBanned)}
	policies := withProject(settings)
	for _, i := range inOrder(policies) {
		at := fmt.Sprintf("#/policies/%d", i)
		if i == len(settings.Policies) {
			at = "#/projectPolicy"
		}
		s.addTiers(made, &policies[i], at, &faults)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return made, nil
}

// cleanPaths brings paths into the form that those of requests are judged in.
func cleanPaths(written []string) []string {
	clean := make([]string, 0, len(written))
	for _, path := range written {
		clean = append(clean, httplimit.CleanPath(path))
	}
	return clean
}

// inOrder returns the indexes of policies, most specific first (rule RL89): each user at each endpoint, each client,
// each endpoint, everybody.
func inOrder(policies []mockbase.ShieldPolicy) []int {
	rank := map[string]int{policyUser: 0, placeMocks: 1, placeManagement: 1, placeLogin: 1, policyEndpoint: 2, policyProject: 3, policyGlobal: 4}
	order := make([]int, len(policies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[subjectOf(policies[a].Name)] - rank[subjectOf(policies[b].Name)] })
	return order
}

// withProject returns all policies, that of projects as the last.
func withProject(settings *mockbase.ShieldSettings) []mockbase.ShieldPolicy {
	all := slices.Clone(settings.Policies)
	if p := settings.ProjectPolicy; p != nil {
		all = append(all, mockbase.ShieldPolicy{
			Name: policyProject, Limit: p.Limit, Window: p.Window, Algorithm: p.Algorithm, Burst: p.Burst, Align: p.Align, Key: p.Key, Mode: p.Mode,
			OnStoreFailure: p.OnStoreFailure,
		})
	}
	return all
}

// addTiers adds the tier of a policy, and one by the address beside a key that is easily varied (rule RL84).
func (s *Shield) addTiers(to *ruleSet, p *mockbase.ShieldPolicy, at string, faults *mockbase.Faults) {
	tier, ok := s.tier(p, at, faults)
	if !ok || p.Mode == mockbase.ShieldDisabled || p.Limit == 0 {
		return
	}
	limiter, err := s.limiters.get(p.Name, ratelimit.Mode(p.OnStoreFailure))
	if err != nil {
		faults.Add(nil, at+"/onStoreFailure", mockbase.FieldEnum, "%s", plain(err))
		return
	}
	tier.Limiter = limiter
	subject := subjectOf(p.Name)
	if subject == placeLogin {
		to.signIn.Tiers = append(to.signIn.Tiers, tier)
		return
	}
	direct(&tier, subject)
	to.byEndpoint = to.byEndpoint || slices.Contains(tier.Key.Parts, guard.PartEndpoint) || strings.Contains(p.Key, "{{")
	to.all.Tiers = append(to.all.Tiers, tier)
	if s.identity.Strict(p.Key) {
		beside := tier
		beside.Policy.Name += besideByAddress
		beside.Key = guard.Key{}
		if subject == policyProject {
			beside.Key = ofProject(beside.Key)
		}
		to.all.Tiers = append(to.all.Tiers, beside)
	}
}

// direct makes a tier one of the requests that its policy is about.
func direct(tier *guard.Tier, subject string) {
	switch subject {
	case placeMocks, placeManagement:
		tier.Match.Places = []string{subject}
	case policyProject:
		tier.Match.Places, tier.Match.Predicate = []string{placeMocks}, namesProject
		tier.Key = ofProject(tier.Key)
	}
}

// namesProject says whether a request is for a project at all.
func namesProject(a *ratelimit.Attempt) bool {
	_, ok := a.Parts.Part(partProject)
	return ok
}

// ofProject makes a key one within each project.
func ofProject(k guard.Key) guard.Key {
	parts := k.Parts
	switch {
	case len(parts) == 0:
		parts = []string{guard.PartIP}
	case slices.Equal(parts, []string{guard.PartGlobal}):
		parts = nil
	}
	return guard.Key{Parts: append([]string{partProject}, parts...)}
}

// tier makes the tier of a policy, or tells what is wrong with it.
func (s *Shield) tier(p *mockbase.ShieldPolicy, at string, faults *mockbase.Faults) (guard.Tier, bool) {
	before := faults.Len()
	window, err := mockbase.ParseDuration(p.Window)
	if err != nil {
		faults.Add(nil, at+"/window", mockbase.FieldPattern, "%s", err)
		window = time.Minute // The rest is judged all the same.
	}
	policy := ratelimit.Policy{
		Name: p.Name, Algorithm: ratelimit.Algorithm(p.Algorithm), Limit: p.Limit, Window: window, Burst: p.Burst, Align: ratelimit.Align(p.Align),
	}
	policyFaults(&policy, at, faults)
	parts, err := httplimit.ParseKey(p.Key)
	if err == nil {
		err = s.identity.Check(parts...)
	}
	switch {
	case err != nil:
		faults.Add(nil, at+"/key", mockbase.FieldPattern, "%s", plain(err))
	case subjectOf(p.Name) == placeLogin && p.Key != httplimit.KeyIP:
		faults.Add(nil, at+"/key", mockbase.FieldConflict, "sign-in is counted by the address: anything else is chosen by whoever guesses")
	}
	if p.Key == httplimit.KeyIP {
		parts = nil
	}
	if faults.Len() > before {
		return guard.Tier{}, false
	}
	if err := ratelimit.Serves(s.options.Store, &policy); err != nil {
		faults.Add(nil, at, mockbase.FieldConflict, "%s", plain(err))
		return guard.Tier{}, false
	}
	return guard.Tier{
		Policy: policy, Key: guard.Key{Parts: parts}, DryRun: p.Mode == mockbase.ShieldDryRun,
		Adaptive: subjectOf(p.Name) != placeLogin,
	}, true
}

// policyFaults adds what is wrong with the numbers of a policy.
func policyFaults(p *ratelimit.Policy, at string, faults *mockbase.Faults) {
	wrong, ok := errors.AsType[*ratelimit.PolicyError](p.ValidateShield())
	if !ok {
		return
	}
	for _, f := range wrong.Faults {
		field := f.Field
		if field != "" {
			field = "/" + field
		}
		faults.Add(nil, at+field, mockbase.Code(f.Code), "%s", f.Detail)
	}
}

// loginBans are the rules for failed sign-ins. They never fail open (rule M-37). A success forgives the failures of its
// address and account, and not those of the address alone: else whoever has an account of their own would be forgiven what
// they tried on others.
func (s *Shield) loginBans() []guard.BanRule {
	bans := slices.Clone(s.options.Settings.LoginBan.Rules)
	for i := range bans {
		b := &bans[i]
		b.Code, b.Status = string(mockbase.CodeLoginBanned), ratelimit.StatusTooMany
		b.KeepOnSuccess = !slices.Contains(b.Key.Parts, config.PartAccount)
		b.OnStoreFailure = ratelimit.FailMemory
		if s.options.Settings.LimitStoreFailure == config.StoreFailure(ratelimit.FailClosed) {
			b.OnStoreFailure = ratelimit.FailClosed
		}
	}
	return bans
}

// entries reads the entries of a list.
func entries(texts []string, name string, faults *mockbase.Faults) []guard.Entry {
	list := make([]config.Listed, 0, len(texts))
	for i, text := range texts {
		var entry config.Listed
		if err := entry.UnmarshalText([]byte(text)); err != nil {
			faults.Add(nil, fmt.Sprintf("#/%s/%d", name, i), mockbase.FieldPattern, "%s", err)
			continue
		}
		list = append(list, entry)
	}
	return config.Entries(list)
}

// circuit reads the settings of the circuit; nil is none.
func circuit(c *mockbase.ShieldCircuit, faults *mockbase.Faults) *guard.Circuit {
	var (
		mode              config.CircuitMode
		threshold, global config.Rate
	)
	recovery, recoveryFault := mockbase.ParseDuration(c.Recovery)
	if recoveryFault == nil && (recovery < time.Millisecond || recovery > time.Hour) {
		recoveryFault = fmt.Errorf("%q is out of bounds: write a time from 1ms to 1h", c.Recovery)
	}
	before := faults.Len()
	for _, f := range []struct {
		name string
		code mockbase.Code
		err  error
	}{
		{"mode", mockbase.FieldEnum, mode.UnmarshalText([]byte(c.Mode))},
		{"threshold", mockbase.FieldPattern, threshold.UnmarshalText([]byte(c.Threshold))},
		{"globalLimit", mockbase.FieldPattern, global.UnmarshalText([]byte(c.GlobalLimit))},
		{"recovery", mockbase.FieldPattern, recoveryFault},
	} {
		if f.err != nil {
			faults.Add(nil, "#/circuit/"+f.name, f.code, "%s", f.err)
		}
	}
	if faults.Len() == before && threshold.Window != global.Window {
		faults.Add(nil, "#/circuit/globalLimit", mockbase.FieldConflict, "the limit counts within another time than the threshold")
	}
	if faults.Len() > before || !needsCircuit(mode, c) {
		return nil
	}
	return &guard.Circuit{
		Mode: guard.CircuitMode(mode), Threshold: threshold.Count, Window: threshold.Window, Recovery: recovery, GlobalLimit: global.Count,
	}
}

// plain is the text of an error without the words that all errors of the limiter's configuration end with.
func plain(err error) string {
	return strings.ReplaceAll(err.Error(), ": "+ratelimit.ErrConfig.Error(), "")
}
