package shield

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// Settings returns what is in force, and its version.
func (s *Shield) Settings() (mockbase.ShieldSettings, int64) {
	now := s.present.Load()
	return s.withoutEnded(now.settings), now.version
}

// ChangeSettings puts other settings into force and stores them, if the version is still the one in force. The request is
// the administrator's: what would refuse its client is CodeWouldLockOut. Other errors are CodeVersionMismatch,
// CodeValidationFailed, CodePinnedByConfig and those of the store.
func (s *Shield) ChangeSettings(
	r *http.Request, wanted mockbase.ShieldSettings, version int64, by mockbase.Administrator,
) (mockbase.ShieldSettings, int64, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	now := s.present.Load()
	if version != now.version {
		return mockbase.ShieldSettings{}, 0, &mockbase.Error{
			Code: mockbase.CodeVersionMismatch, Message: "somebody changed this since you read it", Hint: "read it again and repeat the change", Version: now.version,
		}
	}
	if sameOrder(&wanted.Circuit, &now.settings.Circuit) {
		wanted = s.withoutEnded(wanted) // It was read before the order ended.
	}
	next, rules, err := s.prepare(wanted)
	if err != nil {
		return mockbase.ShieldSettings{}, 0, err
	}
	from := s.withoutEnded(now.settings)
	if err := errors.Join(s.refusePinned(&from, &next), s.refuseLockOut(r, &next, by)); err != nil {
		return mockbase.ShieldSettings{}, 0, firstOf(err)
	}
	document, err := s.written(&next, version+1, by.Name)
	if err != nil {
		return mockbase.ShieldSettings{}, 0, err
	}
	if err := s.put(r.Context(), &document, &by); err != nil {
		return mockbase.ShieldSettings{}, 0, err
	}
	err = s.apply(r.Context(), &from, &next, rules, by.Name)
	s.present.Store(&state{settings: next, version: version + 1, document: document}) // They are stored, whatever a register says.
	if now.settings.IPv6Prefix != next.IPv6Prefix {                                   // The networks of banned clients are others.
		err = errors.Join(err, s.restoreBans(r.Context()))
	}
	if err != nil {
		return mockbase.ShieldSettings{}, 0, err
	}
	s.options.Logger.Info("the settings of the shield were changed", slog.String("by", by.Name), slog.String("request_id", by.RequestID),
		slog.Any("changed", differences(&from, &next)), slog.Int64("version", version+1))
	return next, version + 1, nil
}

// firstOf returns the first of joined errors, so that what a person may see is seen.
func firstOf(err error) error {
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		return known
	}
	return err
}

// prepare completes settings and compiles them.
func (s *Shield) prepare(wanted mockbase.ShieldSettings) (mockbase.ShieldSettings, *ruleSet, error) {
	base := s.configured()
	var faults mockbase.Faults
	for i := range wanted.Policies {
		checkPolicy(&wanted, i, &base, &faults)
	}
	next := wanted
	next.Pinned = base.Pinned
	next.Policies = nil
	for i := range base.Policies {
		p := base.Policies[i]
		if w := find(wanted.Policies, p.Name); w != nil {
			p = *w
		}
		next.Policies = append(next.Policies, p)
	}
	next.TrustedProxies = canonicalTexts(wanted.TrustedProxies, parseNetworkSetting)
	next.Safelist, next.Blocklist = canonicalTexts(wanted.Safelist, parseListed), canonicalTexts(wanted.Blocklist, parseListed)
	for i, text := range wanted.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			faults.Add(nil, fmt.Sprintf("#/trustedProxies/%d", i), mockbase.FieldPattern, "%s", err)
		}
	}
	var header config.AddressHeader
	if err := header.UnmarshalText([]byte(wanted.ClientHeader)); err != nil {
		faults.Add(nil, "#/clientHeader", mockbase.FieldPattern, "%s", err)
	}
	next.ClientHeader = string(header)
	if n := wanted.IPv6Prefix; n < leastIPv6Prefix || n > mostIPv6Prefix {
		faults.Add(nil, "#/ipv6Prefix", mockbase.FieldRange, "%d is out of bounds: write a number from %d to %d", n, leastIPv6Prefix, mostIPv6Prefix)
	}
	s.checkForce(&next.Circuit, &faults)
	rules, err := s.compile(&next)
	if known, ok := errors.AsType[*mockbase.Error](err); ok {
		for _, field := range known.Fields {
			faults.Append(asWritten(field, next.Policies, wanted.Policies))
		}
	}
	if wrong := faults.Err(); wrong != nil {
		return next, nil, wrong
	}
	return next, rules, err
}

// The bounds of the leading bits of an IPv6 address that make one client (rule RL75).
const (
	leastIPv6Prefix = 32
	mostIPv6Prefix  = 128
)

// asWritten points a fault of a policy to where the policy was written.
func asWritten(fault mockbase.FieldError, from, written []mockbase.ShieldPolicy) mockbase.FieldError {
	rest, ok := strings.CutPrefix(fault.Pointer, "#/policies/")
	index, field, _ := strings.Cut(rest, "/")
	at, err := strconv.Atoi(index)
	if !ok || err != nil || at >= len(from) {
		return fault
	}
	if i := slices.IndexFunc(written, func(p mockbase.ShieldPolicy) bool { return p.Name == from[at].Name }); i >= 0 {
		fault.Pointer = strings.TrimSuffix(fmt.Sprintf("#/policies/%d/%s", i, field), "/")
	}
	return fault
}

func parseNetworkSetting(text string) (fmt.Stringer, error) {
	var n config.Network
	err := n.UnmarshalText([]byte(text))
	return n, err
}

func parseListed(text string) (fmt.Stringer, error) {
	var l config.Listed
	err := l.UnmarshalText([]byte(text))
	return l, err
}

// canonicalTexts writes each text in one way however it was written, and what cannot be read as it is.
func canonicalTexts(list []string, parse func(string) (fmt.Stringer, error)) []string {
	written := make([]string, 0, len(list))
	for _, text := range list {
		if read, err := parse(text); err == nil {
			text = read.String()
		}
		written = append(written, text)
	}
	return written
}

// checkPolicy finds policies that are unknown, given twice, or say what none of them may.
func checkPolicy(wanted *mockbase.ShieldSettings, i int, base *mockbase.ShieldSettings, faults *mockbase.Faults) {
	p := &wanted.Policies[i]
	at := fmt.Sprintf("#/policies/%d", i)
	known := make([]string, 0, len(base.Policies))
	for k := range base.Policies {
		known = append(known, base.Policies[k].Name)
	}
	switch {
	case !slices.Contains(known, p.Name):
		faults.Append(mockbase.FieldError{
			Pointer: at + "/name", Code: mockbase.FieldEnum, Detail: "there is no policy " + strconv.Quote(p.Name) + ", only " + strings.Join(known, ", "),
			Suggestion: mockbase.Suggest(p.Name, known),
		})
	case find(wanted.Policies[:i], p.Name) != nil:
		faults.Add(nil, at+"/name", mockbase.FieldUnique, "the policy %s is given twice", p.Name)
	case subjectOf(p.Name) == placeLogin && p.OnStoreFailure == string(ratelimit.FailOpen):
		faults.Add(nil, at+"/onStoreFailure", mockbase.FieldConflict, "sign-in is never open while nobody counts: write memory or closed")
	}
}

// refusePinned refuses changes of what the configuration states.
func (s *Shield) refusePinned(from, to *mockbase.ShieldSettings) error {
	var fields []mockbase.FieldError
	for _, pointer := range differences(from, to) {
		if by := s.pinnedBy(pointer); by != "" {
			fields = append(fields, mockbase.FieldError{Pointer: "#" + pointer, Code: mockbase.FieldConflict, Detail: by + " states it"})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodePinnedByConfig, Message: fields[0].Detail + ", and so " + strings.TrimPrefix(fields[0].Pointer, "#/") + " cannot be changed here",
		Hint: "change it there and restart the server, or remove it there", Fields: fields,
	}
}

// differences lists the places where two settings differ.
func differences(from, to *mockbase.ShieldSettings) []string {
	before := make(map[string]string)
	for _, v := range values(from) {
		before[v.pointer] = v.text
	}
	changed := []string{}
	for _, v := range values(to) {
		if was, ok := before[v.pointer]; !ok || was != v.text {
			changed = append(changed, v.pointer)
		}
		delete(before, v.pointer)
	}
	for pointer := range before {
		changed = append(changed, pointer)
	}
	slices.Sort(changed)
	return changed
}

// refuseLockOut refuses settings that would refuse the client of the administrator's own request, as they find it.
func (s *Shield) refuseLockOut(r *http.Request, next *mockbase.ShieldSettings, by mockbase.Administrator) error {
	if by.Force || !s.guarding {
		return nil
	}
	var ignored mockbase.Faults
	client := httplimit.NewAddresses(s.addressing(next)).Client(r)
	requested, _ := httplimit.ResolvePath(r, s.mocksBase())
	blocked, locked := refuses(entries(next.Blocklist, "blocklist", &ignored), client, requested), next.Circuit.Force == string(ratelimit.ForceLockdown)
	if !blocked && !locked || refuses(entries(next.Safelist, "safelist", &ignored), client, requested) {
		return nil
	}
	if !blocked {
		return lockedOut("a lockdown refuses everybody who is not on the safelist, and you are not", byQuery)
	}
	return lockedOut("the blocklist would refuse your own address "+client.String(), byQuery)
}

// How an administrator insists on a change of the settings, and on a ban.
const (
	byQuery  = "add ?force=true if you mean it"
	byMember = `send "force": true as well if you mean it`
)

func lockedOut(what, insist string) error {
	return &mockbase.Error{Code: mockbase.CodeWouldLockOut, Message: what, Hint: insist}
}

// refuses says whether a list has an entry for a client or a path.
func refuses(list []guard.Entry, client netip.Addr, path string) bool {
	return slices.ContainsFunc(list, func(e guard.Entry) bool {
		prefix, open := strings.CutSuffix(e.Path, "*")
		return e.Network.IsValid() && e.Network.Contains(client) || e.Path != "" && (e.Path == path || open && strings.HasPrefix(path, prefix))
	})
}

// put shares settings and stores them. What the other servers have already is in force, stored or not.
func (s *Shield) put(ctx context.Context, next *redisstore.Document, by *mockbase.Administrator) error {
	if err := s.publish(ctx, next, by); err != nil {
		return err
	}
	if s.options.Shared != nil {
		s.keepAdopted(ctx, next)
		return nil
	}
	return s.options.Kept.PutSetting(ctx, settingOf(next)) //nolint:wrapcheck // What the store says is for people.
}

// apply puts settings into force.
func (s *Shield) apply(ctx context.Context, from, to *mockbase.ShieldSettings, rules *ruleSet, by string) error {
	var lifted error
	if to.Circuit.Force == "" { // Without an order there may be no circuit any more that could be told.
		lifted = s.changeForce(ctx, &from.Circuit, &to.Circuit, by)
	}
	err := errors.Join(lifted, s.update(to, rules))
	if err == nil && to.Circuit.Force != "" {
		err = s.changeForce(ctx, &from.Circuit, &to.Circuit, by)
	}
	if err != nil {
		return fmt.Errorf("change shield: %w", err)
	}
	return nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func truth(b bool) string { return strconv.FormatBool(b) }

// spanText writes a time in one way however it was written, and what is none as it is.
func spanText(text string) string {
	d, err := mockbase.ParseDuration(text)
	if err != nil {
		return text
	}
	return d.String()
}

// rateText does the same to a rate.
func rateText(text string) string {
	var r config.Rate
	if r.UnmarshalText([]byte(text)) != nil {
		return text
	}
	return r.String()
}
