package shield

import (
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// limitFlag returns the setting that states the limit of a policy.
func limitFlag(subject string) string {
	switch subject {
	case policyUser, policyEndpoint, policyGlobal:
		return "shield-tier-" + subject
	default:
		return subject + "-limit"
	}
}

// flagsOf returns the settings of the configuration that a place in the settings of the shield comes from.
func flagsOf(pointer string) []string {
	if policy, ok := strings.CutPrefix(pointer, "/policies/"); ok {
		name, field, _ := strings.Cut(policy, "/")
		return policyFlags(subjectOf(name), field)
	}
	return map[string][]string{
		"/safelist": {"shield-safelist"}, "/blocklist": {"shield-blocklist"}, "/trustedProxies": {"trusted-proxies"},
		"/clientHeader": {"client-address-header"}, "/ipv6Prefix": {"ipv6-prefix"}, "/exposeHeaders": {"shield-headers-on"},
		"/circuit/mode": {"circuit-mode"}, "/circuit/threshold": {"circuit-threshold"}, "/circuit/recovery": {"circuit-recovery"},
		"/circuit/globalLimit": {"circuit-global-limit"},
	}[pointer]
}

func policyFlags(subject, field string) []string {
	switch field {
	case "limit", "window", "burst", "align":
		return []string{limitFlag(subject)}
	case "algorithm":
		return []string{limitFlag(subject), "shield-algorithm"}
	case "key":
		if subject == placeMocks || subject == placeManagement {
			return []string{"shield-key"}
		}
	case "mode":
		if subject == placeLogin {
			return []string{"shield-enabled"}
		}
		return []string{"shield-enabled", "shield-dry-run"}
	case "onStoreFailure":
		return []string{"limit-store-failure"}
	}
	return nil
}

// pinnedBy returns the setting, in the spelling that was used, which states the value of a place, or "".
func (s *Shield) pinnedBy(pointer string) string {
	for _, flag := range flagsOf(pointer) {
		if origin := s.options.Origins[flag]; origin.Stated() {
			return config.Spell(flag, origin)
		}
	}
	return ""
}

// pinned lists the places that the configuration states.
func (s *Shield) pinned(settings *mockbase.ShieldSettings) []string {
	list := []string{}
	for _, value := range values(settings) {
		if s.pinnedBy(value.pointer) != "" {
			list = append(list, value.pointer)
		}
	}
	return list
}

// value is a place in the settings with what stands there, as text.
type value struct{ pointer, text string }

// values lists what can be changed, in the order of the document.
func values(settings *mockbase.ShieldSettings) []value {
	var list []value
	for i := range settings.Policies {
		p := &settings.Policies[i]
		at := "/policies/" + p.Name
		list = append(
			list, value{at + "/limit", number(p.Limit)}, value{at + "/window", spanText(p.Window)}, value{at + "/algorithm", p.Algorithm},
			value{at + "/key", p.Key}, value{at + "/mode", string(p.Mode)}, value{at + "/onStoreFailure", p.OnStoreFailure},
		)
		if p.Burst != 0 {
			list = append(list, value{at + "/burst", number(p.Burst)})
		}
		if p.Align != "" {
			list = append(list, value{at + "/align", p.Align})
		}
	}
	if p := settings.ProjectPolicy; p != nil {
		list = append(list, value{"/projectPolicy", httplimit.JoinKey(
			number(p.Limit), spanText(p.Window), p.Algorithm, number(p.Burst), p.Align, p.Key, string(p.Mode), p.OnStoreFailure,
		)})
	}
	return append(
		list, value{"/safelist", joined(settings.Safelist)}, value{"/blocklist", joined(settings.Blocklist)},
		value{"/trustedProxies", joined(settings.TrustedProxies)}, value{"/clientHeader", settings.ClientHeader},
		value{"/ipv6Prefix", number(int64(settings.IPv6Prefix))}, value{"/exposeHeaders", truth(settings.ExposeHeaders)},
		value{"/circuit/mode", settings.Circuit.Mode}, value{"/circuit/threshold", rateText(settings.Circuit.Threshold)},
		value{"/circuit/recovery", spanText(settings.Circuit.Recovery)}, value{"/circuit/globalLimit", rateText(settings.Circuit.GlobalLimit)},
		value{"/circuit/force", settings.Circuit.Force}, value{"/circuit/forceUntil", settings.Circuit.ForceUntil.UTC().Format(time.RFC3339Nano)},
	)
}

// joined writes a list so that its order does not matter.
func joined(list []string) string {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return httplimit.JoinKey(sorted...)
}
