package shield

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
)

// ActionBanByRule is what the audit log calls a ban that a rule brought about.
const ActionBanByRule = "banByRule"

// striking is a register of bans that tells of each ban as a rule begins it.
type striking struct {
	ratelimit.Bans

	struck func(context.Context, *ratelimit.Ban)
}

var _ ratelimit.Bans = (*striking)(nil)

// Strike tells of a ban that begins with this very offence.
func (r *striking) Strike(ctx context.Context, rule *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	standing, err := r.Bans.Strike(ctx, rule, key, now)
	if err == nil && standing.Struck {
		r.struck(ctx, &standing.Ban)
	}
	return standing, err //nolint:wrapcheck // it stands in for the register
}

// auditBan writes a ban by a rule into the audit log (rule M-20). The ban holds whether that works or not.
func (s *Shield) auditBan(ctx context.Context, b *ratelimit.Ban) {
	ctx, stop := context.WithTimeout(mockbase.WithAudit(context.WithoutCancel(ctx), nil), notePatience)
	defer stop()
	shown := []mockbase.Ban{s.view(b)}
	_ = s.nameAccounts(ctx, shown) // A digest is a name too.
	made := &shown[0]
	after, err := json.Marshal(struct {
		Rule      string              `json:"rule"`
		Subject   mockbase.BanSubject `json:"subject"`
		Reason    string              `json:"reason"`
		ExpiresAt time.Time           `json:"expiresAt"`
	}{made.Rule, made.Subject, made.Reason, made.ExpiresAt.Round(0).UTC()})
	now := s.options.Clock().UTC()
	entry := &mockbase.AuditEntry{
		ID: mockbase.NewID(mockbase.PrefixAudit, now), At: now, Action: ActionBanByRule, Outcome: mockbase.AuditSuccess, After: after,
		Actor: mockbase.AuditActor{Type: "system", Label: made.Rule}, Target: mockbase.AuditTarget{Type: "ban", ID: made.ID, Name: made.Subject.Value},
	}
	if err == nil {
		err = s.options.Kept.AppendAudit(ctx, entry)
	}
	if err != nil {
		s.options.Logger.Warn("a ban by a rule is not in the audit log", slog.String("ban", made.ID), slog.String("reason", err.Error()))
	}
}
