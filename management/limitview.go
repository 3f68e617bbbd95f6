package management

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// policyView is a simulated limit as the API shows one (M-205).
type policyView struct {
	Name  string              `json:"name"`
	Scope mockbase.LimitScope `json:"scope"`
	Mock  *string             `json:"mock"`
	// Policy is as its author wrote it.
	Policy   json.RawMessage `json:"policy"`
	Bucket   string          `json:"bucket"`
	Usage    limitUseView    `json:"usage"`
	Store    string          `json:"store"`
	Degraded bool            `json:"degraded"`
	Version  int64           `json:"version"`
	Source   *string         `json:"source"`
}

type limitUseView struct {
	PeakPercent   float64 `json:"peakPercent"`
	Allowed24h    int64   `json:"allowed24h"`
	Limited24h    int64   `json:"limited24h"`
	WouldLimit24h int64   `json:"wouldLimit24h"`
	Delayed24h    int64   `json:"delayed24h"`
	LastHitAt     *string `json:"lastHitAt"`
}

func viewOfLimit(s *mockbase.Snapshot, l *mockbase.LimitView) policyView {
	stated := statedLimit(s, l)
	return policyView{
		Name: l.Name, Scope: l.Scope, Mock: maybeText(l.Mock), Policy: stated.policy, Bucket: l.Bucket,
		Usage: viewOfLimitUse(&l.Use),
		Store: l.Store, Degraded: l.Degraded, Version: stated.version, Source: maybeText(stated.source),
	}
}

func viewOfLimitUse(use *mockbase.LimitUse) limitUseView {
	return limitUseView{
		PeakPercent: use.PeakPercent, Allowed24h: use.Allowed, Limited24h: use.Limited, WouldLimit24h: use.WouldLimit,
		Delayed24h: use.Delayed, LastHitAt: maybeTime(use.LastHitAt),
	}
}

// stated is where a limit stands in the definition: its text, the version of what holds it, and whose that is.
type stated struct {
	policy  json.RawMessage
	version int64
	source  string
}

// statedLimit finds the text of a limit. The version is that of a named policy, of the mock or, for what a collection states,
// of the project.
func statedLimit(s *mockbase.Snapshot, l *mockbase.LimitView) stated {
	p := s.Project
	if l.Scope == mockbase.LimitOfPolicy {
		policies := section(p.Config.Source["rateLimits"])
		return stated{writtenText(policies.Find(l.Name)), p.LimitVersion(l.Name), p.Owners["rateLimits/"+l.Name]}
	}
	if strings.HasPrefix(l.Name, "collection:") {
		own := section(p.Config.Source["collections"]).Find(l.Mock)
		return stated{ownLimit(own, l), p.Version, p.Owners["collections/"+l.Mock]}
	}
	for _, m := range s.Mocks {
		if m.Name != l.Mock {
			continue
		}
		holder := section(m.Document)
		if m.RateLimit == nil {
			holder = section(p.Config.Source["defaults"])
		}
		return stated{ownLimit(holder, l), m.Version, m.Owner}
	}
	return stated{policy: shorthand(l.Policy), version: p.Version}
}

// section is the tree of a stored text; what is not there is an empty object.
func section(text json.RawMessage) *mockbase.Node {
	if n, err := stored(text); err == nil {
		return n
	}
	return &mockbase.Node{Kind: mockbase.NodeObject}
}

func writtenText(n *mockbase.Node) json.RawMessage {
	if n == nil {
		return json.RawMessage("null")
	}
	return n.JSON()
}

// ownLimit is the text of a limit inside something. Those that name a policy and those that are switched off have no number.
func ownLimit(holder *mockbase.Node, l *mockbase.LimitView) json.RawMessage {
	number := 1
	if _, last, numbered := strings.Cut(l.Name, ":"+l.Mock+":"); numbered {
		number, _ = strconv.Atoi(last) // the plane numbers them
	}
	for _, one := range limitsIn(holder) {
		if one.Kind == mockbase.NodeObject && (one.Find("use") != nil || switchedOff(one)) {
			continue
		}
		if number--; number > 0 {
			continue
		}
		if one.Kind == mockbase.NodeObject {
			return one.JSON()
		}
		break
	}
	return shorthand(l.Policy)
}

func limitsIn(holder *mockbase.Node) []*mockbase.Node {
	if holder == nil {
		return nil
	}
	given := holder.Find("rateLimit")
	switch {
	case given == nil:
		return nil
	case given.Kind == mockbase.NodeList:
		return given.Items
	default:
		return []*mockbase.Node{given}
	}
}

func switchedOff(policy *mockbase.Node) bool {
	mode := policy.Find("mode")
	return mode != nil && mode.Text == "disabled"
}

// shorthand is the policy that a text such as 5/10s stands for.
func shorthand(p *mockbase.LimitPolicy) json.RawMessage {
	return encode(struct {
		Limit  int64  `json:"limit"`
		Window string `json:"window"`
	}{p.Limit, durationText(p.Window)})
}

type timelineView struct {
	Step   string      `json:"step"`
	Points []pointView `json:"points"`
}

type pointView struct {
	At         string `json:"at"`
	Allowed    int64  `json:"allowed"`
	Limited    int64  `json:"limited"`
	WouldLimit int64  `json:"wouldLimit"`
	Delayed    int64  `json:"delayed"`
}

func viewOfTimeline(t *mockbase.LimitTimeline) timelineView {
	v := timelineView{Step: durationText(t.Step), Points: make([]pointView, len(t.Points))}
	for i, p := range t.Points {
		v.Points[i] = pointView{timeText(p.At), p.Allowed, p.Limited, p.WouldLimit, p.Delayed}
	}
	return v
}

type limitKeyView struct {
	KeyID       string  `json:"keyId"`
	Label       string  `json:"label"`
	Requests    int64   `json:"requests"`
	Limited     int64   `json:"limited"`
	WouldLimit  int64   `json:"wouldLimit"`
	Delayed     int64   `json:"delayed"`
	Used        int64   `json:"used"`
	Remaining   int64   `json:"remaining"`
	ResetAt     *string `json:"resetAt"`
	FirstSeenAt *string `json:"firstSeenAt"`
	LastSeenAt  *string `json:"lastSeenAt"`
	// BannedMs is the rest of the key's ban.
	BannedMs float64 `json:"bannedMs"`
}

func viewOfKey(k *mockbase.LimitKey) limitKeyView {
	return limitKeyView{
		KeyID: k.ID, Label: k.Label, Requests: k.Requests, Limited: k.Limited, WouldLimit: k.WouldLimit, Delayed: k.Delayed,
		Used: k.Used, Remaining: k.Remaining, ResetAt: maybeTime(k.ResetAt), FirstSeenAt: maybeTime(k.FirstSeenAt),
		LastSeenAt: maybeTime(k.LastSeenAt), BannedMs: milliseconds(k.BannedFor),
	}
}

type limitKeyDetail struct {
	limitKeyView

	Decisions []limitDecisionView `json:"decisions"`
}

type limitDecisionView struct {
	At           string   `json:"at"`
	Cost         int64    `json:"cost"`
	Allowed      bool     `json:"allowed"`
	WouldLimit   bool     `json:"wouldLimit"`
	Delayed      bool     `json:"delayed"`
	Banned       bool     `json:"banned"`
	Remaining    int64    `json:"remaining"`
	RetryAfterMs *float64 `json:"retryAfterMs"`
}

func viewOfKeyWithDecisions(k *mockbase.LimitKey) limitKeyDetail {
	v := limitKeyDetail{limitKeyView: viewOfKey(k), Decisions: make([]limitDecisionView, len(k.Decisions))}
	for i, d := range k.Decisions {
		v.Decisions[i] = limitDecisionView{timeText(d.At), d.Cost, d.Allowed, d.WouldLimit, d.Delayed, d.Banned, d.Remaining, waitMs(d.RetryAfter)}
	}
	return v
}
