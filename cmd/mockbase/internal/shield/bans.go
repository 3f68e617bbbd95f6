package shield

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// rememberEnded is how long a ban by an administrator is kept after its end.
const rememberEnded = 30 * 24 * time.Hour

// banID returns the id of a ban: the same in each server that sees it.
func banID(b *ratelimit.Ban) string {
	var id ulid.ULID
	digest := sha256.Sum256([]byte(b.Rule + "/" + b.Identifier))
	_ = id.SetTime(ulid.Timestamp(b.From))
	_ = id.SetEntropy(digest[:10])
	return mockbase.PrefixBan + id.String()
}

// restoreBans brings the stored bans into force, and forgets those that ended long ago. What the register does not take
// holds in this process, and is tried again.
func (s *Shield) restoreBans(ctx context.Context) error {
	stored, err := s.options.Kept.Bans(ctx)
	if err != nil {
		return fmt.Errorf("read bans: %w", err)
	}
	now := s.options.Clock()
	var (
		old     []string
		refused []error
	)
	for i := range stored {
		b := &stored[i]
		switch {
		case b.Active(now):
			if err := s.rekey(ctx, b); err != nil {
				return err
			}
			if err := s.enforce(ctx, manual(b)); err != nil {
				refused = append(refused, err)
			}
		case now.Sub(b.ExpiresAt) > rememberEnded:
			old = append(old, b.ID)
		}
	}
	s.tellPartial(refused)
	if len(old) == 0 {
		return nil
	}
	return s.options.Kept.DeleteBans(ctx, old...)
}

// tellPartial tells once that the register does not take bans, and once that it took them.
func (s *Shield) tellPartial(refused []error) {
	was := s.partial
	s.partial = len(refused) > 0
	switch {
	case s.partial && !was:
		s.options.Logger.Warn("bans are in force in this process alone until the register takes them", slog.Int("bans", len(refused)),
			slog.String("reason", refused[0].Error()))
	case was && !s.partial:
		s.options.Logger.Info("the register has taken the bans")
	}
}

// rekey gives a stored ban the key that its subject has now: addresses may be hashed by now or no more, and digests of
// accounts and addresses change with the secret.
func (s *Shield) rekey(ctx context.Context, b *mockbase.Ban) error {
	subject, key, err := s.keyOf(b.Subject)
	if err != nil || key == b.Key {
		return nil //nolint:nilerr // What an older version stored and this one does not read stays as it is.
	}
	former := b.Key
	b.Subject, b.Key = subject, key
	if err := s.options.Kept.PutBan(ctx, b); err != nil {
		return err //nolint:wrapcheck // What the store says is for people.
	}
	// What the register has under the former key may be an address that is to be hashed.
	if _, err := s.failures.Lift(ctx, ratelimit.ManualBans, former, guard.Actor{}); err != nil {
		s.options.Logger.Warn("a ban is in the register under its former key as well", slog.String("ban", b.ID), slog.String("reason", err.Error()))
	}
	return nil
}

// manual is the ban by an administrator as the register has it. A network is found by its addresses, and an address whose
// key is a digest by that alone (rule RL133).
func manual(b *mockbase.Ban) ratelimit.Ban {
	made := ratelimit.Ban{
		Rule: ratelimit.ManualBans, Identifier: b.Key, From: b.CreatedAt, Until: b.ExpiresAt, Actor: b.CreatedBy, Reason: b.Reason,
	}
	if b.Subject.Type != mockbase.BanAccount && b.Key == b.Subject.Value {
		made.Network, _ = parseNetwork(b.Subject.Value)
	}
	return made
}

// enforce brings a ban into force in each guard that looks at bans.
func (s *Shield) enforce(ctx context.Context, b ratelimit.Ban) error {
	return errors.Join(s.guard.Restore(ctx, b), s.failures.Restore(ctx, b))
}

// List returns the bans in force, by rule and by administrators, and of the latter those that ended lately as well.
func (s *Shield) List(ctx context.Context) ([]mockbase.Ban, error) {
	stored, err := s.options.Kept.Bans(ctx)
	if err != nil {
		return nil, fmt.Errorf("read bans: %w", err)
	}
	list := make([]mockbase.Ban, 0, len(stored))
	seen := make(map[string]bool)
	for i := range stored {
		b := stored[i]
		b.Hits = s.hits.of(ratelimit.ManualBans + "/" + b.Key)
		list = append(list, b)
		seen[ratelimit.ManualBans+"/"+b.Key] = true
	}
	q := ratelimit.BanQuery{}
	for {
		page, err := s.failures.Bans(ctx, q)
		if err != nil {
			return nil, &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the register of bans does not answer", Err: err}
		}
		for i := range page.Bans {
			b := &page.Bans[i]
			if key := b.Rule + "/" + b.Identifier; !seen[key] {
				seen[key] = true // The register may fail between two pages, and all are in the second.
				list = append(list, s.view(b))
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return list, s.nameAccounts(ctx, list)
		}
	}
}

// view shows a ban of the register.
func (s *Shield) view(b *ratelimit.Ban) mockbase.Ban {
	shown := mockbase.Ban{
		ID: banID(b), Rule: b.Rule, Key: b.Identifier, Reason: b.Reason, CreatedBy: b.Actor, Hits: s.hits.of(b.Rule + "/" + b.Identifier),
		CreatedAt: b.From, ExpiresAt: b.Until,
	}
	if b.Rule == ratelimit.ManualBans {
		shown.Rule = ""
	}
	shown.Subject = s.subjectOfBan(b)
	if shown.Reason == "" {
		shown.Reason = s.reasonOf(b.Rule)
	}
	return shown
}

// reasonOf says what a rule bans for.
func (s *Shield) reasonOf(rule string) string {
	for _, r := range s.loginBans() {
		if r.Name == rule {
			reason := fmt.Sprintf("%d failed attempts to sign in within %s", r.MaxRetry, windowText(r.FindTime))
			if slices.Contains(r.Key.Parts, config.PartAccount) {
				reason += ", from one address to one account"
			}
			return reason
		}
	}
	return ""
}

// keyOf returns the subject in its canonical form and the key by which the register knows it. An address has that of its
// client, which for IPv6 is the client's network, and a digest where addresses are hashed (rules RL75 and RL133).
func (s *Shield) keyOf(subject mockbase.BanSubject) (mockbase.BanSubject, string, error) {
	wrong := func(detail string) error {
		return mockbase.Invalid([]mockbase.FieldError{{Pointer: "#/subject/value", Code: mockbase.FieldPattern, Detail: detail}})
	}
	if subject.Type == mockbase.BanAccount {
		account := strings.ToLower(strings.TrimSpace(subject.Value))
		if !strings.Contains(account, "@") {
			return subject, "", wrong("write the e-mail address of the account")
		}
		return mockbase.BanSubject{Type: mockbase.BanAccount, Value: account}, guard.PartUser + ":" + s.accountDigest(account), nil
	}
	network, err := parseNetwork(subject.Value)
	switch {
	case err != nil:
		return subject, "", wrong(err.Error())
	case subject.Type == mockbase.BanIP && !network.IsSingleIP():
		return subject, "", wrong("write one address, or the type cidr for a network")
	}
	subject = mockbase.BanSubject{Type: subject.Type, Value: network.String()}
	if !network.IsSingleIP() {
		return subject, subject.Value, nil // It is nobody's address.
	}
	subject.Value = network.Addr().String()
	return subject, s.addresses.Identifier(network.Addr()), nil
}

// Add bans a subject (rule M-226), in the place of the ban that it has. Errors are CodeValidationFailed, CodeWouldLockOut and those of the store.
func (s *Shield) Add(ctx context.Context, wish mockbase.Ban, by mockbase.Administrator) (mockbase.Ban, error) {
	subject, key, err := s.keyOf(wish.Subject)
	if err != nil {
		return mockbase.Ban{}, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.refuseOwnBan(subject, by); err != nil {
		return mockbase.Ban{}, err
	}
	b := mockbase.Ban{
		Subject: subject, Key: key, Reason: wish.Reason, CreatedBy: by.Name, CreatedAt: s.afterEdits(ctx, key), ExpiresAt: wish.ExpiresAt,
	}
	registered := manual(&b)
	b.ID = banID(&registered)
	mockbase.AuditOf(ctx).Note(func(e *mockbase.AuditEntry) { e.Target.ID, e.Target.Name = b.ID, b.Subject.Value })
	if err := s.forgetOthers(ctx, key); err != nil {
		return mockbase.Ban{}, err
	}
	if err := mockbase.ReplayOf(ctx).Made(b); err != nil {
		return mockbase.Ban{}, err //nolint:wrapcheck // It is the caller's own.
	}
	if err := s.keep(ctx, &b, registered); err != nil {
		return mockbase.Ban{}, err
	}
	s.tell("an address or account was banned", &b, by)
	return b, nil
}

// forgetOthers deletes stored bans of the same subject: there is one in force.
func (s *Shield) forgetOthers(ctx context.Context, key string) error {
	stored, err := s.options.Kept.Bans(ctx)
	if err != nil {
		return err //nolint:wrapcheck // What the store says is for people.
	}
	var ids []string
	for i := range stored {
		if stored[i].Key == key {
			ids = append(ids, stored[i].ID)
		}
	}
	return s.options.Kept.DeleteBans(ctx, ids...) //nolint:wrapcheck // as above
}

// keep stores a ban and brings it into force.
func (s *Shield) keep(ctx context.Context, b *mockbase.Ban, registered ratelimit.Ban) error {
	if b.Rule == "" {
		if err := s.options.Kept.PutBan(ctx, b); err != nil {
			return err //nolint:wrapcheck // What the store says is for people.
		}
	}
	if err := s.enforce(ctx, registered); err != nil {
		s.tellPartial([]error{err})
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the register of bans does not answer", Err: err}
	}
	return nil
}

// refuseOwnBan refuses a ban of the administrator's own address or account, unless the safelist spares it.
func (s *Shield) refuseOwnBan(subject mockbase.BanSubject, by mockbase.Administrator) error {
	if by.Force {
		return nil
	}
	if subject.Type == mockbase.BanAccount {
		if subject.Value == strings.ToLower(by.Account) {
			return lockedOut("that is your own account", byMember)
		}
		return nil
	}
	network, err := parseNetwork(subject.Value)
	sameClient := subject.Type == mockbase.BanIP && s.addresses.Identifier(network.Addr()) == s.addresses.Identifier(by.Address)
	if err != nil || !network.Contains(by.Address) && !sameClient {
		return nil //nolint:nilerr // The subject was read before.
	}
	settings, _ := s.Settings()
	var ignored mockbase.Faults
	if refuses(entries(settings.Safelist, "safelist", &ignored), by.Address, "") {
		return nil
	}
	return lockedOut("that is your own address "+by.Address.String(), byMember)
}

// Change gives a ban another end or reason (rule M-227).
func (s *Shield) Change(ctx context.Context, id string, change func(*mockbase.Ban), by mockbase.Administrator) (mockbase.Ban, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	b, err := s.find(ctx, id)
	if err != nil {
		return mockbase.Ban{}, err
	}
	change(&b)
	registered := manual(&b)
	if b.Rule != "" {
		registered.Rule, registered.Network = b.Rule, netip.Prefix{}
	}
	if err := s.keep(ctx, &b, registered); err != nil {
		return mockbase.Ban{}, err
	}
	s.editBan(ctx, &b, edit{By: by.Name, Until: b.ExpiresAt, Reason: b.Reason})
	s.tell("a ban was changed", &b, by)
	return b, nil
}

// Find returns a ban by its id, or CodeNotFound.
func (s *Shield) Find(ctx context.Context, id string) (mockbase.Ban, error) { return s.find(ctx, id) }

func (s *Shield) find(ctx context.Context, id string) (mockbase.Ban, error) {
	list, err := s.List(ctx)
	if err != nil {
		return mockbase.Ban{}, err
	}
	at := slices.IndexFunc(list, func(b mockbase.Ban) bool { return b.ID == id })
	if at < 0 {
		return mockbase.Ban{}, mockbase.Errorf(mockbase.CodeNotFound, "there is no such ban, or it has ended")
	}
	return list[at], nil
}

// Lift ends bans and returns how many of them were in force (rules M-218 and M-228).
func (s *Shield) Lift(ctx context.Context, bans []mockbase.Ban, by mockbase.Administrator) (int, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	lifted := 0
	for i := range bans {
		b := &bans[i]
		rule := b.Rule
		if rule == "" {
			rule = ratelimit.ManualBans
			if err := s.options.Kept.DeleteBans(ctx, b.ID); err != nil {
				return lifted, err //nolint:wrapcheck // What the store says is for people.
			}
		}
		actor := guard.Actor{Name: by.Name}
		n, err := s.guard.Lift(ctx, rule, b.Key, actor)
		also, again := s.failures.Lift(ctx, rule, b.Key, actor)
		if err := errors.Join(err, again); err != nil {
			return lifted, &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the register of bans does not answer", Err: err}
		}
		lifted += max(n, also) // What is in the register ends once; what this process alone knows may be known to one of them.
		s.editBan(ctx, b, edit{By: by.Name, Lifted: true})
		s.tell("a ban was lifted", b, by)
	}
	s.noteOwed()
	return lifted, nil
}

func (s *Shield) tell(what string, b *mockbase.Ban, by mockbase.Administrator) {
	s.options.Logger.Info(what, slog.String("ban", b.ID), slog.String("subject_type", b.Subject.Type), slog.String("subject", b.Subject.Value), //nolint:sloglint // the callers' messages are constants
		slog.String("rule", b.Rule), slog.String("reason", b.Reason), slog.String("by", by.Name), slog.String("request_id", by.RequestID))
}
