package shield

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// subjectOfBan reads whom a ban is about from its key. Of an account there is its digest.
func (s *Shield) subjectOfBan(b *ratelimit.Ban) mockbase.BanSubject {
	key := b.Identifier
	if b.Network.IsValid() {
		return networkSubject(b.Network)
	}
	if account, ok := strings.CutPrefix(key, guard.PartUser+":"); ok {
		return mockbase.BanSubject{Type: mockbase.BanAccount, Value: account}
	}
	address, account := key, ""
	if parts, ok := splitKey(key); ok && len(parts) > 0 {
		// That of the address and an account, in the order that the rule has.
		at := max(0, slices.Index(s.keyOfRule(b.Rule), guard.PartIP))
		if address = parts[min(at, len(parts)-1)]; len(parts) > 1 {
			account = parts[1-min(at, 1)]
		}
	}
	subject := mockbase.BanSubject{Type: mockbase.BanIP, Value: address}
	if network, err := netip.ParsePrefix(address); err == nil {
		subject = networkSubject(network)
	}
	subject.Account = account
	return subject
}

// keyOfRule are the parts of the key of a rule of failed sign-ins, none where there is no such rule any more.
func (s *Shield) keyOfRule(name string) []string {
	for _, r := range s.options.Settings.LoginBan.Rules {
		if r.Name == name {
			return r.Key.Parts
		}
	}
	return nil
}

// nameAccounts puts the e-mail addresses of accounts in the place of their digests. What somebody has tried that is no
// account of this server has no other name.
func (s *Shield) nameAccounts(ctx context.Context, list []mockbase.Ban) error {
	if s.options.Accounts == nil || !slices.ContainsFunc(list, func(b mockbase.Ban) bool { return digestIn(&b.Subject) != nil }) {
		return nil
	}
	emails, err := s.options.Accounts(ctx)
	if err != nil {
		return fmt.Errorf("read accounts: %w", err)
	}
	named := make(map[string]string, len(emails))
	for _, email := range emails {
		named[s.accountDigest(strings.ToLower(email))] = email
	}
	for i := range list {
		if digest := digestIn(&list[i].Subject); digest != nil {
			*digest = cmp.Or(named[*digest], *digest)
		}
	}
	return nil
}

// digestIn is the member of a subject that holds the digest of an account; nil for none.
func digestIn(of *mockbase.BanSubject) *string {
	switch {
	case of.Account != "":
		return &of.Account
	case of.Type == mockbase.BanAccount && !strings.Contains(of.Value, "@"):
		return &of.Value
	default:
		return nil
	}
}

func networkSubject(n netip.Prefix) mockbase.BanSubject {
	if n.IsSingleIP() {
		return mockbase.BanSubject{Type: mockbase.BanIP, Value: n.Addr().String()}
	}
	return mockbase.BanSubject{Type: mockbase.BanCIDR, Value: n.String()}
}

// splitKey undoes httplimit.JoinKey.
func splitKey(key string) ([]string, bool) {
	var parts []string
	for key != "" {
		var n int
		length, rest, ok := strings.Cut(key, "~")
		if _, err := fmt.Sscanf(length, "%d", &n); !ok || err != nil || n < 0 || n > len(rest) {
			return nil, false
		}
		parts, key = append(parts, rest[:n]), rest[n:]
	}
	return parts, true
}
